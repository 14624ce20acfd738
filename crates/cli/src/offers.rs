//! Parsers of options whose values are few words, which shells suggest.

use crate::args::AskedMethod;
use crate::output::Scale;
use apron::{DeviceName, PixelType, filters};
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use std::str::FromStr;

/// A value parser with suggestions for shell completion, which also accepts other values.
#[derive(Clone)]
pub(crate) struct Offers<P> {
    parser: P,
    names: Vec<&'static str>,
}

impl<P: TypedValueParser> TypedValueParser for Offers<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().copied().map(PossibleValue::new)))
    }
}

/// Parses a type of its own, with suggestions.
fn of<T>(names: Vec<&'static str>) -> Offers<impl TypedValueParser<Value = T>>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    Offers { parser: StringValueParser::new().try_map(|text| text.parse::<T>()), names }
}

/// Parses borders, of images or of volumes; shells suggest those that are one word.
pub(crate) fn borders<T>() -> Offers<impl TypedValueParser<Value = T>>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    of(vec!["constant", "replicate", "reflect", "reflect101", "wrap", "crop"])
}

/// Parses the names of methods.
pub(crate) fn methods() -> Offers<impl TypedValueParser<Value = AskedMethod>> {
    of(vec!["auto", "direct", "separable", "low-rank", "box", "fft"])
}

/// Parses the ends of a range; shells suggest the word for those of the image.
pub(crate) fn scales() -> Offers<impl TypedValueParser<Value = Scale>> {
    of(vec!["auto"])
}

/// Parses formats, which are checked later.
pub(crate) fn formats() -> Offers<StringValueParser> {
    Offers { parser: StringValueParser::new(), names: vec!["npy", "png", "jpg", "tif", "bmp", "pnm"] }
}

/// Parses device names; shells suggest the first GPU only.
pub(crate) fn devices() -> Offers<impl TypedValueParser<Value = DeviceName>> {
    let names = vec!["auto", "gpu", "gpu:0", "gpus", "cpu", "emulator", "reference"];
    of(names)
}

/// Parses masks; shells suggest the named ones.
pub(crate) fn masks() -> Offers<StringValueParser> {
    Offers { parser: StringValueParser::new(), names: filters::mask_names().collect() }
}

/// Parses sample types.
pub(crate) fn pixels() -> Offers<impl TypedValueParser<Value = PixelType>> {
    let names = PixelType::ALL.map(|pixel| pixel.element().name()).to_vec();
    of(names)
}
