//! Histograms: from samples to counts, on the host or by kernels.

use super::kernels::Written;
use super::{Backend, HOST_WHY, bytes, host_image};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::histogram::Counts;
use crate::{Binning, Bins, DeviceHistogram, DeviceImage, Edges, Error, PixelType, Report, Result, Source};
use apron_core::{
    ByteHistogram, CellHistogram, CountProblem, EdgeHistogram, PointOp, Pointwise, check_roi, join_extremes,
};
use std::time::{Duration, Instant};

const OPERATION: &str = "histogram";

/// Options of a histogram.
pub(crate) struct Counting<'a> {
    pub(crate) binning: Binning,
    pub(crate) per_channel: bool,
    /// Region of interest: pixels with a mask value other than 0 count.
    pub(crate) roi: Option<Source<'a>>,
    /// Whether the counts go to the host at once.
    pub(crate) waits: bool,
}

/// Returns bins of width 1 that hold the numbers of bins.
pub(super) fn whole_numbers(edges: &Edges) -> Bins {
    Bins { count: edges.bins(), range: Some((0.0, edges.bins() as f64)) }
}

impl Backend {
    /// Counts samples.
    pub(crate) fn histogram(
        &self,
        source: &Source<'_>,
        counting: &Counting<'_>,
        choice: &Choice<'_>,
    ) -> Result<DeviceHistogram> {
        let Counting { binning, per_channel, roi, .. } = counting;
        let (shape, src) = (source.shape(), source.pixel_type());
        for source in [Some(source), roi.as_ref()].into_iter().flatten() {
            source.check_alone(OPERATION)?;
        }
        check_roi(shape, roi.as_ref().map(Source::shape))?;
        if let Some(found) = roi.as_ref().map(Source::pixel_type).filter(|pixel| *pixel != PixelType::U8) {
            return Err(Error::PixelType { operation: OPERATION, found, expected: "u8 in the ROI mask".into() });
        }
        if let Some(counted) = self.in_range(source, counting, choice)? {
            return Ok(counted);
        }
        if let Some(computed) = self.as_computed(source, Some(binning.last()))? {
            let binning = binning.of_type(src);
            let counting =
                Counting { binning, per_channel: *per_channel, roi: roi.as_ref().map(Source::view), ..*counting };
            let mut counted = self.histogram(&Source::Device(&computed), &counting, choice)?;
            counted.made.report.copy_in += computed.made.report.copy_in;
            counted.made.before.push(computed.made);
            return Ok(counted);
        }
        if let Backend::Cpu | Backend::Reference = self {
            let name = self.host_variant(OPERATION, choice)?;
            let input = host_image(source, 0)?;
            let roi = roi.as_ref().map(|roi| host_image(roi, 0)).transpose()?;
            let roi = roi.as_ref().map(|roi| bytes(OPERATION, roi)).transpose()?;
            let start = Instant::now();
            let histogram = match self {
                Backend::Cpu => apron_cpu::any::histogram(&input, binning, *per_channel, roi)?,
                _ => apron_reference::any::histogram(&input, binning, *per_channel, roi)?,
            };
            let report = Report { kernels: start.elapsed(), ..self.report(OPERATION, name, HOST_WHY, Duration::ZERO) };
            return Ok(DeviceHistogram { counts: Counts::Done(histogram), made: Made::on_host(report) });
        }
        #[cfg(feature = "gpu")]
        if let Backend::Gpu(gpu) = self
            && let Some(counted) = self.by_parts(gpu, source, counting, choice)?
        {
            return Ok(counted);
        }
        if src == PixelType::F16 {
            let floats = self.as_floats(source)?;
            let mut counted = self.histogram(&Source::Device(&floats), counting, choice)?;
            counted.made.before.push(floats.made);
            return Ok(counted);
        }
        if src == PixelType::F64 {
            return self.histogram_of_doubles(source, counting, choice);
        }
        match (src, binning, roi) {
            (PixelType::U8, _, None) => {
                let edges = binning.fixed_edges(src)?;
                let problem = ByteHistogram { shape, per_channel: *per_channel };
                let channels = problem.channels();
                let (written, made) = self.count(problem, source, None, choice)?;
                Ok(DeviceHistogram { counts: Counts::OfBytes { edges, channels, written }, made })
            }
            (PixelType::F32, Binning::Even(bins), roi) if bins.range.is_none() => {
                // Uploaded once, for the search of the range and for the histogram.
                let (image, copy_in) = self.import_timed(source, OPERATION)?;
                let source = Source::Device(&image);
                let roi = roi.as_ref().map(|roi| self.import_timed(roi, OPERATION)).transpose()?;
                let copy_in = copy_in + roi.as_ref().map_or(Duration::ZERO, |(_, time)| *time);
                let roi = roi.as_ref().map(|(roi, _)| Source::Device(roi));
                let (extremes, finding) = self.extremes_of_floats(&source, roi.as_ref())?;
                let mut found = match roi {
                    None => self.between_edges(&source, bins, Some(extremes), *per_channel, choice)?,
                    roi => {
                        let binning = Binning::Between(binning.edges(src, || extremes)?);
                        self.by_cells(
                            &source,
                            &Counting { binning, per_channel: *per_channel, roi, waits: false },
                            choice,
                        )?
                    }
                };
                found.made.report.copy_in = copy_in;
                found.made.report.kernels += finding.kernels;
                Ok(found)
            }
            (PixelType::F32 | PixelType::U16 | PixelType::I16, Binning::Even(bins), None)
                if bins.range.is_some()
                    && Bins::of_values(src) != Some(*bins)
                    && !matches!(choice.variant, Some("histogram-slices" | "histogram-scattered")) =>
            {
                self.between_edges(source, bins, None, *per_channel, choice)
            }
            _ => self.by_cells(source, counting, choice),
        }
    }

    /// Counts integers of 32 bits in bins of one integer each, if kernels can; other samples are not counted.
    fn in_range(
        &self,
        source: &Source<'_>,
        Counting { binning, per_channel, roi, .. }: &Counting<'_>,
        choice: &Choice<'_>,
    ) -> Result<Option<DeviceHistogram>> {
        let (shape, src) = (source.shape(), source.pixel_type());
        let is_free = choice.variant.is_none_or(|variant| variant == "histogram-slices");
        if !matches!(src, PixelType::I32 | PixelType::U32)
            || !is_free
            || self.machine().is_none()
            || binning.seeks_range(src)
        {
            return Ok(None);
        }
        let edges = binning.fixed_edges(src)?;
        let (masked, edges_of) = (roi.is_some(), Some(edges.clone()));
        let problem = CellHistogram { shape, src, edges: edges_of, per_channel: *per_channel, masked };
        if problem.in_range().is_none() {
            return Ok(None);
        }
        match self.count(problem, source, None, choice) {
            Ok((written, made)) => {
                Ok(Some(DeviceHistogram { counts: Counts::OfBins { edges, channels: 1, written }, made }))
            }
            Err(Error::Unsupported { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Counts samples between the edges of even bins; `extremes` is the range of the samples, for bins without a range.
    fn between_edges(
        &self,
        source: &Source<'_>,
        bins: &Bins,
        extremes: Option<(f64, f64)>,
        per_channel: bool,
        choice: &Choice<'_>,
    ) -> Result<DeviceHistogram> {
        let (shape, src) = (source.shape(), source.pixel_type());
        let problem = EdgeHistogram { shape, src, bins: *bins, extremes, per_channel };
        let (edges, channels) = (problem.edges()?, problem.channels());
        match self.count(problem, source, None, choice) {
            Ok((written, made)) => Ok(DeviceHistogram { counts: Counts::OfBins { edges, channels, written }, made }),
            // More bins than fit into shared memory, or bins narrower than an integer.
            Err(Error::Unsupported { .. }) if choice.variant.is_none() => {
                let counting = Counting { binning: Binning::Between(edges), per_channel, roi: None, waits: false };
                self.by_cells(source, &counting, choice)
            }
            Err(error) => Err(error),
        }
    }

    /// Counts integers by value, and f32 samples between edges.
    fn by_cells(
        &self,
        source: &Source<'_>,
        Counting { binning, per_channel, roi, .. }: &Counting<'_>,
        choice: &Choice<'_>,
    ) -> Result<DeviceHistogram> {
        let (shape, src, per_channel) = (source.shape(), source.pixel_type(), *per_channel);
        let edges = match src {
            PixelType::F32 => Some(binning.fixed_edges(src)?),
            _ => None,
        };
        let problem = CellHistogram { shape, src, edges: edges.clone(), per_channel, masked: roi.is_some() };
        let channels = problem.channels();
        let (written, made) = self.count(problem, source, roi.as_ref(), choice)?;
        let counts = match edges {
            Some(edges) => Counts::OfBins { edges, channels, written },
            None => Counts::OfValues { binning: binning.clone(), pixel: src, channels, written },
        };
        Ok(DeviceHistogram { counts, made })
    }

    /// Counts f64 samples: the numbers of their bins are counted as f32 samples in bins of width 1.
    fn histogram_of_doubles(
        &self,
        source: &Source<'_>,
        Counting { binning, per_channel, roi, waits }: &Counting<'_>,
        choice: &Choice<'_>,
    ) -> Result<DeviceHistogram> {
        if roi.is_some() && binning.seeks_range(PixelType::F64) {
            return Err(Error::Unsupported {
                operation: OPERATION,
                device: self.name().to_string(),
                what: "the range of the f64 samples that a mask selects".into(),
                hint: "give a range, or use --device cpu".into(),
            });
        }
        // Uploaded once, for the search of the range and for the bins.
        let (image, copy_in) = self.import_timed(source, OPERATION)?;
        let source = Source::Device(&image);
        let edges = self.edges_of(&source, binning)?;
        let numbers = self.places(&source, &edges)?;
        let binning = Binning::Even(whole_numbers(&edges));
        let counting =
            Counting { binning, per_channel: *per_channel, roi: roi.as_ref().map(Source::view), waits: *waits };
        let mut counted = self.histogram(&Source::Device(&numbers), &counting, choice)?;
        if let Counts::OfBins { edges: of_numbers, .. } = &mut counted.counts {
            *of_numbers = edges;
        }
        counted.made.report.copy_in += copy_in;
        counted.made.before.push(numbers.made);
        Ok(counted)
    }

    /// Replaces f64 samples by the numbers of their bins, as f32; NaN for none.
    pub(super) fn places(&self, source: &Source<'_>, edges: &Edges) -> Result<DeviceImage> {
        let (machine, shape) = (self.machine().expect("a device that runs kernels"), source.shape());
        let recipe = apron_plan::places(shape, edges, &machine);
        let (written, made) = self.run_kernels(&recipe, source, None, None)?;
        let storage = written.expect("no room was given").into_storage(PixelType::F32, shape)?;
        Ok(DeviceImage::new(shape, PixelType::F32, 1, storage, made))
    }

    /// Converts the samples of an image to f32, which represents all values of the integer types and of f16.
    pub(super) fn as_floats(&self, source: &Source<'_>) -> Result<DeviceImage> {
        let (shape, src) = (source.shape(), source.pixel_type());
        let (second, dst, op) = (None, PixelType::F32, PointOp::weighted(1.0, 0.0, 0.0));
        let floats = Pointwise { shape, src, second, dst, op }.into();
        Ok(self.filter(&floats, "", source, None, &Choice::default(), None)?.into_image())
    }

    /// Finds the smallest and the largest f32 sample of all pixels, or of those that a mask selects; also returns the
    /// report.
    pub(super) fn extremes_of_floats(
        &self,
        source: &Source<'_>,
        roi: Option<&Source<'_>>,
    ) -> Result<((f64, f64), Report)> {
        let machine = self.machine().expect("a device that runs kernels");
        let recipe = apron_plan::extremes(source.shape(), roi.is_some(), &machine);
        let (written, made) = self.run_kernels(&recipe, source, roi, None)?;
        let found = written.expect("no room was given").read::<f32>()?;
        let pairs = found.chunks_exact(2).map(|pair| (pair[0] as f64, pair[1] as f64));
        let extremes = pairs.reduce(join_extremes).expect("a pair for each block");
        Ok((extremes, made.report()?))
    }

    /// Solves a histogram's problem by kernels.
    fn count(
        &self,
        problem: impl Into<CountProblem>,
        source: &Source<'_>,
        beside: Option<&Source<'_>>,
        choice: &Choice<'_>,
    ) -> Result<(Written, Made)> {
        let recipe = self.planned(&problem.into().into(), choice)?;
        let (written, made) = self.run_kernels(&recipe, source, beside, None)?;
        Ok((written.expect("no room was given"), made))
    }
}
