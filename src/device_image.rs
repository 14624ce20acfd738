//! Images that live on a device.

use crate::backend::Storage;
use crate::by_rows::ReadRows;
use crate::report::Report;
use crate::{AnyImage, Error, Image, Pixel, PixelType, Result, Shape};
use apron_core::each_type;
use std::fmt;
use std::sync::Arc;

/// An image on a device, the result of an operation or of [`Device::upload`](crate::Device::upload).
///
/// Operations on device images copy nothing to the host; [`download`](Self::download) waits for them and copies the
/// pixels. Clones share the pixels, which never change: [`run_into`](crate::FilterBuilder::run_into) writes only images
/// that are not shared. The images of a [`Chain`](crate::Chain), however, are overwritten by each of its runs.
///
/// ```
/// use apron::{Device, Image, PixelType, Shape};
///
/// let device = Device::auto();
/// let image = device.upload(&Image::new(3, 1, 1, vec![0u8, 90, 0])?)?;
/// let mean = device.box_filter(&image, 3, 1).run()?; // on a GPU: enqueued
/// assert_eq!((mean.shape(), mean.pixel_type()), (Shape::new(3, 1, 1)?, PixelType::U8));
/// assert_eq!(mean.download::<u8>()?.row(0), [60, 30, 60]); // waits
/// # Ok::<(), apron::Error>(())
/// ```
#[derive(Clone)]
pub struct DeviceImage {
    pub(crate) shape: Shape,
    pub(crate) pixel: PixelType,
    /// Number of images of that shape: more than 1 for a batch.
    pub(crate) images: u32,
    /// Pitch of the rows, in samples.
    pub(crate) row_stride: u64,
    pub(crate) storage: Arc<Storage>,
    pub(crate) made: Arc<Made>,
}

impl fmt::Debug for DeviceImage {
    /// Prints what is known without waiting for the device: no samples.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut image = f.debug_struct("DeviceImage");
        image.field("shape", &self.shape).field("pixel", &self.pixel).field("images", &self.images);
        image.field("row_stride", &self.row_stride).field("device", &self.made.report.device).finish_non_exhaustive()
    }
}

/// How an image was made: the report, without the time of kernels that may still run.
pub(crate) struct Made {
    pub(crate) report: Report,
    /// How the intermediate images of this result were made, in order.
    pub(crate) before: Vec<Arc<Made>>,
    #[cfg(feature = "gpu")]
    pub(crate) timer: Option<apron_gpu::Timer>,
}

impl DeviceImage {
    /// Makes an image or a batch whose rows lie without gaps.
    pub(crate) fn new(shape: Shape, pixel: PixelType, images: u32, storage: Storage, made: Made) -> DeviceImage {
        let row_stride = shape.row_samples() as u64;
        DeviceImage { shape, pixel, images, row_stride, storage: Arc::new(storage), made: Arc::new(made) }
    }

    /// Returns width, height and channels of the image, or of each image of a [batch](crate::Device::upload_batch).
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.pixel
    }

    /// Returns the pitch of the rows, in samples.
    pub fn row_stride(&self) -> u64 {
        self.row_stride
    }

    /// Returns the part of `width` x `height` pixels from column `x` and row `y` on, as an image: filters
    /// apply the border at its edges. On a GPU it shares the pixels; kernels read them in place if its rows start at
    /// multiples of 16 bytes, else from a copy.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let device = Device::cpu();
    /// let image = device.upload(&Image::new(4, 1, 1, vec![9u8, 1, 3, 9])?)?;
    /// let mean = device.box_filter(&image.region(1, 0, 2, 1)?, 2, 1).run()?;
    /// assert_eq!(mean.download::<u8>()?.row(0), [2, 2]); // of 3, 1 and of 1, 3
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not entirely in the image.
    pub fn region(&self, x: u32, y: u32, width: u32, height: u32) -> Result<DeviceImage> {
        self.check_alone("region")?;
        let shape = self.shape.region(x, y, width, height)?;
        let storage = match &*self.storage {
            Storage::Host(images) => Storage::Host(vec![images[0].region(x, y, width, height)?.into_owned()]),
            #[cfg(feature = "gpu")]
            Storage::Gpu(buffer) => {
                let start = y as u64 * self.row_stride + x as u64 * shape.channels as u64;
                let part = DeviceImage { shape, ..self.clone() };
                Storage::Gpu(buffer.part(start * self.pixel.size_bytes() as u64, part.rows().span()))
            }
        };
        Ok(DeviceImage { shape, storage: Arc::new(storage), ..self.clone() })
    }

    /// Returns the same samples, in the same order, as an image of another shape. Without a copy, but for host images
    /// that are shared or have gaps.
    ///
    /// ```
    /// use apron::{Device, Image, Shape};
    ///
    /// let pairs = Device::cpu().upload(&Image::new(2, 3, 1, vec![1u8, 2, 3, 4, 5, 6])?)?;
    /// let triples = pairs.into_reshaped(Shape::new(3, 2, 1)?)?;
    /// assert_eq!(triples.download::<u8>()?.row(1), [4, 5, 6]);
    /// assert!(triples.into_reshaped(Shape::new(3, 3, 1)?).is_err());
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of samples, for a batch, and for an image on a GPU whose rows have gaps.
    pub fn into_reshaped(self, shape: Shape) -> Result<DeviceImage> {
        self.check_alone("into_reshaped")?;
        let shape = Shape::new(shape.width, shape.height, shape.channels)?;
        if shape.samples() != self.shape.samples() {
            let (value, limit) = (shape.to_string(), format!("one of {} samples", self.shape.samples()));
            return Err(Error::Shape { what: "shape", value, limit });
        }
        let row_stride = shape.row_samples() as u64;
        #[cfg(feature = "gpu")]
        if let Storage::Gpu(_) = &*self.storage {
            if !self.is_packed() {
                let (value, limit) =
                    (self.row_stride.to_string(), format!("{}, without gaps", self.shape.row_samples()));
                return Err(Error::Shape { what: "row stride", value, limit });
            }
            return Ok(DeviceImage { shape, row_stride, ..self });
        }
        let (pixel, made) = (self.pixel, self.made.clone());
        let image = each_type!(self.into_host()?, image => of_shape(image, shape))?;
        let storage = Arc::new(Storage::Host(vec![image]));
        Ok(DeviceImage { shape, pixel, images: 1, row_stride, storage, made })
    }

    /// Returns the size of one image without gaps, in bytes.
    #[cfg(feature = "gpu")]
    pub(crate) fn bytes(&self) -> u64 {
        self.shape.samples() * self.pixel.size_bytes() as u64
    }

    /// Whether the rows lie in memory without gaps.
    pub(crate) fn is_packed(&self) -> bool {
        self.row_stride == self.shape.row_samples() as u64
    }

    /// Returns the layout of the rows in GPU memory.
    #[cfg(feature = "gpu")]
    pub(crate) fn rows(&self) -> apron_gpu::Rows {
        let sample = self.pixel.size_bytes() as u64;
        let (bytes, stride) = (self.shape.row_samples() as u64 * sample, self.row_stride * sample);
        apron_gpu::Rows { bytes, stride, count: self.shape.height as u64 }
    }

    /// Waits for all work on the image, and copies the pixels to the host.
    ///
    /// # Errors
    /// [`Error::PixelType`] where `T` is not the image's type, [`Error::Shape`] for a batch, and [`Error::Driver`],
    /// also for a kernel that failed.
    pub fn download<T: Pixel>(&self) -> Result<Image<'static, T>> {
        let wrong = || Error::PixelType { operation: "download", found: self.pixel, expected: T::PIXEL.to_string() };
        if T::PIXEL != self.pixel {
            return Err(wrong());
        }
        T::from_any(self.download_any()?).ok_or_else(wrong)
    }

    /// Copies the pixels to the host, whatever their type.
    ///
    /// # Errors
    /// [`Error::Shape`] for a batch, and [`Error::Driver`], also for a kernel that failed.
    pub fn download_any(&self) -> Result<AnyImage<'static>> {
        self.check_alone("download")?;
        match &*self.storage {
            Storage::Host(images) => apron_cpu::copied(&images[0]),
            #[cfg(feature = "gpu")]
            Storage::Gpu(buffer) if self.is_packed() => {
                apron_cpu::image_from_bytes(self.pixel, self.shape, |bytes| buffer.read(bytes))
            }
            #[cfg(feature = "gpu")]
            Storage::Gpu(buffer) => {
                apron_cpu::image_from_bytes(self.pixel, self.shape, |bytes| buffer.read_rows(bytes, self.rows()))
            }
        }
    }

    /// Copies the pixels to the host, as [`download_any`](Self::download_any), but without a copy if they are there
    /// already and this is the only handle.
    ///
    /// # Errors
    /// As [`download_any`](Self::download_any).
    pub fn into_host(self) -> Result<AnyImage<'static>> {
        self.check_alone("download")?;
        match Arc::try_unwrap(self.storage) {
            Ok(Storage::Host(mut images)) => Ok(images.remove(0).into_packed()),
            #[cfg(feature = "gpu")]
            Ok(storage) => DeviceImage { storage: Arc::new(storage), ..self }.download_any(),
            Err(storage) => DeviceImage { storage, ..self }.download_any(),
        }
    }

    /// Overwrites the samples of this image, which is on a GPU, with the samples of `source`, an image of the same
    /// shape and type.
    #[cfg(feature = "gpu")]
    pub(crate) fn overwrite(&self, source: &Source<'_>) -> Result<()> {
        let buffer = self.gpu_buffer("load")?;
        match source {
            Source::Host(image) => buffer.write(&image.bytes()),
            Source::Rows(rows) => buffer.write(&crate::by_rows::read_whole(*rows)?.bytes()),
            Source::Device(image) => match &*image.storage {
                Storage::Gpu(from) if from.is_beside(buffer) && image.is_packed() => buffer.copy_from(from),
                _ => (0..self.images).try_for_each(|index| {
                    buffer.image(index, self.bytes()).write(&image.image(index)?.download_any()?.bytes())
                }),
            },
        }
    }

    /// Returns the report of the operation that made this image; waits for its kernels.
    ///
    /// # Errors
    /// [`Error::Driver`], for a kernel that failed.
    pub fn report(&self) -> Result<Report> {
        self.made.report()
    }
}

/// The input of an operation: an image on the host or on a device, converted from a reference to either.
#[derive(Debug)]
pub enum Source<'a> {
    /// An image on the host.
    Host(AnyImage<'a>),
    /// An image on a device.
    Device(&'a DeviceImage),
    /// An image that is read by rows: whole, unless the filter [runs by strips](crate::FilterBuilder::run_rows).
    Rows(&'a dyn ReadRows),
}

impl<'a, T: Pixel> From<&'a Image<'_, T>> for Source<'a> {
    fn from(image: &'a Image<'_, T>) -> Self {
        Source::Host(T::into_any(image.view()))
    }
}

impl<'a> From<&'a AnyImage<'_>> for Source<'a> {
    fn from(image: &'a AnyImage<'_>) -> Self {
        Source::Host(image.view())
    }
}

impl<'a> From<&'a DeviceImage> for Source<'a> {
    fn from(image: &'a DeviceImage) -> Self {
        Source::Device(image)
    }
}

impl Source<'_> {
    /// Borrows the same input.
    pub fn view(&self) -> Source<'_> {
        match self {
            Source::Host(image) => Source::Host(image.view()),
            Source::Device(image) => Source::Device(image),
            Source::Rows(rows) => Source::Rows(*rows),
        }
    }

    /// Returns width, height and channels.
    pub fn shape(&self) -> Shape {
        match self {
            Source::Host(image) => image.shape(),
            Source::Device(image) => image.shape(),
            Source::Rows(rows) => rows.shape(),
        }
    }

    /// Returns the number of images: 1, or the size of the batch.
    pub fn images(&self) -> u32 {
        match self {
            Source::Host(_) | Source::Rows(_) => 1,
            Source::Device(image) => image.images(),
        }
    }

    /// Returns the type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        match self {
            Source::Host(image) => image.pixel_type(),
            Source::Device(image) => image.pixel_type(),
            Source::Rows(rows) => rows.pixel_type(),
        }
    }
}

/// Returns the samples of an image as one of another shape.
fn of_shape<T: Pixel>(image: Image<'static, T>, shape: Shape) -> Result<AnyImage<'static>> {
    Ok(T::into_any(Image::new(shape.width, shape.height, shape.channels, image.into_packed())?))
}
