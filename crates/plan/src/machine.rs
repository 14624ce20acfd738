//! What a plan must know of a GPU.

use crate::Tuning;

/// A GPU, as far as the choice of kernels and the sizes of grids depend on it. What a result is never does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The target of the PTX that it loads, as compute capability times ten: 90 for sm_90.
    pub target: u32,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory that a block may have, in bytes.
    pub shared_bytes: u32,
    /// How many times as long as in f32 a sum takes in f64.
    pub f64_ratio: u32,
    /// Numbers for grids instead of the tuning table's: a sweep tries them.
    pub tuning: Option<Tuning>,
}

impl Machine {
    /// The GPU that the emulator stands for: an H100.
    pub const EMULATED: Machine =
        Machine { target: 90, multiprocessors: 132, shared_bytes: 227 * 1024, f64_ratio: 2, tuning: None };
}
