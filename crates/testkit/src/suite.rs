//! The suite: every variant, every border, every type, at ordinary and at hostile sizes.

use crate::case::{Case, Data, SINGLES};
use crate::random::gray_window;
use crate::{casts, doubles, halves, methods, pad, paired, pointwise, scaled, values, volumes};
use apron::{Bins, Border, PixelType};

/// Size of the suite's images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Sizes for the emulator, which take seconds.
    Small,
    /// These and larger sizes, for devices that compute at full speed.
    Full,
}

/// Types that the kernels read, with every type that they write.
fn types() -> impl Iterator<Item = (PixelType, PixelType)> {
    let sources = [PixelType::U8, PixelType::F32];
    sources.into_iter().flat_map(|src| SINGLES.map(|dst| (src, dst)))
}

/// Returns all borders, with a constant that is no sample of any image.
pub(crate) fn borders() -> [Border; 6] {
    let mut borders = Border::ALL;
    borders[0] = Border::Constant(300.5);
    borders
}

/// Makes the suite's cases for a seed.
pub fn suite(scale: Scale, seed: u64) -> Vec<Case> {
    use PixelType::{F16, F32, I16, U8, U16};
    let mut cases = Vec::new();
    let mut number = seed.wrapping_mul(1_000_003);
    let mut next = || {
        number = number.wrapping_add(1);
        number
    };
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
    marching_bytes(&mut cases, &mut next);
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
    doubles::doubles(scale, &mut next, &mut cases);
    halves::halves(scale, &mut next, &mut cases);
    casts::casts(&mut next, &mut cases);
    volumes::volumes(scale, &mut next, &mut cases);
    small_means(&mut cases, &mut next);
    crate::extents::extents(&mut cases, &mut next);
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
    // Lengths around 32-bit words, blocks without samples, images of one value.
    let small = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (5, 1, 1), (1, 1, 3)];
    for (width, height, channels) in small.into_iter().chain([(129, 257, 2), (67, 33, 3), (257, 129, 4)]) {
        for per_channel in [false, true] {
            for data in [Data::Uniform, Data::Constant] {
                cases.push(Case::histogram(next(), (width, height, channels), per_channel, data));
            }
        }
    }
    // Bins of f32: ranges in which arithmetic finds the bin, and ranges with hardly one f32 step per bin.
    let ranges = [
        None,
        Some((0.0, 1.0)),
        Some((-1.0, 1.0)),
        Some((0.1, 0.7)),
        Some((-7e5, -3.0)),
        Some((-1e-40, 1e-38)),
        Some((-1.6e38, 1.7e38)),
        Some((1.0, 1.00003)),
        Some((-0.5, -0.499999)),
        Some((1e30, 1e30)),
        Some((0.25, 0.25)),
    ];
    for (n, range) in ranges.into_iter().enumerate() {
        for (m, count) in [1, 2, 256, 1000].into_iter().enumerate() {
            let (channels, per_channel) = ((n + m) as u32 % 4 + 1, (n + m / 2) % 2 == 0);
            let data = if m % 2 == 0 { Data::Special } else { Data::Uniform };
            let bins = Bins { count, range };
            cases.push(Case::between_edges(next(), (67, 33, channels), bins, per_channel, data));
        }
    }
    // Lengths around multiples of four samples, every number of channels, images of one value, given ranges and the
    // image's own.
    for channels in 1..=4 {
        for (width, height) in [(1, 1), (2, 1), (3, 1), (5, 1), (131, 65)] {
            for per_channel in [false, true] {
                let bins = Bins { count: 256, range: Some((-1.0, 0.77)) };
                let size = (width, height, channels);
                cases.push(Case::between_edges(next(), size, bins, per_channel, Data::Uniform));
                cases.push(Case::between_edges(next(), size, bins, per_channel, Data::Constant));
                let bins = Bins { count: 10, range: None };
                cases.push(Case::between_edges(next(), size, bins, per_channel, Data::Constant));
            }
        }
    }
    // Privatized counters that several lanes share.
    for count in [1801, 3600] {
        let bins = Bins { count, range: Some((-1.0, 1.0)) };
        cases.push(Case::between_edges(next(), (97, 61, 3), bins, false, Data::Uniform));
    }
    // Integers between edges, with all values: on edges and between them, bins of many values, of one or two, and of
    // less than one.
    for (n, src) in [PixelType::U16, PixelType::I16].into_iter().enumerate() {
        let low = src.values().expect("an integer type").0 as f64;
        for (m, (from, to, count)) in [
            (low, low + 65536.0, 256),
            (low, low + 65535.0, 1000),
            (low - 9.5, low + 70000.3, 7),
            (low + 0.5, low + 65534.5, 5000),
            (-300.2, 977.1, 100),
            (-12.0, 400.0, 206),
            (99.5, 130.7, 256),
            (77.0, 77.0, 1),
            (-1e9, 1e12, 3),
        ]
        .into_iter()
        .enumerate()
        {
            let (channels, bins) = ((n + m) as u32 % 4 + 1, Bins { count, range: Some((from, to)) });
            let size = (65536 / channels + 1, if m == 0 { 3 } else { 1 }, channels);
            cases.push(Case::values_between_edges(size, src, bins, (n + m / 2) % 2 == 0));
        }
        // Lengths around multiples of eight samples.
        for width in [1, 3, 7, 8, 9, 23] {
            let bins = Bins { count: 256, range: Some((low, low + 65536.0)) };
            cases.push(Case::values_between_edges((width, 1, width % 4 + 1), src, bins, n == 0));
        }
    }
    methods::boxes(scale, &mut next, &mut cases);
    methods::low_ranks(scale, &mut next, &mut cases);
    methods::chosen(&mut next, &mut cases);
    pointwise::points(scale, &mut next, &mut cases);
    pointwise::deviations(scale, &mut next, &mut cases);
    paired::pairs(&mut next, &mut cases);
    scaled::scaled_sums(&mut next, &mut cases);
    pad::pads(scale, &mut next, &mut cases);
    paired::nested(&mut next, &mut cases);
    values::cases(scale, &mut next, &mut cases);
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
    // Words along a row or down a column: rows of whole words and others, strips of 128 samples and a part of another, an
    // image smaller than a word, windows that start at each sample of a word, steps of four taps.
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
    // Blurs of bytes: one to seven windows of 32 bytes, rows of words and others, all rows of a group and a part of one, two to four groups.
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
    if scale == Scale::Full {
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
        for data in [Data::Uniform, Data::Constant] {
            cases.push(Case::histogram(next(), (4099, 1031, 1), false, data));
            cases.push(Case::histogram(next(), (4099, 3001, 2), true, data));
            cases.push(Case::histogram(next(), (1031, 1031, 3), true, data));
            cases.push(Case::between_edges(next(), (517, 1031, 4), Bins { count: 5000, range: None }, true, data));
            for range in [None, Some((-0.5, 0.77))] {
                cases.push(Case::between_edges(next(), (4099, 1031, 1), Bins { count: 256, range }, false, data));
                cases.push(Case::between_edges(next(), (1031, 1031, 3), Bins { count: 256, range }, true, data));
            }
        }
    }
    crate::fft::transforms(&mut next, &mut cases);
    cases
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
fn small_means(cases: &mut Vec<Case>, mut next: impl FnMut() -> u64) {
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

/// Returns every image with sides up to `side` pixels, every mask with sides up to `mask` taps, and every border that
/// leaves windows, dense and separable.
pub fn exhaustive(side: u32, mask: u32, seed: u64) -> impl Iterator<Item = Case> {
    let pairs = |most: u32| (1..=most).flat_map(move |a| (1..=most).map(move |b| (a, b)));
    pairs(side).flat_map(move |size| {
        pairs(mask).flat_map(move |mask| {
            let fits = mask.0 <= size.0 && mask.1 <= size.1;
            let borders = borders().into_iter().filter(move |border| *border != Border::Crop || fits);
            borders.enumerate().map(move |(n, border)| {
                let seed = seed + (size.0 * 1000 + size.1 * 100 + mask.0 * 10 + mask.1) as u64;
                let shape = (size.0, size.1, 1);
                let types = (PixelType::F32, PixelType::F32);
                if (n as u32 + size.0 + mask.1).is_multiple_of(2) {
                    Case::correlate(seed, shape, types, mask, border, Data::Uniform)
                } else {
                    Case::separable(seed, shape, types, mask, border, Data::Uniform)
                }
            })
        })
    })
}
