//! Cases of sums that are scaled before they are rounded to integers.

use crate::case::{Case, Data, SINGLES, random_image};
use crate::extents::{Over, random_extent};
use crate::suite::borders;
use apron::PixelType::{F16, F32, I16, U8, U16};
use apron::{Border, Mask, PixelType, Shape, Taps};
use apron_core::{Extent, Problem, Scaled, Weights};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::fmt;

/// The integer types.
const INTEGERS: [PixelType; 3] = [U8, U16, I16];

/// Returns taps of up to 4000 that sum to nearly 0, so that rounding sums to f32 on the way would change results;
/// `small` ones are a few fourths, whose sums f32 holds, and many of which lie at halves.
fn random_taps(rng: &mut StdRng, count: u32, small: bool) -> Vec<f32> {
    if small {
        return (0..count).map(|_| rng.random_range(-2..=3) as f32 / 4.0).collect();
    }
    let mut taps: Vec<f32> = (0..count).map(|_| rng.random_range(-4000.0f32..4000.0).round()).collect();
    let total: f32 = taps.iter().sum();
    taps[0] -= total;
    taps
}

impl Case {
    /// Makes a scaled sum: a random image, random large or small taps with random anchors, and a factor and an offset
    /// that bring many results into the output's range.
    pub fn scaled(
        seed: u64,
        shape: (u32, u32, u32),
        (src, dst): (PixelType, PixelType),
        (width, height): (u32, u32),
        by_axis: bool,
        border: Border,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let (x, y) = (rng.random_range(0..width), rng.random_range(0..height));
        let small = rng.random_bool(0.4);
        let weights = if by_axis {
            let mut axis =
                |count, anchor| Taps::new(random_taps(rng, count, small)).and_then(|taps| taps.with_anchor(anchor));
            Weights::Separable(axis(width, x).expect("valid taps"), axis(height, y).expect("valid taps"))
        } else {
            let mask = Mask::new(width, height, random_taps(rng, width * height, small));
            Weights::Dense(mask.and_then(|mask| mask.with_anchor(x, y)).expect("a valid mask"))
        };
        let largest = match src {
            F16 | F32 => 1.0,
            integer => integer.values().expect("an integer type").1 as f64,
        };
        // Powers of two as well, which scale without rounding.
        let factor = match rng.random_range(0..3) {
            0 => 0.25,
            1 => 1.0,
            _ => rng.random_range(-0.05..0.05) * 255.0 / largest,
        };
        let image = random_image(rng, src, shape, data);
        // The least offsets round halves up, as OpenCV does.
        let offset = if small && rng.random() { 2f64.powi(-18) } else { rng.random_range(-3.0..200.0) };
        let problem = Scaled { shape, src, dst, weights, factor, offset, border, extent: Extent::Same };
        Case { problem: Problem::from(problem), image, second: None, chosen: None }
    }
}

/// Makes a random case, with a limit on the taps per axis.
pub(crate) fn random_scaled(
    rng: &mut StdRng,
    seed: u64,
    shape: (u32, u32, u32),
    src: PixelType,
    most: (u32, u32),
    border: Border,
    data: Data,
) -> Case {
    let taps = (rng.random_range(1..=most.0), rng.random_range(1..=most.1));
    let dst = INTEGERS[rng.random_range(0..INTEGERS.len())];
    Case::scaled(seed, shape, (src, dst), taps, rng.random(), border, data)
}

/// Adds every combination of types and every border, by mask and by axis; images smaller than the mask, blocks and
/// their edges, other extents than the image's, many taps, NaN and infinities.
pub(crate) fn scaled_sums(next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    for (n, src) in SINGLES.into_iter().enumerate() {
        for (m, dst) in INTEGERS.into_iter().enumerate() {
            for (k, border) in borders().into_iter().enumerate() {
                let (size, taps) = ((37, 35, (n + m + k) as u32 % 4 + 1), [(3, 1), (5, 4), (7, 7)][(n + k) % 3]);
                cases.push(Case::scaled(next(), size, (src, dst), taps, (n + m + k) % 2 == 0, border, Data::Uniform));
            }
        }
    }
    for (n, size) in [(1, 1, 1), (1, 67, 2), (67, 1, 1), (32, 8, 1), (33, 9, 1), (65, 7, 3)].into_iter().enumerate() {
        for by_axis in [false, true] {
            let types = (INTEGERS[n % 3], INTEGERS[(n + 1) % 3]);
            cases.push(Case::scaled(next(), size, types, (9, 6), by_axis, borders()[n % 5], Data::Uniform));
            let case = Case::scaled(next(), size, types, (4, 5), by_axis, borders()[n % 5], Data::Uniform);
            let extent = random_extent(&mut StdRng::seed_from_u64(next()), size);
            cases.push(case.over(extent));
        }
    }
    cases.push(Case::scaled(next(), (9, 5, 1), (U16, I16), (70, 65), false, Border::Wrap, Data::Uniform));
    cases.push(Case::scaled(next(), (9, 5, 1), (U8, U16), (4097, 3), true, Border::Reflect, Data::Uniform));
    for by_axis in [false, true] {
        cases.push(Case::scaled(next(), (40, 20, 2), (F32, I16), (3, 3), by_axis, Border::Reflect, Data::Special));
        cases.push(Case::scaled(next(), (40, 20, 1), (U16, U16), (3, 3), by_axis, Border::Crop, Data::Constant));
    }
}

pub(crate) fn describe(p: &Scaled, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let over = Over(p.extent, p.shape);
    write!(f, "{over} {}->{} ", p.src, p.dst)?;
    match &p.weights {
        Weights::Dense(mask) => write!(f, "scaled mask {}x{}", mask.width(), mask.height())?,
        Weights::Separable(x, y) => write!(f, "scaled taps {}+{}", x.len(), y.len())?,
    }
    write!(f, " {}", p.border)
}
