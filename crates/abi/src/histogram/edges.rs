//! Which of equally spaced edges is nearest to a number: one formula for the plan, which proves that it leads to the
//! right bin, and for the kernel, which relies on that.

/// At 2^23 the spacing of f32 is 1: the addition rounds to an integer, which the lowest bits then hold.
const MAGIC: f32 = 8_388_608.0;

/// Returns the number of the edge nearest to `x`, where edge 0 is at `low` and there are `per_unit` edges per unit.
/// `fma` is `a * b + c`, rounded once.
///
/// It is monotonic in `x`: the difference, the product with a number that is not negative, and the sum are each
/// rounded, and rounding is monotonic. For NaN, and below `low`, the result is arbitrary.
#[inline(always)]
pub fn nearest_edge(x: f32, low: f32, per_unit: f32, fma: impl FnOnce(f32, f32, f32) -> f32) -> u32 {
    fma(x - low, per_unit, MAGIC).to_bits().wrapping_sub(MAGIC.to_bits())
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
