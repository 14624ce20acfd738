//! Histograms and their bins, with the semantics of `numpy.histogram`.

use crate::{Error, PixelType, Result};
use std::sync::Arc;

/// Most bins of a histogram.
const MAX_BINS: usize = 1 << 24;

/// Stands for extremes that were not searched for: no edges follow from them.
pub(crate) const UNKNOWN: (f64, f64) = (f64::NAN, f64::NAN);

/// The number of bins and their range.
///
/// Bins have equal width and are half-open, except the last, which includes the range's upper end. Samples outside the
/// range and NaN are not counted. A number converts to that number of bins over the default range.
///
/// ```
/// use apron_core::Bins;
///
/// assert_eq!(Bins::from(16), Bins { count: 16, range: None });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    /// Number of bins.
    pub count: usize,
    /// Lower and upper end. By default the minimum and maximum sample, as in `numpy.histogram`; for u8 always 0 to 256.
    /// Equal ends are moved apart by one half each.
    pub range: Option<(f64, f64)>,
}

impl Default for Bins {
    /// 256 bins over the default range.
    fn default() -> Self {
        Bins { count: 256, range: None }
    }
}

impl Bins {
    /// Checks the parameters, whatever the samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a number of bins that is 0 or too large, or a range that is reversed or not finite.
    pub fn check(&self) -> Result<()> {
        if self.count == 0 || self.count > MAX_BINS {
            return Err(Error::parameter("histogram", "number of bins", self.count, format!("1 to {MAX_BINS}")));
        }
        if let Some((low, high)) = self.range
            && !(low.is_finite() && high.is_finite() && low <= high && (high - low).is_finite())
        {
            let limit = "finite, the lower end first, and their difference finite";
            return Err(Error::parameter("histogram", "range", format!("{low},{high}"), limit));
        }
        Ok(())
    }

    /// Returns the edges for samples of type `pixel`. `extremes` gives the minimum and maximum sample, for bins without
    /// a range.
    ///
    /// As in NumPy, the edges for f32 and f16 samples are f32 numbers, and those for integers and f64 are f64.
    ///
    /// # Errors
    /// As [`check`](Self::check); [`Error::Parameter`] for a range that f32 does not hold, where samples are floats,
    /// and for a number of bins so large that some would have no width; [`Error::Samples`] where the range depends on
    /// the samples, and these are NaN, infinite, or too close together.
    pub fn edges(&self, pixel: PixelType, extremes: impl FnOnce() -> (f64, f64)) -> Result<Edges> {
        self.check()?;
        let single = matches!(pixel, PixelType::F16 | PixelType::F32);
        if let Some((low, high)) = self.range
            && single
            && !(low as f32).is_finite() | !(high as f32).is_finite() | !(high as f32 - low as f32).is_finite()
        {
            let limit = "finite in f32, as the samples are, and so their difference";
            return Err(Error::parameter("histogram", "range", format!("{low:e},{high:e}"), limit));
        }
        let range = match (self.range, pixel) {
            (Some(range), _) => range,
            (None, PixelType::U8) => (0.0, 256.0),
            (None, _) => {
                let (least, largest) = extremes();
                // The sign of a zero extreme depends on the order of the search: normalize it to +0.
                (least + 0.0, largest + 0.0)
            }
        };
        self.edges_over(range, single)
    }

    /// Returns the edges if they do not depend on the samples: over a given range, or that of u8.
    ///
    /// ```
    /// use apron_core::{Bins, PixelType};
    ///
    /// let edges = Bins { count: 2, range: Some((0.0, 8.0)) }.fixed_edges(PixelType::I16)?;
    /// assert_eq!(edges.values(), [0.0, 4.0, 8.0]);
    /// assert!(Bins::from(2).fixed_edges(PixelType::I16).is_err());
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`edges`](Self::edges), and [`Error::Samples`] where the range depends on the samples.
    pub fn fixed_edges(&self, pixel: PixelType) -> Result<Edges> {
        self.edges(pixel, || UNKNOWN)
    }

    /// Returns the edges over a range; `single` for samples of f32 or f16.
    fn edges_over(&self, (mut low, mut high): (f64, f64), single: bool) -> Result<Edges> {
        let width = if single { (high as f32 - low as f32) as f64 } else { high - low };
        if !(low.is_finite() && high.is_finite() && width.is_finite()) {
            let what =
                format!("the range of the samples is {low} to {high}, which is not finite or too wide; give one");
            return Err(Error::Samples { operation: "histogram", what });
        }
        if low == high {
            (low, high) = (low - 0.5, high + 0.5);
        }
        let found_in_f32 = single && self.range.is_none();
        let mut edges: Vec<f64> = if found_in_f32 {
            // numpy.linspace between two f32 numbers computes in f32.
            let step = (high as f32 - low as f32) / self.count as f32;
            (0..self.count).map(|i| (i as f32 * step + low as f32) as f64).collect()
        } else {
            let step = (high - low) / self.count as f64;
            (0..self.count).map(|i| i as f64 * step + low).collect()
        };
        edges.push(high);
        if single {
            edges.iter_mut().for_each(|edge| *edge = *edge as f32 as f64);
        }
        if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
            // numpy.histogram refuses these, too.
            let (numbers, between) = (if single { "f32" } else { "f64" }, format!("from {low:e} to {high:e}"));
            return Err(match self.range {
                Some(_) => {
                    let limit = format!("so small that each bin {between} has a width in {numbers}");
                    Error::parameter("histogram", "number of bins", self.count, limit)
                }
                None => {
                    let what =
                        format!("{} bins {between}, the range of the samples, have no width in {numbers}", self.count);
                    Error::Samples { operation: "histogram", what: format!("{what}; take fewer, or give a range") }
                }
            });
        }
        Ok(Edges { per_width: self.count as f64 / (high - low), edges: Arc::new(edges) })
    }
}

/// Joins the extremes of two parts of the samples: both become NaN if the minimum of a part is NaN. A part without
/// samples has infinity and negative infinity.
pub fn join_extremes((low, high): (f64, f64), (least, largest): (f64, f64)) -> (f64, f64) {
    if least.is_nan() || low.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    (low.min(least), high.max(largest))
}

/// The edges of a histogram's bins, one more than the bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Edges {
    /// Shared, since histograms of many bins are cloned with their edges.
    edges: Arc<Vec<f64>>,
    per_width: f64,
}

impl Edges {
    /// Creates edges from ascending values with any spacing.
    pub(crate) fn unevenly(edges: Vec<f64>) -> Edges {
        Edges { edges: Arc::new(edges), per_width: 0.0 }
    }

    /// Returns the edges in ascending order.
    pub fn values(&self) -> &[f64] {
        &self.edges
    }

    /// Returns the number of bins.
    pub fn bins(&self) -> usize {
        self.edges.len() - 1
    }

    /// Returns whether the bins are those of [`Bins::of_values`].
    pub fn is_of_values(&self, pixel: PixelType) -> bool {
        // Edges are made only to be compared with as many.
        let bins = Bins::of_values(pixel).filter(|bins| bins.count == self.bins());
        bins.is_some_and(|bins| bins.fixed_edges(pixel).is_ok_and(|all| all == *self))
    }

    /// Returns the bins per unit, where they are of one width; otherwise 0.
    pub fn per_width(&self) -> f64 {
        self.per_width
    }

    /// Returns the bin of a sample, or `None` for NaN and samples outside the range.
    pub fn bin(&self, sample: f64) -> Option<usize> {
        let last = self.bins() - 1;
        // The comparisons are false for NaN.
        if !(sample >= self.edges[0] && sample <= self.edges[last + 1]) {
            return None;
        }
        // The computed index may be off by one near an edge: comparison with the edges decides.
        let guess = (((sample - self.edges[0]) * self.per_width) as usize).min(last);
        if self.edges[guess] <= sample && (sample < self.edges[guess + 1] || guess == last) {
            return Some(guess);
        }
        Some(self.edges[..=last].partition_point(|&edge| edge <= sample) - 1)
    }
}

/// Counts of samples by bin, of all channels together or of each channel.
///
/// ```
/// use apron_core::{Bins, Histogram, PixelType};
///
/// let edges = Bins { count: 2, range: Some((0.0, 256.0)) }.fixed_edges(PixelType::U8)?;
/// let histogram = Histogram::new(edges, 3, vec![9, 1, 5, 5, 0, 10]);
/// assert_eq!((histogram.edges(), histogram.channel(1)), (&[0.0, 128.0, 256.0][..], &[5, 5][..]));
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    edges: Edges,
    channels: u32,
    counts: Vec<u64>,
}

impl Histogram {
    /// Creates a histogram; `counts` holds the bins of the first channel, then the bins of the next.
    ///
    /// # Panics
    /// If the number of counts is not bins times channels.
    pub fn new(edges: Edges, channels: u32, counts: Vec<u64>) -> Histogram {
        assert_eq!(counts.len(), edges.bins() * channels as usize, "one count a bin and channel");
        Histogram { edges, channels, counts }
    }

    /// Creates the histogram of byte samples from the count of each byte value, 256 per channel.
    ///
    /// # Panics
    /// If the number of counts is not 256 times channels.
    pub fn from_byte_counts(edges: Edges, channels: u32, byte_counts: &[u64]) -> Histogram {
        Histogram::from_value_counts(edges, PixelType::U8, channels, byte_counts)
    }

    /// Creates the histogram of integer samples from the count of each possible value, channel by channel.
    ///
    /// # Panics
    /// For float samples, and if the number of counts is not the number of [values](PixelType::values) times channels.
    pub fn from_value_counts(edges: Edges, pixel: PixelType, channels: u32, value_counts: &[u64]) -> Histogram {
        let (low, values) = pixel.values().expect("an integer type");
        assert_eq!(value_counts.len(), values * channels as usize, "one count a value and channel");
        let mut counts = vec![0; edges.bins() * channels as usize];
        let (all, last) = (edges.values(), edges.bins() - 1);
        for (of_channel, of_values) in counts.chunks_mut(edges.bins()).zip(value_counts.chunks(values)) {
            // Values rise, and so do their bins.
            let mut bin = 0;
            for (value, &count) in of_values.iter().enumerate().filter(|(_, count)| **count > 0) {
                let sample = (low + value as i32) as f64;
                if sample < all[0] || sample > all[last + 1] {
                    continue;
                }
                // Most bins hold few values: the next bin is near.
                bin = match (bin..last.min(bin + 4)).find(|&near| sample < all[near + 1]) {
                    Some(near) => near,
                    None => bin + all[bin..=last].partition_point(|&edge| edge <= sample) - 1,
                };
                of_channel[bin] += count;
            }
        }
        Histogram::new(edges, channels, counts)
    }

    /// Adds the counts of another histogram with the same edges and channels.
    ///
    /// ```
    /// use apron_core::{Bins, Histogram, PixelType};
    ///
    /// let edges = Bins { count: 2, range: Some((0.0, 2.0)) }.fixed_edges(PixelType::U8)?;
    /// let of = |counts: [u64; 2]| Histogram::new(edges.clone(), 1, counts.to_vec());
    /// assert_eq!(of([1, 2]).plus(&of([3, 4])), of([4, 6]));
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the other histogram has other edges or channels.
    pub fn plus(mut self, other: &Histogram) -> Histogram {
        assert!(self.edges == other.edges && self.channels == other.channels, "histograms of the same bins");
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self
    }

    /// Returns the number of channels counted separately; 1 where all were counted together.
    pub fn channels(&self) -> u32 {
        self.channels
    }

    /// Returns the number of bins per channel.
    pub fn bins(&self) -> usize {
        self.edges.bins()
    }

    /// Returns the bins' edges, one more than the bins.
    pub fn edges(&self) -> &[f64] {
        self.edges.values()
    }

    /// Returns for each bin the count of all samples in it and in the bins below, channel by channel.
    ///
    /// ```
    /// use apron_core::{Bins, Histogram, PixelType};
    ///
    /// let edges = Bins { count: 3, range: Some((0.0, 3.0)) }.fixed_edges(PixelType::U8)?;
    /// assert_eq!(Histogram::new(edges, 1, vec![5, 0, 2]).cumulative(), [5, 5, 7]);
    /// # Ok::<(), apron_core::Error>(())
    /// ```
    pub fn cumulative(&self) -> Vec<u64> {
        let of_channel = |counts: &[u64]| {
            let sums = counts.iter().scan(0, |sum, count| {
                *sum += count;
                Some(*sum)
            });
            sums.collect::<Vec<_>>()
        };
        self.counts.chunks(self.bins()).flat_map(of_channel).collect()
    }

    /// Returns the histogram with [cumulative](Self::cumulative) counts.
    pub fn cumulated(&self) -> Histogram {
        Histogram { counts: self.cumulative(), ..self.clone() }
    }

    /// Returns the edges alone.
    pub fn into_edges(self) -> Edges {
        self.edges
    }

    /// Returns the counts of a channel, which is below [`channels`](Self::channels).
    pub fn channel(&self, channel: u32) -> &[u64] {
        &self.counts[channel as usize * self.bins()..][..self.bins()]
    }

    /// Returns all counts, channel by channel.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(count: usize, range: Option<(f64, f64)>) -> Edges {
        Bins { count, range }.fixed_edges(PixelType::U8).unwrap()
    }

    #[test]
    fn bins_are_half_open_but_the_last() {
        let edges = edges(4, Some((0.0, 8.0)));
        let bins: Vec<_> = [0.0, 1.9, 2.0, 7.9, 8.0, 8.1, -0.1, f64::NAN].iter().map(|&x| edges.bin(x)).collect();
        assert_eq!(bins, [Some(0), Some(0), Some(1), Some(3), Some(3), None, None, None]);
    }

    #[test]
    fn samples_on_an_edge_belong_to_the_bin_above() {
        // (0.3 - 0) * 10 is 2.9999999999999996 in f64.
        let edges = edges(10, Some((0.0, 1.0)));
        for (bin, &edge) in edges.values()[..10].iter().enumerate() {
            assert_eq!(edges.bin(edge), Some(bin));
        }
    }

    #[test]
    fn impossible_bins_are_refused() {
        for bins in [
            Bins { count: 0, range: None },
            Bins { count: 4, range: Some((1.0, 0.0)) },
            Bins { count: 4, range: Some((f64::NAN, 0.0)) },
            Bins { count: 4, range: Some((f64::MIN, f64::MAX)) },
        ] {
            assert_eq!(bins.check().unwrap_err().kind(), crate::ErrorKind::Usage, "{bins:?}");
        }
        let nan = Bins::default().edges(PixelType::F32, || (f64::NAN, 1.0)).unwrap_err();
        assert_eq!(nan.kind(), crate::ErrorKind::Input);
        let wide = Bins::default().edges(PixelType::F32, || (-3e38, 3e38)).unwrap_err();
        assert_eq!(wide.kind(), crate::ErrorKind::Input);
    }

    #[test]
    fn bins_without_a_width_are_refused_as_numpy_refuses_them() {
        // numpy.histogram(numpy.float32([1, 1.0000002]), 4): "Too many bins for data range".
        let edges = |count, range, extremes| Bins { count, range }.edges(PixelType::F32, || extremes);
        let near = (1.0, f64::from(1.0000002f32));
        let error = edges(4, None, near).unwrap_err();
        assert!(matches!(&error, Error::Samples { .. }) && error.to_string().contains("4 bins from 1e0"), "{error}");
        assert_eq!(edges(2, None, near).unwrap().bins(), 2);
        let error = edges(4, Some(near), (0.0, 1.0)).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Usage, "{error}");
        assert!(edges(2, None, (1e30, 1e30)).is_err());
        // Edges of integers are f64.
        let fine = Bins { count: 2, range: Some((1.0, 1.00000000001)) };
        assert!(fine.fixed_edges(PixelType::U16).is_ok());
        let error = edges(2, Some((0.0, 1e39)), (0.0, 1.0)).unwrap_err().to_string();
        assert!(error.contains("range is 0e0,1e39"), "{error}");
    }

    #[test]
    fn extremes_of_parts() {
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        assert_eq!(join_extremes(none, (1.0, 2.0)), (1.0, 2.0));
        assert_eq!(join_extremes((0.0, 1.0), (-3.0, 0.5)), (-3.0, 1.0));
        for pair in [((f64::NAN, f64::NAN), (0.0, 1.0)), ((0.0, 1.0), (f64::NAN, f64::NAN))] {
            assert!(join_extremes(pair.0, pair.1).0.is_nan() && join_extremes(pair.0, pair.1).1.is_nan());
        }
    }

    #[test]
    fn edges_of_f32_are_f32_and_zeros_have_no_sign() {
        let found = |least, largest| Bins::default().edges(PixelType::F32, || (least, largest)).unwrap();
        let edges = found(-0.1f32 as f64, -0.0);
        assert!(edges.values().iter().all(|&edge| edge as f32 as f64 == edge));
        assert!(edges.values()[256].is_sign_positive());
        let given = Bins { count: 7, range: Some((0.1, 0.7)) }.fixed_edges(PixelType::F32).unwrap();
        assert!(given.values().iter().all(|&edge| edge as f32 as f64 == edge));
    }

    #[test]
    fn byte_counts_regroup() {
        let mut bytes = vec![0u64; 256];
        (bytes[0], bytes[100], bytes[255]) = (5, 7, 9);
        assert_eq!(Histogram::from_byte_counts(edges(2, None), 1, &bytes).counts(), [12, 9]);
        assert_eq!(Histogram::from_byte_counts(edges(2, Some((100.0, 255.0))), 1, &bytes).counts(), [7, 9]);
        assert_eq!(Histogram::from_byte_counts(edges(1, Some((100.0, 100.0))), 1, &bytes).counts(), [7]);
    }
}
