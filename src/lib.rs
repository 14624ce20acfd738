#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod alpha;
mod backend;
mod chain;
mod choice;
mod device;
mod device_image;
mod filter;
mod formula;
mod histogram;
mod histogram256;
mod kernels;
mod limits;
mod named;
mod pad;
mod report;
mod statistics;
mod tone;
mod weighted;

pub use apron_core::{
    AnyImage, Binning, Bins, Border, Borders, Constants, DeviceInfo, Edges, Error, ErrorKind, Extent, Formula,
    Histogram, Histogram2d, Image, Limit, MAX_MASK_SIDE, MAX_SIDE, Mask, Method, Named, Outside, Pixel, PixelType,
    PointOp, Region, Result, Shape, Statistics, Taps, WeightedHistogram, f16, filters, multi_otsu, otsu,
};
pub use apron_plan::{Machine, Tuning};
pub use chain::Chain;
pub use device::{Device, DeviceName, devices, ptx_target};
pub use device_image::{DeviceImage, Source};
pub use filter::Filter;
pub use histogram::{DeviceHistogram, HistogramOf};
pub use histogram256::Histogram256;
pub use kernels::{KernelInfo, SharedSize, kernels};
pub use limits::LimitRun;
pub use named::NamedFilter;
pub use pad::PadOf;
pub use report::Report;
pub use statistics::StatisticsOf;
pub use tone::ToneOf;

/// The PTX that build.rs embedded.
#[cfg(feature = "gpu")]
mod ptx {
    use apron_abi::Family;
    use apron_gpu::Ptx;

    pub(crate) static PTX: &[Ptx] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));
}
