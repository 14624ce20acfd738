//! Correlation with a mask of up to three axes of several taps, as SciPy's `correlate`.

use crate::array::{into_array, pixel_type};
use crate::device::Device;
use crate::filter::{Filter, MAX_CHANNELS, anchor, border, cast, is_planar, may_be_word, returned};
use crate::operand::{Input, Makes, Operand, room};
use apron::volumes::{VolumeFormula, VolumeMask};
use apron::{Border, DeviceImage, Formula, Mask, PixelType, Result, Shape};
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Correlates an array with a mask of as many axes. At most three of them may have more than one tap, once axes that
/// lie beside each other and have one tap are taken together; returns a new array.
///
/// Parameters
/// ----------
/// input : array of bool, integers or floats, with one axis or more, none of them empty
/// dtype : type of the result
/// taps : array of float64, in C order
/// sides : numbers of taps along the axes
/// origins : SciPy's origin along each axis
/// mode, cval : SciPy's border
/// device : Device, optional
/// output : as of `separable`
#[pyfunction]
#[pyo3(signature = (input, dtype, taps, sides, origins, mode, cval, device = None, output = None))]
#[allow(clippy::too_many_arguments)] // Python's own
pub(crate) fn correlate<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyArrayDescr>,
    taps: PyReadonlyArray1<'py, f64>,
    sides: Vec<u32>,
    origins: Vec<i64>,
    mode: &str,
    cval: f64,
    device: Option<&Device>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, dst) = (Operand::take(input)?, pixel_type(dtype)?);
    let window = Window::of(&array.lengths()?, &sides, &origins)?;
    let (border, device) = (border(mode, cval)?, array.device(py, device)?);
    let (input, room, is_written) = (array.input(&device)?, room(&device, output)?, output.is_some());
    let taps = taps.as_slice()?.to_vec();
    let image = array.work(py, array.len().saturating_mul(taps.len() + 4), || {
        returned(window.correlate(&device, input, dst, taps, border, room)?, is_written)
    })?;
    image.map_or_else(|| Ok(py.None().into_bound(py)), |image| into_array(py, image, array.shape()))
}

/// An array of up to three axes, and a mask over it; along x, y and z.
struct Window {
    lengths: [u32; 3],
    /// Interleaved channels.
    channels: u32,
    taps: [u32; 3],
    anchor: [u32; 3],
}

impl Window {
    /// Takes axes of one tap that lie beside each other together.
    fn of(shape: &[u32], sides: &[u32], origins: &[i64]) -> PyResult<Window> {
        if shape.len() != sides.len() || shape.len() != origins.len() {
            return Err(PyRuntimeError::new_err(format!(
                "apron: weights have {} axes and {} origins, but must have {}",
                sides.len(),
                origins.len(),
                shape.len()
            )));
        }
        let mut axes: Vec<(u32, u32, u32)> = Vec::new();
        for ((&length, &taps), &origin) in shape.iter().zip(sides).zip(origins).rev() {
            let anchor = anchor(taps, origin)?;
            match axes.last_mut() {
                _ if taps == 1 && length == 1 => {}
                Some((last, 1, _)) if taps == 1 => *last = last.saturating_mul(length),
                _ => axes.push((length, taps, anchor)),
            }
        }
        // What lies behind the mask's axes, such as colours, are the channels of a pixel, if those are few.
        let mut channels = 1;
        if let [(length @ 2..=MAX_CHANNELS, 1, _), _, ..] = axes[..] {
            channels = length;
            axes.remove(0);
        }
        if axes.len() > 3 {
            let wide = axes.len();
            return Err(PyValueError::new_err(format!(
                "apron: number of axes is {wide}, but must be up to 3, and up to {MAX_CHANNELS} channels"
            )));
        }
        axes.resize(3, (1, 1, 0));
        let of = |axis: usize| axes[axis];
        Ok(Window {
            channels,
            lengths: [of(0).0, of(1).0, of(2).0],
            taps: [of(0).1, of(1).1, of(2).1],
            anchor: [of(0).2, of(1).2, of(2).2],
        })
    }

    /// Correlates the array with taps, plane by plane and row by row.
    fn correlate(
        &self,
        device: &apron::Device,
        input: Input<'_>,
        dst: PixelType,
        taps: Vec<f64>,
        border: Border,
        room: Option<DeviceImage>,
    ) -> Result<DeviceImage> {
        let [width, height, depth] = self.taps;
        let mask = || Mask::from_f64(width, height, &taps[..])?.with_anchor(self.anchor[0], self.anchor[1]);
        let gives_words = || mask().is_ok_and(|mask| Formula::Dense(mask).gives_words(border.into()));
        let is_planar = is_planar(input.pixel(), dst) || (may_be_word(input.pixel(), dst) && gives_words());
        if self.lengths[2] == 1 && depth == 1 && is_planar {
            let mask = mask()?;
            let shape = Shape::new(self.lengths[0], self.lengths[1], self.channels)?;
            return input.into_image(shape, |source| {
                cast(device.correlate(source, mask).border(border).out_type(dst)).run_in(room, shape)
            });
        }
        let mask = VolumeMask::new(width, height, depth, taps)?.with_anchor(self.anchor)?;
        let filter = Filter { formula: VolumeFormula::dense(mask), borders: border.into(), dst, stored: false };
        input.into_volume(device, (self.lengths, self.channels), filter, room)
    }
}
