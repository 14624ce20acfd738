//! Pointwise operations on one or two filters of an image.

use crate::{Border, Error, Extent, PixelType, PointOp, Pointwise, Result, Separable, Shape, Taps, Window};

/// An operand of a [`Paired`] operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The image itself.
    Image,
    /// The image filtered along the rows, then along the columns, in f32.
    Separable(Taps, Taps),
}

/// A pointwise operation on one or two parts, each a separable filter of one image or the image itself: the result of the
/// parts computed one by one, to the last bit.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Sample type of the output.
    pub dst: PixelType,
    /// The operation.
    pub op: PointOp,
    /// The first part.
    pub x: Part,
    /// The second part, if there is one.
    pub y: Option<Part>,
    /// Border mode.
    pub border: Border,
    /// Pixels to compute.
    pub extent: Extent,
}

impl Paired {
    pub(crate) const NAME: &'static str = "paired";

    /// Returns the parts, one or two.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        [Some(&self.x), self.y.as_ref()].into_iter().flatten()
    }

    /// Returns the output's shape and the position of the first part's windows.
    ///
    /// # Errors
    /// As [`part_window`](Paired::part_window) for each part and [`Pointwise::check`]; [`Error::Parameter`] for parts of
    /// two shapes.
    pub fn window(&self) -> Result<Window> {
        let window = self.part_window(&self.x)?;
        self.pointwise(window.out).check()?;
        if let Some(y) = &self.y {
            let out = self.part_window(y)?.out;
            if out != window.out {
                let value = format!("{} and {out}", window.out);
                return Err(Error::parameter(Paired::NAME, "parts", value, "of one shape"));
            }
        }
        Ok(window)
    }

    /// Returns the shape of a part and the position of its windows.
    ///
    /// # Errors
    /// As [`Correlate::window`](crate::Correlate::window); [`Error::Parameter`] for a region of the image itself.
    pub fn part_window(&self, part: &Part) -> Result<Window> {
        match (self.separable(part), self.extent) {
            (Some(filter), _) => filter.window(),
            (None, Extent::Region(region)) => {
                Err(Error::parameter(Paired::NAME, "region", region, "left out for the image itself, or one tap used"))
            }
            (None, _) => Ok(Window { out: self.shape, origin_x: 0, origin_y: 0 }),
        }
    }

    /// Returns the filter of a part; `None` for the image itself.
    pub fn separable(&self, part: &Part) -> Option<Separable> {
        let &Paired { shape, src, border, extent, .. } = self;
        match part.clone() {
            Part::Image => None,
            Part::Separable(taps_x, taps_y) => {
                Some(Separable { shape, src, dst: PixelType::F32, taps_x, taps_y, border, extent })
            }
        }
    }

    /// Returns the operation on the parts, which have the output's shape.
    pub fn pointwise(&self, out: Shape) -> Pointwise {
        let pixel = |part: &Part| if let Part::Image = part { self.src } else { PixelType::F32 };
        let (src, second) = (pixel(&self.x), self.y.as_ref().map(pixel));
        Pointwise { shape: out, src, second, dst: self.dst, op: self.op }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;

    #[test]
    fn parts_have_one_shape() {
        let taps = |count: usize| Taps::new(vec![1.0; count]).unwrap();
        let part = |x, y| Part::Separable(taps(x), taps(y));
        let of = |x, y, border, extent| {
            let (shape, src, dst) = (Shape::new(9, 7, 2).unwrap(), PixelType::U8, PixelType::I16);
            Paired { shape, src, dst, op: PointOp::Magnitude, x, y, border, extent }.window()
        };
        let (wrap, crop, same) = (Border::Wrap, Border::Crop, Extent::Same);
        let window = of(part(3, 5), Some(part(7, 1)), wrap, same).unwrap();
        assert_eq!((window.out, window.origin_x, window.origin_y), (Shape::new(9, 7, 2).unwrap(), -1, -2));
        assert_eq!(of(Part::Image, Some(part(3, 3)), wrap, same).unwrap().origin_x, 0);
        assert_eq!(of(part(3, 3), Some(part(3, 3)), crop, same).unwrap().out.width, 7);
        let region = Extent::Region(Region { x: 1, y: 1, width: 2, height: 2 });
        for (x, y, border, extent, why) in [
            (part(3, 3), Some(part(5, 3)), crop, same, "parts is 7x5x2 and 5x5x2, but must be of one shape"),
            (part(3, 3), Some(Part::Image), wrap, Extent::Full, "of one shape"),
            (Part::Image, Some(part(3, 3)), wrap, region, "region is"),
            (part(3, 3), None, wrap, same, "images is one, but must be two"),
        ] {
            let error = of(x, y, border, extent).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
