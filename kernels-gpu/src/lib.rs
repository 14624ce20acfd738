//! Apron's GPU kernels.
//!
//! A kernel's body is written once, generic over [`device::Device`], the few operations of a GPU thread. Three
//! implementations run it: inline PTX on the GPU (compiled by rustc), `cuda_std` (compiled by Rust-CUDA, feature
//! `rust-cuda`), and host code in the emulator. The entries that a launch names are generated from the kernel table
//! in `apron-abi`.
#![no_std]
// An iterator over an array would keep it in local memory; an index that unrolls leaves it in registers.
#![allow(clippy::needless_range_loop, clippy::manual_memcpy)]
#![cfg_attr(
    all(target_arch = "nvptx64", not(feature = "rust-cuda")),
    feature(abi_ptx, abi_unadjusted, stdarch_nvptx, asm_experimental_arch, core_intrinsics, link_llvm_intrinsics),
    allow(internal_features)
)]

pub mod boxes;
pub mod conv1d;
pub mod conv2d;
pub mod device;
mod entry;
pub mod fft;
pub mod histogram;
pub mod limits;
pub mod local;
pub mod lookup;
pub mod march;
pub mod paired;
pub mod patch;
pub mod pointwise;
pub mod rgba;
pub mod samples;
pub mod statistics;
mod taps;
pub mod volumes;
pub mod windows;
pub mod words;

#[cfg(any(not(target_arch = "nvptx64"), feature = "rust-cuda"))]
pub use entry::*;

use device::{Device, Global};

/// A kernel's body, the same for every device.
pub trait Body {
    /// Element type of the source buffer.
    type Src;
    /// Element type of the destination buffer.
    type Dst;
    /// The launch's parameters.
    type Params;

    /// Runs the kernel as one thread.
    ///
    /// # Safety
    /// The launch contract in the body's documentation holds.
    unsafe fn run<D: Device>(d: D, src: Global<Self::Src>, dst: Global<Self::Dst>, p: &Self::Params);
}

#[cfg(all(target_arch = "nvptx64", not(feature = "rust-cuda")))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // A kernel cannot report a panic: it traps, which the host sees as a failed launch.
    device::nvptx::trap()
}

/// Returns quotient and remainder. The launch contract excludes a zero divisor; the compiler's check for one would put
/// a panic, and so a call, into the kernel.
///
/// # Safety
/// `divisor` is not 0.
#[inline(always)]
unsafe fn div_rem(value: u32, divisor: u32) -> (u32, u32) {
    // SAFETY: the caller's promise.
    unsafe { core::hint::assert_unchecked(divisor != 0) };
    (value / divisor, value % divisor)
}
