//! Plain serial references: simple loops without optimisation. All other backends are compared with them.
//!
//! The order of summation is part of the definition: mask rows from the top, columns from the left, one fused
//! multiply-add per tap, from +0; windows of equal weights have their own order ([`apron_core::BOX_CHUNK`]). Every
//! backend keeps this order, and so gives the same bits.
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

pub mod any;
mod box_filter;
mod conv1d;
mod conv2d;
mod fft;
mod histogram;
mod joint;
mod local_std;
mod lookup;
mod low_rank;
mod ordered_sum;
mod pad;
mod paired;
mod pointwise;
mod rgba;
mod scaled;
mod statistics;
mod volume;
mod weighted;

pub use box_filter::box_filter;
pub use conv1d::separable;
pub use conv2d::correlate;
pub use fft::fft;
pub use histogram::{byte_histogram, count, histogram};
pub use joint::{joint, joint_sparse, joint_weighted};
pub use local_std::local_std;
pub use lookup::{clahe, equalize, lookup};
pub use low_rank::low_rank;
pub use pad::pad;
pub use paired::paired;
pub use pointwise::pointwise;
pub use rgba::rgba3x3;
pub use scaled::scaled;
pub use statistics::{percentiles, statistics, totals};
pub use volume::volume;
pub use weighted::weighted;

use apron_core::Accumulator;

/// An accumulator with the host's fused multiply-add.
pub trait Fma: Accumulator {
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
}

impl Fma for f32 {
    #[inline(always)]
    fn fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }
}

impl Fma for f64 {
    #[inline(always)]
    fn fma(self, b: f64, c: f64) -> f64 {
        self.mul_add(b, c)
    }
}
