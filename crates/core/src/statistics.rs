//! The least, the largest, mean, standard deviation and percentiles of samples.

use crate::{Error, Percentile, PixelType, Result, Shape, check_percentiles};

const OPERATION: &str = "stats";

/// Statistics of floats, of all channels together or of each apart.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatStatistics {
    /// Shape of the input.
    pub shape: Shape,
    /// Its sample type.
    pub src: PixelType,
    /// Whether channels are taken apart.
    pub per_channel: bool,
}

impl FloatStatistics {
    /// Channels taken apart.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }

    /// Samples of each.
    pub fn count(&self) -> u64 {
        self.shape.samples() / self.channels() as u64
    }
}

/// What is to be known of the samples of a channel, or of all channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Number of samples.
    pub count: u64,
    /// The least; NaN where a sample is. A zero has no sign.
    pub min: f64,
    /// The largest; NaN where a sample is. A zero has no sign.
    pub max: f64,
    /// The mean. Of integers it is the quotient of their exact sum; of floats, that of the sums of rows, from the left,
    /// and of those from the top, in f64.
    pub mean: f64,
    /// The standard deviation of the population, from the sum of the squared distances to the mean: of integers that is
    /// exact until the root is taken, of floats summed as the mean is.
    pub std: f64,
    /// The percentiles that were asked for.
    pub percentiles: Vec<f64>,
}

impl Statistics {
    /// Of integers, from the count of each value from `low` on.
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
    /// As [`check_percentiles`], and [`Error::Samples`] where all counts are 0.
    pub fn from_counts(low: i32, counts: &[u64], percentiles: &[f64]) -> Result<Statistics> {
        check_percentiles(percentiles)?;
        let values = || counts.iter().zip(low as i128..).filter(|(count, _)| **count > 0);
        let (Some((_, min)), Some((_, max))) = (values().next(), values().last()) else {
            return Err(Error::Samples { operation: OPERATION, what: "there are no samples".into() });
        };
        let sum = |of: fn(i128) -> i128| values().map(|(&count, value)| count as i128 * of(value)).sum::<i128>();
        let (count, total, squares) = (sum(|_| 1), sum(|value| value), sum(|value| value * value));
        let all = count as f64;
        let nth = |rank: u64| {
            let mut upto = 0;
            let value = counts.iter().position(|count| {
                upto += count;
                upto > rank
            });
            low as f64 + value.unwrap_or(counts.len() - 1) as f64
        };
        let of = |&percent: &f64| {
            let percentile = Percentile::of(percent, count as u64);
            // Of any integers.
            percentile.between(PixelType::I16, percentile.ranks.map(nth))
        };
        Ok(Statistics {
            count: count as u64,
            min: min as f64,
            max: max as f64,
            mean: total as f64 / all,
            std: ((count * squares - total * total) as f64).sqrt() / all,
            percentiles: percentiles.iter().map(of).collect(),
        })
    }

    /// Of floats, from sums: of `count` samples, their sum and that of their squared distances to the mean.
    pub fn from_sums(count: u64, (min, max): (f64, f64), mean: f64, squares: f64) -> Statistics {
        let std = (squares / count as f64).sqrt();
        // Which of two equal zeros was found depends on the order of the search: let it be +0.
        Statistics { count, min: min + 0.0, max: max + 0.0, mean, std, percentiles: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_large_numbers_are_exact() {
        // 2^40 of the least and as many of the largest: mean -0.5, distances 32767.5.
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
    fn no_samples_are_refused() {
        assert!(Statistics::from_counts(0, &[0, 0], &[]).unwrap_err().to_string().contains("no samples"));
    }
}
