//! The filters of volumes by name, from parameters that are given as text.

use super::VolumeFormula;
use crate::filters::{Definition, definitions};
use crate::{Error, MAX_MASK_SIDE, Result};
use std::fmt::Display;
use std::str::FromStr;

/// A lookup of a parameter's text by name; `None` if it is not given.
type Given<'g> = &'g dyn Fn(&str) -> Option<String>;

/// A named filter: its parameters, and how it is made of them.
type Named = (&'static str, &'static [&'static str], fn(Parameters<'_>) -> Result<VolumeFormula>);

/// All named filters. Those of images that are not here have no form in three dimensions yet.
const NAMED: &[Named] = &[
    ("gaussian", &["sigma", "order", "truncate"], gaussian),
    ("gaussian-derivative", &["sigma", "order", "truncate"], gaussian),
    ("laplacian-of-gaussian", &["sigma", "truncate"], |of| {
        super::laplacian_of_gaussian(of.each("sigma", ',', 0.0)?, of.one("truncate", 4.0)?)
    }),
    ("gaussian-gradient", &["sigma", "truncate"], |of| {
        super::gaussian_gradient(of.each("sigma", ',', 0.0)?, of.one("truncate", 4.0)?)
    }),
    ("sobel", &["dx", "dy"], |of| super::sobel(of.axis()?)),
    ("prewitt", &["dx", "dy"], |of| super::prewitt(of.axis()?)),
    ("gradient", &[], |_| super::gradient()),
    ("laplacian", &[], |_| super::laplacian()),
    ("box", &["size"], |of| super::mean(of.size()?)),
    ("local-mean", &["size"], |of| super::mean(of.size()?)),
    ("local-std", &["size"], |of| super::deviation(of.size()?)),
    ("unsharp", &["sigma", "amount", "threshold"], |of| {
        super::unsharp(of.each("sigma", ',', 0.0)?, of.one("amount", 1.0)?, of.one("threshold", 0.0)?)
    }),
];

fn gaussian(of: Parameters<'_>) -> Result<VolumeFormula> {
    super::gaussian(of.each("sigma", ',', 0.0)?, of.each("order", ',', 0)?, of.one("truncate", 4.0)?)
}

/// Lists the names of the filters that volumes have.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|named| named.0)
}

/// Returns whether a text is a value for each of the three axes, such as `2,2,1` or `5x5x3`.
pub fn is_value(text: &str) -> bool {
    [',', 'x'].iter().any(|&separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        parts.len() == 3 && parts.iter().all(|part| part.trim().parse::<f64>().is_ok())
    })
}

/// Makes a named filter from parameters that are given as text; the others have their defaults. A parameter of an axis is one
/// value for all, or one for each: x, y and z.
///
/// ```
/// use apron::volumes;
///
/// let given = |name: &str| (name == "sigma").then(|| "2,2,1".to_string());
/// assert_eq!(volumes::formula("gaussian", given)?, volumes::gaussian([2.0, 2.0, 1.0], [0; 3], 4.0)?);
/// assert!(volumes::formula("emboss", |_| None).is_err());
/// # Ok::<(), apron::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for a name that volumes do not have, for text that cannot be parsed, and for a value that is not allowed.
pub fn formula(name: &str, given: impl Fn(&str) -> Option<String>) -> Result<VolumeFormula> {
    let Some((verb, taken, make)) = NAMED.iter().find(|named| named.0 == name) else {
        let names: Vec<&str> = names().collect();
        let limit = format!("one of {}", names.join(", "));
        return Err(Error::parameter("volume", "filter", format!("'{name}'"), limit));
    };
    let definition = definitions().find(|definition| definition.name == *verb);
    if let Some(Definition { parameters, .. }) = definition {
        for parameter in parameters.iter().filter(|parameter| !taken.contains(&parameter.name)) {
            let default = parameter.default().unwrap_or_default();
            if let Some(value) = given(parameter.name).filter(|value| *value != default) {
                return Err(Error::parameter(verb, parameter.name, value, format!("{default}, for volumes")));
            }
        }
    }
    let has_dz = ["sobel", "prewitt"].contains(verb);
    if let Some(dz) = given("dz").filter(|_| !has_dz) {
        return Err(Error::parameter(verb, "dz", dz, "left out: it is for sobel and prewitt"));
    }
    make(Parameters { verb, given: &given })
}

/// The parameters of a filter.
#[derive(Clone, Copy)]
struct Parameters<'g> {
    verb: &'static str,
    given: Given<'g>,
}

impl Parameters<'_> {
    /// Reads a number.
    fn one<N: FromStr>(&self, name: &'static str, default: N) -> Result<N> {
        let Some(text) = (self.given)(name) else { return Ok(default) };
        text.trim().parse().map_err(|_| Error::parameter(self.verb, name, format!("'{text}'"), "a number"))
    }

    /// Reads one number for all axes, or one for each.
    fn each<N: FromStr + Copy + Display>(&self, name: &'static str, separator: char, default: N) -> Result<[N; 3]> {
        let Some(text) = (self.given)(name) else { return Ok([default; 3]) };
        let wrong = || {
            let limit = format!("one value for all axes, or three, as x{separator}y{separator}z");
            Error::parameter(self.verb, name, format!("'{text}'"), limit)
        };
        let numbers: Vec<N> =
            text.split(separator).map(|one| one.trim().parse().map_err(|_| wrong())).collect::<Result<_>>()?;
        match numbers[..] {
            [all] => Ok([all; 3]),
            [x, y, z] => Ok([x, y, z]),
            _ => Err(wrong()),
        }
    }

    fn size(&self) -> Result<[u32; 3]> {
        if (self.given)("size").is_none() {
            return Err(Error::parameter(self.verb, "size", "not given", format!("1 to {MAX_MASK_SIDE}")));
        }
        self.each("size", 'x', 1)
    }

    /// Reads the axis of a first derivative.
    fn axis(&self) -> Result<usize> {
        let orders = [self.one("dx", 0)?, self.one("dy", 0)?, self.one("dz", 0u32)?];
        match orders {
            [1, 0, 0] => Ok(0),
            [0, 1, 0] => Ok(1),
            [0, 0, 1] => Ok(2),
            [x, y, z] => {
                let limit = "1 for one axis, and 0 for the others";
                Err(Error::parameter(self.verb, "dx, dy and dz", format!("{x}, {y} and {z}"), limit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, given: &[(&str, &str)]) -> Result<VolumeFormula> {
        let given: Vec<(String, String)> =
            given.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
        formula(name, |name| given.iter().find(|(key, _)| key == name).map(|(_, text)| text.clone()))
    }

    #[test]
    fn every_axis_has_its_own_value() {
        assert_eq!(of("box", &[("size", "5x3x1")]).unwrap(), super::super::mean([5, 3, 1]).unwrap());
        assert_eq!(of("local-mean", &[("size", "3")]).unwrap(), super::super::mean([3; 3]).unwrap());
        assert_eq!(of("sobel", &[("dx", "0"), ("dy", "0"), ("dz", "1")]).unwrap(), super::super::sobel(2).unwrap());
        let orders = of("gaussian", &[("sigma", "1"), ("order", "0,1,3")]).unwrap();
        assert_eq!(orders, super::super::gaussian([1.0; 3], [0, 1, 3], 4.0).unwrap());
        assert!(is_value("2,2,1") && is_value("5x5x3") && !is_value("2,1") && !is_value("a,b,c"));
    }

    #[test]
    fn what_can_never_be_right_is_refused() {
        for (name, given, part) in [
            ("emboss", &[][..], "filter is 'emboss'"),
            ("gaussian", &[("sigma", "1,2")], "sigma is '1,2', but must be one value for all axes, or three"),
            ("gaussian", &[("sigma", "-1")], "sigma is -1"),
            ("gaussian", &[("sigma", "1"), ("order", "4")], "order is 4"),
            ("gaussian", &[("sigma", "1"), ("dz", "1")], "dz is 1"),
            ("sobel", &[("dx", "1"), ("dz", "1")], "1, 0 and 1"),
            ("sobel", &[("dx", "1"), ("ksize", "5")], "ksize is 5, but must be 3, for volumes"),
            ("gradient", &[("direction", "true")], "direction is true"),
            ("box", &[], "size is not given"),
            ("box", &[("size", "0")], "size is 0"),
            ("box", &[("size", "70000x1x1")], "size is 70000"),
            ("unsharp", &[("sigma", "1"), ("amount", "x")], "amount is 'x'"),
        ] {
            let error = of(name, given).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
