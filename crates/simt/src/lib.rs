//! Thread blocks on the host, with the GPU's own kernel bodies and block sizes. Reports every rule that a kernel
//! breaks: accesses out of bounds, reads of uninitialised memory, data races between barriers, and barriers that not
//! every thread of a block reaches.
//!
//! Blocks run one after another; inside a block every thread runs up to its next barrier before any continues. Races
//! are found from the accesses since the last barrier, and do not depend on the order of execution.
//!
//! This crate depends on the kernels and not on the planning crates: all kernels are compiled for the host here, and
//! only a change of a kernel compiles them again.
#![deny(unsafe_code)]
#![warn(missing_debug_implementations)]

mod fault;
mod global;
mod launch;
mod shared;
mod thread;

pub use fault::Fault;
pub use global::Memory;
pub use launch::{Geometry, launch};
pub use thread::{Costs, Thread};

use apron_abi::{Kernel, Params};

/// Runs a kernel of the table for every thread of the grid, and counts its accesses.
///
/// # Errors
/// The first [`Fault`], at the end of the block in which it happened.
///
/// # Panics
/// If the kernel does not take such parameters, and as [`launch`].
pub fn launch_kernel(
    memory: &mut Memory,
    geometry: &Geometry,
    taps: &[f32],
    kernel: Kernel,
    [src, dst]: [u64; 2],
    params: &Params,
) -> Result<Costs, Fault> {
    launch(memory, geometry, taps, |thread| {
        // SAFETY: every access is checked, so every breach of the launch contract is reported.
        #[allow(unsafe_code)]
        unsafe {
            kernels_gpu::run_on(thread, kernel, src, dst, params);
        }
    })
}
