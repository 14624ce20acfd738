//! Statistics of floats and of integers that are not counted by value, on the host or by kernels.

use super::{Backend, HOST_WHY, Reported};
use crate::choice::Choice;
use crate::{AnyImage, PixelType, Report, Result, Source, Statistics};
use apron_abi::TOTALS_WORDS;
use apron_core::{FloatStatistics, IntegerTotals};
use std::time::{Duration, Instant};

const OPERATION: &str = "stats";

impl Backend {
    /// Computes statistics of floats and of integers of 32 and 64 bits.
    pub(crate) fn statistics(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        percentiles: &[f64],
        variant: Option<&str>,
    ) -> Result<Reported<Vec<Statistics>>> {
        if let Some(taken) = self.statistics_of_integers(source, per_channel, percentiles)? {
            return Ok(taken);
        }
        if self.machine().is_some() {
            // Uploaded once, for all kernels that read it.
            let (image, copy_in) = self.import_timed(source, OPERATION)?;
            let source = Source::Device(&image);
            let mut taken = self.statistics_by_kernels(&source, per_channel, &Choice { variant, tuning: None })?;
            taken.report.copy_in = copy_in;
            if !percentiles.is_empty() {
                let found = self.percentiles_by_kernels(&source, per_channel, percentiles, variant, Some(&taken))?;
                taken.report.kernels += found.report.kernels;
                taken.result.iter_mut().zip(found.result).for_each(|(of, found)| of.percentiles = found);
            }
            return Ok(taken);
        }
        let start = Instant::now();
        let (name, taken) = self.by_host(OPERATION, source, variant, |input, parallel| match parallel {
            true => (
                apron_cpu::any::statistics(input, per_channel),
                apron_cpu::any::percentiles(input, per_channel, percentiles),
            ),
            false => (
                apron_reference::any::statistics(input, per_channel),
                apron_reference::any::percentiles(input, per_channel, percentiles),
            ),
        })?;
        let (mut statistics, found) = (taken.0?, taken.1?);
        statistics.iter_mut().zip(found).for_each(|(of, percentiles)| of.percentiles = percentiles);
        let report = self.report(OPERATION, name, HOST_WHY, Duration::ZERO);
        Ok(Reported { result: statistics, report: Report { kernels: start.elapsed(), ..report } })
    }

    /// Finds the smallest and the largest sample of floats and of integers of 32 and 64 bits: of f32 without other
    /// statistics.
    pub(crate) fn extremes(&self, source: &Source<'_>) -> Result<Reported<(f64, f64)>> {
        if self.machine().is_none() || source.pixel_type() != PixelType::F32 {
            let Reported { result: statistics, report } = self.statistics(source, false, &[], None)?;
            return Ok(Reported { result: (statistics[0].min, statistics[0].max), report });
        }
        source.check_alone(OPERATION)?;
        let (image, copy_in) = self.import_timed(source, OPERATION)?;
        let (ends, mut report) = self.extremes_of_floats(&Source::Device(&image), None)?;
        (report.operation, report.copy_in) = (OPERATION, copy_in);
        Ok(Reported { result: ends, report })
    }

    /// Computes statistics of integers of 32 and 64 bits from their exact sums; percentiles are the
    /// integers' nearest f64. `None` for other types.
    fn statistics_of_integers(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        percentiles: &[f64],
    ) -> Result<Option<Reported<Vec<Statistics>>>> {
        let (shape, src) = (source.shape(), source.pixel_type());
        let channels = if per_channel { shape.channels } else { 1 };
        let Some(recipe) = apron_plan::integer_totals(shape, src, channels) else { return Ok(None) };
        let (totals, mut report) = match self.machine() {
            Some(_) => {
                source.check_alone(OPERATION)?;
                let (written, made) = self.run_kernels(&recipe, source, None, None)?;
                let words = written.expect("no room was given").read::<u64>()?;
                let (blocks, _) = words.as_chunks::<{ TOTALS_WORDS as usize }>();
                let of_channel = |blocks: &[_]| {
                    blocks.iter().fold(IntegerTotals::NONE, |all, &words| all.and(IntegerTotals::of_words(words)))
                };
                (blocks.chunks(blocks.len() / channels as usize).map(of_channel).collect(), made.report()?)
            }
            None => {
                let start = Instant::now();
                let take = |image: &AnyImage<'_>, parallel| totals_of(image, per_channel, parallel);
                let (name, totals) = self.by_host(OPERATION, source, None, take)?;
                let report = self.report(OPERATION, name, HOST_WHY, Duration::ZERO);
                (totals, Report { kernels: start.elapsed(), ..report })
            }
        };
        let (count, least) = (shape.samples() / channels as u64, src.limits().map_or(0, |(least, _)| least));
        let of = |totals| Statistics::from_totals(count, least, totals);
        let mut statistics: Vec<Statistics> = totals.iter().map(of).collect();
        if !percentiles.is_empty() {
            let found = self.percentiles(source, per_channel, percentiles, None)?;
            report.kernels += found.report.kernels;
            statistics.iter_mut().zip(found.result).for_each(|(of, found)| of.percentiles = found);
        }
        Ok(Some(Reported { result: statistics, report }))
    }

    pub(super) fn statistics_by_kernels(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        choice: &Choice<'_>,
    ) -> Result<Reported<Vec<Statistics>>> {
        let problem = FloatStatistics { shape: source.shape(), src: source.pixel_type(), per_channel };
        let count = problem.count();
        let recipe = self.planned(&problem.into(), choice)?;
        let (written, made) = self.run_kernels(&recipe, source, None, None)?;
        let found = written.expect("no room was given").read::<f64>()?;
        let of_channel = |found: &[f64]| Statistics::from_sums(count, (found[0], found[1]), found[2], found[3]);
        let statistics = found.chunks_exact(4).map(of_channel).collect();
        Ok(Reported { result: statistics, report: made.report()? })
    }
}

/// Sums integers of 32 or 64 bits exactly, by channel; nothing for other types.
pub(crate) fn totals_of(image: &AnyImage<'_>, per_channel: bool, parallel: bool) -> Vec<IntegerTotals> {
    match parallel {
        true => apron_cpu::any::totals(image, per_channel),
        false => apron_reference::any::totals(image, per_channel),
    }
}
