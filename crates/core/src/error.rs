//! The errors of all crates, in one enum.

use crate::{PixelType, Shape};

/// A result with the error type [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause of an error, and so what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An invalid parameter: change the call.
    Usage,
    /// Data that the operation does not take: change the data.
    Input,
    /// The device lacks something or failed: try another device.
    Device,
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ErrorKind::Usage => "usage",
            ErrorKind::Input => "input",
            ErrorKind::Device => "device",
        })
    }
}

/// Every error; each names the value and the limit. [`kind`](Error::kind) tells what a caller can do about it.
///
/// ```
/// use apron_core::{ErrorKind, Image};
///
/// let error = Image::new(2, 2, 5, vec![0u8; 20]).unwrap_err();
/// assert_eq!(error.to_string(), "image: channels is 5, but must be 1 to 4");
/// assert_eq!(error.kind(), ErrorKind::Input);
/// let error = "mirror".parse::<apron_core::Border>().unwrap_err();
/// assert!(error.to_string().starts_with("border is 'mirror', but must be "));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid parameter.
    #[error("{}{parameter} is {value}, but must be {limit}", prefix(.operation, .parameter))]
    Parameter {
        /// The requested operation.
        operation: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        limit: String,
    },
    /// An image whose shape is invalid or does not fit its data.
    #[error("image: {what} is {value}, but must be {limit}")]
    Shape {
        /// The part of the shape.
        what: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        limit: String,
    },
    /// No window of the mask lies inside the image, and the border is crop.
    #[error("{operation}: a {mask_width}x{mask_height} mask has no full window in a {shape} image (border crop)")]
    NoWindow {
        /// The requested operation.
        operation: &'static str,
        /// Mask width, in taps.
        mask_width: u32,
        /// Mask height, in taps.
        mask_height: u32,
        /// The image's shape.
        shape: Shape,
    },
    /// Samples of a type that the operation does not take.
    #[error("{operation}: pixels are {found}, but must be {expected}")]
    PixelType {
        /// The requested operation.
        operation: &'static str,
        /// The type found.
        found: PixelType,
        /// The types that it takes.
        expected: String,
    },
    /// Sample values that the operation cannot handle, such as NaN where the range depends on them.
    #[error("{operation}: {what}")]
    Samples {
        /// The requested operation.
        operation: &'static str,
        /// The problem with them.
        what: String,
    },
    /// An operation that the device does not support at this size or type.
    #[error("{operation}: the {device} device does not have {what}; {hint}")]
    Unsupported {
        /// The requested operation.
        operation: &'static str,
        /// The device.
        device: String,
        /// The unsupported feature.
        what: String,
        /// An alternative.
        hint: String,
    },
    /// A device that does not exist.
    #[error("no {device} device: {reason}")]
    NoDevice {
        /// The requested device.
        device: String,
        /// The reason.
        reason: String,
    },
    /// Too little device memory; the device stays usable.
    #[error("{operation}: out of device memory for {bytes} bytes; use a smaller image or --device cpu")]
    OutOfMemory {
        /// The requested operation.
        operation: &'static str,
        /// The size of the failed allocation, in bytes.
        bytes: u64,
        /// The driver's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An error of the driver.
    #[error("{operation}: the CUDA driver failed ({source}); {hint}")]
    Driver {
        /// The step that failed.
        operation: String,
        /// A suggestion.
        hint: &'static str,
        /// The driver's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A result that differs from the serial reference.
    #[error("{operation}: {what}")]
    Mismatch {
        /// The checked operation.
        operation: &'static str,
        /// The first difference, with both values.
        what: String,
    },
    /// Rows of an image that could not be read or written.
    #[error("{what}: {source}")]
    Rows {
        /// What was done with which rows.
        what: String,
        /// The error of the source or the destination.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A violation that the emulator found in a kernel.
    #[error("emulator: {fault}")]
    Fault {
        /// Kernel, block, thread, address and the violation.
        fault: String,
    },
}

/// Returns the start of a message about a parameter: the operation, unless both have one name.
fn prefix(operation: &str, parameter: &str) -> String {
    if operation == parameter { String::new() } else { format!("{operation}: ") }
}

impl Error {
    /// Creates the error of an invalid parameter.
    pub fn parameter(
        operation: &'static str,
        parameter: &'static str,
        value: impl ToString,
        limit: impl Into<String>,
    ) -> Error {
        Error::Parameter { operation, parameter, value: value.to_string(), limit: limit.into() }
    }

    /// Returns the cause of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Parameter { .. } => ErrorKind::Usage,
            Error::Shape { .. } | Error::NoWindow { .. } | Error::PixelType { .. } | Error::Samples { .. } => {
                ErrorKind::Input
            }
            _ => ErrorKind::Device,
        }
    }
}
