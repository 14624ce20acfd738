//! Filters whose border differs by axis or channel: filters of a padded image.

use crate::window::Sides;
use crate::{Border, Borders, BoxFilter, Extent, FilterProblem, Pad, PixelType, Region, Result, Shape, Window};

/// A filter in up to two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Padded {
    /// The first step, if needed: an image of all samples that the windows read.
    pub padding: Option<Pad>,
    /// The filter of that image.
    pub filter: FilterProblem,
}

/// The parameters of a filter that determine its windows.
struct Filter<'a> {
    shape: &'a mut Shape,
    src: PixelType,
    sides: Sides,
    border: &'a mut Border,
    extent: &'a mut Extent,
}

impl FilterProblem {
    /// Returns the filter with these borders instead of its own.
    ///
    /// # Errors
    /// As [`Correlate::window`](crate::Correlate::window) and, where axes or channels differ, as [`Pad::window`].
    pub fn with_borders(mut self, borders: Borders) -> Result<Padded> {
        let operation = self.operation();
        let Some(Filter { shape, src, sides, border, extent }) = self.windows() else {
            return Ok(Padded { padding: None, filter: self });
        };
        if let Some(everywhere) = borders.everywhere() {
            *border = everywhere;
            return Ok(Padded { padding: None, filter: self });
        }
        let Sides { size, anchor } = sides;
        // Each axis by its own border; along the other axis the shape is at least a window.
        let window = |outside, width, height| {
            let border = if outside == Border::Crop { Border::Crop } else { Border::Replicate };
            let shape = Shape { width: shape.width.max(width), height: shape.height.max(height), ..*shape };
            Window::new(operation, shape, Sides { size, anchor }, border, *extent)
        };
        let (x, y) = (window(borders.x, 0, size.1)?, window(borders.y, size.0, 0)?);
        let (width, height) = (x.out.width + size.0 - 1, y.out.height + size.1 - 1);
        let region = Region { x: x.origin_x, y: y.origin_y, width, height };
        let padding = Pad { shape: *shape, pixel: src, borders, region };
        (*shape, *border, *extent) = (padding.window()?.out, Border::Crop, Extent::Same);
        Ok(Padded { padding: Some(padding), filter: self })
    }

    /// Returns the output's shape, whatever the types of the samples: a problem that is restated or converted before it
    /// is solved may have types that it has no [`window`](FilterProblem::window) for.
    ///
    /// As [`window`](FilterProblem::window), except the errors about types and about values that they do not hold.
    pub fn out_shape(&self) -> Result<Shape> {
        match self {
            FilterProblem::Box(problem) => {
                problem.check()?;
                let BoxFilter { shape, border, extent, .. } = *problem;
                Ok(Window::new(BoxFilter::NAME, shape, problem.sides(), border, extent)?.out)
            }
            problem => Ok(problem.window()?.out),
        }
    }

    /// Returns the parameters that determine the windows; `None` for a problem without windows.
    fn windows(&mut self) -> Option<Filter<'_>> {
        fn of<'a>(
            sides: Sides,
            shape: &'a mut Shape,
            src: PixelType,
            border: &'a mut Border,
            extent: &'a mut Extent,
        ) -> Filter<'a> {
            Filter { shape, src, sides, border, extent }
        }
        Some(match self {
            FilterProblem::Correlate(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::Separable(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::Fft(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::LowRank(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::Scaled(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::Box(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::LocalStd(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            FilterProblem::Pointwise(_)
            | FilterProblem::Paired(_)
            | FilterProblem::Pad(_)
            | FilterProblem::Volume(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AxisBorder, Constants, Correlate, ErrorKind, Mask};

    fn problem(extent: Extent) -> FilterProblem {
        let (shape, mask) = (Shape::new(10, 5, 2).unwrap(), Mask::new(3, 4, [1.0; 12]).unwrap());
        let (src, dst, border) = (PixelType::U8, PixelType::F32, Border::Wrap);
        FilterProblem::Correlate(Correlate { shape, src, dst, mask, border, clamp: false, extent })
    }

    /// Corner and size, in pixels.
    type Rectangle = (i32, i32, u32, u32);

    /// Returns the padded region, and the size of the result.
    fn steps(borders: Borders, extent: Extent) -> (Option<Rectangle>, (u32, u32)) {
        let Padded { padding, filter: FilterProblem::Correlate(filter) } =
            problem(extent).with_borders(borders).unwrap()
        else {
            panic!("a correlation was stated")
        };
        let out = filter.window().unwrap().out;
        let region = padding.map(|padding| {
            assert_eq!((filter.border, filter.extent), (Border::Crop, Extent::Same));
            padding.region
        });
        (region.map(|region| (region.x, region.y, region.width, region.height)), (out.width, out.height))
    }

    #[test]
    fn what_windows_see_is_padded() {
        let of = |x: Border, y: Border| Borders::by_axis(x, y);
        let region = Extent::Region(Region { x: 2, y: -1, width: 3, height: 2 });
        assert_eq!(steps(Border::Reflect.into(), Extent::Same), (None, (10, 5)));
        assert_eq!(steps(of(Border::Wrap, Border::Reflect), Extent::Same), (Some((-1, -2, 12, 8)), (10, 5)));
        assert_eq!(steps(of(Border::Wrap, Border::Reflect), Extent::Full), (Some((-2, -3, 14, 11)), (12, 8)));
        assert_eq!(steps(of(Border::Crop, Border::Reflect), Extent::Same), (Some((0, -2, 10, 8)), (8, 5)));
        assert_eq!(steps(of(Border::Wrap, Border::Constant(7.0)), region), (Some((1, -3, 5, 5)), (3, 2)));
        let constants = Constants::new(&[7.0, 8.0]).unwrap();
        assert_eq!(steps(constants.into(), Extent::Same), (Some((-1, -2, 12, 8)), (10, 5)));
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let three = Constants::new(&[1.0, 2.0, 3.0]).unwrap();
        for (x, extent) in [
            (AxisBorder::from(Border::Constant(0.5)), Extent::Same),
            (Border::Constant(256.0).into(), Extent::Same),
            (Border::Crop.into(), Extent::Full),
            (three.into(), Extent::Same),
        ] {
            let error = problem(extent).with_borders(Borders { x, y: Border::Wrap.into() }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        }
    }
}
