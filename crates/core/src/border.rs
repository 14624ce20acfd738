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

/// A constant for each channel, of one to four.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    values: [f32; 4],
    channels: u32,
}

impl Constants {
    /// These values outside, the first channel's first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for other than one to four values, and for those that are not finite.
    pub fn new(values: &[f32]) -> Result<Constants> {
        if values.is_empty() || values.len() > 4 || !values.iter().all(|value| value.is_finite()) {
            return Err(Error::parameter("border", "constants", format!("{values:?}"), "one to four finite numbers"));
        }
        let mut padded = [0.0; 4];
        padded[..values.len()].copy_from_slice(values);
        Ok(Constants { values: padded, channels: values.len() as u32 })
    }

    /// The values, one for each channel.
    pub fn values(&self) -> &[f32] {
        &self.values[..self.channels as usize]
    }
}

impl fmt::Display for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("constant")?;
        self.values().iter().try_for_each(|value| write!(f, ":{value}"))
    }
}

/// What lies outside an image along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisBorder {
    /// The same for all channels.
    Border(Border),
    /// `vvvv|abcd|vvvv`: a fixed value for each channel.
    Constants(Constants),
}

impl AxisBorder {
    /// The index map and the values outside, of each channel.
    pub fn mode(self) -> (BorderMode, [f32; 4]) {
        match self {
            AxisBorder::Border(border) => {
                let (mode, constant) = border.mode();
                (mode, [constant; 4])
            }
            AxisBorder::Constants(constants) => (BorderMode::Constant, constants.values),
        }
    }
}

impl PartialEq<Border> for AxisBorder {
    fn eq(&self, border: &Border) -> bool {
        matches!(self, AxisBorder::Border(own) if own == border)
    }
}

impl Default for AxisBorder {
    fn default() -> AxisBorder {
        Border::default().into()
    }
}

impl From<Border> for AxisBorder {
    fn from(border: Border) -> AxisBorder {
        AxisBorder::Border(border)
    }
}

impl From<Constants> for AxisBorder {
    fn from(constants: Constants) -> AxisBorder {
        AxisBorder::Constants(constants)
    }
}

impl fmt::Display for AxisBorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisBorder::Border(border) => border.fmt(f),
            AxisBorder::Constants(constants) => constants.fmt(f),
        }
    }
}

impl FromStr for AxisBorder {
    type Err = Error;

    /// A border, or constants by channel, as `constant:0:128:255`.
    fn from_str(text: &str) -> Result<AxisBorder> {
        match text.strip_prefix("constant:") {
            Some(values) if values.contains(':') => {
                let wrong = |_| {
                    let limit = "constant:V:V with two to four finite numbers, one for each channel";
                    Error::parameter("border", "border", format!("'{text}'"), limit)
                };
                let values = values.split(':').map(|value| value.trim().parse::<f32>());
                let values =
                    values.collect::<std::result::Result<Vec<f32>, _>>().map_err(|error| wrong(error.to_string()))?;
                Constants::new(&values).map(AxisBorder::from).map_err(|error| wrong(error.to_string()))
            }
            _ => text.parse::<Border>().map(AxisBorder::from),
        }
    }
}

/// What lies outside an image, along each axis.
///
/// Where the axes differ, the image is extended along its rows first, and what that makes along the columns: a pixel
/// outside in both axes is what the border of the columns makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Borders {
    /// Left and right of the image.
    pub x: AxisBorder,
    /// Above and below.
    pub y: AxisBorder,
}

impl Borders {
    /// One for each axis.
    pub fn by_axis(x: impl Into<AxisBorder>, y: impl Into<AxisBorder>) -> Borders {
        Borders { x: x.into(), y: y.into() }
    }

    /// The border that all axes and channels have, if there is one.
    pub fn everywhere(&self) -> Option<Border> {
        match (self.x, self.y) {
            (AxisBorder::Border(x), AxisBorder::Border(y)) if x == y => Some(x),
            _ => None,
        }
    }
}

impl<T: Into<AxisBorder>> From<T> for Borders {
    fn from(outside: T) -> Borders {
        let outside = outside.into();
        Borders { x: outside, y: outside }
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
            None => text.parse::<AxisBorder>().map(Borders::from),
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
        let by_axis = Borders::by_axis(Border::Wrap, Border::Constant(-2.0));
        let blue = Constants::new(&[0.0, -1.5, 255.0]).unwrap();
        for (text, borders) in [
            ("wrap,constant:-2", by_axis),
            ("crop", Border::Crop.into()),
            ("constant:0:-1.5:255", blue.into()),
            ("replicate,constant:0:-1.5:255", Borders::by_axis(Border::Replicate, blue)),
        ] {
            assert_eq!(text.parse::<Borders>().unwrap(), borders);
            assert_eq!(borders.to_string(), text);
        }
        for wrong in ["wrap,", "wrap,wrap,wrap", "constant:1:", "constant:1:x", "constant:1:inf", "constant:1:2:3:4:5"]
        {
            let error = wrong.parse::<Borders>().unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }), "{error}");
        }
        assert!(Constants::new(&[]).is_err() && Constants::new(&[f32::NAN]).is_err());
    }
}
