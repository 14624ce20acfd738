//! What can go wrong, in one enum.

use crate::{PixelType, Shape};

/// A result with Apron's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose trouble an error is: what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A value that can never be right: change the call.
    Usage,
    /// Data that the operation does not take: change the data.
    Input,
    /// The device lacks something or failed: try another.
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

/// Everything that can go wrong: each names the value and the limit. [`kind`](Error::kind) says what a caller can do about it.
///
/// ```
/// use apron_core::{ErrorKind, Image};
///
/// let error = Image::new(2, 2, 5, vec![0u8; 20]).unwrap_err();
/// assert_eq!(error.to_string(), "image: channels is 5, but must be 1 to 4");
/// assert_eq!(error.kind(), ErrorKind::Input);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter that can never be right.
    #[error("{operation}: {parameter} is {value}, but must be {limit}")]
    Parameter {
        /// The operation that was asked for.
        operation: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        limit: String,
    },
    /// An image whose shape is impossible or does not fit its data.
    #[error("image: {what} is {value}, but must be {limit}")]
    Shape {
        /// The part of the shape.
        what: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        limit: String,
    },
    /// The mask has no full window in the image, and the border is crop.
    #[error("{operation}: a {mask_width}x{mask_height} mask has no full window in a {shape} image (border crop)")]
    NoWindow {
        /// The operation that was asked for.
        operation: &'static str,
        /// Mask width, in taps.
        mask_width: u32,
        /// Mask height, in taps.
        mask_height: u32,
        /// The image's shape.
        shape: Shape,
    },
    /// Pixels of a type that was not expected.
    #[error("{operation}: pixels are {found}, but must be {expected}")]
    PixelType {
        /// The operation that was asked for.
        operation: &'static str,
        /// The type found.
        found: PixelType,
        /// What would do.
        expected: String,
    },
    /// Samples that the operation cannot place, such as NaN in a range to be found.
    #[error("{operation}: {what}")]
    Samples {
        /// The operation that was asked for.
        operation: &'static str,
        /// What is wrong with them.
        what: String,
    },
    /// The device does not have the operation at this size or type yet.
    #[error("{operation}: the {device} device does not have {what}; {hint}")]
    Unsupported {
        /// The operation that was asked for.
        operation: &'static str,
        /// The device.
        device: String,
        /// What it lacks.
        what: String,
        /// What to do instead.
        hint: String,
    },
    /// There is no such device.
    #[error("no {device} device: {reason}")]
    NoDevice {
        /// The device that was asked for.
        device: String,
        /// Why it is not there.
        reason: String,
    },
    /// Device memory ran out; the device stays usable.
    #[error("{operation}: out of device memory for {bytes} bytes; use a smaller image or --device cpu")]
    OutOfMemory {
        /// The operation that was asked for.
        operation: &'static str,
        /// The size of the allocation that failed.
        bytes: u64,
        /// The driver's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The driver reported an error.
    #[error("{operation}: the CUDA driver failed ({source}); {hint}")]
    Driver {
        /// What was being done.
        operation: String,
        /// What to try.
        hint: &'static str,
        /// The driver's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A result is not what the serial reference gives.
    #[error("{operation}: {what}")]
    Mismatch {
        /// The operation that was checked.
        operation: &'static str,
        /// The first difference, with both values.
        what: String,
    },
    /// A kernel broke a rule in the emulator.
    #[error("emulator: {fault}")]
    Fault {
        /// Kernel, block, thread, address and what happened there.
        fault: String,
    },
}

impl Error {
    /// A parameter that can never be right.
    pub fn parameter(
        operation: &'static str,
        parameter: &'static str,
        value: impl ToString,
        limit: impl Into<String>,
    ) -> Error {
        Error::Parameter { operation, parameter, value: value.to_string(), limit: limit.into() }
    }

    /// Whose trouble it is.
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
