//! Conversion of the driver's errors.

use crate::device::OpenDevice;
use apron_core::Error;
use cust::error::CudaError;
use cust::sys::{CUresult, cudaError_enum};

const OTHERWISE: &str = "try again, or use --device cpu";

/// Returns the error of a driver call during `operation`.
pub(crate) fn driver(operation: impl Into<String>, source: CudaError) -> Error {
    let hint = match source {
        CudaError::IllegalAddress
        | CudaError::LaunchFailed
        | CudaError::LaunchTimeout
        | CudaError::EccUncorrectable
        | CudaError::HardwareStackError
        | CudaError::IllegalInstruction
        | CudaError::MisalignedAddress
        | CudaError::InvalidAddressSpace
        | CudaError::InvalidProgramCounter => {
            "the GPU context is lost, and every later call on it will fail: start the program again"
        }
        CudaError::InvalidPtx | CudaError::NoBinaryForGpu => {
            "the driver does not take this PTX: update it (530 or newer), or use --device cpu"
        }
        _ => OTHERWISE,
    };
    Error::Driver { operation: operation.into(), hint, source: source.into() }
}

/// Returns the error of an allocation: exhausted memory has its own variant.
pub(crate) fn allocation(operation: &'static str, bytes: u64, source: CudaError) -> Error {
    match source {
        CudaError::OutOfMemory => Error::OutOfMemory { operation, bytes, source: source.into() },
        other => driver(format!("{operation}: allocating {bytes} bytes"), other),
    }
}

/// Converts the status of a driver call that cust does not wrap.
pub(crate) fn checked(code: CUresult, operation: impl FnOnce() -> String) -> Result<(), Error> {
    match code {
        cudaError_enum::CUDA_SUCCESS => Ok(()),
        code => Err(Error::Driver { operation: operation(), hint: OTHERWISE, source: format!("{code:?}").into() }),
    }
}

/// Returns the error of an operation that is impossible while the caller captures the stream.
pub(crate) fn not_captured(device: &OpenDevice, what: &str, hint: &str) -> Error {
    let (device, what) = (format!("gpu:{}", device.ordinal()), format!("{what} while its stream is captured"));
    Error::Unsupported { operation: "capture", device, what, hint: hint.into() }
}

/// Returns the error of an operation that a recorded chain cannot contain.
pub(crate) fn not_recorded(device: &OpenDevice, what: &str, hint: &str) -> Error {
    let device = format!("gpu:{}", device.ordinal());
    Error::Unsupported { operation: "record", device, what: format!("{what} in a recorded chain"), hint: hint.into() }
}
