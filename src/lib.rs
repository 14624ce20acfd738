#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(missing_debug_implementations)]

mod alpha;
mod auto;
mod backend;
mod batch;
mod by_rows;
mod chain;
mod choice;
mod conversion;
#[cfg(feature = "gpu")]
mod cuda;
mod device;
mod device_image;
mod device_name;
mod filter;
pub mod filters;
mod formula;
mod histogram;
mod histogram256;
mod joint;
mod kernels;
mod limits;
mod lookup;
mod named;
mod options;
mod pad;
mod pinned;
mod report;
mod setters;
mod solve;
mod statistics;
mod target;
pub mod volumes;
mod weighted;

pub use apron_core::{
    AnyImage, AnyImageMut, AxisBorder, Binning, Bins, Bool, Border, Borders, Cast, Constants, DeviceInfo, Edges, Error,
    ErrorKind, Extent, Formula, Histogram, Histogram2d, HistogramDd, Image, ImageMut, Information, Limit,
    MAX_MASK_SIDE, MAX_SIDE, Mask, Method, Named, Overflow, Pixel, PixelType, PointOp, Region, Result, Rounding, Shape,
    SparseHistogram, Statistics, Taps, WeightedHistogram, f16, multi_otsu, otsu,
};
pub use apron_cpu::progress as cpu_progress;
/// The crate by which Apron calls CUDA, for the types of the caller's streams and memory. Call [`Device::gpu`] first:
/// it loads the driver, without which cust's functions fail.
#[cfg(feature = "gpu")]
pub use apron_gpu::cust;
pub use apron_plan::{Machine, Tuning};
pub use auto::Estimate;
/// The operation by whose measured times `auto` estimates a problem, for the sweep that measures them.
#[doc(hidden)]
pub use auto::cpu::timed_as;
pub use by_rows::{ReadRows, WriteRows};
pub use chain::Chain;
pub use device::{Device, devices, ptx_target};
pub use device_image::{DeviceImage, Source};
pub use device_name::{DeviceName, GpuSet};
pub use filter::FilterBuilder;
pub use histogram::{DeviceHistogram, HistogramBuilder};
pub use histogram256::Histogram256;
pub use joint::{HistogramDdBuilder, Table};
pub use kernels::{KernelInfo, SharedSize, kernels};
pub use limits::LimitRun;
pub use lookup::LookupBuilder;
pub use pad::PadBuilder;
pub use pinned::Pinned;
pub use report::Report;
pub use statistics::{PercentilesBuilder, StatisticsBuilder};
pub use target::Target;
pub use volumes::DeviceVolume;
pub use weighted::{Histogram2dBuilder, WeightedHistogramBuilder, Weights};

/// Compiles the examples of the page as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/library.md")]
mod library_page {}

/// The kernels for the GPU: embedded PTX and machine code, or with the feature `rust-cuda` what build.rs compiled.
#[cfg(feature = "gpu")]
const MODULES: apron_gpu::Modules = apron_gpu::Modules {
    ptx: &[&apron_ptx::PTX, &apron_ptx_march::PTX],
    machine_code: &[&apron_cubin::CUBIN],
    #[cfg(feature = "rust-cuda")]
    whole: Some((include_str!(concat!(env!("OUT_DIR"), "/rust-cuda.ptx")), 75)),
    #[cfg(not(feature = "rust-cuda"))]
    whole: None,
};
