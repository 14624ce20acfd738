//! Histograms of bytes, of floats and of integers between edges.

use crate::case::{Case, Data};
use apron::{Bins, PixelType};

/// Adds small images, and all values of 16 bits.
pub(super) fn histograms(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
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
}

/// Adds images for devices that compute at full speed.
pub(super) fn large(cases: &mut Vec<Case>, next: &mut impl FnMut() -> u64) {
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
