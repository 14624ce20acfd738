//! Images on a device: filters whose results stay there, parts, batches and reports.

use crate::array::{Array, into_array, numbers, side};
use crate::device::{Device, own_gpu, work};
use crate::error::raised;
use crate::given::{Whole, items};
use crate::gpu_array::{GpuArray, typestr};
use crate::options::Options;
use crate::planar::image_shape;
use apron::filters::Parameter;
use apron::{AnyImage, Bins, DeviceImage, DeviceName, Formula, MAX_MASK_SIDE, MAX_SIDE, Mask, Report, Taps, filters};
use numpy::{Ix1, Ix2, PyReadonlyArray, PyUntypedArray, ndarray::Dimension};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::BTreeMap;

/// An image on a device, of shape (height, width) or (height, width, channels); for a batch, the first axis is the
/// number of images.
///
/// Filters return images on the same device: on a GPU they are enqueued, and only `download` waits.
///
/// >>> import apron, numpy as np
/// >>> image = apron.Device("cpu").upload(np.array([[0, 30, 60]], np.uint8))
/// >>> image.box(3, 1).download()
/// array([[20, 30, 40]], dtype=uint8)
/// >>> image.filter("sobel", dx=1, dy=0, border="replicate", dtype="int16").download()
/// array([[120, 240, 120]], dtype=int16)
/// >>> image.gaussian(1.0).report["operation"]
/// 'separable'
///
/// Filters take these options:
///
/// border : str
///     ``"reflect101"`` (the default), ``"reflect"``, ``"replicate"``, ``"wrap"``, ``"constant:V"`` or ``"crop"``; along x and y
///     ``"wrap,crop"``.
/// dtype : numpy.dtype
///     Type of the samples of the result; by default the image's.
/// extent : "same", "full" or (x, y, width, height)
///     The part of the plane that is computed. Windows of a region also read the image around it.
/// rounding : "half_even" or "toward_zero"
/// overflow : "saturate" or "wrap"
/// anchor : (x, y)
///     The tap over the pixel of the result.
/// method : str
///     ``"direct"``, ``"separable"``, ... as on the command line.
/// variant : str
///     The implementation, as ``apron kernels`` lists it.
/// keep_alpha, store_between_passes : bool
#[pyclass(frozen, module = "apron")]
#[derive(Clone)]
pub(crate) struct Image {
    pub(crate) device: apron::Device,
    pub(crate) image: DeviceImage,
    /// Whether arrays made from the image have an axis of channels.
    pub(crate) has_channels: bool,
}

/// Most bins of a histogram.
const MAX_BINS: i64 = 1 << 24;

/// Refuses a GPU in a process that was forked from one that has used it.
pub(crate) fn check(device: &apron::Device) -> PyResult<()> {
    match device.name() {
        DeviceName::Cpu | DeviceName::Emulator | DeviceName::Reference => Ok(()),
        _ => own_gpu(),
    }
}

#[pymethods]
impl Image {
    /// The lengths of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.sides())
    }

    /// The type of the samples.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("dtype", (typestr(self.image.pixel_type()),))
    }

    /// The device that holds the image.
    #[getter]
    fn device(&self) -> Device {
        Device { device: self.device.clone() }
    }

    /// How the image was computed: a dictionary of what ran, on which device, why, and for how many seconds. Waits for
    /// the image.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = py.detach(|| self.image.report()).map_err(raised)?;
        dictionary(py, &report)
    }

    /// Copies the samples into a new NumPy array. Waits for the image.
    fn download<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        check(&self.device)?;
        if self.image.images() == 1 {
            let image = py.detach(|| self.image.download_any()).map_err(raised)?;
            return into_array(py, image, &self.sides());
        }
        let images = py.detach(|| self.image.download_batch_any()).map_err(raised)?;
        let arrays = images.into_iter().map(|image| into_array(py, image, &self.sides()[1..]));
        py.import("numpy")?.call_method1("stack", (arrays.collect::<PyResult<Vec<_>>>()?,))
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err("apron: copy is False, but an image on a device is copied"));
        }
        let array = self.download(py)?;
        dtype.map_or_else(|| Ok(array.clone()), |dtype| array.call_method1("astype", (dtype,)))
    }

    /// The image's memory on a GPU, without a copy: ``cupy.asarray(image)``.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        // Libraries test whether an array is on a GPU by this attribute, so it must be missing on the host.
        let on_host = |error: PyErr| PyAttributeError::new_err(error.value(py).to_string());
        self.shared().map_err(on_host)?.__cuda_array_interface__(py)
    }

    /// Exports the image's memory on a GPU, without a copy: ``torch.from_dlpack(image)``.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(u32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        self.shared()?.__dlpack__(py, stream, max_version, dl_device, copy)
    }

    fn __dlpack_device__(&self) -> (u32, u32) {
        // In DLPack the host is 1, and CUDA 2.
        match self.device.name() {
            DeviceName::Gpu(ordinal) => (2, ordinal),
            _ => (1, 0),
        }
    }

    /// Returns a part of the image that shares the image's memory: kernels read it in place, with its own borders.
    fn region(&self, x: Whole, y: Whole, width: Whole, height: Whole) -> PyResult<Image> {
        let most = MAX_SIDE.into();
        let (x, y) = (x.within("x", 0, most)?, y.within("y", 0, most)?);
        let (width, height) = (width.within("width", 1, most)?, height.within("height", 1, most)?);
        Ok(self.with(self.image.region(x, y, width, height).map_err(raised)?))
    }

    /// The number of images: more than 1 for a batch.
    #[getter]
    fn images(&self) -> u32 {
        self.image.images()
    }

    /// Correlates with a mask of shape (height, width).
    #[pyo3(signature = (mask, **options))]
    fn correlate(
        &self,
        py: Python<'_>,
        mask: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Image> {
        self.apply(py, Formula::Dense(mask_of(mask)?), options)
    }

    /// Convolves with a mask of shape (height, width): correlates with the mask turned by half a turn.
    #[pyo3(signature = (mask, **options))]
    fn convolve(
        &self,
        py: Python<'_>,
        mask: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Image> {
        self.apply(py, Formula::Dense(mask_of(mask)?.flipped()), options)
    }

    /// Correlates along the rows with taps `x`, and along the columns with taps `y`.
    #[pyo3(signature = (x, y, **options))]
    fn separable(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Image> {
        self.apply(py, Formula::Separable(taps_of(x)?, taps_of(y)?), options)
    }

    /// Blurs by a Gaussian.
    ///
    /// Parameters
    /// ----------
    /// sigma : float, or sequence of two
    ///     Standard deviation in pixels, or one along x and one along y.
    /// truncate : float
    ///     Radius of the Gaussian, in standard deviations.
    #[pyo3(signature = (sigma, truncate = 4.0, **options))]
    fn gaussian(
        &self,
        py: Python<'_>,
        sigma: &Bound<'_, PyAny>,
        truncate: f64,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Image> {
        let [x, y] = match sigma.extract::<f64>() {
            Ok(both) => [both, both],
            Err(_) => items(sigma, "sigma", "a number, or one along x and one along y")?,
        };
        let taps = |sigma| filters::gaussian(sigma, truncate).map_err(raised);
        self.apply(py, Formula::Separable(taps(x)?, taps(y)?), options)
    }

    /// Averages over windows of `width` x `height` pixels.
    #[pyo3(signature = (width, height, **options))]
    fn r#box(
        &self,
        py: Python<'_>,
        width: Whole,
        height: Whole,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Image> {
        let most = MAX_MASK_SIDE.into();
        let (width, height) = (width.within("width", 1, most)?, height.within("height", 1, most)?);
        self.apply(py, Formula::Mean(width, height), options)
    }

    /// Applies one of `named_filters`, by its name and its parameters.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For another name, and for values that are not allowed.
    #[pyo3(signature = (name, **options))]
    fn filter(&self, py: Python<'_>, name: &str, options: Option<&Bound<'_, PyDict>>) -> PyResult<Image> {
        let (mut given, own) = (BTreeMap::new(), PyDict::new(py));
        let Some(definition) = filters::definitions().find(|one| one.name == name || one.aliases.contains(&name))
        else {
            let names: Vec<_> = filters::definitions().map(|definition| definition.name).collect();
            return Err(PyValueError::new_err(format!(
                "apron: filter is {name:?}, but must be one of {}",
                names.join(", ")
            )));
        };
        for (key, value) in options.into_iter().flatten() {
            let option = key.to_string().replace('_', "-");
            match definition.parameters.iter().find(|parameter| parameter.name == option) {
                Some(parameter) => drop(given.insert(option, text_of(&value, parameter)?)),
                None => own.set_item(key, value)?,
            }
        }
        let formula = definition.formula(|parameter| given.get(parameter).cloned()).map_err(raised)?;
        self.apply(py, formula, Some(&own))
    }

    /// Counts the samples of all channels together, or of each. Returns the counts, of shape (bins,) or
    /// (channels, bins), and the edges. Waits for the image.
    ///
    /// Parameters
    /// ----------
    /// bins : int
    /// range : (float, float), optional
    ///     By default the range of the type for bytes, otherwise from the least to the largest sample.
    /// per_channel : bool
    #[pyo3(
        signature = (bins = Whole::Number(256), range = None, per_channel = false),
        text_signature = "($self, bins=256, range=None, per_channel=False)"
    )]
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        bins: Whole,
        range: Option<(f64, f64)>,
        per_channel: bool,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        check(&self.device)?;
        let bins: usize = bins.within("number of bins", 1, MAX_BINS)?;
        let count = || {
            let histogram = self.device.histogram(&self.image).bins(Bins { count: bins, range });
            histogram.per_channel(per_channel).run()
        };
        let found = work(py, self.cost(4), count)?;
        let counts = numbers(py, found.counts().iter().map(|&count| count as i64).collect());
        let counts = if per_channel { counts.call_method1("reshape", ((-1, found.bins()),))? } else { counts };
        Ok((counts, numbers(py, found.edges().to_vec())))
    }

    fn __repr__(&self) -> String {
        format!("Image({:?}, {}, {})", self.sides(), self.image.pixel_type(), self.device.name())
    }
}

impl Image {
    fn with(&self, image: DeviceImage) -> Image {
        Image { image, ..self.clone() }
    }

    /// Returns the lengths of the axes.
    fn sides(&self) -> Vec<usize> {
        let (shape, images) = (self.image.shape(), self.image.images());
        let batch = (images > 1).then_some(images);
        let channels = self.has_channels.then_some(shape.channels);
        batch.into_iter().chain([shape.height, shape.width]).chain(channels).map(|side| side as usize).collect()
    }

    /// Returns the image as an array that shares its memory on a GPU.
    fn shared(&self) -> PyResult<GpuArray> {
        GpuArray::of_image(&self.image, &self.device, self.sides())
    }

    /// Returns the approximate number of multiply-adds, for `of_sample` per sample.
    fn cost(&self, of_sample: usize) -> usize {
        self.sides().iter().product::<usize>().saturating_mul(of_sample)
    }

    /// Applies a formula with the options.
    fn apply(&self, py: Python<'_>, formula: Formula, options: Option<&Bound<'_, PyDict>>) -> PyResult<Image> {
        check(&self.device)?;
        let options = Options::of(options)?;
        let image = work(py, self.cost(formula.taps() as usize + 4), || {
            options.set(self.device.apply(&self.image, formula)).run()
        })?;
        Ok(self.with(image))
    }
}

/// Converts a parameter to text; the numbers of a sequence are joined in the parameter's form, `WxH` or `S,SY`.
fn text_of(value: &Bound<'_, PyAny>, parameter: &Parameter) -> PyResult<String> {
    let separator = if parameter.shape.contains('x') { "x" } else { "," };
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(flag.to_string());
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    match value.try_iter() {
        Ok(parts) => Ok(parts.map(|part| Ok(part?.str()?.to_string())).collect::<PyResult<Vec<_>>>()?.join(separator)),
        Err(_) => Ok(value.str()?.to_string()),
    }
}

/// Converts numbers, or rows of numbers, to an array of f64 in C order; refuses integers that f64 does not represent.
fn taps_in<'py, D: Dimension>(numbers: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray<'py, f64, D>> {
    let array = numbers.py().import("apron._arguments")?.call_method1("doubles", (numbers, "taps"))?;
    array.extract().map_err(|_| {
        let axes = D::NDIM.unwrap_or_default();
        PyValueError::new_err(format!("apron: the taps have another number of axes, but must have {axes}"))
    })
}

fn mask_of(mask: &Bound<'_, PyAny>) -> PyResult<Mask> {
    let taps = taps_in::<Ix2>(mask)?;
    let (height, width) = taps.as_array().dim();
    Mask::from_f64(side(width)?, side(height)?, taps.as_slice()?).map_err(raised)
}

fn taps_of(taps: &Bound<'_, PyAny>) -> PyResult<Taps> {
    Taps::from_f64(taps_in::<Ix1>(taps)?.as_slice()?).map_err(raised)
}

/// Returns a report as a dictionary; times are in seconds.
fn dictionary<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("operation", report.operation)?;
    all.set_item("device", &report.device)?;
    all.set_item("method", report.method.map(|method| method.to_string()))?;
    all.set_item("why_method", &report.why_method)?;
    all.set_item("error_bound", report.error_bound)?;
    all.set_item("variant", &report.variant)?;
    all.set_item("why", &report.why)?;
    all.set_item("grid", &report.grid)?;
    all.set_item("copy_in", report.copy_in.as_secs_f64())?;
    all.set_item("kernels", report.kernels.as_secs_f64())?;
    all.set_item("estimate", report.estimate.map(|estimate| estimate.to_string()))?;
    Ok(all)
}

/// Lists the filters of `Image.filter`: for each name, one line that says what it computes, and its parameters with
/// their defaults.
///
/// >>> import apron
/// >>> apron.named_filters()["sharpen"]
/// ('Sharpen by the four neighbours', {'amount': '1'})
#[pyfunction]
pub(crate) fn named_filters(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for definition in filters::definitions() {
        let parameters = PyDict::new(py);
        for parameter in definition.parameters {
            parameters.set_item(parameter.name.replace('-', "_"), parameter.default())?;
        }
        all.set_item(definition.name, (definition.summary(), parameters))?;
    }
    Ok(all)
}

impl Device {
    /// Takes an array as an image on the host, with a flag that says whether the array has an axis of channels.
    pub(crate) fn on_host<R>(
        array: &Bound<'_, PyAny>,
        take: impl FnOnce(AnyImage<'_>) -> PyResult<R>,
    ) -> PyResult<(R, bool)> {
        let array = Array::take(array)?;
        let lengths: Vec<u32> = array.shape().iter().map(|&length| side(length)).collect::<PyResult<_>>()?;
        let shape = image_shape(&lengths)?;
        let image = array.samples()?.image(shape.width, shape.height, shape.channels).map_err(raised)?;
        Ok((take(image)?, array.shape().len() == 3))
    }

    pub(crate) fn uploaded(&self, py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<Image> {
        check(&self.device)?;
        if array.cast::<PyUntypedArray>().is_err()
            && let Some(there) = GpuArray::of(array)?
        {
            if self.device.name() != DeviceName::Gpu(there.ordinal()) {
                let (of, on) = (self.device.name(), there.ordinal());
                return Err(PyTypeError::new_err(format!("apron: the array is on gpu:{on}, but the device is {of}")));
            }
            let (image, has_channels) = (there.copied(py)?, there.axes() == 3);
            return Ok(Image { device: self.device.clone(), image, has_channels });
        }
        let upload = |image: AnyImage<'_>| py.detach(|| self.device.upload(&image)).map_err(raised);
        let (image, has_channels) = Device::on_host(array, upload)?;
        Ok(Image { device: self.device.clone(), image, has_channels })
    }

    pub(crate) fn uploaded_batch(&self, py: Python<'_>, arrays: Vec<Bound<'_, PyAny>>) -> PyResult<Image> {
        check(&self.device)?;
        let own = |image: AnyImage<'_>| Ok(image.into_owned());
        let images = arrays.iter().map(|array| Device::on_host(array, own)).collect::<PyResult<Vec<_>>>()?;
        let has_channels = images.iter().all(|(_, has_channels)| *has_channels);
        let images: Vec<AnyImage<'_>> = images.into_iter().map(|(image, _)| image).collect();
        let image = py.detach(|| self.device.upload_batch_any(&images)).map_err(raised)?;
        Ok(Image { device: self.device.clone(), image, has_channels })
    }
}
