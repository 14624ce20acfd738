//! Histograms of weights, and of pairs of channels.

use crate::backend::{Backend, HOST_WHY};
use crate::{Binning, Device, Histogram2d, Report, Result, Source, WeightedHistogram};
use apron_core::each_type;
use std::time::{Duration, Instant};

/// A result, and what ran.
struct Counted<T> {
    result: T,
    report: Report,
}

impl<T> crate::backend::Explained for Counted<T> {
    fn explain(mut self, why: &str) -> Self {
        self.report.why = format!("{}; {why}", self.report.why);
        self
    }

    fn ran(&self) -> &Report {
        &self.report
    }
}

impl Device {
    /// Sums of weights, one for each pixel, by the bins of its samples: `numpy.histogram` with weights, of all channels
    /// together unless asked otherwise. NumPy's order of summation for even bins: blocks of 65536 samples, each summed
    /// from 0.
    ///
    /// ```
    /// use apron::{Bins, Device, Image};
    ///
    /// let image = Image::new(3, 1, 1, vec![0u8, 200, 10])?;
    /// let bins = Bins { count: 2, range: None };
    /// let sums = Device::cpu().weighted_histogram(&image, &[0.5, 2.0, 0.25], bins, false)?.sums;
    /// assert_eq!(sums, [0.75, 2.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`HistogramOf::run`](crate::HistogramOf::run), [`Error::Shape`](crate::Error::Shape) for another number of
    /// weights than of pixels, and [`Error::Unsupported`](crate::Error::Unsupported) on the GPU and the emulator, whose
    /// order of summation is open.
    pub fn weighted_histogram<'a>(
        &self,
        image: impl Into<Source<'a>>,
        weights: &[f64],
        bins: impl Into<Binning>,
        per_channel: bool,
    ) -> Result<WeightedHistogram> {
        let (source, binning) = (image.into(), bins.into());
        self.counted(&source, "weighted histogram", |image, parallel| {
            each_type!(image, image => match parallel {
                true => apron_cpu::weighted(image, &binning, per_channel, weights),
                false => apron_reference::weighted(image, &binning, per_channel, weights),
            })
        })
    }

    /// Counts of an image's pixels by the bins of two of its channels: `numpy.histogram2d`.
    ///
    /// ```
    /// use apron::{Bins, Device, Image};
    ///
    /// let image = Image::new(3, 1, 2, vec![0u8, 200, 10, 10, 200, 200])?;
    /// let bins = || Bins { count: 2, range: None };
    /// let histogram = Device::cpu().histogram2d(&image, [0, 1], [bins(), bins()])?;
    /// assert_eq!((histogram.count(0, 1), histogram.count(1, 0), histogram.count(1, 1)), (1, 0, 1));
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`HistogramOf::run`](crate::HistogramOf::run), [`Error::Parameter`](crate::Error::Parameter) for a channel
    /// that is not there, and [`Error::Unsupported`](crate::Error::Unsupported) on the GPU and the emulator.
    pub fn histogram2d<'a>(
        &self,
        image: impl Into<Source<'a>>,
        channels: [u32; 2],
        bins: [impl Into<Binning>; 2],
    ) -> Result<Histogram2d> {
        let (source, [first, second]) = (image.into(), bins.map(Into::into));
        self.counted(&source, "2-D histogram", |image, parallel| {
            each_type!(image, image => match parallel {
                true => apron_cpu::histogram2d(image, channels, [&first, &second]),
                false => apron_reference::histogram2d(image, channels, [&first, &second]),
            })
        })
    }

    /// What a host device counts.
    fn counted<T>(
        &self,
        source: &Source<'_>,
        operation: &'static str,
        run: impl Fn(&crate::AnyImage<'_>, bool) -> Result<T>,
    ) -> Result<T> {
        let counted = self.with_fallback(|backend: &Backend| {
            let start = Instant::now();
            let (name, result) = backend.by_host(operation, source, None, &run)?;
            let report = backend.report(operation, name, HOST_WHY, Duration::ZERO);
            Ok(Counted { result: result?, report: Report { kernels: start.elapsed(), ..report } })
        })?;
        Ok(counted.result)
    }
}
