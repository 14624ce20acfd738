//! Correlation with a mask, and with taps by axis.

use crate::window::Sides;
use crate::{Border, Extent, Mask, PixelType, Result, Shape, Taps, Window};

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
    /// [`Error::NoWindow`](crate::Error::NoWindow) where border crop leaves nothing; [`Error::Parameter`](crate::Error::Parameter) for a region that is empty or too far
    /// out, and for another extent than the image's beside border crop; [`Error::Shape`](crate::Error::Shape) for full output that is too
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
