//! Operations on the values of samples, wherever they lie: counts of them, and tables for them.

use crate::{Clahe, Edges, Error, PixelType, Result, Shape};

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
/// [`Error::Shape`] for one of another width or height, or of more channels than one.
pub fn check_roi(image: Shape, roi: Option<Shape>) -> Result<()> {
    roi.map_or(Ok(()), |roi| check_beside("shape of the ROI mask", image, roi))
}

/// Whether an image has one number for each pixel of another.
///
/// # Errors
/// [`Error::Shape`] if not.
pub fn check_beside(what: &'static str, image: Shape, beside: Shape) -> Result<()> {
    let needed = Shape { channels: 1, ..image };
    if beside == needed {
        return Ok(());
    }
    Err(Error::Shape {
        what,
        value: beside.to_string(),
        limit: format!("{needed}, one number for each pixel of the image"),
    })
}

/// Each sample of a u8 image replaced by the number that a table has for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lookup {
    /// Shape of the input.
    pub shape: Shape,
    /// Tables of 256 bytes: one for all channels, or one for each.
    pub tables: u32,
}

/// The histogram of a u8 image spread over all values, channel by channel, as OpenCV's `equalizeHist` does.
#[derive(Clone, Debug, PartialEq)]
pub struct Equalize {
    /// Shape of the input.
    pub shape: Shape,
}

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

/// An operation on values.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each holds the problem of its name
pub enum Tone {
    Cells(CellHistogram),
    Lookup(Lookup),
    Equalize(Equalize),
    Clahe(Clahe),
    Statistics(FloatStatistics),
    Weighted(WeightedBins),
    Pairs(PairHistogram),
}

impl Tone {
    /// The operation's name, as errors and reports give it.
    pub fn operation(&self) -> &'static str {
        match self {
            Tone::Cells(_) => "histogram",
            Tone::Lookup(_) => "lookup",
            Tone::Equalize(_) => "equalize",
            Tone::Clahe(_) => "clahe",
            Tone::Statistics(_) => "stats",
            Tone::Weighted(_) => "weighted",
            Tone::Pairs(_) => "pairs",
        }
    }

    /// Shape of the input.
    pub fn shape(&self) -> Shape {
        match self {
            Tone::Cells(problem) => problem.shape,
            Tone::Lookup(problem) => problem.shape,
            Tone::Equalize(problem) => problem.shape,
            Tone::Clahe(problem) => problem.shape,
            Tone::Statistics(problem) => problem.shape,
            Tone::Weighted(problem) => problem.shape,
            Tone::Pairs(problem) => problem.shape,
        }
    }

    /// Sample type of the input.
    pub fn src(&self) -> PixelType {
        match self {
            Tone::Cells(problem) => problem.src,
            Tone::Clahe(problem) => problem.src,
            Tone::Statistics(problem) => problem.src,
            Tone::Weighted(problem) => problem.src,
            Tone::Pairs(problem) => problem.src,
            Tone::Lookup(_) | Tone::Equalize(_) => PixelType::U8,
        }
    }
}

/// The table by which a channel of bytes is equalised, from the count of each value: OpenCV's `equalizeHist`.
///
/// The values up to the least that occurs become 0; of any other, the share of samples from there up to it, but for
/// those of the least value, times 255 in f32, rounded half to even. A channel of one value stays as it is.
///
/// ```
/// let mut counts = [0; 256];
/// (counts[10], counts[20], counts[30]) = (4, 1, 3);
/// let table = apron_core::equalizing(&counts);
/// // 255 * 1 / 4 is 63.75, and 255 * 4 / 4.
/// assert_eq!((table[10], table[20], table[30]), (0, 64, 255));
/// ```
///
/// # Panics
/// For other than 256 counts, or where all are 0.
pub fn equalizing(counts: &[u64]) -> [u8; 256] {
    assert_eq!(counts.len(), 256, "one count a byte value");
    let least = counts.iter().position(|count| *count > 0).expect("a sample");
    let all: u64 = counts.iter().sum();
    let mut below = 0;
    std::array::from_fn(|value| {
        below += counts[value];
        apron_abi::equalized(value as u32, least as u32, below.saturating_sub(counts[least]), all - counts[least])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_channel_stays() {
        let mut counts = [0; 256];
        counts[77] = 12;
        assert_eq!(equalizing(&counts)[77], 77);
    }

    #[test]
    fn halves_round_to_even() {
        // 255 / 2 = 127.5 becomes 128; 255 * 3 / 6 as well.
        let mut counts = [0; 256];
        (counts[0], counts[1], counts[2]) = (1, 1, 1);
        assert_eq!(equalizing(&counts)[..3], [0, 128, 255]);
        // 255 / 170 = 1.5 becomes 2, 255 * 3 / 170 = 4.5 becomes 4.
        let mut counts = [0; 256];
        (counts[0], counts[1], counts[2], counts[3]) = (9, 1, 2, 167);
        assert_eq!(equalizing(&counts)[..4], [0, 2, 4, 255]);
    }
}
