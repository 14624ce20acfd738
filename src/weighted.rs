//! Histograms of weights, and of two channels: their builders.

use crate::auto::Job;
use crate::choice::Choice;
use crate::joint::Asked;
use crate::setters::setters;
use crate::{
    AnyImage, Binning, Bins, Device, DeviceImage, Histogram2d, Image, Pixel, PixelType, Report, Result, Source,
    WeightedHistogram,
};
use apron_core::{Columns, check_channel};

/// One weight per pixel of an image, converted from numbers or from another image.
#[derive(Debug)]
pub enum Weights<'a> {
    /// Weights row by row.
    Numbers(&'a [f64]),
    /// Weights as the samples of an image of one channel and the same width and height. If it is on the operation's
    /// device, it is read in place.
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

/// A histogram of weights that is ready to [`run`](WeightedHistogramBuilder::run), with defaults that
/// may be changed before.
#[derive(Debug)]
#[must_use = "a histogram does nothing until it is run"]
pub struct WeightedHistogramBuilder<'a> {
    device: &'a Device,
    source: Source<'a>,
    weights: Weights<'a>,
    binning: Result<Binning>,
    per_channel: bool,
    choice: Choice<'a>,
}

setters! { ['a] WeightedHistogramBuilder<'a>: binning(binning), per_channel(per_channel), variant(choice) }

impl WeightedHistogramBuilder<'_> {
    /// Sums the weights by bins, and waits for the result.
    ///
    /// # Errors
    /// As [`HistogramBuilder::run`](crate::HistogramBuilder::run), [`Error::Shape`](crate::Error::Shape) if the numbers
    /// of weights and pixels differ, and [`Error::Unsupported`](crate::Error::Unsupported) on the GPU and the emulator
    /// for more than 2^27 sums, one per bin and block of 65536 samples.
    pub fn run(self) -> Result<WeightedHistogram> {
        self.run_reported().map(|(histogram, _)| histogram)
    }

    /// Sums the weights by bins, and also returns the report of what ran.
    ///
    /// # Errors
    /// As [`run`](WeightedHistogramBuilder::run).
    pub fn run_reported(self) -> Result<(WeightedHistogram, Report)> {
        let WeightedHistogramBuilder { device, source, weights, binning, per_channel, choice } = self;
        let binning = binning?;
        let job = || Some(Job::counting(&source));
        let counted = device.by_cost(&[&source], &choice, job, |device| {
            device.with_fallback(|backend| backend.weighted(&source, &weights, &binning, per_channel, choice.variant))
        })?;
        Ok((counted.result, counted.report))
    }
}

/// A histogram of two channels that is ready to [`run`](Histogram2dBuilder::run), with defaults that
/// may be changed before.
#[derive(Debug)]
#[must_use = "a histogram does nothing until it is run"]
pub struct Histogram2dBuilder<'a> {
    device: &'a Device,
    source: Source<'a>,
    channels: [u32; 2],
    binning: [Binning; 2],
    choice: Choice<'a>,
}

setters! { ['a] Histogram2dBuilder<'a>: variant(choice) }

impl Histogram2dBuilder<'_> {
    /// Sets the bins of the first and of the second channel: numbers of bins, [`Bins`](crate::Bins) with a range,
    /// [`Edges`](crate::Edges), or [`Binning`]. By default 256 over the default range of each.
    pub fn bins(mut self, bins: [impl Into<Binning>; 2]) -> Self {
        self.binning = bins.map(Into::into);
        self
    }

    /// Counts, and waits for the result.
    ///
    /// # Errors
    /// As [`HistogramBuilder::run`](crate::HistogramBuilder::run), [`Error::Parameter`](crate::Error::Parameter) for a
    /// channel out of range, and [`Error::Unsupported`](crate::Error::Unsupported) on the GPU and the emulator for more
    /// than 2^26 pairs of bins.
    pub fn run(self) -> Result<Histogram2d> {
        self.run_reported().map(|(histogram, _)| histogram)
    }

    /// Counts, and also returns the report of what ran.
    ///
    /// # Errors
    /// As [`run`](Histogram2dBuilder::run).
    pub fn run_reported(self) -> Result<(Histogram2d, Report)> {
        let Histogram2dBuilder { device, source, channels, binning, choice } = self;
        let (shape, pixel) = (source.shape(), source.pixel_type());
        channels.iter().try_for_each(|&channel| check_channel(shape, channel))?;
        let columns = Columns::new(shape.channels, channels.to_vec())?;
        // By default the bins of bytes cover all values, not only those that occur.
        let of_bytes = |binning| match binning {
            Binning::Even(Bins { count, range: None }) if pixel == PixelType::U8 => {
                Bins { count, range: Some((0.0, 256.0)) }.into()
            }
            other => other,
        };
        let binning = binning.map(of_bytes).to_vec();
        columns.check_binning(&binning)?;
        let asked = Asked { source, columns, binning, choice };
        let (histogram, report) = asked.on(device, |device| device.with_fallback(|backend| backend.joint(&asked)))?;
        Ok((Histogram2d::of(histogram), report))
    }
}

impl Device {
    /// Sums weights, one per pixel, by the bins of its samples: `numpy.histogram` with weights, for all channels
    /// together by default. Even bins are summed in NumPy's order: blocks of 65536 samples, each summed from 0; the
    /// same on every device.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 1, vec![0u8, 200, 10])?;
    /// let histogram = Device::cpu().weighted_histogram(&image, &[0.5, 2.0, 0.25]).bins(2).run()?;
    /// assert_eq!(histogram.sums, [0.75, 2.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// Weights that are on the device stay there:
    ///
    /// ```
    /// use apron::{Device, Image, Mask, PixelType};
    ///
    /// let device = Device::auto();
    /// let image = device.upload(&Image::new(3, 1, 1, vec![0u8, 200, 10])?)?;
    /// // A quarter of each sample.
    /// let weights = device.correlate(&image, Mask::from_rows([[0.25]])?).out_type(PixelType::F32).run()?;
    /// assert_eq!(device.weighted_histogram(&image, &weights).bins(2).run()?.sums, [2.5, 50.0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn weighted_histogram<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        weights: impl Into<Weights<'a>>,
    ) -> WeightedHistogramBuilder<'a> {
        let (source, weights, choice) = (image.into(), weights.into(), Choice::default());
        let binning = Ok(Binning::Even(Bins::default()));
        WeightedHistogramBuilder { device: self, source, weights, binning, per_channel: false, choice }
    }

    /// Counts an image's pixels by the bins of two of its channels: `numpy.histogram2d`. It is
    /// [`histogramdd`](Device::histogramdd) of two columns, with more bins by default.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 2, vec![0u8, 200, 10, 10, 200, 200])?;
    /// let histogram = Device::cpu().histogram2d(&image, [0, 1]).bins([2, 2]).run()?;
    /// assert_eq!((histogram.count(0, 1), histogram.count(1, 0), histogram.count(1, 1)), (1, 0, 1));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn histogram2d<'a>(&'a self, image: impl Into<Source<'a>>, channels: [u32; 2]) -> Histogram2dBuilder<'a> {
        let binning = [Bins::default(), Bins::default()].map(Binning::Even);
        Histogram2dBuilder { device: self, source: image.into(), channels, binning, choice: Choice::default() }
    }
}
