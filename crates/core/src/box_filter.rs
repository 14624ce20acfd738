//! The box filter: sums over windows with equal weights.

use crate::window::Sides;
use crate::{Border, Error, Extent, MAX_MASK_SIDE, PixelType, Result, Shape, Window};

/// The scale of a box filter's sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Division by the number of samples of the window.
    Mean,
    /// Multiplication by this factor, which is finite.
    Tap(f32),
}

impl Scale {
    /// Returns the factor for f32 sums: for a mean over `samples` samples their reciprocal, computed in f64 and
    /// rounded.
    pub fn factor(self, samples: u64) -> f32 {
        match self {
            Scale::Mean => (1.0 / samples as f64) as f32,
            Scale::Tap(tap) => tap,
        }
    }

    /// Returns the factor for f64 sums.
    pub fn factor_f64(self, samples: u64) -> f64 {
        match self {
            Scale::Mean => 1.0 / samples as f64,
            Scale::Tap(tap) => tap as f64,
        }
    }

    /// Scales a sum of integers in f64. A quotient is rounded to the nearest f64, which is close enough to the true one
    /// that both round to the same integer.
    pub fn of_sum(self, sum: i64, samples: u64) -> f64 {
        match self {
            Scale::Mean => sum as f64 / samples as f64,
            Scale::Tap(tap) => sum as f64 * tap as f64,
        }
    }
}

/// A box filter: each output sample is the scaled sum over a window; channels are independent.
///
/// The sum of integers is an exact integer, which is [scaled](Scale::of_sum) in f64 and rounded once to the output's
/// type. f32 and f16 samples are summed in f32, with output of either type; f64 samples are summed in f64, with output
/// of f64. Floats are summed along each row of the image extended by the border, then along the columns of these sums,
/// both in the order of [`BOX_CHUNK`](crate::BOX_CHUNK), and the sum is multiplied by the [factor](Scale::factor) of
/// its type. There are no box filters from floats to integers.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxFilter {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// Width of the window, in pixels.
    pub width: u32,
    /// Height of the window, in pixels.
    pub height: u32,
    /// Column and row of the window's pixel over the output pixel.
    pub anchor: (u32, u32),
    /// Border mode.
    pub border: Border,
    /// Scale of the sums.
    pub scale: Scale,
    /// Pixels to compute.
    pub extent: Extent,
}

impl BoxFilter {
    pub(crate) const NAME: &'static str = "box";

    /// Returns the number of pixels of the window.
    pub fn samples(&self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// Checks the parameters, whatever the types.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a side outside 1 to [`MAX_MASK_SIDE`], an anchor outside the window, and a
    /// factor that is not finite.
    pub(crate) fn check(&self) -> Result<()> {
        let (size, anchor) = ((self.width, self.height), self.anchor);
        let wrong =
            |parameter, value: String, limit: String| Err(Error::parameter(BoxFilter::NAME, parameter, value, limit));
        for (what, side) in [("width", size.0), ("height", size.1)] {
            if side == 0 || side > MAX_MASK_SIDE {
                return wrong(what, side.to_string(), format!("1 to {MAX_MASK_SIDE}"));
            }
        }
        if anchor.0 >= size.0 || anchor.1 >= size.1 {
            let limit = format!("inside the window: 0,0 to {},{}", size.0 - 1, size.1 - 1);
            return wrong("anchor", format!("{},{}", anchor.0, anchor.1), limit);
        }
        match self.scale {
            Scale::Tap(tap) if !tap.is_finite() => wrong("tap", tap.to_string(), "finite".into()),
            _ => Ok(()),
        }
    }

    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a side outside 1 to [`MAX_MASK_SIDE`], an anchor outside the window, a factor that is
    /// not finite, and for integers a border constant that their type does not hold; [`Error::PixelType`] for types
    /// that have no box filter; and as [`Correlate::window`](crate::Correlate::window).
    pub fn window(&self) -> Result<Window> {
        self.check()?;
        if !BoxFilter::has_types(self.src, self.dst) {
            let (found, expected) = (self.src, "an integer, or a float with output of a float".into());
            return Err(Error::PixelType { operation: BoxFilter::NAME, found, expected });
        }
        if !BoxFilter::has_border(self.src, self.border) {
            let limit = format!("a number that {} holds", self.src);
            return Err(Error::parameter(BoxFilter::NAME, "border", self.border, limit));
        }
        Window::new(BoxFilter::NAME, self.shape, self.sides(), self.border, self.extent)
    }

    pub(crate) fn sides(&self) -> Sides {
        Sides { size: (self.width, self.height), anchor: self.anchor }
    }

    /// Returns whether there are box filters from `src` to `dst` samples.
    pub(crate) fn has_types(src: PixelType, dst: PixelType) -> bool {
        !src.is_float() || dst.is_float()
    }

    /// Returns whether the border constant suits the samples: integers must hold it, so that sums are exact.
    pub(crate) fn has_border(src: PixelType, border: Border) -> bool {
        match border {
            Border::Constant(value) => src.holds(value as f32),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn five_by_three() -> BoxFilter {
        BoxFilter {
            shape: Shape::new(9, 9, 1).unwrap(),
            src: PixelType::U8,
            dst: PixelType::I16,
            width: 5,
            height: 3,
            anchor: (4, 0),
            border: Border::Constant(255.0),
            scale: Scale::Mean,
            extent: Extent::Same,
        }
    }

    #[test]
    fn windows_hang_from_their_anchor() {
        let window = five_by_three().window().unwrap();
        assert_eq!((window.out, window.origin_x, window.origin_y), (five_by_three().shape, -4, 0));
        let window = BoxFilter { border: Border::Crop, ..five_by_three() }.window().unwrap();
        assert_eq!((window.out, window.origin_x), (Shape::new(5, 7, 1).unwrap(), 0));
    }

    #[test]
    fn what_is_no_box_is_refused() {
        let good = five_by_three;
        for (wrong, kind) in [
            (BoxFilter { width: 0, ..good() }, ErrorKind::Usage),
            (BoxFilter { height: MAX_MASK_SIDE + 1, ..good() }, ErrorKind::Usage),
            (BoxFilter { anchor: (5, 0), ..good() }, ErrorKind::Usage),
            (BoxFilter { anchor: (0, 3), ..good() }, ErrorKind::Usage),
            (BoxFilter { scale: Scale::Tap(f32::NAN), ..good() }, ErrorKind::Usage),
            (BoxFilter { border: Border::Constant(0.5), ..good() }, ErrorKind::Usage),
            (BoxFilter { border: Border::Constant(-1.0), ..good() }, ErrorKind::Usage),
            (BoxFilter { border: Border::Constant(f64::NAN), ..good() }, ErrorKind::Usage),
            (BoxFilter { src: PixelType::F32, ..good() }, ErrorKind::Input),
            (BoxFilter { src: PixelType::F16, dst: PixelType::U16, ..good() }, ErrorKind::Input),
            (BoxFilter { src: PixelType::U16, border: Border::Constant(65536.0), ..good() }, ErrorKind::Usage),
            (BoxFilter { width: 10, border: Border::Crop, ..good() }, ErrorKind::Input),
        ] {
            let error = wrong.window().unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
        }
        let signed = BoxFilter { src: PixelType::I16, border: Border::Constant(-1.0), ..good() };
        assert!(signed.window().is_ok());
        let floats = BoxFilter { src: PixelType::F32, dst: PixelType::F16, ..good() };
        assert!(BoxFilter { border: Border::Constant(0.5), ..floats }.window().is_ok());
    }

    #[test]
    fn a_mean_is_the_quotient() {
        assert_eq!((Scale::Mean.of_sum(7, 3), Scale::Mean.factor(3)), (7.0 / 3.0, 1.0 / 3.0));
        assert_eq!((Scale::Tap(0.1).of_sum(7, 3), Scale::Tap(0.1).factor(3)), (7.0 * 0.1f32 as f64, 0.1));
        // Just above and below one half: f64 still separates the quotients.
        let (samples, half) = ((1u64 << 32) - 1, 1i64 << 31);
        assert!(Scale::Mean.of_sum(half - 1, samples) < 0.5 && Scale::Mean.of_sum(half, samples) > 0.5);
        // As near to 65534.5 as a mean of 16 bits comes.
        let near = (65534 * samples as i64) + half;
        assert!(Scale::Mean.of_sum(near - 1, samples) < 65534.5 && Scale::Mean.of_sum(near, samples) > 65534.5);
    }
}
