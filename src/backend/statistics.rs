//! Statistics of float samples, on the host or by kernels.

use super::ranks::Search;
use super::{Backend, Counting, HOST_WHY};
use crate::choice::Choice;
use crate::statistics::Taken;
use crate::{Binning, Edges, PixelType, Report, Result, Source, Statistics};
use apron_core::{FloatStatistics, Percentile, each_type};
use std::time::{Duration, Instant};

const OPERATION: &str = "stats";

impl Backend {
    /// Computes statistics of float samples.
    pub(crate) fn statistics(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        percentiles: &[f64],
        variant: Option<&str>,
    ) -> Result<Taken> {
        if self.machine().is_some() {
            // Uploaded once, for all kernels that read it.
            let (image, copy_in) = self.import_timed(source, OPERATION)?;
            let source = Source::Device(&image);
            let mut taken = self.statistics_by_kernels(&source, per_channel, &Choice { variant, tuning: None })?;
            taken.report.copy_in = copy_in;
            if !percentiles.is_empty() {
                taken.report.kernels += self.percentiles(&source, per_channel, percentiles, &mut taken.statistics)?;
            }
            return Ok(taken);
        }
        let start = Instant::now();
        let (name, (mut statistics, found)) = self.by_host(OPERATION, source, variant, |input, parallel| {
            each_type!(input, image => match parallel {
                true => (apron_cpu::statistics(image, per_channel), apron_cpu::percentiles(image, per_channel, percentiles)),
                false => (
                    apron_reference::statistics(image, per_channel),
                    apron_reference::percentiles(image, per_channel, percentiles),
                ),
            })
        })?;
        statistics.iter_mut().zip(found).for_each(|(of, percentiles)| of.percentiles = percentiles);
        let report = self.report(OPERATION, name, HOST_WHY, Duration::ZERO);
        Ok(Taken { statistics, report: Report { kernels: start.elapsed(), ..report } })
    }

    /// Adds percentiles to statistics, by the samples at their ranks; returns the time of the kernels.
    fn percentiles(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        percentiles: &[f64],
        statistics: &mut [Statistics],
    ) -> Result<Duration> {
        let (pixel, mut kernels) = (source.pixel_type(), Duration::ZERO);
        let floats = (pixel != PixelType::F32).then(|| self.as_floats(source)).transpose()?;
        let source = floats.as_ref().map_or(source.view(), Source::Device);
        if let Some(floats) = &floats {
            kernels += floats.report()?.kernels;
        }
        let places =
            |of: &Statistics| percentiles.iter().map(|&percent| Percentile::of(percent, of.count)).collect::<Vec<_>>();
        // A channel with a NaN has NaN for each percentile.
        let known = statistics.iter().enumerate().filter(|(_, of)| !of.min.is_nan());
        let ranks = known.flat_map(|(channel, of)| {
            places(of).into_iter().flat_map(|place| place.ranks).map(move |rank| (channel, rank))
        });
        let extremes: Vec<(f64, f64)> = statistics.iter().map(|of| (of.min, of.max)).collect();
        let mut search = Search::new(ranks.collect::<Vec<_>>(), &extremes);
        while let Some(edges) = search.edges() {
            let binning = Binning::Between(Edges::new(edges)?);
            let counted = self.histogram(&source, &Counting { binning, per_channel, roi: None }, &Choice::default())?;
            let histogram = counted.download()?;
            kernels += counted.report()?.kernels;
            (0..histogram.channels()).for_each(|channel| search.narrow(channel as usize, histogram.channel(channel)));
        }
        let mut found = search.found();
        for of in statistics {
            let values = places(of).into_iter().map(|place| match of.min.is_nan() {
                true => f64::NAN,
                false => place.between(pixel, std::array::from_fn(|_| found.next().expect("two for each percentile"))),
            });
            of.percentiles = values.collect();
        }
        Ok(kernels)
    }

    fn statistics_by_kernels(&self, source: &Source<'_>, per_channel: bool, choice: &Choice<'_>) -> Result<Taken> {
        let problem = FloatStatistics { shape: source.shape(), src: source.pixel_type(), per_channel };
        let count = problem.count();
        let recipe = self.planned(&problem.into(), choice)?;
        let (written, made) = self.run_kernels(&recipe, source, None, None)?;
        let found = written.expect("no room was given").read::<f64>()?;
        let of_channel = |found: &[f64]| Statistics::from_sums(count, (found[0], found[1]), found[2], found[3]);
        let statistics = found.chunks_exact(4).map(of_channel).collect();
        Ok(Taken { statistics, report: made.report()? })
    }
}
