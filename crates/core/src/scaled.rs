//! Weighted sums that are scaled and shifted before they are rounded to integers.

use crate::window::Sides;
use crate::{Border, Correlate, Error, Extent, FilterProblem, Mask, PixelType, Result, Separable, Shape, Taps, Window};

/// The weights of the sums: a dense mask, or separable taps.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// A mask, as in [`Correlate`].
    Dense(Mask),
    /// Taps along the rows and along the columns, as in [`Separable`].
    Separable(Taps, Taps),
}

/// Integers of `factor * sum + offset`: the sum of [`Correlate`] or [`Separable`] is taken in f64 and not rounded to
/// the output's type; `fma(factor, sum, offset)` is rounded once, half to even, and saturates.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output: u8, u16 or i16.
    pub dst: PixelType,
    /// Weights of the samples.
    pub weights: Weights,
    /// Factor of the sums.
    pub factor: f64,
    /// Offset that is added to the scaled sums.
    pub offset: f64,
    /// Border mode.
    pub border: Border,
    /// Pixels to compute.
    pub extent: Extent,
}

impl Scaled {
    pub(crate) const NAME: &'static str = "scaled";

    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a factor or an offset that is not finite, [`Error::PixelType`] for float output, and as
    /// [`Correlate::window`].
    pub fn window(&self) -> Result<Window> {
        for (what, number) in [("factor", self.factor), ("offset", self.offset)] {
            if !number.is_finite() {
                return Err(Error::parameter(Scaled::NAME, what, number, "finite"));
            }
        }
        if self.dst.is_float() {
            let expected = "u8, u16 or i16".into();
            return Err(Error::PixelType { operation: Scaled::NAME, found: self.dst, expected });
        }
        Window::new(Scaled::NAME, self.shape, self.sides(), self.border, self.extent)
    }

    /// Returns the problem of the sums alone, rounded to the same type.
    pub fn sums(&self) -> FilterProblem {
        let &Scaled { shape, src, dst, border, extent, .. } = self;
        match self.weights.clone() {
            Weights::Dense(mask) => Correlate { shape, src, dst, mask, border, clamp: false, extent }.into(),
            Weights::Separable(taps_x, taps_y) => Separable { shape, src, dst, taps_x, taps_y, border, extent }.into(),
        }
    }

    pub(crate) fn sides(&self) -> Sides {
        match &self.weights {
            Weights::Dense(mask) => Sides { size: (mask.width(), mask.height()), anchor: mask.anchor() },
            Weights::Separable(taps_x, taps_y) => Sides::of_axes(taps_x, taps_y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(weights: Weights) -> Scaled {
        let (shape, src, dst) = (Shape::new(9, 7, 2).unwrap(), PixelType::U8, PixelType::I16);
        let (factor, offset, border, extent) = (0.5, 3.0, Border::Crop, Extent::Same);
        Scaled { shape, src, dst, weights, factor, offset, border, extent }
    }

    #[test]
    fn windows_are_those_of_the_sums() {
        let taps = |count: usize| Taps::new(vec![1.0; count]).unwrap();
        for weights in [Weights::Dense("1 2 3 4; 5 6 7 8".parse().unwrap()), Weights::Separable(taps(4), taps(2))] {
            let scaled = problem(weights);
            let window = scaled.window().unwrap();
            assert_eq!((window, window.out), (scaled.sums().window().unwrap(), Shape::new(6, 6, 2).unwrap()));
        }
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let problem = problem(Weights::Dense("1".parse().unwrap()));
        for (wrong, part) in [
            (Scaled { factor: f64::NAN, ..problem.clone() }, "factor is NaN, but must be finite"),
            (Scaled { offset: f64::INFINITY, ..problem.clone() }, "offset is inf"),
            (Scaled { dst: PixelType::F32, ..problem.clone() }, "pixels are f32, but must be u8, u16 or i16"),
            (Scaled { weights: Weights::Dense(Mask::new(10, 1, [1.0; 10]).unwrap()), ..problem }, "10"),
        ] {
            let error = wrong.window().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
