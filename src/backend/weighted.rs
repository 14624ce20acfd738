//! Histograms of weights, on the host or by kernels.

use super::Reported;
use super::histogram::whole_numbers;
use super::{Backend, Counting, HOST_WHY, host_image};
use crate::choice::Choice;
use crate::{
    AnyImage, Binning, Bins, Edges, Image, PixelType, Report, Result, Shape, Source, Statistics, WeightedHistogram,
    Weights,
};
use apron_core::{Sample, WeightedBins, check_beside, check_weights, each_type};
use std::borrow::Cow;
use std::time::{Duration, Instant};

const WEIGHTED: &str = "weighted";

impl Backend {
    /// Sums weights by bins.
    pub(crate) fn weighted(
        &self,
        source: &Source<'_>,
        weights: &Weights<'_>,
        binning: &Binning,
        per_channel: bool,
        variant: Option<&str>,
    ) -> Result<Reported<WeightedHistogram>> {
        let (shape, src) = (source.shape(), source.pixel_type());
        match weights {
            Weights::Numbers(numbers) => check_weights(shape, numbers)?,
            Weights::Image(image) => {
                image.check_alone(WEIGHTED)?;
                check_beside("shape of the weights", shape, image.shape())?;
            }
        }
        if let Some(computed) = self.as_computed(source, Some(binning.last()))? {
            return self.weighted(&Source::Device(&computed), weights, &binning.of_type(src), per_channel, variant);
        }
        if let Weights::Image(image) = weights
            && let Some(computed) = self.as_computed(image, None)?
        {
            let weights = Weights::Image(Source::Device(&computed));
            return self.weighted(source, &weights, binning, per_channel, variant);
        }
        if self.machine().is_none() {
            let weights = match weights {
                Weights::Numbers(numbers) => Cow::Borrowed(*numbers),
                Weights::Image(image) => Cow::Owned(numbers(&host_image(image, 0)?)),
            };
            return self.counted_by_host(WEIGHTED, source, variant, |image, parallel| match parallel {
                true => apron_cpu::any::weighted(image, binning, per_channel, &weights),
                false => apron_reference::any::weighted(image, binning, per_channel, &weights),
            });
        }
        // Uploaded once, for all kernels that read it.
        let (image, copy_in) = self.import_timed(source, WEIGHTED)?;
        let source = Source::Device(&image);
        let edges = self.edges_of(&source, binning)?;
        let single = matches!(weights, Weights::Image(image) if image.pixel_type() != PixelType::F64);
        let doubles = (src == PixelType::F64).then(|| self.places(&source, &edges)).transpose()?;
        let source = doubles.as_ref().map_or(source, Source::Device);
        let of_numbers = if doubles.is_some() { numbered(&edges)? } else { edges.clone() };
        let src = source.pixel_type();
        let problem = WeightedBins { shape, src, edges: of_numbers, per_channel, single };
        let channels = problem.channels();
        let recipe = self.planned(&problem.into(), &Choice { variant, tuning: None })?;
        let floats;
        let weights = match weights {
            Weights::Numbers(numbers) => Source::Host(words(shape, numbers)?),
            Weights::Image(image) if matches!(image.pixel_type(), PixelType::F32 | PixelType::F64) => image.view(),
            Weights::Image(image) => {
                floats = self.as_floats(image)?;
                Source::Device(&floats)
            }
        };
        let (written, made) = self.run_kernels(&recipe, &source, Some(&weights), None)?;
        let sums = written.expect("no room was given").read()?;
        let report = made.report()?;
        let report = Report { copy_in: report.copy_in + copy_in, ..report };
        Ok(Reported { result: WeightedHistogram { edges, channels, sums }, report })
    }

    /// Runs on the host, and times it.
    pub(super) fn counted_by_host<T>(
        &self,
        operation: &'static str,
        source: &Source<'_>,
        variant: Option<&str>,
        run: impl FnOnce(&AnyImage<'_>, bool) -> Result<T>,
    ) -> Result<Reported<T>> {
        let start = Instant::now();
        let (name, result) = self.by_host(operation, source, variant, run)?;
        let report = self.report(operation, name, HOST_WHY, Duration::ZERO);
        Ok(Reported { result: result?, report: Report { kernels: start.elapsed(), ..report } })
    }

    /// Returns the edges of the bins of all channels. If they depend on the range of the samples, the device finds it.
    pub(super) fn edges_of(&self, source: &Source<'_>, binning: &Binning) -> Result<Edges> {
        let pixel = source.pixel_type();
        binning.check()?;
        if !binning.seeks_range(pixel) {
            return binning.fixed_edges(pixel);
        }
        let ranges = self.ranges(source, false)?;
        binning.edges(pixel, || ranges[0])
    }

    /// Finds the smallest and the largest sample, of all channels together or per channel.
    pub(super) fn ranges(&self, source: &Source<'_>, per_channel: bool) -> Result<Vec<(f64, f64)>> {
        let pixel = source.pixel_type();
        let statistics = match (pixel.values(), Bins::of_values(pixel)) {
            (Some((low, _)), Some(bins)) => {
                let counting = Counting { binning: bins.into(), per_channel, roi: None, waits: false };
                let histogram = self.histogram(source, &counting, &Choice::default())?.download()?;
                let of = |channel| Statistics::from_counts(low, histogram.channel(channel), &[]);
                (0..histogram.channels()).map(of).collect::<Result<_>>()?
            }
            _ => self.statistics(source, per_channel, &[], None)?.result,
        };
        Ok(statistics.iter().map(|of| (of.min, of.max)).collect())
    }
}

/// Returns the edges between the numbers of bins.
fn numbered(edges: &Edges) -> Result<Edges> {
    whole_numbers(edges).fixed_edges(PixelType::F32)
}

/// Converts all samples of an image to f64.
pub(super) fn numbers(image: &AnyImage<'_>) -> Vec<f64> {
    each_type!(image, image => image.packed().iter().map(|&sample| sample.to_f64()).collect())
}

/// Views f64 weights as an image with two 32-bit words per pixel, the form in which a device takes its second input.
fn words(shape: Shape, weights: &[f64]) -> Result<AnyImage<'_>> {
    let words: &[f32] = bytemuck::cast_slice(weights);
    Image::new(shape.width, shape.height, 2, words).map(AnyImage::F32)
}

/// As [`words`], of weights of any number.
pub(super) fn words_of_rows(weights: &[f64]) -> Result<AnyImage<'_>> {
    words(Shape::new(u32::try_from(weights.len()).unwrap_or(u32::MAX), 1, 1)?, weights)
}
