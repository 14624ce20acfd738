//! The caller's own CUDA streams and memory, by the types of [`cust`](crate::cust).
#![allow(unsafe_code)] // one function, which takes an address on trust

use crate::backend::{Backend, Storage, Written};
use crate::device_image::Made;
use crate::{Device, DeviceHistogram, DeviceImage, Error, Pixel, Result, Shape};
use apron_gpu::cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use apron_gpu::cust::stream::Stream;
use apron_gpu::{Gpu, GpuBuffer};
use std::sync::Arc;
use std::time::Duration;

impl Device {
    /// A handle on the same GPU whose work is enqueued on a stream of the caller's, after what is there and before what
    /// follows: so work of both needs no waiting in between. The stream is kept as long as the handle and what it made.
    ///
    /// Apron works in the GPU's primary context, as `cust::context::Context` and the CUDA runtime do. Its calls make that
    /// current on the thread that calls, and leave it so.
    ///
    /// ```no_run
    /// use apron::cust::stream::{Stream, StreamFlags};
    /// use apron::{Device, Image};
    /// use std::sync::Arc;
    ///
    /// let gpu = Device::gpu(0)?; // finds the driver, without which nothing of cust works
    /// let _context = apron::cust::quick_init()?;
    /// let stream = Arc::new(Stream::new(StreamFlags::DEFAULT, None)?);
    /// let device = gpu.on_stream(stream.clone())?;
    /// let blurred = device.gaussian(&Image::new(2, 1, 1, vec![0u8, 255])?, 1.0).run()?;
    /// stream.synchronize()?; // now it is there
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] for a stream of another GPU or context, or one that is captured into a graph just now;
    /// [`Error::Unsupported`] on a device that is no GPU.
    pub fn on_stream(&self, stream: Arc<Stream>) -> Result<Device> {
        let gpu = self.gpu_for("on_stream", "streams of CUDA")?.on_stream(stream)?;
        Ok(Device { backend: Backend::Gpu(gpu), chosen: self.chosen.clone() })
    }

    /// The stream on which this handle enqueues, for work of the caller's between its own; `None` where there is no GPU.
    pub fn cust_stream(&self) -> Option<&Arc<Stream>> {
        match &self.backend {
            Backend::Gpu(gpu) => Some(gpu.cust_stream()),
            _ => None,
        }
    }

    fn gpu_for(&self, operation: &'static str, what: &str) -> Result<&Gpu> {
        let Backend::Gpu(gpu) = &self.backend else {
            let (device, what) = (self.name().to_string(), what.into());
            return Err(Error::Unsupported { operation, device, what, hint: "open a GPU by Device::gpu".into() });
        };
        Ok(gpu)
    }
}

impl DeviceImage {
    /// An image in a buffer of the caller's, without a copy: rows of interleaved samples that start `row_stride` samples
    /// apart, the first with the buffer. A [`DeviceBuffer`] becomes the image's, until [`into_cust`](Self::into_cust)
    /// gives it back; one in an [`Arc`] is shared, and is then not written.
    ///
    /// It is read, and written by [`run_into`](crate::FilterBuilder::run_into), in the order of `device`'s stream. When image
    /// and clones are dropped, that is waited for before the buffer is.
    ///
    /// ```no_run
    /// use apron::cust::memory::{CopyDestination, DeviceBuffer};
    /// use apron::{Device, DeviceImage, Shape};
    ///
    /// let device = Device::gpu(0)?;
    /// let _context = apron::cust::quick_init()?;
    /// let shape = Shape::new(3, 2, 1)?;
    /// // Two rows of three pixels, which start four apart.
    /// let photo = DeviceImage::from_cust(&device, DeviceBuffer::from_slice(&[9u8, 9, 9, 0, 3, 3, 3, 0])?, shape, 4)?;
    /// let mut mean = DeviceImage::from_cust(&device, DeviceBuffer::from_slice(&[7u8; 8])?, shape, 4)?;
    /// device.box_filter(&photo, 3, 1).run_into(&mut mean)?;
    /// let mut samples = [0; 8];
    /// mean.into_cust::<u8>()?.copy_to(&mut samples)?;
    /// assert_eq!(samples, [9, 9, 9, 7, 3, 3, 3, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] for an impossible shape, a stride below `width * channels`, or too small a buffer;
    /// [`Error::Parameter`] for memory of another GPU or context; [`Error::Unsupported`] on a device that is no GPU.
    pub fn from_cust<T>(
        device: &Device,
        buffer: impl Into<Arc<DeviceBuffer<T>>>,
        shape: Shape,
        row_stride: usize,
    ) -> Result<DeviceImage>
    where
        T: Pixel + DeviceCopy + 'static,
    {
        let (gpu, buffer) = (device.gpu_for("from_cust", MEMORY)?, buffer.into());
        let span = span(shape, row_stride)?;
        if (buffer.len() as u128) < span {
            let limit = format!("{span} or more for {shape} at a row stride of {row_stride}");
            return Err(Error::Shape { what: "number of samples", value: buffer.len().to_string(), limit });
        }
        DeviceImage::of_caller::<T>(device, GpuBuffer::of_cust(gpu, buffer)?, shape, row_stride)
    }

    /// An image in memory of a GPU that the caller owns by other means, without a copy: as [`from_cust`](Self::from_cust),
    /// with the first sample at `first`.
    ///
    /// What the driver knows of the address is checked: the GPU, the context, and that the rows end inside the allocation.
    ///
    /// ```no_run
    /// use apron::cust::memory::DeviceBuffer;
    /// use apron::{Device, DeviceImage, Shape};
    ///
    /// let device = Device::gpu(0)?;
    /// let _context = apron::cust::quick_init()?;
    /// let memory = DeviceBuffer::from_slice(&[1.0f32, 2.0, 3.0, 4.0])?;
    /// let shape = Shape::new(2, 1, 1)?;
    /// // SAFETY: nothing else uses the memory, which outlives the image and what is enqueued.
    /// let image = unsafe { DeviceImage::from_address(&device, memory.as_device_ptr(), shape, 2)? };
    /// device.gaussian(&image, 1.0).run()?;
    /// drop(image);
    /// device.synchronize()?;
    /// drop(memory);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`from_cust`](Self::from_cust), and [`Error::Parameter`] for an address that is no multiple of the samples' size.
    ///
    /// # Safety
    /// From now until the image, its clones and [regions](Self::region) are dropped and `device`'s stream is done with what
    /// was enqueued by then:
    ///
    /// - the memory stays allocated;
    /// - whatever else writes it, or reads it while [`run_into`](crate::FilterBuilder::run_into) writes, is enqueued on that stream,
    ///   or ordered with it by events. That holds for other images in the same memory, too: of each other they know
    ///   nothing, but that the input and the output of one operation may lie in the same memory.
    pub unsafe fn from_address<T>(
        device: &Device,
        first: DevicePointer<T>,
        shape: Shape,
        row_stride: usize,
    ) -> Result<DeviceImage>
    where
        T: Pixel + DeviceCopy + 'static,
    {
        let (gpu, address) = (device.gpu_for("from_address", MEMORY)?, first.as_raw());
        let bytes = u64::try_from(span(shape, row_stride)? * size_of::<T>() as u128);
        let Ok(bytes) = bytes.map_err(drop).and_then(|bytes| address.checked_add(bytes).map(|_| bytes).ok_or(()))
        else {
            let (value, limit) = (row_stride.to_string(), format!("so that {shape} lies in 64 bits"));
            return Err(Error::Shape { what: "row stride", value, limit });
        };
        if !address.is_multiple_of(size_of::<T>() as u64) {
            let limit = format!("a multiple of {}", size_of::<T>());
            return Err(Error::parameter("from_address", "address", format!("{address:#x}"), limit));
        }
        // SAFETY: what the caller promises is what is asked.
        let buffer = unsafe { GpuBuffer::of_address(gpu, address, bytes)? };
        DeviceImage::of_caller::<T>(device, buffer, shape, row_stride)
    }

    fn of_caller<T: Pixel>(device: &Device, buffer: GpuBuffer, shape: Shape, row_stride: usize) -> Result<DeviceImage> {
        let report = device.backend.report("from_cust", "no copy", "asked for", Duration::ZERO);
        let image = DeviceImage::new(shape, T::PIXEL, 1, Storage::Gpu(buffer), Made::on_host(report));
        Ok(DeviceImage { row_stride: row_stride as u64, ..image })
    }

    /// Gives the samples to the caller, without a copy, when all work on them is done: the buffer that the image was made
    /// from, or one of its samples without gaps.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the image has clones or is a [region](Self::region), of a recorded chain or at an address
    /// that the caller gave, [`Error::PixelType`] for another type, [`Error::Unsupported`] for an image that is on no
    /// GPU, and [`Error::Driver`], also for a kernel that failed. The image is then dropped.
    pub fn into_cust<T: Pixel + DeviceCopy + 'static>(self) -> Result<DeviceBuffer<T>> {
        const OPERATION: &str = "into_cust";
        if self.pixel != T::PIXEL {
            return Err(Error::PixelType { operation: OPERATION, found: self.pixel, expected: T::PIXEL.to_string() });
        }
        let shared = || {
            let limit = "one alone in memory that was allocated for it, and never shared";
            Error::parameter(OPERATION, "image", "one of several, or at an address", limit)
        };
        match Arc::try_unwrap(self.storage) {
            Ok(Storage::Gpu(buffer)) => buffer.into_cust::<T>()?.map_err(|_| shared()),
            Ok(Storage::Host(_)) => {
                let (device, what, hint) = ("host".into(), MEMORY.into(), "upload it to a GPU".into());
                Err(Error::Unsupported { operation: OPERATION, device, what, hint })
            }
            Err(_) => Err(shared()),
        }
    }

    /// Where the first sample is, for the caller's kernels, which find row `y` at `y *` [`row_stride`](Self::row_stride) from
    /// it; `None` for an image that is on no GPU. The samples are there for what is enqueued on the image's
    /// [stream](Self::cust_stream), until the image and its clones are dropped.
    ///
    /// # Errors
    /// [`Error::PixelType`] where `T` is not the image's type.
    pub fn device_pointer<T: Pixel + DeviceCopy>(&self) -> Result<Option<DevicePointer<T>>> {
        if self.pixel != T::PIXEL {
            let (found, expected) = (self.pixel, T::PIXEL.to_string());
            return Err(Error::PixelType { operation: "device_pointer", found, expected });
        }
        Ok(match &*self.storage {
            Storage::Gpu(buffer) => Some(DevicePointer::from_raw(buffer.device_address())),
            Storage::Host(_) => None,
        })
    }

    /// The stream in whose order the image is made and its memory freed: what the caller enqueues there comes after
    /// all that was enqueued with the image before. `None` for an image that is on no GPU.
    pub fn cust_stream(&self) -> Option<&Arc<Stream>> {
        match &*self.storage {
            Storage::Gpu(buffer) => Some(buffer.cust_stream()),
            Storage::Host(_) => None,
        }
    }
}

impl DeviceHistogram {
    /// Where the counts are, for the caller's kernels: a `u64` for each bin of the first channel, then of the next. `None`
    /// where there is no GPU, and where the host makes them of the counts of values: for bins of u8 that are not the
    /// [default's](crate::Bins), and for explicit edges, a mask's pixels or no range of u16 and i16.
    ///
    /// They are there for what is enqueued on the histogram's [stream](Self::cust_stream), until it is dropped.
    ///
    /// ```no_run
    /// use apron::cust::memory::{CopyDestination, DeviceSlice};
    /// use apron::{Device, Image};
    ///
    /// let device = Device::gpu(0)?;
    /// let _context = apron::cust::quick_init()?;
    /// let counted = device.histogram(&Image::new(3, 1, 1, vec![0u8, 1, 1])?).enqueue()?;
    /// let counts = counted.device_pointer().expect("256 bins of u8 on a GPU");
    /// device.synchronize()?; // cust's copies know nothing of the stream
    /// // SAFETY: 256 counts of one channel.
    /// let counts = unsafe { DeviceSlice::from_raw_parts(counts, 256) };
    /// let mut first = [0; 2];
    /// counts.index(0..2).copy_to(&mut first)?;
    /// assert_eq!(first, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn device_pointer(&self) -> Option<DevicePointer<u64>> {
        match self.counts.of_bins()? {
            Written::Gpu(buffer) => Some(DevicePointer::from_raw(buffer.device_address())),
            Written::Host(_) => None,
        }
    }

    /// The stream in whose order the counts are made and their memory freed; `None` where
    /// [`device_pointer`](Self::device_pointer) is.
    pub fn cust_stream(&self) -> Option<&Arc<Stream>> {
        match self.counts.of_bins()? {
            Written::Gpu(buffer) => Some(buffer.cust_stream()),
            Written::Host(_) => None,
        }
    }
}

const MEMORY: &str = "memory of CUDA";

/// Samples from the first of the first row to the last of the last.
fn span(shape: Shape, row_stride: usize) -> Result<u128> {
    let Shape { width, height, channels } = shape;
    let row = Shape::new(width, height, channels)?.row_samples();
    if row_stride < row {
        let limit = format!("{row} samples or more for {shape}");
        return Err(Error::Shape { what: "row stride", value: row_stride.to_string(), limit });
    }
    Ok(row_stride as u128 * (height as u128 - 1) + row as u128)
}
