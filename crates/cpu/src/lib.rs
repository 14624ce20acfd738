//! The parallel CPU backend: the operations of `apron-reference` on all cores, with the vector instructions that are
//! detected at run time.
//!
//! Each sum is taken in the reference's order (mask rows from the top, columns from the left, one fused multiply-add
//! per tap, from +0), so results are bit for bit equal to the reference's. Many sums are computed side by side in
//! vector lanes; no sum is split.
#![deny(unsafe_code)]
#![warn(missing_debug_implementations)]

pub mod any;
mod boxes;
mod by_strips;
mod cast;
mod conv1d;
mod conv2d;
mod divisor;
mod equal;
mod fft;
mod filter;
mod histogram;
mod joint;
mod limits;
mod local_std;
mod lookup;
mod low_rank;
mod narrowing;
mod pad;
mod pages;
mod paired;
mod parallel;
mod percentiles;
mod pointwise;
mod rounding;
mod rows;
mod scaled;
mod simd;
mod statistics;
mod tiles;
mod volume;
mod weigh;
mod weighted;
mod windows;

pub use boxes::{box_filter, box_filter_into};
pub use by_strips::{FirstPass, SecondPass};
pub use conv1d::{separable, separable_into};
pub use conv2d::{correlate, correlate_into};
pub use fft::{fft, fft_into};
pub use histogram::{byte_histogram, count, histogram};
pub use joint::{column_extremes, joint, joint_sparse, joint_weighted};
pub use limits::LimitRun;
pub use local_std::{local_std, local_std_into};
pub use lookup::{clahe, clahe_into, equalize, equalize_into, lookup, lookup_into};
pub use low_rank::{low_rank, low_rank_into};
pub use narrowing::Narrowing;
pub use pad::{pad, pad_into};
pub use pages::{copied, image_from_bytes};
pub use paired::{paired, paired_into};
pub use parallel::{Job, progress, serially};
pub use percentiles::percentiles;
pub use pointwise::{pointwise, pointwise_into};
pub use scaled::{scaled, scaled_into};
pub use statistics::{statistics, totals};
pub use volume::{volume, volume_into};
pub use weigh::Fma;
pub use weighted::weighted;
