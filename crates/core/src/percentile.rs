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

/// Returns the cell of the sample of a rank, counted from 0, and the sample's rank within the cell, from the counts of
/// all cells.
///
/// # Panics
/// If there are not more samples than `rank`.
pub fn cell_of_rank(counts: &[u64], mut rank: u64) -> (usize, u64) {
    let mut cell = 0;
    // Sums of whole blocks take vector instructions.
    for block in counts.chunks(256) {
        let samples: u64 = block.iter().sum();
        if rank < samples {
            break;
        }
        (cell, rank) = (cell + block.len(), rank - samples);
    }
    while rank >= counts[cell] {
        (cell, rank) = (cell + 1, rank - counts[cell]);
    }
    (cell, rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cell_of_a_rank_has_the_samples_below_it_before() {
        let mut counts = vec![1; 600];
        (counts[100], counts[255], counts[256]) = (0, 3, 0);
        for (rank, expected) in [(0, (0, 0)), (99, (99, 0)), (100, (101, 0)), (254, (255, 0)), (256, (255, 2))] {
            assert_eq!(cell_of_rank(&counts, rank), expected, "{rank}");
        }
        assert_eq!((cell_of_rank(&counts, 257), cell_of_rank(&counts, 599)), ((257, 0), (599, 0)));
    }

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
    fn impossible_percentiles_are_refused() {
        for percent in [-0.1, 100.1, f64::NAN] {
            assert_eq!(check_percentiles(&[50.0, percent]).unwrap_err().kind(), crate::ErrorKind::Usage);
        }
    }
}
