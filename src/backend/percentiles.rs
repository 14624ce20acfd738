//! Percentiles of float samples, on the host or by kernels.

use super::search::Search;
use super::select::Selected;
use super::{Backend, Counting, HOST_WHY, Reported};
use crate::choice::{Choice, environment};
use crate::{Binning, Edges, PixelType, Report, Result, Source, Statistics, f16};
use apron_core::{CellHistogram, Percentile, cell_of_rank};
use apron_plan::plan;
use std::time::{Duration, Instant};

const OPERATION: &str = "stats";

impl Backend {
    /// Finds percentiles of float samples.
    pub(crate) fn percentiles(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        percentiles: &[f64],
        variant: Option<&str>,
    ) -> Result<Reported<Vec<Vec<f64>>>> {
        if let Some(computed) = self.as_computed(source, None)? {
            return self.percentiles(&Source::Device(&computed), per_channel, percentiles, variant);
        }
        if self.machine().is_some() {
            source.check_alone(OPERATION)?;
            // Uploaded once, for all kernels that read it.
            let (image, copy_in) = self.import_timed(source, OPERATION)?;
            let source = Source::Device(&image);
            let mut found = self.percentiles_by_kernels(&source, per_channel, percentiles, variant, None)?;
            found.report.copy_in = copy_in;
            return Ok(found);
        }
        let start = Instant::now();
        let (name, found) = self.by_host(OPERATION, source, variant, |input, parallel| match parallel {
            true => apron_cpu::any::percentiles(input, per_channel, percentiles),
            false => apron_reference::any::percentiles(input, per_channel, percentiles),
        })?;
        let mut found = found?;
        // Without percentiles the host returns no channels.
        found.resize(if per_channel { source.shape().channels as usize } else { 1 }, Vec::new());
        let report = self.report(OPERATION, name, HOST_WHY, Duration::ZERO);
        Ok(Reported { result: found, report: Report { kernels: start.elapsed(), ..report } })
    }

    /// Finds percentiles from the samples at their ranks. A radix select finds these samples; if the variant of the
    /// statistics is named, or shared memory is small, rounds of counting between the extremes find them.
    pub(super) fn percentiles_by_kernels(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        percentiles: &[f64],
        variant: Option<&str>,
        taken: Option<&Reported<Vec<Statistics>>>,
    ) -> Result<Reported<Vec<Vec<f64>>>> {
        let (shape, pixel) = (source.shape(), source.pixel_type());
        let channels = if per_channel { shape.channels } else { 1 };
        let count = shape.samples() / channels as u64;
        let places: Vec<Percentile> = percentiles.iter().map(|&percent| Percentile::of(percent, count)).collect();
        let each: Vec<u64> = places.iter().flat_map(|place| place.ranks).collect();
        let ranks = (0..channels as usize).flat_map(|channel| each.iter().map(move |&rank| (channel, rank)));
        let ranks: Vec<(usize, u64)> = ranks.collect();
        let named = variant.is_some() || environment()?.iter().any(|(operation, _)| *operation == OPERATION);
        let selected = match pixel {
            _ if named || pixel == PixelType::F64 => None,
            PixelType::F16 => Some(self.select_halves(source, channels, &each)?),
            _ => self.select(source, channels, &each)?,
        };
        let (samples, report) = match selected {
            Some(Selected { samples, kernels, recipe }) => {
                (samples, Report { operation: OPERATION, ..self.by_kernels(&recipe, Duration::ZERO, kernels) })
            }
            None => {
                let own = match taken {
                    None => Some(self.statistics_by_kernels(source, per_channel, &Choice { variant, tuning: None })?),
                    Some(_) => None,
                };
                let Reported { result: statistics, report } = taken.or(own.as_ref()).expect("one of them");
                let (samples, kernels) = self.search(source, per_channel, &ranks, statistics)?;
                let before = own.as_ref().map_or(Duration::ZERO, |own| own.report.kernels);
                (samples, Report { kernels: before + kernels, ..report.clone() })
            }
        };
        let mut pairs = samples.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
        let mut of_channel = |_| {
            let between = |place: &Percentile| match pairs.next().expect("two for each percentile") {
                // Every sample of a channel with NaN.
                [sample, _] if sample.is_nan() => f64::NAN,
                pair => place.between(pixel, pair),
            };
            places.iter().map(between).collect()
        };
        Ok(Reported { result: (0..channels).map(&mut of_channel).collect(), report })
    }

    /// Finds the f16 samples of ranks in each channel, from the count of each bit pattern; NaN for the ranks of a channel that has NaN.
    fn select_halves(&self, source: &Source<'_>, channels: u32, each: &[u64]) -> Result<Selected> {
        let machine = self.machine().expect("a device that runs kernels");
        // The patterns are counted as the values of u16.
        let (shape, src, per_channel) = (source.shape(), PixelType::U16, channels > 1);
        let problem = CellHistogram { shape, src, edges: None, per_channel, masked: false };
        let recipe = plan(&problem.into(), None, &machine)?;
        let (written, made) = self.run_kernels(&recipe, source, None, None)?;
        let sample = |counts: &[u64], rank: u64| {
            // Patterns below 0 fall as their numbers rise. No pattern of NaN is counted.
            let (above, below) = counts.split_at(0x8000);
            let negative: u64 = below.iter().sum();
            let bits = match rank < negative {
                true => 0x8000 + cell_of_rank(below, negative - 1 - rank).0,
                false => cell_of_rank(above, rank - negative).0,
            };
            f64::from(f16::from_bits(bits as u16)) + 0.0
        };
        let nans = [0x7c01..0x8000, 0xfc01..0x1_0000];
        let of_channel = |counts: &[u64]| {
            let is_known = nans.iter().all(|nan| counts[nan.clone()].iter().all(|count| *count == 0));
            each.iter().map(|&rank| if is_known { sample(counts, rank) } else { f64::NAN }).collect::<Vec<f64>>()
        };
        let written = written.expect("no room was given");
        let samples = written.with(|counts| counts.chunks_exact(1 << 16).flat_map(of_channel).collect())?;
        Ok(Selected { samples, kernels: made.report()?.kernels, recipe })
    }

    /// Finds the samples of ranks by counting between edges; returns them and the time of the kernels.
    fn search(
        &self,
        source: &Source<'_>,
        per_channel: bool,
        ranks: &[(usize, u64)],
        statistics: &[Statistics],
    ) -> Result<(Vec<f64>, Duration)> {
        let mut kernels = Duration::ZERO;
        let pixel = source.pixel_type();
        let widened = !matches!(pixel, PixelType::F32 | PixelType::F64);
        let floats = widened.then(|| self.as_floats(source)).transpose()?;
        let source = floats.as_ref().map_or(source.view(), Source::Device);
        if let Some(floats) = &floats {
            kernels += floats.report()?.kernels;
        }
        let is_known = |channel: usize| !statistics[channel].min.is_nan();
        let known: Vec<_> = ranks.iter().copied().filter(|&(channel, _)| is_known(channel)).collect();
        let extremes: Vec<(f64, f64)> = statistics.iter().map(|of| (of.min, of.max)).collect();
        let mut search = Search::new(known, &extremes, pixel);
        while let Some(edges) = search.edges() {
            let binning = Binning::Between(Edges::new(edges)?);
            let counted = self.histogram(
                &source,
                &Counting { binning, per_channel, roi: None, waits: false },
                &Choice::default(),
            )?;
            let histogram = counted.download()?;
            kernels += counted.report()?.kernels;
            (0..histogram.channels()).for_each(|channel| search.narrow(channel as usize, histogram.channel(channel)));
        }
        let mut found = search.found();
        let sample = |&(channel, _): &(usize, u64)| match is_known(channel) {
            true => found.next().expect("one for each rank"),
            false => f64::NAN,
        };
        Ok((ranks.iter().map(sample).collect(), kernels))
    }
}
