//! Sums of separable correlations.

use crate::window::Sides;
use crate::{Border, Error, Extent, PixelType, PointOp, Pointwise, Result, Separable, Shape, Taps, Window};

/// A sum of separable correlations, its terms: each is rounded to f32 as it would be alone, and they are added in
/// order, each sum rounded to f32. For masks that are sums of a few products of a column and a row.
#[derive(Clone, Debug, PartialEq)]
pub struct LowRank {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input; the output is f32.
    pub src: PixelType,
    /// The terms: taps along the rows and along the columns, of the same sizes and anchors in all terms.
    pub terms: Vec<(Taps, Taps)>,
    /// Border mode.
    pub border: Border,
    /// Pixels to compute.
    pub extent: Extent,
}

impl LowRank {
    /// Returns the output's shape and the position of its windows.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no terms, and for terms of different sizes or anchors; and as
    /// [`Correlate::window`](crate::Correlate::window).
    pub fn window(&self) -> Result<Window> {
        let differs = |(x, y): &(Taps, Taps)| Sides::of_axes(x, y) != self.sides();
        if self.terms.is_empty() || self.terms.iter().any(differs) {
            let value = format!("{} terms", self.terms.len());
            return Err(Error::parameter("separable", "terms", value, "one or more, all of one size and anchor"));
        }
        Window::new("separable", self.shape, self.sides(), self.border, self.extent)
    }

    /// Returns the terms as separable problems.
    pub fn separables(&self) -> impl DoubleEndedIterator<Item = Separable> {
        let &LowRank { shape, src, border, extent, .. } = self;
        let of = move |(x, y): &(Taps, Taps)| (x.clone(), y.clone());
        self.terms.iter().map(of).map(move |(taps_x, taps_y)| {
            let dst = PixelType::F32;
            Separable { shape, src, dst, taps_x, taps_y, border, extent }
        })
    }

    /// Returns the pointwise addition of a term to the sum so far, both of this shape.
    pub fn addition(out: Shape) -> Pointwise {
        let f32 = PixelType::F32;
        Pointwise { shape: out, src: f32, second: Some(f32), dst: f32, op: PointOp::weighted(1.0, 1.0, 0.0) }
    }

    pub(crate) fn sides(&self) -> Sides {
        self.terms.first().map_or(Sides { size: (1, 1), anchor: (0, 0) }, |(x, y)| Sides::of_axes(x, y))
    }
}
