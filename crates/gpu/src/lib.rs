//! Runs recipes on NVIDIA GPUs.
//!
//! [`Gpu`] is a device with a stream; [`GpuBuffer`] is memory of the device. Work is ordered by streams: calls return
//! when their work is enqueued, and [`GpuBuffer::read`] waits for it.
#![warn(missing_debug_implementations)]

mod buffer;
mod device;
mod error;
mod execute;
mod foreign;
mod host_rows;
mod lanes;
mod limits;
mod memory;
mod module;
mod record;
mod rows;
mod staging;
mod stream;
mod strips;
mod symbol;
mod team;
mod texture;

pub use buffer::GpuBuffer;
pub use cust;
pub use device::{Gpu, devices, find_driver, ptx_target};
pub use execute::Timer;
pub use host_rows::{HostRows, HostRowsMut};
pub use limits::LimitRun;
pub use module::Modules;
pub use record::Recorded;
pub use rows::Rows;
pub use staging::PinnedMemory;
pub use strips::{StripJob, run_strips};
pub use team::{Parts, share};
