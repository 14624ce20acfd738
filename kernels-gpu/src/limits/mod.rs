//! Kernels that measure what the machine can do, beside which the others are held.

mod ffma;
mod read;

pub use ffma::Ffma;
pub use read::Read;
