//! What the host and the kernels agree on, each fact written once.
//!
//! `no_std` and free of `unsafe`: this crate is compiled for the host and for the GPU.
#![no_std]
#![forbid(unsafe_code)]

mod border;
mod box_filter;
mod edges;
mod element;
mod equalize;
mod half;
mod params;
mod pixel;
mod pointwise;
pub mod reciprocal;
mod table;
mod tiles;

pub use border::BorderMode;
pub use box_filter::*;
pub use edges::nearest_edge;
pub use element::{Element, ElementType};
pub use equalize::equalized;
pub use half::Half;
pub use params::*;
pub use pixel::{Accumulator, FromSum, Pixel, Sample};
pub use pointwise::*;
pub use table::*;
pub use tiles::{between_tiles, bilinear};
