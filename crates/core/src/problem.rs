//! What an operation is asked to do, as values.

use crate::{Bins, Border, BoxFilter, Edges, Error, LocalStd, Mask, PixelType, Pointwise, Result, Shape, Taps, Tone};

/// Where the windows of a filter lie: the output's shape, and the input under its corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Shape of the output.
    pub out: Shape,
    /// Input column under the first tap at output column 0.
    pub origin_x: i32,
    /// Input row under the first tap at output row 0.
    pub origin_y: i32,
}

impl Window {
    /// The windows of a dense mask.
    ///
    /// # Errors
    /// [`Error::NoWindow`] where border crop leaves nothing.
    pub fn dense(shape: Shape, mask: &Mask, border: Border) -> Result<Window> {
        Window::new("correlate", shape, (mask.width(), mask.height()), mask.anchor(), border)
    }

    /// The windows of a pair of taps, along rows and along columns.
    ///
    /// # Errors
    /// [`Error::NoWindow`] where border crop leaves nothing.
    pub fn separable(shape: Shape, taps_x: &Taps, taps_y: &Taps, border: Border) -> Result<Window> {
        let (size, anchor) = ((taps_x.len(), taps_y.len()), (taps_x.anchor(), taps_y.anchor()));
        Window::new("separable", shape, size, anchor, border)
    }

    pub(crate) fn new(
        operation: &'static str,
        shape: Shape,
        size: (u32, u32),
        anchor: (u32, u32),
        border: Border,
    ) -> Result<Window> {
        if border != Border::Crop {
            return Ok(Window { out: shape, origin_x: -(anchor.0 as i32), origin_y: -(anchor.1 as i32) });
        }
        if size.0 > shape.width || size.1 > shape.height {
            return Err(Error::NoWindow { operation, mask_width: size.0, mask_height: size.1, shape });
        }
        let out = Shape { width: shape.width - size.0 + 1, height: shape.height - size.1 + 1, ..shape };
        Ok(Window { out, origin_x: 0, origin_y: 0 })
    }
}

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
}

impl Correlate {
    /// Where its windows lie.
    ///
    /// # Errors
    /// [`Error::NoWindow`] where border crop leaves nothing.
    pub fn window(&self) -> Result<Window> {
        Window::dense(self.shape, &self.mask, self.border)
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
}

impl Separable {
    /// Where its windows lie.
    ///
    /// # Errors
    /// [`Error::NoWindow`] where border crop leaves nothing.
    pub fn window(&self) -> Result<Window> {
        Window::separable(self.shape, &self.taps_x, &self.taps_y, self.border)
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

/// Counts of the samples of an f32 image between edges, of all channels together or of each apart.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeHistogram {
    /// Shape of the input.
    pub shape: Shape,
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
        self.bins.edges(PixelType::F32, || self.extremes.unwrap_or((f64::NAN, f64::NAN)))
    }

    /// Channels counted apart.
    pub fn channels(&self) -> u32 {
        if self.per_channel { self.shape.channels } else { 1 }
    }
}

/// Any problem that a device solves.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each holds the problem of its name
pub enum Problem {
    Correlate(Correlate),
    Separable(Separable),
    Box(BoxFilter),
    ByteHistogram(ByteHistogram),
    EdgeHistogram(EdgeHistogram),
    LocalStd(LocalStd),
    Pointwise(Pointwise),
    Tone(Tone),
}

impl Problem {
    /// The operation's name, as errors and reports give it.
    pub fn operation(&self) -> &'static str {
        match self {
            Problem::Correlate(_) => "correlate",
            Problem::Separable(_) => "separable",
            Problem::Box(_) => BoxFilter::OPERATION,
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) => "histogram",
            Problem::LocalStd(_) => LocalStd::OPERATION,
            Problem::Pointwise(_) => Pointwise::OPERATION,
            Problem::Tone(tone) => tone.operation(),
        }
    }

    /// Shape and sample type of what a filter reads; `None` for a histogram.
    pub fn filtered(&self) -> Option<(Shape, PixelType)> {
        match self {
            Problem::Correlate(problem) => Some((problem.shape, problem.src)),
            Problem::Separable(problem) => Some((problem.shape, problem.src)),
            Problem::Box(problem) => Some((problem.shape, problem.src)),
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => None,
            Problem::LocalStd(problem) => Some((problem.shape, problem.src)),
            Problem::Pointwise(problem) => Some((problem.shape, problem.src)),
        }
    }
}
