//! What lies outside an image.

use crate::{Error, Result};
use apron_abi::BorderMode;
use std::fmt;
use std::str::FromStr;

/// What a mask sees outside the image, `abcd` in the drawings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Border {
    /// `vvvv|abcd|vvvv`: a fixed value. SciPy's `constant`, OpenCV's `BORDER_CONSTANT`.
    Constant(f32),
    /// `aaaa|abcd|dddd`: the nearest pixel. SciPy's `nearest`, OpenCV's `BORDER_REPLICATE`.
    Replicate,
    /// `dcba|abcd|dcba`: mirrored, the edge pixel repeated. SciPy's `reflect`, OpenCV's `BORDER_REFLECT`.
    Reflect,
    /// `.dcb|abcd|cba.`: mirrored about the edge pixel. SciPy's `mirror`, OpenCV's `BORDER_REFLECT_101`, the default.
    #[default]
    Reflect101,
    /// `abcd|abcd|abcd`: periodic. SciPy's `wrap`, OpenCV's `BORDER_WRAP`.
    Wrap,
    /// Nothing: only windows that lie inside the image have a result, which so is smaller by
    /// `mask - 1` pixels in each axis.
    Crop,
}

impl Border {
    /// Every border, the constant one with 0.
    pub const ALL: [Border; 6] =
        [Border::Constant(0.0), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Crop];

    /// The index map and the value outside. Crop never looks outside, so any map does.
    pub fn mode(self) -> (BorderMode, f32) {
        match self {
            Border::Constant(value) => (BorderMode::Constant, value),
            Border::Replicate | Border::Crop => (BorderMode::Replicate, 0.0),
            Border::Reflect => (BorderMode::Reflect, 0.0),
            Border::Reflect101 => (BorderMode::Reflect101, 0.0),
            Border::Wrap => (BorderMode::Wrap, 0.0),
        }
    }
}

impl fmt::Display for Border {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Border::Constant(value) => write!(f, "constant:{value}"),
            Border::Replicate => f.write_str("replicate"),
            Border::Reflect => f.write_str("reflect"),
            Border::Reflect101 => f.write_str("reflect101"),
            Border::Wrap => f.write_str("wrap"),
            Border::Crop => f.write_str("crop"),
        }
    }
}

impl FromStr for Border {
    type Err = Error;

    fn from_str(text: &str) -> Result<Border> {
        let wrong = || {
            let limit = "constant[:V] with a finite V, replicate, reflect, reflect101, wrap or crop";
            Error::parameter("border", "border", format!("'{text}'"), limit)
        };
        match text {
            "constant" => Ok(Border::Constant(0.0)),
            "replicate" => Ok(Border::Replicate),
            "reflect" => Ok(Border::Reflect),
            "reflect101" => Ok(Border::Reflect101),
            "wrap" => Ok(Border::Wrap),
            "crop" => Ok(Border::Crop),
            _ => {
                let value = text.strip_prefix("constant:").ok_or_else(wrong)?;
                let value: f32 = value.trim().parse().map_err(|_| wrong())?;
                if value.is_finite() { Ok(Border::Constant(value)) } else { Err(wrong()) }
            }
        }
    }
}

/// A border for each axis.
///
/// Where they differ, the image is extended along its rows first, and what that makes along the columns: a pixel
/// outside in both axes is what the border of the columns makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Borders {
    /// Left and right of the image.
    pub x: Border,
    /// Above and below.
    pub y: Border,
}

impl From<Border> for Borders {
    fn from(border: Border) -> Borders {
        Borders { x: border, y: border }
    }
}

impl fmt::Display for Borders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.x == self.y { self.x.fmt(f) } else { write!(f, "{},{}", self.x, self.y) }
    }
}

impl FromStr for Borders {
    type Err = Error;

    /// One border for both axes, or one for each, as `wrap,replicate`.
    fn from_str(text: &str) -> Result<Borders> {
        match text.split_once(',') {
            Some((x, y)) => Ok(Borders { x: x.trim().parse()?, y: y.trim().parse()? }),
            None => text.parse::<Border>().map(Borders::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_value_agree() {
        for border in Border::ALL {
            assert_eq!(border.to_string().parse::<Border>().unwrap(), border);
        }
        assert_eq!("constant:127.5".parse::<Border>().unwrap(), Border::Constant(127.5));
        for wrong in ["", "mirror", "constant:", "constant:x", "constant:nan", "constant:inf", "Crop"] {
            assert!(wrong.parse::<Border>().is_err(), "{wrong}");
        }
        let by_axis = Borders { x: Border::Wrap, y: Border::Constant(-2.0) };
        for (text, borders) in [("wrap,constant:-2", by_axis), ("crop", Border::Crop.into())] {
            assert_eq!(text.parse::<Borders>().unwrap(), borders);
            assert_eq!(borders.to_string(), text);
        }
        assert!("wrap,".parse::<Borders>().is_err() && "wrap,wrap,wrap".parse::<Borders>().is_err());
    }
}
