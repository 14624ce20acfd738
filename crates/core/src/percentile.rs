//! Percentiles: their ranks among the sorted samples, and interpolation between them.

use crate::{Error, PixelType, Result, f16};

/// Checks that all values are percentages.
///
/// # Errors
/// [`Error::Parameter`] for a value outside 0 to 100.
pub fn check_percentiles(percentiles: &[f64]) -> Result<()> {
    match percentiles.iter().find(|percentile| !(0.0..=100.0).contains(*percentile)) {
        Some(wrong) => Err(Error::parameter("stats", "percentile", wrong, "0 to 100")),
        None => Ok(()),
    }
}

/// The position of a percentile among the sorted samples, between two neighbours, by the linear method of
/// `numpy.percentile`.
///
/// ```
/// use apron_core::{Percentile, PixelType};
///
/// // Of four samples: between the second and the third, in the middle.
/// let median = Percentile::of(50.0, 4);
/// assert_eq!(median.ranks, [1, 2]);
/// assert_eq!(median.between(PixelType::F32, [10.0, 11.0]), 10.5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The ranks of the two samples, from 0.
    pub ranks: [u64; 2],
    /// The distance from the first sample, as a share of the distance between the two.
    pub weight: f64,
}

impl Percentile {
    /// Returns the position of a percentage, 0 to 100, among `count` samples, at least one.
    pub fn of(percent: f64, count: u64) -> Percentile {
        let place = (count - 1) as f64 * (percent / 100.0);
        let before = place.floor();
        Percentile { ranks: [before as u64, (before as u64 + 1).min(count - 1)], weight: place - before }
    }

    /// Interpolates between the samples of its ranks. As in NumPy, differences of floats are rounded to their type, and
    /// the result next to an infinite sample may be NaN.
    pub fn between(self, pixel: PixelType, [before, after]: [f64; 2]) -> f64 {
        let difference = match pixel {
            PixelType::F16 => f64::from(f16::from_f32(after as f32 - before as f32)),
            PixelType::F32 => f64::from(after as f32 - before as f32),
            _ => after - before,
        };
        // NumPy computes from the nearer sample.
        match self.weight >= 0.5 {
            true => after - difference * (1.0 - self.weight),
            false => before + difference * self.weight,
        }
    }
}

/// Maps f32 to integers in the order of the samples: both zeros to the same integer, and every NaN to the greatest.
///
/// ```
/// use apron_core::{order_of, sample_of_order};
///
/// assert!(order_of(-1.0) < order_of(-0.0) && order_of(-0.0) == order_of(0.0) && order_of(0.0) < order_of(1e-45));
/// assert_eq!(sample_of_order(order_of(-2.5)), -2.5);
/// ```
pub fn order_of(sample: f32) -> u32 {
    let bits = (sample + 0.0).to_bits();
    if sample.is_nan() {
        u32::MAX
    } else if bits >> 31 == 1 {
        !bits
    } else {
        bits | 1 << 31
    }
}

/// Returns the f32 of this integer: the inverse of [`order_of`].
pub fn sample_of_order(order: u32) -> f32 {
    f32::from_bits(if order >> 31 == 1 { order & !(1 << 31) } else { !order })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numpys() {
        let of = |pixel, samples: [f64; 2], percents: &[f64]| -> Vec<f64> {
            let places = percents.iter().map(|&percent| Percentile::of(percent, 2));
            places.map(|place| place.between(pixel, place.ranks.map(|rank| samples[rank as usize]))).collect()
        };
        // numpy.percentile(numpy.array([1, 1.1], numpy.float32), [30, 70]).
        let singles = of(PixelType::F32, [1.0, f64::from(1.1f32)], &[30.0, 70.0]);
        assert_eq!(singles, [1.0300000071525575, 1.0700000166893004]);
        // With numpy.float16, the difference of 2048 and 0.5 is 2048.
        assert_eq!(of(PixelType::F16, [0.5, 2048.0], &[0.0, 25.0, 100.0]), [0.5, 512.5, 2048.0]);
        assert!(of(PixelType::F32, [1.0, f64::INFINITY], &[0.0, 60.0, 100.0]).iter().all(|value| value.is_nan()));
        assert_eq!(Percentile::of(100.0, 1), Percentile { ranks: [0, 0], weight: 0.0 });
    }

    #[test]
    fn orders_are_those_of_the_samples() {
        let rising = [f32::NEG_INFINITY, f32::MIN, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY, f32::NAN];
        assert!(rising.windows(2).all(|pair| order_of(pair[0]) < order_of(pair[1])));
        assert!(rising[..9].iter().all(|&sample| sample_of_order(order_of(sample)) == sample));
        assert_eq!((order_of(-0.0), order_of(-f32::NAN)), (order_of(0.0), order_of(f32::NAN)));
    }

    #[test]
    fn impossible_percentiles_are_refused() {
        for percent in [-0.1, 100.1, f64::NAN] {
            assert_eq!(check_percentiles(&[50.0, percent]).unwrap_err().kind(), crate::ErrorKind::Usage);
        }
    }
}
