//! Histograms, percentiles and bin numbers of samples, between edges that follow NumPy's rules.

use crate::array::{Array, Samples, numbers};
use crate::device::{Device, work};
use crate::operand::{Input, Operand, room};
use apron::{Binning, Bins, DeviceImage, Edges, MAX_SIDE, PixelType, Result, Shape, Source, Table};
use apron_core::each_type;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;

/// Samples per row of the image as which a long array is counted: threads share its rows.
const ROW: usize = 4096;

/// Samples per block of a sum of weights: each block is summed from 0, and then added to the sum, in NumPy and in
/// Apron.
const BLOCK: usize = 65_536;

/// Samples whose places are found at a time.
const PART: usize = 1 << 24;

/// Returns the bins between edges: bins of equal width if `even` is set and the edges are those of such bins in the
/// sample type.
fn binning(edges: Vec<f64>, even: bool, pixel: PixelType) -> Result<Binning> {
    if let (true, Some(&low), Some(&high)) = (even, edges.first(), edges.last()) {
        let bins = Bins { count: edges.len() - 1, range: Some((low, high)) };
        if bins.fixed_edges(pixel).is_ok_and(|found| found.values() == edges) {
            return Ok(Binning::Even(bins));
        }
    }
    Edges::new(edges).map(Binning::Between)
}

/// The bins, as Python gives them.
#[derive(FromPyObject)]
pub(crate) enum GivenBins<'py> {
    /// Low and high end, and the number of bins of equal width between them.
    #[pyo3(transparent)]
    Even((f64, f64, usize)),
    #[pyo3(transparent)]
    Edges(PyReadonlyArray1<'py, f64>),
}

/// Runs `count` on the samples as one image or as two: whole blocks in rows of [`ROW`] samples, and the remainder.
/// Samples on a GPU are one image, in the array's rows.
fn by_parts<R>(samples: Input<'_>, mut count: impl FnMut(Source<'_>, usize) -> Result<R>) -> Result<Vec<R>> {
    let samples = match samples {
        Input::Host(samples, _) => samples,
        Input::Device(image) => return Ok(vec![count(Source::from(&image), 0)?]),
    };
    let length = samples.len();
    let whole = if length >= 2 * BLOCK { length / BLOCK * BLOCK } else { 0 };
    let mut results = Vec::new();
    if whole > 0 {
        let (width, height) = (ROW as u32, u32::try_from(whole / ROW).unwrap_or(u32::MAX));
        results.push(count(Source::from(&samples.part(0, whole).image(width, height, 1)?), 0)?);
    }
    if whole < length {
        let image = samples.part(whole, length).image((length - whole) as u32, 1, 1)?;
        results.push(count(Source::from(&image), whole)?);
    }
    Ok(results)
}

/// Weights of f64: on the host a slice, on a GPU an image.
enum Weights<'a> {
    Host(&'a [f64]),
    Device(DeviceImage),
}

impl<'a> Weights<'a> {
    /// Borrows the weights, which must be `wanted`: one per sample or row.
    fn of(weights: &'a Operand<'_>, device: &apron::Device, wanted: usize) -> PyResult<Weights<'a>> {
        let given = weights.len();
        if given != wanted {
            return Err(PyValueError::new_err(format!("apron: number of weights is {given}, but must be {wanted}")));
        }
        match weights.input(device)? {
            Input::Host(Samples::F64(weights), _) => Ok(Weights::Host(weights)),
            Input::Device(image) => Ok(Weights::Device(image)),
            Input::Host(_, pixel) => {
                Err(PyTypeError::new_err(format!("apron: type of weights is {pixel}, but must be f64")))
            }
        }
    }

    /// Returns the weights of `count` samples from sample `from` on.
    fn part(&self, from: usize, count: usize) -> apron::Weights<'_> {
        match self {
            Weights::Host(weights) => weights[from..from + count].into(),
            Weights::Device(image) => image.into(),
        }
    }
}

/// Counts samples between edges, or sums their weights, as `numpy.histogram`.
///
/// Parameters
/// ----------
/// input : array, of any shape
/// edges : array of float64, rising, one more than the bins; or (low, high, bins) for bins of equal width
/// even : whether the bins of an array of edges are of equal width
/// weights : array of float64, as many as samples, where those are, optional
/// device : Device, optional
/// output : array of int64 on a GPU, into which counts of samples there are written; then nothing is returned
///
/// Returns
/// -------
/// array of int64, or of float64 for weights
#[pyfunction]
#[pyo3(signature = (input, edges, even, weights = None, device = None, output = None))]
pub(crate) fn histogram<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    edges: GivenBins<'py>,
    even: bool,
    weights: Option<&Bound<'py, PyAny>>,
    device: Option<&Device>,
    output: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(input)?;
    let (pixel, device) = (array.pixel(), array.device(py, device)?);
    let samples = array.input(&device)?;
    let (even_bins, edges) = match edges {
        GivenBins::Even((low, high, count)) => (Some(Bins { count, range: Some((low, high)) }), Vec::new()),
        GivenBins::Edges(edges) => (None, edges.as_slice()?.to_vec()),
    };
    let bins = even_bins.map_or(edges.len().saturating_sub(1), |bins| bins.count);
    let binning = move || even_bins.map_or_else(|| binning(edges, even, pixel), |bins| Ok(Binning::Even(bins)));
    if let (None, Input::Device(image), Some(mut room)) = (weights, &samples, room(&device, output)?) {
        array.work(py, array.len(), || device.histogram(image).binning(binning()?).enqueue()?.copy_into(&mut room))?;
        return Ok(py.None().into_bound(py));
    }
    let Some(weights) = weights else {
        let counted = array.work(py, array.len(), || {
            let binning = binning()?;
            by_parts(samples, |image, _| device.histogram(image).binning(binning.clone()).run())
        })?;
        let mut counts = vec![0i64; bins];
        for part in counted {
            counts.iter_mut().zip(part.counts()).for_each(|(sum, &count)| *sum += count as i64);
        }
        return Ok(numbers(py, counts));
    };
    let weights = Operand::take(weights)?;
    let weights = Weights::of(&weights, &device, array.len())?;
    let summed = array.work(py, array.len(), || {
        let binning = binning()?;
        by_parts(samples, |image, from| {
            let weights = weights.part(from, image.shape().samples() as usize);
            device.weighted_histogram(image, weights).binning(binning.clone()).run()
        })
    })?;
    let mut sums = vec![0.0; bins];
    for part in summed {
        sums.iter_mut().zip(part.sums).for_each(|(sum, more)| *sum += more);
    }
    Ok(numbers(py, sums))
}

/// Counts integers on a GPU by value: those of 8 or 16 bits from the least of their type on, those of 32 bits from 0 on.
/// Waits for the counts.
///
/// Parameters
/// ----------
/// input : array on a GPU
/// output : array of int64 on the GPU, which is written: a number for each value, for all values of a type of 8 or 16
///     bits, and for any number of values of 32 bits
///
/// Returns
/// -------
/// the least and the largest value that was counted, and whether all were: of 32 bits, the last value is not told from the
/// one after it
#[pyfunction]
pub(crate) fn count_values(
    py: Python<'_>,
    input: &Bound<'_, PyAny>,
    output: &Bound<'_, PyAny>,
) -> PyResult<(i128, i128, bool)> {
    let array = Operand::take(input)?;
    let (pixel, device) = (array.pixel(), array.device(py, None)?);
    let (Input::Device(image), Some(mut room)) = (array.input(&device)?, room(&device, Some(output))?) else {
        return Err(PyTypeError::new_err("apron: the array is on the host, but must be on a GPU"));
    };
    let Some((least, largest)) = pixel.limits().filter(|_| pixel.size_bytes() <= 4) else {
        let limit = "an integer type of 8, 16 or 32 bits";
        return Err(PyTypeError::new_err(format!("apron: type of the array is {pixel}, but must be {limit}")));
    };
    let is_wide = pixel.size_bytes() == 4;
    let (least, count) = if is_wide { (0, room.shape().samples() as i128) } else { (least, largest - least + 1) };
    let bins = Bins { count: count as usize, range: Some((least as f64, (least + count) as f64)) };
    let samples = array.len() as u64;
    let (found, total) = array.work(py, array.len(), || {
        let counted = device.histogram(&image).bins(bins).enqueue()?;
        counted.copy_into(&mut room)?;
        let total = if is_wide { counted.download()?.counts().iter().sum() } else { samples };
        Ok((counted.occupied()?, total))
    })?;
    let (first, last) = found.unwrap_or_default();
    Ok((least + first as i128, least + last as i128, total == samples))
}

/// Counts rows between the edges of their columns, or sums their weights, as `numpy.histogramdd`.
///
/// Parameters
/// ----------
/// rows : array of shape (rows, columns), of one to eight columns
/// edges : sequence of arrays of float64, one for each column
/// even : sequence of bool: whether the bins of a column are of equal width
/// weights : array of float64, one for each row, where those are, optional
/// device : Device, optional
///
/// Returns
/// -------
/// array of float64, one number for each cell, the last column's bins beside each other
#[pyfunction]
#[pyo3(signature = (rows, edges, even, weights = None, device = None))]
pub(crate) fn histogramdd<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    edges: Vec<PyReadonlyArray1<'py, f64>>,
    even: Vec<bool>,
    weights: Option<&Bound<'py, PyAny>>,
    device: Option<&Device>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(rows)?;
    let [count, columns] = array.lengths()?[..] else {
        let axes = array.shape().len();
        return Err(PyValueError::new_err(format!("apron: number of axes is {axes}, but must be 2: rows and columns")));
    };
    let edges: Vec<Vec<f64>> = edges.iter().map(|edges| Ok(edges.as_slice()?.to_vec())).collect::<PyResult<_>>()?;
    let (pixel, device) = (array.pixel(), array.device(py, device)?);
    let samples = array.input(&device)?;
    let weights = weights.map(Operand::take).transpose()?;
    let weights = weights.as_ref().map(|weights| Weights::of(weights, &device, count as usize)).transpose()?;
    let cells = array.work(py, array.len(), || {
        let binning =
            edges.into_iter().zip(even).map(|(edges, even)| binning(edges, even, pixel)).collect::<Result<Vec<_>>>()?;
        samples.into_image(Shape::new(columns, count, 1)?, |rows| {
            let builder = device.histogramdd(Table::of_rows(rows)).bins_of(binning);
            match &weights {
                Some(weights) => Ok(builder.run_weighted(weights.part(0, count as usize))?.0.cells),
                None => Ok(builder.run()?.cells.into_iter().map(|count| count as f64).collect()),
            }
        })
    })?;
    Ok(numbers(py, cells))
}

/// Returns width and height of an image of `length` samples, with rows of [`ROW`] to [`BLOCK`] samples if `length` has
/// such a factor; otherwise with few rows, or one, which may be longer than [`MAX_SIDE`].
fn rows(length: usize) -> (u32, u32) {
    let of = |width: usize, height: usize| (u32::try_from(width).unwrap_or(u32::MAX), height as u32);
    let most = MAX_SIDE as usize;
    if length < 2 * BLOCK || (!length.is_multiple_of(ROW) && length <= most) {
        return of(length, 1);
    }
    let width = (ROW..=BLOCK).find(|&width| length.is_multiple_of(width) && length / width <= most);
    let height = || (2..ROW).find(|&height| length.is_multiple_of(height) && length / height <= most);
    match width {
        Some(width) => of(width, length / width),
        None => height().map_or_else(|| of(length, 1), |height| of(length / height, height)),
    }
}

/// Whether percentiles of `length` samples can be found: only if an image can have that many samples.
#[pyfunction]
pub(crate) fn has_percentiles(length: usize) -> bool {
    rows(length).0 <= MAX_SIDE
}

/// Finds percentiles by `numpy.percentile`'s linear method, in f64.
///
/// Parameters
/// ----------
/// input : array, not empty
/// percentiles : sequence of float, 0 to 100
/// device : Device, optional
#[pyfunction]
#[pyo3(signature = (input, percentiles, device = None))]
pub(crate) fn percentiles<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    percentiles: Vec<f64>,
    device: Option<&Device>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Operand::take(input)?;
    let device = array.device(py, device)?;
    let (samples, length) = (array.input(&device)?, array.len());
    let (width, height) = rows(length);
    let mut found = array.work(py, length, || {
        samples.into_image(Shape::new(width, height, 1)?, |image| device.percentiles(image, percentiles).run())
    })?;
    Ok(numbers(py, found.pop().unwrap_or_default()))
}

/// Finds the least and the largest sample; NaN if a sample is.
#[pyfunction]
pub(crate) fn extremes(py: Python<'_>, input: &Bound<'_, PyAny>) -> PyResult<(f64, f64)> {
    let array = Operand::take(input)?;
    let device = array.device(py, None)?;
    let samples = array.input(&device)?;
    let parts = array.work(py, array.len(), || by_parts(samples, |image, _| device.extremes(image)))?;
    let join = |(low, high): (f64, f64), &(min, max): &(f64, f64)| {
        let (is_lower, is_higher) = (min < low || min.is_nan(), max > high || max.is_nan());
        (if is_lower { min } else { low }, if is_higher { max } else { high })
    };
    Ok(parts.iter().fold((f64::INFINITY, f64::NEG_INFINITY), join))
}

/// Finds the bin of each sample, as `numpy.searchsorted(bins, input, "left" or "right")`; on the CPU.
///
/// Parameters
/// ----------
/// input : array
/// bins : array of float64, rising
/// right : whether a sample that is an edge is beyond it
#[pyfunction]
pub(crate) fn places<'py>(
    py: Python<'py>,
    input: &Bound<'py, PyAny>,
    bins: PyReadonlyArray1<'py, f64>,
    right: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, bins) = (Array::take(input)?, bins.as_slice()?);
    let samples = array.samples()?;
    let found = work(py, samples.len(), || {
        let place = |sample: f64| {
            let is_before = |edge: &f64| match right {
                // NaN is beyond all edges.
                true => *edge <= sample || sample.is_nan(),
                false => *edge < sample || sample.is_nan(),
            };
            bins.partition_point(is_before) as i64
        };
        // One after the other: an image has at most 2^30 - 1 samples in a row.
        let mut found = Vec::with_capacity(samples.len());
        for from in (0..samples.len()).step_by(PART) {
            let part = samples.part(from, (from + PART).min(samples.len()));
            each_type!(part.image(part.len() as u32, 1, 1)?, image => {
                let samples = image.packed();
                found.par_extend(samples.par_iter().with_min_len(ROW).map(|&sample| place(as_f64(sample))));
            });
        }
        Ok(found)
    })?;
    Ok(numbers(py, found))
}

/// Converts a sample to f64; integers beyond 2^53 are rounded to the nearest.
fn as_f64<T: apron::Pixel>(sample: T) -> f64 {
    apron_core::Sample::to_f64(sample)
}
