//! Filters and lookups of images with channels, as OpenCV has them: arrays of shape (height, width) or (height, width, channels).

use crate::array::{Array, Samples, into_array, pixel_type, side};
use crate::device::{Device, chosen, work};
use crate::filter::border;
use apron::{AnyImage, Border, Borders, Constants, DeviceImage, Formula, Mask, Region, Result, Source, Taps};
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Width, height and channels of an image.
pub(crate) type Sides = [u32; 3];

/// Returns the sides of an array.
pub(crate) fn sides(array: &Array<'_>) -> PyResult<Sides> {
    match array.shape()[..] {
        [height, width] => Ok([side(width)?, side(height)?, 1]),
        [height, width, channels] => Ok([side(width)?, side(height)?, side(channels)?]),
        _ => {
            let axes = array.shape().len();
            Err(PyValueError::new_err(format!("apron: number of axes is {axes}, but must be 2, or 3 with channels")))
        }
    }
}

/// The window of a filter, as Python gives it.
#[derive(FromPyObject)]
pub(crate) enum GivenWindow<'py> {
    /// Taps along x and along y.
    #[pyo3(transparent)]
    Separable((PyReadonlyArray1<'py, f64>, PyReadonlyArray1<'py, f64>)),
    /// Taps row by row, and how many there are along x and y.
    #[pyo3(transparent)]
    Dense((PyReadonlyArray1<'py, f64>, u32, u32)),
    /// The sides of a window of equal taps, for their mean.
    #[pyo3(transparent)]
    Mean((u32, u32)),
}

impl GivenWindow<'_> {
    fn formula(&self) -> PyResult<Formula> {
        let taps = |taps: &PyReadonlyArray1<'_, f64>| -> PyResult<Taps> {
            Taps::from_f64(taps.as_slice()?).map_err(crate::error::raised)
        };
        Ok(match self {
            GivenWindow::Separable((x, y)) => Formula::Separable(taps(x)?, taps(y)?),
            GivenWindow::Dense((all, width, height)) => {
                Formula::Dense(Mask::from_f64(*width, *height, all.as_slice()?).map_err(crate::error::raised)?)
            }
            GivenWindow::Mean((width, height)) => Formula::Mean(*width, *height),
        })
    }
}

/// Runs `make` on an array as an image, and returns the result's samples in the array's axes.
fn run<'py>(
    py: Python<'py>,
    array: &Array<'py>,
    cost: usize,
    make: impl FnOnce(Source<'_>) -> Result<DeviceImage> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let ([width, height, channels], samples) = (sides(array)?, array.samples()?);
    let image = work(py, samples.len().saturating_mul(cost), || {
        make(Source::from(&samples.image(width, height, channels)?))?.into_host()
    })?;
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
#[pyfunction]
#[pyo3(signature = (input, dtype, window, scale, delta, anchor, mode, device = None))]
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
) -> PyResult<Bound<'py, PyAny>> {
    let (array, dst, device) = (Array::take(input)?, pixel_type(dtype)?, chosen(device)?);
    let (formula, border) = (window.formula()?, border(mode, 0.0)?);
    let (taps, is_scaled) = (formula.taps() as usize, (scale, delta) != (1.0, 0.0));
    run(py, &array, taps + 4, |source| {
        // An anchor is one of taps, which formulas of several parts have each for itself.
        let formula = match (formula, anchor) {
            (Formula::Separable(x, y), Some(at)) => Formula::Separable(x.with_anchor(at.0)?, y.with_anchor(at.1)?),
            (Formula::Dense(mask), Some(at)) => Formula::Dense(mask.with_anchor(at.0, at.1)?),
            (Formula::Mean(width, height), Some(at)) if !is_scaled => {
                return device.box_filter(source, width, height).anchor(at).border(border).out_type(dst).run();
            }
            (formula, _) => formula,
        };
        device.apply(source, formula.scaled(scale, delta)).border(border).out_type(dst).run()
    })
}

/// Copies a region of the plane that contains the image, from column `x` and row `y` on.
#[pyfunction]
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
) -> PyResult<Bound<'py, PyAny>> {
    let (array, device) = (Array::take(input)?, chosen(None)?);
    let borders: Borders = match border(mode, 0.0)? {
        Border::Constant(_) => Constants::new(&constants).map_err(crate::error::raised)?.into(),
        other => other.into(),
    };
    let region = Region { x, y, width, height };
    run(py, &array, 4, |source| device.pad(source, region).border(borders).run())
}

/// Replaces each sample of bytes by its entry in a table of 256.
#[pyfunction]
pub(crate) fn lookup<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    table: PyReadonlyArray1<'py, u8>,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, device, table) = (Array::take(input)?, chosen(None)?, table.as_slice()?.to_vec());
    run(py, &array, 4, |source| device.lookup(source, table).run())
}

/// Equalises the histogram of each channel of bytes.
#[pyfunction]
pub(crate) fn equalized<'py>(py: Python<'py>, input: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (array, device) = (Array::take(input)?, chosen(None)?);
    run(py, &array, 4, |source| device.equalize(source).run())
}

/// Equalises each channel of integers of 8 or 16 bits by tiles, with limited counts.
#[pyfunction]
pub(crate) fn equalized_by_tiles<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    clip: f64,
    across: u32,
    down: u32,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, device) = (Array::take(input)?, chosen(None)?);
    run(py, &array, 16, |source| device.clahe(source, clip, (across, down)).run())
}

/// Gives each channel of bytes the histogram of the same channel of another image.
#[pyfunction]
pub(crate) fn matched<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    reference: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, other, device) = (Array::take(input)?, Array::take(reference)?, chosen(None)?);
    let ([width, height, channels], samples): (Sides, Samples<'_>) = (sides(&other)?, other.samples()?);
    run(py, &array, 4, |source| {
        let reference: AnyImage<'_> = samples.image(width, height, channels)?;
        device.match_histogram(source, &reference).run()
    })
}

/// Finds Otsu's threshold of integers of 8 or 16 bits.
#[pyfunction]
pub(crate) fn otsu(py: Python<'_>, input: &Bound<'_, PyAny>) -> PyResult<u32> {
    let (array, device) = (Array::take(input)?, chosen(None)?);
    let ([width, height, channels], samples) = (sides(&array)?, array.samples()?);
    work(py, samples.len(), || device.otsu(&samples.image(width, height, channels)?))
}
