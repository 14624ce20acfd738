//! Conversion of Apron's errors to Python's exceptions.

use apron::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyTypeError, PyValueError};

/// Converts an error to the exception type that Python's users expect, with Apron's message.
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
