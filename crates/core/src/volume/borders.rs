//! The borders of a volume.

use crate::{Border, Error, PixelType, Result};
use std::fmt;
use std::str::FromStr;

/// The borders along x, y and z.
///
/// The volume is extended along its rows first, then along the columns, then by planes: a voxel outside along several
/// axes follows the last of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VolumeBorders {
    /// The border before and after each row.
    pub x: Border,
    /// The border above and below each plane.
    pub y: Border,
    /// The border in front of the first plane and behind the last.
    pub z: Border,
}

impl VolumeBorders {
    /// Creates borders that differ by axis.
    pub fn by_axis(x: Border, y: Border, z: Border) -> VolumeBorders {
        VolumeBorders { x, y, z }
    }

    /// Returns the borders along x, y and z.
    pub fn axes(&self) -> [Border; 3] {
        [self.x, self.y, self.z]
    }

    /// Checks that constants are numbers of the type of the sums.
    pub(crate) fn check(&self, sums: PixelType) -> Result<()> {
        let of_sums = |value: f64| if sums == PixelType::F64 { value } else { value as f32 as f64 };
        for border in self.axes() {
            if let Border::Constant(value) = border
                && !of_sums(value).is_finite()
            {
                return Err(Error::parameter("volume", "constant", format!("{value:e}"), format!("finite in {sums}")));
            }
        }
        Ok(())
    }
}

impl From<Border> for VolumeBorders {
    fn from(border: Border) -> VolumeBorders {
        VolumeBorders { x: border, y: border, z: border }
    }
}

impl fmt::Display for VolumeBorders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let VolumeBorders { x, y, z } = self;
        if x == y && y == z { x.fmt(f) } else { write!(f, "{x},{y},{z}") }
    }
}

impl FromStr for VolumeBorders {
    type Err = Error;

    /// Parses one border for all axes, or one for each, such as `wrap,wrap,replicate`.
    fn from_str(text: &str) -> Result<VolumeBorders> {
        let wrong =
            || Error::parameter("volume", "border", format!("'{text}'"), "one border, or three: for x, y and z");
        let borders: Vec<Border> = text.split(',').map(|one| one.trim().parse()).collect::<Result<_>>()?;
        match borders[..] {
            [all] => Ok(all.into()),
            [x, y, z] => Ok(VolumeBorders { x, y, z }),
            _ => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_value_agree() {
        for text in ["wrap", "wrap,constant:2.5,replicate"] {
            assert_eq!(text.parse::<VolumeBorders>().unwrap().to_string(), text);
        }
        for wrong in ["", "wrap,wrap", "wrap,wrap,", "wrap,wrap,wrap,wrap"] {
            assert!(matches!(wrong.parse::<VolumeBorders>(), Err(Error::Parameter { .. })), "{wrong}");
        }
        let far = VolumeBorders::from(Border::Constant(1e300));
        assert!(far.check(PixelType::F64).is_ok() && far.check(PixelType::F32).is_err());
    }
}
