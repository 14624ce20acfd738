//! Kernels that measure the limits of the hardware, to which the other kernels are compared.

mod ffma;
mod read;

pub use ffma::Ffma;
pub use read::Read;
