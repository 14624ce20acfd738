//! Border modes: the samples outside an image.

use crate::number::digits;
use crate::{Error, PixelType, Result, number};
use apron_abi::BorderMode;
use std::fmt;
use std::str::FromStr;

/// The samples that a mask reads outside the image, which is `abcd` in the drawings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Border {
    /// `vvvv|abcd|vvvv`: a fixed value. SciPy's `constant`, OpenCV's `BORDER_CONSTANT`. It is rounded to f32,
    /// except for images of f64.
    Constant(f64),
    /// `aaaa|abcd|dddd`: the nearest pixel. SciPy's `nearest`, OpenCV's `BORDER_REPLICATE`.
    Replicate,
    /// `dcba|abcd|dcba`: mirrored, the edge pixel repeated. SciPy's `reflect`, OpenCV's `BORDER_REFLECT`.
    Reflect,
    /// `.dcb|abcd|cba.`: mirrored about the edge pixel. SciPy's `mirror`, OpenCV's `BORDER_REFLECT_101`, the default.
    #[default]
    Reflect101,
    /// `abcd|abcd|abcd`: periodic. SciPy's `wrap`, OpenCV's `BORDER_WRAP`.
    Wrap,
    /// No border: only windows that lie inside the image have a result, which is smaller than the image by `mask - 1`
    /// pixels along each axis.
    Crop,
}

impl Border {
    /// All border modes, the constant one with 0.
    pub const ALL: [Border; 6] =
        [Border::Constant(0.0), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Crop];

    /// Returns the index map, and the constant as f32. Crop never reads outside, so its map is arbitrary.
    pub fn mode(self) -> (BorderMode, f32) {
        let (mode, constant) = self.mode_f64();
        (mode, constant as f32)
    }

    /// Returns the index map, and the constant as images of type `pixel` have it.
    pub fn mode_of(self, pixel: PixelType) -> (BorderMode, f64) {
        let (mode, constant) = self.mode_f64();
        (mode, if pixel == PixelType::F64 { constant } else { constant as f32 as f64 })
    }

    fn mode_f64(self) -> (BorderMode, f64) {
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
            Border::Constant(value) => write!(f, "constant:{}", digits(*value)),
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
        let limit = "constant[:V] with a finite V, replicate, reflect, reflect101, wrap or crop";
        let wrong = |limit: &str| Error::parameter("border", "border", format!("'{text}'"), limit);
        match text {
            "constant" => Ok(Border::Constant(0.0)),
            "replicate" => Ok(Border::Replicate),
            "reflect" => Ok(Border::Reflect),
            "reflect101" => Ok(Border::Reflect101),
            "wrap" => Ok(Border::Wrap),
            "crop" => Ok(Border::Crop),
            _ => {
                let value = text.strip_prefix("constant:").ok_or_else(|| wrong(limit))?;
                let value = constant(value.trim(), limit).map_err(|limit| wrong(&limit))?;
                if value.is_finite() { Ok(Border::Constant(value)) } else { Err(wrong(limit)) }
            }
        }
    }
}

/// Parses a constant. The largest u64 is accepted although f64 rounds it up: as a sample it saturates to that u64
/// again.
fn constant(text: &str, limit: &str) -> std::result::Result<f64, String> {
    if text.parse() == Ok(u64::MAX) { Ok(u64::MAX as f64) } else { number(text, limit) }
}

/// A border constant per channel, for one to four channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    values: [f64; 4],
    channels: u32,
}

impl Constants {
    /// Creates the constants, the first channel's first.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a number of values outside one to four, and for values that are not finite.
    pub fn new(values: &[f64]) -> Result<Constants> {
        if values.is_empty() || values.len() > 4 || !values.iter().all(|value| value.is_finite()) {
            return Err(Error::parameter("border", "constants", format!("{values:?}"), "one to four finite numbers"));
        }
        let mut padded = [0.0; 4];
        padded[..values.len()].copy_from_slice(values);
        Ok(Constants { values: padded, channels: values.len() as u32 })
    }

    /// Returns the values, one per channel.
    pub fn values(&self) -> &[f64] {
        &self.values[..self.channels as usize]
    }
}

impl fmt::Display for Constants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("constant")?;
        self.values().iter().try_for_each(|value| write!(f, ":{}", digits(*value)))
    }
}

/// The border along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisBorder {
    /// One border for all channels.
    Border(Border),
    /// `vvvv|abcd|vvvv`: a fixed value per channel.
    Constants(Constants),
}

impl AxisBorder {
    /// Returns the index map, and the constant of each channel.
    pub fn mode(self) -> (BorderMode, [f64; 4]) {
        match self {
            AxisBorder::Border(border) => {
                let (mode, constant) = border.mode_f64();
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

    /// Parses a border, or constants by channel such as `constant:0:128:255`.
    fn from_str(text: &str) -> Result<AxisBorder> {
        match text.strip_prefix("constant:") {
            Some(values) if values.contains(':') => {
                let limit = "constant:V:V with two to four finite numbers, one for each channel";
                let wrong = |limit: &str| Error::parameter("border", "border", format!("'{text}'"), limit);
                let values = values.split(':').map(|value| constant(value.trim(), limit));
                let values = values.collect::<std::result::Result<Vec<f64>, _>>().map_err(|limit| wrong(&limit))?;
                Constants::new(&values).map(AxisBorder::from).map_err(|_| wrong(limit))
            }
            _ => text.parse::<Border>().map(AxisBorder::from),
        }
    }
}

/// The borders along both axes.
///
/// If they differ, the image is extended along its rows first and the result along the columns: a pixel outside along
/// both axes follows the border of the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Borders {
    /// The border to the left and right of the image.
    pub x: AxisBorder,
    /// The border above and below it.
    pub y: AxisBorder,
}

impl Borders {
    /// Creates borders that differ by axis.
    pub fn by_axis(x: impl Into<AxisBorder>, y: impl Into<AxisBorder>) -> Borders {
        Borders { x: x.into(), y: y.into() }
    }

    /// Returns the border that applies along both axes and to all channels, if there is one.
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

    /// Parses one border for both axes, or one for each, such as `wrap,replicate`.
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
    fn constants_that_f64_would_round_are_refused() {
        for (text, value) in [("9007199254740992", 2f64.powi(53)), ("-9223372036854775808", -(2f64.powi(63)))] {
            assert_eq!(format!("constant:{text}").parse::<Border>().unwrap(), Border::Constant(value));
        }
        // A sample of 2^64 saturates to the constant; and 1e23 is what f64 prints for a number that no sample has.
        assert_eq!("constant:18446744073709551615".parse::<Border>().unwrap(), Border::Constant(2f64.powi(64)));
        assert_eq!(Border::Constant(1e23).to_string().parse::<Border>().unwrap(), Border::Constant(1e23));
        for (text, as_held) in [
            ("constant:9007199254740993", "9007199254740992"),
            ("constant:18446744073709551614", "18446744073709551616"),
            ("constant:0:-9007199254740993", "-9007199254740992"),
        ] {
            let error = text.parse::<Borders>().unwrap_err().to_string();
            let said = format!("border is '{text}', but must be an integer that f64 holds, as {as_held}");
            assert!(error.ends_with(&said), "{error}");
        }
    }

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
        assert!(Constants::new(&[]).is_err() && Constants::new(&[f64::NAN]).is_err());
    }
}
