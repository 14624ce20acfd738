//! Histograms: a request in the making.

use crate::backend::Written;
use crate::choice::Choice;
use crate::device_image::Made;
use crate::{Bins, Device, Histogram, Report, Result, Source, Tuning};
use apron_core::Edges;

/// A histogram that is ready to [`run`](HistogramOf::run), with defaults that may be changed before.
#[must_use = "a histogram does nothing until it is run"]
pub struct HistogramOf<'a> {
    device: &'a Device,
    source: Source<'a>,
    bins: Bins,
    per_channel: bool,
    choice: Choice<'a>,
}

impl<'a> HistogramOf<'a> {
    pub(crate) fn new(device: &'a Device, source: Source<'a>) -> Self {
        HistogramOf { device, source, bins: Bins::default(), per_channel: false, choice: Choice::default() }
    }

    /// How many bins over which range; 256 over the type's or the samples' range if not said.
    pub fn bins(mut self, bins: Bins) -> Self {
        self.bins = bins;
        self
    }

    /// Counts each channel apart.
    pub fn per_channel(mut self, per_channel: bool) -> Self {
        self.per_channel = per_channel;
        self
    }

    /// Asks for an implementation by name, instead of the one that the environment variable `APRON_VARIANT` names or
    /// the plan prefers.
    pub fn variant(mut self, name: impl Into<Option<&'a str>>) -> Self {
        self.choice.variant = name.into();
        self
    }

    /// Gives the numbers of the kernels' grid, where the variant leaves some open, instead of those that were
    /// measured: for a sweep.
    pub fn tuning(mut self, tuning: impl Into<Option<Tuning>>) -> Self {
        self.choice.tuning = tuning.into();
        self
    }

    /// Counts, and waits for the result.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for impossible bins,
    /// [`Error::Samples`](crate::Error::Samples) where the range is to be found from NaN or infinity,
    /// [`Error::Unsupported`](crate::Error::Unsupported), and the device's own troubles.
    pub fn run(self) -> Result<Histogram> {
        self.run_reported().map(|(histogram, _)| histogram)
    }

    /// Counts, and says what ran.
    ///
    /// # Errors
    /// As [`run`](HistogramOf::run).
    pub fn run_reported(self) -> Result<(Histogram, Report)> {
        let counted = self.enqueue()?;
        Ok((counted.download()?, counted.report()?))
    }

    /// Counts, and leaves the counts on the device: on a GPU it returns when the work is enqueued. So it can
    /// be part of a [`Chain`](crate::Chain), unless the range of f32 bins is to be found first.
    ///
    /// # Errors
    /// As [`run`](HistogramOf::run).
    pub fn enqueue(self) -> Result<DeviceHistogram> {
        self.bins.check()?;
        self.device.with_fallback(|backend| backend.histogram(&self.source, &self.bins, self.per_channel, &self.choice))
    }
}

/// A histogram on a device, of [`HistogramOf::enqueue`].
pub struct DeviceHistogram {
    pub(crate) counts: Counts,
    pub(crate) made: Made,
}

/// What is there of a histogram.
pub(crate) enum Counts {
    Done(Histogram),
    /// 256 counts a channel.
    OfBytes {
        edges: Edges,
        channels: u32,
        written: Written,
    },
    /// A count for each bin and channel.
    OfBins {
        edges: Edges,
        channels: u32,
        written: Written,
    },
}

impl DeviceHistogram {
    /// Waits for the counts, and copies them to the host.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver), also for a kernel that failed.
    pub fn download(&self) -> Result<Histogram> {
        Ok(match &self.counts {
            Counts::Done(histogram) => histogram.clone(),
            Counts::OfBytes { edges, channels, written } => {
                Histogram::from_byte_counts(edges.clone(), *channels, &written.read::<u64>()?)
            }
            Counts::OfBins { edges, channels, written } => Histogram::new(edges.clone(), *channels, written.read()?),
        })
    }

    /// What the operation did; waits for its kernels.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver), for a kernel that failed.
    pub fn report(&self) -> Result<Report> {
        self.made.report()
    }
}
