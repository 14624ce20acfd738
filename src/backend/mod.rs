//! From a problem to the device that solves it.

mod host;

use crate::device_image::Made;
use crate::{AnyImage, Bins, DeviceImage, DeviceInfo, DeviceName, Error, Histogram, PixelType, Report, Result, Source};
use apron_core::{ByteHistogram, EdgeHistogram, Problem, join_extremes};
#[cfg(feature = "gpu")]
use apron_gpu::{Gpu, GpuBuffer};
use apron_plan::{Machine, Recipe, Role};
use bytemuck::Pod;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
}

impl Explained for DeviceImage {
    fn explain(mut self, why: &str) -> Self {
        if let Some(made) = Arc::get_mut(&mut self.made) {
            made.report.why = format!("{}; {why}", made.report.why);
        }
        self
    }
}

impl Explained for (Histogram, Report) {
    fn explain(mut self, why: &str) -> Self {
        self.1.why = format!("{}; {why}", self.1.why);
        self
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
        let report = self.report(operation, "copy", "asked for", start.elapsed(), Duration::ZERO);
        Ok(DeviceImage { shape, pixel, storage: Arc::new(storage), made: Arc::new(Made::on_host(report)) })
    }

    /// Solves a filter's problem, whose method was chosen for the reason `why`.
    pub(crate) fn filter(
        &self,
        problem: &Problem,
        why: &str,
        source: &Source<'_>,
        variant: Option<&str>,
    ) -> Result<DeviceImage> {
        let (dst, window) = match problem {
            Problem::Correlate(problem) => (problem.dst, problem.window()?),
            Problem::Separable(problem) => (problem.dst, problem.window()?),
            Problem::Box(problem) => (problem.dst, problem.window()?),
            Problem::ByteHistogram(_) | Problem::EdgeHistogram(_) => unreachable!("a histogram is no filter"),
        };
        let (storage, mut made) = match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let recipe = apron_plan::plan(problem, variant, &gpu.machine())?;
                let (input, copy_in) = self.import_timed(source, problem.operation())?;
                let Storage::Gpu(input) = &*input.storage else { unreachable!("imported to the GPU") };
                let (output, timer) = gpu.execute(&recipe, input)?;
                let report = self.report(problem.operation(), recipe.variant, recipe.why, copy_in, Duration::ZERO);
                (Storage::Gpu(output), Made { report, timer: Some(timer) })
            }
            Backend::Emulator => {
                let recipe = apron_plan::plan(problem, variant, &Machine::EMULATED).map_err(for_emulator)?;
                let input = host_image(source)?;
                let start = Instant::now();
                let bytes = apron_emulator::execute(&recipe, &input.bytes())?;
                let time = start.elapsed();
                let output = AnyImage::from_bytes(dst, window.out, |out| {
                    out.copy_from_slice(&bytes);
                    Ok(())
                })?;
                let report = self.report(problem.operation(), recipe.variant, recipe.why, Duration::ZERO, time);
                (Storage::Host(output), Made::on_host(report))
            }
            Backend::Cpu | Backend::Reference => {
                let name = self.host_variant(problem.operation(), variant)?;
                let input = host_image(source)?;
                let start = Instant::now();
                let output = match self {
                    Backend::Cpu => host::cpu_filter(problem, &input)?,
                    _ => host::reference_filter(problem, &input)?,
                };
                let report = self.report(problem.operation(), name, HOST_WHY, Duration::ZERO, start.elapsed());
                (Storage::Host(output), Made::on_host(report))
            }
        };
        (made.report.method, made.report.why_method) = (problem.method(), why.into());
        Ok(DeviceImage { shape: window.out, pixel: dst, storage: Arc::new(storage), made: Arc::new(made) })
    }

    /// Counts samples.
    pub(crate) fn histogram(
        &self,
        source: &Source<'_>,
        bins: &Bins,
        per_channel: bool,
        variant: Option<&str>,
    ) -> Result<(Histogram, Report)> {
        const OPERATION: &str = "histogram";
        if let Backend::Cpu | Backend::Reference = self {
            let name = self.host_variant(OPERATION, variant)?;
            let input = host_image(source)?;
            let start = Instant::now();
            let histogram = match self {
                Backend::Cpu => host::cpu_histogram(&input, bins, per_channel)?,
                _ => host::reference_histogram(&input, bins, per_channel)?,
            };
            return Ok((histogram, self.report(OPERATION, name, HOST_WHY, Duration::ZERO, start.elapsed())));
        }
        match source.pixel_type() {
            PixelType::U8 => {
                let edges = bins.edges(PixelType::U8, || (0.0, 255.0))?;
                let problem = ByteHistogram { shape: source.shape(), per_channel };
                let channels = problem.channels();
                let (counts, report) = self.count(&Problem::ByteHistogram(problem), source, variant)?;
                Ok((Histogram::from_byte_counts(edges, channels, &counts), report))
            }
            PixelType::F32 if bins.range.is_none() => {
                // Once on the device, for both that read it.
                let (image, copy_in) = self.import_timed(source, OPERATION)?;
                let source = Source::Device(&image);
                let (extremes, finding) = self.extremes(&source)?;
                let (histogram, report) = self.between_edges(&source, bins, Some(extremes), per_channel, variant)?;
                Ok((histogram, Report { copy_in, kernels: finding + report.kernels, ..report }))
            }
            PixelType::F32 => self.between_edges(source, bins, None, per_channel, variant),
            other => Err(Error::Unsupported {
                operation: OPERATION,
                device: self.name().to_string(),
                what: format!("histograms of {other} pixels"),
                hint: "use --device cpu".into(),
            }),
        }
    }

    /// Counts samples of f32; `extremes` are the range of bins without one.
    fn between_edges(
        &self,
        source: &Source<'_>,
        bins: &Bins,
        extremes: Option<(f64, f64)>,
        per_channel: bool,
        variant: Option<&str>,
    ) -> Result<(Histogram, Report)> {
        let problem = EdgeHistogram { shape: source.shape(), bins: *bins, extremes, per_channel };
        let (edges, channels) = (problem.edges()?, problem.channels());
        let (counts, report) = self.count(&Problem::EdgeHistogram(problem), source, variant)?;
        Ok((Histogram::new(edges, channels, counts), report))
    }

    /// The least and the largest sample of f32, and the time of the kernels that found them.
    fn extremes(&self, source: &Source<'_>) -> Result<((f64, f64), Duration)> {
        let recipe = apron_plan::extremes(source.shape(), &self.machine().expect("a device that runs kernels"));
        let (found, _, kernels) = self.run_kernels::<f32>(&recipe, source)?;
        let pairs = found.chunks_exact(2).map(|pair| (pair[0] as f64, pair[1] as f64));
        let extremes = pairs.reduce(join_extremes).expect("a pair for each block");
        Ok((extremes, kernels))
    }

    /// Solves a histogram's problem by kernels.
    fn count(&self, problem: &Problem, source: &Source<'_>, variant: Option<&str>) -> Result<(Vec<u64>, Report)> {
        let recipe = apron_plan::plan(problem, variant, &self.machine().expect("a device that runs kernels"));
        let recipe = if let Backend::Emulator = self { recipe.map_err(for_emulator)? } else { recipe? };
        let (counts, copy_in, kernels) = self.run_kernels(&recipe, source)?;
        Ok((counts, self.report(recipe.operation, recipe.variant, recipe.why, copy_in, kernels)))
    }

    /// Runs a recipe, and gives what it writes, and the times of the copy and of the kernels.
    fn run_kernels<T: Pod>(&self, recipe: &Recipe, source: &Source<'_>) -> Result<(Vec<T>, Duration, Duration)> {
        let output = recipe.buffers.iter().find(|buffer| buffer.role == Role::Output).expect("a recipe has an output");
        let mut result = vec![T::zeroed(); output.elems as usize];
        let (copy_in, kernels) = match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let (input, copy_in) = self.import_timed(source, recipe.operation)?;
                let Storage::Gpu(input) = &*input.storage else { unreachable!("imported to the GPU") };
                let (output, timer) = gpu.execute(recipe, input)?;
                output.read(bytemuck::cast_slice_mut(&mut result))?;
                (copy_in, timer.elapsed()?)
            }
            _ => {
                let input = host_image(source)?;
                let start = Instant::now();
                let bytes = apron_emulator::execute(recipe, &input.bytes())?;
                bytemuck::cast_slice_mut(&mut result).copy_from_slice(&bytes);
                (Duration::ZERO, start.elapsed())
            }
        };
        Ok((result, copy_in, kernels))
    }

    /// The one implementation that a host device has.
    fn host_variant(&self, operation: &'static str, variant: Option<&str>) -> Result<&'static str> {
        let own = if let Backend::Cpu = self { "parallel" } else { "serial" };
        match variant {
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

    fn report(
        &self,
        operation: &'static str,
        variant: &str,
        why: &str,
        copy_in: Duration,
        kernels: Duration,
    ) -> Report {
        let device = self.name().to_string();
        let (variant, why, method, why_method) = (variant.into(), why.into(), None, String::new());
        Report { operation, device, method, why_method, variant, why, copy_in, kernels }
    }
}

const HOST_WHY: &str = "the only variant of this device";

impl Made {
    fn on_host(report: Report) -> Made {
        Made {
            report,
            #[cfg(feature = "gpu")]
            timer: None,
        }
    }
}

/// Recipes are the GPU's; what they cannot do, the emulator cannot either.
fn for_emulator(error: Error) -> Error {
    match error {
        Error::Unsupported { operation, what, hint, .. } => {
            Error::Unsupported { operation, device: "emulator".into(), what, hint }
        }
        other => other,
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
