//! Filters and lookups of images with channels, for OpenCV's functions: arrays of shape (height, width) or
//! (height, width, channels).

use crate::array::{into_array, pixel_type};
use crate::device::Device;
use crate::error::raised;
use crate::filter::{border, returned};
use crate::operand::{Makes, Operand, room};
use apron::{Border, Borders, Constants, DeviceImage, Formula, Mask, Region, Result, Shape, Source, Taps};
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the shape of an array as an image.
fn shape(array: &Operand<'_>) -> PyResult<Shape> {
    image_shape(&array.lengths()?)
}

/// Returns the shape of an image whose array has axes of these lengths.
pub(crate) fn image_shape(lengths: &[u32]) -> PyResult<Shape> {
    let [height, width, channels] = match *lengths {
        [height, width] => [height, width, 1],
        [height, width, channels] => [height, width, channels],
        _ => {
            let axes = lengths.len();
            return Err(PyValueError::new_err(format!(
                "apron: number of axes is {axes}, but must be 2, or 3 with channels"
            )));
        }
    };
    Shape::new(width, height, channels).map_err(raised)
}

/// The window of a filter.
#[derive(FromPyObject)]
pub(crate) enum GivenWindow<'py> {
    /// Taps along x and along y.
    #[pyo3(transparent)]
    Separable((PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>)),
    /// Taps of a mask row by row, and the mask's width and height.
    #[pyo3(transparent)]
    Dense((PyReadonlyArray1<'py, f64>, u32, u32)),
    /// Width and height of a window whose mean is computed.
    #[pyo3(transparent)]
    Mean((u32, u32)),
}

impl GivenWindow<'_> {
    fn formula(&self) -> PyResult<Formula> {
        let taps =
            |taps: &PyReadonlyArray1<'_, f64>| -> PyResult<Taps> { Taps::from_f64(taps.as_slice()?).map_err(raised) };
        Ok(match self {
            GivenWindow::Separable((x, y)) => Formula::Separable(taps(x)?, taps(y)?),
            GivenWindow::Dense((all, width, height)) => {
                Formula::Dense(Mask::from_f64(*width, *height, all.as_slice()?).map_err(raised)?)
            }
            GivenWindow::Mean((width, height)) => Formula::Mean(*width, *height),
        })
    }
}

/// Runs `make` on an array as an image. Writes the result into `room` if it is given; otherwise returns it as an array
/// with the same axes.
fn run<'py>(
    py: Python<'py>,
    (array, device): (&Operand<'py>, &apron::Device),
    cost: usize,
    output: Option<&Bound<'py, PyAny>>,
    make: impl FnOnce(Source<'_>, Option<DeviceImage>) -> Result<DeviceImage> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let (shape, input) = (shape(array)?, array.input(device)?);
    let (room, is_written) = (room(device, output)?, output.is_some());
    let image = array.work(py, array.len().saturating_mul(cost), || {
        returned(input.into_image(shape, |source| make(source, room))?, is_written)
    })?;
    let Some(image) = image else { return Ok(py.None().into_bound(py)) };
    let shape = image.shape();
    let sides = [shape.height as usize, shape.width as usize, shape.channels as usize];
    into_array(py, image, &sides[..array.shape().len()])
}

/// Filters an image: `scale` times the sums, plus `delta`. Integers are rounded half to even, and saturate.
///
/// Parameters
/// ----------
/// input : array of shape (height, width) or (height, width, channels), with up to 4 channels
/// dtype : type of the result
/// window : (taps along x, taps along y), (taps, width, height), or (width, height) for a mean
/// scale, delta : float
/// anchor : (x, y) or None for the middle
/// mode : SciPy's name of the border; a constant border is 0
/// output : array on a GPU that is written, for an input there; then nothing is returned
#[pyfunction]
#[pyo3(signature = (input, dtype, window, scale, delta, anchor, mode, device = None, output = None))]
#[allow(clippy::too_many_arguments)] // Python's own
pub(crate) fn planar<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyArrayDescr>,
    window: GivenWindow<'py>,
    scale: f64,
    delta: f64,
    anchor: Option<(u32, u32)>,
    mode: &str,
    device: Option<&Device>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, dst) = (Operand::take(input)?, pixel_type(dtype)?);
    let device = array.device(py, device)?;
    let (formula, border, shape) = (window.formula()?, border(mode, 0.0)?, shape(&array)?);
    let (taps, is_scaled) = (formula.taps() as usize, (scale, delta) != (1.0, 0.0));
    run(py, (&array, &device), taps + 4, output, |source, room| {
        // An anchor belongs to a mask; in a formula of several parts, each part has its own.
        let formula = match (formula, anchor) {
            (Formula::Separable(x, y), Some(at)) => Formula::Separable(x.with_anchor(at.0)?, y.with_anchor(at.1)?),
            (Formula::Dense(mask), Some(at)) => Formula::Dense(mask.with_anchor(at.0, at.1)?),
            (Formula::Mean(width, height), Some(at)) if !is_scaled => {
                let mean = device.box_filter(source, width, height).anchor(at);
                return mean.border(border).out_type(dst).run_in(room, shape);
            }
            (formula, _) => formula,
        };
        device.apply(source, formula.scaled(scale, delta)).border(border).out_type(dst).run_in(room, shape)
    })
}

/// Copies a region of the plane that contains the image, from column `x` and row `y` on.
#[pyfunction]
#[pyo3(signature = (input, x, y, width, height, mode, constants, output = None))]
#[allow(clippy::too_many_arguments)] // Python's own
pub(crate) fn padded<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    mode: &str,
    constants: Vec<f64>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(input)?;
    let device = array.device(py, None)?;
    let shape = Shape::new(width, height, shape(&array)?.channels).map_err(raised)?;
    let borders: Borders = match border(mode, 0.0)? {
        Border::Constant(_) => Constants::new(&constants).map_err(raised)?.into(),
        other => other.into(),
    };
    let region = Region { x, y, width, height };
    run(py, (&array, &device), 4, output, |source, room| device.pad(source, region).border(borders).run_in(room, shape))
}

/// Replaces each sample of bytes by its entry in a table of 256.
#[pyfunction]
#[pyo3(signature = (input, table, output = None))]
pub(crate) fn lookup<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    table: PyReadonlyArray1<'py, u8>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(input)?;
    let (shape, device) = (shape(&array)?, array.device(py, None)?);
    let table = table.as_slice()?.to_vec();
    run(py, (&array, &device), 4, output, |source, room| device.lookup(source, table).run_in(room, shape))
}

/// Equalises the histogram of each channel of bytes.
#[pyfunction]
#[pyo3(signature = (input, output = None))]
pub(crate) fn equalized<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(input)?;
    let (shape, device) = (shape(&array)?, array.device(py, None)?);
    run(py, (&array, &device), 4, output, |source, room| device.equalize(source).run_in(room, shape))
}

/// Equalises each channel of integers of 8 or 16 bits by tiles, with limited counts (CLAHE).
#[pyfunction]
#[pyo3(signature = (input, clip, across, down, output = None))]
pub(crate) fn equalized_by_tiles<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    clip: f64,
    across: u32,
    down: u32,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(input)?;
    let (shape, device) = (shape(&array)?, array.device(py, None)?);
    run(py, (&array, &device), 16, output, |source, room| {
        device.clahe(source, clip, (across, down)).run_in(room, shape)
    })
}

/// Gives each channel of bytes the histogram of the same channel of another image on the same device.
#[pyfunction]
#[pyo3(signature = (input, reference, output = None))]
pub(crate) fn matched<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    reference: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, other) = (Operand::take(input)?, Operand::take(reference)?);
    let (of_image, of_other, device) = (shape(&array)?, shape(&other)?, array.device(py, None)?);
    let other = other.input(&device)?;
    run(py, (&array, &device), 4, output, |source, room| {
        other.into_image(of_other, |reference| device.match_histogram(source, reference).run_in(room, of_image))
    })
}

/// Finds Otsu's threshold of integers of 8 or 16 bits.
#[pyfunction]
pub(crate) fn otsu(py: Python<'_>, input: &Bound<'_, PyAny>) -> PyResult<u32> {
    let array = Operand::take(input)?;
    let (shape, device) = (shape(&array)?, array.device(py, None)?);
    let samples = array.input(&device)?;
    array.work(py, array.len(), || samples.into_image(shape, |source| device.otsu(source)))
}
