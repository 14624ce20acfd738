//! Targets: existing images that results are written into.

use crate::device_image::Made;
use crate::{AnyImage, AnyImageMut, DeviceImage, Error, Image, ImageMut, Pixel, PixelType, Result, Shape};
use apron_core::check_room;
#[cfg(feature = "gpu")]
use apron_gpu::{GpuBuffer, Rows};
use std::sync::Arc;

/// Where the result of an operation is written: a [`DeviceImage`] that is not shared, a [part](DeviceImage::region_mut)
/// of one, or an image on the host. No other samples are written.
#[derive(Debug)]
pub struct Target<'a> {
    place: Place<'a>,
}

#[derive(Debug)]
enum Place<'a> {
    Host(AnyImageMut<'a>),
    Device {
        image: &'a mut DeviceImage,
        /// First column and row of the part that is written.
        corner: (u32, u32),
        shape: Shape,
    },
}

/// The memory of a target.
pub(crate) enum Room<'a> {
    /// One entry per image of a batch.
    Host(Vec<AnyImageMut<'a>>),
    #[cfg(feature = "gpu")]
    Gpu {
        /// Starts at the first sample of the first row.
        buffer: GpuBuffer,
        rows: Rows,
        shape: Shape,
        pixel: PixelType,
        images: u32,
    },
}

impl<'a> From<&'a mut DeviceImage> for Target<'a> {
    fn from(image: &'a mut DeviceImage) -> Self {
        let shape = image.shape;
        Target { place: Place::Device { image, corner: (0, 0), shape } }
    }
}

impl<'a> From<AnyImageMut<'a>> for Target<'a> {
    fn from(image: AnyImageMut<'a>) -> Self {
        Target { place: Place::Host(image) }
    }
}

impl<'a, T: Pixel> From<ImageMut<'a, T>> for Target<'a> {
    fn from(image: ImageMut<'a, T>) -> Self {
        T::into_any_mut(image).into()
    }
}

impl<'a, T: Pixel> From<&'a mut Image<'_, T>> for Target<'a> {
    fn from(image: &'a mut Image<'_, T>) -> Self {
        image.view_mut().into()
    }
}

impl<'a> From<&'a mut AnyImage<'_>> for Target<'a> {
    fn from(image: &'a mut AnyImage<'_>) -> Self {
        image.view_mut().into()
    }
}

impl DeviceImage {
    /// Returns the part of `width` x `height` pixels from column `x` and row `y` on, as a target: the pixels around it
    /// do not change.
    ///
    /// ```
    /// use apron::{Device, Image, PixelType, Shape};
    ///
    /// let device = Device::cpu();
    /// let mut canvas = device.zeros(Shape::new(4, 2, 1)?, PixelType::U8)?;
    /// let image = Image::new(2, 1, 1, vec![3u8, 5])?;
    /// device.box_filter(&image, 1, 1).run_into(canvas.region_mut(1, 1, 2, 1)?)?;
    /// assert_eq!(canvas.download::<u8>()?.packed()[..], [0, 0, 0, 0, 0, 3, 5, 0]);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for a part that is empty or not entirely in the image.
    pub fn region_mut(&mut self, x: u32, y: u32, width: u32, height: u32) -> Result<Target<'_>> {
        self.check_alone("region_mut")?;
        let shape = self.shape.region(x, y, width, height)?;
        Ok(Target { place: Place::Device { image: self, corner: (x, y), shape } })
    }
}

impl Target<'_> {
    /// Runs `write` on the target's memory, and stores the report in the image.
    pub(crate) fn fill(self, write: impl FnOnce(Room<'_>) -> Result<Made>) -> Result<()> {
        let (image, (x, y), shape) = match self.place {
            Place::Host(image) => return write(Room::Host(vec![image])).map(drop),
            Place::Device { image, corner, shape } => (image, corner, shape),
        };
        let Some(storage) = Arc::get_mut(&mut image.storage) else { return Err(shared()) };
        let room = match storage {
            crate::backend::Storage::Host(pixels) => {
                let parts = pixels.iter_mut().map(|pixels| pixels.view_mut().region(x, y, shape.width, shape.height));
                Room::Host(parts.collect::<Result<_>>()?)
            }
            #[cfg(feature = "gpu")]
            crate::backend::Storage::Gpu(buffer) => {
                if !buffer.is_unique() {
                    return Err(shared());
                }
                let (pixel, images, sample) = (image.pixel, image.images, image.pixel.size_bytes() as u64);
                let (bytes, stride) = (shape.row_samples() as u64 * sample, image.row_stride * sample);
                let rows = Rows { bytes, stride, count: shape.height as u64 };
                let start = y as u64 * stride + x as u64 * shape.channels as u64 * sample;
                let bytes = apron_plan::batch_bytes(images, rows.span());
                Room::Gpu { buffer: buffer.part(start, bytes), rows, shape, pixel, images }
            }
        };
        image.made = Arc::new(write(room)?);
        Ok(())
    }
}

/// Returns the error for a shared image: the pixels of clones never change.
fn shared() -> Error {
    let limit = "one without clones, regions or other handles: what others see never changes";
    Error::parameter("run_into", "output", "an image that is shared", limit)
}

impl Room<'_> {
    /// Checks that a result has the shape, the type and the number of images of this room.
    pub(crate) fn check(&self, shape: Shape, pixel: PixelType, images: u32) -> Result<()> {
        let (here, room) = match self {
            Room::Host(images) => ((images[0].shape(), images[0].pixel_type()), images.len() as u32),
            #[cfg(feature = "gpu")]
            Room::Gpu { shape, pixel, images, .. } => ((*shape, *pixel), *images),
        };
        if room != images {
            let (value, limit) = (room.to_string(), format!("{images}, as the result's"));
            return Err(Error::Shape { what: "number of images", value, limit });
        }
        check_room(here, (shape, pixel))
    }

    /// Returns the type of the samples.
    pub(crate) fn pixel_type(&self) -> PixelType {
        match self {
            Room::Host(images) => images[0].pixel_type(),
            #[cfg(feature = "gpu")]
            Room::Gpu { pixel, .. } => *pixel,
        }
    }

    /// Writes one image of a result; `fill` writes its bytes, in rows without gaps.
    pub(crate) fn write(&mut self, index: usize, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        match self {
            Room::Host(images) => {
                let image = &mut images[index];
                if let Some(bytes) = image.packed_bytes_mut() {
                    return fill(bytes);
                }
                image.copy_from(&AnyImage::from_bytes(image.pixel_type(), image.shape(), fill)?)
            }
            #[cfg(feature = "gpu")]
            Room::Gpu { buffer, rows, .. } => {
                let mut bytes = vec![0; (rows.bytes * rows.count) as usize];
                fill(&mut bytes)?;
                buffer.image(index as u32, rows.span()).write_rows(&bytes, *rows)
            }
        }
    }

    /// Writes one image of the same shape and type, which is on the host.
    pub(crate) fn put(&mut self, index: usize, image: &AnyImage<'_>) -> Result<()> {
        match self {
            Room::Host(images) => images[index].copy_from(image),
            #[cfg(feature = "gpu")]
            Room::Gpu { buffer, rows, .. } => buffer.image(index as u32, rows.span()).write_rows(&image.bytes(), *rows),
        }
    }
}
