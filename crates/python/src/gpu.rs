//! Arrays that lie on a GPU: on their own stream, where they are.
//!
//! An array is given as its address, its shape and its type, with the number of the GPU and the driver's handle of the stream. Results
//! are written into arrays that are given as well. Nothing is copied, and nobody waits but for counts, which go to the host.
#![allow(unsafe_code)] // addresses and streams that Python vouches for

use crate::array::{numbers, pixel_type, side};
use crate::device::own_gpu;
use crate::error::raised;
use crate::filter::{Input, Passes, Window, along, border};
use apron::{DeviceImage, PixelType, Result, Shape};
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// An array as Python gives it: address, shape, type.
type GivenArray<'py> = (u64, Vec<usize>, Bound<'py, PyArrayDescr>);

/// The number of a GPU, and a handle of a stream.
pub(crate) type Stream = (u32, u64);

/// An array on a GPU, whose samples lie in C order.
struct Given {
    address: u64,
    shape: Vec<u32>,
    pixel: PixelType,
}

impl Given {
    fn of(given: GivenArray<'_>) -> PyResult<Given> {
        let (address, shape, dtype) = given;
        let shape = shape.into_iter().map(side).collect::<PyResult<_>>()?;
        Ok(Given { address, shape, pixel: pixel_type(&dtype)? })
    }

    /// Returns the samples as an image, which is reshaped before it is used: as many rows as the array has but along its last axis.
    fn image(&self, device: &apron::Device) -> Result<DeviceImage> {
        let (width, rows) = match self.shape.split_last() {
            Some((&width, rows)) => (width, rows.iter().fold(1u32, |product, &length| product.saturating_mul(length))),
            None => (1, 1),
        };
        let shape = Shape::new(width, rows, 1)?;
        // SAFETY: Python keeps the array until the call returns; then its library frees or reuses it in the order of its stream, on
        // which all work on it is enqueued.
        unsafe { DeviceImage::from_raw(device, self.address, self.pixel, shape, shape.row_samples()) }
    }
}

/// Returns the device that enqueues on a stream; the same for the same stream.
pub(crate) fn on((ordinal, stream): Stream) -> PyResult<apron::Device> {
    static DEVICES: LazyLock<Mutex<HashMap<Stream, apron::Device>>> = LazyLock::new(Mutex::default);
    own_gpu()?;
    let mut devices = DEVICES.lock().unwrap_or_else(|error| error.into_inner());
    if let Some(device) = devices.get(&(ordinal, stream)) {
        return Ok(device.clone());
    }
    // One device for all streams: loading its kernels again would wait for the work that runs.
    let opened = devices.iter().find(|((of, _), _)| *of == ordinal).map(|(_, device)| device.clone());
    let gpu = opened.map_or_else(|| apron::Device::gpu(ordinal), Ok).map_err(raised)?;
    // SAFETY: the stream is the array's current one. A stream that its library has destroyed is not named again, but for another that
    // has got its handle.
    let device = unsafe { gpu.on_raw_stream(stream) }.map_err(raised)?;
    devices.insert((ordinal, stream), device.clone());
    Ok(device)
}

/// As `separable`, for arrays on a GPU.
#[pyfunction]
pub(crate) fn gpu_separable(
    py: Python<'_>,
    input: GivenArray<'_>,
    output: GivenArray<'_>,
    passes: &Passes,
    stream: Stream,
) -> PyResult<()> {
    let (input, output) = (Given::of(input)?, Given::of(output)?);
    let passes = passes.0.clone();
    py.detach(|| {
        let device = on(stream)?;
        let run = || {
            let (image, room) = (input.image(&device)?, output.image(&device)?);
            along(&device, Input::Device(image), &input.shape, output.pixel, passes, Some(room))
        };
        run().map_err(raised).map(drop)
    })
}

/// As `correlate`, for arrays on a GPU.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // Python's own
pub(crate) fn gpu_correlate(
    py: Python<'_>,
    input: GivenArray<'_>,
    output: GivenArray<'_>,
    taps: PyReadonlyArray1<'_, f64>,
    sides: Vec<u32>,
    origins: Vec<i64>,
    mode: &str,
    cval: f64,
    stream: Stream,
) -> PyResult<()> {
    let (input, output) = (Given::of(input)?, Given::of(output)?);
    let window = Window::of(&input.shape, &sides, &origins)?;
    let (border, taps) = (border(mode, cval)?, taps.as_slice()?.to_vec());
    py.detach(|| {
        let device = on(stream)?;
        let run = || {
            let (image, room) = (input.image(&device)?, output.image(&device)?);
            window.correlate(&device, Input::Device(image), output.pixel, taps, border, Some(room))
        };
        run().map_err(raised).map(drop)
    })
}

/// As `histogram` without weights, for an array on a GPU; waits for the counts.
#[pyfunction]
pub(crate) fn gpu_histogram<'py>(
    py: Python<'py>,
    input: GivenArray<'py>,
    edges: PyReadonlyArray1<'py, f64>,
    even: bool,
    stream: Stream,
) -> PyResult<Bound<'py, PyAny>> {
    let (input, edges) = (Given::of(input)?, edges.as_slice()?.to_vec());
    let counts = py.detach(|| {
        let device = on(stream)?;
        let run = || {
            let binning = crate::histogram::binning(edges, even, input.pixel)?;
            Ok(device.histogram(&input.image(&device)?).binning(binning).run()?.counts().to_vec())
        };
        run().map_err(raised)
    })?;
    Ok(numbers(py, counts.into_iter().map(|count| count as i64).collect()))
}

/// Finds the least and the largest sample of an array on a GPU; waits for them.
#[pyfunction]
pub(crate) fn gpu_extremes(py: Python<'_>, input: GivenArray<'_>, stream: Stream) -> PyResult<(f64, f64)> {
    let input = Given::of(input)?;
    py.detach(|| {
        let device = on(stream)?;
        let statistics = input.image(&device).and_then(|image| device.statistics(&image).run()).map_err(raised)?;
        Ok(statistics.first().map_or((f64::NAN, f64::NAN), |found| (found.min, found.max)))
    })
}
