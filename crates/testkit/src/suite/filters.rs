//! Filters at ordinary and at hostile sizes.

use super::{borders, types};
use crate::case::{Case, Data, SINGLES};
use crate::methods;
use apron::Border;
use apron::PixelType::{self, F32, U8};

/// Adds small images of every type, border and number of channels, and the articles' own.
pub(super) fn small(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
    // 16-bit samples, which are converted to f32 first.
    for (n, src) in [PixelType::U16, PixelType::I16, PixelType::F16].into_iter().enumerate() {
        for (m, dst) in SINGLES.into_iter().enumerate() {
            let (size, types, border) = ((37, 35, (n + m) as u32 % 4 + 1), (src, dst), borders()[(n + m) % 6]);
            cases.push(Case::correlate(next(), size, types, (5, 5), border, Data::Uniform));
            cases.push(Case::separable(next(), size, types, (7, 7), border, Data::Uniform));
            cases.push(Case::local_std(next(), size, types, (4, 3), border, Data::Uniform));
        }
    }
    // Deviations in windows of several chunks, taller than wide and wider than tall, and larger than the image; sums of
    // squares of over 32 and 53 bits.
    let windows = [(17, 2), (2, 17), (40, 33), (5, 70), (90, 3), (1, 1), (300, 260)];
    for (n, window) in windows.into_iter().enumerate() {
        for (m, src) in SINGLES.into_iter().enumerate() {
            let (size, dst) = ((51, 83, (n + m) as u32 % 4 + 1), if n % 2 == 0 { src } else { PixelType::F32 });
            let border = methods::fitting(borders()[(n + m) % 6], src, (size.0, size.1), window);
            cases.push(Case::local_std(next(), size, (src, dst), window, border, Data::Uniform));
        }
    }
    // Every combination of types, every border, every number of channels.
    for (n, types) in types().enumerate() {
        for (m, border) in borders().into_iter().enumerate() {
            let channels = (n + m) as u32 % 4 + 1;
            cases.push(Case::correlate(next(), (37, 35, channels), types, (5, 4), border, Data::Uniform));
            cases.push(Case::separable(next(), (37, 35, channels), types, (7, 4), border, Data::Uniform));
        }
    }
    // Tile edges and degenerate images, masks of all kinds, masks larger than the image.
    let sizes = [(1, 1), (1, 67), (67, 1), (2, 3), (31, 33), (32, 32), (33, 31), (64, 33), (65, 7)];
    let masks = [(1, 1), (2, 2), (1, 9), (9, 1), (5, 5), (6, 3), (17, 16)];
    for (n, &(width, height)) in sizes.iter().enumerate() {
        for (m, &mask) in masks.iter().enumerate() {
            let border = borders()[(n + m) % 5];
            let types = if (n + m) % 2 == 0 { (F32, F32) } else { (U8, U8) };
            cases.push(Case::correlate(next(), (width, height, 1), types, mask, border, Data::Uniform));
            cases.push(Case::separable(next(), (width, height, 2), types, mask, border, Data::Uniform));
        }
    }
    // Blocks whose tile ends exactly at an edge of the image or one sample beyond it, on each side, and lies inside the
    // image along the other axis.
    for size in [(64, 97, 1), (97, 64, 1), (97, 97, 1), (65, 97, 1), (97, 65, 1)] {
        cases.push(Case::correlate(next(), size, (F32, F32), (3, 3), Border::Reflect, Data::Uniform).centered());
    }
    // RGBA pixels through 3x3 masks: sizes around the 8x4 block and its tile, every border, the articles' uses.
    let byte_borders =
        borders().map(|border| if let Border::Constant(_) = border { Border::Constant(77.0) } else { border });
    for (n, &(width, height)) in
        [(1, 1), (1, 6), (7, 1), (3, 3), (7, 5), (8, 4), (9, 3), (10, 6), (17, 13)].iter().enumerate()
    {
        for border in byte_borders.into_iter().filter(|border| *border != Border::Crop || (width >= 3 && height >= 3)) {
            cases.push(Case::correlate(next(), (width, height, 4), (U8, U8), (3, 3), border, Data::Uniform));
            if n > 6 {
                cases.push(Case::rgba(next(), (width, height), ["box3", "sharpen"][n % 2], border));
            }
        }
    }
    for name in ["box3", "gaussian3", "sharpen", "edge"] {
        for border in [Border::Replicate, Border::Crop] {
            cases.push(Case::rgba(next(), (23, 11), name, border));
        }
    }
    for _ in 0..8 {
        cases.push(Case::cancelling(next(), (9, 5)));
    }
    // The articles' radii, for which a tile has 30 down to 2 outputs.
    for radius in 1..=15 {
        let taps = (2 * radius + 1, 2 * radius + 1);
        cases.push(Case::separable(next(), (67, 35, 1), (F32, F32), taps, Border::Replicate, Data::Uniform).centered());
    }
    // One less and one more than the outputs of a tile along the filtered axis, which are 28 for 5 taps.
    for size in [(27, 29, 1), (28, 28, 2), (29, 27, 1)] {
        cases.push(Case::separable(next(), size, (F32, F32), (5, 5), Border::Reflect, Data::Uniform));
    }
}

/// Adds masks of ones, sums that are clamped, NaN and infinities, and constant images.
pub(super) fn special(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
    for mask in [(64, 64), (64, 32), (5, 5)] {
        cases.push(Case::ones(next(), (70, 34, 1), mask));
    }
    // The articles' masks, sums clamped to 0..1, NaN and infinities, constant images.
    for mask in [(64, 64), (64, 32), (63, 64)] {
        cases.push(Case::correlate(next(), (45, 40, 1), (F32, F32), mask, Border::Constant(0.0), Data::Uniform));
    }
    for src in [U8, F32] {
        cases
            .push(Case::correlate(next(), (40, 50, 3), (src, F32), (3, 5), Border::Replicate, Data::Uniform).clamped());
    }
    for dst in SINGLES {
        cases.push(Case::correlate(next(), (40, 20, 2), (F32, dst), (3, 3), Border::Reflect, Data::Special));
        cases.push(Case::separable(next(), (40, 20, 2), (F32, dst), (3, 5), Border::Wrap, Data::Special));
        cases.push(Case::correlate(next(), (40, 20, 1), (U8, dst), (3, 3), Border::Reflect101, Data::Constant));
    }
    // Infinity next to rows of taps with every amount of padding: padded taps must not be summed.
    for width in [1, 2, 5, 6, 7] {
        cases.push(Case::correlate(next(), (40, 20, 1), (F32, F32), (width, 3), Border::Reflect, Data::Special));
        cases.push(Case::separable(next(), (40, 20, 1), (F32, F32), (width, 3), Border::Reflect, Data::Special));
    }
    // NaN is not clamped.
    cases.push(Case::correlate(next(), (40, 20, 2), (F32, F32), (3, 3), Border::Wrap, Data::Special).clamped());
}

/// Adds images for devices that compute at full speed.
pub(super) fn large(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
    for mask in [(64, 64), (64, 32), (5, 5)] {
        cases.push(Case::ones(next(), (2048, 2048, 1), mask));
    }
    for radius in 1..=15 {
        let (size, taps) = ((2048, 2048, 1), (2 * radius + 1, 2 * radius + 1));
        let case = Case::separable(next(), size, (F32, F32), taps, Border::Replicate, Data::Uniform);
        cases.push(case.centered());
    }
    for border in [Border::Replicate, Border::Crop] {
        cases.push(Case::rgba(next(), (2048, 2048), "box3", border));
        cases.push(Case::rgba(next(), (8191, 257), "sharpen", border));
    }
    for types in [(U8, U8), (F32, F32)] {
        cases.push(Case::correlate(next(), (1009, 1013, 4), types, (5, 5), Border::Reflect101, Data::Uniform));
        cases.push(Case::separable(next(), (1009, 1013, 4), types, (17, 9), Border::Wrap, Data::Uniform));
    }
    for (channels, side) in [(1, 9), (1, 17), (3, 17), (4, 17), (1, 33), (4, 49)] {
        let taps = (side, side);
        let size = (2047, 1025 + channels, channels);
        cases.push(Case::separable(next(), size, (U8, U8), taps, Border::Reflect101, Data::Uniform).smooth());
    }
    // A mask with more taps than constant memory holds: only one variant supports it.
    cases.push(Case::correlate(next(), (211, 97, 1), (F32, F32), (129, 65), Border::Reflect, Data::Uniform));
    cases.push(Case::correlate(next(), (509, 383, 1), (F32, F32), (64, 64), Border::Constant(0.0), Data::Uniform));
    cases.push(Case::correlate(next(), (1023, 517, 4), (U8, U8), (5, 5), Border::Reflect101, Data::Uniform));
    cases.push(Case::correlate(next(), (8191, 33, 1), (F32, F32), (7, 7), Border::Wrap, Data::Uniform));
    cases.push(Case::correlate(next(), (3, 70001, 1), (F32, F32), (3, 3), Border::Reflect, Data::Uniform));
    cases.push(Case::separable(next(), (1023, 517, 3), (U8, U8), (25, 25), Border::Reflect101, Data::Uniform));
    cases.push(Case::separable(next(), (8191, 65, 1), (F32, F32), (31, 31), Border::Replicate, Data::Uniform));
    // More rows of blocks than the grid's y axis allows, for every kernel.
    cases.push(Case::correlate(next(), (1, 2_100_001, 1), (F32, F32), (3, 3), Border::Reflect, Data::Uniform));
    cases.push(Case::rgba(next(), (1, 300_001), "gaussian3", Border::Replicate));
    cases.push(Case::separable(next(), (1, 2_100_001, 1), (F32, F32), (3, 9), Border::Reflect, Data::Uniform));
}
