//! Filters by the kernels whose blocks take strips, words or pieces: sizes around theirs.

use super::{borders, types};
use crate::case::{Case, Data};
use crate::random::gray_window;
use apron::Border;
use apron::PixelType::{self, F16, F32, I16, U8, U16};

/// Adds strips of every type and length of taps.
pub(super) fn strips(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
    // Strips of 512 samples: a whole one and a part of another, or barely one; anchors anywhere and at the centre; more
    // output rows than a block computes.
    for (n, side) in (3..=17).step_by(2).enumerate() {
        for (m, channels) in [1, 3, 4].into_iter().enumerate() {
            let types = (F32, F32);
            let (two, one) = (528 / channels / 4 * 4, 512 / channels / 4 * 4);
            let masks = [(two, 21, n), (one, 19, n + 2), (two, 20, n + 4), (8, 37, n + m)];
            for (k, (width, height, border)) in masks.into_iter().enumerate() {
                let (size, border) = ((width, height, channels), borders()[border % 6]);
                let border = if width < side as u32 { Border::Replicate } else { border };
                let taps = (side as u32, side as u32);
                let separable = Case::separable(next(), size, types, taps, border, Data::Uniform);
                cases.push(if k % 2 == 0 { separable.centered() } else { separable });
                if side <= if channels == 1 { 15 } else { 7 } {
                    let dense = Case::correlate(next(), size, types, taps, border, Data::Uniform);
                    cases.push(if k % 2 == 0 { dense.centered() } else { dense });
                }
            }
        }
    }
    // Even sides, whose windows have no centre, in rows of whole words, and those that march also in others.
    for (n, types) in [(F32, F32), (U8, U8), (U16, U16), (I16, I16)].into_iter().enumerate() {
        let masks = [(2, 1), (4, 1), (2, 3), (4, 3), (2, 4), (6, 1), (8, 1), (6, 4), (8, 4)];
        for (m, (side, channels)) in masks.into_iter().enumerate() {
            let sizes = [(140, 23, channels), (8, 9, channels), (1041, 19, channels), (267, 20, channels)];
            for (k, size) in sizes.into_iter().take(if side > 4 { 4 } else { 2 }).enumerate() {
                let border = borders()[(n + m + k) % 6];
                let border = if let Border::Constant(_) = border { Border::Constant(77.0) } else { border };
                let case = Case::correlate(next(), size, types, (side, side), border, Data::Uniform);
                cases.push(if k % 2 == 0 { case.centered() } else { case });
            }
        }
    }
    // Long taps: strips of 512 samples, or of 256 samples for more than 33 taps.
    for (n, side) in (19..=65).step_by(2).enumerate() {
        let (width, border) = ([528, 260, 64][n % 3], borders()[n % 6]);
        let border = if width < side { Border::Replicate } else { border };
        let height = if border == Border::Crop { side + 3 } else { side / 2 + 7 };
        let size = (width, height, 1);
        let case = Case::separable(next(), size, (F32, F32), (side, side), border, Data::Uniform);
        cases.push(if n % 2 == 0 { case.centered() } else { case });
    }
    // More taps than fit into constant memory, along one axis or both.
    for (n, types) in [(U8, U8), (U8, F32), (F32, F32), (F32, U16), (U16, I16)].into_iter().enumerate() {
        let taps = [(4097, 3), (3, 5000), (4097, 4098)][n % 3];
        cases.push(Case::separable(next(), (9, 7, 1 + n as u32 % 3), types, taps, borders()[n], Data::Uniform));
    }
    marching_bytes(cases, &mut *next);
    // 16-bit integers, whose strips are 1024 or 512 samples wide.
    for (n, pixel) in [U16, I16].into_iter().enumerate() {
        for (m, side) in (3..=17).step_by(2).enumerate() {
            for (k, size) in [(1032, 19, 1), (515, 20, 1), (24, 37, 1)].into_iter().enumerate() {
                let border = borders()[(n + m + k) % 6];
                let border = if let Border::Constant(_) = border { Border::Constant(77.0) } else { border };
                let case = |case: Case| if k == 1 { case } else { case.centered() };
                let (types, taps) = ((pixel, pixel), (side, side));
                cases.push(case(Case::separable(next(), size, types, taps, border, Data::Uniform)));
                if side <= 7 {
                    cases.push(case(Case::correlate(next(), size, types, taps, border, Data::Uniform)));
                }
            }
        }
    }
    // f16, with NaN, infinities and subnormal numbers; a constant that is one, and one that is not and needs f32.
    for (n, side) in (3..=17).step_by(2).enumerate() {
        for (k, size) in [(1032, 19, 1), (515, 20, 1), (24, 37, 1)].into_iter().enumerate() {
            let (types, taps, data) = ((F16, F16), (side, side), [Data::Uniform, Data::Special][(n + k) % 2]);
            let border = borders()[(n + k) % 6];
            let border = if let Border::Constant(_) = border { Border::Constant([0.25, 0.3][k % 2]) } else { border };
            let case = |case: Case| if k == 1 { case } else { case.centered() };
            cases.push(case(Case::separable(next(), size, types, taps, border, data)));
            if side <= 7 {
                cases.push(case(Case::correlate(next(), size, types, taps, border, data)));
            }
        }
    }
}

/// Adds masks and taps in several pieces, in rows and columns alone, and as products of matrices.
pub(super) fn pieces(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
    for types in types() {
        cases.push(Case::correlate(next(), (9, 5, 2), types, (70, 65), Border::Wrap, Data::Uniform));
    }
    // Masks in several pieces: of whole rows, of parts of rows, of a single column.
    for (mask, types) in [((200, 61), (F32, F32)), ((700, 3), (U8, U8)), ((1, 700), (F32, U16))] {
        cases.push(Case::correlate(next(), (9, 20, 1), types, mask, Border::Constant(0.5), Data::Uniform));
    }
    // Masks of a single row or column: tiles of 256x16 and 32x128 samples, pieces of 256 and 128 taps.
    for (n, types) in types().chain([(U16, U16), (I16, I16)]).enumerate() {
        for (m, (size, mask)) in
            [((267, 19), (3, 1)), ((256, 16), (300, 1)), ((35, 131), (1, 2)), ((32, 128), (1, 150)), ((5, 9), (1, 1))]
                .into_iter()
                .enumerate()
        {
            let border = borders()[(n + m) % 6];
            let border = if border == Border::Crop && m % 2 == 1 { Border::Reflect101 } else { border };
            let size = (size.0, size.1, (n + m) as u32 % 4 + 1);
            cases.push(Case::correlate(next(), size, types, mask, border, Data::Uniform));
        }
    }
    // Words along a row or down a column: rows of whole words and others, strips of 128 samples and a part of another,
    // an image smaller than a word, windows that start at each sample of a word, steps of four taps.
    for (n, pixel) in [U8, U16, I16].into_iter().enumerate() {
        for (m, size) in [(267, 20), (268, 35), (129, 34), (3, 9)].into_iter().enumerate() {
            for (k, taps) in [3, 4, 5, 17].into_iter().enumerate() {
                for (axis, mask) in [(taps, 1), (1, taps)].into_iter().enumerate() {
                    let (channels, border) = ([1, 3, 4, 2][(k + n + axis) % 4], borders()[(n + m + k) % 6]);
                    let border = if let Border::Constant(_) = border { Border::Constant(77.0) } else { border };
                    let border = if border == Border::Crop && m == 3 { Border::Wrap } else { border };
                    let size = (size.0, size.1, if pixel == U8 { channels } else { 1 });
                    cases.push(Case::correlate(next(), size, (pixel, pixel), mask, border, Data::Uniform));
                }
            }
        }
    }
    for mask in [(5, 1), (1, 5)] {
        cases.push(Case::correlate(next(), (40, 20, 2), (F32, F32), mask, Border::Reflect, Data::Special));
    }
    // Blurs of bytes: one to seven windows of 32 bytes, rows of words and others, all rows of a group and a part of
    // one, two to four groups.
    for (n, size) in [(256, 48, 1), (301, 20, 3), (90, 41, 4), (17, 150, 2), (3, 5, 1)].into_iter().enumerate() {
        let few = [(17, 17), (5, 9), (1, 16), (21, 3), (81, 2)];
        for (m, taps) in few.into_iter().chain([(33, 18), (49, 49), (51, 30), (7, 48)]).enumerate() {
            let (border, data) = (borders()[(n + m) % 6], [Data::Uniform, Data::Constant][(n + m) % 2]);
            let border = if let Border::Constant(_) = border { Border::Constant(200.0) } else { border };
            let border = if border == Border::Crop && n > 2 { Border::Wrap } else { border };
            let taps = if border == Border::Crop { (taps.0.min(17), taps.1.min(18)) } else { taps };
            cases.push(Case::separable(next(), size, (U8, U8), taps, border, data).smooth());
        }
    }
    // Several pieces of taps along rows, along columns, and along both.
    for (n, types) in types().enumerate() {
        let (taps, border) = ([(700, 5), (4, 300), (257, 129)][n % 3], [Border::Reflect, Border::Constant(9.0)][n % 2]);
        cases.push(Case::separable(next(), (267, 3, n as u32 % 3 + 1), types, taps, border, Data::Uniform));
    }
}

/// Adds u8 cases for marching kernels, whose strips are 2048 or 1024 bytes wide: a whole strip and a part of another,
/// barely one, and a few bytes; exact and inexact sums; anchors anywhere and at the centre; constants that are u8
/// values.
fn marching_bytes(cases: &mut Vec<Case>, mut next: impl FnMut() -> u64) {
    let types = (PixelType::U8, PixelType::U8);
    let byte_borders =
        borders().map(|border| if let Border::Constant(_) = border { Border::Constant(77.0) } else { border });
    for (n, side) in (3..=17).step_by(2).enumerate() {
        for channels in 1..=4 {
            let m = n + channels as usize;
            // Rows of whole 16 bytes and whole pixels, some with a few pixels more.
            let (two, one) = if side <= 5 { (2064, 2016) } else { (1056, 1008) };
            let few = if channels == 3 { 48 } else { 16 };
            let sizes = [(two, 19, m), (one, 18, m + 3), (few, 37, m + n + 1)];
            for (k, (bytes, height, border)) in sizes.into_iter().enumerate() {
                let more = if (k + n) % 2 == 1 { 1 + m as u32 % 3 } else { 0 };
                let (size, border) = ((bytes / channels + more, height, channels), byte_borders[border % 6]);
                let border = if size.0 < side as u32 { Border::Replicate } else { border };
                let taps = (side as u32, side as u32);
                let vary = |case: Case| {
                    let case = if (k + m).is_multiple_of(2) { case.averaging() } else { case.in_sixteenths() };
                    if k % 2 == 0 { case.centered() } else { case }
                };
                cases.push(vary(Case::separable(next(), size, types, taps, border, Data::Uniform)));
                if side <= 7 {
                    cases.push(vary(Case::correlate(next(), size, types, taps, border, Data::Uniform)));
                }
            }
        }
    }
}

/// Adds u8 box filters with odd square windows, in rows of multiples of four pixels; about half of them are means.
pub(super) fn small_means(cases: &mut Vec<Case>, mut next: impl FnMut() -> u64) {
    for n in 0..80u32 {
        let channels = [1, 3, 4][n as usize % 3];
        let side = 3 + 2 * (n / 3 % [4, 2, 1][n as usize % 3]);
        let (shape, border) = ((16 + 4 * n, 17 + n % 5, channels), borders()[n as usize % 5]);
        let border = if let Border::Constant(_) = border { Border::Constant(77.0) } else { border };
        let types = (PixelType::U8, PixelType::U8);
        cases.push(Case::box_filter(next(), shape, types, (side, side), border, Data::Uniform).centered());
    }
    cases.extend((0..60).map(|_| gray_window(next())));
}
