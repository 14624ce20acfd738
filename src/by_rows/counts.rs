//! Histograms strip by strip.

use super::{ReadRows, Whole, each_strip, unsupported};
use crate::backend::computed;
use crate::histogram::counted_by_parts;
use crate::{Histogram, HistogramBuilder, Report, Result, Source};

const OPERATION: &str = "histogram";

impl HistogramBuilder<'_> {
    /// Counts strip by strip: the image, from [`ReadRows`], need not fit into memory. Its strips take at most `memory`
    /// bytes at a time. The counts are those of the whole image.
    ///
    /// Floats whose range has to be found are read twice.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::from_fn(4, 1000, 1, |_, y, _| y as f32)?;
    /// let (histogram, report) = Device::cpu().histogram(&image).bins(4).run_rows(1600)?;
    /// assert_eq!(histogram.counts(), [1000; 4]);
    /// assert!(report.why.ends_with("in 40 strips"));
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](HistogramBuilder::run); [`Error::Unsupported`](crate::Error::Unsupported) with a mask of the region,
    /// [`Error::Parameter`](crate::Error::Parameter) for too little memory for one row, and the errors of reading.
    pub fn run_rows(self, memory: u64) -> Result<(Histogram, Report)> {
        let HistogramBuilder { device, source, binning, per_channel, roi, choice } = self;
        let binning = binning?;
        binning.check()?;
        if roi.is_some() {
            return Err(unsupported(OPERATION, "the mask of a region"));
        }
        let whole = Whole(source.view());
        let rows: &dyn ReadRows = match &source {
            Source::Rows(rows) => *rows,
            _ => &whole,
        };
        let pixel = rows.pixel_type();
        let extremes = || {
            let mut first = apron_cpu::FirstPass::new(1, Vec::new());
            each_strip(OPERATION, rows, memory, |strip| first.add_any(&computed(strip, Some(f64::INFINITY))?))?;
            Ok(first.extremes())
        };
        counted_by_parts(&binning, pixel, extremes, |between| {
            let mut all: Option<(Histogram, Report)> = None;
            // The range that was found holds all samples, also where the greatest was rounded down.
            let found = binning.seeks_range(pixel);
            let strips = each_strip(OPERATION, rows, memory, |strip| {
                let strip = if found { computed(strip, Some(f64::INFINITY))? } else { strip };
                let counting = HistogramBuilder::new(device, Source::Host(strip)).binning(between.clone());
                let counting = HistogramBuilder { choice, ..counting.per_channel(per_channel) };
                let (counted, part) = counting.run_reported()?;
                all = Some(match all.take() {
                    Some((histogram, report)) => (histogram.plus(&counted), report.joined(&part)),
                    None => (counted, part),
                });
                Ok(())
            })?;
            let (histogram, mut report) = all.expect("an image has rows");
            report.why = format!("{}; in {strips} strips", report.why);
            Ok((histogram, report))
        })
    }
}
