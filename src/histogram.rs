//! Histograms: their builder, and their counts on a device.

use crate::auto::Job;
use crate::backend::{Counting, Written};
use crate::choice::Choice;
use crate::device_image::Made;
use crate::setters::setters;
use crate::target::Room;
use crate::{Binning, Bins, Device, Edges, Histogram, PixelType, Report, Result, Shape, Source, Target};
use apron_core::join_extremes;
use std::fmt;
use std::iter;

/// A histogram that is ready to [`run`](HistogramBuilder::run), with defaults that may be changed before.
///
/// ```
/// use apron::{Device, Image};
///
/// let image = Image::from_fn(4, 2, 3, |x, _, channel| 10.0 * x as f32 + channel as f32)?;
/// let histogram = Device::cpu().histogram(&image).bins(4).range(0.0, 40.0).per_channel(true).run()?;
/// assert_eq!((histogram.channels(), histogram.channel(2)), (3, &[2, 2, 2, 2][..]));
/// # Ok::<(), apron::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a histogram does nothing until it is run"]
pub struct HistogramBuilder<'a> {
    pub(crate) device: &'a Device,
    pub(crate) source: Source<'a>,
    pub(crate) binning: Result<Binning>,
    pub(crate) per_channel: bool,
    pub(crate) roi: Option<Source<'a>>,
    pub(crate) choice: Choice<'a>,
}

setters! { ['a] HistogramBuilder<'a>: binning(binning), per_channel(per_channel), variant(choice), tuning(choice) }

impl<'a> HistogramBuilder<'a> {
    pub(crate) fn new(device: &'a Device, source: Source<'a>) -> Self {
        let binning = Ok(Binning::Even(Bins::default()));
        HistogramBuilder { device, source, binning, per_channel: false, roi: None, choice: Choice::default() }
    }

    /// Counts only the pixels where `mask`, a u8 image of one channel and the same width and height, is not 0.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 1, vec![5u8, 7, 7])?;
    /// let mask = Image::new(3, 1, 1, vec![1u8, 0, 255])?;
    /// let histogram = Device::cpu().histogram(&image).roi_mask(&mask).run()?;
    /// assert_eq!((histogram.counts()[5], histogram.counts()[7]), (1, 1));
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn roi_mask(mut self, mask: impl Into<Source<'a>>) -> Self {
        self.roi = Some(mask.into());
        self
    }

    /// Counts, and waits for the result.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) for invalid bins, [`Error::Samples`](crate::Error::Samples) if the
    /// range has to be found from samples with NaN or infinity, [`Error::Unsupported`](crate::Error::Unsupported), and
    /// errors of the device itself.
    pub fn run(self) -> Result<Histogram> {
        self.run_reported().map(|(histogram, _)| histogram)
    }

    /// Counts, and also returns the report of what ran.
    ///
    /// # Errors
    /// As [`run`](HistogramBuilder::run).
    pub fn run_reported(self) -> Result<(Histogram, Report)> {
        let counted = self.counted(true)?;
        Ok((counted.download()?, counted.report()?))
    }

    /// Counts, and leaves the counts on the device: on a GPU it returns when the work is enqueued. So it can be part of
    /// a [`Chain`](crate::Chain), unless the range of f32 bins has to be found first.
    ///
    /// # Errors
    /// As [`run`](HistogramBuilder::run).
    pub fn enqueue(self) -> Result<DeviceHistogram> {
        self.counted(false)
    }

    /// Counts; `waits` for counts that go to the host at once.
    pub(crate) fn counted(self, waits: bool) -> Result<DeviceHistogram> {
        let HistogramBuilder { device, source, binning, per_channel, roi, choice } = self;
        let counting = Counting { binning: binning?, per_channel, roi, waits };
        counting.binning.check()?;
        let sources: Vec<&Source<'_>> = iter::once(&source).chain(&counting.roi).collect();
        device.by_cost(
            &sources,
            &choice,
            || Some(Job::counting(&source)),
            |device| device.with_fallback(|backend| backend.histogram(&source, &counting, &choice)),
        )
    }
}

/// A histogram on a device, made by [`HistogramBuilder::enqueue`].
pub struct DeviceHistogram {
    pub(crate) counts: Counts,
    pub(crate) made: Made,
}

impl fmt::Debug for DeviceHistogram {
    /// Prints what is known without waiting for the device: no counts.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceHistogram").field("device", &self.made.report.device).finish_non_exhaustive()
    }
}

/// The counts, in the form in which the device made them.
pub(crate) enum Counts {
    Done(Histogram),
    /// 256 counts per channel.
    OfBytes {
        edges: Edges,
        channels: u32,
        written: Written,
    },
    /// One count per value of an integer type and channel.
    OfValues {
        binning: Binning,
        pixel: PixelType,
        channels: u32,
        written: Written,
    },
    /// One count per bin and channel.
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
            Counts::OfValues { binning, pixel, channels, written } => {
                let counts = written.read::<u64>()?;
                let edges = binning.edges(*pixel, || extremes(*pixel, &counts))?;
                if binning.is_of_values(*pixel) {
                    return Ok(Histogram::new(edges, *channels, counts));
                }
                Histogram::from_value_counts(edges, *pixel, *channels, &counts)
            }
            Counts::OfBins { edges, channels, written } => Histogram::new(edges.clone(), *channels, written.read()?),
        })
    }

    /// Copies the counts into an image of u64 or i64, which is as wide as the histogram has bins, with a row for each
    /// channel. On a GPU the counts stay there and the host does not wait, unless it derives them from counts of
    /// values: for bins of u8 other than the [default's](Bins), and for u16 and i16 with explicit edges, a mask or no
    /// range.
    ///
    /// ```
    /// use apron::{Device, Image, PixelType, Shape};
    ///
    /// let device = Device::cpu();
    /// let counted = device.histogram(&Image::new(3, 1, 1, vec![0u8, 1, 1])?).enqueue()?;
    /// let mut counts = device.zeros(Shape::new(256, 1, 1)?, PixelType::U64)?;
    /// counted.copy_into(&mut counts)?;
    /// assert_eq!(counts.download::<u64>()?.row(0)[..2], [1, 2]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) and [`Error::PixelType`](crate::Error::PixelType) for an image of another
    /// shape or type; as [`run_into`](crate::FilterBuilder::run_into) for a shared one, and
    /// [`Error::Driver`](crate::Error::Driver).
    pub fn copy_into<'t>(&self, target: impl Into<Target<'t>>) -> Result<()> {
        target.into().fill(|mut room| {
            let pixel = if room.pixel_type() == PixelType::I64 { PixelType::I64 } else { PixelType::U64 };
            let (bins, channels) = self.counts.size();
            room.check(Shape::new(u32::try_from(bins).unwrap_or(u32::MAX), channels, 1)?, pixel, 1)?;
            #[cfg(feature = "gpu")]
            if let (Room::Gpu { buffer, rows, .. }, Some(Written::Gpu(counts))) = (&room, self.counts.of_bins())
                && buffer.is_beside(counts)
            {
                buffer.copy_rows(counts, *rows)?;
                return Ok(Made::on_host(self.made.report.clone()));
            }
            let histogram = self.download()?;
            room.write(0, |bytes| {
                bytes.copy_from_slice(bytemuck::cast_slice(histogram.counts()));
                Ok(())
            })?;
            Ok(Made::on_host(self.made.report.clone()))
        })
    }

    /// Waits for the counts, and returns the first and the last bin that is not empty, of a histogram of one channel;
    /// `None` if all are.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let counted = Device::cpu().histogram(&Image::new(3, 1, 1, vec![5u8, 7, 6])?).enqueue()?;
    /// assert_eq!(counted.occupied()?, Some((5, 7)));
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`download`](Self::download).
    pub fn occupied(&self) -> Result<Option<(usize, usize)>> {
        let is_found = |count: &u64| *count > 0;
        self.with_counts(|counts| counts.iter().position(is_found).zip(counts.iter().rposition(is_found)))
    }

    /// Waits for the counts, and runs `take` on them: a number for each bin of the first channel, then of the next.
    pub(crate) fn with_counts<R>(&self, take: impl FnOnce(&[u64]) -> R) -> Result<R> {
        match &self.counts {
            Counts::Done(histogram) => Ok(take(histogram.counts())),
            Counts::OfBins { written, .. } => written.with(take),
            Counts::OfValues { binning, pixel, written, .. } if binning.is_of_values(*pixel) => written.with(take),
            _ => self.download().map(|histogram| take(histogram.counts())),
        }
    }

    /// Returns the report of the operation; waits for its kernels.
    ///
    /// # Errors
    /// [`Error::Driver`](crate::Error::Driver), for a kernel that failed.
    pub fn report(&self) -> Result<Report> {
        self.made.report()
    }
}

impl Counts {
    /// Returns the numbers of bins and of channels.
    fn size(&self) -> (usize, u32) {
        match self {
            Counts::Done(histogram) => (histogram.edges().len() - 1, histogram.channels()),
            Counts::OfBytes { edges, channels, .. } | Counts::OfBins { edges, channels, .. } => {
                (edges.bins(), *channels)
            }
            Counts::OfValues { binning, channels, .. } => (binning.bins(), *channels),
        }
    }

    /// Returns the device's counts if they are per bin.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_bins(&self) -> Option<&Written> {
        // Counts of values are also per bin if no two values share a bin.
        match self {
            Counts::OfBytes { edges, written, .. } => edges.is_of_values(PixelType::U8).then_some(written),
            Counts::OfValues { binning, pixel, written, .. } => binning.is_of_values(*pixel).then_some(written),
            Counts::OfBins { written, .. } => Some(written),
            Counts::Done(_) => None,
        }
    }
}

/// Counts an image by parts: `count` adds up the counts of all parts between the same edges. Edges that depend on the
/// image follow from its extremes, or from the counts of all values.
pub(crate) fn counted_by_parts(
    binning: &Binning,
    pixel: PixelType,
    extremes_of_floats: impl FnOnce() -> Result<(f64, f64)>,
    count: impl FnOnce(&Binning) -> Result<(Histogram, Report)>,
) -> Result<(Histogram, Report)> {
    if !binning.seeks_range(pixel) {
        return count(binning);
    }
    let Some(values) = Bins::of_values(pixel) else {
        let extremes = extremes_of_floats()?;
        return count(&Binning::Between(binning.edges(pixel, || extremes)?));
    };
    let (counted, report) = count(&Binning::Even(values))?;
    let edges = binning.edges(pixel, || extremes(pixel, counted.counts()))?;
    Ok((Histogram::from_value_counts(edges, pixel, counted.channels(), counted.counts()), report))
}

/// Returns the smallest and the largest value that occurs.
fn extremes(pixel: PixelType, counts: &[u64]) -> (f64, f64) {
    let (low, values) = pixel.values().expect("an integer type");
    let found = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let pairs = found.map(|(cell, _)| (low as f64 + (cell % values) as f64, low as f64 + (cell % values) as f64));
    pairs.fold((f64::INFINITY, f64::NEG_INFINITY), join_extremes)
}
