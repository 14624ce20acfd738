//! Sums of bytes and of u16 that lie halfway between two integers, or next to that: where rounding shows the least
//! error of a sum. And masks whose smallest taps are so small that f64 rounds the sums.

use crate::case::Case;
use crate::suite::{Scale, borders};
use apron::{AnyImage, Border, Image, Mask};
use apron_core::PixelType::{self, U8, U16};
use apron_core::{Correlate, Extent, Problem, Shape};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What is added to one tap of a mask of quarters: nothing; so little that two bytes hold the taps; more digits than
/// that, on either side of a half; and a rest that no number of bytes holds.
const BESIDE: [f64; 5] = [0.0, 1.0 / 1024.0, 1.0 / 262_144.0, -1.0 / 4_194_304.0, 1e-5];

/// Adds the cases.
pub(crate) fn halves(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let sizes = [(300, 21, 1), (37, 35, 3), (64, 70, 4), (513, 5, 1)];
    let masks = [(3, 3), (1, 1), (17, 2), (5, 9), (2, 5), (3, 17), (1, 7)];
    for (n, size) in sizes.into_iter().enumerate() {
        for (m, mask) in masks.into_iter().enumerate() {
            for beside in BESIDE {
                let border = borders()[(n + m) % 6];
                let border = if border == Border::Crop && size.1 < mask.1 { Border::Wrap } else { border };
                cases.push(quarters(next(), U8, size, mask, beside, border));
            }
            // Of u16 only masks of many bits go to matrix products.
            cases.push(quarters(next(), U16, size, mask, BESIDE[2 + m % 3], borders()[(n + m) % 5]));
        }
    }
    // Two pieces of 32 bytes per row.
    for (n, mask) in [(31, 3), (49, 1), (20, 20)].into_iter().enumerate() {
        for beside in BESIDE {
            cases.push(quarters(next(), U8, (290, 25, 1), mask, beside, borders()[n]));
            cases.push(quarters(next(), U16, (291 + n as u32, 25, 1), mask, beside, borders()[n]));
        }
    }
    for (n, mask) in [(9, 9), (5, 8), (15, 15), (31, 3), (3, 17)].into_iter().enumerate() {
        for exponent in [0.25, 1.5] {
            let taps = |rng: &mut StdRng| {
                let (x, y) = ((mask.0 / 2) as i32, (mask.1 / 2) as i32);
                let squares = (0..mask.1 as i32).flat_map(|j| (0..mask.0 as i32).map(move |i| [i - x, j - y]));
                let sharp = rng.random_range(1.0..1.25);
                squares.map(|[x, y]| (-exponent * sharp * f64::from(x * x + y * y)).exp()).collect()
            };
            for pixel in [U8, U16] {
                cases.push(case(next(), pixel, (290, 25, 1 + n as u32 % 2 * 2), mask, borders()[n], taps));
            }
        }
    }
    if scale == Scale::Full {
        for (n, beside) in BESIDE.into_iter().enumerate() {
            for pixel in [U8, U16] {
                cases.push(quarters(next(), pixel, (2051, 1031, 1), (15, 15), beside, borders()[n]));
                cases.push(quarters(next(), pixel, (2048, 1024, 1), (31, 31), beside, borders()[n]));
                cases.push(quarters(next(), pixel, (1025, 515, 3), (5, 5), beside, borders()[n]));
            }
        }
    }
}

/// Correlates with a mask of multiples of a quarter; `beside` is added to one tap.
fn quarters(seed: u64, pixel: PixelType, size: (u32, u32, u32), mask: (u32, u32), beside: f64, border: Border) -> Case {
    case(seed, pixel, size, mask, border, |rng| {
        let count = mask.0 * mask.1;
        let mut taps: Vec<f64> = (0..count).map(|_| f64::from(rng.random_range(-3..5)) / 4.0).collect();
        taps[rng.random_range(0..count as usize)] += beside;
        taps
    })
}

/// Correlates an image of bytes or u16, most of them 0 or 1, with a mask.
fn case(
    seed: u64,
    pixel: PixelType,
    (width, height, channels): (u32, u32, u32),
    (mask_width, mask_height): (u32, u32),
    border: Border,
    taps: impl FnOnce(&mut StdRng) -> Vec<f64>,
) -> Case {
    let rng = &mut StdRng::seed_from_u64(seed);
    let shape = Shape::new(width, height, channels).expect("a valid shape");
    let most = if pixel == U8 { u8::MAX as u16 } else { u16::MAX };
    let samples = (0..shape.samples()).map(|_| match rng.random_range(0..8) {
        0 => rng.random_range(0..=most),
        1 => most - rng.random_range(0..2),
        few => few % 2,
    });
    let samples: Vec<u16> = samples.collect();
    let image = match pixel {
        U8 => {
            let bytes: Vec<u8> = samples.iter().map(|sample| *sample as u8).collect();
            AnyImage::U8(Image::new(width, height, channels, bytes).expect("as many samples"))
        }
        _ => AnyImage::U16(Image::new(width, height, channels, samples).expect("as many samples")),
    };
    let mask = Mask::from_f64(mask_width, mask_height, taps(rng)).expect("a valid mask");
    let problem = Correlate { shape, src: pixel, dst: pixel, mask, border, clamp: false, extent: Extent::Same };
    Case { problem: Problem::from(problem), image, second: None, chosen: None }
}
