//! Statistics of floats, by the host or by kernels.

use super::{Backend, HOST_WHY};
use crate::choice::Choice;
use crate::statistics::Taken;
use crate::{Report, Result, Source, Statistics};
use apron_core::{FloatStatistics, Problem, Tone, each_type};
use std::time::{Duration, Instant};

const OPERATION: &str = "stats";

impl Backend {
    /// Statistics of floats.
    pub(crate) fn statistics(&self, source: &Source<'_>, per_channel: bool, variant: Option<&str>) -> Result<Taken> {
        if self.machine().is_some() {
            return self.statistics_by_kernels(source, per_channel, &Choice { variant, tuning: None });
        }
        let start = Instant::now();
        let (name, statistics) = self.by_host(OPERATION, source, variant, |input, parallel| {
            each_type!(input, image => match parallel {
                true => apron_cpu::statistics(image, per_channel),
                false => apron_reference::statistics(image, per_channel),
            })
        })?;
        let report = self.report(OPERATION, name, HOST_WHY, Duration::ZERO);
        Ok(Taken { statistics, report: Report { kernels: start.elapsed(), ..report } })
    }

    fn statistics_by_kernels(&self, source: &Source<'_>, per_channel: bool, choice: &Choice<'_>) -> Result<Taken> {
        let problem = FloatStatistics { shape: source.shape(), src: source.pixel_type(), per_channel };
        let count = problem.count();
        let recipe = self.planned(&Problem::Tone(Tone::Statistics(problem)), choice)?;
        let (written, made) = self.run_kernels(&recipe, source, None, None)?;
        let found = written.expect("no room was given").read::<f64>()?;
        let of_channel = |found: &[f64]| Statistics::of_sums(count, (found[0], found[1]), found[2], found[3]);
        let statistics = found.chunks_exact(4).map(of_channel).collect();
        Ok(Taken { statistics, report: made.report()? })
    }
}
