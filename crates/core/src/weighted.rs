//! Weighted histograms, and histograms of two channels.

use crate::{Edges, Error, HistogramDd, Image, Pixel, PixelType, Result, Shape};

/// Samples per block of partial sums: weights are summed per block, then blocks are added, in the block size of NumPy.
pub const WEIGHTED_BLOCK: usize = 65536;

/// Sums of weights, one per pixel, by the bins of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedBins {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// The bins' edges.
    pub edges: Edges,
    /// Whether channels are summed separately.
    pub per_channel: bool,
    /// Whether the weights are f32 instead of f64.
    pub single: bool,
}

impl WeightedBins {
    /// Returns the number of channels summed separately.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Sums of weights by bin, of all channels together or of each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedHistogram {
    /// The bins' edges, one more than the bins.
    pub edges: Edges,
    /// Channels summed separately; 1 if all are summed together.
    pub channels: u32,
    /// The sums, channel by channel.
    pub sums: Vec<f64>,
}

/// Counts of the pixels of an image by the bins of two of its channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram2d {
    /// The edges of the first channel's bins.
    pub first: Edges,
    /// The edges of the second channel's bins.
    pub second: Edges,
    /// The counts in row-major order: rows are bins of the first channel, columns bins of the second.
    pub counts: Vec<u64>,
}

impl Histogram2d {
    /// Names the dimensions of a histogram of two.
    ///
    /// # Panics
    /// For another number of dimensions.
    pub fn of(HistogramDd { edges, cells: counts }: HistogramDd) -> Histogram2d {
        let [first, second] = <[Edges; 2]>::try_from(edges).expect("two dimensions");
        Histogram2d { first, second, counts }
    }

    /// Returns the count of a bin of the first channel and a bin of the second, both in range.
    pub fn count(&self, first: usize, second: usize) -> u64 {
        self.counts[first * self.second.bins() + second]
    }
}

/// Checks that there is one weight per pixel.
///
/// # Errors
/// [`Error::Shape`] for another number of weights.
pub fn check_weights(shape: Shape, weights: &[f64]) -> Result<()> {
    if weights.len() as u64 == shape.pixels() {
        return Ok(());
    }
    let limit = format!("{}, one for each pixel of {shape}", shape.pixels());
    Err(Error::Shape { what: "number of weights", value: weights.len().to_string(), limit })
}

/// Checks that an image of this shape has a channel.
///
/// # Errors
/// [`Error::Parameter`] if it has not.
pub fn check_channel(shape: Shape, channel: u32) -> Result<()> {
    if channel < shape.channels {
        return Ok(());
    }
    Err(Error::parameter("histogram", "channel", channel, format!("0 to {}", shape.channels - 1)))
}

/// Copies one channel of an image.
///
/// # Errors
/// [`Error::Parameter`] for a channel that the image does not have.
pub fn channel_of<T: Pixel>(image: &Image<'_, T>, channel: u32) -> Result<Image<'static, T>> {
    check_channel(image.shape(), channel)?;
    let channels = image.channels();
    let samples = image.rows().flat_map(|row| row.iter().skip(channel as usize).step_by(channels as usize).copied());
    Image::new(image.width(), image.height(), 1, samples.collect::<Vec<T>>())
}
