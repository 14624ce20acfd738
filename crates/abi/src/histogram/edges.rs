//! The nearest of equally spaced edges: one formula, which the plan proves to give the right bin, and on which the
//! kernel relies.

/// 2^23, from which on the spacing of f32 is 1: adding it rounds to an integer, in the lowest bits of the sum.
const MAGIC: f32 = 8_388_608.0;

/// Returns the number of the edge nearest to `x`, where edge 0 is at `low` and there are `per_unit` edges per unit.
/// `fma` is `a * b + c`, rounded once.
///
/// The result is monotonic in `x`: the difference, the product with a number that is not negative, and the sum are each
/// rounded, and rounding is monotonic. For NaN, and below `low`, the result is arbitrary.
#[inline(always)]
pub fn nearest_edge(x: f32, low: f32, per_unit: f32, fma: impl FnOnce(f32, f32, f32) -> f32) -> u32 {
    fma(x - low, per_unit, MAGIC).to_bits().wrapping_sub(MAGIC.to_bits())
}

/// Bins of equal width between f32 edges, and the error bound of a sample's place among them, computed in f32.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Spacing {
    /// Smallest sample of the first bin.
    pub low: f32,
    /// Largest sample of the last bin.
    pub last: f32,
    /// Bins per unit of sample value; 0 if the bins do not have equal width.
    pub per_unit: f32,
    /// Samples whose place is closer than this to an edge, in bins, are compared with the edge.
    pub margin: f32,
}

/// The bin of a sample, or the edge with which the sample must be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The sample is in this bin.
    Bin(u32),
    /// The sample is in this bin if it is not below the lower edge of the bin, otherwise in the bin before.
    Edge(u32),
    /// The sample is outside, or NaN.
    Outside,
}

impl Spacing {
    /// Returns the place of a sample from `low` on, in bins: monotonic, since each of its two operations is.
    #[inline(always)]
    pub fn place(&self, sample: f32) -> f32 {
        (sample - self.low) * self.per_unit
    }

    /// Finds the bin of a sample among `bins`, fewer than 2^22. Relies on the plan's proof: the place of each sample of
    /// bin `b` is more than `b - margin`, or `b` at least, and below `b + 1 + margin` unless the bin is the last.
    #[inline(always)]
    pub fn find(&self, sample: f32, bins: u32) -> Between {
        // The comparison is false for NaN.
        if !(sample >= self.low && sample <= self.last) {
            return Between::Outside;
        }
        let place = self.place(sample);
        // The addition rounds to the nearest edge, and the differences are exact.
        let rounded = place + MAGIC;
        let (edge, beyond) = (rounded.to_bits().wrapping_sub(MAGIC.to_bits()), place - (rounded - MAGIC));
        if edge >= bins {
            Between::Bin(bins - 1)
        } else if beyond.abs() < self.margin {
            Between::Edge(edge)
        } else {
            Between::Bin(edge.wrapping_sub((beyond < 0.0) as u32))
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn the_nearest_of_ten_edges() {
        let nearest = |x| nearest_edge(x, -1.0, 5.0, f32::mul_add);
        for (x, edge) in [(-1.0, 0), (-0.91, 0), (-0.89, 1), (0.0, 5), (0.09, 5), (0.11, 6), (0.99, 10), (1.0, 10)] {
            assert_eq!(nearest(x), edge, "{x}");
        }
    }

    #[test]
    fn beyond_what_it_can_count_it_stays_large() {
        assert!(nearest_edge(f32::MAX, 0.0, 1e9, f32::mul_add) > 1 << 24);
    }
}
