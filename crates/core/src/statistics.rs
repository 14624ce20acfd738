//! Minimum, maximum, mean, standard deviation and percentiles of samples.

use crate::wide::Wide;
use crate::{Error, Percentile, PixelType, Result, Shape, cell_of_rank, check_percentiles};
use apron_abi::IntegerTotals;

const OPERATION: &str = "stats";

/// Statistics of float samples, of all channels together or of each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatStatistics {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Whether channels are treated separately.
    pub per_channel: bool,
}

impl FloatStatistics {
    /// Returns the number of channels treated separately.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }

    /// Returns the samples per channel treated separately.
    pub fn count(&self) -> u64 {
        self.shape.samples() / self.channels() as u64
    }
}

/// Statistics of the samples of a channel, or of all channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Number of samples.
    pub count: u64,
    /// The minimum; NaN if a sample is NaN. A zero is positive.
    pub min: f64,
    /// The maximum; NaN if a sample is NaN. A zero is positive.
    pub max: f64,
    /// The minimum and the maximum of integers: `min` and `max` round those beyond 2^53.
    pub extremes: Option<(i128, i128)>,
    /// The mean. For integers of all sizes, the quotient of the exact sum; for floats, of the sum in f64: each row from
    /// the left, then the row sums from the top.
    pub mean: f64,
    /// The population standard deviation, from the sum of the squared deviations from the mean: for integers exact up
    /// to the root, for floats summed in the order of the mean.
    pub std: f64,
    /// The requested percentiles.
    pub percentiles: Vec<f64>,
}

impl Statistics {
    /// Computes the statistics of integers from the count of each value from `low` on.
    ///
    /// ```
    /// use apron_core::Statistics;
    ///
    /// // 10, 10, 11, 13.
    /// let statistics = Statistics::from_counts(10, &[2, 1, 0, 1], &[50.0, 75.0])?;
    /// assert_eq!((statistics.min, statistics.max, statistics.mean), (10.0, 13.0, 11.0));
    /// assert_eq!(statistics.std, 1.5f64.sqrt());
    /// assert_eq!(statistics.percentiles, [10.5, 11.5]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`check_percentiles`], and [`Error::Samples`] if all counts are 0.
    pub fn from_counts(low: i32, counts: &[u64], percentiles: &[f64]) -> Result<Statistics> {
        check_percentiles(percentiles)?;
        let occurs = |count: &u64| *count > 0;
        let (Some(first), Some(last)) = (counts.iter().position(occurs), counts.iter().rposition(occurs)) else {
            return Err(Error::Samples { operation: OPERATION, what: "there are no samples".into() });
        };
        let [min, max] = [first, last].map(|at| low as i128 + at as i128);
        let counts_of_values = || counts[first..=last].iter().zip(min as i64..);
        let count = counts.iter().map(|&count| count as i128).sum::<i128>();
        let (total, squares) = if count < 1 << 31 && min >= -(1 << 16) && max <= 1 << 16 {
            // In 64 bits, which take a tenth of the time.
            let sum =
                |of: fn(i64) -> i64| counts_of_values().map(|(&count, value)| count as i64 * of(value)).sum::<i64>();
            (sum(|value| value) as i128, sum(|value| value * value) as i128)
        } else {
            let sum = |of: fn(i128) -> i128| {
                counts_of_values().map(|(&count, value)| count as i128 * of(value as i128)).sum::<i128>()
            };
            (sum(|value| value), sum(|value| value * value))
        };
        let all = count as f64;
        let nth = |rank: u64| low as f64 + cell_of_rank(counts, rank).0 as f64;
        let of = |&percent: &f64| {
            let percentile = Percentile::of(percent, count as u64);
            // Any integer type gives the same result.
            percentile.between(PixelType::I16, percentile.ranks.map(nth))
        };
        Ok(Statistics {
            count: count as u64,
            min: min as f64,
            max: max as f64,
            extremes: Some((min, max)),
            mean: total as f64 / all,
            std: ((count * squares - total * total) as f64).sqrt() / all,
            percentiles: percentiles.iter().map(of).collect(),
        })
    }

    /// Computes the statistics of `count` integers of 32 or 64 bits from the exact sums of their distances from `low`,
    /// the least number of their type; no percentiles.
    pub fn from_totals(count: u64, low: i128, totals: &IntegerTotals) -> Statistics {
        let sum = totals.sum as i128 + low * count as i128;
        let all = count as f64;
        // The variance times the square of the count: count * squares - sum^2. The distances have the same variance as
        // the integers.
        let squares = Wide::of(totals.high_high).shifted(64).plus(Wide::of(totals.high_low).shifted(33));
        let squares = squares.plus(Wide::of(totals.low_low));
        let variance = squares.times(count).less(Wide::product(totals.sum, totals.sum));
        let (min, max) = (low + totals.least as i128, low + totals.greatest as i128);
        Statistics {
            count,
            min: min as f64,
            max: max as f64,
            extremes: Some((min, max)),
            mean: quotient(sum, count),
            std: variance.to_f64().sqrt() / all,
            percentiles: Vec::new(),
        }
    }

    /// Computes the statistics of `count` floats from their extremes, mean and sum of squared deviations; no
    /// percentiles.
    pub fn from_sums(count: u64, (min, max): (f64, f64), mean: f64, squares: f64) -> Statistics {
        let std = (squares / count as f64).sqrt();
        // The sign of a zero extreme depends on the order of the search: normalize it to +0.
        let (min, max) = (min + 0.0, max + 0.0);
        Statistics { count, min, max, extremes: None, mean, std, percentiles: Vec::new() }
    }
}

/// Returns the f64 nearest to a quotient: sums of more than 53 bits would be rounded twice.
fn quotient(sum: i128, count: u64) -> f64 {
    let size = sum.unsigned_abs();
    if size == 0 {
        return 0.0;
    }
    // At least 64 bits of the quotient; a remainder sets the last bit, so that a truncated quotient is never a tie.
    let shift = size.leading_zeros();
    let (scaled, count) = (size << shift, count as u128);
    let digits = (scaled / count) | (scaled % count != 0) as u128;
    (digits as f64 * 0.5f64.powi(shift as i32)).copysign(sum as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_rounded_once() {
        assert_eq!((quotient((1 << 54) + 3, 1), quotient(-10, 4)), (18014398509481988.0, -2.5));
        // Python's (2**62 + 128) / 3; float(2**62 + 128) / 3 is 1.5372286728091292e+18.
        assert_eq!(quotient((1 << 62) + 128, 3), 1.5372286728091295e18);
        assert_eq!((quotient(0, 7), quotient(1, 3), quotient(i128::MAX, 1)), (0.0, 1.0 / 3.0, 2f64.powi(127)));
    }

    #[test]
    fn sums_of_large_numbers_are_exact() {
        // 2^40 samples of the minimum and 2^40 of the maximum: mean -0.5, deviations 32767.5.
        let mut counts = vec![0; 65536];
        (counts[0], counts[65535]) = (1 << 40, 1 << 40);
        let found = Statistics::from_counts(-32768, &counts, &[]).unwrap();
        assert_eq!((found.mean, found.std, found.count), (-0.5, 32767.5, 1 << 41));
    }

    #[test]
    fn percentiles_of_one_sample_and_of_the_ends() {
        let one = Statistics::from_counts(0, &[0, 0, 1], &[0.0, 33.0, 100.0]).unwrap();
        assert_eq!(one.percentiles, [2.0, 2.0, 2.0]);
        let two = Statistics::from_counts(0, &[1, 0, 0, 0, 1], &[0.0, 25.0, 100.0]).unwrap();
        assert_eq!(two.percentiles, [0.0, 1.0, 4.0]);
    }

    #[test]
    fn large_integers_by_hand() {
        let of = |low: i128, all: &[i128]| {
            let order = |sample: &i128| (sample - low) as u64;
            let totals = all.iter().map(order).fold(IntegerTotals::NONE, IntegerTotals::with);
            Statistics::from_totals(all.len() as u64, low, &totals)
        };
        const LOW: i128 = i64::MIN as i128;
        // Every f64 near these numbers is a multiple of 1024; their deviations are 1.
        let near = of(LOW, &[LOW + 1, LOW + 3]);
        assert_eq!((near.min, near.mean, near.std), (LOW as f64, LOW as f64, 1.0));
        // The mean of the ends is -1/2, their deviation 2^63 - 1/2.
        let ends = of(LOW, &[LOW, -LOW - 1]);
        assert_eq!((ends.mean, ends.std), (-0.5, 9223372036854775808.0));
        // Of 0, 0 and 2^64 - 1: a third, and sqrt(2) / 3.
        let one = of(0, &[0, 0, u64::MAX as i128]);
        assert_eq!((one.max, one.mean), (u64::MAX as f64, u64::MAX as f64 / 3.0));
        assert!((one.std / u64::MAX as f64 - 2f64.sqrt() / 3.0).abs() < 1e-15);
        assert_eq!(of(0, &[7; 5]).std, 0.0);
    }

    #[test]
    fn no_samples_are_refused() {
        assert!(Statistics::from_counts(0, &[0, 0], &[]).unwrap_err().to_string().contains("no samples"));
    }
}
