//! Whole numbers and sequences as Python gives them: what does not fit is a `ValueError` that names the limit.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// A whole number of any size.
pub(crate) enum Whole {
    Number(i64),
    /// What 64 bits do not hold, as text.
    Beyond(String),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Whole {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Whole> {
        match given.extract() {
            Ok(number) => Ok(Whole::Number(number)),
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
                Ok(Whole::Beyond(given.str()?.to_string()))
            }
            Err(error) => Err(error),
        }
    }
}

impl Whole {
    /// Returns the number, which has to be `low` to `high`.
    pub(crate) fn within<T: TryFrom<i64>>(self, what: &str, low: i64, high: i64) -> PyResult<T> {
        let text = match self {
            Whole::Number(number) => match T::try_from(number) {
                Ok(found) if (low..=high).contains(&number) => return Ok(found),
                _ => number.to_string(),
            },
            Whole::Beyond(text) => text,
        };
        Err(PyValueError::new_err(format!("apron: {what} is {text}, but must be {low} to {high}")))
    }
}

/// Returns the items of a sequence of `COUNT`; `names` are what they are.
pub(crate) fn items<T, const COUNT: usize>(given: &Bound<'_, PyAny>, what: &str, names: &str) -> PyResult<[T; COUNT]>
where
    T: for<'a, 'py> FromPyObject<'a, 'py>,
{
    let wrong = || format!("apron: {what} is {}, but must be {names}", text(given));
    let Ok(all) = given.try_iter() else { return Err(PyTypeError::new_err(wrong())) };
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(wrong()));
    }
    let all = all.collect::<PyResult<Vec<_>>>()?;
    let items = all.iter().map(|item| item.extract().map_err(|_| PyTypeError::new_err(wrong())));
    let items: Vec<T> = items.collect::<PyResult<_>>()?;
    items.try_into().map_err(|_| PyValueError::new_err(wrong()))
}

fn text(given: &Bound<'_, PyAny>) -> String {
    given.repr().map_or_else(|_| "?".to_string(), |text| text.to_string())
}
