//! The caller's own CUDA streams and memory, by the types of [`cust`](crate::cust).
#![allow(unsafe_code)] // functions that take a raw address or a raw stream

use crate::backend::{Backend, Storage, Written};
use crate::device_image::Made;
use crate::{Device, DeviceHistogram, DeviceImage, Error, Pixel, PixelType, Result, Shape};
use apron_gpu::cust::memory::{DeviceBuffer, DeviceCopy, DevicePointer};
use apron_gpu::cust::stream::Stream;
use apron_gpu::cust::sys::CUstream;
use apron_gpu::{Gpu, GpuBuffer};
use std::sync::Arc;
use std::time::Duration;

impl Device {
    /// Returns a handle on the same GPU that enqueues on a stream of the caller's. Apron's work and the caller's are
    /// ordered by that stream, so no synchronisation is needed between them. The stream lives as long as the handle and
    /// its results.
    ///
    /// Apron works in the GPU's primary context, as `cust::context::Context` and the CUDA runtime do. Its calls make
    /// that context current on the calling thread, and leave it so.
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
    /// [`Error::Parameter`] for a stream of another GPU or context, or one that is being captured into a graph;
    /// [`Error::Unsupported`] on a device that is not a GPU.
    pub fn on_stream(&self, stream: Arc<Stream>) -> Result<Device> {
        let gpu = self.gpu_for("on_stream", "streams of CUDA")?.on_stream(stream)?;
        Ok(Device { backend: Backend::Gpu(gpu), auto: None, ..self.clone() })
    }

    /// As [`on_stream`](Self::on_stream), for the driver's handle of a stream that another owner keeps: 0 or 1 for the
    /// legacy default stream, 2 for the default stream of each thread.
    ///
    /// ```no_run
    /// use apron::{Device, Image};
    ///
    /// // SAFETY: the default stream is there as long as the context.
    /// let device = unsafe { Device::gpu(0)?.on_raw_stream(1)? };
    /// let blurred = device.gaussian(&Image::new(2, 1, 1, vec![0u8, 255])?, 1.0).run()?;
    /// assert_eq!(blurred.download::<u8>()?.width(), 2);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`on_stream`](Self::on_stream).
    ///
    /// # Safety
    /// `handle` is a stream of the driver, which exists until this handle of the device, its clones and
    /// its results are dropped.
    pub unsafe fn on_raw_stream(&self, handle: u64) -> Result<Device> {
        let raw = handle as usize as CUstream;
        const { assert!(size_of::<Stream>() == size_of::<CUstream>()) };
        // SAFETY: cust's stream is its handle alone, for which it has no constructor.
        let stream = Arc::new(unsafe { std::mem::transmute::<CUstream, Stream>(raw) });
        assert!(stream.as_inner() == raw, "a stream of cust is the driver's handle");
        // One more reference than there are handles: this library never destroys the stream.
        std::mem::forget(stream.clone());
        self.on_stream(stream)
    }

    /// Returns the GPU without the two events that time the kernels of a call: [`Report::kernels`](crate::Report::kernels)
    /// is zero. Other devices are returned as they are.
    ///
    /// ```no_run
    /// use apron::{Device, Image};
    ///
    /// let device = Device::gpu(0)?.untimed();
    /// let blurred = device.gaussian(&Image::new(2, 1, 1, vec![0u8, 255])?, 1.0).run()?;
    /// assert!(blurred.report()?.kernels.is_zero());
    /// # Ok::<(), apron::Error>(())
    /// ```
    pub fn untimed(&self) -> Device {
        match &self.backend {
            Backend::Gpu(gpu) => Device { backend: Backend::Gpu(gpu.untimed()), ..self.clone() },
            _ => self.clone(),
        }
    }

    /// Returns the stream on which this handle enqueues, for the caller's own work; `None` on other devices.
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
    /// Makes an image of a buffer of the caller's, without a copy: rows of interleaved samples at a pitch of
    /// `row_stride` samples, from the start of the buffer. The image owns a [`DeviceBuffer`] until
    /// [`into_cust`](Self::into_cust) gives it back; a buffer in an [`Arc`] is shared, and is then not written.
    ///
    /// It is read, and written by [`run_into`](crate::FilterBuilder::run_into), in the order of `device`'s stream. When
    /// the image and its clones are dropped, that stream is synchronised before the buffer is dropped.
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
    /// [`Error::Parameter`] for memory of another GPU or context; [`Error::Unsupported`] on a device that is not a GPU.
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
        Ok(DeviceImage::of_caller(device, GpuBuffer::of_cust(gpu, buffer)?, T::PIXEL, shape, row_stride))
    }

    /// Makes an image of GPU memory that the caller owns by other means, without a copy, as
    /// [`from_cust`](Self::from_cust); the first sample is at `first`.
    ///
    /// The driver's facts about the address are checked: the GPU, the context, and that the rows end inside the
    /// allocation.
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
    /// As [`from_cust`](Self::from_cust), and [`Error::Parameter`] for an address that is not a multiple of the sample
    /// size.
    ///
    /// # Safety
    /// Until the image, its clones and [regions](Self::region) are dropped and `device`'s stream has completed the work
    /// enqueued by then:
    ///
    /// - the memory stays allocated;
    /// - all other writes of the memory, and all other reads while [`run_into`](crate::FilterBuilder::run_into)
    ///   writes it, are enqueued on that stream or ordered with it by events. This includes other images in the same
    ///   memory: images do not track each other. Only the input and the output of one operation may lie in the same
    ///   memory without care.
    pub unsafe fn from_address<T>(
        device: &Device,
        first: DevicePointer<T>,
        shape: Shape,
        row_stride: usize,
    ) -> Result<DeviceImage>
    where
        T: Pixel + DeviceCopy + 'static,
    {
        // SAFETY: the caller promises what `from_raw` asks for.
        unsafe { DeviceImage::from_raw(device, first.as_raw(), T::PIXEL, shape, row_stride) }
    }

    /// As [`from_address`](Self::from_address), of samples whose type is known at run time only.
    ///
    /// # Errors
    /// As [`from_address`](Self::from_address).
    ///
    /// # Safety
    /// As [`from_address`](Self::from_address).
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        pixel: PixelType,
        shape: Shape,
        row_stride: usize,
    ) -> Result<DeviceImage> {
        let (gpu, sample) = (device.gpu_for("from_address", MEMORY)?, pixel.size_bytes() as u64);
        let bytes = u64::try_from(span(shape, row_stride)? * u128::from(sample));
        let Ok(bytes) = bytes.map_err(drop).and_then(|bytes| address.checked_add(bytes).map(|_| bytes).ok_or(()))
        else {
            let (value, limit) = (row_stride.to_string(), format!("so that {shape} lies in 64 bits"));
            return Err(Error::Shape { what: "row stride", value, limit });
        };
        if !address.is_multiple_of(sample) {
            let limit = format!("a multiple of {sample}");
            return Err(Error::parameter("from_address", "address", format!("{address:#x}"), limit));
        }
        // SAFETY: the caller promises what `of_address` asks for.
        let buffer = unsafe { GpuBuffer::of_address(gpu, address, bytes)? };
        Ok(DeviceImage::of_caller(device, buffer, pixel, shape, row_stride))
    }

    fn of_caller(device: &Device, buffer: GpuBuffer, pixel: PixelType, shape: Shape, row_stride: usize) -> DeviceImage {
        let report = device.backend.report("from_cust", "no copy", "asked for", Duration::ZERO);
        let image = DeviceImage::new(shape, pixel, 1, Storage::Gpu(buffer), Made::on_host(report));
        DeviceImage { row_stride: row_stride as u64, ..image }
    }

    /// Waits for all work on the image, and gives its samples to the caller without a copy: as the buffer that the
    /// image was made from, or as one that holds its samples without gaps.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an image that has clones, is a [region](Self::region), belongs to a recorded chain or
    /// lies at an address that the caller gave, [`Error::PixelType`] for another type, [`Error::Unsupported`] for an
    /// image that is not on a GPU, and [`Error::Driver`], also for a kernel that failed. The image is then dropped.
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
            Ok(Storage::Host(_)) => Err(on_host(OPERATION)),
            Err(_) => Err(shared()),
        }
    }

    /// Returns the device pointer of the first sample, for the caller's kernels; row `y` starts `y *`
    /// [`row_stride`](Self::row_stride) samples after it. `None` for an image that is not on a GPU. The samples are
    /// valid for work that is enqueued on the image's [stream](Self::cust_stream) until the image and its clones are
    /// dropped.
    ///
    /// # Errors
    /// [`Error::PixelType`] where `T` is not the image's type.
    pub fn device_pointer<T: Pixel + DeviceCopy>(&self) -> Result<Option<DevicePointer<T>>> {
        if self.pixel != T::PIXEL {
            let (found, expected) = (self.pixel, T::PIXEL.to_string());
            return Err(Error::PixelType { operation: "device_pointer", found, expected });
        }
        Ok(self.device_address().map(DevicePointer::from_raw))
    }

    /// As [`device_pointer`](Self::device_pointer), whatever the type of the samples.
    pub fn device_address(&self) -> Option<u64> {
        match &*self.storage {
            Storage::Gpu(buffer) => Some(buffer.device_address()),
            Storage::Host(_) => None,
        }
    }

    /// Returns the memory of an image on a GPU.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for an image on the host.
    pub(crate) fn gpu_buffer(&self, operation: &'static str) -> Result<&GpuBuffer> {
        match &*self.storage {
            Storage::Gpu(buffer) => Ok(buffer),
            Storage::Host(_) => Err(on_host(operation)),
        }
    }

    /// Returns the stream that orders the image's work and the release of its memory: work that the caller enqueues
    /// there runs after all earlier work on the image. `None` for an image that is not on a GPU.
    pub fn cust_stream(&self) -> Option<&Arc<Stream>> {
        match &*self.storage {
            Storage::Gpu(buffer) => Some(buffer.cust_stream()),
            Storage::Host(_) => None,
        }
    }
}

impl DeviceHistogram {
    /// Returns the device pointer of the counts, for the caller's kernels: a `u64` for each bin of the first channel,
    /// then of the next. `None` without a GPU, and where the host derives the counts from counts of values: for bins of
    /// u8 other than the [default's](crate::Bins), and for u16 and i16 with explicit edges, a mask or no range.
    ///
    /// The counts are valid for work that is enqueued on the histogram's [stream](Self::cust_stream) until the
    /// histogram is dropped.
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

    /// Returns the stream that orders the histogram's work and the release of its memory; `None` where
    /// [`device_pointer`](Self::device_pointer) returns `None`.
    pub fn cust_stream(&self) -> Option<&Arc<Stream>> {
        match self.counts.of_bins()? {
            Written::Gpu(buffer) => Some(buffer.cust_stream()),
            Written::Host(_) => None,
        }
    }
}

const MEMORY: &str = "memory of CUDA";

/// Returns the error for an image that is not on a GPU.
fn on_host(operation: &'static str) -> Error {
    let (device, what, hint) = ("host".into(), MEMORY.into(), "upload it to a GPU".into());
    Error::Unsupported { operation, device, what, hint }
}

/// Returns the distance in samples from the first sample of the first row to the end of the last row.
fn span(shape: Shape, row_stride: usize) -> Result<u128> {
    let Shape { width, height, channels } = shape;
    let row = Shape::new(width, height, channels)?.row_samples();
    if row_stride < row {
        let limit = format!("{row} samples or more for {shape}");
        return Err(Error::Shape { what: "row stride", value: row_stride.to_string(), limit });
    }
    Ok(row_stride as u128 * (height as u128 - 1) + row as u128)
}
