//! Extents: the pixels that a filter computes, and the position of their windows.

use crate::{Border, Error, MAX_SIDE, Result, Shape, Taps};
use std::fmt;
use std::ops::Range;

/// The output pixels that a filter computes.
///
/// ```text
///            image      . . a b c d . .
/// three taps in x, anchor in the middle:
/// Same                      x x x x
/// Full                    x x x x x x
/// Region 1, 2 wide            x x
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// One per pixel of the image; with border crop, only those whose window lies inside the image.
    #[default]
    Same,
    /// One per window that touches the image: `mask - 1` more along each axis. SciPy's `mode="full"`.
    Full,
    /// One per pixel of a region, whose windows read the image around it: OpenCV's regions of interest without
    /// `BORDER_ISOLATED`.
    Region(Region),
}

/// A rectangle in the plane of an image, which may exceed the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first column; column 0 is the image's first.
    pub x: i32,
    /// The first row; row 0 is the image's first.
    pub y: i32,
    /// Width, in pixels.
    pub width: u32,
    /// Height, in pixels.
    pub height: u32,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Same => f.write_str("same"),
            Extent::Full => f.write_str("full"),
            Extent::Region(region) => write!(f, "region {region}"),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} at {},{}", self.width, self.height, self.x, self.y)
    }
}

impl Region {
    /// Checks the region before an operation of this name, whatever the method.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an empty region, and for one that is beyond the range of border arithmetic.
    pub fn check_for(&self, operation: &'static str) -> Result<()> {
        self.check().map_err(|(value, limit)| Error::parameter(operation, "region", value, limit))
    }

    /// Checks that the region is not empty and within the range of border arithmetic; otherwise returns its value and
    /// the limit.
    pub(crate) fn check(&self) -> std::result::Result<(), (String, String)> {
        for (what, from, count) in [("columns", self.x, self.width), ("rows", self.y, self.height)] {
            let to = from as i64 + count as i64;
            let limit = match count {
                0 => format!("1 or more {what}"),
                _ if count > MAX_SIDE || from.unsigned_abs() > MAX_SIDE || to > MAX_SIDE as i64 => {
                    format!("in -{MAX_SIDE} to {MAX_SIDE}")
                }
                _ => continue,
            };
            return Err((format!("{what} {from} to {to}"), limit));
        }
        Ok(())
    }
}

/// The output's shape, and the input position of its first window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Shape of the output.
    pub out: Shape,
    /// Input column under the first tap, for output column 0.
    pub origin_x: i32,
    /// Input row under the first tap, for output row 0.
    pub origin_y: i32,
}

/// Size and anchor of a filter, in columns and rows.
#[derive(PartialEq)]
pub(crate) struct Sides {
    pub(crate) size: (u32, u32),
    pub(crate) anchor: (u32, u32),
}

impl Sides {
    /// Returns the size and anchor of separable taps.
    pub(crate) fn of_axes(x: &Taps, y: &Taps) -> Sides {
        Sides { size: (x.len(), y.len()), anchor: (x.anchor(), y.anchor()) }
    }
}

impl Window {
    /// Returns the windows of some rows of the output.
    pub fn of_rows(self, rows: Range<u32>) -> Window {
        let out = Shape { height: rows.end - rows.start, ..self.out };
        Window { out, origin_y: self.origin_y + rows.start as i32, ..self }
    }

    pub(crate) fn new(
        operation: &'static str,
        shape: Shape,
        sides: Sides,
        border: Border,
        extent: Extent,
    ) -> Result<Window> {
        let Sides { size, anchor } = sides;
        if border == Border::Crop {
            if extent != Extent::Same {
                let limit = "another, where the extent is not that of the image: crop sees nothing outside";
                return Err(Error::parameter(operation, "border", border, limit));
            }
            if size.0 > shape.width || size.1 > shape.height {
                return Err(Error::NoWindow { operation, mask_width: size.0, mask_height: size.1, shape });
            }
            let out = Shape { width: shape.width - size.0 + 1, height: shape.height - size.1 + 1, ..shape };
            return Ok(Window { out, origin_x: 0, origin_y: 0 });
        }
        let region = match extent {
            Extent::Same => Region { x: 0, y: 0, width: shape.width, height: shape.height },
            Extent::Full => Region {
                x: anchor.0 as i32 + 1 - size.0 as i32,
                y: anchor.1 as i32 + 1 - size.1 as i32,
                width: shape.width + (size.0 - 1),
                height: shape.height + (size.1 - 1),
            },
            Extent::Region(region) => region,
        };
        match extent {
            Extent::Region(_) => region.check_for(operation)?,
            _ => region.check().map_err(|(value, limit)| Error::Shape { what: "full output", value, limit })?,
        }
        let out = Shape { width: region.width, height: region.height, ..shape };
        Ok(Window { out, origin_x: region.x - anchor.0 as i32, origin_y: region.y - anchor.1 as i32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(border: Border, extent: Extent) -> Result<Window> {
        let sides = Sides { size: (3, 4), anchor: (1, 0) };
        Window::new("correlate", Shape::new(10, 5, 2)?, sides, border, extent)
    }

    #[test]
    fn extents() {
        let region = Region { x: -4, y: 3, width: 20, height: 1 };
        for (extent, out, origin) in [
            (Extent::Same, (10, 5), (-1, 0)),
            (Extent::Full, (12, 8), (-2, -3)),
            (Extent::Region(region), (20, 1), (-5, 3)),
        ] {
            let window = window(Border::Wrap, extent).unwrap();
            assert_eq!(
                (window.out, window.origin_x, window.origin_y),
                (Shape::new(out.0, out.1, 2).unwrap(), origin.0, origin.1)
            );
        }
        let cropped = window(Border::Crop, Extent::Same).unwrap();
        assert_eq!((cropped.out, cropped.origin_x, cropped.origin_y), (Shape::new(8, 2, 2).unwrap(), 0, 0));
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        let most = MAX_SIDE as i32;
        let region = |x, y, width, height| Extent::Region(Region { x, y, width, height });
        for extent in [
            region(0, 0, 0, 1),
            region(0, 0, 1, 0),
            region(most, 0, 1, 1),
            region(0, -most - 1, 1, 1),
            region(i32::MIN, 0, 1, 1),
            region(0, -most, 1, u32::MAX),
        ] {
            let error = window(Border::Wrap, extent).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }), "{extent:?}: {error}");
        }
        let sides = Sides { size: (2, 1), anchor: (0, 0) };
        let widest = Shape::new(MAX_SIDE, 1, 1).unwrap();
        let error = Window::new("correlate", widest, sides, Border::Wrap, Extent::Full).unwrap_err();
        assert!(matches!(error, Error::Shape { .. }), "{error}");
        for extent in [Extent::Full, region(0, 0, 1, 1)] {
            assert!(matches!(window(Border::Crop, extent), Err(Error::Parameter { .. })));
        }
        assert!(window(Border::Wrap, region(most - 1, -most, 1, MAX_SIDE)).is_ok());
    }
}
