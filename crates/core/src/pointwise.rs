//! Pointwise operations: each output sample depends on the samples at its position in one or two images.

use crate::{Error, PixelType, Result, Shape};
use apron_abi::Cast;

/// The function of a sample `x` of the first image and the sample `y` at the same position of the second: computed in
/// f64, and rounded once to the output's type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PointOp {
    /// `a * x + b * y + c`, as `fma(a, x, fma(b, y, c))`; `fma(a, x, c)` without a second image. With a threshold, `x`
    /// stays as it is where it differs from `y` by less.
    Weighted {
        /// The weight of the first image.
        a: f64,
        /// The weight of the second.
        b: f64,
        /// The offset.
        c: f64,
        /// The least difference of `x` and `y` that has an effect; 0 for all.
        threshold: f64,
    },
    /// `sqrt(x^2 + y^2)`. Squares of f64 are rounded, and may overflow, or underflow below 1e-154.
    Magnitude,
    /// `atan2(y, x)`, in radians from -pi to pi, for f32 output only: [`apron_abi::direction`].
    Direction,
    /// `x` converted to the output's type, by this cast if that is an integer: for conversions between the
    /// [computed](PixelType::computed) types and the others.
    Cast(Cast),
    /// The greatest f64 that is not above `x`, and infinity for an integer above `last`: from the integers of 32 and 64
    /// bits to f64, for bins between f64 edges.
    Below {
        /// The last edge of the bins.
        last: f64,
    },
    /// `x * y`.
    Product,
    /// `sqrt(max(0, n * x - y^2)) / n`: the standard deviation of `n` numbers, from the sum of their squares and their
    /// sum. The rounding error of `y^2` is subtracted, too.
    Deviation {
        /// The number of summed numbers.
        n: f64,
    },
    /// `y` in the last of two or four channels, `x` in the others, unchanged: the filtered image with the input's
    /// alpha.
    Alpha,
}

impl PointOp {
    /// The identity, which keeps the sign of zeros, too: conversion to another type.
    pub const AS_IT_IS: PointOp = PointOp::Weighted { a: 1.0, b: 0.0, c: -0.0, threshold: 0.0 };

    /// Creates `a * x + b * y + c`.
    pub fn weighted(a: f64, b: f64, c: f64) -> PointOp {
        PointOp::Weighted { a, b, c, threshold: 0.0 }
    }

    /// Returns whether a second image is required.
    fn needs_two(self) -> bool {
        match self {
            PointOp::Weighted { b, threshold, .. } => b != 0.0 || threshold != 0.0,
            PointOp::Magnitude | PointOp::Direction | PointOp::Product | PointOp::Deviation { .. } | PointOp::Alpha => {
                true
            }
            PointOp::Cast(_) | PointOp::Below { .. } => false,
        }
    }
}

/// Returns the standard deviation of `n` numbers, from the sum of their squares and their sum. If these are exact, the
/// variance is rounded once.
#[inline(always)]
pub fn deviation(n: f64, squares: f64, sum: f64) -> f64 {
    let square = sum * sum;
    let spread = n.mul_add(squares, -square) - sum.mul_add(sum, -square);
    (if spread < 0.0 { 0.0 } else { spread }).sqrt() / n
}

/// A pointwise operation on one or two images of the same shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Pointwise {
    /// Shape of the images and of the output.
    pub shape: Shape,
    /// Sample type of the first image.
    pub src: PixelType,
    /// Sample type of the second, if there is one.
    pub second: Option<PixelType>,
    /// Sample type of the output.
    pub dst: PixelType,
    /// The operation.
    pub op: PointOp,
}

impl Pointwise {
    pub(crate) const NAME: &'static str = "pointwise";

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] for weights that are not finite, a threshold that is negative or NaN, and an operation of
    /// two images with only one; [`Error::PixelType`] for types that devices do not compute in, except in conversions
    /// and for alpha, for directions with output other than f32, and for alpha with types that differ from the
    /// output's; [`Error::Shape`] for alpha of one or three channels.
    pub fn check(&self) -> Result<()> {
        let wrong =
            |parameter, value: String, limit: &str| Err(Error::parameter(Pointwise::NAME, parameter, value, limit));
        if let PointOp::Weighted { a, b, c, threshold } = self.op {
            for (what, weight) in [("a", a), ("b", b), ("c", c)] {
                if !weight.is_finite() {
                    return wrong(what, weight.to_string(), "finite");
                }
            }
            if threshold.is_nan() || threshold < 0.0 {
                return wrong("threshold", threshold.to_string(), "0 or more");
            }
        }
        if let PointOp::Deviation { n } = self.op
            && !(n.is_finite() && n >= 1.0)
        {
            return wrong("n", n.to_string(), "1 or more");
        }
        if self.op.needs_two() && self.second.is_none() {
            return Err(Pointwise::needs_second());
        }
        if matches!(self.op, PointOp::Below { .. }) && self.dst != PixelType::F64 {
            let expected = "f64, for bins between f64 edges".into();
            return Err(Error::PixelType { operation: Pointwise::NAME, found: self.dst, expected });
        }
        let moves = matches!(self.op, PointOp::Cast(_) | PointOp::Below { .. } | PointOp::Alpha);
        let mut types = [Some(self.src), self.second, Some(self.dst)].into_iter().flatten();
        if let Some(found) = types.find(|pixel| !moves && !pixel.is_computed()) {
            let expected = format!("{}, in which it is computed", found.computed());
            return Err(Error::PixelType { operation: Pointwise::NAME, found, expected });
        }
        if self.op == PointOp::Direction && self.dst != PixelType::F32 {
            let expected = "f32, which holds radians".into();
            return Err(Error::PixelType { operation: "direction", found: self.dst, expected });
        }
        if self.op == PointOp::Alpha {
            if !matches!(self.shape.channels, 2 | 4) {
                let (value, limit) = (self.shape.channels.to_string(), "2 or 4, the last one alpha".into());
                return Err(Error::Shape { what: "channels", value, limit });
            }
            let mut images = [Some(self.src), self.second].into_iter().flatten();
            if let Some(found) = images.find(|found| *found != self.dst) {
                let expected = format!("{}, as the output's", self.dst);
                return Err(Error::PixelType { operation: "alpha", found, expected });
            }
        }
        Ok(())
    }

    /// Returns the error for an operation of two images with only one.
    pub fn needs_second() -> Error {
        Error::parameter(Pointwise::NAME, "images", "one", "two")
    }

    /// Checks the problem, and that images have its shapes and types.
    ///
    /// # Errors
    /// As [`check`](Pointwise::check); [`Error::Shape`] and [`Error::PixelType`] if the images do not match the
    /// problem.
    pub fn check_images(&self, x: (Shape, PixelType), y: Option<(Shape, PixelType)>) -> Result<()> {
        self.check()?;
        if y.is_some() != self.second.is_some() {
            let (value, limit) = (1 + y.is_some() as u32, 1 + self.second.is_some() as u32);
            return Err(Error::parameter(Pointwise::NAME, "number of images", value, limit.to_string()));
        }
        for ((shape, found), expected) in [(x, self.src)].into_iter().chain(y.zip(self.second)) {
            if shape != self.shape {
                let (value, limit) = (shape.to_string(), format!("{}, as the other image's", self.shape));
                return Err(Error::Shape { what: "shape", value, limit });
            }
            if found != expected {
                let expected = expected.to_string();
                return Err(Error::PixelType { operation: Pointwise::NAME, found, expected });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_never_be_right_is_refused() {
        let shape = Shape::new(2, 1, 1).unwrap();
        let of = |op, second, dst| Pointwise { shape, src: PixelType::U8, second, dst, op }.check();
        let (two, bytes, floats) = (Some(PixelType::F32), PixelType::U8, PixelType::F32);
        assert!(of(PointOp::weighted(2.0, 0.0, 1.0), None, bytes).is_ok());
        assert!(of(PointOp::weighted(2.0, 1.0, 1.0), two, bytes).is_ok());
        assert!(of(PointOp::Direction, two, floats).is_ok());
        let threshold = |threshold| PointOp::Weighted { a: 1.0, b: 0.0, c: 0.0, threshold };
        for (op, second, dst, part) in [
            (PointOp::weighted(f64::NAN, 0.0, 0.0), two, bytes, "a is NaN, but must be finite"),
            (PointOp::weighted(1.0, 0.0, f64::INFINITY), two, bytes, "c is inf"),
            (PointOp::weighted(1.0, 1.0, 0.0), None, bytes, "images is one, but must be two"),
            (PointOp::Magnitude, None, bytes, "two"),
            (threshold(-1.0), two, bytes, "threshold is -1"),
            (threshold(1.0), None, bytes, "two"),
            (PointOp::Direction, two, bytes, "pixels are u8, but must be f32"),
        ] {
            let error = of(op, second, dst).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let alpha = |channels, second, dst| {
            let shape = Shape::new(2, 1, channels).unwrap();
            Pointwise { shape, src: PixelType::U8, second: Some(second), dst, op: PointOp::Alpha }.check()
        };
        assert!(alpha(2, bytes, bytes).is_ok() && alpha(4, bytes, bytes).is_ok());
        assert!(alpha(3, bytes, bytes).unwrap_err().to_string().contains("channels is 3, but must be 2 or 4"));
        assert!(alpha(4, floats, bytes).unwrap_err().to_string().contains("pixels are f32, but must be u8"));
        assert!(alpha(4, bytes, floats).unwrap_err().to_string().contains("pixels are u8, but must be f32"));
    }

    #[test]
    fn images_are_those_of_the_problem() {
        let (shape, other) = (Shape::new(2, 1, 1).unwrap(), Shape::new(1, 2, 1).unwrap());
        let (src, dst, op) = (PixelType::U8, PixelType::U8, PointOp::weighted(1.0, 1.0, 0.0));
        let sum = Pointwise { shape, src, second: Some(PixelType::F32), dst, op };
        let (x, y) = ((shape, PixelType::U8), (shape, PixelType::F32));
        assert!(sum.check_images(x, Some(y)).is_ok());
        for (x, y) in [(x, None), (x, Some(x)), ((other, PixelType::U8), Some(y)), (x, Some((other, PixelType::F32)))] {
            assert!(sum.check_images(x, y).is_err(), "{x:?} {y:?}");
        }
    }
}
