//! Filters with another border in each axis: those of a padded image.

use crate::window::Sides;
use crate::{Border, Borders, Correlate, Error, Extent, Mask, PixelType, Problem, Region, Result, Shape, Window};

/// A filter that is solved in steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Padded {
    /// What is done first, in order: an image of what the windows see, of the input's type.
    pub paddings: Vec<Problem>,
    /// The filter of that image.
    pub filter: Problem,
}

/// What a filter's windows depend on.
struct Filter<'a> {
    shape: &'a mut Shape,
    src: PixelType,
    sides: Sides,
    border: &'a mut Border,
    extent: &'a mut Extent,
}

impl Problem {
    /// The same filter with these borders instead of its own.
    ///
    /// # Errors
    /// As [`Correlate::window`]; [`Error::Parameter`] for a constant of one axis that is no sample of integer images.
    pub fn with_borders(mut self, borders: Borders) -> Result<Padded> {
        let operation = self.operation();
        let Some(Filter { shape, src, sides, border, extent }) = self.windows() else {
            return Ok(Padded { paddings: Vec::new(), filter: self });
        };
        *border = borders.x;
        if borders.x == borders.y {
            return Ok(Padded { paddings: Vec::new(), filter: self });
        }
        let Sides { size, anchor } = sides;
        // Each axis by its own border; the other axis has room for a window.
        let window = |border, width, height| {
            let shape = Shape { width: shape.width.max(width), height: shape.height.max(height), ..*shape };
            Window::new(operation, shape, Sides { size, anchor }, border, *extent)
        };
        let (x, y) = (window(borders.x, 0, size.1)?, window(borders.y, size.0, 0)?);
        let mut paddings = Vec::new();
        let mut pad = |border: Border, from: Shape, region: Region| {
            if border == Border::Crop {
                return Ok(from);
            }
            is_sample(operation, border, src)?;
            let (mask, extent) = (Mask::new(1, 1, [1.0])?, Extent::Region(region));
            let padding = Correlate { shape: from, src, dst: src, mask, border, clamp: false, extent };
            let out = padding.window()?.out;
            paddings.push(Problem::Correlate(padding));
            Ok(out)
        };
        let (width, height) = (x.out.width + size.0 - 1, y.out.height + size.1 - 1);
        let wide = pad(borders.x, *shape, Region { x: x.origin_x, y: 0, width, height: shape.height })?;
        let padded = pad(borders.y, wide, Region { x: 0, y: y.origin_y, width: wide.width, height })?;
        (*shape, *border, *extent) = (padded, Border::Crop, Extent::Same);
        Ok(Padded { paddings, filter: self })
    }

    /// What its windows depend on; `None` for a problem without windows.
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
            Problem::Correlate(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            Problem::Separable(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            Problem::Box(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            Problem::LocalStd(p) => of(p.sides(), &mut p.shape, p.src, &mut p.border, &mut p.extent),
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Pointwise(_) | Problem::Tone(_) => {
                return None;
            }
        })
    }
}

/// Checks that a constant stays what it is in an image of this type.
fn is_sample(operation: &'static str, border: Border, src: PixelType) -> Result<()> {
    let Border::Constant(value) = border else { return Ok(()) };
    let (low, high) = match src {
        PixelType::U8 => (0.0, 255.0),
        PixelType::U16 => (0.0, 65535.0),
        PixelType::I16 => (-32768.0, 32767.0),
        PixelType::F32 => return Ok(()),
    };
    if value.fract() == 0.0 && (low..=high).contains(&value) {
        return Ok(());
    }
    let limit = format!("a whole number from {low} to {high} for {src} pixels, where the axes' borders differ");
    Err(Error::parameter(operation, "border", border, limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn problem(extent: Extent) -> Problem {
        let (shape, mask) = (Shape::new(10, 5, 2).unwrap(), Mask::new(3, 4, [1.0; 12]).unwrap());
        let (src, dst, border) = (PixelType::U8, PixelType::F32, Border::Wrap);
        Problem::Correlate(Correlate { shape, src, dst, mask, border, clamp: false, extent })
    }

    fn shapes(borders: Borders, extent: Extent) -> Vec<(u32, u32)> {
        let Padded { paddings, filter } = problem(extent).with_borders(borders).unwrap();
        let filters = paddings.into_iter().chain([filter]).map(|problem| match problem {
            Problem::Correlate(problem) => problem.window().unwrap().out,
            other => unreachable!("{other:?}"),
        });
        filters.map(|shape| (shape.width, shape.height)).collect()
    }

    #[test]
    fn what_windows_see_is_padded_axis_by_axis() {
        let of = |x, y| Borders { x, y };
        assert_eq!(shapes(Border::Reflect.into(), Extent::Same), [(10, 5)]);
        assert_eq!(shapes(of(Border::Wrap, Border::Reflect), Extent::Same), [(12, 5), (12, 8), (10, 5)]);
        assert_eq!(shapes(of(Border::Wrap, Border::Reflect), Extent::Full), [(14, 5), (14, 11), (12, 8)]);
        assert_eq!(shapes(of(Border::Crop, Border::Reflect), Extent::Same), [(10, 8), (8, 5)]);
        let region = Extent::Region(Region { x: 2, y: -1, width: 3, height: 2 });
        assert_eq!(shapes(of(Border::Wrap, Border::Constant(7.0)), region), [(5, 5), (5, 5), (3, 2)]);
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        for (x, extent) in [
            (Border::Constant(0.5), Extent::Same),
            (Border::Constant(256.0), Extent::Same),
            (Border::Crop, Extent::Full),
        ] {
            let error = problem(extent).with_borders(Borders { x, y: Border::Wrap }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        }
    }
}
