//! Statistics strip by strip.

use super::{ReadRows, Whole, each_strip, unsupported};
use crate::backend::{Backend, HOST_WHY, computed};
use crate::statistics::values_of;
use crate::{PixelType, Report, Result, Source, Statistics, StatisticsBuilder};
use apron_core::{check_percentiles, each_computed, f16};
use std::time::{Duration, Instant};

const OPERATION: &str = "stats";

impl StatisticsBuilder<'_> {
    /// Computes the statistics strip by strip: the image, from [`ReadRows`], need not fit into memory. Its strips take at most
    /// `memory` bytes at a time. The results have the bits of the whole image's.
    ///
    /// Those of integers follow from counts, which the device takes. Floats are read twice, and summed up on the host: reading
    /// takes longer.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::from_fn(4, 101, 1, |_, y, _| y as f32)?;
    /// let (statistics, _) = Device::cpu().statistics(&image).percentiles([50.0]).run_rows(1600)?;
    /// assert_eq!((statistics[0].mean, statistics[0].percentiles[0]), (50.0, 50.0));
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](StatisticsBuilder::run); [`Error::Parameter`](crate::Error::Parameter) for too little memory for one row, and
    /// the errors of reading.
    pub fn run_rows(self, memory: u64) -> Result<(Vec<Statistics>, Report)> {
        let StatisticsBuilder { device, source, per_channel, percentiles, choice } = self;
        check_percentiles(&percentiles)?;
        if let Some((low, _)) = source.pixel_type().values() {
            let bins = values_of(OPERATION, &source)?;
            let counting = device.histogram(source).bins(bins).per_channel(per_channel).variant(choice.variant);
            let (histogram, report) = counting.run_rows(memory)?;
            let of = |channel| Statistics::from_counts(low, histogram.channel(channel), &percentiles);
            return Ok(((0..histogram.channels()).map(of).collect::<Result<_>>()?, report));
        }
        if source.pixel_type() == PixelType::F64 && !percentiles.is_empty() {
            // Two passes find the ranks of keys of 32 bits.
            return Err(unsupported(OPERATION, "percentiles of f64 samples"));
        }
        let whole = Whole(source.view());
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let start = Instant::now();
        let channels = if per_channel { rows.shape().channels as usize } else { 1 };
        let mut first = apron_cpu::FirstPass::new(channels, percentiles);
        each_strip(OPERATION, rows, memory, |strip| {
            let strip = computed(strip, None)?;
            each_computed!(&strip, strip => first.add(strip), else unreachable!("a type that is computed"));
            Ok(())
        })?;
        let mut second = first.second();
        let strips = each_strip(OPERATION, rows, memory, |strip| {
            let strip = computed(strip, None)?;
            each_computed!(&strip, strip => second.add(strip), else unreachable!("a type that is computed"));
            Ok(())
        })?;
        let statistics = match rows.pixel_type() {
            PixelType::F16 => second.statistics_of::<f16>(),
            PixelType::F64 => second.statistics_of::<f64>(),
            _ => second.statistics_of::<f32>(),
        };
        let report =
            Backend::Cpu.report(OPERATION, "parallel", &format!("{HOST_WHY}; in {strips} strips"), Duration::ZERO);
        Ok((statistics, Report { kernels: start.elapsed(), ..report }))
    }
}
