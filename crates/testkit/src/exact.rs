//! Nearly exact sums: computed in f64 throughout, with the magnitude that bounds the rounding errors of f32.

use crate::Case;
use apron::{AnyImage, Border, PointOp};
use apron_core::{
    BOX_CHUNK, BoxFilter, Correlate, FilterProblem, LocalStd, LowRank, Paired, Part, PixelType, Sample, Scale,
    Separable, each_type,
};

/// An exact result, and the bound of an f32 result's distance from it.
pub(crate) struct Exact {
    pub(crate) value: f64,
    pub(crate) bound: f64,
}

/// Returns the sample at a column and row, which may be outside the image, as f64.
fn sample(image: &AnyImage<'_>, border: Border, x: i32, y: i32, channel: u32) -> f64 {
    let shape = image.shape();
    let (mode, constant) = border.mode();
    match (mode.map(x, shape.width as i32), mode.map(y, shape.height as i32)) {
        (Some(x), Some(y)) => each_type!(image, image => image.sample(x as u32, y as u32, channel).to_f64()),
        _ => constant as f64,
    }
}

/// Sums whose magnitude is below this cannot overflow f32 on the way, even if they cancel.
const LARGEST_MAGNITUDE: f64 = f32::MAX as f64 / 2.0;

/// Largest error of rounding to a denormal f32: half of its step.
const DENORMAL_ROUNDING: f64 = f64::from_bits((1023 - 150) << 52);

/// Makes the bound `(taps + 3) * 2^-24 * magnitude + denormals`, with the magnitude the sum of |tap * sample|, and
/// `denormals` the possible error of denormal sums. The value is NaN if f32 may overflow on the way: then there is no
/// bound, but the bits still have to equal the reference's.
fn exact(taps: usize, value: f64, magnitude: f64, denormals: f64, clamp: bool) -> Exact {
    let value = match magnitude <= LARGEST_MAGNITUDE {
        true if clamp => value.clamp(0.0, 1.0),
        true => value,
        false => f64::NAN,
    };
    Exact { value, bound: (taps + 3) as f64 * 2f64.powi(-24) * magnitude + denormals }
}

/// Maximum number of products for all exact sums of a case: about a second.
const MOST_PRODUCTS: u64 = 20_000_000;

/// Returns the stride in output samples between exact sums: 1, except for large cases.
pub(crate) fn stride(problem: &FilterProblem) -> usize {
    let samples = problem.shape().samples();
    // Odd, so that it covers all columns and channels of most images.
    (samples.saturating_mul(taps(problem)) / MOST_PRODUCTS) as usize | 1
}

/// Returns the number of products of an exact sum.
pub(crate) fn taps(problem: &FilterProblem) -> u64 {
    match problem {
        FilterProblem::Correlate(problem) => problem.mask.width() as u64 * problem.mask.height() as u64,
        FilterProblem::Separable(problem) => problem.taps_x.len() as u64 * problem.taps_y.len() as u64,
        FilterProblem::LowRank(problem) => {
            let taps = problem.separables().map(|term| term.taps_x.len() as u64 * term.taps_y.len() as u64);
            taps.sum()
        }
        FilterProblem::Box(problem) => problem.samples(),
        FilterProblem::LocalStd(problem) => problem.width as u64 * problem.height as u64,
        FilterProblem::Scaled(problem) => taps(&problem.sums()),
        FilterProblem::Paired(problem) => {
            let filters = problem.parts().filter_map(|part| problem.filter(part));
            filters.map(|filter| taps(&filter)).sum::<u64>().max(1)
        }
        FilterProblem::Pointwise(_) | FilterProblem::Pad(_) => 1,
    }
}

/// Computes the exact result of a filter at an output sample.
pub(crate) fn filter(problem: &FilterProblem, case: &Case, x: u32, y: u32, channel: u32) -> Exact {
    let image = &case.image;
    match problem {
        FilterProblem::Correlate(problem) => correlate(problem, image, x, y, channel),
        FilterProblem::Separable(problem) => separable(problem, image, x, y, channel),
        FilterProblem::LowRank(problem) => low_rank(problem, image, x, y, channel),
        FilterProblem::Box(problem) => box_filter(problem, image, x, y, channel),
        FilterProblem::LocalStd(problem) => local_std(problem, image, x, y, channel),
        FilterProblem::Pointwise(problem) => {
            let at = |image| sample(image, Border::Crop, x as i32, y as i32, channel);
            // Only alpha comes from the second image.
            let first = problem.op == PointOp::Alpha && channel + 1 < problem.shape.channels;
            pointwise(problem.op, at(image), case.second.as_ref().filter(|_| !first).map(at))
        }
        FilterProblem::Scaled(problem) => {
            let Exact { value, bound } = filter(&problem.sums(), case, x, y, channel);
            Exact { value: problem.factor * value + problem.offset, bound: problem.factor.abs() * bound + 0.5 }
        }
        FilterProblem::Paired(problem) => paired(problem, case, x, y, channel),
        FilterProblem::Pad(problem) => crate::pad::exact(problem, image, x, y, channel),
    }
}

fn correlate(problem: &Correlate, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let mask = &problem.mask;
    let (mut value, mut magnitude) = (0.0, 0.0);
    for (index, &tap) in mask.taps().iter().enumerate() {
        let (i, j) = (index as u32 % mask.width(), index as u32 / mask.width());
        let (column, row) = ((x + i) as i32 + window.origin_x, (y + j) as i32 + window.origin_y);
        let product = tap as f64 * sample(image, problem.border, column, row, channel);
        value += product;
        magnitude += product.abs();
    }
    let taps = mask.taps().len();
    exact(taps, value, magnitude, taps as f64 * DENORMAL_ROUNDING, problem.clamp)
}

fn separable(problem: &Separable, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let (taps_x, taps_y) = (problem.taps_x.taps(), problem.taps_y.taps());
    let (mut value, mut magnitude) = (0.0, 0.0);
    for (j, &tap_y) in taps_y.iter().enumerate() {
        let row = y as i32 + j as i32 + window.origin_y;
        let products = taps_x.iter().enumerate().map(|(i, &tap)| {
            let column = x as i32 + i as i32 + window.origin_x;
            tap as f64 * sample(image, problem.border, column, row, channel)
        });
        let (row_value, row_magnitude) =
            products.fold((0.0, 0.0), |(value, magnitude), p: f64| (value + p, magnitude + p.abs()));
        value += tap_y as f64 * row_value;
        magnitude += if row_magnitude <= LARGEST_MAGNITUDE { tap_y.abs() as f64 * row_magnitude } else { f64::NAN };
    }
    let of_rows: f64 = taps_y.iter().map(|tap| tap.abs() as f64 * taps_x.len() as f64).sum();
    let denormals = (of_rows + taps_y.len() as f64) * DENORMAL_ROUNDING;
    exact(taps_x.len() + taps_y.len(), value, magnitude, denormals, false)
}

/// Sums the terms' results and bounds, and adds a rounding for each addition between them.
fn low_rank(problem: &LowRank, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let terms = problem.separables().map(|term| separable(&term, image, x, y, channel));
    let sum = |a: Exact, b: Exact| Exact { value: a.value + b.value, bound: a.bound + b.bound };
    let sum = terms.reduce(sum).expect("checked by the caller");
    // The sum of the terms is bounded by the sum of their magnitudes; each term's bound is `roundings` units of its magnitude.
    let (first, count) = (&problem.terms[0], problem.terms.len());
    let roundings = (first.0.len() + first.1.len() + 3) as f64;
    Exact { bound: sum.bound * (1.0 + (count - 1) as f64 / roundings), ..sum }
}

fn box_filter(problem: &BoxFilter, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for (j, i) in (0..problem.height).flat_map(|j| (0..problem.width).map(move |i| (j, i))) {
        let (column, row) = ((x + i) as i32 + window.origin_x, (y + j) as i32 + window.origin_y);
        let sample = sample(image, problem.border, column, row, channel);
        sum += sample;
        magnitude += sample.abs();
    }
    let scale = match problem.scale {
        Scale::Mean => 1.0 / problem.samples() as f64,
        Scale::Tap(tap) => tap as f64,
    };
    // u8 samples are summed exactly.
    let roundings = if problem.src == PixelType::U8 { 0 } else { additions(problem.width) + additions(problem.height) };
    // The unscaled sum must not overflow either; only scaling can lose denormals.
    let largest = magnitude * scale.abs().max(1.0);
    let value = if largest <= LARGEST_MAGNITUDE { sum * scale } else { f64::NAN };
    exact(roundings, value, magnitude * scale.abs(), DENORMAL_ROUNDING, false)
}

/// Returns the maximum number of additions that a sample takes part in along an axis: within its chunk, between chunks,
/// and with the head and the tail; for a window within a chunk, the number of samples.
fn additions(samples: u32) -> usize {
    (if samples <= BOX_CHUNK { samples } else { BOX_CHUNK + samples / BOX_CHUNK }) as usize
}

/// Bounds the error of rounding a value to f32 that was computed in f64 with an error of `2^-37` of `magnitude`.
fn rounded_once(value: f64, magnitude: f64) -> Exact {
    let bound = 2f64.powi(-24) * value.abs() + 2f64.powi(-37) * magnitude + DENORMAL_ROUNDING;
    Exact { value: if value.abs() <= LARGEST_MAGNITUDE { value } else { f64::NAN }, bound }
}

fn pointwise(op: PointOp, x: f64, y: Option<f64>) -> Exact {
    match (op, y) {
        (PointOp::Weighted { threshold, .. }, Some(y)) if (x - y).abs() < threshold => rounded_once(x, 0.0),
        (PointOp::Weighted { a, b, c, .. }, y) => {
            let (x, y) = (a * x, y.map_or(0.0, |y| b * y));
            rounded_once(x + y + c, x.abs() + y.abs() + c.abs())
        }
        (PointOp::Magnitude, Some(y)) => rounded_once(x.hypot(y), x.hypot(y)),
        (PointOp::Direction, Some(y)) => rounded_once(y.atan2(x), y.atan2(x).abs()),
        (PointOp::Alpha, y) => rounded_once(y.unwrap_or(x), 0.0),
        (PointOp::Magnitude | PointOp::Direction, None) => unreachable!("two images"),
    }
}

/// Applies the operation to the parts' results, and adds their bounds: lengths and sums change by no more. There is no
/// bound for angles, nor where a part is left as it is below a threshold.
fn paired(problem: &Paired, case: &Case, x: u32, y: u32, channel: u32) -> Exact {
    let operand = |part: &Part| match problem.filter(part) {
        Some(part) => filter(&part, case, x, y, channel),
        None => Exact { value: sample(&case.image, Border::Crop, x as i32, y as i32, channel), bound: 0.0 },
    };
    let (first, second) = (operand(&problem.x), problem.y.as_ref().map(operand));
    let bounds = (first.bound, second.as_ref().map_or(0.0, |second| second.bound));
    let Exact { value, bound } = pointwise(problem.op, first.value, second.map(|second| second.value));
    match problem.op {
        PointOp::Weighted { a, b, threshold: 0.0, .. } => {
            Exact { value, bound: bound * 1.5 + a.abs() * bounds.0 + b.abs() * bounds.1 }
        }
        PointOp::Magnitude => Exact { value, bound: bound * 1.5 + bounds.0 + bounds.1 },
        _ => Exact { value: f64::NAN, bound },
    }
}

fn local_std(problem: &LocalStd, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let places = (0..problem.height).flat_map(|j| (0..problem.width).map(move |i| (i, j)));
    let samples: Vec<f64> = places
        .map(|(i, j)| {
            let (column, row) = ((x + i) as i32 + window.origin_x, (y + j) as i32 + window.origin_y);
            sample(image, problem.border, column, row, channel)
        })
        .collect();
    let count = samples.len() as f64;
    // In two passes, which do not cancel.
    let mean = samples.iter().sum::<f64>() / count;
    let variance = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum::<f64>() / count;
    let square = samples.iter().map(|sample| sample * sample).sum::<f64>() / count;
    let (value, off) = (variance.sqrt(), (problem.width + problem.height + 6) as f64 * 2f64.powi(-52) * square);
    // The error of the root: at most the root of the variance's error, and less for large variances.
    let rooted = if value > 0.0 { (off / value).min(off.sqrt()) } else { off.sqrt() };
    let Exact { value, bound } = rounded_once(value, value);
    Exact { value, bound: bound + rooted }
}
