//! Cases of pointwise operations and of the local standard deviation.

use crate::case::{Case, Data, random_image};
use crate::suite::{Scale, borders};
use apron::PixelType::{F16, F32, I16, U8, U16};
use apron::{Border, PixelType, PointOp, Shape};
use apron_core::{Extent, LocalStd, Pointwise, Problem};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

impl Case {
    /// Makes a pointwise operation on a random image, and on a second one if `second` is given.
    pub fn pointwise(
        seed: u64,
        shape: (u32, u32, u32),
        (src, second, dst): (PixelType, Option<PixelType>, PixelType),
        op: PointOp,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let image = random_image(rng, src, shape, data);
        let other = second.map(|second| random_image(rng, second, shape, data));
        Case { problem: Problem::from(Pointwise { shape, src, second, dst, op }), image, second: other, chosen: None }
    }

    /// Makes a local standard deviation of a random image.
    pub fn local_std(
        seed: u64,
        shape: (u32, u32, u32),
        (src, dst): (PixelType, PixelType),
        (width, height): (u32, u32),
        border: Border,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let image = random_image(rng, src, shape, data);
        let problem = Problem::from(LocalStd { shape, src, dst, width, height, border, extent: Extent::Same });
        Case { problem, image, second: None, chosen: None }
    }
}

/// Types of the first image, of the second image, and of the output.
type Types = (PixelType, Option<PixelType>, PixelType);

/// Returns a random operation, with types for which there is a kernel.
pub(crate) fn random_point(rng: &mut StdRng) -> (PointOp, Types) {
    let dst = PixelType::COMPUTED[rng.random_range(0..4)];
    let mut weight = || rng.random_range(-3.0..3.0);
    let (a, b, c) = (weight(), weight(), 50.0 * weight());
    match rng.random_range(0..6) {
        0 => (PointOp::Magnitude, (F32, Some(F32), dst)),
        1 => (PointOp::Direction, (F32, Some(F32), F32)),
        2 => (PointOp::weighted(a, 0.0, c), (if rng.random() { U8 } else { F32 }, None, dst)),
        3 => (PointOp::Weighted { a, b, c, threshold: rng.random_range(0.0..100.0) }, (U8, Some(U8), dst)),
        4 => (PointOp::Weighted { a, b, c, threshold: rng.random_range(0.0..100.0) }, (U8, Some(F32), dst)),
        _ => (PointOp::Weighted { a, b, c, threshold: rng.random_range(0.0..0.5) }, (F32, Some(F32), dst)),
    }
}

/// Adds every operation and combination of types, at sizes around a thread's and a block's samples, and with NaN and
/// infinities.
pub(crate) fn points(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let half = PointOp::weighted(0.5, 0.5, 0.0);
    let sharp = |threshold| PointOp::Weighted { a: 2.5, b: -1.5, c: 0.0, threshold };
    let mut add = |shape, types, op, data| cases.push(Case::pointwise(next(), shape, types, op, data));
    for dst in [U8, U16, I16, F32] {
        // The mean of two u8 samples is often a tie.
        add((37, 35, 1), (U8, Some(U8), dst), half, Data::Uniform);
        add((37, 35, 3), (U8, Some(F32), dst), sharp(0.0), Data::Uniform);
        add((37, 35, 4), (U8, Some(U8), dst), sharp(60.0), Data::Uniform);
        add((37, 35, 2), (F32, Some(F32), dst), sharp(0.4), Data::Uniform);
        add((40, 20, 2), (F32, Some(F32), dst), sharp(0.0), Data::Special);
        add((40, 20, 2), (U8, None, dst), PointOp::weighted(-1.0, 0.0, 255.0), Data::Uniform);
        add((40, 20, 1), (F32, None, dst), PointOp::weighted(300.0, 0.0, 0.5), Data::Special);
        add((37, 35, 3), (F32, Some(F32), dst), PointOp::Magnitude, Data::Uniform);
        add((40, 20, 2), (F32, Some(F32), dst), PointOp::Magnitude, Data::Special);
    }
    for data in [Data::Uniform, Data::Special, Data::Constant] {
        add((61, 47, 2), (F32, Some(F32), F32), PointOp::Direction, data);
    }
    for samples in [1, 2, 255, 256, 257, 1023, 1024, 1025, 2049] {
        add((samples, 1, 1), (U8, Some(F32), U8), half, Data::Uniform);
        add((1, samples, 1), (F32, Some(F32), F32), PointOp::Magnitude, Data::Uniform);
        add((samples, 1, 3), (U8, None, U8), PointOp::weighted(1.0, 0.0, 1.0), Data::Uniform);
    }
    // Conversions: groups of four samples, and the rest.
    let as_it_is = PointOp::Weighted { a: 1.0, b: 0.0, c: -0.0, threshold: 0.0 };
    for types in [(U16, None, F32), (I16, None, F32), (F16, None, F32), (F32, None, F16)] {
        for op in [as_it_is, PointOp::weighted(1.0, 0.0, 0.0), PointOp::weighted(-0.3, 0.0, 2.0)] {
            add((37, 35, 2), types, op, Data::Special);
        }
        for samples in [1, 2, 3, 4, 5, 1023, 2047, 2048, 2050, 4099] {
            add((samples, 1, 1), types, as_it_is, Data::Uniform);
        }
    }
    if scale == Scale::Full {
        for shape in [(4099, 1031, 3), (1, 2_100_001, 1), (8191, 1025, 1)] {
            add(shape, (U8, Some(F32), U8), sharp(0.0), Data::Uniform);
            add(shape, (F32, Some(F32), F32), PointOp::Magnitude, Data::Uniform);
            add(shape, (F32, Some(F32), F32), PointOp::Direction, Data::Uniform);
            add(shape, (F16, None, F32), as_it_is, Data::Special);
            add(shape, (F32, None, F16), as_it_is, Data::Special);
        }
    }
}

/// Adds local standard deviations with windows of all kinds, at every border.
pub(crate) fn deviations(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let mut add = |(width, height, channels): (u32, u32, u32), types, window: (u32, u32), border, data| {
        let fits = window.0 <= width && window.1 <= height;
        let border = if border == Border::Crop && !fits { Border::Reflect } else { border };
        cases.push(Case::local_std(next(), (width, height, channels), types, window, border, data));
    };
    for (n, src) in [U8, F32].into_iter().enumerate() {
        for (m, dst) in [U8, U16, I16, F32].into_iter().enumerate() {
            for (k, border) in borders().into_iter().enumerate() {
                let window = [(3, 3), (5, 4), (1, 9), (15, 15)][(n + m + k) % 4];
                add((37, 35, (m + k) as u32 % 4 + 1), (src, dst), window, border, Data::Uniform);
            }
        }
        for (k, size) in [(1, 1), (1, 67), (67, 1), (2, 3), (33, 31)].into_iter().enumerate() {
            for window in [(1, 1), (2, 2), (7, 3), (40, 41)] {
                add((size.0, size.1, 1), (src, F32), window, borders()[k], Data::Uniform);
            }
        }
        add((40, 20, 2), (src, F32), (7, 5), Border::Wrap, Data::Constant);
    }
    for (k, src) in [U8, U16, I16].into_iter().enumerate() {
        for (m, dst) in [U8, U16, I16, F32].into_iter().enumerate() {
            let channels = (m + k) as u32 % 4 + 1;
            add((150, 40, channels), (src, dst), (30, 27), borders()[(m + k) % 6], Data::Uniform);
        }
        // Windows over several warps, and over more quads than a block has threads; blocks of one channel.
        add((700, 3, 1), (src, F32), (301, 2), borders()[k], Data::Uniform);
        add((900, 2, 3), (src, F32), (500, 1), borders()[k + 1], Data::Uniform);
        add((601, 2, 4), (src, U8), (270, 2), borders()[k + 2], Data::Uniform);
    }
    for (k, src) in [U8, U16, I16].into_iter().enumerate() {
        // Gray integers to the same, in rows wider than the window by two vectors and more; tall windows.
        for (m, border) in borders().into_iter().enumerate() {
            add(
                (130 + 16 * m as u32, 30, 1),
                (src, src),
                [(3, 3), (2, 2), (15, 15)][(k + m) % 3],
                border,
                Data::Uniform,
            );
            add(
                (333 + 77 * m as u32, 64, 1),
                (src, src),
                [(9, 50), (33, 7), (60, 64)][(k + m) % 3],
                border,
                Data::Uniform,
            );
        }
        add((700, 5, 1), (src, src), (301, 2), borders()[k], Data::Uniform);
        add((304, 9, 1), (src, src), (7, 7), borders()[k + 1], Data::Constant);
    }
    add((40, 20, 2), (F32, F32), (3, 5), Border::Reflect101, Data::Special);
    add((40, 20, 1), (F32, I16), (5, 3), Border::Replicate, Data::Special);
    if scale == Scale::Full {
        for src in [U8, F32] {
            add((1009, 1013, 3), (src, F32), (15, 15), Border::Reflect101, Data::Uniform);
            add((257, 131, 1), (src, F32), (401, 3), Border::Reflect, Data::Uniform);
            // More rows of blocks than the grid's y axis allows.
            add((1, 600_001, 1), (src, F32), (3, 5), Border::Reflect, Data::Uniform);
        }
    }
}
