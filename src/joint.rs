//! Histograms of many dimensions: what they count, and their builder.

use crate::auto::Job;
use crate::backend::Reported;
use crate::choice::Choice;
use crate::setters::setters;
use crate::{
    AnyImage, Binning, Bins, Device, DeviceImage, Error, HistogramDd, Image, Pixel, Report, Result, Source,
    SparseHistogram, Weights,
};
use apron_core::{Columns, Shape, each_type};

const OPERATION: &str = "histogramdd";

/// Rows of samples, whose columns are the dimensions of a histogram. An image converts to the table whose rows are its
/// pixels and whose columns are its channels.
#[derive(Debug)]
pub struct Table<'a>(Parts<'a>);

#[derive(Debug)]
enum Parts<'a> {
    Channels(Source<'a>),
    Rows(Source<'a>),
    Images(Vec<Source<'a>>),
}

impl<'a> Table<'a> {
    /// Takes the rows of an image of one channel, whose columns are its pixels: an array of shape (rows, columns).
    ///
    /// ```
    /// use apron::{Device, Image, Table};
    ///
    /// // Three rows of two columns.
    /// let image = Image::new(2, 3, 1, vec![0.0f32, 5.0, 0.5, 1.0, 1.0, 6.0])?;
    /// let histogram = Device::cpu().histogramdd(Table::of_rows(&image)).bins(2).run()?;
    /// assert_eq!(histogram.cells, [0, 1, 1, 1]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn of_rows(image: impl Into<Source<'a>>) -> Table<'a> {
        Table(Parts::Rows(image.into()))
    }

    /// Takes images of one size and type, whose pixels at the same place are a row: the channels of the first image are
    /// the first columns. They are put together on the host.
    ///
    /// ```
    /// use apron::{Device, Image, Table};
    ///
    /// let fixed = Image::new(4, 1, 1, vec![0u8, 9, 9, 0])?;
    /// let moving = Image::new(4, 1, 1, vec![7u8, 1, 1, 7])?;
    /// let histogram = Device::cpu().histogramdd(Table::of_images([&fixed, &moving])).bins(2).run()?;
    /// // Each sample of one image tells that of the other.
    /// assert_eq!(histogram.information()?.normalized, 2.0);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn of_images<S: Into<Source<'a>>>(images: impl IntoIterator<Item = S>) -> Table<'a> {
        Table(Parts::Images(images.into_iter().map(Into::into).collect()))
    }

    /// Returns the samples, row by row, and the number of columns.
    fn joined(self) -> Result<(Source<'a>, u32)> {
        match self.0 {
            Parts::Channels(source) => {
                let channels = source.shape().channels;
                Ok((source, channels))
            }
            Parts::Rows(source) => match source.shape() {
                Shape { channels: 1, width, .. } => Ok((source, width)),
                shape => {
                    let (value, limit) = (shape.channels.to_string(), "1 in a table of rows".into());
                    Err(Error::Shape { what: "channels", value, limit })
                }
            },
            Parts::Images(sources) => {
                let images = sources.iter().map(crate::backend::host_whole).collect::<Result<Vec<_>>>()?;
                let Some(first) = images.first() else {
                    return Err(Error::parameter(OPERATION, "number of images", 0, "1 or more"));
                };
                let columns = images.iter().map(|image| image.shape().channels).sum();
                // Refused before the images are put together.
                Columns::all(columns)?;
                let joined = each_type!(first, first => side_by_side(first, &images, columns))?;
                Ok((Source::Host(joined), columns))
            }
        }
    }
}

/// Puts the channels of all images next to each other.
fn side_by_side<T: Pixel>(first: &Image<'_, T>, images: &[AnyImage<'_>], columns: u32) -> Result<AnyImage<'static>> {
    let shape = first.shape();
    let whole = Shape::new(shape.width.saturating_mul(columns), shape.height, 1)?;
    apron_core::check_memory::<T>(whole.samples(), whole)?;
    let mut samples = vec![T::default(); whole.samples() as usize];
    let mut column = 0;
    for image in images {
        let (found, channels) = (image.shape(), image.shape().channels as usize);
        if (found.width, found.height) != (shape.width, shape.height) {
            let limit = format!("{}x{}, as the first image's", shape.width, shape.height);
            return Err(Error::Shape { what: "size", value: format!("{}x{}", found.width, found.height), limit });
        }
        let Some(typed) = T::from_any(image.view()) else {
            let expected = format!("{}, as the first image's", T::PIXEL);
            return Err(Error::PixelType { operation: OPERATION, found: image.pixel_type(), expected });
        };
        let rows = samples.chunks_exact_mut(columns as usize);
        for (row, pixel) in rows.zip(typed.packed().chunks_exact(channels)) {
            row[column..column + channels].copy_from_slice(pixel);
        }
        column += channels;
    }
    Ok(T::into_any(Image::new(whole.width, whole.height, 1, samples)?))
}

impl<'a> From<Source<'a>> for Table<'a> {
    fn from(source: Source<'a>) -> Self {
        Table(Parts::Channels(source))
    }
}

impl<'a, T: Pixel> From<&'a Image<'_, T>> for Table<'a> {
    fn from(image: &'a Image<'_, T>) -> Self {
        Source::from(image).into()
    }
}

impl<'a> From<&'a AnyImage<'_>> for Table<'a> {
    fn from(image: &'a AnyImage<'_>) -> Self {
        Source::from(image).into()
    }
}

impl<'a> From<&'a DeviceImage> for Table<'a> {
    fn from(image: &'a DeviceImage) -> Self {
        Source::from(image).into()
    }
}

/// A histogram of many dimensions that is ready to [`run`](HistogramDdBuilder::run), with defaults that
/// may be changed before.
#[derive(Debug)]
#[must_use = "a histogram does nothing until it is run"]
pub struct HistogramDdBuilder<'a> {
    device: &'a Device,
    table: Table<'a>,
    columns: Option<Vec<u32>>,
    binning: OfColumns,
    choice: Choice<'a>,
}

/// The bins of all columns, or of each.
#[derive(Debug)]
enum OfColumns {
    All(Binning),
    Each(Vec<Binning>),
}

setters! { ['a] HistogramDdBuilder<'a>: variant(choice) }

impl HistogramDdBuilder<'_> {
    /// Counts some columns only, from 0, in the given order; all by default.
    pub fn columns(mut self, columns: impl Into<Vec<u32>>) -> Self {
        self.columns = Some(columns.into());
        self
    }

    /// Sets the bins of all columns: a number of even bins, [`Bins`](crate::Bins) with a range,
    /// [`Edges`](crate::Edges), or [`Binning`]. As in NumPy, the default is 10 over the range of each column's samples.
    pub fn bins(mut self, bins: impl Into<Binning>) -> Self {
        self.binning = OfColumns::All(bins.into());
        self
    }

    /// Sets the bins of each column.
    pub fn bins_of<B: Into<Binning>>(mut self, bins: impl IntoIterator<Item = B>) -> Self {
        self.binning = OfColumns::Each(bins.into_iter().map(Into::into).collect());
        self
    }

    /// Counts, and waits for the result.
    ///
    /// # Errors
    /// [`Error::Parameter`] for columns that there are not, more than 8, invalid bins, and more cells than a dense
    /// result has (2^30); [`Error::Samples`] if a range has to be found from samples with NaN or infinity;
    /// [`Error::Shape`] and [`Error::PixelType`] for images that do not fit together; [`Error::Shape`] for more cells
    /// than memory holds; [`Error::Unsupported`] on the GPU and the emulator for more than 2^26 cells.
    pub fn run(self) -> Result<HistogramDd> {
        self.run_reported().map(|(histogram, _)| histogram)
    }

    /// Counts, and also returns the report of what ran.
    ///
    /// # Errors
    /// As [`run`](HistogramDdBuilder::run).
    pub fn run_reported(self) -> Result<(HistogramDd, Report)> {
        let (device, asked) = self.asked()?;
        asked.on(device, |device| device.with_fallback(|backend| backend.joint(&asked)))
    }

    /// Sums weights, one per row, and also returns the report of what ran. Blocks of 65536 rows are summed
    /// from 0 in the order of the rows, and added in their order: the same bits on every device, and up to
    /// 65536 rows those of NumPy.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::new(3, 1, 2, vec![0u8, 200, 10, 10, 200, 200])?;
    /// let (histogram, _) = Device::cpu().histogramdd(&image).bins(2).run_weighted(&[0.5, 2.0, 0.25])?;
    /// assert_eq!(histogram.cells, [2.0, 0.5, 0.0, 0.25]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](HistogramDdBuilder::run); [`Error::Parameter`] for another number of weights, and
    /// [`Error::Unsupported`] on the GPU and the emulator for more than 2^27 sums, one per cell and block of rows.
    pub fn run_weighted<'w>(self, weights: impl Into<Weights<'w>>) -> Result<(HistogramDd<f64>, Report)> {
        let (weights, (device, asked)) = (weights.into(), self.asked()?);
        asked.on(device, |device| device.with_fallback(|backend| backend.joint_sums(&asked, &weights)))
    }

    /// Counts, and returns the cells that are not empty, with the report of what ran: for more cells than memory holds.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let image = Image::from_fn(50, 40, 4, |x, y, channel| (x * y) as f32 + channel as f32)?;
    /// let (histogram, _) = Device::cpu().histogramdd(&image).bins(10_000).run_sparse()?;
    /// // At most one cell for each of the 2000 pixels, of 10^16.
    /// assert!(histogram.cells.len() <= 2000);
    /// assert_eq!(histogram.cells.iter().map(|(_, count)| count).sum::<u64>(), 2000);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`run`](HistogramDdBuilder::run), but for more than 2^63 cells; [`Error::Unsupported`] on the
    /// GPU and the emulator.
    pub fn run_sparse(self) -> Result<(SparseHistogram, Report)> {
        let (device, asked) = self.asked()?;
        asked.on(device, |device| device.with_fallback(|backend| backend.joint_sparse(&asked)))
    }
}

impl<'a> HistogramDdBuilder<'a> {
    fn asked(self) -> Result<(&'a Device, Asked<'a>)> {
        let HistogramDdBuilder { device, table, columns, binning, choice } = self;
        let (source, row) = table.joined()?;
        let columns = match columns {
            Some(picked) => Columns::new(row, picked)?,
            None => Columns::all(row)?,
        };
        let binning = match binning {
            OfColumns::All(binning) => vec![binning; columns.picked().len()],
            OfColumns::Each(binning) => binning,
        };
        columns.check_binning(&binning)?;
        Ok((device, Asked { source, columns, binning, choice }))
    }
}

/// What a histogram of many dimensions counts.
pub(crate) struct Asked<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) columns: Columns,
    pub(crate) binning: Vec<Binning>,
    pub(crate) choice: Choice<'a>,
}

impl<'a> Asked<'a> {
    /// Returns the same for the samples in another type.
    pub(crate) fn of_source<'s>(&'s self, source: Source<'s>) -> Asked<'s> {
        Asked { source, columns: self.columns.clone(), binning: self.binning.clone(), choice: self.choice }
    }

    /// Runs on the device, or on the one that `auto` chooses for it.
    pub(crate) fn on<T>(
        &self,
        device: &Device,
        run: impl FnMut(&Device) -> Result<Reported<T>>,
    ) -> Result<(T, Report)> {
        let counted = device.by_cost(&[&self.source], &self.choice, || Some(Job::counting(&self.source)), run)?;
        Ok((counted.result, counted.report))
    }
}

impl Device {
    /// Counts rows of samples by the bins of their columns, up to 8: `numpy.histogramdd`. The rows are the pixels of an
    /// image, whose channels are columns; or those of a [`Table`].
    ///
    /// ```
    /// use apron::{Bins, Device, Image};
    ///
    /// let image = Image::new(3, 1, 3, vec![0u8, 200, 7, 10, 10, 7, 200, 200, 9])?;
    /// let bytes = Bins { count: 2, range: Some((0.0, 256.0)) };
    /// let histogram = Device::cpu().histogramdd(&image).bins_of([bytes, bytes, 3.into()]).run()?;
    /// assert_eq!((histogram.sides(), histogram.at(&[0, 1, 0]), histogram.at(&[1, 1, 2])), (vec![2, 2, 3], Some(1), Some(1)));
    /// assert_eq!(histogram.marginal(&[2])?.cells, [2, 0, 1]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn histogramdd<'a>(&'a self, table: impl Into<Table<'a>>) -> HistogramDdBuilder<'a> {
        let (binning, choice) = (OfColumns::All(Bins::OF_COLUMN.into()), Choice::default());
        HistogramDdBuilder { device: self, table: table.into(), columns: None, binning, choice }
    }
}
