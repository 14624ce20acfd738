//! Pointwise operations on one or two filters of an image.

use crate::{
    Border, Error, Extent, FilterProblem, PixelType, PointOp, Pointwise, Result, Separable, Shape, Taps, Window,
};

/// An operand of a [`Paired`] operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The image itself.
    Image,
    /// The image filtered along the rows, then along the columns, in f32.
    Separable(Taps, Taps),
    /// Any other filter of the image, in f32, with its border and its extent; it may be [`Paired`] again.
    Filter(Box<FilterProblem>),
}

/// A pointwise operation on one or two parts, each a filter of one image or the image itself. The result has the bits
/// of the parts computed one by one. Kernels take separable parts.
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
    /// As [`part_window`](Paired::part_window) for each part and [`Pointwise::check`]; [`Error::Parameter`]
    /// for parts of two shapes.
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
    /// As [`FilterProblem::window`]; [`Error::Parameter`] for a region of the image itself, for a filter that is not
    /// one of this image to f32, and for a problem whose rows are not computed one by one.
    pub fn part_window(&self, part: &Part) -> Result<Window> {
        let wrong = |parameter, value: String, limit| Err(Error::parameter(Paired::NAME, parameter, value, limit));
        let Some(filter) = self.filter(part) else {
            return match self.extent {
                Extent::Region(region) => {
                    wrong("region", region.to_string(), "left out for the image itself, or one tap used")
                }
                _ => Ok(Window { out: self.shape, origin_x: 0, origin_y: 0 }),
            };
        };
        if (filter.shape(), filter.src(), filter.dst()) != (self.shape, self.src, PixelType::F32) {
            let value = format!("a filter of {} {} to {}", filter.shape(), filter.src(), filter.dst());
            return wrong("part", value, "one of the image, to f32");
        }
        match filter {
            FilterProblem::Scaled(_)
            | FilterProblem::Fft(_)
            | FilterProblem::Pointwise(_)
            | FilterProblem::Pad(_)
            | FilterProblem::Volume(_) => Err(Paired::no_part(&filter)),
            filter => filter.window(),
        }
    }

    /// Returns the error for a problem that is no part.
    pub fn no_part(problem: &FilterProblem) -> Error {
        Error::parameter(Paired::NAME, "part", problem.operation(), "a filter whose rows are computed one by one")
    }

    /// Returns the filter of a part; `None` for the image itself.
    pub fn filter(&self, part: &Part) -> Option<FilterProblem> {
        match part {
            Part::Filter(filter) => Some((**filter).clone()),
            part => self.separable(part).map(FilterProblem::Separable),
        }
    }

    /// Returns the filter of a separable part.
    pub fn separable(&self, part: &Part) -> Option<Separable> {
        let &Paired { shape, src, border, extent, .. } = self;
        match part.clone() {
            Part::Image | Part::Filter(_) => None,
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
    use crate::{LocalStd, Region};

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
        let (shape, src, border, extent) = (Shape::new(9, 7, 2).unwrap(), PixelType::U8, wrap, same);
        let deviation = |src, dst| LocalStd { shape, src, dst, width: 3, height: 3, border, extent };
        let part = |filter: FilterProblem| of(Part::Filter(Box::new(filter)), Some(Part::Image), wrap, same);
        assert_eq!(part(deviation(PixelType::U8, PixelType::F32).into()).unwrap().origin_x, -1);
        let mask = crate::Mask::from_rows([[1.0]]).unwrap();
        let fft = crate::Fft { shape, src, mask, border, extent };
        let pad = Pointwise { shape, src, second: None, dst: PixelType::F32, op: PointOp::weighted(1.0, 0.0, 0.0) };
        for (filter, why) in [
            (
                deviation(PixelType::U8, PixelType::U8).into(),
                "part is a filter of 9x7x2 u8 to u8, but must be one of the image",
            ),
            (deviation(PixelType::F32, PixelType::F32).into(), "of 9x7x2 f32 to f32"),
            (pad.into(), "part is pointwise, but must be a filter"),
            (FilterProblem::Fft(fft), "part is fft, but must be a filter"),
        ] {
            let error = part(filter).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
