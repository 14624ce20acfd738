//! Histograms of weights, and of pairs of channels.

use crate::{Edges, Error, Image, Pixel, PixelType, Result, Shape};

/// Samples whose weights are summed before the sum is added to the others: as many as NumPy takes at a time.
pub const WEIGHTED_BLOCK: usize = 65536;

/// Sums of weights, one a pixel, by the bins of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedBins {
    /// Shape of the input.
    pub shape: Shape,
    /// Its sample type.
    pub src: PixelType,
    /// The bins' edges.
    pub edges: Edges,
    /// Whether channels are summed apart.
    pub per_channel: bool,
    /// Whether the weights are f32, as the samples of an image are, and not f64.
    pub single: bool,
}

impl WeightedBins {
    /// Channels summed apart.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Counts of pixels by the bins of two channels.
#[derive(Clone, Debug, PartialEq)]
pub struct PairHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Its sample type.
    pub src: PixelType,
    /// The two channels, which the image has.
    pub channels: [u32; 2],
    /// The edges of each one's bins.
    pub edges: [Edges; 2],
}

/// Sums of weights by bin, for all channels together or each apart.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedHistogram {
    /// The bins' edges, one more than there are bins.
    pub edges: Edges,
    /// Channels apart; 1 where all are summed together.
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
    /// The counts: those of the first channel's first bin for each of the second's, then those of its next.
    pub counts: Vec<u64>,
}

impl Histogram2d {
    /// The count of the pixels in a bin of the first channel and one of the second, both below their numbers.
    pub fn count(&self, first: usize, second: usize) -> u64 {
        self.counts[first * self.second.bins() + second]
    }
}

/// Whether there is a weight for each pixel.
///
/// # Errors
/// [`Error::Shape`] for another number of them.
pub fn check_weights(shape: Shape, weights: &[f64]) -> Result<()> {
    if weights.len() as u64 == shape.pixels() {
        return Ok(());
    }
    let limit = format!("{}, one for each pixel of {shape}", shape.pixels());
    Err(Error::Shape { what: "number of weights", value: weights.len().to_string(), limit })
}

/// Whether an image of this shape has a channel.
///
/// # Errors
/// [`Error::Parameter`] if not.
pub fn check_channel(shape: Shape, channel: u32) -> Result<()> {
    if channel < shape.channels {
        return Ok(());
    }
    Err(Error::parameter("histogram", "channel", channel, format!("0 to {}", shape.channels - 1)))
}

/// One channel of an image by itself.
///
/// # Errors
/// [`Error::Parameter`] for a channel that the image does not have.
pub fn channel_of<T: Pixel>(image: &Image<'_, T>, channel: u32) -> Result<Image<'static, T>> {
    check_channel(image.shape(), channel)?;
    let channels = image.channels();
    let samples = image.rows().flat_map(|row| row.iter().skip(channel as usize).step_by(channels as usize).copied());
    Image::new(image.width(), image.height(), 1, samples.collect::<Vec<T>>())
}
