//! Named filters as data: the macro for their entries, and the types that it produces.

use crate::volumes::Form;
use crate::{Error, Formula, Result};
use std::fmt::{self, Display};

/// A named filter as data: its names, what it computes and by whose conventions, its parameters, and examples.
#[derive(Debug)]
pub struct Definition {
    /// The verb of the command line, such as `motion-blur`.
    pub name: &'static str,
    /// Other names of the verb.
    pub aliases: &'static [&'static str],
    /// A library's function that computes the same, or where the definition is from.
    pub source: &'static str,
    /// Example arguments of the verb: files and options.
    pub examples: &'static [&'static str],
    /// The parameters: first the arguments of the library's method, then the options that have setters.
    pub parameters: &'static [Parameter],
    pub(super) docs: &'static [&'static str],
    pub(super) make: fn(Given<'_>) -> Result<Formula>,
    pub(crate) volume: Option<Form>,
}

/// A lookup of a parameter's text by name; `None` if it is not given.
pub(crate) type Given<'g> = &'g dyn Fn(&str) -> Option<String>;

impl Definition {
    /// Returns one line on what the filter computes, without a full stop.
    pub fn summary(&self) -> String {
        plain(&self.docs[..1]).trim_end_matches('.').to_string()
    }

    /// Returns the paragraphs after the summary, up to the first heading or code block, which are for programmers only.
    pub fn about(&self) -> String {
        let of_code = |line: &&&str| !line.trim_start().starts_with(['#', '`']);
        let lines: Vec<&str> = self.docs[1..].iter().take_while(of_code).copied().collect();
        plain(&lines)
    }

    /// Builds the formula from parameters that are given as text; the others have their defaults.
    ///
    /// # Errors
    /// [`Error::Parameter`] for text that cannot be parsed, for a value that is not allowed, and for a missing
    /// parameter without a default.
    pub fn formula(&self, given: impl Fn(&str) -> Option<String>) -> Result<Formula> {
        (self.make)(&given)
    }
}

/// Formats lines of a doc comment for a terminal: keeps line breaks, and drops code marks.
fn plain(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join("\n").replace('`', "").trim().to_string()
}

/// A parameter of a named filter.
#[derive(Debug)]
pub struct Parameter {
    /// The option of the command line, without leading dashes, such as `sigma-low`.
    pub name: &'static str,
    /// The values that are valid for some values of the other parameters.
    pub allowed: Allowed,
    /// The unit, or an empty string.
    pub unit: &'static str,
    /// Whether it is an argument of the library's method, in this order, and so has no setter.
    pub argument: bool,
    /// Placeholder of a value in usages, such as `S[,SY]`; empty for a flag.
    pub shape: &'static str,
    /// All values, if they have names.
    pub choices: &'static [&'static str],
    pub(super) docs: &'static [&'static str],
    pub(super) default: Option<fn() -> String>,
    pub(super) check: fn(&str) -> Result<(), String>,
}

impl Parameter {
    /// Returns the meaning, the allowed values and the unit.
    pub fn help(&self) -> String {
        let meaning = plain(self.docs).replace('\n', " ");
        let limits = match self.allowed {
            Allowed::Any => self.unit.to_string(),
            allowed => format!("{allowed} {}", self.unit),
        };
        let meaning = meaning.trim_end_matches('.');
        if limits.is_empty() { meaning.into() } else { format!("{meaning} ({})", limits.trim_end()) }
    }

    /// Returns the default as text; `None` if a value is required.
    pub fn default(&self) -> Option<String> {
        self.default.map(|default| default())
    }

    /// Checks that a text is a value of this parameter's type, allowed or not.
    ///
    /// # Errors
    /// A description of the expected text.
    pub fn check(&self, text: &str) -> Result<(), String> {
        (self.check)(text)
    }
}

/// The allowed values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// All values of its type.
    Any,
    /// Finite numbers.
    Finite,
    /// Finite numbers from 0.
    NotNegative,
    /// These numbers.
    OneOf(&'static [u32]),
    /// Integers from the first to the last.
    Between(u32, u32),
}

impl Allowed {
    pub(super) fn has(self, number: f64) -> bool {
        match self {
            Allowed::Any => true,
            Allowed::Finite => number.is_finite(),
            Allowed::NotNegative => number >= 0.0,
            Allowed::OneOf(numbers) => numbers.iter().any(|&one| f64::from(one) == number),
            Allowed::Between(first, last) => (f64::from(first)..=f64::from(last)).contains(&number),
        }
    }
}

impl Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Any => write!(f, "any"),
            Allowed::Finite => write!(f, "finite"),
            Allowed::NotNegative => write!(f, "0 or more"),
            Allowed::Between(first, last) => write!(f, "{first} to {last}"),
            Allowed::OneOf(numbers) => {
                let names: Vec<String> = numbers.iter().map(u32::to_string).collect();
                match &names[..] {
                    [first @ .., last] if !first.is_empty() => write!(f, "{} or {last}", first.join(", ")),
                    names => write!(f, "{}", names.concat()),
                }
            }
        }
    }
}

/// A type of parameters: parsed by [`read`](Value::read), printed by [`Display`].
pub trait Value: Copy + Display {
    /// Placeholder of a value in usages; empty for a flag.
    const SHAPE: &'static str;
    /// Description of the expected text.
    const WANTED: &'static str;
    /// All values, if they have names.
    const CHOICES: &'static [&'static str] = &[];

    /// Parses a value.
    fn read(text: &str) -> Option<Self>;

    /// Returns the first of its numbers that is not allowed.
    fn refused(self, _allowed: Allowed) -> Option<f64> {
        None
    }
}

impl Value for u32 {
    const SHAPE: &'static str = "N";
    const WANTED: &'static str = "a whole number from 0";

    fn read(text: &str) -> Option<u32> {
        text.parse().ok()
    }

    fn refused(self, allowed: Allowed) -> Option<f64> {
        f64::from(self).refused(allowed)
    }
}

impl Value for f64 {
    const SHAPE: &'static str = "F";
    const WANTED: &'static str = "a number";

    fn read(text: &str) -> Option<f64> {
        text.parse().ok()
    }

    fn refused(self, allowed: Allowed) -> Option<f64> {
        (!allowed.has(self)).then_some(self)
    }
}

impl Value for bool {
    const SHAPE: &'static str = "";
    const WANTED: &'static str = "true or false";

    fn read(text: &str) -> Option<bool> {
        text.parse().ok()
    }
}

/// Checks that a text is a value of the type; else returns what is expected.
pub(super) fn check<V: Value>(text: &str) -> Result<(), String> {
    V::read(text).map(drop).ok_or_else(|| format!("must be {}", V::WANTED))
}

/// Returns the value that is given, or the default.
pub(super) fn value<V: Value>(
    filter: &'static str,
    parameter: &'static str,
    given: Given<'_>,
    default: Option<V>,
) -> Result<V> {
    match given(parameter) {
        Some(text) => V::read(&text).ok_or_else(|| Error::parameter(filter, parameter, format!("'{text}'"), V::WANTED)),
        None => default.ok_or_else(|| Error::parameter(filter, parameter, "not given", V::WANTED)),
    }
}

/// Checks a value against what is allowed.
pub(crate) fn hold(filter: &'static str, parameter: &'static str, value: impl Value, allowed: Allowed) -> Result<()> {
    match value.refused(allowed) {
        Some(number) => Err(Error::parameter(filter, parameter, number, allowed.to_string())),
        None => Ok(()),
    }
}

/// Turns an identifier into text, with dashes for underscores.
macro_rules! dashed {
    ($name:ident) => {
        const {
            const TEXT: &[u8] = stringify!($name).as_bytes();
            const DASHED: [u8; TEXT.len()] = {
                let mut bytes = [b'-'; TEXT.len()];
                let mut i = 0;
                while i < TEXT.len() {
                    if TEXT[i] != b'_' {
                        bytes[i] = TEXT[i];
                    }
                    i += 1;
                }
                bytes
            };
            match std::str::from_utf8(&DASHED) {
                Ok(text) => text,
                Err(_) => panic!("identifiers are text"),
            }
        }
    };
}

/// Maps a parameter's type to the type of the library's argument: numbers and flags as they are, else `impl Into`.
macro_rules! given {
    (u32) => { u32 };
    (f64) => { f64 };
    (bool) => { bool };
    ($Value:ident) => { impl Into<$Value> };
}

/// Wraps a default into an `Option`.
macro_rules! default {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

/// Makes the data of a parameter.
macro_rules! parameter {
    ([$($doc:literal)*] $name:ident: $Value:ident [$($default:expr)?], $allowed:expr, $unit:expr, $argument:expr) => {
        $crate::filters::definition::Parameter {
            name: dashed!($name),
            allowed: $allowed,
            unit: $unit,
            argument: $argument,
            shape: <$Value as Value>::SHAPE,
            choices: <$Value as Value>::CHOICES,
            docs: &[$($doc),*],
            default: default!($({ fn default() -> String { <$Value as From<$Value>>::from($default).to_string() } default })?),
            check: $crate::filters::definition::check::<$Value>,
        }
    };
}

/// Named filters, each from one entry:
///
/// ```text
/// /// Summary.
/// ///
/// /// What it computes, also for the command line's help; then `# Errors` and examples for programmers.
/// method(
///     /// An argument of the library's method.
///     sigma: Sigma, NotNegative, "pixels";
/// ) -> Filter {
///     /// What a setter sets: type, default, what is allowed, and the unit if there is one.
///     amount: f64 = 1.0, Finite;
/// }
/// also ["other-name"]
/// source "who has the same"
/// examples ["photo.png out.png --sigma 2"]
/// volume Some(|of| volumes::gaussian(of.each("sigma")?, [0; 3], 4.0));
/// ```
///
/// An entry needs an `impl Filter { fn build(self) -> Result<Formula> }` next to it, which may assume allowed values.
/// `volume` is the filter's form in three dimensions, or `None`.
macro_rules! filters {
    ($(
        #[doc = $summary:literal] $(#[doc = $doc:literal])*
        $method:ident($(
            $(#[doc = $arg_doc:literal])*
            $arg:ident: $Arg:ident $(= $arg_default:expr)?, $arg_allowed:expr $(, $arg_unit:literal)?;
        )*) -> $Filter:ident {$(
            $(#[doc = $option_doc:literal])*
            $option:ident: $Option:ident = $option_default:expr, $option_allowed:expr $(, $option_unit:literal)?;
        )*}
        $(also [$($alias:literal),*])?
        source $source:literal
        examples [$($example:literal),+ $(,)?]
        volume $volume:expr;
    )*) => {
        /// The filters that this file defines.
        #[deny(dead_code)]
        pub(super) const DEFINITIONS: &[$crate::filters::Definition] = &[$($crate::filters::Definition {
            name: dashed!($method),
            aliases: &[$($($alias),*)?],
            source: $source,
            examples: &[$($example),+],
            parameters: &[
                $(parameter!([$($arg_doc)*] $arg: $Arg [$($arg_default)?], $arg_allowed, concat!($($arg_unit)?), true),)*
                $(parameter!([$($option_doc)*] $option: $Option [$option_default], $option_allowed, concat!($($option_unit)?), false),)*
            ],
            docs: &[$summary, $($doc),*],
            make: |_given| $crate::Named::formula(&$Filter {
                $($arg: $crate::filters::definition::value(
                    dashed!($method), dashed!($arg), _given, default!($($arg_default)?),
                )?,)*
                $($option: $crate::filters::definition::value(
                    dashed!($method), dashed!($option), _given, Some($option_default),
                )?,)*
            }),
            volume: $volume,
        }),*];

        $(
            #[doc = $summary] $(#[doc = $doc])*
            #[doc = concat!("\n\nSource: ", $source, ".")]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $Filter {
                $($(#[doc = $arg_doc])*
                #[doc = concat!("\n\nTakes `", stringify!($arg_allowed), "`" $(, ", in ", $arg_unit)?, ".")]
                pub $arg: $Arg,)*
                $($(#[doc = $option_doc])*
                #[doc = concat!("\n\nTakes `", stringify!($option_allowed), "`" $(, ", in ", $option_unit)?, ".")]
                pub $option: $Option,)*
            }

            impl $Filter {
                /// Makes the filter with the defaults of all options.
                #[allow(clippy::new_without_default)]
                pub fn new($($arg: given!($Arg)),*) -> $Filter {
                    $Filter { $($arg: $arg.into(),)* $($option: $option_default,)* }
                }
            }

            impl $crate::Named for $Filter {
                fn formula(&self) -> $crate::Result<$crate::Formula> {
                    $($crate::filters::definition::hold(dashed!($method), dashed!($arg), self.$arg, $arg_allowed)?;)*
                    $($crate::filters::definition::hold(dashed!($method), dashed!($option), self.$option, $option_allowed)?;)*
                    self.build()
                }
            }

            impl $crate::Device {
                #[doc = $summary]
                #[doc = concat!("\n\nThe defaults, limits and errors: [`", stringify!($Filter), "`](crate::filters::", stringify!($Filter), ").")]
                pub fn $method<'a>(
                    &'a self,
                    image: impl Into<$crate::Source<'a>>,
                    $($arg: given!($Arg)),*
                ) -> $crate::FilterBuilder<'a, $Filter> {
                    self.apply(image, $Filter::new($($arg),*))
                }
            }

            impl $crate::FilterBuilder<'_, $Filter> {
                $($(#[doc = $option_doc])*
                #[doc = concat!("\n\nTakes `", stringify!($option_allowed), "`" $(, ", in ", $option_unit)?, "; `", stringify!($option_default), "` if not said.")]
                pub fn $option(mut self, $option: given!($Option)) -> Self {
                    self.named.$option = $option.into();
                    self
                })*
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::definitions;

    #[test]
    fn definitions_are_whole() {
        let mut names: Vec<&str> = Vec::new();
        for definition in definitions() {
            let name = definition.name;
            names.extend(definition.aliases.iter().chain([&name]).copied());
            assert!(!definition.summary().contains('\n') && !definition.summary().contains("  "), "{name}");
            assert!(!definition.about().is_empty() && !definition.source.ends_with('.'), "{name}");
            for parameter in definition.parameters {
                let (name, help) = (parameter.name, parameter.help());
                assert!(!help.is_empty() && !help.contains('\n'), "{name}");
                assert!(parameter.argument || parameter.default().is_some(), "{name}");
                // Defaults and choices, as printed, can be parsed.
                assert_eq!(parameter.default().map(|text| parameter.check(&text)), parameter.default().map(|_| Ok(())));
                assert!(parameter.choices.iter().all(|choice| parameter.check(choice).is_ok()), "{name}");
            }
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }

    #[test]
    fn parameters_are_read_from_text_and_held_to_what_is_allowed() {
        let find = |name: &str| definitions().find(|definition| definition.name == name).unwrap();
        let sobel = |text: &[(&str, &str)]| {
            let text: Vec<(String, String)> = text.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
            find("sobel").formula(|name| text.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()))
        };
        let named = crate::filters::Sobel { ksize: 5, scale: 0.5, ..crate::filters::Sobel::new(1, 0) };
        let expected = crate::Named::formula(&named).unwrap();
        assert_eq!(sobel(&[("dx", "1"), ("ksize", "5"), ("scale", "0.5")]).unwrap(), expected);
        for (text, part) in [
            (("ksize", "4"), "ksize is 4, but must be 1, 3, 5 or 7"),
            (("ksize", "x"), "ksize is 'x', but must be a whole number from 0"),
            (("delta", "inf"), "delta is inf, but must be finite"),
        ] {
            let error = sobel(&[("dx", "1"), text]).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
        let error = find("motion-blur").formula(|_| None).unwrap_err();
        assert!(error.to_string().contains("length is not given"), "{error}");
    }

    #[test]
    fn what_is_allowed_is_said() {
        assert_eq!(Allowed::OneOf(&[1, 3, 5]).to_string(), "1, 3 or 5");
        assert_eq!(Allowed::OneOf(&[4]).to_string(), "4");
        for (allowed, inside, outside) in [
            (Allowed::Finite, -1.0, f64::NAN),
            (Allowed::NotNegative, 0.0, -1.0),
            (Allowed::NotNegative, f64::INFINITY, f64::NAN),
            (Allowed::OneOf(&[1, 3]), 3.0, 2.0),
            (Allowed::Between(1, 3), 3.0, 4.0),
        ] {
            assert!(allowed.has(inside) && !allowed.has(outside), "{allowed}");
        }
    }
}
