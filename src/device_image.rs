//! Images that live on a device.

use crate::backend::Storage;
use crate::report::Report;
use crate::{AnyImage, Error, Image, Pixel, PixelType, Result, Shape};
use std::sync::Arc;

/// An image on a device, the result of an operation or of [`Device::upload`](crate::Device::upload).
///
/// A chain of operations on device images copies nothing to the host; [`download`](Self::download)
/// waits for them and does. Clones share the pixels, which never change, but for those of a
/// [`Chain`](crate::Chain), which each of its runs writes anew.
#[derive(Clone)]
pub struct DeviceImage {
    pub(crate) shape: Shape,
    pub(crate) pixel: PixelType,
    pub(crate) storage: Arc<Storage>,
    pub(crate) made: Arc<Made>,
}

/// How an image came to be: the report, but for the time of kernels that may still run.
pub(crate) struct Made {
    pub(crate) report: Report,
    #[cfg(feature = "gpu")]
    pub(crate) timer: Option<apron_gpu::Timer>,
}

impl DeviceImage {
    /// Width, height and channels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        self.pixel
    }

    /// Copies the pixels to the host, when all work on them is done.
    ///
    /// # Errors
    /// [`Error::PixelType`] where `T` is not the image's type, and [`Error::Driver`], also for a
    /// kernel that failed.
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
    /// [`Error::Driver`], also for a kernel that failed.
    pub fn download_any(&self) -> Result<AnyImage<'static>> {
        match &*self.storage {
            Storage::Host(image) => Ok(image.clone()),
            #[cfg(feature = "gpu")]
            Storage::Gpu(buffer) => AnyImage::from_bytes(self.pixel, self.shape, |bytes| buffer.read(bytes)),
        }
    }

    /// As [`download_any`](Self::download_any), but without a copy where the pixels are on the host
    /// already and nobody else has this image.
    ///
    /// # Errors
    /// [`Error::Driver`], also for a kernel that failed.
    pub fn into_any(self) -> Result<AnyImage<'static>> {
        match Arc::try_unwrap(self.storage) {
            Ok(Storage::Host(image)) => Ok(image),
            #[cfg(feature = "gpu")]
            Ok(storage) => DeviceImage { storage: Arc::new(storage), ..self }.download_any(),
            Err(storage) => DeviceImage { storage, ..self }.download_any(),
        }
    }

    /// Puts the samples of `source`, of the same shape and type, in place of this image's, which are on a GPU.
    #[cfg(feature = "gpu")]
    pub(crate) fn overwrite(&self, source: &Source<'_>) -> Result<()> {
        let Storage::Gpu(buffer) = &*self.storage else { unreachable!("a host's images are not written again") };
        match source {
            Source::Host(image) => buffer.write(&image.bytes()),
            Source::Device(image) => match &*image.storage {
                Storage::Gpu(from) if from.is_beside(buffer) => buffer.copy_from(from),
                _ => buffer.write(&image.download_any()?.bytes()),
            },
        }
    }

    /// What the operation did that made this image; waits for its kernels.
    ///
    /// # Errors
    /// [`Error::Driver`], for a kernel that failed.
    pub fn report(&self) -> Result<Report> {
        self.made.report()
    }
}

/// The input of an operation: an image on the host or on a device.
pub enum Source<'a> {
    /// An image on the host.
    Host(AnyImage<'a>),
    /// An image on a device.
    Device(&'a DeviceImage),
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
    /// The same input, borrowed.
    pub fn view(&self) -> Source<'_> {
        match self {
            Source::Host(image) => Source::Host(image.view()),
            Source::Device(image) => Source::Device(image),
        }
    }

    /// Width, height and channels.
    pub fn shape(&self) -> Shape {
        match self {
            Source::Host(image) => image.shape(),
            Source::Device(image) => image.shape(),
        }
    }

    /// The type of the samples.
    pub fn pixel_type(&self) -> PixelType {
        match self {
            Source::Host(image) => image.pixel_type(),
            Source::Device(image) => image.pixel_type(),
        }
    }
}
