//! Means by prefix sums, against exact integers: sums from a summed-area table of the extended image, and quotients that
//! are rounded half to even.

use crate::numbers::{Numbers, bytes_of};
use apron_core::{Border, BoxFilter, Extent, Pixel, PixelType, Problem, Scale, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, Tuning, plan};

/// Returns the index that replaces `index` outside `0..length`; none for the constant.
pub(crate) fn mapped(index: i64, length: i64, border: Border) -> Option<i64> {
    if (0..length).contains(&index) {
        return Some(index);
    }
    match border {
        Border::Constant(_) => None,
        Border::Wrap => Some(index.rem_euclid(length)),
        Border::Reflect => {
            let index = index.rem_euclid(2 * length);
            Some(index.min(2 * length - 1 - index))
        }
        Border::Reflect101 => {
            let index = index.rem_euclid(2 * length - 2);
            Some(index.min(2 * length - 2 - index))
        }
        _ => Some(index.clamp(0, length - 1)),
    }
}

/// Returns the means of windows of integers.
fn means(samples: &[i64], filter: &BoxFilter) -> Vec<i64> {
    let Shape { width, height, channels } = filter.shape;
    let [width, height, channels] = [width, height, channels].map(|size| size as usize);
    let constant = if let Border::Constant(value) = filter.border { value as i64 } else { 0 };
    let [across, down] = [filter.width, filter.height].map(|size| size as usize);
    let (left, above) = (filter.anchor.0 as i64, filter.anchor.1 as i64);
    let pitch = width + across;
    let mut means = vec![0; samples.len()];
    for channel in 0..channels {
        let mut table = vec![0i64; pitch * (height + down)];
        for y in 1..height + down {
            for x in 1..pitch {
                let row = mapped(y as i64 - 1 - above, height as i64, filter.border);
                let column = mapped(x as i64 - 1 - left, width as i64, filter.border);
                let sample = row.zip(column).map_or(constant, |(row, column)| {
                    samples[(row as usize * width + column as usize) * channels + channel]
                });
                let [up, before, both] = [(y - 1, x), (y, x - 1), (y - 1, x - 1)].map(|(y, x)| table[y * pitch + x]);
                table[y * pitch + x] = sample + up + before - both;
            }
        }
        let count = (across * down) as i64;
        for y in 0..height {
            for x in 0..width {
                let at = |y: usize, x: usize| table[y * pitch + x];
                let sum = at(y + down, x + across) - at(y, x + across) - at(y + down, x) + at(y, x);
                let (quotient, rest) = (sum.div_euclid(count), sum.rem_euclid(count));
                let up = match (2 * rest).cmp(&count) {
                    std::cmp::Ordering::Less => 0,
                    std::cmp::Ordering::Equal => quotient.rem_euclid(2),
                    std::cmp::Ordering::Greater => 1,
                };
                means[(y * width + x) * channels + channel] = quotient + up;
            }
        }
    }
    means
}

/// Runs a filter over samples with several grids, and returns the number of launches of all of them.
#[track_caller]
fn check<P: Pixel + TryFrom<i64>>(samples: &[i64], filter: &BoxFilter) -> usize {
    let of = |numbers: &[i64]| {
        let samples: Vec<P> = numbers.iter().map(|&n| P::try_from(n).unwrap_or_else(|_| panic!("{n}"))).collect();
        bytes_of(&samples)
    };
    let (input, expected) = (of(samples), of(&means(samples, filter)));
    let mut launches = 0;
    for (rows, residents) in [(16, 1), (24, 4), (64, 4)] {
        let machine = Machine { tuning: Some(Tuning { rows, residents }), ..Machine::EMULATED };
        let recipe = plan(&Problem::from(filter.clone()), Some("boxes-prefix"), &machine).unwrap();
        let found = execute(&recipe, &input).unwrap_or_else(|fault| panic!("{filter:?}: {fault}"));
        let at = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(at.is_none(), "byte {at:?} differs: {filter:?}, {:?}", recipe.launches);
        launches += recipe.launches.len();
    }
    launches
}

fn filter(src: PixelType, shape: [u32; 3], [width, height]: [u32; 2], border: Border) -> BoxFilter {
    let shape = Shape::new(shape[0], shape[1], shape[2]).unwrap();
    let (anchor, scale, extent) = ((width / 3, height / 2), Scale::Mean, Extent::Same);
    BoxFilter { shape, src, dst: src, width, height, anchor, border, scale, extent }
}

/// Returns samples: one in three is the least of its type, one in three the largest, so that sums lie near both ends and
/// often at halves.
fn samples(filter: &BoxFilter, [low, high]: [i64; 2], seed: u64) -> Vec<i64> {
    let mut numbers = Numbers(seed);
    let sample = |numbers: &mut Numbers| match numbers.below(3) {
        0 => low,
        1 => high,
        _ => low + numbers.below((high - low) as u32 + 1) as i64,
    };
    (0..filter.shape.samples()).map(|_| sample(&mut numbers)).collect()
}

pub(crate) const BORDERS: [Border; 5] =
    [Border::Constant(7.0), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap];

#[test]
fn of_bytes() {
    for (seed, border) in BORDERS.into_iter().enumerate() {
        for (shape, window) in [
            ([608, 37, 1], [7, 5]),
            ([1366, 33, 1], [15, 4]),
            ([2500, 40, 1], [255, 31]),
            ([600, 50, 1], [33, 100]),
            ([301, 36, 4], [9, 9]),
            ([520, 40, 4], [100, 97]),
        ] {
            let filter = filter(PixelType::U8, shape, window, border);
            let launches = check::<u8>(&samples(&filter, [0, 255], seed as u64), &filter);
            // Tall windows take the sums of chunks of rows where blocks have several warps.
            let tall = if window[1] >= 96 { if shape[2] == 4 { 3 } else { 2 } } else { 0 };
            assert_eq!(launches, 3 + tall, "{filter:?}");
        }
    }
}

#[test]
fn of_16_bits() {
    for (seed, border) in BORDERS.into_iter().enumerate() {
        for (shape, window) in
            [([611, 36, 1], [8, 8]), ([1100, 35, 1], [63, 31]), ([420, 40, 1], [255, 120]), ([90, 33, 1], [31, 127])]
        {
            let unsigned = filter(PixelType::U16, shape, window, border);
            check::<u16>(&samples(&unsigned, [0, 65_535], seed as u64), &unsigned);
            let signed = filter(PixelType::I16, shape, window, border);
            check::<i16>(&samples(&signed, [-32_768, 32_767], seed as u64), &signed);
        }
    }
}

/// Sums of 16-bit samples over more than 65,536 pixels need more than 32 bits: also where all samples are the largest.
#[test]
fn of_large_sums() {
    for (seed, border) in BORDERS.into_iter().enumerate() {
        for (shape, window) in [([700, 35, 1], [257, 257]), ([2100, 20, 1], [512, 1024]), ([333, 18, 1], [129, 2047])] {
            let unsigned = filter(PixelType::U16, shape, window, border);
            check::<u16>(&samples(&unsigned, [0, 65_535], seed as u64), &unsigned);
            check::<u16>(&vec![65_535; unsigned.shape.samples() as usize], &unsigned);
            let signed = filter(PixelType::I16, shape, window, border);
            check::<i16>(&samples(&signed, [-32_768, 32_767], seed as u64), &signed);
        }
    }
}
