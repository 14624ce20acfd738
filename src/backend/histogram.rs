//! Histograms: from samples to counts, by the host or by kernels.

use super::{Backend, HOST_WHY, host, host_image};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::histogram::Counts;
use crate::{Bins, DeviceHistogram, Error, PixelType, Report, Result, Source};
use apron_core::{ByteHistogram, EdgeHistogram, Problem, join_extremes};
use apron_plan::Recipe;
use bytemuck::Pod;
use std::time::{Duration, Instant};

const OPERATION: &str = "histogram";

/// What a recipe writes, when its kernels are done.
pub(crate) enum Written {
    Host(Vec<u8>),
    #[cfg(feature = "gpu")]
    Gpu(apron_gpu::GpuBuffer),
}

impl Written {
    /// Waits for it, and gives its elements.
    pub(crate) fn read<T: Pod>(&self) -> Result<Vec<T>> {
        match self {
            Written::Host(bytes) => Ok(bytemuck::pod_collect_to_vec(bytes)),
            #[cfg(feature = "gpu")]
            Written::Gpu(buffer) => {
                let mut elements = vec![T::zeroed(); buffer.len_bytes() as usize / size_of::<T>()];
                buffer.read(bytemuck::cast_slice_mut(&mut elements))?;
                Ok(elements)
            }
        }
    }
}

impl Backend {
    /// Counts samples.
    pub(crate) fn histogram(
        &self,
        source: &Source<'_>,
        bins: &Bins,
        per_channel: bool,
        choice: &Choice<'_>,
    ) -> Result<DeviceHistogram> {
        if let Backend::Cpu | Backend::Reference = self {
            let name = self.host_variant(OPERATION, choice)?;
            let input = host_image(source)?;
            let start = Instant::now();
            let histogram = match self {
                Backend::Cpu => host::cpu_histogram(&input, bins, per_channel)?,
                _ => host::reference_histogram(&input, bins, per_channel)?,
            };
            let report = Report { kernels: start.elapsed(), ..self.report(OPERATION, name, HOST_WHY, Duration::ZERO) };
            return Ok(DeviceHistogram { counts: Counts::Done(histogram), made: Made::on_host(report) });
        }
        match source.pixel_type() {
            PixelType::U8 => {
                let edges = bins.edges(PixelType::U8, || (0.0, 255.0))?;
                let problem = ByteHistogram { shape: source.shape(), per_channel };
                let channels = problem.channels();
                let (written, made) = self.count(&Problem::ByteHistogram(problem), source, choice)?;
                Ok(DeviceHistogram { counts: Counts::OfBytes { edges, channels, written }, made })
            }
            PixelType::F32 if bins.range.is_none() => {
                // Once on the device, for both that read it.
                let (image, copy_in) = self.import_timed(source, OPERATION)?;
                let source = Source::Device(&image);
                let (extremes, finding) = self.extremes(&source)?;
                let mut found = self.between_edges(&source, bins, Some(extremes), per_channel, choice)?;
                found.made.report.copy_in = copy_in;
                found.made.report.kernels += finding;
                Ok(found)
            }
            PixelType::F32 => self.between_edges(source, bins, None, per_channel, choice),
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
        choice: &Choice<'_>,
    ) -> Result<DeviceHistogram> {
        let problem = EdgeHistogram { shape: source.shape(), bins: *bins, extremes, per_channel };
        let (edges, channels) = (problem.edges()?, problem.channels());
        let (written, made) = self.count(&Problem::EdgeHistogram(problem), source, choice)?;
        Ok(DeviceHistogram { counts: Counts::OfBins { edges, channels, written }, made })
    }

    /// The least and the largest sample of f32, and the time of the kernels that found them.
    fn extremes(&self, source: &Source<'_>) -> Result<((f64, f64), Duration)> {
        let recipe = apron_plan::extremes(source.shape(), &self.machine().expect("a device that runs kernels"));
        let (written, made) = self.run_kernels(&recipe, source)?;
        let found = written.read::<f32>()?;
        let pairs = found.chunks_exact(2).map(|pair| (pair[0] as f64, pair[1] as f64));
        let extremes = pairs.reduce(join_extremes).expect("a pair for each block");
        Ok((extremes, made.report()?.kernels))
    }

    /// Solves a histogram's problem by kernels.
    fn count(&self, problem: &Problem, source: &Source<'_>, choice: &Choice<'_>) -> Result<(Written, Made)> {
        let recipe = self.planned(problem, choice)?;
        self.run_kernels(&recipe, source)
    }

    /// Runs a recipe, and gives what it writes.
    fn run_kernels(&self, recipe: &Recipe, source: &Source<'_>) -> Result<(Written, Made)> {
        let report = |copy_in, kernels| self.by_kernels(recipe, copy_in, kernels);
        match self {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => {
                let (input, copy_in) = self.import_timed(source, recipe.operation)?;
                let (output, timer) = super::execute(gpu, recipe, &input, None)?;
                Ok((Written::Gpu(output), Made { report: report(copy_in, Duration::ZERO), before: Vec::new(), timer }))
            }
            _ => {
                let input = host_image(source)?;
                let start = Instant::now();
                let bytes = super::emulate(recipe, &input, None)?;
                Ok((Written::Host(bytes), Made::on_host(report(Duration::ZERO, start.elapsed()))))
            }
        }
    }
}
