//! Histograms of weights, and of pairs of channels.

use crate::{
    AnyImage, Binning, Device, DeviceImage, Histogram2d, Image, Pixel, Report, Result, Source, WeightedHistogram,
};

/// A weight for each pixel of an image: made of what holds them.
pub enum Weights<'a> {
    /// Row by row.
    Numbers(&'a [f64]),
    /// As the samples of an image of one channel and the same width and height. On the device of the operation it is
    /// read where it lies.
    Image(Source<'a>),
}

impl<'a> From<&'a [f64]> for Weights<'a> {
    fn from(weights: &'a [f64]) -> Self {
        Weights::Numbers(weights)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Weights<'a> {
    fn from(weights: &'a [f64; N]) -> Self {
        Weights::Numbers(weights)
    }
}

impl<'a> From<&'a Vec<f64>> for Weights<'a> {
    fn from(weights: &'a Vec<f64>) -> Self {
        Weights::Numbers(weights)
    }
}

impl<'a, T: Pixel> From<&'a Image<'_, T>> for Weights<'a> {
    fn from(weights: &'a Image<'_, T>) -> Self {
        Weights::Image(weights.into())
    }
}

impl<'a> From<&'a AnyImage<'_>> for Weights<'a> {
    fn from(weights: &'a AnyImage<'_>) -> Self {
        Weights::Image(weights.into())
    }
}

impl<'a> From<&'a DeviceImage> for Weights<'a> {
    fn from(weights: &'a DeviceImage) -> Self {
        Weights::Image(weights.into())
    }
}

/// A result, and what ran.
pub(crate) struct Counted<T> {
    pub(crate) result: T,
    pub(crate) report: Report,
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
    /// from 0; the same on every device.
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
    /// Weights that are on the device stay there:
    ///
    /// ```
    /// use apron::{Bins, Device, Image, Mask, PixelType};
    ///
    /// let device = Device::auto();
    /// let image = device.upload(&Image::new(3, 1, 1, vec![0u8, 200, 10])?)?;
    /// // A quarter of each sample.
    /// let weights = device.correlate(&image, Mask::new(1, 1, [0.25])?).out_type(PixelType::F32).run()?;
    /// let sums = device.weighted_histogram(&image, &weights, Bins { count: 2, range: None }, false)?.sums;
    /// assert_eq!(sums, [2.5, 50.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`HistogramOf::run`](crate::HistogramOf::run), [`Error::Shape`](crate::Error::Shape) for another number of
    /// weights than of pixels, and [`Error::Unsupported`](crate::Error::Unsupported) on the GPU and the emulator for more
    /// than 2^27 sums, one of each bin for each 65536 samples.
    pub fn weighted_histogram<'a>(
        &self,
        image: impl Into<Source<'a>>,
        weights: impl Into<Weights<'a>>,
        bins: impl Into<Binning>,
        per_channel: bool,
    ) -> Result<WeightedHistogram> {
        self.weighted_histogram_reported(image, weights, bins, per_channel, None).map(|(histogram, _)| histogram)
    }

    /// The same by a variant, if one is named, and what ran.
    ///
    /// # Errors
    /// As [`weighted_histogram`](Device::weighted_histogram).
    pub fn weighted_histogram_reported<'a>(
        &self,
        image: impl Into<Source<'a>>,
        weights: impl Into<Weights<'a>>,
        bins: impl Into<Binning>,
        per_channel: bool,
        variant: Option<&str>,
    ) -> Result<(WeightedHistogram, Report)> {
        let (source, weights, binning) = (image.into(), weights.into(), bins.into());
        let counted =
            self.with_fallback(|backend| backend.weighted(&source, &weights, &binning, per_channel, variant))?;
        Ok((counted.result, counted.report))
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
    /// that is not there, and [`Error::Unsupported`](crate::Error::Unsupported) on the GPU and the emulator for more than
    /// 2^26 pairs of bins.
    pub fn histogram2d<'a>(
        &self,
        image: impl Into<Source<'a>>,
        channels: [u32; 2],
        bins: [impl Into<Binning>; 2],
    ) -> Result<Histogram2d> {
        self.histogram2d_reported(image, channels, bins, None).map(|(histogram, _)| histogram)
    }

    /// The same by a variant, if one is named, and what ran.
    ///
    /// # Errors
    /// As [`histogram2d`](Device::histogram2d).
    pub fn histogram2d_reported<'a>(
        &self,
        image: impl Into<Source<'a>>,
        channels: [u32; 2],
        bins: [impl Into<Binning>; 2],
        variant: Option<&str>,
    ) -> Result<(Histogram2d, Report)> {
        let (source, [first, second]) = (image.into(), bins.map(Into::into));
        let counted = self.with_fallback(|backend| backend.pairs(&source, channels, [&first, &second], variant))?;
        Ok((counted.result, counted.report))
    }
}
