//! Nearly exact sums: computed in f64 and its rounding errors, with the magnitude that bounds the rounding
//! errors of f32 or f64.

use crate::Case;
use apron::{AnyImage, Border, PointOp};
use apron_core::{
    BOX_CHUNK, BoxFilter, Correlate, FilterProblem, LocalStd, LowRank, Paired, Part, PixelType, Sample, Scale,
    Separable, each_type,
};

/// An exact result, and the bound of an f32 or f64 result's distance from it.
pub(crate) struct Exact {
    pub(crate) value: f64,
    pub(crate) bound: f64,
}

/// Returns the samples of a row from a column on, which may be outside the image, as f64.
fn line(image: &AnyImage<'_>, border: Border, (x, y): (i32, i32), count: u32, channel: u32) -> Vec<f64> {
    let (mode, constant) = border.mode_of(image.pixel_type());
    let (columns, width) = (x..x + count as i32, image.shape().width as i32);
    let Some(y) = mode.map(y, image.shape().height as i32) else { return vec![constant; count as usize] };
    each_type!(image, image => {
        let at = |x| image.sample(x as u32, y as u32, channel).to_f64();
        columns.map(|x| mode.map(x, width).map_or(constant, at)).collect()
    })
}

/// Returns the sample at a column and row, which may be outside the image, as f64.
pub(crate) fn sample(image: &AnyImage<'_>, border: Border, x: i32, y: i32, channel: u32) -> f64 {
    let shape = image.shape();
    let (mode, constant) = border.mode_of(image.pixel_type());
    match (mode.map(x, shape.width as i32), mode.map(y, shape.height as i32)) {
        (Some(x), Some(y)) => each_type!(image, image => image.sample(x as u32, y as u32, channel).to_f64()),
        _ => constant,
    }
}

/// The numbers in which a filter sums.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    /// Sums whose magnitude is below this cannot overflow on the way, even if they cancel.
    pub(crate) largest: f64,
    /// Largest relative error of a rounding.
    unit: f64,
    /// Largest error of rounding to a denormal number: half of its step, or the step of f64, whose
    /// half f64 does not hold.
    pub(crate) denormal: f64,
}

/// Sums to f32. Integer results are sums in f64 whose bound is a half.
const SINGLE: Numbers = Numbers {
    largest: f32::MAX as f64 / 2.0,
    unit: f64::from_bits((1023 - 24) << 52),
    denormal: f64::from_bits((1023 - 150) << 52),
};

const DOUBLE: Numbers =
    Numbers { largest: f64::MAX / 2.0, unit: f64::from_bits((1023 - 53) << 52), denormal: f64::from_bits(1) };

impl Numbers {
    pub(crate) fn of(pixel: PixelType) -> Numbers {
        if pixel == PixelType::F64 { DOUBLE } else { SINGLE }
    }

    /// Makes the bound `(taps + 3) * unit * magnitude + denormals`, with the magnitude the sum of |tap * sample|, and
    /// `denormals` the possible error of denormal sums. The value is NaN if the sum may overflow on the way: then there
    /// is no bound, but the bits still have to equal the reference's.
    pub(crate) fn exact(self, taps: usize, value: f64, magnitude: f64, denormals: f64, clamp: bool) -> Exact {
        let value = match magnitude <= self.largest {
            true if clamp => value.clamp(0.0, 1.0),
            true => value,
            false => f64::NAN,
        };
        Exact { value, bound: (taps + 3) as f64 * self.unit * magnitude + denormals }
    }

    /// Bounds the error of rounding a value once that was computed in f64 with an error of `2^-37` of `magnitude`; of a
    /// few units of f64 for results in f64.
    fn rounded_once(self, value: f64, magnitude: f64) -> Exact {
        let computed = if self.unit == DOUBLE.unit { 4.0 * self.unit } else { 2f64.powi(-37) };
        let bound = self.unit * value.abs() + computed * magnitude + self.denormal;
        Exact { value: if value.abs() <= self.largest { value } else { f64::NAN }, bound }
    }
}

/// A sum and its rounding error so far: as if it had twice the digits of f64.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sum {
    sum: f64,
    error: f64,
    /// The sum of the magnitudes.
    pub(crate) magnitude: f64,
}

impl Sum {
    /// Adds the product of a factor and a number with its own error.
    #[inline]
    pub(crate) fn add(&mut self, factor: f64, number: Sum) {
        let product = factor * number.sum;
        let rounded = factor.mul_add(number.sum, -product) + factor * number.error;
        let before = self.sum;
        self.sum += product;
        let added = self.sum - before;
        self.error += (before - (self.sum - added)) + (product - added) + rounded;
        self.magnitude += factor.abs() * number.magnitude;
    }

    #[inline]
    pub(crate) fn of(number: f64) -> Sum {
        Sum { sum: number, error: 0.0, magnitude: number.abs() }
    }

    pub(crate) fn value(self) -> f64 {
        // Next to infinity the errors are NaN.
        if self.error.is_finite() { self.sum + self.error } else { self.sum }
    }
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
        FilterProblem::Fft(problem) => problem.mask.width() as u64 * problem.mask.height() as u64,
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
        FilterProblem::Volume(p) => p.weights.size().map(u64::from).iter().product(),
        FilterProblem::Pointwise(_) | FilterProblem::Pad(_) => 1,
    }
}

/// Computes the exact result of a filter at an output sample.
pub(crate) fn filter(problem: &FilterProblem, case: &Case, x: u32, y: u32, channel: u32) -> Exact {
    let image = &case.image;
    match problem {
        FilterProblem::Correlate(problem) => correlate(problem, image, x, y, channel),
        FilterProblem::Fft(problem) => crate::fft::exact(problem, image)(x, y, channel),
        FilterProblem::Separable(problem) => separable(problem, image, x, y, channel),
        FilterProblem::LowRank(problem) => low_rank(problem, image, x, y, channel),
        FilterProblem::Box(problem) => box_filter(problem, image, x, y, channel),
        FilterProblem::LocalStd(problem) => local_std(problem, image, x, y, channel),
        FilterProblem::Pointwise(problem) => {
            let at = |image| sample(image, Border::Crop, x as i32, y as i32, channel);
            // Only alpha comes from the second image.
            let first = problem.op == PointOp::Alpha && channel + 1 < problem.shape.channels;
            pointwise(problem.op, problem.dst, at(image), case.second.as_ref().filter(|_| !first).map(at))
        }
        FilterProblem::Scaled(problem) => {
            let Exact { value, bound } = filter(&problem.sums(), case, x, y, channel);
            Exact { value: problem.factor * value + problem.offset, bound: problem.factor.abs() * bound + 0.5 }
        }
        FilterProblem::Paired(problem) => paired(problem, case, x, y, channel),
        FilterProblem::Pad(problem) => crate::pad::exact(problem, image, x, y, channel),
        FilterProblem::Volume(problem) => crate::volumes::exact(problem, image)(x, y, channel),
    }
}

pub(crate) fn correlate(problem: &Correlate, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let (mask, numbers) = (&problem.mask, Numbers::of(problem.dst));
    let taps: Vec<f64> = mask.taps_for(problem.src);
    let mut sum = Sum::default();
    for (j, taps) in taps.chunks(mask.width() as usize).enumerate() {
        let first = (x as i32 + window.origin_x, y as i32 + j as i32 + window.origin_y);
        let samples = line(image, problem.border, first, mask.width(), channel);
        taps.iter().zip(samples).for_each(|(&tap, sample)| sum.add(tap, Sum::of(sample)));
    }
    let denormals = taps.len() as f64 * numbers.denormal;
    numbers.exact(taps.len(), sum.value(), sum.magnitude, denormals, problem.clamp)
}

fn separable(problem: &Separable, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let (taps_x, taps_y): (Vec<f64>, Vec<f64>) =
        (problem.taps_x.taps_for(problem.src), problem.taps_y.taps_for(problem.src));
    let (mut sum, numbers) = (Sum::default(), Numbers::of(problem.dst));
    for (j, &tap_y) in taps_y.iter().enumerate() {
        let first = (x as i32 + window.origin_x, y as i32 + j as i32 + window.origin_y);
        let samples = line(image, problem.border, first, taps_x.len() as u32, channel);
        let mut along_row = Sum::default();
        taps_x.iter().zip(samples).for_each(|(&tap, sample)| along_row.add(tap, Sum::of(sample)));
        let fits = along_row.magnitude <= numbers.largest;
        sum.add(tap_y, along_row);
        sum.magnitude = if fits { sum.magnitude } else { f64::NAN };
    }
    let of_rows: f64 = taps_y.iter().map(|tap| tap.abs() * taps_x.len() as f64).sum();
    let denormals = (of_rows + taps_y.len() as f64) * numbers.denormal;
    numbers.exact(taps_x.len() + taps_y.len(), sum.value(), sum.magnitude, denormals, false)
}

/// Sums the terms' results and bounds, and adds a rounding for each addition between them.
fn low_rank(problem: &LowRank, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let terms = problem.separables().map(|term| separable(&term, image, x, y, channel));
    let sum = |a: Exact, b: Exact| Exact { value: a.value + b.value, bound: a.bound + b.bound };
    let sum = terms.reduce(sum).expect("checked by the caller");
    // The sum of the terms is bounded by the sum of their magnitudes; each term's bound is `roundings`
    // units of its magnitude.
    let (first, count) = (&problem.terms[0], problem.terms.len());
    let roundings = (first.0.len() + first.1.len() + 3) as f64;
    Exact { bound: sum.bound * (1.0 + (count - 1) as f64 / roundings), ..sum }
}

fn box_filter(problem: &BoxFilter, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let window = problem.window().expect("checked by the caller");
    let (mut sum, numbers) = (Sum::default(), Numbers::of(problem.dst));
    for j in 0..problem.height {
        let first = (x as i32 + window.origin_x, (y + j) as i32 + window.origin_y);
        let samples = line(image, problem.border, first, problem.width, channel);
        samples.into_iter().for_each(|sample| sum.add(1.0, Sum::of(sample)));
    }
    let (sum, magnitude) = (sum.value(), sum.magnitude);
    let scale = match problem.scale {
        Scale::Mean => 1.0 / problem.samples() as f64,
        Scale::Tap(tap) => tap as f64,
    };
    // u8 samples are summed exactly.
    let roundings = if problem.src == PixelType::U8 { 0 } else { additions(problem.width) + additions(problem.height) };
    // The unscaled sum must not overflow either; only scaling can lose denormals.
    let largest = magnitude * scale.abs().max(1.0);
    let value = if largest <= numbers.largest { sum * scale } else { f64::NAN };
    numbers.exact(roundings, value, magnitude * scale.abs(), numbers.denormal, false)
}

/// Returns the maximum number of additions that a sample takes part in along an axis: within its chunk, between chunks,
/// and with the head and the tail; for a window within a chunk, the number of samples.
fn additions(samples: u32) -> usize {
    (if samples <= BOX_CHUNK { samples } else { BOX_CHUNK + samples / BOX_CHUNK }) as usize
}

fn pointwise(op: PointOp, dst: PixelType, x: f64, y: Option<f64>) -> Exact {
    let rounded_once = |value, magnitude| Numbers::of(dst).rounded_once(value, magnitude);
    match (op, y) {
        (PointOp::Weighted { threshold, .. }, Some(y)) if (x - y).abs() < threshold => rounded_once(x, 0.0),
        (PointOp::Weighted { a, b, c, .. }, y) => {
            let (x, y) = (a * x, y.map_or(0.0, |y| b * y));
            rounded_once(x + y + c, x.abs() + y.abs() + c.abs())
        }
        (PointOp::Magnitude, Some(y)) => {
            let length = x.hypot(y);
            // Squares of f64 must be normal numbers.
            let has_bound = dst != PixelType::F64 || length == 0.0 || (1e-150..1e150).contains(&length);
            rounded_once(if has_bound { length } else { f64::NAN }, length)
        }
        (PointOp::Direction, Some(y)) => rounded_once(y.atan2(x), y.atan2(x).abs()),
        (PointOp::Alpha, y) => rounded_once(y.unwrap_or(x), 0.0),
        (PointOp::Cast(cast), _) => crate::casts::exact(dst, x, cast),
        (PointOp::Below { last }, _) => crate::casts::exact_below(x, last),
        (PointOp::Product, Some(y)) => rounded_once(x * y, (x * y).abs()),
        (PointOp::Deviation { n }, Some(y)) => {
            // The square of the sum may cancel: there is a bound where it does not.
            let (squares, of_sum) = (n * x, y * y);
            let value = (squares - of_sum).max(0.0).sqrt() / n;
            rounded_once(if squares > 2.0 * of_sum { value } else { f64::NAN }, value)
        }
        _ => unreachable!("two images"),
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
    let second = second.map(|second| second.value);
    let Exact { value, bound } = pointwise(problem.op, problem.dst, first.value, second);
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
    let line = |j| {
        let first = (x as i32 + window.origin_x, (y + j) as i32 + window.origin_y);
        line(image, problem.border, first, problem.width, channel)
    };
    let samples: Vec<f64> = (0..problem.height).flat_map(line).collect();
    let count = samples.len() as f64;
    // In two passes, which do not cancel.
    let sum = |of: &dyn Fn(f64) -> f64| {
        let mut sum = Sum::default();
        samples.iter().for_each(|&sample| sum.add(1.0, Sum::of(of(sample))));
        sum.value()
    };
    let mean = sum(&|sample| sample) / count;
    let variance = sum(&|sample| (sample - mean) * (sample - mean)) / count;
    let square = sum(&|sample| sample * sample) / count;
    let (value, off) = (variance.sqrt(), (problem.width + problem.height + 6) as f64 * 2f64.powi(-52) * square);
    // The error of the root: at most the root of the variance's error, and less for large variances.
    let rooted = if value > 0.0 { (off / value).min(off.sqrt()) } else { off.sqrt() };
    let numbers = Numbers::of(problem.dst);
    let Exact { value, bound } = numbers.rounded_once(value, value);
    // Squares must not overflow either.
    let value =
        if problem.dst != PixelType::F64 || square * count * count <= numbers.largest { value } else { f64::NAN };
    Exact { value, bound: bound + rooted }
}
