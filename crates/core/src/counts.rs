//! Histogram problems, as values.

use crate::histogram::UNKNOWN;
use crate::problem::check_beside;
use crate::{Bins, Edges, PixelType, Result, Shape};

/// Counts of the byte values of a u8 image, of all channels together or of each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Whether channels are counted separately.
    pub per_channel: bool,
}

impl ByteHistogram {
    /// Returns the number of channels counted separately.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Counts of samples in bins of equal width, of all channels together or of each channel.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Number of bins, and their range.
    pub bins: Bins,
    /// Minimum and maximum sample: the range of bins without one.
    pub extremes: Option<(f64, f64)>,
    /// Whether channels are counted separately.
    pub per_channel: bool,
}

impl EdgeHistogram {
    /// Returns the bins' edges.
    ///
    /// # Errors
    /// As [`Bins::edges`]; bins without a range need known extremes.
    pub fn edges(&self) -> Result<Edges> {
        self.bins.edges(self.src, || self.extremes.unwrap_or(UNKNOWN))
    }

    /// Returns the number of channels counted separately.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Counts of samples by value or between edges, of all pixels or of those that a mask selects.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// The bins' edges for f32, and for integers of 32 bits, whose bins hold an integer each. Other integers are counted by
    /// value: 256 or 65536 cells, the least value first.
    pub edges: Option<Edges>,
    /// Whether channels are counted separately.
    pub per_channel: bool,
    /// Whether a second image, u8 of one channel, selects pixels: those where it is not 0.
    pub masked: bool,
}

impl CellHistogram {
    /// Returns the number of channels counted separately.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }

    /// Returns the first integer and the number of integers, for integers of 32 bits: their bins have whole numbers as
    /// edges, one after the other, which are all of the samples' type.
    pub fn in_range(&self) -> Option<(i64, u32)> {
        let (least, largest) = self.src.limits().filter(|_| matches!(self.src, PixelType::I32 | PixelType::U32))?;
        let edges = self.edges.as_ref().filter(|_| self.channels() == 1 && !self.masked)?.values();
        let (low, high) = (*edges.first()?, *edges.last()?);
        let whole = low.fract() == 0.0 && edges.windows(2).all(|edges| edges[1] - edges[0] == 1.0);
        (whole && low >= least as f64 && high <= largest as f64).then(|| (low as i64, edges.len() as u32 - 1))
    }

    /// Returns the number of counts per channel.
    pub fn cells(&self) -> usize {
        self.src.values().map_or_else(|| self.edges.as_ref().map_or(0, Edges::bins), |(_, values)| values)
    }
}

/// Checks that a mask that selects pixels fits an image.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for a mask of another width or height, or of more than one channel.
pub fn check_roi(image: Shape, roi: Option<Shape>) -> Result<()> {
    roi.map_or(Ok(()), |roi| check_beside("shape of the ROI mask", image, roi))
}
