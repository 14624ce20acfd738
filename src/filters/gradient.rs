//! Magnitude and direction of the gradient.

use super::{Allowed::*, Scharr, Sobel, Value};
use crate::volumes;
use crate::{Error, Formula, Named, PointOp, Result};
use std::fmt::{self, Display};

filters! {
    /// Magnitude or direction of the gradient.
    ///
    /// The magnitude is sqrt(gx^2 + gy^2) of the two first derivatives, which are not normalised; the direction is
    /// atan2(gy, gx), in radians from -pi to pi, 0 to the right and pi/2 down, as f32. Both derivatives are computed to
    /// f32: of u8 they are exact integers, so that magnitudes are the true ones, rounded once.
    ///
    /// # Errors
    /// Scharr's derivative with a `ksize` other than 3.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// // Rises by 3 to the right and by 4 down: 8 times their magnitude.
    /// let plane = Image::new(3, 3, 1, vec![0u8, 3, 6, 4, 7, 10, 8, 11, 14])?;
    /// let magnitude = Device::cpu().gradient(&plane).run()?;
    /// assert_eq!(magnitude.download::<u8>()?.row(1)[1], 8 * 5);
    /// let direction = Device::cpu().gradient(&plane).direction(true).run()?;
    /// assert_eq!(direction.download::<f32>()?.row(1)[1], 4f32.atan2(3.0));
    /// # Ok::<(), apron::Error>(())
    /// ```
    gradient() -> Gradient {
        /// The derivative that is taken along each axis.
        operator: Operator = Operator::Sobel, Any;
        /// Side of Sobel's masks.
        ksize: u32 = 3, OneOf(&[1, 3, 5, 7]), "pixels";
        /// The direction instead of the magnitude.
        direction: bool = false, Any;
    }
    source "SciPy's `generic_gradient_magnitude` with `sobel`"
    examples [
        "photo.png edges.png --operator scharr",
        "photo.png directions.npy --direction",
        "photo.png edges.npy --ksize 5 --out-type f32 --border crop",
    ]
    volume Some(|_| volumes::gradient());
}

/// The derivative that a gradient is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// Sobel's.
    #[default]
    Sobel,
    /// Scharr's.
    Scharr,
}

impl Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Sobel => "sobel",
            Operator::Scharr => "scharr",
        })
    }
}

impl Value for Operator {
    const SHAPE: &'static str = "NAME";
    const WANTED: &'static str = "sobel or scharr";
    const CHOICES: &'static [&'static str] = &["sobel", "scharr"];

    fn read(text: &str) -> Option<Operator> {
        [Operator::Sobel, Operator::Scharr].into_iter().find(|operator| operator.to_string() == text)
    }
}

impl Gradient {
    fn build(self) -> Result<Formula> {
        let axis = |dx, dy| match self.operator {
            Operator::Sobel => Sobel { ksize: self.ksize, ..Sobel::new(dx, dy) }.formula(),
            Operator::Scharr if self.ksize == 3 => Scharr::new(dx, dy).formula(),
            Operator::Scharr => Err(Error::parameter("gradient", "ksize", self.ksize, "3 with scharr")),
        };
        let op = if self.direction { PointOp::Direction } else { PointOp::Magnitude };
        Ok(Formula::of(op, axis(1, 0)?, Some(axis(0, 1)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;

    #[test]
    fn two_derivatives_make_a_gradient() {
        let Formula::Pointwise { op, x, y } = Gradient::new().formula().unwrap() else { panic!() };
        assert_eq!((op, *x), (PointOp::Magnitude, Sobel::new(1, 0).formula().unwrap()));
        assert_eq!(*y.unwrap(), Sobel::new(0, 1).formula().unwrap());
        let angle = Gradient { operator: Operator::Scharr, direction: true, ..Gradient::new() };
        let Formula::Pointwise { op, x, .. } = angle.formula().unwrap() else { panic!() };
        assert_eq!((op, *x), (PointOp::Direction, Scharr::new(1, 0).formula().unwrap()));
        let types = [Gradient::new(), angle].map(|gradient| gradient.formula().unwrap().out_type(PixelType::U8));
        assert_eq!(types, [PixelType::U8, PixelType::F32]);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        for (operator, ksize, part) in [(Operator::Scharr, 5, "3 with scharr"), (Operator::Sobel, 2, "ksize is 2")] {
            let error = Gradient { operator, ksize, direction: false }.formula().unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
