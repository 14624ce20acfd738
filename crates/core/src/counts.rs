//! What a histogram counts, as values.

use crate::problem::check_beside;
use crate::{Bins, Edges, PixelType, Result, Shape};

/// Counts of the byte values of a u8 image, of all channels together or of each apart.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Whether channels are counted apart.
    pub per_channel: bool,
}

impl ByteHistogram {
    /// Channels counted apart.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Counts of samples in even bins, of all channels together or of each apart.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Pixel type of the input.
    pub src: PixelType,
    /// How many bins, over which range.
    pub bins: Bins,
    /// The least and the largest sample: the range of bins without one.
    pub extremes: Option<(f64, f64)>,
    /// Whether channels are counted apart.
    pub per_channel: bool,
}

impl EdgeHistogram {
    /// The bins' edges.
    ///
    /// # Errors
    /// As [`Bins::edges`]; samples whose extremes are not known have no range.
    pub fn edges(&self) -> Result<Edges> {
        self.bins.edges(self.src, || self.extremes.unwrap_or((f64::NAN, f64::NAN)))
    }

    /// Channels counted apart.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Counts of samples by value or between edges, of the pixels that a mask selects or of all.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Its sample type.
    pub src: PixelType,
    /// The bins' edges for f32. Integers are counted by value: 256 or 65536 cells, the least value first.
    pub edges: Option<Edges>,
    /// Whether channels are counted apart.
    pub per_channel: bool,
    /// Whether a second image, u8 of one channel, says by a number other than 0 which pixels count.
    pub masked: bool,
}

impl CellHistogram {
    /// Channels counted apart.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }

    /// Counts of a channel.
    pub fn cells(&self) -> usize {
        self.src.values().map_or_else(|| self.edges.as_ref().map_or(0, Edges::bins), |(_, values)| values)
    }
}

/// Whether a mask that selects pixels fits an image.
///
/// # Errors
/// [`Error::Shape`](crate::Error::Shape) for one of another width or height, or of more channels than one.
pub fn check_roi(image: Shape, roi: Option<Shape>) -> Result<()> {
    roi.map_or(Ok(()), |roi| check_beside("shape of the ROI mask", image, roi))
}
