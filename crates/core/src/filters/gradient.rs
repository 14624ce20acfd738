//! Magnitude and direction of the gradient.

use super::derivatives::{Scharr, Sobel, wrong};
use crate::{Formula, Named, PixelType, PointOp, Result};

/// The derivative of which a gradient is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operator {
    /// Sobel's.
    #[default]
    Sobel,
    /// Scharr's.
    Scharr,
}

/// The gradient: the magnitude `sqrt(gx^2 + gy^2)` or the direction `atan2(gy, gx)` of the two first derivatives, each
/// computed to f32, not normalised. Directions are radians from -pi to pi, 0 to the right and pi/2 down, in f32.
///
/// Derivatives of u8 are exact integers, so that magnitudes are the true ones, rounded once. SciPy's
/// `generic_gradient_magnitude(derivative=sobel)`.
///
/// The formula's errors: a `ksize` other than 1, 3, 5 and 7, with Scharr's other than 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gradient {
    /// The derivative.
    pub operator: Operator,
    /// Side of Sobel's masks.
    pub ksize: u32,
    /// Whether the direction is asked for, not the magnitude.
    pub direction: bool,
}

impl Default for Gradient {
    /// The magnitude by Sobel's derivative over 3 pixels.
    fn default() -> Gradient {
        Gradient { operator: Operator::Sobel, ksize: 3, direction: false }
    }
}

impl Named for Gradient {
    fn formula(&self) -> Result<Formula> {
        let axis = |dx, dy| match self.operator {
            Operator::Sobel => Sobel { ksize: self.ksize, ..Sobel::new(dx, dy) }.formula(),
            Operator::Scharr if self.ksize == 3 => Scharr::new(dx, dy).formula(),
            Operator::Scharr => wrong("gradient", "ksize", self.ksize, "3 with scharr"),
        };
        let op = if self.direction { PointOp::Direction } else { PointOp::Magnitude };
        Ok(Formula::of(op, axis(1, 0)?, Some(axis(0, 1)?)))
    }

    fn out_type(&self, src: PixelType) -> PixelType {
        if self.direction { PixelType::F32 } else { src }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_derivatives_make_a_gradient() {
        let Formula::Pointwise { op, x, y } = Gradient::default().formula().unwrap() else { panic!() };
        assert_eq!((op, *x), (PointOp::Magnitude, Sobel::new(1, 0).formula().unwrap()));
        assert_eq!(*y.unwrap(), Sobel::new(0, 1).formula().unwrap());
        let angle = Gradient { operator: Operator::Scharr, direction: true, ..Gradient::default() };
        let Formula::Pointwise { op, x, .. } = angle.formula().unwrap() else { panic!() };
        assert_eq!((op, *x), (PointOp::Direction, Scharr::new(1, 0).formula().unwrap()));
        let types = [Gradient::default(), angle].map(|gradient| gradient.out_type(PixelType::U8));
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
