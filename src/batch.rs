//! Batches: images of one shape and type, which one launch processes.

use crate::backend::Storage;
use crate::{AnyImage, Device, DeviceImage, Error, Image, Pixel, PixelType, Result, Shape, Source};
use std::sync::Arc;

const OPERATION: &str = "batch";

impl Device {
    /// Copies images of one shape and type to the device as a batch. Filters, named filters, paddings and
    /// [chains](Device::record) of these then process all its images at once; on a GPU they need no more launches than
    /// for one image. Their results are batches again.
    ///
    /// The planes of a planar image are a batch of images of one channel.
    ///
    /// ```
    /// use apron::{Device, Image};
    ///
    /// let planes = [vec![0u8, 3, 6], vec![9, 9, 0]].map(|plane| Image::new(3, 1, 1, plane).unwrap());
    /// let device = Device::auto();
    /// let means = device.box_filter(&device.upload_batch(&planes)?, 3, 1).run()?;
    /// assert_eq!(means.images(), 2);
    /// assert_eq!(means.download_batch::<u8>()?[1].row(0), [9, 6, 6]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] for no images, [`Error::Shape`] and [`Error::PixelType`] for one that is unlike the first,
    /// [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn upload_batch<T: Pixel>(&self, images: &[Image<'_, T>]) -> Result<DeviceImage> {
        let images: Vec<AnyImage<'_>> = images.iter().map(|image| T::into_any(image.view())).collect();
        self.upload_batch_any(&images)
    }

    /// Copies images to the device as a batch, as [`upload_batch`](Device::upload_batch); their type is known only at
    /// run time.
    ///
    /// # Errors
    /// As [`upload_batch`](Device::upload_batch).
    pub fn upload_batch_any(&self, images: &[AnyImage<'_>]) -> Result<DeviceImage> {
        let Some(first) = images.first() else {
            return Err(Error::parameter(OPERATION, "number of images", 0, "1 or more"));
        };
        let (shape, expected) = (first.shape(), first.pixel_type());
        number(images.len())?;
        for image in images {
            if image.shape() != shape {
                let (value, limit) = (image.shape().to_string(), format!("{shape}, as the first"));
                return Err(Error::Shape { what: "shape of an image", value, limit });
            }
            if image.pixel_type() != expected {
                let expected = format!("{expected}, as in the first image");
                return Err(Error::PixelType { operation: OPERATION, found: image.pixel_type(), expected });
            }
        }
        self.for_data().backend.gather(images, OPERATION)
    }

    /// Allocates a batch of zeros on the device, for results to be [written into](crate::FilterBuilder::run_into).
    ///
    /// # Errors
    /// As [`zeros`](Device::zeros), and [`Error::Parameter`] for no images.
    pub fn zeros_batch(&self, shape: Shape, pixel: PixelType, images: usize) -> Result<DeviceImage> {
        self.for_data().backend.zeros(shape, pixel, number(images)?)
    }
}

/// Checks the number of images of a batch.
fn number(images: usize) -> Result<u32> {
    let within = u32::try_from(images).ok().filter(|images| (1..=MAX_IMAGES).contains(images));
    within.ok_or_else(|| Error::parameter(OPERATION, "number of images", images, format!("1 to {MAX_IMAGES}")))
}

/// Largest batch, in images: the limit of a grid's z axis.
const MAX_IMAGES: u32 = apron_plan::MAX_GRID_ROWS;

impl DeviceImage {
    /// Returns the number of images: 1, or the size of the [batch](Device::upload_batch).
    pub fn images(&self) -> u32 {
        self.images
    }

    /// Returns one image of a batch. On a GPU it shares the pixels.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an index that is out of range.
    pub fn image(&self, index: u32) -> Result<DeviceImage> {
        if index >= self.images {
            let limit = format!("0 to {}", self.images - 1);
            return Err(Error::parameter(OPERATION, "image", index, limit));
        }
        if self.images == 1 {
            return Ok(self.clone());
        }
        let storage = match &*self.storage {
            Storage::Host(images) => Storage::Host(vec![images[index as usize].view().into_owned()]),
            #[cfg(feature = "gpu")]
            Storage::Gpu(buffer) => Storage::Gpu(buffer.image(index, self.bytes())),
        };
        Ok(DeviceImage { images: 1, storage: Arc::new(storage), ..self.clone() })
    }

    /// Waits for all work on a batch, and copies its images to the host.
    ///
    /// # Errors
    /// As [`download`](DeviceImage::download), but batches are allowed.
    pub fn download_batch<T: Pixel>(&self) -> Result<Vec<Image<'static, T>>> {
        (0..self.images).map(|index| self.image(index)?.download()).collect()
    }

    /// Copies all images of a batch to the host, whatever their type.
    ///
    /// # Errors
    /// As [`download_any`](DeviceImage::download_any), but batches are allowed.
    pub fn download_batch_any(&self) -> Result<Vec<AnyImage<'static>>> {
        (0..self.images).map(|index| self.image(index)?.into_host()).collect()
    }

    /// Returns an error for a batch, where one image is required.
    pub(crate) fn check_alone(&self, operation: &'static str) -> Result<()> {
        Source::Device(self).check_alone(operation)
    }
}

impl Source<'_> {
    /// Returns an error for a batch, where one image is required.
    pub(crate) fn check_alone(&self, operation: &'static str) -> Result<()> {
        match self.images() {
            1 => Ok(()),
            images => {
                let limit = format!("1 for {operation}: take each image of the batch by itself");
                Err(Error::Shape { what: "number of images", value: images.to_string(), limit })
            }
        }
    }
}
