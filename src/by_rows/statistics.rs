//! Statistics strip by strip.

use super::{ReadRows, Whole, each_strip};
use crate::backend::{Backend, HOST_WHY, computed, totals_of};
use crate::statistics::values_of;
use crate::{AnyImage, PixelType, Report, Result, Source, Statistics, StatisticsBuilder};
use apron_core::{IntegerTotals, Percentile, check_percentiles, f16};
use std::time::{Duration, Instant};

const OPERATION: &str = "stats";

impl StatisticsBuilder<'_> {
    /// Computes the statistics strip by strip: the image, from [`ReadRows`], need not fit into memory. Its strips take
    /// at most `memory` bytes at a time. The results have the bits of the whole image's.
    ///
    /// Those of integers follow from counts, which the device takes. Floats are read twice, f64 for percentiles four
    /// times, and summed up on the host: reading takes longer.
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
    /// As [`run`](StatisticsBuilder::run); [`Error::Parameter`](crate::Error::Parameter) for too little memory for one
    /// row, and the errors of reading.
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
        let whole = Whole(source.view());
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let start = Instant::now();
        let channels = if per_channel { rows.shape().channels as usize } else { 1 };
        let count = rows.shape().samples() / channels as u64;
        let places: Vec<Percentile> = percentiles.iter().map(|&percent| Percentile::of(percent, count)).collect();
        // Two passes find percentiles among keys of 32 bits, four among those of f64.
        let wide = rows.pixel_type().computed() == PixelType::F64 && !places.is_empty();
        let ranks = places.iter().flat_map(|place| place.ranks).collect();
        let mut narrowing = wide.then(|| apron_cpu::Narrowing::new(vec![ranks; channels]));
        let narrow = |narrowing: &mut Option<apron_cpu::Narrowing>, strip: &AnyImage| {
            if let (Some(narrowing), AnyImage::F64(strip)) = (narrowing, strip) {
                narrowing.add(strip);
            }
        };
        let mut first = apron_cpu::FirstPass::new(channels, if wide { Vec::new() } else { percentiles });
        // Of integers of 32 and 64 bits.
        let mut exact = vec![IntegerTotals::NONE; channels];
        each_strip(OPERATION, rows, memory, |strip| {
            let totals = totals_of(&strip, per_channel, true);
            exact.iter_mut().zip(totals).for_each(|(all, of_strip)| *all = all.and(of_strip));
            let strip = computed(strip, None)?;
            first.add_any(&strip)?;
            narrow(&mut narrowing, &strip);
            Ok(())
        })?;
        narrowing.iter_mut().for_each(apron_cpu::Narrowing::narrow);
        let mut second = first.second();
        let strips = each_strip(OPERATION, rows, memory, |strip| {
            let strip = computed(strip, None)?;
            second.add_any(&strip)?;
            narrow(&mut narrowing, &strip);
            Ok(())
        })?;
        narrowing.iter_mut().for_each(apron_cpu::Narrowing::narrow);
        while narrowing.as_ref().is_some_and(|narrowing| narrowing.passes_left() > 0) {
            each_strip(OPERATION, rows, memory, |strip| {
                narrow(&mut narrowing, &computed(strip, None)?);
                Ok(())
            })?;
            narrowing.iter_mut().for_each(apron_cpu::Narrowing::narrow);
        }
        let mut statistics = match rows.pixel_type() {
            PixelType::F16 => second.statistics_of::<f16>(),
            pixel if pixel.computed() == PixelType::F64 => second.statistics_of::<f64>(),
            _ => second.statistics_of::<f32>(),
        };
        if let (Some((least, _)), false) = (rows.pixel_type().limits(), rows.pixel_type().is_computed()) {
            let of = |totals| Statistics::from_totals(count, least, totals);
            statistics = exact.iter().map(of).collect();
        }
        for (of, found) in statistics.iter_mut().zip(narrowing.iter().flat_map(apron_cpu::Narrowing::found)) {
            // With a NaN among the samples, all percentiles are NaN, as the extremes are.
            let between = |(place, ends): (&Percentile, &[f64; 2])| match of.min.is_nan() {
                true => f64::NAN,
                false => place.between(PixelType::F64, *ends),
            };
            of.percentiles = places.iter().zip(found.as_chunks().0).map(between).collect();
        }
        let report =
            Backend::Cpu.report(OPERATION, "parallel", &format!("{HOST_WHY}; in {strips} strips"), Duration::ZERO);
        Ok((statistics, Report { kernels: start.elapsed(), ..report }))
    }
}
