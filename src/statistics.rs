//! Statistics: their builder, and thresholds that are derived from counts.

use crate::auto::Job;
use crate::backend::Backend;
use crate::choice::Choice;
use crate::setters::setters;
use crate::{Bins, Device, Error, HistogramBuilder, PixelType, Report, Result, Source, Statistics};
use apron_core::check_percentiles;

/// Statistics that are ready to [`run`](StatisticsBuilder::run), with defaults that may be changed before.
///
/// ```
/// use apron::{Device, Image};
///
/// let image = Image::new(2, 2, 2, vec![1.0f32, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0])?;
/// let statistics = Device::cpu().statistics(&image).per_channel(true).percentiles([0.0, 50.0]).run()?;
/// assert_eq!((statistics[0].mean, statistics[1].mean), (2.5, 25.0));
/// assert_eq!(statistics[1].percentiles, [10.0, 25.0]);
/// # Ok::<(), apron::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "statistics are not taken until they are run"]
pub struct StatisticsBuilder<'a> {
    pub(crate) device: &'a Device,
    pub(crate) source: Source<'a>,
    pub(crate) per_channel: bool,
    pub(crate) percentiles: Vec<f64>,
    pub(crate) choice: Choice<'a>,
}

setters! { ['a] StatisticsBuilder<'a>: per_channel(per_channel), variant(choice) }

impl StatisticsBuilder<'_> {
    /// Sets the percentiles, 0 to 100 each: as `numpy.percentile` by its linear method, with -0 taken as 0. They are
    /// NaN if any sample is. [`Device::percentiles`] finds them alone.
    pub fn percentiles(mut self, percentiles: impl Into<Vec<f64>>) -> Self {
        self.percentiles = percentiles.into();
        self
    }

    /// Computes the statistics: one for all channels, or one per channel.
    ///
    /// # Errors
    /// [`Error::Parameter`] for percentiles out of range, and errors of the device itself.
    pub fn run(self) -> Result<Vec<Statistics>> {
        self.run_reported().map(|(statistics, _)| statistics)
    }

    /// Computes the statistics, and also returns the report; for integers it is the report of the histogram of all
    /// values, from which they are derived.
    ///
    /// # Errors
    /// As [`run`](StatisticsBuilder::run).
    pub fn run_reported(self) -> Result<(Vec<Statistics>, Report)> {
        let StatisticsBuilder { device, source, per_channel, percentiles, choice } = self;
        check_percentiles(&percentiles)?;
        let pixel = source.pixel_type();
        let Some((low, _)) = pixel.values() else {
            let take = |backend: &Backend| backend.statistics(&source, per_channel, &percentiles, choice.variant);
            let job = || Some(Job::counting(&source));
            let taken = device.by_cost(&[&source], &choice, job, |device| device.with_fallback(take))?;
            return Ok((taken.result, taken.report));
        };
        let bins = values_of("stats", &source)?;
        let counting = device.histogram(source).bins(bins).per_channel(per_channel);
        let counted = counting.variant(choice.variant).counted(true)?;
        let of = |counts: &[u64]| Statistics::from_counts(low, counts, &percentiles);
        let statistics = counted.with_counts(|counts| counts.chunks(bins.count).map(of).collect::<Result<_>>())??;
        Ok((statistics, counted.report()?))
    }
}

/// Percentiles that are ready to [`run`](PercentilesBuilder::run), with defaults that may be changed before.
///
/// ```
/// use apron::{Device, Image};
///
/// let image = Image::new(2, 2, 2, vec![1.0f32, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0])?;
/// let found = Device::cpu().percentiles(&image, [0.0, 50.0]).per_channel(true).run()?;
/// assert_eq!(found, [[1.0, 2.5], [10.0, 25.0]]);
/// # Ok::<(), apron::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "percentiles are not found until they are run"]
pub struct PercentilesBuilder<'a> {
    device: &'a Device,
    source: Source<'a>,
    per_channel: bool,
    percentiles: Vec<f64>,
    choice: Choice<'a>,
}

setters! { ['a] PercentilesBuilder<'a>: per_channel(per_channel), variant(choice) }

impl PercentilesBuilder<'_> {
    /// Finds the percentiles: of all channels together, or of each channel.
    ///
    /// # Errors
    /// [`Error::Parameter`] for percentiles out of range, and errors of the device itself.
    pub fn run(self) -> Result<Vec<Vec<f64>>> {
        self.run_reported().map(|(percentiles, _)| percentiles)
    }

    /// Finds the percentiles, and also returns the report of the first kernels that ran, with the time of all kernels.
    ///
    /// # Errors
    /// As [`run`](PercentilesBuilder::run).
    pub fn run_reported(self) -> Result<(Vec<Vec<f64>>, Report)> {
        let PercentilesBuilder { device, source, per_channel, percentiles, choice } = self;
        check_percentiles(&percentiles)?;
        if source.pixel_type().values().is_none() {
            let find = |backend: &Backend| backend.percentiles(&source, per_channel, &percentiles, choice.variant);
            let job = || Some(Job::counting(&source));
            let found = device.by_cost(&[&source], &choice, job, |device| device.with_fallback(find))?;
            return Ok((found.result, found.report));
        }
        // All statistics of integers follow from the same counts.
        let (statistics, report) =
            StatisticsBuilder { device, source, per_channel, percentiles, choice }.run_reported()?;
        Ok((statistics.into_iter().map(|of| of.percentiles).collect(), report))
    }
}

/// Returns bins with one bin per value of an integer image's sample type.
pub(crate) fn values_of(operation: &'static str, source: &Source<'_>) -> Result<Bins> {
    let found = source.pixel_type();
    Bins::of_values(found).ok_or_else(|| Error::PixelType {
        operation,
        found,
        expected: "bool or an integer of 8 or 16 bits".into(),
    })
}

impl Device {
    /// Finds percentiles, 0 to 100 each, for all channels together by default: as `numpy.percentile` by its linear
    /// method, with -0 taken as 0; NaN if any sample is. All of them are found together, by counting: integers and f16
    /// by value, f32 in three passes over the image.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![10.0f32, 40.0, 20.0, 30.0])?;
    /// assert_eq!(Device::cpu().percentiles(&image, [50.0, 100.0]).run()?, [[25.0, 40.0]]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn percentiles<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        percentiles: impl Into<Vec<f64>>,
    ) -> PercentilesBuilder<'a> {
        PercentilesBuilder {
            device: self,
            source: image.into(),
            per_channel: false,
            percentiles: percentiles.into(),
            choice: Choice::default(),
        }
    }

    /// Finds the smallest and the largest sample of all channels, as [`statistics`](Device::statistics) does, but
    /// without the other statistics, which take longer for f32: both are NaN if any sample is.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![10.0f32, 40.0, -20.0, 30.0])?;
    /// assert_eq!(Device::cpu().extremes(&image)?, (-20.0, 40.0));
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of the device itself.
    pub fn extremes<'a>(&self, image: impl Into<Source<'a>>) -> Result<(f64, f64)> {
        let (source, choice) = (image.into(), Choice::default());
        if source.pixel_type().values().is_some() {
            let statistics = self.statistics(source).run()?;
            return Ok((statistics[0].min, statistics[0].max));
        }
        let find = |backend: &Backend| backend.extremes(&source);
        let job = || Some(Job::counting(&source));
        let found = self.by_cost(&[&source], &choice, job, |device| device.with_fallback(find))?;
        Ok(found.result)
    }

    /// Computes the smallest and the largest sample, mean, standard deviation and percentiles, for all channels
    /// together by default. For integers they are derived from the counts of all values, which the device computes; for
    /// floats from sums in f64, first along each row from the left, then over the rows from the top, in the same order
    /// on every device.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![10u8, 10, 11, 13])?;
    /// let statistics = Device::cpu().statistics(&image).percentiles([50.0]).run()?;
    /// assert_eq!((statistics[0].min, statistics[0].max, statistics[0].mean), (10.0, 13.0, 11.0));
    /// assert_eq!((statistics[0].std, statistics[0].percentiles[0]), (1.5f64.sqrt(), 10.5));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn statistics<'a>(&'a self, image: impl Into<Source<'a>>) -> StatisticsBuilder<'a> {
        StatisticsBuilder {
            device: self,
            source: image.into(),
            per_channel: false,
            percentiles: Vec::new(),
            choice: Choice::default(),
        }
    }

    /// Finds Otsu's threshold of a u8 or u16 image of one channel, as OpenCV does: samples above it are the brighter
    /// class.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(4, 1, 1, vec![10u8, 11, 200, 200])?;
    /// assert_eq!(Device::cpu().otsu(&image)?, 11);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::PixelType`] and [`Error::Shape`] for other images, and errors of the device itself.
    pub fn otsu<'a>(&'a self, image: impl Into<Source<'a>>) -> Result<u32> {
        self.value_histogram(image)?.run().map(|histogram| crate::otsu(histogram.counts()) as u32)
    }

    /// Counts the samples of a u8 or u16 image of one channel with one bin per value, from which thresholds are found:
    /// see [`otsu`](crate::otsu) and [`multi_otsu`](crate::multi_otsu).
    ///
    /// ```
    /// use apron::{Device, Image, multi_otsu};
    ///
    /// let image = Image::new(6, 1, 1, vec![1u8, 2, 100, 101, 200, 201])?;
    /// let counts = Device::cpu().value_histogram(&image)?.run()?;
    /// assert_eq!((counts.bins(), counts.counts()[200]), (256, 1));
    /// assert_eq!(multi_otsu(counts.counts(), 3)?, [2, 101]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`otsu`](Device::otsu).
    pub fn value_histogram<'a>(&'a self, image: impl Into<Source<'a>>) -> Result<HistogramBuilder<'a>> {
        let source = image.into();
        let (found, channels) = (source.pixel_type(), source.shape().channels);
        if !matches!(found, PixelType::U8 | PixelType::U16) {
            return Err(Error::PixelType { operation: "otsu", found, expected: "u8 or u16".into() });
        }
        if channels != 1 {
            let (value, limit) = (channels.to_string(), "1, since there is one threshold".into());
            return Err(Error::Shape { what: "number of channels", value, limit });
        }
        let bins = values_of("otsu", &source)?;
        Ok(self.histogram(source).bins(bins))
    }
}
