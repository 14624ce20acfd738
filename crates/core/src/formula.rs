//! Formulas: the computation of a named filter, as data.

use crate::{Borders, Mask, PixelType, PointOp, Result, Taps};

/// An expression over an image: masks and windows applied to it, and pointwise operations on the results.
///
/// Operands of a pointwise operation are computed in f32, except the image itself, which keeps its type; only the
/// outermost operation has the requested output type. A mask or separable taps whose sums are only
/// [scaled](Formula::scaled) to integers are summed and scaled in f64, and rounded once.
///
/// ```
/// use apron_core::{Formula, PointOp, filters};
///
/// // The image and twice what a blur takes from it.
/// let taps = filters::gaussian(1.0, 4.0)?;
/// let blurred = Formula::Separable(taps.clone(), taps);
/// let sharp = Formula::of(PointOp::weighted(3.0, -2.0, 0.0), Formula::Image, Some(blurred));
/// assert!(matches!(sharp, Formula::Pointwise { .. }));
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// The image itself.
    Image,
    /// Dense correlation with a mask.
    Dense(Mask),
    /// Separable correlation: along the rows, then along the columns.
    Separable(Taps, Taps),
    /// The mean over a window of this width and height, in pixels.
    Mean(u32, u32),
    /// The [standard deviation](crate::LocalStd) over a window of this width and height, in pixels.
    LocalStd(u32, u32),
    /// A pointwise operation on one or two results.
    Pointwise {
        /// The operation.
        op: PointOp,
        /// The first operand.
        x: Box<Formula>,
        /// The second operand, if there is one.
        y: Option<Box<Formula>>,
    },
}

impl Formula {
    /// Returns the width and height of the largest window, in pixels.
    pub fn window(&self) -> (u32, u32) {
        match self {
            Formula::Image => (1, 1),
            Formula::Dense(mask) => (mask.width(), mask.height()),
            Formula::Separable(x, y) => (x.len(), y.len()),
            Formula::Mean(width, height) | Formula::LocalStd(width, height) => (*width, *height),
            Formula::Pointwise { x, y, .. } => {
                let (first, second) = (x.window(), y.as_ref().map_or((1, 1), |y| y.window()));
                (first.0.max(second.0), first.1.max(second.1))
            }
        }
    }

    /// Returns the multiplications per output sample; 4 for a mean or a standard deviation, which use running sums.
    pub fn taps(&self) -> u64 {
        match self {
            Formula::Image => 1,
            Formula::Dense(mask) => mask.taps().len() as u64,
            Formula::Separable(x, y) => x.len() as u64 + y.len() as u64,
            Formula::Mean(..) | Formula::LocalStd(..) => 4,
            Formula::Pointwise { x, y, .. } => x.taps() + y.as_ref().map_or(0, |y| y.taps()),
        }
    }

    /// Creates a pointwise operation on one or two results.
    pub fn of(op: PointOp, x: Formula, y: Option<Formula>) -> Formula {
        Formula::Pointwise { op, x: Box::new(x), y: y.map(Box::new) }
    }

    /// Returns the anchor, column and row, of the first mask or window; 0 if there is none.
    pub fn anchor(&self) -> (u32, u32) {
        self.first_anchor().unwrap_or((0, 0))
    }

    fn first_anchor(&self) -> Option<(u32, u32)> {
        match self {
            Formula::Image => None,
            Formula::Dense(mask) => Some(mask.anchor()),
            Formula::Separable(x, y) => Some((x.anchor(), y.anchor())),
            Formula::Mean(width, height) | Formula::LocalStd(width, height) => Some((width / 2, height / 2)),
            Formula::Pointwise { x, y, .. } => x.first_anchor().or_else(|| y.as_ref().and_then(|y| y.first_anchor())),
        }
    }

    /// Returns the default sample type of the output: the input's, as OpenCV's `ddepth = -1`, but f32 for directions.
    pub fn out_type(&self, src: PixelType) -> PixelType {
        match self {
            Formula::Pointwise { op: PointOp::Direction, .. } => PixelType::F32,
            _ => src,
        }
    }

    /// Returns `scale` times this formula, plus `delta`; the formula itself for a scale of 1 and a delta of 0.
    pub fn scaled(self, scale: f64, delta: f64) -> Formula {
        if (scale, delta) == (1.0, 0.0) {
            return self;
        }
        Formula::of(PointOp::weighted(scale, 0.0, delta), self, None)
    }

    /// Returns whether all sums of bytes with these borders are integers that i16 holds: no rounding changes them.
    pub fn gives_words(&self, borders: Borders) -> bool {
        let size = |taps: &[f64]| {
            let are_whole = taps.iter().all(|tap| tap.fract() == 0.0);
            if are_whole { taps.iter().map(|tap| tap.abs()).sum() } else { f64::INFINITY }
        };
        let largest = match self {
            Formula::Separable(x, y) => size(x.taps_f64()) * size(y.taps_f64()),
            Formula::Dense(mask) => size(mask.taps_f64()),
            _ => f64::INFINITY,
        };
        let is_byte = |constant: f64| constant.fract() == 0.0 && (0.0..=255.0).contains(&constant);
        let are_bytes = [borders.x, borders.y].into_iter().all(|border| border.mode().1.into_iter().all(is_byte));
        255.0 * largest <= f64::from(i16::MAX) && are_bytes
    }
}

/// A named filter, whose parameters determine a [`Formula`].
pub trait Named {
    /// Returns the formula.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for invalid parameters.
    fn formula(&self) -> Result<Formula>;
}

impl Named for Formula {
    fn formula(&self) -> Result<Formula> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_nothing_is_left_out() {
        assert_eq!(Formula::Image.scaled(1.0, 0.0), Formula::Image);
        let scaled = Formula::of(PointOp::weighted(2.0, 0.0, 3.0), Formula::Image, None);
        assert_eq!(Formula::Image.scaled(2.0, 3.0), scaled);
    }

    #[test]
    fn the_anchor_is_the_first_masks() {
        let (sum, mask) = (PointOp::weighted(1.0, 1.0, 0.0), "1 2 3; 4 5 6".parse::<Mask>().unwrap());
        let mask = Formula::Dense(mask.with_anchor(2, 0).unwrap());
        assert_eq!(Formula::of(sum, Formula::Image, Some(mask.clone())).anchor(), (2, 0));
        assert_eq!(Formula::of(sum, Formula::Mean(5, 4), Some(mask)).anchor(), (2, 2));
        assert_eq!(Formula::Image.scaled(2.0, 0.0).anchor(), (0, 0));
    }
}
