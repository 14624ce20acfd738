//! Apron's nouns: [`Image`], [`Mask`], [`Taps`], [`Border`], [`Bins`], [`Histogram`], the
//! [`Problem`] that an operation states with them, and the one [`Error`].
#![forbid(unsafe_code)]

mod border;
mod box_filter;
mod device;
mod error;
pub mod filters;
mod formula;
mod histogram;
mod image;
mod interop;
mod limit;
mod local_std;
mod mask;
mod method;
mod pointwise;
mod problem;
mod rank;
mod restate;

pub use apron_abi::{Accumulator, BOX_CHUNK, FromSum, Sample, direction};
pub use border::Border;
pub use box_filter::{BoxFilter, Scale};
pub use device::DeviceInfo;
pub use error::{Error, ErrorKind, Result};
pub use formula::{Formula, Named};
pub use histogram::{Bins, Edges, Histogram, join_extremes};
pub use image::{AnyImage, Image, MAX_SIDE, Pixel, PixelType, Shape};
pub use limit::Limit;
pub use local_std::LocalStd;
pub use mask::{MAX_MASK_SIDE, Mask, Taps};
pub use method::{ByMethod, Method};
pub use pointwise::{PointOp, Pointwise};
pub use problem::{ByteHistogram, Correlate, EdgeHistogram, Problem, Separable, Window};
