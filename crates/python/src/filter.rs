//! Linear filters over arrays of any number of axes, as SciPy's `ndimage` computes them.
//!
//! An array is an image (its last two axes y and x) or a volume (z, y and x), and one of more axes is seen as one of
//! three: what lies before an axis, the axis, and what lies behind it. Sums are of f64, but for arrays of f32 and f16
//! whose result is f32 or f16, too: there they are of f32. A result in integers is truncated toward zero and wraps, and
//! so is what is stored between two passes.

use crate::array::{into_array, pixel_type};
use crate::device::Device;
use crate::error::raised;
use crate::operand::{Input, Makes, Operand, room};
use apron::volumes::{AnyVolume, DeviceVolume, VolumeBorders, VolumeFilterBuilder, VolumeFormula, VolumeWeights};
use apron::{
    AnyImage, Border, Borders, DeviceImage, FilterBuilder, Formula, Mask, Named, Overflow, PixelType, Result, Rounding,
    Shape, Taps,
};
use apron_core::sums_of;
use numpy::{PyArrayDescr, PyReadonlyArray1};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

impl Input<'_> {
    /// Filters the samples as a volume of these sides along x, y and z.
    pub(crate) fn into_volume(
        self,
        device: &apron::Device,
        ([width, height, depth], channels): ([u32; 3], u32),
        filter: Filter,
        room: Option<DeviceImage>,
    ) -> Result<DeviceImage> {
        let stack = Shape::new(width, height.saturating_mul(depth), channels)?;
        let room = room.map(|room| DeviceVolume::from_stack(room.into_reshaped(stack)?, depth)).transpose()?;
        match self {
            Input::Host(samples, _) => {
                let volume = AnyVolume::new(samples.image(width, stack.height, channels)?, depth)?;
                filter.run(device.filter_volume(&volume, filter.formula.clone()), room)
            }
            Input::Device(image) => {
                let volume = DeviceVolume::from_stack(image.into_reshaped(stack)?, depth)?;
                filter.run(device.filter_volume(&volume, filter.formula.clone()), room)
            }
        }
    }
}

/// What is computed of a volume.
pub(crate) struct Filter {
    pub(crate) formula: VolumeFormula,
    pub(crate) borders: VolumeBorders,
    pub(crate) dst: PixelType,
    /// Whether sums are stored between passes, as SciPy's are.
    pub(crate) stored: bool,
}

impl Filter {
    fn run(&self, built: VolumeFilterBuilder<'_>, room: Option<DeviceVolume>) -> Result<DeviceImage> {
        let built = built.border(self.borders).out_type(self.dst).store_between_passes(self.stored);
        let built = built.rounding(Rounding::TowardZero).overflow(Overflow::Wrap);
        let Some(mut room) = room else { return Ok(built.run()?.stack().clone()) };
        built.run_into(&mut room)?;
        Ok(room.stack().clone())
    }
}

/// The taps along an axis, as Python gives them: numbers, or how many for their mean.
#[derive(FromPyObject)]
enum GivenTaps<'py> {
    #[pyo3(transparent)]
    Size(u32),
    #[pyo3(transparent)]
    Taps(PyReadonlyArray1<'py, f64>),
}

/// A pass as Python gives it: axis, taps, SciPy's origin and mode, and the constant.
type GivenPass<'py> = (usize, GivenTaps<'py>, i64, Bound<'py, pyo3::types::PyString>, f64);

/// A correlation along one axis.
#[derive(Clone)]
struct Pass {
    axis: usize,
    taps: Taps,
    /// The taps as f32, for sums of f32.
    singles: Taps,
    /// The number of taps of 1, which are a mean.
    mean_of: Option<u32>,
    border: Border,
}

impl Pass {
    fn of(given: GivenPass<'_>) -> PyResult<Pass> {
        let (axis, taps, origin, mode, constant) = given;
        let (taps, mean_of) = match taps {
            GivenTaps::Size(size) => (Taps::from_f64(vec![1.0; size as usize]), Some(size)),
            GivenTaps::Taps(taps) => (Taps::from_f64(taps.as_slice()?), None),
        };
        let taps = taps.map_err(raised)?;
        let anchor = anchor(taps.len(), origin)?;
        let taps = taps.with_anchor(anchor).map_err(raised)?;
        let singles = rounded(&taps).map_err(raised)?;
        Ok(Pass { axis, taps, singles, mean_of, border: border(mode.to_str()?, constant)? })
    }

    fn is_mean(&self) -> bool {
        self.mean_of.is_some()
    }

    /// Whether it is a mean over many samples, which of f64 is a running sum.
    fn is_long_mean(&self) -> bool {
        self.mean_of.is_some_and(|taps| taps > LONG_MEAN)
    }

    fn divisor(&self) -> f64 {
        self.mean_of.map_or(1.0, f64::from)
    }

    /// Whether what lies outside the array may be filtered with it: SciPy puts the constant beside
    /// the result of each pass.
    fn keeps_constant(&self) -> bool {
        let Border::Constant(constant) = self.border else { return true };
        let sum: f64 = self.taps.taps_f64().iter().sum();
        constant == 0.0 || (sum / self.divisor() - 1.0).abs() < 1e-14
    }

    /// Whether sums of integers are whole, and so exact: what is stored between two passes, and wraps,
    /// then changes nothing.
    fn is_whole(&self) -> bool {
        let sum: f64 = self.taps.taps_f64().iter().map(|tap| tap.abs()).sum();
        let whole = self.taps.taps_f64().iter().all(|tap| tap.fract() == 0.0) && sum < 256.0;
        whole
            && self.mean_of.is_none()
            && matches!(
                self.border,
                Border::Constant(0.0) | Border::Replicate | Border::Reflect | Border::Reflect101 | Border::Wrap
            )
    }
}

/// Rounds taps to f32 so that their sum stays: what one tap loses goes to the next smaller ones, which are finer.
/// Rounded one by one, the taps of a Gaussian make an image brighter or darker by some 1e-8.
fn rounded(taps: &Taps) -> Result<Taps> {
    let (anchor, taps) = (taps.anchor(), taps.taps_f64());
    let mut order: Vec<usize> = (0..taps.len()).collect();
    order.sort_by(|&a, &b| taps[b].abs().total_cmp(&taps[a].abs()));
    let (mut rounded, mut lost) = (taps.to_vec(), 0.0);
    for equal in order.chunk_by(|&a, &b| taps[a] == taps[b]) {
        let (tap, count) = (taps[equal[0]], equal.len() as f64);
        let nearest = f64::from((tap + if tap == 0.0 { 0.0 } else { lost / count }) as f32);
        lost += count * (tap - nearest);
        equal.iter().for_each(|&at| rounded[at] = nearest);
    }
    Taps::from_f64(rounded)?.with_anchor(anchor)
}

/// Returns the tap over the sample for SciPy's origin, which shifts it from the middle.
pub(crate) fn anchor(taps: u32, origin: i64) -> PyResult<u32> {
    let anchor = i64::from(taps / 2) + origin;
    match u32::try_from(anchor) {
        Ok(anchor) if anchor < taps => Ok(anchor),
        _ => {
            let (low, high) = (-i64::from(taps / 2), i64::from(taps) - i64::from(taps / 2) - 1);
            Err(PyValueError::new_err(format!(
                "apron: Invalid origin; origin is {origin}, but must be {low} to {high} for {taps} weights"
            )))
        }
    }
}

/// Returns the border of SciPy's name.
pub(crate) fn border(mode: &str, constant: f64) -> PyResult<Border> {
    Ok(match mode {
        "reflect" | "grid-mirror" => Border::Reflect,
        "mirror" => Border::Reflect101,
        "nearest" => Border::Replicate,
        "wrap" | "grid-wrap" => Border::Wrap,
        "constant" | "grid-constant" => Border::Constant(constant),
        _ => {
            return Err(PyRuntimeError::new_err(format!(
                "boundary mode not supported: mode is {mode:?}, but must be reflect, mirror, nearest, wrap, constant, \
                 grid-mirror, grid-wrap or grid-constant"
            )));
        }
    })
}

/// Correlations along axes, one after the other, for any number of arrays.
///
/// Parameters
/// ----------
/// passes : sequence of (axis, taps, origin, mode, cval)
///     Taps are an array of float64, or a number of taps for the mean over them; origin and mode are SciPy's.
#[pyclass(frozen, module = "apron")]
pub(crate) struct Passes(Vec<Pass>);

#[pymethods]
impl Passes {
    #[new]
    fn new(passes: Vec<GivenPass<'_>>) -> PyResult<Passes> {
        passes.into_iter().map(Pass::of).collect::<PyResult<_>>().map(Passes)
    }
}

/// Correlates an array along axes, one after the other, and returns a new array.
///
/// Parameters
/// ----------
/// input : array of bool, integers or floats, with one axis or more, none of them empty
/// dtype : type of the result
/// passes : Passes
/// device : Device, optional
/// output : array on a GPU that is written, for an input there; then nothing is returned
#[pyfunction]
#[pyo3(signature = (input, dtype, passes, device = None, output = None))]
pub(crate) fn separable<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyArrayDescr>,
    passes: &Passes,
    device: Option<&Device>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, dst) = (Operand::take(input)?, pixel_type(dtype)?);
    let passes = passes.0.clone();
    let (shape, device) = (array.lengths()?, array.device(py, device)?);
    let (input, room, is_written) = (array.input(&device)?, room(&device, output)?, output.is_some());
    let taps: usize = passes.iter().map(|pass| pass.taps.len() as usize + 4).sum();
    let image = array.work(py, array.len().saturating_mul(taps), || {
        returned(along(&device, input, &shape, dst, passes, room)?, is_written)
    })?;
    image.map_or_else(|| Ok(py.None().into_bound(py)), |image| into_array(py, image, array.shape()))
}

/// Returns a result's samples, but those that were written into an array.
pub(crate) fn returned(image: DeviceImage, is_written: bool) -> Result<Option<AnyImage<'static>>> {
    if is_written { Ok(None) } else { image.into_host().map(Some) }
}

/// Filters along axes, one after the other.
fn along(
    device: &apron::Device,
    input: Input<'_>,
    shape: &[u32],
    dst: PixelType,
    mut passes: Vec<Pass>,
    room: Option<DeviceImage>,
) -> Result<DeviceImage> {
    let (types, on_gpu) = ((input.pixel(), dst), matches!(input, Input::Device(_)));
    if on_gpu && !types.0.is_float() && !dst.is_float() && passes.iter().all(Pass::is_whole) {
        // Whole sums are the same in any order of the axes.
        passes.sort_by_key(|pass| pass.axis);
    }
    if are_one_sum(types, on_gpu, shape.len(), &passes) {
        return at_once(device, input, pixels(shape, &passes), dst, passes, room);
    }
    if let Some((lengths, channels)) = stored_volume(types, shape, &passes) {
        let filter = AlongAxes::of(passes, lengths.len(), PixelType::F64).filter(dst, true);
        return input.into_volume(device, (sides(lengths), channels), filter, room);
    }
    let Some(last) = passes.pop() else { return at_once(device, input, (&[product(shape)], 1), dst, vec![], room) };
    let before = passes
        .into_iter()
        .try_fold(input, |input, pass| one(device, input, shape, dst, pass, None).map(Input::Device))?;
    one(device, before, shape, dst, last, room)
}

/// Whether passes over an array of `axes` axes are one sum, which is stored once and has SciPy's results.
fn are_one_sum((src, dst): (PixelType, PixelType), on_gpu: bool, axes: usize, passes: &[Pass]) -> bool {
    let distinct = passes.iter().enumerate().all(|(at, pass)| passes[..at].iter().all(|other| other.axis != pass.axis));
    let keep_constants = || passes.iter().all(Pass::keeps_constant);
    let are_whole = || passes.iter().all(Pass::is_whole);
    let are = match dst {
        PixelType::F16 | PixelType::F32 => keep_constants(),
        // Images of f64 have a launch that sums along x, then along y.
        PixelType::F64 if on_gpu && src == dst && axes == 2 => {
            matches!(passes, [x, y] if x.axis > y.axis && !x.is_mean() && !y.is_mean()) && keep_constants()
        }
        // One pass after the other has the bits of its parts: of SciPy's order of axes, or of what integers are cut to.
        PixelType::F64 | PixelType::Bool => false,
        // Bytes that stay bytes have a launch of passes that are stored.
        _ if on_gpu => axes < 3 && src != dst && may_be_word(src, dst) && are_whole(),
        _ => src.limits().is_some_and(|_| src.size_bytes() <= 4) && are_whole(),
    };
    are && axes <= 3 && distinct
}

/// Returns the lengths of the axes and the channels of the volume over which several passes are one filter whose sums are
/// stored between them; `None` if their order is not that of the axes, or no volume has these axes.
fn stored_volume<'a>(
    (src, dst): (PixelType, PixelType),
    shape: &'a [u32],
    passes: &[Pass],
) -> Option<(&'a [u32], u32)> {
    let is_ordered = passes.len() > 1 && passes.is_sorted_by(|a, b| a.axis < b.axis);
    let means = passes.iter().filter(|pass| pass.is_mean()).count();
    // Sums of f32 have taps of f32, and long means of f64 are running sums.
    let in_doubles = !matches!(dst, PixelType::F16 | PixelType::F32);
    let by_taps = src != PixelType::F64 || !passes.iter().any(Pass::is_long_mean);
    let (lengths, channels) = pixels(shape, passes);
    let are = is_ordered && in_doubles && by_taps && [0, passes.len()].contains(&means) && lengths.len() <= 3;
    are.then_some((lengths, channels))
}

/// Returns the lengths of the axes of pixels, and their channels: what lies behind the axes of the passes, such as colours, if
/// those are few.
fn pixels<'a>(shape: &'a [u32], passes: &[Pass]) -> (&'a [u32], u32) {
    match shape.split_last() {
        Some((&channels, lengths))
            if channels <= MAX_CHANNELS
                && !lengths.is_empty()
                && passes.iter().all(|pass| pass.axis < lengths.len()) =>
        {
            (lengths, channels)
        }
        _ => (shape, 1),
    }
}

/// Returns whether a filter between these types may have sums of 16 bits, which are cast to 8 bits, or stay.
pub(crate) fn may_be_word(src: PixelType, dst: PixelType) -> bool {
    src == PixelType::U8 && matches!(dst, PixelType::U8 | PixelType::I8 | PixelType::I16)
}

/// Returns the number of samples of axes of these lengths; what is too long is refused as the side of an image.
fn product(lengths: &[u32]) -> u32 {
    lengths.iter().fold(1, |product, &length| product.saturating_mul(length))
}

/// Filters along one axis.
fn one(
    device: &apron::Device,
    input: Input<'_>,
    shape: &[u32],
    dst: PixelType,
    pass: Pass,
    room: Option<DeviceImage>,
) -> Result<DeviceImage> {
    let (before, behind) = (product(&shape[..pass.axis]), product(&shape[pass.axis + 1..]));
    let length = shape[pass.axis];
    let (shape, channels, axis) = match (before, behind) {
        (1, 1) => (vec![length], 1, 0),
        // What lies behind, such as colours, are the channels of a pixel, if those are few.
        (_, 1..=MAX_CHANNELS) => (vec![before, length], behind, 1),
        (1, _) => (vec![length, behind], 1, 0),
        _ => (vec![before, length, behind], 1, 1),
    };
    at_once(device, input, (&shape, channels), dst, vec![Pass { axis, ..pass }], room)
}

/// Filters an image or a volume along some of its axes, without rounding in between.
fn at_once(
    device: &apron::Device,
    input: Input<'_>,
    (shape, channels): (&[u32], u32),
    dst: PixelType,
    passes: Vec<Pass>,
    room: Option<DeviceImage>,
) -> Result<DeviceImage> {
    let (sums, mean) = (sums_of(input.pixel(), dst), passes.iter().all(Pass::is_mean));
    // One along planes is a pass even where there is a single plane.
    let is_flat = !passes.iter().any(|pass| shape.len() - 1 - pass.axis == 2);
    let AlongAxes { taps, borders, divisor } = AlongAxes::of(passes, shape.len(), sums);
    let sides = sides(shape);
    let window: u32 = taps.iter().map(Taps::len).max().unwrap_or(1);
    let [x, y, _] = &taps;
    // Filters of volumes have no pass along axes without taps; means of f64 over many samples are running sums. Kernels
    // of images of f64 take both axes in one launch.
    let on_gpu = matches!(input, Input::Device(_));
    let in_one_launch = on_gpu && x.len() > 1 && y.len() > 1;
    let by_images = input.pixel() != PixelType::F64 || (mean && window > LONG_MEAN) || in_one_launch;
    let in_plane = match (x.len(), y.len()) {
        (_, 1) => borders[0].into(),
        (1, _) => borders[1].into(),
        _ => Borders::by_axis(borders[0], borders[1]),
    };
    let gives_words = || divisor == 1.0 && Formula::Separable(x.clone(), y.clone()).gives_words(in_plane);
    let is_planar = is_planar(input.pixel(), dst) || (may_be_word(input.pixel(), dst) && gives_words());
    if sides[2] == 1 && is_flat && is_planar && by_images && (mean || divisor == 1.0) {
        let [x, y, _] = taps;
        let shape = Shape::new(sides[0], sides[1], channels)?;
        // Taps along one axis are a mask of one row or one column, whose kernels on a GPU make one pass over the channels.
        let is_alone = |taps: &Taps, other: &Taps| taps.len() > 1 && other.taps_f64() == [1.0];
        let is_line =
            channels > 1 && on_gpu && input.pixel() != PixelType::F64 && (is_alone(&x, &y) || is_alone(&y, &x));
        return input.into_image(shape, |source| {
            if mean && divisor != 1.0 {
                let anchor = (x.anchor(), y.anchor());
                let mean = device.box_filter(source, x.len(), y.len()).anchor(anchor);
                mean.border(in_plane).out_type(dst).run_in(room, shape)
            } else if is_line {
                cast(device.correlate(source, line(&x, &y)?).border(in_plane).out_type(dst)).run_in(room, shape)
            } else {
                cast(device.separable(source, x, y).border(in_plane).out_type(dst)).run_in(room, shape)
            }
        });
    }
    let filter = AlongAxes { taps, borders, divisor }.filter(dst, false);
    input.into_volume(device, (sides, channels), filter, room)
}

/// Returns the mask of one row or one column of taps along x or y; the other axis has a tap of 1.
fn line(x: &Taps, y: &Taps) -> Result<Mask> {
    let taps = if y.len() == 1 { x } else { y };
    Mask::from_f64(x.len(), y.len(), taps.taps_f64())?.with_anchor(x.anchor(), y.anchor())
}

/// Returns the width, height and depth of an array of up to three axes.
fn sides(shape: &[u32]) -> [u32; 3] {
    std::array::from_fn(|axis| if axis < shape.len() { shape[shape.len() - 1 - axis] } else { 1 })
}

/// Passes along x, y and z.
struct AlongAxes {
    taps: [Taps; 3],
    borders: [Border; 3],
    divisor: f64,
}

impl AlongAxes {
    /// Takes passes along some of `axes` axes, with taps of the type of the sums.
    fn of(passes: Vec<Pass>, axes: usize, sums: PixelType) -> AlongAxes {
        let (mut taps, mut borders, mut divisor) = ([(); 3].map(|()| Taps::unit()), [Border::Replicate; 3], 1.0);
        for pass in passes {
            let axis = axes - 1 - pass.axis;
            divisor *= pass.divisor();
            (taps[axis], borders[axis]) = (if sums == PixelType::F32 { pass.singles } else { pass.taps }, pass.border);
        }
        AlongAxes { taps, borders, divisor }
    }

    /// Returns the filter of a volume.
    fn filter(self, dst: PixelType, stored: bool) -> Filter {
        let ([x, y, z], weights) = (self.borders, VolumeWeights::Separable(self.taps));
        let formula = VolumeFormula::Sums { weights, divisor: self.divisor };
        Filter { formula, borders: VolumeBorders::by_axis(x, y, z), dst, stored }
    }
}

/// Cuts and wraps results that are integers, as SciPy does.
pub(crate) fn cast<F: Named>(built: FilterBuilder<'_, F>) -> FilterBuilder<'_, F> {
    built.rounding(Rounding::TowardZero).overflow(Overflow::Wrap)
}

/// Most interleaved channels of images and volumes.
pub(crate) const MAX_CHANNELS: u32 = 4;

/// Most samples of a mean of f64 that is summed tap by tap.
const LONG_MEAN: u32 = 32;

/// Whether the filters of images sum in the right type: they have more methods than those of volumes.
pub(crate) fn is_planar(src: PixelType, dst: PixelType) -> bool {
    use PixelType::{F16, F32, F64};
    matches!((src, dst), (F16 | F32, F16 | F32) | (F64, F64))
}
