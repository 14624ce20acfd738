//! What an operation is asked to do, as values.

use crate::window::Sides;
use crate::{
    Bins, Border, BoxFilter, Edges, Error, Extent, Image, LocalStd, LowRank, Mask, Pad, Pixel, PixelType, Pointwise,
    Result, Shape, Taps, Tone, Window,
};

/// Dense correlation: each output sample is the sum over the mask of tap times sample, every
/// channel by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlate {
    /// Shape of the input.
    pub shape: Shape,
    /// Its sample type.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// The weights and their anchor.
    pub mask: Mask,
    /// What lies outside the image.
    pub border: Border,
    /// Whether sums are limited to 0 to 1; for f32 output.
    pub clamp: bool,
    /// Which pixels have a sum.
    pub extent: Extent,
}

impl Correlate {
    /// Where its windows lie.
    ///
    /// # Errors
    /// [`Error::NoWindow`] where border crop leaves nothing; [`Error::Parameter`] for a region that is empty or too far
    /// out, and for another extent than the image's beside border crop; [`Error::Shape`] for full output that is too
    /// large.
    pub fn window(&self) -> Result<Window> {
        Window::new("correlate", self.shape, self.sides(), self.border, self.extent)
    }

    pub(crate) fn sides(&self) -> Sides {
        Sides { size: (self.mask.width(), self.mask.height()), anchor: self.mask.anchor() }
    }
}

/// Separable correlation: along the rows with one set of taps, along the columns with another.
/// Between the two nothing is rounded to the output's type.
#[derive(Clone, Debug, PartialEq)]
pub struct Separable {
    /// Shape of the input.
    pub shape: Shape,
    /// Its sample type.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// Taps along the rows.
    pub taps_x: Taps,
    /// Taps along the columns.
    pub taps_y: Taps,
    /// What lies outside the image.
    pub border: Border,
    /// Which pixels have a sum.
    pub extent: Extent,
}

impl Separable {
    /// Where its windows lie.
    ///
    /// # Errors
    /// As [`Correlate::window`].
    pub fn window(&self) -> Result<Window> {
        Window::new("separable", self.shape, self.sides(), self.border, self.extent)
    }

    pub(crate) fn sides(&self) -> Sides {
        Sides::of_axes(&self.taps_x, &self.taps_y)
    }
}

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

/// Checks that an image and the output's samples are those of a problem.
///
/// # Errors
/// [`Error::PixelType`] and [`Error::Shape`] where they are not.
pub fn check_pixels<I: Pixel, O: Pixel>(
    operation: &'static str,
    image: &Image<'_, I>,
    shape: Shape,
    (src, dst): (PixelType, PixelType),
) -> Result<()> {
    for (found, expected) in [(I::PIXEL, src), (O::PIXEL, dst)] {
        if found != expected {
            return Err(Error::PixelType { operation, found, expected: expected.to_string() });
        }
    }
    if image.shape() != shape {
        let (value, limit) = (image.shape().to_string(), shape.to_string());
        return Err(Error::Shape { what: "shape", value, limit });
    }
    Ok(())
}

/// Any problem that a device solves.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each holds the problem of its name
pub enum Problem {
    Correlate(Correlate),
    Separable(Separable),
    LowRank(LowRank),
    Box(BoxFilter),
    ByteHistogram(ByteHistogram),
    EdgeHistogram(EdgeHistogram),
    LocalStd(LocalStd),
    Pointwise(Pointwise),
    Pad(Pad),
    Tone(Tone),
}

impl Problem {
    /// The operation's name, as errors and reports give it.
    pub fn operation(&self) -> &'static str {
        match self {
            Problem::Correlate(_) => "correlate",
            // It has the variants of its terms.
            Problem::Separable(_) | Problem::LowRank(_) => "separable",
            Problem::Box(_) => BoxFilter::OPERATION,
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) => "histogram",
            Problem::LocalStd(_) => LocalStd::OPERATION,
            Problem::Pointwise(_) => Pointwise::OPERATION,
            Problem::Pad(_) => Pad::OPERATION,
            Problem::Tone(tone) => tone.operation(),
        }
    }

    /// Shape and sample type of what a filter reads; `None` for a histogram.
    pub fn filtered(&self) -> Option<(Shape, PixelType)> {
        match self {
            Problem::Correlate(problem) => Some((problem.shape, problem.src)),
            Problem::Separable(problem) => Some((problem.shape, problem.src)),
            Problem::LowRank(problem) => Some((problem.shape, problem.src)),
            Problem::Box(problem) => Some((problem.shape, problem.src)),
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => None,
            Problem::LocalStd(problem) => Some((problem.shape, problem.src)),
            Problem::Pointwise(problem) => Some((problem.shape, problem.src)),
            Problem::Pad(problem) => Some((problem.shape, problem.pixel)),
        }
    }

    /// Sample type of what a filter writes; `None` for a histogram.
    pub fn filtered_to(&self) -> Option<PixelType> {
        match self {
            Problem::Correlate(problem) => Some(problem.dst),
            Problem::Separable(problem) => Some(problem.dst),
            Problem::LowRank(_) => Some(PixelType::F32),
            Problem::Box(problem) => Some(problem.dst),
            Problem::LocalStd(problem) => Some(problem.dst),
            Problem::Pointwise(problem) => Some(problem.dst),
            Problem::Pad(problem) => Some(problem.pixel),
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => None,
        }
    }

    /// Column and row of the tap over the output pixel; 0 for a problem without windows.
    pub fn anchor(&self) -> (u32, u32) {
        match self {
            Problem::Correlate(problem) => problem.sides().anchor,
            Problem::Separable(problem) => problem.sides().anchor,
            Problem::LowRank(problem) => problem.sides().anchor,
            Problem::Box(problem) => problem.sides().anchor,
            Problem::LocalStd(problem) => problem.sides().anchor,
            Problem::Pointwise(_) | Problem::Pad(_) => (0, 0),
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => (0, 0),
        }
    }
}
