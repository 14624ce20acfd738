//! Operands of functions: NumPy's arrays, and arrays on a GPU, without a copy.
//!
//! An array on a GPU is given as its address, its shape, its type, the number of the GPU and the driver's handle of the
//! stream. All work is enqueued on that stream, and only counts, which go to the host, are waited for. Results are
//! written into output arrays that are also given.
#![allow(unsafe_code)] // addresses and streams that Python vouches for

use crate::array::{Array, Samples, pixel_type, side};
use crate::device::{Device, chosen, own_gpu, work};
use crate::error::raised;
use apron::{DeviceImage, FilterBuilder, LookupBuilder, Named, PadBuilder, PixelType, Result, Shape, Source};
use numpy::PyArrayDescr;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// The number of a GPU, and a handle of a stream.
pub(crate) type Stream = (u32, u64);

/// An array on the host or on a GPU.
pub(crate) enum Operand<'py> {
    Host(Array<'py>),
    Gpu(OnGpu),
}

/// An array on a GPU, with contiguous samples in C order.
pub(crate) struct OnGpu {
    address: u64,
    shape: Vec<usize>,
    pixel: PixelType,
    stream: Stream,
}

impl<'py> Operand<'py> {
    /// Takes a NumPy array, or the tuple that describes an array on a GPU.
    ///
    /// # Errors
    /// `TypeError` for objects that are no arrays, and for other sample types.
    pub(crate) fn take(given: &Bound<'py, PyAny>) -> PyResult<Operand<'py>> {
        match given.cast::<PyTuple>() {
            Ok(tuple) => OnGpu::take(tuple).map(Operand::Gpu),
            Err(_) => Array::take(given).map(Operand::Host),
        }
    }

    /// Returns the lengths of the axes.
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Operand::Host(array) => array.shape(),
            Operand::Gpu(array) => &array.shape,
        }
    }

    /// Returns the lengths of the axes as u32; an error if one is too long.
    pub(crate) fn lengths(&self) -> PyResult<Vec<u32>> {
        self.shape().iter().map(|&length| side(length)).collect()
    }

    /// Returns the type of the samples.
    pub(crate) fn pixel(&self) -> PixelType {
        match self {
            Operand::Host(array) => array.pixel(),
            Operand::Gpu(array) => array.pixel,
        }
    }

    /// Returns the number of samples.
    pub(crate) fn len(&self) -> usize {
        self.shape().iter().product()
    }

    /// Returns the device of the array's stream; for arrays on the host, the given device or the one in use.
    pub(crate) fn device(&self, py: Python<'_>, given: Option<&Device>) -> PyResult<apron::Device> {
        match self {
            Operand::Host(_) => chosen(given),
            Operand::Gpu(array) => py.detach(|| on(array.stream)),
        }
    }

    /// Borrows the samples.
    pub(crate) fn input(&self, device: &apron::Device) -> PyResult<Input<'_>> {
        match self {
            Operand::Host(array) => Ok(Input::Host(array.samples()?, array.pixel())),
            Operand::Gpu(array) => array.image(device).map(Input::Device).map_err(raised),
        }
    }

    /// Runs `work` without the interpreter's lock; `cost` is its number of multiply-adds. Work that is enqueued on a
    /// GPU takes no threads.
    pub(crate) fn work<R: Send>(
        &self,
        py: Python<'_>,
        cost: usize,
        enqueue: impl FnOnce() -> Result<R> + Send,
    ) -> PyResult<R> {
        match self {
            Operand::Host(_) => work(py, cost, enqueue),
            Operand::Gpu(_) => py.detach(enqueue).map_err(raised),
        }
    }
}

impl OnGpu {
    fn take(given: &Bound<'_, PyTuple>) -> PyResult<OnGpu> {
        let (address, shape, dtype, stream): (u64, Vec<usize>, Bound<'_, PyArrayDescr>, Stream) = given.extract()?;
        Ok(OnGpu { address, shape, pixel: pixel_type(&dtype)?, stream })
    }

    /// Returns the samples as an image: the last axis of the array is x, all others together are y.
    fn image(&self, device: &apron::Device) -> Result<DeviceImage> {
        let [width, height] = self.shape.split_last().map_or([1, 1], |(&width, rows)| [width, rows.iter().product()]);
        let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let shape = Shape::new(side(width), side(height), 1)?;
        // SAFETY: Python keeps the array until the call returns. After that, its library frees or reuses the memory in
        // the order of the stream on which all work on the array is enqueued.
        unsafe { DeviceImage::from_raw(device, self.address, self.pixel, shape, shape.row_samples()) }
    }
}

/// Takes the array on a GPU into which the result is written, if one is given.
pub(crate) fn room(device: &apron::Device, given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DeviceImage>> {
    let Some(given) = given else { return Ok(None) };
    OnGpu::take(given.cast::<PyTuple>()?)?.image(device).map(Some).map_err(raised)
}

/// Samples in C order: an array's, or those of the previous pass.
pub(crate) enum Input<'a> {
    Host(Samples<'a>, PixelType),
    Device(DeviceImage),
}

impl Input<'_> {
    pub(crate) fn pixel(&self) -> PixelType {
        match self {
            Input::Host(_, pixel) => *pixel,
            Input::Device(image) => image.pixel_type(),
        }
    }

    /// Runs `filter` on the samples as an image.
    pub(crate) fn into_image<R>(self, shape: Shape, filter: impl FnOnce(Source<'_>) -> Result<R>) -> Result<R> {
        match self {
            Input::Host(samples, _) => {
                filter(Source::from(&samples.image(shape.width, shape.height, shape.channels)?))
            }
            Input::Device(image) => filter(Source::from(&image.into_reshaped(shape)?)),
        }
    }
}

/// An operation that returns a new image, or writes into an existing one.
pub(crate) trait Makes: Sized {
    fn make(self) -> Result<DeviceImage>;
    fn write(self, room: &mut DeviceImage) -> Result<()>;

    /// Writes the result, of this shape, into `room` if it is given; otherwise makes a new image.
    fn run_in(self, room: Option<DeviceImage>, shape: Shape) -> Result<DeviceImage> {
        let Some(room) = room else { return self.make() };
        let mut room = room.into_reshaped(shape)?;
        self.write(&mut room)?;
        Ok(room)
    }
}

macro_rules! makes {
    ($([$($generics:tt)*] $builder:ty),*) => {$(
        impl<$($generics)*> Makes for $builder {
            fn make(self) -> Result<DeviceImage> {
                self.run()
            }
            fn write(self, room: &mut DeviceImage) -> Result<()> {
                self.run_into(room)
            }
        }
    )*};
}
makes!([F: Named] FilterBuilder<'_, F>, [] LookupBuilder<'_>, [] PadBuilder<'_>);

/// Returns the device that enqueues its work on a stream. Devices are kept, one per stream.
pub(crate) fn on((ordinal, stream): Stream) -> PyResult<apron::Device> {
    static DEVICES: LazyLock<Mutex<HashMap<Stream, apron::Device>>> = LazyLock::new(Mutex::default);
    own_gpu()?;
    let mut devices = DEVICES.lock().unwrap_or_else(|error| error.into_inner());
    if let Some(device) = devices.get(&(ordinal, stream)) {
        return Ok(device.clone());
    }
    // All streams of a GPU share one opened device: loading kernels again would wait for running work.
    let opened = devices.iter().find(|((of, _), _)| *of == ordinal).map(|(_, device)| device.clone());
    let gpu = opened.map_or_else(|| apron::Device::gpu(ordinal), Ok).map_err(raised)?;
    // SAFETY: the stream is the array's current one. The handle of a destroyed stream is given again only if a new
    // stream has received it.
    let device = unsafe { gpu.on_raw_stream(stream) }.map_err(raised)?.untimed();
    devices.insert((ordinal, stream), device.clone());
    Ok(device)
}
