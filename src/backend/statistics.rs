//! Statistics of float samples, on the host or by kernels.

use super::host::not_computed;
use super::{Backend, HOST_WHY};
use crate::choice::Choice;
use crate::statistics::Taken;
use crate::{Report, Result, Source, Statistics};
use apron_core::{FloatStatistics, each_computed};
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
        if let Some(computed) = self.as_computed(source, None)? {
            return self.statistics(&Source::Device(&computed), per_channel, percentiles, variant);
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
                taken.statistics.iter_mut().zip(found.percentiles).for_each(|(of, found)| of.percentiles = found);
            }
            return Ok(taken);
        }
        let start = Instant::now();
        let (name, taken) = self.by_host(OPERATION, source, variant, |input, parallel| {
            each_computed!(input, image => Ok(match parallel {
                true => (apron_cpu::statistics(image, per_channel), apron_cpu::percentiles(image, per_channel, percentiles)),
                false => (
                    apron_reference::statistics(image, per_channel),
                    apron_reference::percentiles(image, per_channel, percentiles),
                ),
            }), else Err(not_computed(OPERATION, input.pixel_type())))
        })?;
        let (mut statistics, found) = taken?;
        statistics.iter_mut().zip(found).for_each(|(of, percentiles)| of.percentiles = percentiles);
        let report = self.report(OPERATION, name, HOST_WHY, Duration::ZERO);
        Ok(Taken { statistics, report: Report { kernels: start.elapsed(), ..report } })
    }

    pub(super) fn statistics_by_kernels(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        choice: &Choice<'_>,
    ) -> Result<Taken> {
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
