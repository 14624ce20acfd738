//! Correlation with a dense mask, and with separable taps.

use crate::window::Sides;
use crate::{Border, Extent, Mask, PixelType, Result, Shape, Taps, Window};

/// Dense correlation: each output sample is the sum over the mask of tap times sample; channels are independent.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlate {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// Taps and their anchor.
    pub mask: Mask,
    /// Border mode.
    pub border: Border,
    /// Whether sums are clamped to 0 to 1; for f32 output.
    pub clamp: bool,
    /// Pixels to compute.
    pub extent: Extent,
}

impl Correlate {
    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::NoWindow`](crate::Error::NoWindow) where border crop leaves no output;
    /// [`Error::Parameter`](crate::Error::Parameter) for a region that is empty or too far outside, and for border crop
    /// with another extent than the image's; [`Error::Shape`](crate::Error::Shape) for full output that is too large.
    pub fn window(&self) -> Result<Window> {
        Window::new("correlate", self.shape, self.sides(), self.border, self.extent)
    }

    pub(crate) fn sides(&self) -> Sides {
        Sides { size: (self.mask.width(), self.mask.height()), anchor: self.mask.anchor() }
    }
}

/// Separable correlation: along the rows with one set of taps, then along the columns with another. Intermediate sums
/// are not rounded to the output's type.
#[derive(Clone, Debug, PartialEq)]
pub struct Separable {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// Taps along the rows.
    pub taps_x: Taps,
    /// Taps along the columns.
    pub taps_y: Taps,
    /// Border mode.
    pub border: Border,
    /// Pixels to compute.
    pub extent: Extent,
}

impl Separable {
    /// Returns the output's shape and the position of its windows.
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
