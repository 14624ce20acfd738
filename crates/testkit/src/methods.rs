//! Cases of box filters and of low-rank filters, and cases for the choice of a method.

use crate::case::{Case, Data, SINGLES};
use crate::suite::{Scale, borders};
use apron::{Border, Mask, Method, PixelType, Taps, filters};
use apron_core::{Kind, LowRank, Separable};

impl Case {
    /// Makes a sum of `terms` separable correlations of a random image, with random taps and an anchor.
    pub fn low_rank(
        seed: u64,
        shape: (u32, u32, u32),
        src: PixelType,
        taps: (u32, u32),
        terms: u64,
        border: Border,
        data: Data,
    ) -> Case {
        let term = |n| {
            let seed = seed.wrapping_add(n << 40);
            Case::separable(seed, shape, (src, PixelType::F32), taps, border, data)
        };
        let first = term(0);
        let of = |case: Case| Separable::of(&case.problem).expect("a separable filter").clone();
        let stated = of(first.clone());
        let anchored = |taps: Taps, anchor: u32| taps.with_anchor(anchor).expect("as many taps");
        let terms = (0..terms).map(|n| {
            let term = of(term(n));
            (anchored(term.taps_x, stated.taps_x.anchor()), anchored(term.taps_y, stated.taps_y.anchor()))
        });
        let (terms, extent) = (terms.collect(), stated.extent);
        Case { problem: LowRank { shape: stated.shape, src, terms, border, extent }.into(), ..first }
    }
}

/// Adds sums of one to four separable correlations, of every type, border and number of channels.
pub(crate) fn low_ranks(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let mut add = |size, src, taps, terms, border| {
        cases.push(Case::low_rank(next(), size, src, taps, terms, border, Data::Uniform));
    };
    for (n, src) in SINGLES.into_iter().enumerate() {
        for (m, border) in borders().into_iter().enumerate() {
            let (channels, terms) = ((n + m) as u32 % 4 + 1, (n + m) as u64 % 4 + 1);
            add((37, 35, channels), src, (7, 4), terms, border);
            // The same number of taps along both axes, as marching kernels need.
            add((48, 20, channels), src, (9, 9), 5 - terms, border);
        }
    }
    for terms in 1..=4 {
        for data in [Data::Special, Data::Constant] {
            let (size, f32) = ((40, 20, 2), PixelType::F32);
            cases.push(Case::low_rank(next(), size, f32, (5, 3), terms, Border::Wrap, data));
        }
    }
    if scale == Scale::Full {
        for (terms, src) in (2..=4).flat_map(|terms| [PixelType::U8, PixelType::F32].map(|src| (terms, src))) {
            cases.push(Case::low_rank(next(), (2048, 1024, 1), src, (17, 17), terms, Border::Replicate, Data::Uniform));
            cases.push(Case::low_rank(next(), (1009, 517, 3), src, (32, 21), terms, Border::Reflect, Data::Uniform));
        }
    }
}

/// Returns a border that box filters of this type support, and that leaves windows.
pub(crate) fn fitting(border: Border, src: PixelType, size: (u32, u32), window: (u32, u32)) -> Border {
    match border {
        Border::Crop if window.0 > size.0 || window.1 > size.1 => Border::Reflect,
        Border::Constant(value) if !src.holds(value as f32) => Border::Constant(77.0),
        border => border,
    }
}

/// Adds box filters of every length, type, border and number of channels, with anchors anywhere.
pub(crate) fn boxes(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    use PixelType::{F16, F32, I16, U8, U16};
    let mut add = |(width, height, channels): (u32, u32, u32), types: (PixelType, PixelType), window, border, data| {
        let border = fitting(border, types.0, (width, height), window);
        cases.push(Case::box_filter(next(), (width, height, channels), types, window, border, data));
    };
    let floats = (F32, F32);
    let wide = [(U16, U16), (I16, I16), (U16, F32), (I16, U8), (F16, F16), (U16, F16)];
    let types = [floats, (U8, U8), (U8, F32), (U8, U16), (U8, I16)];
    let types: Vec<_> = types.into_iter().chain(wide).collect();
    for (n, &types) in types.iter().enumerate() {
        for (m, border) in borders().into_iter().enumerate() {
            let channels = (n + m) as u32 % 4 + 1;
            add((37, 35, channels), types, (5, 4), border, Data::Uniform);
            add((47, 45, channels), types, (21, 18), border, Data::Uniform);
        }
    }
    // Lengths around the chunk's, then around its multiples; wide, tall and square windows.
    let lengths = (1..=35).chain([47, 48, 49, 63, 64, 65, 96, 101, 127, 128, 129, 255, 256, 257]);
    for (n, length) in lengths.enumerate() {
        let (channels, other) = (n as u32 % 4 + 1, n as u32 * 7 % 23 + 1);
        for (m, types) in [floats, types[n % (types.len() - 1) + 1]].into_iter().enumerate() {
            let (size, window) = match (n + m) % 3 {
                0 => ((300, 13), (length, other)),
                1 => ((13, 300), (other, length)),
                _ => ((61, 67), (length, length)),
            };
            add((size.0, size.1, channels), types, window, borders()[(n + m) % 6], Data::Uniform);
        }
    }
    // Strips of RGBA: complete and partial, rows of whole 16 bytes and others, windows that begin and end anywhere in a
    // chunk.
    let strips = [(300, (3, 3)), (519, (15, 15)), (252, (5, 51)), (601, (63, 7)), (260, (129, 1)), (1000, (1, 35))];
    for (n, (width, window)) in strips.into_iter().chain([(256, (8, 9)), (503, (7, 99)), (124, (129, 99))]).enumerate()
    {
        for (m, border) in borders().into_iter().enumerate() {
            add((width + 4 * m as u32, 31 + n as u32, 4), (U8, U8), window, border, Data::Uniform);
        }
    }
    // Degenerate images, windows larger than the image.
    for (n, size) in [(1, 1), (1, 67), (67, 1), (2, 3), (33, 31), (32, 32)].into_iter().enumerate() {
        for (m, window) in
            [(1, 1), (2, 2), (3, 3), (17, 1), (1, 17), (16, 18), (18, 33), (70, 5)].into_iter().enumerate()
        {
            for types in [floats, (U8, U8)] {
                add((size.0, size.1, (n + m) as u32 % 4 + 1), types, window, borders()[(n + m) % 5], Data::Uniform);
            }
        }
    }
    // Rows of any alignment over several warps; windows over more quads than a block has threads;
    // blocks of one channel.
    for (n, types) in [(U8, U8), (U16, U16), (I16, I16), (U8, F32)].into_iter().enumerate() {
        add((1001 + n as u32, 5, 1), types, (15, 4), borders()[n], Data::Uniform);
        add((900, 2, n as u32 + 1), types, (780, 1), borders()[n + 1], Data::Uniform);
    }
    // Sums of over 32 bits, and windows whose first sums a launch prepares.
    for (n, types) in [(U16, U16), (I16, I16), (I16, F32), (U16, U8)].into_iter().enumerate() {
        add((33, 70, n as u32 % 4 + 1), types, (300, 280), Border::Wrap, Data::Uniform);
        add((140, 90, 4 - n as u32 % 4), types, (67, 64), borders()[n], Data::Uniform);
        add((90, 140, n as u32 % 4 + 1), types, (2, 101), borders()[n + 1], Data::Constant);
    }
    // NaN and infinities, and images of one value.
    for (window, border) in [(3, 3), (19, 3), (2, 33), (20, 20)].into_iter().flat_map(|w| borders().map(|b| (w, b))) {
        add((40, 50, 2), floats, window, border, Data::Special);
    }
    for types in types {
        add((40, 30, 1), types, (15, 15), Border::Reflect101, Data::Constant);
        add((40, 30, 3), types, (6, 25), Border::Wrap, Data::Constant);
    }
    if scale == Scale::Full {
        for (n, side) in [3, 15, 63, 101, 255].into_iter().enumerate() {
            for types in [floats, (U8, U8), (U8, F32)] {
                add((2048, 1024, n as u32 % 4 + 1), types, (side, side), Border::Replicate, Data::Uniform);
                add((1009, 1013, 4 - n as u32 % 4), types, (side, side), borders()[n], Data::Uniform);
            }
        }
        for types in [floats, (U8, U8)] {
            // Windows that barely fit into a block's shared memory, and windows that do not.
            add((1500, 700, 1), types, (1000, 600), Border::Wrap, Data::Uniform);
            add((300, 200, 3), types, (5000, 3), Border::Reflect, Data::Uniform);
            add((200, 300, 3), types, (3, 5000), Border::Reflect, Data::Uniform);
            // More rows of blocks than the grid's y axis allows.
            add((1, 2_100_001, 1), types, (3, 20), Border::Reflect, Data::Uniform);
            add((8191, 33, 1), types, (63, 63), Border::Reflect101, Data::Uniform);
        }
    }
}

/// Adds masks, taps and windows with the method that must be chosen for them.
pub(crate) fn chosen(next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    use Method::{Box, Direct, LowRank, Separable};
    use PixelType::{F32, I16, U8};
    let (floats, bytes) = ((F32, F32), (U8, U8));
    let size = (61, 47);
    let mut seed = || next();
    let mut masked = |types, mask: Mask, border, method| {
        let channels = seed() as u32 % 4 + 1;
        let sides = (mask.width(), mask.height());
        let case = Case::correlate(seed(), (size.0, size.1, channels), types, sides, border, Data::Uniform);
        cases.push(case.with_mask(mask).by(method));
    };
    let product = |x: &[f32], y: &[f32]| {
        let taps: Vec<f32> = y.iter().flat_map(|y| x.iter().map(move |x| x * y)).collect();
        Mask::new(x.len() as u32, y.len() as u32, taps).expect("a valid mask")
    };
    let equal = |tap: f32, width: u32, height: u32| {
        let taps = vec![tap; (width * height) as usize];
        Mask::new(width, height, taps).and_then(|mask| mask.with_anchor(width - 1, 0)).expect("a valid mask")
    };
    let named = |name| filters::named_mask(name).expect("a named mask");
    let gauss = |sigma| filters::gaussian(sigma, 3.0).expect("a valid sigma").taps().to_vec();
    let binomial: Vec<f32> = [1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0].map(|tap| tap / 64.0).to_vec();
    let gauss7 = product(&gauss(1.0), &gauss(1.0));
    // A mask that is nearly separable: its middle tap is 12 f32 steps off, more than rounding explains.
    let mut near = gauss7.taps().to_vec();
    near[24] = f32::from_bits(near[24].to_bits() + 12);
    let near = Mask::new(7, 7, near).expect("a valid mask");

    // Sums of Gaussians of these widths and weights, and a copy with one tap set to 0.
    let bells = |width: usize, height: usize, of: &[(f64, f64)]| {
        let bell = |n: usize, count: usize, sigma: f64| (-((n as f64 - count as f64 / 2.0) / sigma).powi(2)).exp();
        let tap = |n: usize| {
            let one =
                |&(sigma, weight): &(f64, f64)| weight * bell(n % width, width, sigma) * bell(n / width, height, sigma);
            of.iter().map(one).sum::<f64>() as f32
        };
        Mask::new(width as u32, height as u32, (0..width * height).map(tap).collect::<Vec<_>>()).expect("a valid mask")
    };
    let (two, three) = (bells(17, 16, &[(2.0, 1.0), (6.0, 0.2)]), bells(25, 24, &[(2.0, 1.0), (5.0, 0.5), (9.0, 0.1)]));
    let mut without = two.taps().to_vec();
    without[20] = 0.0;
    let without = Mask::new(17, 16, without).expect("a valid mask");

    for border in borders() {
        for types in [floats, (U8, F32)] {
            masked(types, two.clone(), border, LowRank);
            masked(types, named("sobel-x"), border, Separable);
            masked(types, gauss7.clone(), border, Separable);
            masked(types, product(&gauss(2.0), &gauss(0.7)), border, Separable);
            masked(types, near.clone(), border, Direct);
            masked(types, named("emboss"), border, Direct);
        }
        masked(floats, three.clone(), border, LowRank);
        masked(floats, without.clone(), border, Direct);
        masked(bytes, two.clone(), border, Direct);
        masked(bytes, product(&binomial, &binomial), border, Separable);
        masked((U8, I16), product(&[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], &binomial), border, Separable);
        // For integer output the mask stays direct if the input is f32 or the factors are inexact: rounding would
        // differ.
        masked((F32, U8), product(&binomial, &binomial), border, Direct);
        masked(bytes, gauss7.clone(), border, Direct);
        masked(floats, equal(0.01, 19, 5), border, Box);
        masked(floats, equal(-0.3, 5, 4), border, Separable);
        masked(floats, equal(0.25, 2, 2), border, Direct);
        let byte = fitting(border, U8, size, (1, 1));
        masked(bytes, named("box3"), byte, Box);
        masked((U8, I16), equal(-3.0, 2, 9), byte, Box);
        masked((U8, F32), equal(0.1, 1, 2), byte, Box);
        if byte != border {
            masked(bytes, equal(0.1, 5, 5), border, Direct);
        }
    }
    let mut seed = || next();
    let taps = |tap: f32, count: usize| Taps::new(vec![tap; count]).expect("valid taps");
    for (types, x, y, method) in [
        (bytes, taps(0.5, 3), taps(0.25, 4), Box),
        (floats, taps(0.5, 3), taps(0.25, 20), Box),
        (floats, taps(0.5, 3), taps(0.25, 4), Separable),
        (bytes, taps(1.0 / 3.0, 3), taps(1.0 / 3.0, 3), Separable),
    ] {
        let lengths = (x.len(), y.len());
        let case = Case::separable(seed(), (size.0, size.1, 1), types, lengths, Border::Wrap, Data::Uniform);
        cases.push(case.with_taps(x, y).by(method));
    }
    for (types, window, method) in [
        (bytes, (3, 3), Box),
        (bytes, (15, 2), Box),
        ((U8, F32), (4, 5), Box),
        (floats, (3, 3), Separable),
        (floats, (17, 16), Separable),
        (floats, (18, 1), Box),
        (floats, (63, 63), Box),
        ((F32, U8), (21, 21), Separable),
    ] {
        let case = Case::box_filter(seed(), (size.0, size.1, 3), types, window, Border::Reflect101, Data::Uniform);
        cases.push(case.centered().mean().by(method));
    }
}
