//! Statistics: their builder, and thresholds that follow from counts.

use crate::backend::Backend;
use crate::choice::Choice;
use crate::setters::setters;
use crate::{Bins, Device, Error, Histogram, PixelType, Report, Result, Source, Statistics};
use apron_core::check_percentiles;

/// Statistics that are ready to [`run`](StatisticsBuilder::run), with defaults that may be changed before.
#[derive(Debug)]
#[must_use = "statistics are not taken until they are run"]
pub struct StatisticsBuilder<'a> {
    device: &'a Device,
    source: Source<'a>,
    per_channel: bool,
    percentiles: Vec<f64>,
    choice: Choice<'a>,
}

setters! { ['a] StatisticsBuilder<'a>: per_channel(per_channel), variant(choice) }

impl StatisticsBuilder<'_> {
    /// Percentiles, 0 to 100 each: what `numpy.percentile` gives by its linear method, of samples whose zeros have no sign.
    /// Of floats they are found by counting, in three rounds or so; where a sample is NaN they are.
    pub fn percentiles(mut self, percentiles: impl Into<Vec<f64>>) -> Self {
        self.percentiles = percentiles.into();
        self
    }

    /// Takes them: one for all channels, or one for each.
    ///
    /// # Errors
    /// [`Error::Parameter`] for impossible percentiles, and the device's own troubles.
    pub fn run(self) -> Result<Vec<Statistics>> {
        self.run_reported().map(|(statistics, _)| statistics)
    }

    /// Takes them, and says what ran: of integers the histogram of all values, from which they follow.
    ///
    /// # Errors
    /// As [`run`](StatisticsBuilder::run).
    pub fn run_reported(self) -> Result<(Vec<Statistics>, Report)> {
        let StatisticsBuilder { device, source, per_channel, percentiles, choice } = self;
        check_percentiles(&percentiles)?;
        let pixel = source.pixel_type();
        let Some((low, _)) = pixel.values() else {
            let take = |backend: &Backend| backend.statistics(&source, per_channel, &percentiles, choice.variant);
            let taken = device.with_fallback(take)?;
            return Ok((taken.statistics, taken.report));
        };
        let bins = values_of("stats", &source)?;
        let counting = device.histogram(source).bins(bins).per_channel(per_channel);
        let (histogram, report) = counting.variant(choice.variant).run_reported()?;
        let of = |channel| Statistics::of_counts(low, histogram.channel(channel), &percentiles);
        Ok(((0..histogram.channels()).map(of).collect::<Result<_>>()?, report))
    }
}

/// A bin for each value that an integer image's samples can have.
pub(crate) fn values_of(operation: &'static str, source: &Source<'_>) -> Result<Bins> {
    let found = source.pixel_type();
    Bins::of_values(found).ok_or_else(|| Error::PixelType { operation, found, expected: "u8, u16 or i16".into() })
}

/// Statistics, and what ran.
pub(crate) struct Taken {
    pub(crate) statistics: Vec<Statistics>,
    pub(crate) report: Report,
}

impl crate::backend::Explained for Taken {
    fn explain(mut self, why: &str) -> Self {
        self.report.why = format!("{}; {why}", self.report.why);
        self
    }

    fn ran(&self) -> &Report {
        &self.report
    }
}

impl Device {
    /// The least and largest sample, mean, standard deviation and percentiles, of all channels together unless asked
    /// otherwise. Of integers they follow from the counts of all values, which the device takes; of floats from sums in
    /// f64, of each row from the left and of those from the top, in the same order on every device.
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

    /// Otsu's threshold of a u8 or u16 image of one channel, as OpenCV finds it: samples above it are the brighter class.
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
    /// [`Error::PixelType`] and [`Error::Shape`] for other images, and the device's own troubles.
    pub fn otsu<'a>(&'a self, image: impl Into<Source<'a>>) -> Result<u32> {
        self.value_counts(image, None).map(|(histogram, _)| crate::otsu(histogram.counts()) as u32)
    }

    /// The count of each value of a u8 or u16 image of one channel, by which thresholds are found.
    ///
    /// # Errors
    /// As [`otsu`](Device::otsu).
    pub fn value_counts<'a>(
        &'a self,
        image: impl Into<Source<'a>>,
        variant: Option<&str>,
    ) -> Result<(Histogram, Report)> {
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
        self.histogram(source.view()).bins(bins).variant(variant).run_reported()
    }
}
