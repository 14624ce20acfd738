//! Random cases: of any kind, and of kinds that they seldom hit.

use crate::case::{Case, Data, SINGLES};
use crate::extents::random_extent;
use crate::pad::random_pad;
use crate::pointwise::random_point;
use crate::scaled::random_scaled;
use apron::{Bins, Border, PixelType};
use apron_core::Extent;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Filters with special variants, which random cases seldom hit.
pub fn seldom(seed: u64) -> [Case; 11] {
    use PixelType::{F32, U8, U16};
    let n = seed as u32;
    let types = |odd| if n.is_multiple_of(2) { (F32, F32) } else { (odd, odd) };
    // The same number of taps along both axes.
    let square = Case::separable(seed, (70 + n, 40, 1 + n % 4), types(U8), (7, 7), Border::Reflect, Data::Uniform);
    // Windows over pixels of four u8 samples; half of the seeds give means.
    let pixels = Case::box_filter(seed, (290 + n, 40, 4), (U8, U8), (5, 9), Border::Reflect, Data::Uniform);
    // Rows that are multiples of four pixels, for kernels with register blocking (patches).
    let (fours, side) = ((64 + 4 * n, 23, 1), 3 + 2 * (n % 3));
    let patches = Case::separable(seed, fours, types(U16), (side, side), Border::Replicate, Data::Uniform);
    let side = 3 + 2 * (n % 4);
    let means = Case::box_filter(seed, fours, (U8, U8), (side, side), Border::Wrap, Data::Uniform).centered();
    // A single row or column of taps.
    let line = if n.is_multiple_of(2) { (3 + n, 1) } else { (1, 3 + n) };
    let lines = Case::correlate(seed, (50 + n, 31, 1), (U8, U8), line, Border::Reflect101, Data::Uniform);
    // Taps whose sums of bytes or u16 are products of matrices; every third time more than fit the registers
    // of the kernel for few.
    let (shape, few) = ((40 + 23 * n, 37, 1 + n % 4), (3 + 2 * (n % 8), 17 - n % 8));
    let taps = if n % 3 == 2 { (few.0 + 9, 18 + 5 * (n % 7)) } else { few };
    let blur = Case::separable(seed, shape, (U8, U8), taps, Border::Reflect101, Data::Uniform).smooth();
    let masks = Case::correlate(seed, shape, (U16, U16), few, Border::Reflect101, Data::Uniform);
    // Masks by Fourier transforms, in one launch and in three.
    let (shape, mask) = ((40 + 2 * n, 30, 1 + n % 2), if n.is_multiple_of(2) { (66, 5) } else { (9, 1 + n % 7) });
    let transform = Case::correlate(seed, shape, (types(U8).0, F32), mask, Border::Wrap, Data::Uniform).by_fft();
    let lengths = Case::lengths(seed, fours, types(U8));
    [square, pixels, patches, means, lengths, lines, blur, masks, transform, gray_window(seed), gray_deviation(seed)]
}

/// Makes a box filter of gray bytes, half of the seeds a mean, over an odd window. Rows are wider than the window by
/// 32: one strip of whole vectors of 16 bytes, or several strips of any width.
pub(crate) fn gray_window(seed: u64) -> Case {
    let n = (seed % 1000) as u32;
    let columns = if n.is_multiple_of(3) { 96 + 16 * (n % 11) } else { 600 + 31 * (n % 17) };
    let border =
        [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Constant(77.0)][n as usize % 5];
    let window = (3 + 2 * (n % 9), 3 + 2 * (3 * n % 13));
    let types = (PixelType::U8, PixelType::U8);
    Case::box_filter(seed, (columns, 30 + n % 29, 1), types, window, border, Data::Uniform)
}

/// Makes a deviation of gray integers of each type, in rows as those of [`gray_window`]; every fourth time over a window of
/// 48 rows and more.
pub(crate) fn gray_deviation(seed: u64) -> Case {
    let n = (seed % 1000) as u32;
    let columns = if n.is_multiple_of(3) { 128 + 16 * (n % 11) } else { 600 + 31 * (n % 17) };
    let border =
        [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Constant(77.0)][n as usize % 5];
    let window = (2 + n % 60, if n % 4 == 3 { 48 + n % 30 } else { 2 + 3 * n % 40 });
    let pixel = [PixelType::U8, PixelType::U16, PixelType::I16][n as usize % 3];
    let data = if n.is_multiple_of(7) { Data::Constant } else { Data::Uniform };
    Case::local_std(seed, (columns, 20 + n % 40, 1), (pixel, pixel), window, border, data)
}

/// Makes a random case of any kind that the kernels support, from a seed.
pub fn random_case(seed: u64) -> Case {
    let rng = &mut StdRng::seed_from_u64(seed);
    let shape = (rng.random_range(1..=80), rng.random_range(1..=80), rng.random_range(1..=4));
    let src = if rng.random_ratio(1, 4) {
        PixelType::COMPUTED[rng.random_range(0..PixelType::COMPUTED.len())]
    } else if rng.random() {
        PixelType::U8
    } else {
        PixelType::F32
    };
    let dst = if src == PixelType::F64 { src } else { SINGLES[rng.random_range(0..SINGLES.len())] };
    let types = (src, dst);
    let mut border = Border::ALL[rng.random_range(0..Border::ALL.len())];
    if let Border::Constant(value) = &mut border {
        *value = rng.random_range(-3.0..300.0);
    }
    let data = if rng.random_ratio(1, 8) { Data::Special } else { Data::Uniform };
    let (most_x, most_y) = if border == Border::Crop { (shape.0, shape.1) } else { (u32::MAX, u32::MAX) };
    let kind = rng.random_range(0..11);
    let case = match if src == PixelType::F64 && [0, 9, 10].contains(&kind) { 1 } else { kind } {
        10 => random_scaled(rng, seed, shape, src, (most_x.min(12), most_y.min(12)), border, data),
        9 => {
            let taps = (rng.random_range(1..=40.min(most_x)), rng.random_range(1..=40.min(most_y)));
            Case::low_rank(seed, shape, src, taps, rng.random_range(1..=4), border, data)
        }
        8 => random_pad(rng, seed, shape, src, data),
        7 => {
            let (op, types) = random_point(rng);
            Case::pointwise(seed, shape, types, op, data)
        }
        6 => {
            let window = (rng.random_range(1..=30.min(most_x)), rng.random_range(1..=30.min(most_y)));
            Case::local_std(seed, shape, types, window, border, data)
        }
        5 => {
            let side = |rng: &mut StdRng, most: u32| {
                let side = if rng.random() { rng.random_range(1..=20) } else { rng.random_range(1..=140) };
                u32::min(side, most)
            };
            let size = (side(rng, most_x), side(rng, most_y));
            // Kernels for box filters of all kinds take u8, f32 and f64.
            let is_float = matches!(src, PixelType::F32 | PixelType::F64);
            let src = if is_float { src } else { PixelType::U8 };
            let types = if is_float { (src, src) } else { (src, types.1) };
            if let (Border::Constant(value), PixelType::U8) = (&mut border, src) {
                *value = rng.random::<u8>() as f64;
            }
            Case::box_filter(seed, shape, types, size, border, data)
        }
        4 if border != Border::Crop || (most_x >= 3 && most_y >= 3) => {
            if let Border::Constant(value) = &mut border {
                *value = rng.random::<u8>() as f64;
            }
            let (shape, types) = ((shape.0, shape.1, 4), (PixelType::U8, PixelType::U8));
            Case::correlate(seed, shape, types, (3, 3), border, Data::Uniform)
        }
        0 if src == PixelType::F32 => {
            let count = [1, 7, 256, 1000, 5000][rng.random_range(0..5)];
            let (middle, half) = (rng.random_range(-10.0..10.0), 10f64.powi(rng.random_range(-9..9)));
            let range = if rng.random_ratio(1, 4) { None } else { Some((middle - half, middle + half)) };
            Case::between_edges(seed, shape, Bins { count, range }, rng.random(), data)
        }
        0 if src != PixelType::U8 => {
            let count = [1, 7, 256, 1000, 5000][rng.random_range(0..5)];
            let (low, width) = (rng.random_range(-40000.0..40000.0), 10f64.powi(rng.random_range(0..6)));
            let bins = Bins { count, range: Some((low, low + width * rng.random_range(1.0..10.0))) };
            let src = [PixelType::U16, PixelType::I16][rng.random_range(0..2)];
            Case::values_between_edges(shape, src, bins, rng.random())
        }
        0 => Case::histogram(seed, shape, rng.random(), if rng.random() { Data::Uniform } else { Data::Constant }),
        1 => {
            let taps = (rng.random_range(1..=40.min(most_x)), rng.random_range(1..=40.min(most_y)));
            Case::separable(seed, shape, types, taps, border, data)
        }
        _ => {
            let mask = (rng.random_range(1..=16.min(most_x)), rng.random_range(1..=16.min(most_y)));
            let case = Case::correlate(seed, shape, types, mask, border, data);
            if types.1 == PixelType::F32 && rng.random_ratio(1, 4) { case.clamped() } else { case }
        }
    };
    let extent =
        if border != Border::Crop && rng.random_ratio(1, 4) { random_extent(rng, shape) } else { Extent::Same };
    case.over(extent)
}
