//! Arrays on a GPU, exchanged with other libraries by DLPack and by the CUDA Array Interface.
#![allow(unsafe_code)] // addresses that other libraries vouch for

use crate::array::{pixel_type, side};
use crate::error::raised;
use crate::operand::{Stream, on};
use crate::planar::image_shape;
use apron::cust::context::Context;
use apron::cust::event::{Event, EventFlags};
use apron::cust::stream::StreamWaitEventFlags;
use apron::{DeviceImage, DeviceName, PixelType, Region, Shape, cust};
use dlpark::ffi::{DLDataType, DLDataTypeCode, DLDevice, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned};
use dlpark::metadata::Dynamic;
use dlpark::python::consumer::stream;
use dlpark::python::producer::{CudaStreamRequest, DlpackExporter, ExportRequest, export_dlpack};
use dlpark::python::{DlpackStream, ImportRequest, ImportedDlpack, StreamArg};
use dlpark::{DlpackFlags, Managed, ManagedTensorBase};
use numpy::PyArrayDescr;
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;

/// An array on a GPU that was imported by DLPack or by the CUDA Array Interface, or the result of a function of such an
/// array. Other libraries import it without a copy, by either protocol: ``torch.from_dlpack(array)``,
/// ``cupy.asarray(array)``.
#[pyclass(frozen, module = "apron")]
pub(crate) struct GpuArray {
    address: u64,
    shape: Vec<usize>,
    pixel: PixelType,
    /// The stream that orders all work on the array.
    stream: Stream,
    read_only: bool,
    keep: Arc<Keep>,
}

/// The owner of the memory.
enum Keep {
    Own(#[expect(dead_code)] DeviceImage),
    Imported(#[expect(dead_code)] ImportedDlpack),
    Python(#[expect(dead_code)] Py<PyAny>),
}

// SAFETY: the owner of imported memory is only dropped, which DLPack requires of deleters to allow on any thread.
unsafe impl Send for Keep {}
// SAFETY: as above.
unsafe impl Sync for Keep {}

/// The legacy default stream: an array's library makes this stream wait for its pending work on the array.
struct DefaultStream;

// SAFETY: the stream exists as long as the context, and its number in Python's protocol is 1.
unsafe impl DlpackStream for DefaultStream {
    fn as_python_arg(&self, _py: Python<'_>, _device: DLDevice) -> PyResult<StreamArg> {
        Ok(stream::cuda(std::ptr::null_mut()))
    }
}

/// Returns the sample type of DLPack's description.
fn pixel_of(dtype: DLDataType) -> Option<PixelType> {
    PixelType::ALL.into_iter().find(|&pixel| described(pixel) == dtype)
}

/// Returns DLPack's description of a sample type.
fn described(pixel: PixelType) -> DLDataType {
    let code = match pixel {
        PixelType::Bool => DLDataTypeCode::BOOL,
        pixel if pixel.is_float() => DLDataTypeCode::FLOAT,
        pixel if pixel.limits().is_some_and(|(low, _)| low < 0) => DLDataTypeCode::INT,
        _ => DLDataTypeCode::UINT,
    };
    DLDataType::scalar(code, 8 * pixel.size_bytes() as u8)
}

/// Returns NumPy's name of a type in an array interface.
pub(crate) fn typestr(pixel: PixelType) -> String {
    let kind = match described(pixel).code {
        DLDataTypeCode::BOOL => 'b',
        DLDataTypeCode::FLOAT => 'f',
        DLDataTypeCode::INT => 'i',
        _ => 'u',
    };
    let bytes = pixel.size_bytes();
    format!("{}{kind}{bytes}", if bytes == 1 { '|' } else { '<' })
}

fn failed(what: &str, error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("apron: {what}: {error}"))
}

#[pymethods]
impl GpuArray {
    /// Makes an array of zeros on a GPU.
    #[staticmethod]
    fn zeros(py: Python<'_>, shape: Vec<usize>, dtype: &Bound<'_, PyArrayDescr>, stream: Stream) -> PyResult<GpuArray> {
        let pixel = pixel_type(dtype)?;
        let (width, rows) = match shape.split_last() {
            Some((&width, rows)) => (width, rows.iter().product()),
            None => (1, 1),
        };
        let (width, rows) = (side(width)?, side(rows)?);
        let image = py.detach(|| {
            let device = on(stream)?;
            Shape::new(width, rows, 1).and_then(|shape| device.zeros(shape, pixel)).map_err(raised)
        })?;
        let address = image.device_address().unwrap_or_default();
        Ok(GpuArray { address, shape, pixel, stream, read_only: false, keep: Arc::new(Keep::Own(image)) })
    }

    /// Imports an array by ``__dlpack__``, on the legacy default stream.
    #[staticmethod]
    fn of_dlpack(array: &Bound<'_, PyAny>) -> PyResult<GpuArray> {
        let request = ImportRequest::new(array.as_borrowed())?;
        let device = request.device()?;
        if device.device_type != DLDeviceType::CUDA {
            return Err(PyTypeError::new_err("apron: the array is on no GPU of CUDA"));
        }
        // Stream 1 is the legacy default stream; the array's library makes it wait for its own work.
        let imported = request.import(Some(&DefaultStream), None)?;
        let tensor = imported.validate().map_err(|error| failed("reading a tensor of DLPack", error))?;
        let pixel = pixel_of(tensor.dtype()).ok_or_else(|| {
            PyTypeError::new_err("apron: the type of the tensor is none of bool, integers and floats")
        })?;
        if !tensor.is_compact().map_err(|error| failed("reading a tensor of DLPack", error))? {
            return Err(PyValueError::new_err("apron: the strides of the tensor are not those of C order"));
        }
        let address = tensor.data_ptr() as u64 + tensor.byte_offset();
        let shape = tensor.shape().iter().map(|&length| length as usize).collect();
        let (ordinal, read_only) = (device.device_id as u32, imported.flags().contains(DlpackFlags::READ_ONLY));
        Ok(GpuArray {
            address,
            shape,
            pixel,
            stream: (ordinal, 1),
            read_only,
            keep: Arc::new(Keep::Imported(imported)),
        })
    }

    /// Imports an array by ``__cuda_array_interface__``, on the stream that the interface gives.
    #[staticmethod]
    fn of_interface(array: &Bound<'_, PyAny>, ordinal: u32) -> PyResult<GpuArray> {
        let interface = array.getattr("__cuda_array_interface__")?;
        let numpy = array.py().import("numpy")?;
        let dtype = numpy.call_method1("dtype", (interface.get_item("typestr")?,))?;
        let pixel = pixel_type(dtype.cast::<PyArrayDescr>()?)?;
        let shape: Vec<usize> = interface.get_item("shape")?.extract()?;
        let (address, read_only): (u64, bool) = interface.get_item("data")?.extract()?;
        let own = |name: &str| interface.get_item(name).ok().filter(|value| !value.is_none());
        let compact = || {
            let mut strides = vec![pixel.size_bytes(); shape.len()];
            for axis in (1..shape.len()).rev() {
                strides[axis - 1] = strides[axis] * shape[axis];
            }
            strides
        };
        if own("strides")
            .map(|strides| strides.extract::<Vec<usize>>())
            .transpose()?
            .is_some_and(|all| all != compact())
        {
            return Err(PyValueError::new_err("apron: the strides of the array are not those of C order"));
        }
        if own("mask").is_some() {
            return Err(PyTypeError::new_err("apron: the array has a mask, which is not read"));
        }
        let handle = own("stream").map(|stream| stream.extract::<u64>()).transpose()?.unwrap_or(1);
        if handle == 0 {
            return Err(PyValueError::new_err("apron: the array's stream is 0, but must be 1 for the default stream"));
        }
        let keep = Arc::new(Keep::Python(array.clone().unbind()));
        Ok(GpuArray { address, shape, pixel, stream: (ordinal, handle), read_only, keep })
    }

    #[getter]
    fn address(&self) -> u64 {
        self.address
    }

    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("dtype", (typestr(self.pixel),))
    }

    #[getter]
    fn read_only(&self) -> bool {
        self.read_only
    }

    /// The number of the GPU, and the handle of the stream on which all work on the array is enqueued.
    #[getter]
    fn stream(&self) -> Stream {
        self.stream
    }

    #[getter]
    pub(crate) fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, &self.shape)?)?;
        interface.set_item("typestr", typestr(self.pixel))?;
        interface.set_item("data", (self.address, self.read_only))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("stream", self.stream.1.max(1))?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    pub(crate) fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        export_dlpack(self, py, ExportRequest::parse(stream, max_version, dl_device, copy)?)
    }

    fn __dlpack_device__(&self) -> (u32, u32) {
        // CUDA is 2 in DLPack.
        (2, self.stream.0)
    }

    fn __repr__(&self) -> String {
        format!("GpuArray({:?}, {}, gpu:{})", self.shape, self.pixel, self.stream.0)
    }
}

impl GpuArray {
    /// Imports an array on a GPU, by either protocol; `None` for other arrays.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Option<GpuArray>> {
        let place: Option<(u32, u32)> = match array.call_method0("__dlpack_device__") {
            Ok(place) => Some(place.extract()?),
            Err(_) => None,
        };
        if array.hasattr("__cuda_array_interface__")? {
            return GpuArray::of_interface(array, place.map_or(0, |(_, ordinal)| ordinal)).map(Some);
        }
        // CUDA is 2 in DLPack.
        if place.is_some_and(|(kind, _)| kind == 2) { GpuArray::of_dlpack(array).map(Some) } else { Ok(None) }
    }

    /// Shares an image on a GPU.
    ///
    /// # Errors
    /// `ValueError` for a part of an image, whose rows have gaps, and for a batch; `BufferError` for
    /// an image on the host.
    pub(crate) fn of_image(image: &DeviceImage, device: &apron::Device, shape: Vec<usize>) -> PyResult<GpuArray> {
        let (DeviceName::Gpu(ordinal), Some(address), Some(stream)) =
            (device.name(), image.device_address(), image.cust_stream())
        else {
            return Err(PyBufferError::new_err(format!("apron: the image is on {}, not on a GPU", device.name())));
        };
        if image.images() > 1 || image.row_stride() as usize != image.shape().row_samples() {
            return Err(PyValueError::new_err(
                "apron: the image is a part of another, or a batch, but must be a whole one",
            ));
        }
        let (stream, keep) = ((ordinal, stream.as_inner() as u64), Arc::new(Keep::Own(image.clone())));
        Ok(GpuArray { address, shape, pixel: image.pixel_type(), stream, read_only: false, keep })
    }

    /// Copies the array on its GPU, as an image.
    pub(crate) fn copied(&self, py: Python<'_>) -> PyResult<DeviceImage> {
        let lengths: Vec<u32> = self.shape.iter().map(|&length| side(length)).collect::<PyResult<_>>()?;
        let shape = image_shape(&lengths)?;
        py.detach(|| {
            let device = on(self.stream)?;
            // SAFETY: the array exists until the copy is enqueued, on the stream of all work on the array.
            let image = unsafe {
                DeviceImage::from_raw(&device, self.address, self.pixel, shape, shape.row_samples()).map_err(raised)?
            };
            let whole = Region { x: 0, y: 0, width: shape.width, height: shape.height };
            device.pad(&image, whole).run().map_err(raised)
        })
    }

    /// Returns the number of the GPU.
    pub(crate) fn ordinal(&self) -> u32 {
        self.stream.0
    }

    /// Returns the number of axes.
    pub(crate) fn axes(&self) -> usize {
        self.shape.len()
    }

    fn exported<M: ManagedTensorBase>(&self) -> PyResult<Managed<M>> {
        let shape: Vec<i64> = self.shape.iter().map(|&length| length as i64).collect();
        let prepared = Dynamic::compact(shape).prepare_as::<M>();
        let mut tensor =
            prepared.map_err(|error| failed("making a tensor of DLPack", error))?.initialize(self.keep.clone());
        tensor.set_data(std::ptr::with_exposed_provenance_mut(self.address as usize));
        tensor.set_dtype(described(self.pixel)).set_device(self.device());
        if self.read_only {
            tensor.set_flags(DlpackFlags::READ_ONLY).map_err(|error| failed("making a tensor of DLPack", error))?;
        }
        // SAFETY: the address holds samples of this shape and type as long as the tensor keeps its owner.
        Ok(unsafe { tensor.finish() })
    }

    /// Makes another stream wait for the work on the array; the host does not wait.
    fn order(&self, handle: u64) -> cust::error::CudaResult<()> {
        let _context = Context::new(cust::device::Device::get_device(self.stream.0)?)?;
        let (Ok(own), Ok(other)) = (on(self.stream), on((self.stream.0, handle))) else { return Ok(()) };
        if let (Some(own), Some(other)) = (own.cust_stream(), other.cust_stream()) {
            let event = Event::new(EventFlags::DISABLE_TIMING)?;
            event.record(own)?;
            // The driver keeps the event until the stream has waited for it.
            other.wait_event(event, StreamWaitEventFlags::DEFAULT)?;
        }
        Ok(())
    }
}

impl DlpackExporter for GpuArray {
    fn device(&self) -> DLDevice {
        DLDevice::cuda(self.stream.0 as i32)
    }

    fn flags(&self) -> DlpackFlags {
        if self.read_only { DlpackFlags::READ_ONLY } else { DlpackFlags::empty() }
    }

    fn prepare_export(&self, py: Python<'_>, request: &ExportRequest<'_>) -> PyResult<()> {
        let handle = match request.cuda_stream()? {
            CudaStreamRequest::NoSync => return Ok(()),
            CudaStreamRequest::Omitted | CudaStreamRequest::LegacyDefault => 1,
            CudaStreamRequest::PerThreadDefault => 2,
            CudaStreamRequest::Pointer(handle) => handle as u64,
        };
        if handle == self.stream.1.max(1) {
            return Ok(());
        }
        py.detach(|| self.order(handle)).map_err(|error| failed("ordering two streams", error))
    }

    fn export_legacy(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensor>> {
        self.exported()
    }

    fn export_versioned(&self, _py: Python<'_>) -> PyResult<Managed<DLManagedTensorVersioned>> {
        self.exported()
    }
}
