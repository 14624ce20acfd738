//! Apron's errors as Python's.

use apron::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};

/// Makes Python's error of the kind that a caller expects, with Apron's message.
pub(crate) fn raised(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::PixelType { .. } => PyTypeError::new_err(message),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(message),
        Error::Shape { .. } if message.contains("memory") => PyMemoryError::new_err(message),
        Error::Parameter { .. } | Error::Shape { .. } | Error::NoWindow { .. } | Error::Samples { .. } => {
            PyValueError::new_err(message)
        }
        _ => PyRuntimeError::new_err(message),
    }
}
