#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod backend;
mod device;
mod device_image;
mod filter;
mod histogram;
mod histogram256;
mod kernels;
mod limits;
mod report;

pub use apron_core::{
    AnyImage, Bins, Border, DeviceInfo, Error, ErrorKind, Histogram, Image, Limit, MAX_MASK_SIDE, MAX_SIDE, Mask,
    Method, Pixel, PixelType, Result, Shape, Taps, filters,
};
pub use apron_plan::Machine;
pub use device::{Device, DeviceName, devices, ptx_target};
pub use device_image::{DeviceImage, Source};
pub use filter::Filter;
pub use histogram::HistogramOf;
pub use histogram256::Histogram256;
pub use kernels::{KernelInfo, SharedSize, kernels};
pub use limits::LimitRun;
pub use report::Report;

/// The PTX that build.rs embedded.
#[cfg(feature = "gpu")]
mod ptx {
    use apron_abi::Family;
    use apron_gpu::Ptx;

    pub(crate) static PTX: &[Ptx] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));
}
