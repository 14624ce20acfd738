//! From a problem to the backend that solves it.

mod computed;
mod filter;
mod histogram;
mod joint;
mod kernels;
mod lookup;
#[cfg(feature = "gpu")]
mod parts;
mod percentiles;
mod search;
mod select;
mod statistics;
#[cfg(feature = "gpu")]
mod strips;
mod weighted;

use crate::auto::Estimate;
use crate::by_rows::read_whole;
use crate::choice::{self, Choice};
use crate::device_image::Made;
use crate::target::Room;
use crate::{
    AnyImage, DeviceHistogram, DeviceImage, DeviceInfo, DeviceName, Error, GpuSet, Image, PixelType, Report, Result,
    Shape, Source,
};
#[cfg(feature = "gpu")]
use apron_gpu::{Gpu, GpuBuffer};
use apron_plan::Machine;
#[cfg(feature = "gpu")]
use apron_plan::batch_bytes;
use std::time::{Duration, Instant};

pub(crate) use computed::computed;
pub(crate) use histogram::Counting;
pub(crate) use kernels::Written;
pub(crate) use lookup::Tables;
pub(crate) use statistics::totals_of;

/// The implementation behind a device.
#[derive(Clone)]
pub(crate) enum Backend {
    #[cfg(feature = "gpu")]
    Gpu(Gpu),
    Cpu,
    Emulator,
    Reference,
}

/// Pixels of a [`DeviceImage`], by memory space.
pub(crate) enum Storage {
    /// One entry per image of a batch.
    Host(Vec<AnyImage<'static>>),
    /// All images of a batch, [`apron_plan::image_step`] apart.
    #[cfg(feature = "gpu")]
    Gpu(GpuBuffer),
}

/// A result whose report can be given another reason.
pub(crate) trait Explained {
    fn explain(self, why: &str, estimate: Option<Estimate>) -> Self;
    /// Returns the report, without the time of kernels that may still run.
    fn ran(&self) -> &Report;
}

/// A result on the host, and its report.
pub(crate) struct Reported<T> {
    pub(crate) result: T,
    pub(crate) report: Report,
}

impl<T> Explained for Reported<T> {
    fn explain(mut self, why: &str, estimate: Option<Estimate>) -> Self {
        self.report.explain(why, estimate);
        self
    }

    fn ran(&self) -> &Report {
        &self.report
    }
}

/// The result of an operation: an image or, if the result is in a room, only the facts about it.
pub(crate) struct Solved {
    pub(crate) shape: Shape,
    pub(crate) pixel: PixelType,
    pub(crate) images: u32,
    /// `None` if the result is in the room.
    pub(crate) storage: Option<Storage>,
    pub(crate) made: Made,
}

impl Solved {
    /// Returns the image of an operation that was given no room.
    pub(crate) fn into_image(self) -> DeviceImage {
        let storage = self.storage.expect("an image, without a room");
        DeviceImage::new(self.shape, self.pixel, self.images, storage, self.made)
    }
}

impl Explained for Solved {
    fn explain(mut self, why: &str, estimate: Option<Estimate>) -> Self {
        self.made.report.explain(why, estimate);
        self
    }

    fn ran(&self) -> &Report {
        &self.made.report
    }
}

impl Explained for DeviceHistogram {
    fn explain(mut self, why: &str, estimate: Option<Estimate>) -> Self {
        self.made.report.explain(why, estimate);
        self
    }

    fn ran(&self) -> &Report {
        &self.made.report
    }
}

impl Backend {
    #[cfg(feature = "gpu")]
    pub(crate) fn open_gpu(ordinal: u32) -> Result<Backend> {
        Ok(Backend::Gpu(Gpu::open(ordinal, crate::MODULES)?))
    }

    /// Opens several GPUs as one; all if none is named.
    #[cfg(feature = "gpu")]
    pub(crate) fn open_gpus(set: GpuSet) -> Result<Backend> {
        let ordinals: Vec<u32> = match set.ordinals() {
            Some(ordinals) => ordinals.collect(),
            None => devices()?.iter().map(|info| info.ordinal).collect(),
        };
        Ok(Backend::Gpu(Gpu::open_team(&ordinals, crate::MODULES)?))
    }

    #[cfg(not(feature = "gpu"))]
    pub(crate) fn open_gpus(_set: GpuSet) -> Result<Backend> {
        Err(no_gpu_support())
    }

    /// Returns the devices that share the jobs of this one, each by itself.
    pub(crate) fn members(&self) -> Vec<Backend> {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.members().map(Backend::Gpu).collect(),
            other => vec![other.clone()],
        }
    }

    /// Looks for a driver, without starting it.
    #[cfg(feature = "gpu")]
    pub(crate) fn find_gpu() -> Result<()> {
        apron_gpu::find_driver()
    }

    #[cfg(not(feature = "gpu"))]
    pub(crate) fn find_gpu() -> Result<()> {
        Err(no_gpu_support())
    }

    #[cfg(not(feature = "gpu"))]
    pub(crate) fn open_gpu(_ordinal: u32) -> Result<Backend> {
        Err(no_gpu_support())
    }

    pub(crate) fn name(&self) -> DeviceName {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) if gpu.is_team() => {
                DeviceName::Gpus(GpuSet::of(gpu.members().map(|gpu| gpu.info().ordinal)))
            }
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => DeviceName::Gpu(gpu.info().ordinal),
            Backend::Cpu => DeviceName::Cpu,
            Backend::Emulator => DeviceName::Emulator,
            Backend::Reference => DeviceName::Reference,
        }
    }

    /// Returns the properties that the plan depends on; `None` where no kernels run.
    pub(crate) fn machine(&self) -> Option<Machine> {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Some(gpu.machine()),
            Backend::Emulator => Some(Machine::EMULATED),
            Backend::Cpu | Backend::Reference => None,
        }
    }

    pub(crate) fn new_stream(&self) -> Result<Backend> {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Ok(Backend::Gpu(gpu.new_stream()?)),
            other => Ok(other.clone()),
        }
    }

    pub(crate) fn synchronize(&self) -> Result<()> {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.synchronize(),
            _ => Ok(()),
        }
    }

    pub(crate) fn keep_memory(&self, keep: bool) {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.keep_memory(keep),
            _ => _ = keep,
        }
    }

    pub(crate) fn allocations(&self) -> u64 {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => gpu.allocations(),
            _ => 0,
        }
    }

    /// Returns the image on this device; it is copied only if it is elsewhere.
    pub(crate) fn import(&self, source: &Source<'_>, operation: &'static str) -> Result<DeviceImage> {
        if let Source::Rows(rows) = source {
            return self.import(&Source::Host(read_whole(*rows)?), operation);
        }
        let (shape, pixel) = (source.shape(), source.pixel_type());
        let start = Instant::now();
        let storage = match (self, source) {
            #[cfg(feature = "gpu")]
            (Backend::Gpu(gpu), Source::Host(image)) => {
                let buffer = GpuBuffer::from_rows(gpu, operation, strips::rows(image))?;
                // So that the copy is timed, not only its enqueuing.
                gpu.synchronize()?;
                Storage::Gpu(buffer)
            }
            #[cfg(feature = "gpu")]
            (Backend::Gpu(gpu), Source::Device(image)) => match &*image.storage {
                Storage::Gpu(buffer) if buffer.is_on(gpu) => return Ok((*image).clone()),
                _ if image.images > 1 => return self.gather(&image.download_batch_any()?, operation),
                _ => return self.import(&Source::Host(image.download_any()?), operation),
            },
            (_, Source::Rows(rows)) => Storage::Host(vec![read_whole(*rows)?]),
            (_, Source::Host(image)) => Storage::Host(vec![apron_cpu::copied(image)?]),
            (_, Source::Device(image)) => match &*image.storage {
                Storage::Host(_) => return Ok((*image).clone()),
                #[cfg(feature = "gpu")]
                Storage::Gpu(_) => Storage::Host(image.download_batch_any()?),
            },
        };
        let report = self.report(operation, "copy", "asked for", start.elapsed());
        Ok(DeviceImage::new(shape, pixel, source.images(), storage, Made::on_host(report)))
    }

    /// Copies images of one shape and type to this device as a batch.
    pub(crate) fn gather(&self, images: &[AnyImage<'_>], operation: &'static str) -> Result<DeviceImage> {
        let (shape, pixel) = (images[0].shape(), images[0].pixel_type());
        let start = Instant::now();
        let storage = match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let bytes = shape.samples() * pixel.size_bytes() as u64;
                let buffer = GpuBuffer::uninitialized(gpu, operation, batch_bytes(images.len() as u32, bytes))?;
                for (image, index) in images.iter().zip(0..) {
                    buffer.image(index, bytes).write_from(strips::rows(image))?;
                }
                gpu.synchronize()?;
                Storage::Gpu(buffer)
            }
            _ => Storage::Host(images.iter().map(|image| image.view().into_owned()).collect()),
        };
        let report = self.report(operation, "copy", "asked for", start.elapsed());
        Ok(DeviceImage::new(shape, pixel, images.len() as u32, storage, Made::on_host(report)))
    }

    /// Returns images of zeros.
    pub(crate) fn zeros(&self, shape: Shape, pixel: PixelType, images: u32) -> Result<DeviceImage> {
        const OPERATION: &str = "zeros";
        let Shape { width, height, channels } = shape;
        let shape = Shape::new(width, height, channels)?;
        let storage = match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let bytes = shape.samples() * pixel.size_bytes() as u64;
                Storage::Gpu(GpuBuffer::zeroed(gpu, OPERATION, batch_bytes(images, bytes))?)
            }
            _ => {
                let zeros = (0..images).map(|_| AnyImage::from_bytes(pixel, shape, |_| Ok(())));
                Storage::Host(zeros.collect::<Result<_>>()?)
            }
        };
        let report = self.report(OPERATION, "zeros", "asked for", Duration::ZERO);
        Ok(DeviceImage::new(shape, pixel, images, storage, Made::on_host(report)))
    }

    /// Allocates an image or a batch of the shape of `image` on a GPU, without initialising it.
    #[cfg(feature = "gpu")]
    pub(crate) fn room_for(&self, image: &DeviceImage, operation: &'static str) -> Result<DeviceImage> {
        let Backend::Gpu(gpu) = self else {
            let (device, what, hint) = (self.name().to_string(), "room for an image".into(), String::new());
            return Err(Error::Unsupported { operation, device, what, hint });
        };
        let bytes = batch_bytes(image.images, image.bytes());
        let storage = Storage::Gpu(GpuBuffer::uninitialized(gpu, operation, bytes)?);
        let report = self.report(operation, "copy", "asked for", Duration::ZERO);
        Ok(DeviceImage::new(image.shape, image.pixel, image.images, storage, Made::on_host(report)))
    }

    /// Runs an operation on a host device, in parallel or serially.
    pub(crate) fn by_host<T>(
        &self,
        operation: &'static str,
        source: &Source<'_>,
        variant: Option<&str>,
        run: impl FnOnce(&AnyImage<'_>, bool) -> T,
    ) -> Result<(&'static str, T)> {
        if self.machine().is_some() {
            let what = format!("{operation} of {} pixels", source.pixel_type());
            let (device, hint) = (self.name().to_string(), "use --device cpu".into());
            return Err(Error::Unsupported { operation, device, what, hint });
        }
        let name = self.host_variant(operation, &Choice { variant, tuning: None })?;
        source.check_alone(operation)?;
        Ok((name, run(&host_image(source, 0)?, matches!(self, Backend::Cpu))))
    }

    /// Returns the name of a host device's only implementation.
    fn host_variant(&self, operation: &'static str, choice: &Choice<'_>) -> Result<&'static str> {
        let own = if let Backend::Cpu = self { "parallel" } else { "serial" };
        choice::environment()?;
        match choice.variant {
            Some(name) if name != own => {
                let limit = format!("{own} on the {} device", self.name());
                Err(Error::parameter(operation, "variant", format!("'{name}'"), limit))
            }
            _ => Ok(own),
        }
    }

    pub(crate) fn report(&self, operation: &'static str, variant: &str, why: &str, copy_in: Duration) -> Report {
        let (device, variant, why) = (self.name().to_string(), variant.into(), why.into());
        let (method, why_method, grid, kernels) = (None, String::new(), String::new(), Duration::ZERO);
        Report {
            operation,
            device,
            method,
            why_method,
            variant,
            why,
            grid,
            copy_in,
            kernels,
            estimate: None,
            error_bound: None,
        }
    }
}

pub(crate) const HOST_WHY: &str = "the only variant of this device";

impl Made {
    pub(crate) fn on_host(report: Report) -> Made {
        Made {
            report,
            before: Vec::new(),
            #[cfg(feature = "gpu")]
            timer: None,
        }
    }

    /// Returns the report when the kernels are done. Operations of a recorded chain have no time of their own.
    pub(crate) fn report(&self) -> Result<Report> {
        let report = self.report.clone();
        #[cfg(feature = "gpu")]
        let report = match &self.timer {
            Some(timer) => Report { kernels: report.kernels + timer.elapsed()?, ..report },
            None => report,
        };
        self.before.iter().rev().try_fold(report, |report, part| Ok(report.after(part.report()?)))
    }
}

/// Moves the host's outputs into the room, if there is one.
fn placed(outputs: Vec<AnyImage<'static>>, room: Option<&mut Room<'_>>) -> Result<Option<Storage>> {
    match room {
        Some(room) => outputs.iter().enumerate().try_for_each(|(index, image)| room.put(index, image)).map(|()| None),
        None => Ok(Some(Storage::Host(outputs))),
    }
}

/// Returns an image on the host: the source's, or a copy of it.
pub(crate) fn host_whole<'a>(source: &'a Source<'_>) -> Result<AnyImage<'a>> {
    source.check_alone("histogramdd")?;
    host_image(source, 0)
}

/// Returns the image if its samples are u8, else an error.
fn bytes<'a>(operation: &'static str, image: &'a AnyImage<'_>) -> Result<&'a Image<'a, u8>> {
    match image {
        AnyImage::U8(image) => Ok(image),
        other => Err(Error::PixelType { operation, found: other.pixel_type(), expected: "u8".into() }),
    }
}

/// Returns one image of a source on the host; it is copied only if it is elsewhere.
fn host_image<'a>(source: &'a Source<'_>, index: u32) -> Result<AnyImage<'a>> {
    match source {
        Source::Host(image) => Ok(image.view()),
        Source::Rows(rows) => read_whole(*rows),
        Source::Device(image) => match &*image.storage {
            Storage::Host(images) => Ok(images[index as usize].view()),
            #[cfg(feature = "gpu")]
            Storage::Gpu(_) => image.image(index)?.download_any(),
        },
    }
}

#[cfg(feature = "gpu")]
pub(crate) fn devices() -> Result<Vec<DeviceInfo>> {
    apron_gpu::devices()
}

#[cfg(feature = "gpu")]
pub(crate) fn ptx_target(info: &DeviceInfo) -> Option<u32> {
    apron_gpu::ptx_target(info, &crate::MODULES)
}

#[cfg(not(feature = "gpu"))]
fn no_gpu_support() -> Error {
    Error::NoDevice { device: "gpu".into(), reason: "this build has no GPU support (feature `gpu`)".into() }
}

#[cfg(not(feature = "gpu"))]
pub(crate) fn devices() -> Result<Vec<DeviceInfo>> {
    Err(no_gpu_support())
}

#[cfg(not(feature = "gpu"))]
pub(crate) fn ptx_target(_info: &DeviceInfo) -> Option<u32> {
    None
}
