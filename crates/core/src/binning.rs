//! Assignment of samples to bins: of equal width, or between given edges.

use crate::histogram::UNKNOWN;
use crate::{Bins, Edges, Error, PixelType, Result};

/// Bins of equal width, or between explicit edges.
///
/// ```
/// use apron_core::{Binning, Edges, PixelType};
///
/// let binning = Binning::Between(Edges::new(vec![0.0, 10.0, 100.0])?);
/// let edges = binning.fixed_edges(PixelType::U16)?;
/// assert_eq!([9.0, 10.0, 100.0, 101.0].map(|sample| edges.bin(sample)), [Some(0), Some(1), Some(1), None]);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Binning {
    /// Bins of equal width over a range.
    Even(Bins),
    /// Bins between these edges.
    Between(Edges),
}

impl Binning {
    /// Checks the parameters, whatever the samples.
    ///
    /// # Errors
    /// As [`Bins::check`]; edges were checked when they were created.
    pub fn check(&self) -> Result<()> {
        match self {
            Binning::Even(bins) => bins.check(),
            Binning::Between(_) => Ok(()),
        }
    }

    /// Returns the edges for samples of type `pixel`. `extremes` gives the minimum and maximum sample, for bins without
    /// a range; of no samples these are infinity and negative infinity, and the range is 0 to 1, as in NumPy.
    ///
    /// # Errors
    /// As [`Bins::edges`].
    pub fn edges(&self, pixel: PixelType, extremes: impl FnOnce() -> (f64, f64)) -> Result<Edges> {
        match self {
            Binning::Even(bins) => bins.edges(pixel, || match extremes() {
                (f64::INFINITY, f64::NEG_INFINITY) => (0.0, 1.0),
                found => found,
            }),
            Binning::Between(edges) => Ok(edges.clone()),
        }
    }

    /// Returns the edges if they do not depend on the samples: given edges, or those of bins over a given range or that
    /// of u8.
    ///
    /// # Errors
    /// As [`Bins::fixed_edges`].
    pub fn fixed_edges(&self, pixel: PixelType) -> Result<Edges> {
        self.edges(pixel, || UNKNOWN)
    }

    /// Returns the number of bins.
    pub fn bins(&self) -> usize {
        match self {
            Binning::Even(bins) => bins.count,
            Binning::Between(edges) => edges.bins(),
        }
    }

    /// Returns whether the bins are those of [`Bins::of_values`]: one per value of an integer type.
    ///
    /// ```
    /// use apron_core::{Binning, Bins, PixelType};
    ///
    /// let bins = |range| Binning::Even(Bins { count: 256, range });
    /// assert!(bins(None).is_of_values(PixelType::U8) && bins(Some((0.0, 256.0))).is_of_values(PixelType::U8));
    /// assert!(!bins(None).is_of_values(PixelType::U16) && !bins(None).is_of_values(PixelType::F32));
    /// ```
    pub fn is_of_values(&self, pixel: PixelType) -> bool {
        let Some(bins) = Bins::of_values(pixel) else { return false };
        match self {
            Binning::Even(own) if own.range.is_some() => *own == bins,
            Binning::Even(own) => pixel == PixelType::U8 && own.count == bins.count,
            Binning::Between(edges) => edges.is_of_values(pixel),
        }
    }

    /// Returns the last edge; infinity if it depends on the samples.
    pub fn last(&self) -> f64 {
        match self {
            Binning::Even(bins) => bins.range.map_or(f64::INFINITY, |(_, high)| high),
            Binning::Between(edges) => edges.values().last().copied().unwrap_or(f64::INFINITY),
        }
    }

    /// Returns bins with the range that samples of a type have by default, for images that are converted before they
    /// are counted: 0 to 2 for bool, as 0 to 256 for u8.
    pub fn of_type(&self, pixel: PixelType) -> Binning {
        match self {
            Binning::Even(bins @ Bins { range: None, .. }) if pixel == PixelType::Bool => {
                Binning::Even(Bins { range: Some((0.0, 2.0)), ..*bins })
            }
            own => own.clone(),
        }
    }

    /// Returns whether the range depends on the samples.
    pub fn seeks_range(&self, pixel: PixelType) -> bool {
        let fixed = matches!(pixel, PixelType::U8 | PixelType::Bool);
        matches!(self, Binning::Even(Bins { range: None, .. })) && !fixed
    }
}

impl From<Bins> for Binning {
    fn from(bins: Bins) -> Binning {
        Binning::Even(bins)
    }
}

impl From<usize> for Bins {
    /// Creates this number of bins over the default range.
    fn from(count: usize) -> Bins {
        Bins { count, range: None }
    }
}

impl From<usize> for Binning {
    /// Creates this number of bins of equal width over the default range.
    fn from(count: usize) -> Binning {
        Binning::Even(count.into())
    }
}

impl From<Edges> for Binning {
    fn from(edges: Edges) -> Binning {
        Binning::Between(edges)
    }
}

impl Bins {
    /// Returns one bin per value of an integer type of at most 16 bits; `None` for others.
    ///
    /// ```
    /// use apron_core::{Bins, PixelType};
    ///
    /// let bins = Bins::of_values(PixelType::I16).unwrap();
    /// assert_eq!((bins.count, bins.range), (65536, Some((-32768.0, 32768.0))));
    /// ```
    pub fn of_values(pixel: PixelType) -> Option<Bins> {
        let (low, count) = pixel.values()?;
        let low = low as f64;
        Some(Bins { count, range: Some((low, low + count as f64)) })
    }
}

impl PixelType {
    /// Returns the least value of an integer type of at most 16 bits and the number of its values; `None` for others.
    pub fn values(self) -> Option<(i32, usize)> {
        match self {
            PixelType::U8 => Some((0, 1 << 8)),
            PixelType::U16 => Some((0, 1 << 16)),
            PixelType::I16 => Some((-1 << 15, 1 << 16)),
            PixelType::I8 => Some((-1 << 7, 1 << 8)),
            PixelType::Bool => Some((0, 2)),
            _ => None,
        }
    }
}

impl Edges {
    /// Creates bins between these edges, as `numpy.histogram` does: each bin includes its lower edge, and the last its
    /// upper one too. Edges may be equal, and the outer ones infinite.
    ///
    /// # Errors
    /// [`Error::Parameter`] for fewer than two edges, for more than 2^24 + 1, and for an edge that is NaN or below its
    /// predecessor.
    pub fn new(values: Vec<f64>) -> Result<Edges> {
        let wrong = |value: String, limit: &str| Err(Error::parameter("histogram", "edges", value, limit));
        if !(2..=(1 << 24) + 1).contains(&values.len()) {
            return wrong(format!("{} numbers", values.len()), "2 to 16777217 numbers");
        }
        if let Some(pair) = values.windows(2).find(|pair| pair[0].is_nan() || pair[1].is_nan() || pair[0] > pair[1]) {
            return wrong(format!("{} before {}", pair[0], pair[1]), "rising numbers");
        }
        Ok(Edges::unevenly(values))
    }

    /// Returns f32 edges that put every f32 sample into the same bin: for each lower edge the least f32 not below it,
    /// and the greatest f32 not above the last edge. A sample lies in the last bin whose lower edge is not above it.
    pub fn in_f32(&self) -> (Vec<f32>, f32) {
        let (last, lower) = self.values().split_last().expect("two edges or more");
        let up = |edge: f64| if ((edge as f32) as f64) < edge { (edge as f32).next_up() } else { edge as f32 };
        let down = if (*last as f32) as f64 > *last { (*last as f32).next_down() } else { *last as f32 };
        (lower.iter().map(|&edge| up(edge)).collect(), down)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_and_infinite_edges_are_numpys() {
        // numpy.histogram([1, 1, 2, 5, inf], [1, 1, 2, inf])[0] is [0, 2, 3]; with edges [1, 2, 2] it is [2, 1].
        let bins = |edges: &[f64], samples: &[f64]| {
            let edges = Edges::new(edges.to_vec()).unwrap();
            samples.iter().map(|&sample| edges.bin(sample)).collect::<Vec<_>>()
        };
        let samples = [1.0, 2.0, 5.0, f64::INFINITY, 0.9, f64::NAN];
        let found = bins(&[1.0, 1.0, 2.0, f64::INFINITY], &samples);
        assert_eq!(found, [Some(1), Some(2), Some(2), Some(2), None, None]);
        assert_eq!(bins(&[1.0, 2.0, 2.0], &[1.0, 2.0, 2.1]), [Some(0), Some(1), None]);
        assert_eq!(bins(&[f64::NEG_INFINITY, 0.0], &[-1e300, 0.0, 1.0]), [Some(0), Some(0), None]);
    }

    #[test]
    fn edges_that_do_not_rise_are_refused_by_value() {
        for (edges, part) in [
            (vec![], "0 numbers"),
            (vec![1.0], "1 numbers"),
            (vec![1.0, 0.5], "1 before 0.5"),
            (vec![0.0, f64::NAN], "0 before NaN"),
        ] {
            let error = Edges::new(edges).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn edges_in_f32_part_the_same_samples() {
        let edges = Edges::new(vec![0.1, 0.3, 1e300, f64::INFINITY]).unwrap();
        let (lower, last) = edges.in_f32();
        assert_eq!((lower[0], lower[1]), (0.1f32, 0.3f32));
        assert_eq!((lower[2], last), (f32::INFINITY, f32::INFINITY));
        let below = Edges::new(vec![-1e300, 0.7]).unwrap().in_f32();
        // The nearest f32 to 0.7 lies below it: 0.699999988.
        assert_eq!(below, (vec![f32::MIN], 0.7f32));
        assert_eq!(Edges::new(vec![0.0, 0.1]).unwrap().in_f32().1, 0.1f32.next_down());
        for sample in [0.1f32.next_down(), 0.1, 0.3f32.next_down(), 0.3, f32::MAX, f32::INFINITY, f32::NAN] {
            let least = lower.iter().filter(|edge| sample >= **edge).count();
            let bin = if least > 0 && sample <= last { Some(least - 1) } else { None };
            assert_eq!(bin, edges.bin(sample as f64), "{sample}");
        }
    }

    #[test]
    fn no_samples_have_the_range_0_to_1() {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let edges = Binning::Even(Bins { count: 2, range: None }).edges(PixelType::F32, || none).unwrap();
        assert_eq!(edges.values(), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_bin_for_each_value() {
        for pixel in [PixelType::U8, PixelType::U16, PixelType::I16] {
            let edges = Bins::of_values(pixel).unwrap().fixed_edges(pixel).unwrap();
            let (low, count) = pixel.values().unwrap();
            assert!((0..count).all(|value| edges.bin((low + value as i32) as f64) == Some(value)), "{pixel}");
        }
        assert_eq!(Bins::of_values(PixelType::F32), None);
    }
}
