//! Kernels that measure the limits of the hardware (speed of light), with which the other kernels are compared.

mod ffma;
mod read;

pub use ffma::Ffma;
pub use read::Read;
