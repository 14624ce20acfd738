//! Definitions that the host and the kernels share, each written once.
//!
//! The crate is compiled for the host and for the GPU, `no_std`. It has no `unsafe` code except for the promise that a
//! bool's byte is plain memory, and the GPU's instruction that rounds sums.
#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![deny(unsafe_code)]

mod border;
mod boxes;
mod cast;
mod conv1d;
mod conv2d;
mod element;
mod fft;
mod half;
mod histogram;
mod integers;
mod kernel;
mod limits;
mod local;
mod lookup;
mod march;
mod ordered;
mod paired;
mod params;
mod patch;
mod pixel;
mod pointwise;
pub mod reciprocal;
mod rgba;
mod statistics;
mod totals;
mod volumes;
mod windows;
mod words;

pub use border::BorderMode;
pub use boxes::*;
pub use cast::{Cast, Overflow, Rounding};
pub use conv1d::*;
pub use conv2d::*;
pub use element::{Element, ElementType};
pub use fft::*;
pub use half::Half;
pub use histogram::*;
pub use integers::{Bool, Ordered};
pub use kernel::*;
pub use limits::*;
pub use local::*;
pub use lookup::*;
pub use march::*;
pub use ordered::*;
pub use paired::*;
pub use params::*;
pub use patch::*;
pub use pixel::{Accumulator, FromSum, Pixel, Sample};
pub use pointwise::*;
pub use rgba::*;
pub use statistics::*;
pub use totals::*;
pub use volumes::*;
pub use windows::*;
pub use words::*;
