//! The filters of volumes by name, from parameters that are given as text.

use super::VolumeFormula;
use crate::filters::definition::{Given, hold};
use crate::filters::{Allowed, Definition, Parameter, Value, definitions};
use crate::{Error, Result};
use std::cell::RefCell;

/// A named filter's form in three dimensions: how its formula is made of the filter's parameters.
pub(crate) type Form = fn(&Parameters<'_>) -> Result<VolumeFormula>;

/// Verbs of operations that are no named filters, and the named filters that compute the same.
const OPERATIONS: [(&str, &str); 2] = [("gaussian", "gaussian-derivative"), ("box", "local-mean")];

/// Lists the names of the filters that volumes have.
pub fn names() -> impl Iterator<Item = &'static str> {
    let named = definitions().filter(|definition| definition.volume.is_some()).map(|definition| definition.name);
    OPERATIONS.iter().map(|operation| operation.0).chain(named)
}

/// Returns whether a text is a value for each of the three axes, such as `2,2,1` or `5x5x3`.
pub fn is_value(text: &str) -> bool {
    [',', 'x'].iter().any(|&separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        parts.len() == 3 && parts.iter().all(|part| part.trim().parse::<f64>().is_ok())
    })
}

/// Makes a named filter from parameters that are given as text; the others have their defaults. A parameter of an axis
/// is one value for all, or one for each: x, y and z.
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
/// [`Error::Parameter`] for a name that volumes do not have, for text that cannot be parsed, for a value that is not
/// allowed, and for a parameter that the filter has for images alone.
pub fn formula(name: &str, given: impl Fn(&str) -> Option<String>) -> Result<VolumeFormula> {
    let (operation, sought) = OPERATIONS.iter().find(|operation| operation.0 == name).copied().unzip();
    let sought = sought.unwrap_or(name);
    let found = definitions().find(|definition| definition.name == sought || definition.aliases.contains(&sought));
    let Some((definition, form)) = found.and_then(|definition| Some((definition, definition.volume?))) else {
        let limit = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        return Err(Error::parameter("volume", "filter", format!("'{name}'"), limit));
    };
    let verb = operation.unwrap_or(definition.name);
    let parameters = Parameters { verb, definition, given: &given, read: RefCell::default() };
    let formula = form(&parameters)?;
    parameters.check_unread()?;
    Ok(formula)
}

/// The order of a derivative along z, which images do not have.
const DZ: &str = "dz";

/// The parameters of a named filter, as its form reads them.
pub(crate) struct Parameters<'g> {
    verb: &'static str,
    definition: &'static Definition,
    given: Given<'g>,
    /// The names of the parameters that were read.
    read: RefCell<Vec<&'static str>>,
}

impl Parameters<'_> {
    fn find(&self, name: &str) -> Option<&'static Parameter> {
        self.definition.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Returns the text of a parameter, and what is allowed.
    fn text(&self, name: &'static str, wanted: &str) -> Result<(String, Allowed)> {
        self.read.borrow_mut().push(name);
        let parameter = self.find(name);
        let default = || parameter.and_then(Parameter::default);
        let text = (self.given)(name).or_else(default);
        let text = text.ok_or_else(|| Error::parameter(self.verb, name, "not given", wanted))?;
        Ok((text, parameter.map_or(Allowed::Any, |parameter| parameter.allowed)))
    }

    /// Reads a number.
    pub(crate) fn one<V: Value>(&self, name: &'static str) -> Result<V> {
        let (text, allowed) = self.text(name, V::WANTED)?;
        let value = V::read(text.trim());
        let value = value.ok_or_else(|| Error::parameter(self.verb, name, format!("'{text}'"), V::WANTED))?;
        hold(self.verb, name, value, allowed)?;
        Ok(value)
    }

    /// Reads one number for all axes, or one for each.
    pub(crate) fn each<V: Value>(&self, name: &'static str) -> Result<[V; 3]> {
        let separator = if self.find(name).is_some_and(|parameter| parameter.shape.contains('x')) { 'x' } else { ',' };
        let three = if separator == 'x' { "WxHxD" } else { "x,y,z" };
        let limit = format!("one value for all axes, or three, as {three}");
        let (text, allowed) = self.text(name, &limit)?;
        let numbers: Option<Vec<V>> = text.split(separator).map(|one| V::read(one.trim())).collect();
        let values = match numbers.as_deref() {
            Some(&[all]) => [all; 3],
            Some(&[x, y, z]) => [x, y, z],
            _ => return Err(Error::parameter(self.verb, name, format!("'{text}'"), limit)),
        };
        values.iter().try_for_each(|&value| hold(self.verb, name, value, allowed))?;
        Ok(values)
    }

    /// Reads the axis of a first derivative.
    pub(crate) fn axis(&self) -> Result<usize> {
        let z: u32 = if (self.given)(DZ).is_some() { self.one(DZ)? } else { 0 };
        match [self.one("dx")?, self.one("dy")?, z] {
            [1, 0, 0] => Ok(0),
            [0, 1, 0] => Ok(1),
            [0, 0, 1] => Ok(2),
            [x, y, z] => {
                let limit = "1 for one axis, and 0 for the others";
                Err(Error::parameter(self.verb, "dx, dy and dz", format!("{x}, {y} and {z}"), limit))
            }
        }
    }

    /// Finds a parameter that the form did not read, and whose value is not its default.
    fn check_unread(&self) -> Result<()> {
        let read = self.read.borrow();
        for parameter in self.definition.parameters.iter().filter(|parameter| !read.contains(&parameter.name)) {
            let default = parameter.default().unwrap_or_default();
            if let Some(value) = (self.given)(parameter.name).filter(|value| *value != default) {
                return Err(Error::parameter(self.verb, parameter.name, value, format!("{default}, for volumes")));
            }
        }
        match (self.given)(DZ).filter(|_| !read.contains(&DZ)) {
            Some(dz) => Err(Error::parameter(self.verb, DZ, dz, "left out: it is for sobel and prewitt")),
            None => Ok(()),
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
    fn defaults_are_the_definitions() {
        let unsharp = of("unsharp", &[("sigma", "2,1,0.5")]).unwrap();
        assert_eq!(unsharp, super::super::unsharp([2.0, 1.0, 0.5], 1.0, 0.0).unwrap());
        let log = of("log", &[("sigma", "1.5")]).unwrap();
        assert_eq!(log, super::super::laplacian_of_gaussian([1.5; 3], 4.0).unwrap());
        let dog = of("dog", &[("sigma-low", "1"), ("sigma-high", "2,2,1.5"), ("truncate", "3")]).unwrap();
        assert_eq!(dog, super::super::dog([1.0; 3], [2.0, 2.0, 1.5], 3.0).unwrap());
        // Each filter that volumes have can be made of no more than what has no default.
        for definition in definitions().filter(|definition| definition.volume.is_some()) {
            let missing = |name: &str| match definition.parameters.iter().find(|parameter| parameter.name == name) {
                Some(parameter) if parameter.default().is_none() => Some("1".to_string()),
                _ => (name == "dx").then(|| "1".to_string()),
            };
            formula(definition.name, missing).unwrap();
        }
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
            ("unsharp", &[("sigma", "1"), ("threshold", "-1")], "threshold is -1, but must be 0 or more"),
            ("dog", &[("sigma-low", "2"), ("sigma-high", "2,2,1")], "the wide sigma is 1, but must be 2 or more"),
        ] {
            let error = of(name, given).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
