//! The exact sums, nearly: f64 throughout, with the magnitude that bounds the rounding of f32.

use apron::{AnyImage, Border};
use apron_core::{Correlate, Problem, Sample, Separable, each_type};

/// An exact result and how far an f32 result may be from it.
pub(crate) struct Exact {
    pub(crate) value: f64,
    pub(crate) bound: f64,
}

/// The sample at a column and row that may lie outside, as f64.
fn sample(image: &AnyImage<'_>, border: Border, x: i32, y: i32, channel: u32) -> f64 {
    let shape = image.shape();
    let (mode, constant) = border.mode();
    match (mode.map(x, shape.width as i32), mode.map(y, shape.height as i32)) {
        (Some(x), Some(y)) => each_type!(image, image => image.sample(x as u32, y as u32, channel).to_f64()),
        _ => constant as f64,
    }
}

/// Sums below this cannot overflow f32 on the way, whatever cancels in the end.
const LARGEST_MAGNITUDE: f64 = f32::MAX as f64 / 2.0;

/// `(taps + 3) * 2^-24 * magnitude`, with the magnitude the sum of |tap * sample|. NaN where f32
/// may overflow on the way: no bound holds there, and the bits are the reference's all the same.
fn exact(taps: usize, value: f64, magnitude: f64, clamp: bool) -> Exact {
    let value = match magnitude <= LARGEST_MAGNITUDE {
        true if clamp => value.clamp(0.0, 1.0),
        true => value,
        false => f64::NAN,
    };
    Exact { value, bound: (taps + 3) as f64 * 2f64.powi(-24) * magnitude }
}

/// The exact result of a filter at every output sample, row by row.
pub(crate) fn filter(problem: &Problem, image: &AnyImage<'_>) -> Vec<Exact> {
    match problem {
        Problem::Correlate(problem) => correlate(problem, image),
        Problem::Separable(problem) => separable(problem, image),
        Problem::ByteHistogram(_) => Vec::new(),
    }
}

fn correlate(problem: &Correlate, image: &AnyImage<'_>) -> Vec<Exact> {
    let window = problem.window().expect("checked by the caller");
    let mask = &problem.mask;
    let mut results = Vec::with_capacity(window.out.samples() as usize);
    for y in 0..window.out.height as i32 {
        for x in 0..window.out.width as i32 {
            for c in 0..window.out.channels {
                let (mut value, mut magnitude) = (0.0, 0.0);
                for (index, &tap) in mask.taps().iter().enumerate() {
                    let (i, j) = (index as u32 % mask.width(), index as u32 / mask.width());
                    let (column, row) = (x + window.origin_x + i as i32, y + window.origin_y + j as i32);
                    let product = tap as f64 * sample(image, problem.border, column, row, c);
                    value += product;
                    magnitude += product.abs();
                }
                results.push(exact(mask.taps().len(), value, magnitude, problem.clamp));
            }
        }
    }
    results
}

fn separable(problem: &Separable, image: &AnyImage<'_>) -> Vec<Exact> {
    let window = problem.window().expect("checked by the caller");
    let (taps_x, taps_y) = (problem.taps_x.taps(), problem.taps_y.taps());
    // Row sums of every row that the second pass reaches, in or out of the image.
    let first = window.origin_y;
    let rows = window.out.height as i32 + taps_y.len() as i32 - 1;
    let row_samples = window.out.row_samples();
    let mut sums = Vec::with_capacity(rows as usize * row_samples);
    for y in first..first + rows {
        for x in 0..window.out.width as i32 {
            for c in 0..window.out.channels {
                let products = taps_x
                    .iter()
                    .enumerate()
                    .map(|(i, &tap)| tap as f64 * sample(image, problem.border, x + window.origin_x + i as i32, y, c));
                sums.push(products.fold((0.0, 0.0), |(value, magnitude), p| (value + p, magnitude + p.abs())));
            }
        }
    }
    let mut results = Vec::with_capacity(window.out.samples() as usize);
    for y in 0..window.out.height as usize {
        for sample in 0..row_samples {
            let (mut value, mut magnitude) = (0.0, 0.0);
            for (j, &tap) in taps_y.iter().enumerate() {
                let (row_value, row_magnitude): (f64, f64) = sums[(y + j) * row_samples + sample];
                value += tap as f64 * row_value;
                magnitude +=
                    if row_magnitude <= LARGEST_MAGNITUDE { tap.abs() as f64 * row_magnitude } else { f64::NAN };
            }
            results.push(exact(taps_x.len() + taps_y.len(), value, magnitude, false));
        }
    }
    results
}
