//! The local standard deviation.

use crate::window::Sides;
use crate::{Border, Error, Extent, MAX_MASK_SIDE, PixelType, Result, Shape, Window};

/// The standard deviation of the `n = width * height` samples of a window around each pixel; channels are independent.
/// Population standard deviation: `sqrt(max(0, n * sum(x^2) - sum(x)^2)) / n`.
///
/// The sums of integers are exact, and converted to f64. All that follows is exact, too, up to the root (windows of u8
/// below 370,000 samples, of u16 and i16 below 1400), so that the result is the true one rounded. Floats, and integers
/// beside a constant that their type does not hold, are summed in f64, along each row of the image extended by the
/// border and then along the columns of these sums, both in the order of [`BOX_CHUNK`](crate::BOX_CHUNK). The relative
/// error of the sums is then at most `(width + height) * 2^-53`, and so the error of the variance about as large
/// relative to the mean square.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalStd {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// Width of the window, in pixels; its column `width / 2` lies over the output pixel.
    pub width: u32,
    /// Height of the window, in pixels; its row `height / 2` lies over the output pixel.
    pub height: u32,
    /// Border mode.
    pub border: Border,
    /// Pixels to compute.
    pub extent: Extent,
}

impl LocalStd {
    pub(crate) const NAME: &'static str = "local-std";

    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a side outside 1 to [`MAX_MASK_SIDE`]; and as
    /// [`Correlate::window`](crate::Correlate::window).
    pub fn window(&self) -> Result<Window> {
        for (what, side) in [("width", self.width), ("height", self.height)] {
            if side == 0 || side > MAX_MASK_SIDE {
                return Err(Error::parameter(LocalStd::NAME, what, side, format!("1 to {MAX_MASK_SIDE}")));
            }
        }
        Window::new(LocalStd::NAME, self.shape, self.sides(), self.border, self.extent)
    }

    /// Returns the number of pixels of the window.
    pub fn samples(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Returns whether the sums are exact integers.
    pub fn sums_are_exact(&self) -> bool {
        let outside = if let Border::Constant(value) = self.border { self.src.holds(value as f32) } else { true };
        !self.src.is_float() && outside
    }

    pub(crate) fn sides(&self) -> Sides {
        Sides { size: (self.width, self.height), anchor: (self.width / 2, self.height / 2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_lie_around_the_pixel() {
        let (src, dst, border) = (PixelType::U8, PixelType::F32, Border::Wrap);
        let of = |width, height| LocalStd {
            shape: Shape::new(9, 7, 2).unwrap(),
            src,
            dst,
            width,
            height,
            border,
            extent: Extent::Same,
        };
        let window = of(4, 3).window().unwrap();
        assert_eq!((window.out, window.origin_x, window.origin_y), (of(4, 3).shape, -2, -1));
        let cropped = LocalStd { border: Border::Crop, ..of(4, 3) };
        assert_eq!(cropped.window().unwrap().out, Shape::new(6, 5, 2).unwrap());
        assert!(of(0, 3).window().unwrap_err().to_string().contains("width is 0"));
        assert!(of(3, 65537).window().unwrap_err().to_string().contains("height is 65537"));
        assert!(LocalStd { border: Border::Crop, ..of(10, 1) }.window().is_err());
    }
}
