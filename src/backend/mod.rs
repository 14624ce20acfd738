//! From a problem to the device that solves it.

mod histogram;
mod host;
mod tone;

use crate::choice::{self, Choice};
use crate::device_image::Made;
use crate::{AnyImage, DeviceHistogram, DeviceImage, DeviceInfo, DeviceName, Error, Report, Result, Source};
use apron_core::{Problem, Window};
#[cfg(feature = "gpu")]
use apron_gpu::{Gpu, GpuBuffer};
#[cfg(feature = "gpu")]
use apron_plan::ROW_ALIGNMENT;
use apron_plan::{Machine, Recipe};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use histogram::{Counting, Written};
pub(crate) use tone::Toning;

/// What runs problems.
#[derive(Clone)]
pub(crate) enum Backend {
    #[cfg(feature = "gpu")]
    Gpu(Gpu),
    Cpu,
    Emulator,
    Reference,
}

/// Where an image's pixels are.
pub(crate) enum Storage {
    Host(AnyImage<'static>),
    #[cfg(feature = "gpu")]
    Gpu(GpuBuffer),
}

/// A result whose report can take one more reason.
pub(crate) trait Explained {
    fn explain(self, why: &str) -> Self;
    /// The report, but for the time of kernels that may still run.
    fn ran(&self) -> &Report;
}

impl Explained for DeviceImage {
    fn explain(mut self, why: &str) -> Self {
        if let Some(made) = Arc::get_mut(&mut self.made) {
            made.report.why = format!("{}; {why}", made.report.why);
        }
        self
    }

    fn ran(&self) -> &Report {
        &self.made.report
    }
}

impl Explained for DeviceHistogram {
    fn explain(mut self, why: &str) -> Self {
        self.made.report.why = format!("{}; {why}", self.made.report.why);
        self
    }

    fn ran(&self) -> &Report {
        &self.made.report
    }
}

impl Backend {
    #[cfg(feature = "gpu")]
    pub(crate) fn open_gpu(ordinal: u32) -> Result<Backend> {
        Ok(Backend::Gpu(Gpu::open(ordinal, crate::ptx::PTX)?))
    }

    #[cfg(not(feature = "gpu"))]
    pub(crate) fn open_gpu(_ordinal: u32) -> Result<Backend> {
        Err(no_gpu_support())
    }

    pub(crate) fn name(&self) -> DeviceName {
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => DeviceName::Gpu(gpu.info().ordinal),
            Backend::Cpu => DeviceName::Cpu,
            Backend::Emulator => DeviceName::Emulator,
            Backend::Reference => DeviceName::Reference,
        }
    }

    /// What the plan knows of it, where kernels run.
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

    /// The image on this device; copied only if it is elsewhere.
    pub(crate) fn import(&self, source: &Source<'_>, operation: &'static str) -> Result<DeviceImage> {
        let (shape, pixel) = (source.shape(), source.pixel_type());
        let start = Instant::now();
        let storage = match (self, source) {
            #[cfg(feature = "gpu")]
            (Backend::Gpu(gpu), Source::Host(image)) => {
                let buffer = GpuBuffer::from_bytes(gpu, operation, &image.bytes())?;
                // So that the time below is the copy's.
                gpu.synchronize()?;
                Storage::Gpu(buffer)
            }
            #[cfg(feature = "gpu")]
            (Backend::Gpu(gpu), Source::Device(image)) => match &*image.storage {
                Storage::Gpu(buffer) if buffer.is_on(gpu) => return Ok((*image).clone()),
                _ => return self.import(&Source::Host(image.download_any()?), operation),
            },
            (_, Source::Host(image)) => Storage::Host(image.view().into_owned()),
            (_, Source::Device(image)) => match &*image.storage {
                Storage::Host(_) => return Ok((*image).clone()),
                #[cfg(feature = "gpu")]
                Storage::Gpu(_) => Storage::Host(image.download_any()?),
            },
        };
        let report = self.report(operation, "copy", "asked for", start.elapsed());
        Ok(DeviceImage::new(shape, pixel, storage, Made::on_host(report)))
    }

    /// An image as large as `image` on a GPU, which holds nothing yet.
    #[cfg(feature = "gpu")]
    pub(crate) fn room_for(&self, image: &DeviceImage, operation: &'static str) -> Result<DeviceImage> {
        let Backend::Gpu(gpu) = self else { unreachable!("a host's images need no room") };
        let bytes = image.shape.samples() * image.pixel.size_bytes() as u64;
        let storage = Storage::Gpu(GpuBuffer::uninitialized(gpu, operation, bytes)?);
        let report = self.report(operation, "copy", "asked for", Duration::ZERO);
        Ok(DeviceImage::new(image.shape, image.pixel, storage, Made::on_host(report)))
    }

    /// Solves a filter's problem, whose method was chosen for the reason `why`, for an image, or for two.
    pub(crate) fn filter(
        &self,
        problem: &Problem,
        why: &str,
        source: &Source<'_>,
        second: Option<&Source<'_>>,
        choice: &Choice<'_>,
    ) -> Result<DeviceImage> {
        let (dst, window) = match problem {
            Problem::Correlate(problem) => (problem.dst, problem.window()?),
            Problem::Separable(problem) => (problem.dst, problem.window()?),
            Problem::Box(problem) => (problem.dst, problem.window()?),
            Problem::LocalStd(problem) => (problem.dst, problem.window()?),
            Problem::Pointwise(problem) => {
                let of = |source: &Source<'_>| (source.shape(), source.pixel_type());
                problem.check_images(of(source), second.map(of))?;
                (problem.dst, Window { out: problem.shape, origin_x: 0, origin_y: 0 })
            }
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) | Problem::Tone(_) => {
                unreachable!("a histogram is no filter")
            }
        };
        let (storage, mut made) = match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let recipe = self.planned(problem, choice)?;
                let (input, copy_in) = self.import_timed(source, problem.operation())?;
                let second = second.map(|source| self.import_timed(source, problem.operation())).transpose()?;
                let copy_in = copy_in + second.as_ref().map_or(Duration::ZERO, |(_, copy_in)| *copy_in);
                let second = second.as_ref().map(|(image, _)| image);
                let (output, timer) = execute(gpu, &recipe, &input, second)?;
                let report = self.by_kernels(&recipe, copy_in, Duration::ZERO);
                (Storage::Gpu(output), Made { report, before: Vec::new(), timer })
            }
            Backend::Emulator => {
                let recipe = self.planned(problem, choice)?;
                let (input, second) = (host_image(source)?, second.map(host_image).transpose()?);
                let start = Instant::now();
                let bytes = emulate(&recipe, &input, second.as_ref())?;
                let time = start.elapsed();
                let output = AnyImage::from_bytes(dst, window.out, |out| {
                    out.copy_from_slice(&bytes);
                    Ok(())
                })?;
                let report = self.by_kernels(&recipe, Duration::ZERO, time);
                (Storage::Host(output), Made::on_host(report))
            }
            Backend::Cpu | Backend::Reference => {
                let name = self.host_variant(problem.operation(), choice)?;
                let (input, second) = (host_image(source)?, second.map(host_image).transpose()?);
                let start = Instant::now();
                let output = match self {
                    Backend::Cpu => host::cpu_filter(problem, &input, second.as_ref())?,
                    _ => host::reference_filter(problem, &input, second.as_ref())?,
                };
                let report = self.report(problem.operation(), name, HOST_WHY, Duration::ZERO);
                let report = Report { kernels: start.elapsed(), ..report };
                (Storage::Host(output), Made::on_host(report))
            }
        };
        (made.report.method, made.report.why_method) = (problem.method(), why.into());
        Ok(DeviceImage::new(window.out, dst, storage, made))
    }

    /// How this device, which runs kernels, solves a problem.
    pub(super) fn planned(&self, problem: &Problem, choice: &Choice<'_>) -> Result<Recipe> {
        let machine = Machine { tuning: choice.tuning, ..self.machine().expect("a device that runs kernels") };
        let recipe = choice.of(problem.operation(), |variant| apron_plan::plan(problem, variant, &machine));
        recipe.map_err(|error| self.refusing(error))
    }

    /// What a host device makes of an image, in parallel or not, by its one implementation.
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
        Ok((name, run(&host_image(source)?, matches!(self, Backend::Cpu))))
    }

    /// The one implementation that a host device has.
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

    /// The image on this device, and the time that it took to get there.
    fn import_timed(&self, source: &Source<'_>, operation: &'static str) -> Result<(DeviceImage, Duration)> {
        let imported = self.import(source, operation)?;
        let copy_in = if let Source::Host(_) = source { imported.made.report.copy_in } else { Duration::ZERO };
        Ok((imported, copy_in))
    }

    fn by_kernels(&self, recipe: &Recipe, copy_in: Duration, kernels: Duration) -> Report {
        let report = self.report(recipe.operation, recipe.variant, &recipe.why, copy_in);
        Report { grid: recipe.grid(), kernels, ..report }
    }

    /// The plan knows no devices by name: this one refuses.
    fn refusing(&self, error: Error) -> Error {
        match error {
            Error::Unsupported { operation, what, hint, .. } => {
                Error::Unsupported { operation, device: self.name().to_string(), what, hint }
            }
            other => other,
        }
    }

    pub(crate) fn report(&self, operation: &'static str, variant: &str, why: &str, copy_in: Duration) -> Report {
        let (device, variant, why) = (self.name().to_string(), variant.into(), why.into());
        let (method, why_method, grid, kernels) = (None, String::new(), String::new(), Duration::ZERO);
        Report { operation, device, method, why_method, variant, why, grid, copy_in, kernels }
    }
}

pub(crate) const HOST_WHY: &str = "the only variant of this device";

impl Made {
    fn on_host(report: Report) -> Made {
        Made {
            report,
            before: Vec::new(),
            #[cfg(feature = "gpu")]
            timer: None,
        }
    }

    /// The report, when the kernels are done; of a recorded chain they have no time of their own.
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

/// The pixels of an image that was imported to a GPU.
#[cfg(feature = "gpu")]
fn on_gpu(image: &DeviceImage) -> &GpuBuffer {
    match &*image.storage {
        Storage::Gpu(buffer) => buffer,
        Storage::Host(_) => unreachable!("imported to the GPU"),
    }
}

/// Runs a recipe on an image that was imported to the GPU, or on two. Rows with gaps are read as they lie where the
/// kernels can.
#[cfg(feature = "gpu")]
fn execute(
    gpu: &Gpu,
    recipe: &Recipe,
    image: &DeviceImage,
    second: Option<&DeviceImage>,
) -> Result<(GpuBuffer, Option<apron_gpu::Timer>)> {
    let aligned = |image: &DeviceImage| on_gpu(image).is_aligned_to(ROW_ALIGNMENT);
    // The image alone, without gaps, at a multiple of 16 bytes: where it is not, in a copy.
    let packed = |image: &DeviceImage| {
        let copy = || on_gpu(image).packed(gpu, recipe.operation, image.rows());
        if image.is_packed() && aligned(image) { Ok(on_gpu(image).clone()) } else { copy() }
    };
    let second = second.map(packed).transpose()?;
    let gaps = !image.is_packed() && aligned(image) && second.is_none();
    match gaps.then(|| recipe.clone().with_row_stride(image.shape, image.row_stride)).flatten() {
        Some(recipe) => gpu.execute(&recipe, on_gpu(image)),
        None => gpu.execute_beside(recipe, &packed(image)?, second.as_ref()),
    }
}

/// The same in the emulator, and what the recipe writes.
fn emulate(recipe: &Recipe, image: &AnyImage<'_>, second: Option<&AnyImage<'_>>) -> Result<Vec<u8>> {
    let (shape, row_stride) = (image.shape(), image.row_stride());
    let gaps = row_stride != shape.row_samples() && second.is_none();
    match gaps.then(|| recipe.clone().with_row_stride(shape, row_stride as u64)).flatten() {
        Some(recipe) => apron_emulator::execute(&recipe, image.spanned_bytes()),
        None => {
            apron_emulator::execute_beside(recipe, &image.bytes(), &second.map_or(Default::default(), AnyImage::bytes))
        }
    }
}

/// The image on the host; copied only if it is elsewhere.
fn host_image<'a>(source: &'a Source<'_>) -> Result<AnyImage<'a>> {
    match source {
        Source::Host(image) => Ok(image.view()),
        Source::Device(image) => match &*image.storage {
            Storage::Host(image) => Ok(image.view()),
            #[cfg(feature = "gpu")]
            Storage::Gpu(_) => image.download_any(),
        },
    }
}

#[cfg(feature = "gpu")]
pub(crate) fn devices() -> Result<Vec<DeviceInfo>> {
    apron_gpu::devices()
}

#[cfg(feature = "gpu")]
pub(crate) fn ptx_target(info: &DeviceInfo) -> Option<u32> {
    apron_gpu::ptx_target(info, crate::ptx::PTX)
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
