//! Choice of the variant: by the caller, else by the environment, else by the plan.

use crate::{Error, Result};
use apron_plan::{Recipe, Tuning, VARIANTS, variants};

/// The environment variable that names variants: `correlate=conv2d-tiled,separable=conv1d-fused`.
const NAME: &str = "APRON_VARIANT";

/// What a caller may set besides the problem.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choice<'a> {
    /// Name of the variant.
    pub(crate) variant: Option<&'a str>,
    /// Numbers of its grid.
    pub(crate) tuning: Option<Tuning>,
}

impl Choice<'_> {
    /// Plans by the variant that was asked for, if any.
    pub(crate) fn of(
        &self,
        operation: &'static str,
        plan: impl FnOnce(Option<&str>) -> Result<Recipe>,
    ) -> Result<Recipe> {
        let forced = if self.variant.is_none() { environment()? } else { Vec::new() };
        match forced.iter().find(|(of, _)| *of == operation) {
            None => plan(self.variant),
            Some((_, variant)) => match plan(Some(variant)) {
                Ok(recipe) => Ok(Recipe { why: format!("forced by {NAME}").into(), ..recipe }),
                Err(Error::Unsupported { operation, device, what, .. }) => {
                    let hint = format!("{NAME} asks for {variant}: take it out, or use --variant");
                    Err(Error::Unsupported { operation, device, what, hint })
                }
                Err(error) => Err(error),
            },
        }
    }
}

/// Reads the pairs of operation and variant from the environment. They apply to devices that run kernels; errors in
/// them are reported by every device.
pub(crate) fn environment() -> Result<Vec<(&'static str, &'static str)>> {
    match std::env::var_os(NAME) {
        Some(text) => parse(&text.to_string_lossy()),
        None => Ok(Vec::new()),
    }
}

fn parse(text: &str) -> Result<Vec<(&'static str, &'static str)>> {
    let mut forced: Vec<(&str, &str)> = Vec::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let wrong = |parameter, limit: String| Error::parameter(NAME, parameter, format!("'{entry}'"), limit);
        let (operation, name) = entry.split_once('=').unwrap_or((entry, ""));
        let Some(known) = VARIANTS.iter().find(|known| known.operation == operation.trim()) else {
            let mut operations: Vec<&str> = Vec::new();
            for known in VARIANTS.iter() {
                if !operations.contains(&known.operation) {
                    operations.push(known.operation);
                }
            }
            return Err(wrong("an entry", format!("OPERATION=VARIANT, with one of {}", operations.join(", "))));
        };
        let Some(variant) = variants(known.operation).find(|variant| variant.name == name.trim()) else {
            let names: Vec<_> = variants(known.operation).map(|known| known.name).collect();
            return Err(wrong("an entry", format!("{}= and one of {}", known.operation, names.join(", "))));
        };
        if forced.iter().any(|(operation, _)| *operation == known.operation) {
            return Err(wrong("an entry", format!("the only one for {}", known.operation)));
        }
        forced.push((variant.operation, variant.name));
    }
    Ok(forced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn entries_name_an_operation_and_its_variant() {
        assert_eq!(parse("").unwrap(), []);
        assert_eq!(parse("correlate=conv2d-tiled").unwrap(), [("correlate", "conv2d-tiled")]);
        let both = parse(" separable = conv1d-simple ,correlate=conv2d-naive,").unwrap();
        assert_eq!(both, [("separable", "conv1d-simple"), ("correlate", "conv2d-naive")]);
    }

    #[test]
    fn names_that_do_not_exist_are_usage_errors_that_name_what_does() {
        for (text, part) in [
            ("blur=tiled", "correlate, "),
            ("conv2d-tiled", "OPERATION=VARIANT"),
            ("correlate", "one of words-line, conv1d-line"),
            ("correlate=", "conv2d-blocked, conv2d-tiled"),
            ("correlate=conv1d-fused", "'correlate=conv1d-fused', but must be correlate= and one of"),
            ("histogram=conv2d-tiled,correlate=conv2d-tiled", "histogram-columns"),
            ("correlate=conv2d-tiled,correlate=conv2d-naive", "'correlate=conv2d-naive', but must be the only one"),
            ("correlate=conv2d-tiled;separable=conv1d-fused", "one of"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{text}");
            let error = error.to_string();
            assert!(error.starts_with("APRON_VARIANT: ") && error.contains(part), "{text}: {error}");
        }
    }
}
