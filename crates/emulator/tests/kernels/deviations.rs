//! Deviations by prefix sums, against exact integers: sums from summed-area tables of the extended image, and roots that
//! are rounded half to even.

use crate::means::{BORDERS, mapped};
use crate::numbers::{Numbers, bytes_of};
use apron_core::{Border, BoxFilter, Extent, Image, LocalStd, Pixel, PixelType, Problem, Region, Scale, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, plan};

/// Returns the root of `variance`, divided by `count` and rounded half to even.
fn rounded_root(variance: u128, count: u128) -> i64 {
    // The largest integer whose half, times the count, is not above the root: 2 r - 1 or 2 r for the rounded number r.
    let mut halves = 2 * ((variance as f64).sqrt() / count as f64) as u128;
    let at_most = |halves: u128| (halves * count).pow(2) <= 4 * variance;
    while at_most(halves + 1) {
        halves += 1;
    }
    while !at_most(halves) {
        halves -= 1;
    }
    let is_half = halves % 2 == 1 && (halves * count).pow(2) == 4 * variance;
    let (down, up) = (halves / 2, halves.div_ceil(2));
    (if is_half && down % 2 == 0 { down } else { up }) as i64
}

/// Returns the deviations of windows of integers, at most `most`.
fn deviations(samples: &[i64], filter: &LocalStd, most: i64) -> Vec<i64> {
    let [width, height] = [filter.shape.width as usize, filter.shape.height as usize];
    let constant = if let Border::Constant(value) = filter.border { value as i64 } else { 0 };
    let [across, down] = [filter.width as usize, filter.height as usize];
    let pitch = width + across;
    let mut tables = [vec![0i64; pitch * (height + down)], vec![0i64; pitch * (height + down)]];
    for y in 1..height + down {
        for x in 1..pitch {
            let row = mapped((y - 1) as i64 - (down / 2) as i64, height as i64, filter.border);
            let column = mapped((x - 1) as i64 - (across / 2) as i64, width as i64, filter.border);
            let sample =
                row.zip(column).map_or(constant, |(row, column)| samples[row as usize * width + column as usize]);
            for (table, term) in tables.iter_mut().zip([sample, sample * sample]) {
                let [up, before, both] = [(y - 1, x), (y, x - 1), (y - 1, x - 1)].map(|(y, x)| table[y * pitch + x]);
                table[y * pitch + x] = term + up + before - both;
            }
        }
    }
    let count = (across * down) as i128;
    let mut deviations = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let [sum, squares] = [0, 1].map(|term| {
                let at = |y: usize, x: usize| i128::from(tables[term][y * pitch + x]);
                at(y + down, x + across) - at(y, x + across) - at(y + down, x) + at(y, x)
            });
            deviations.push(rounded_root((count * squares - sum * sum) as u128, count as u128).min(most));
        }
    }
    deviations
}

/// Runs a filter over samples with several grids. Returns the number of launches of the first.
#[track_caller]
fn check<P: Pixel + TryFrom<i64>>(samples: &[i64], filter: &LocalStd, most: i64) -> usize {
    let of = |numbers: &[i64]| {
        let samples: Vec<P> = numbers.iter().map(|&n| P::try_from(n).unwrap_or_else(|_| panic!("{n}"))).collect();
        bytes_of(&samples)
    };
    let (input, expected) = (of(samples), of(&deviations(samples, filter, most)));
    let recipes = [132, 3, 1].map(|multiprocessors| {
        let machine = Machine { multiprocessors, ..Machine::EMULATED };
        plan(&Problem::from(filter.clone()), Some("local-prefix"), &machine).unwrap()
    });
    for recipe in &recipes {
        let found = execute(recipe, &input).unwrap_or_else(|fault| panic!("{filter:?}: {fault}"));
        let at = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert!(at.is_none(), "byte {at:?} differs: {filter:?}, {:?}", recipe.launches);
    }
    recipes[0].launches.len()
}

fn filter(src: PixelType, [width, height]: [u32; 2], [across, down]: [u32; 2], border: Border) -> LocalStd {
    let shape = Shape::new(width, height, 1).unwrap();
    LocalStd { shape, src, dst: src, width: across, height: down, border, extent: Extent::Same }
}

/// Returns samples from `low` to `high`; in half of the image's rows these two only, so that many deviations are halves of
/// integers.
fn samples(filter: &LocalStd, [low, high]: [i64; 2], seed: u64) -> Vec<i64> {
    let mut numbers = Numbers(seed);
    let half = filter.shape.samples() / 2;
    (0..filter.shape.samples())
        .map(|at| match numbers.below(2) {
            _ if at >= half => low + numbers.below((high - low) as u32 + 1) as i64,
            0 => low,
            _ => high,
        })
        .collect()
}

#[test]
fn of_bytes() {
    for (seed, border) in BORDERS.into_iter().enumerate() {
        for (shape, window) in [
            ([608, 37], [7, 5]),
            ([611, 40], [2, 2]),
            ([530, 33], [31, 24]),
            ([600, 60], [63, 63]),
            ([1030, 50], [256, 33]),
            ([560, 70], [201, 80]),
            ([1040, 96], [49, 50]),
        ] {
            let filter = filter(PixelType::U8, shape, window, border);
            for ends in [[0, 255], [40, 41]] {
                let launches = check::<u8>(&samples(&filter, ends, seed as u64), &filter, 255);
                assert_eq!(launches, if window[1] >= 48 { 2 } else { 1 }, "{filter:?}");
            }
        }
    }
}

#[test]
fn of_16_bits() {
    for (seed, border) in BORDERS.into_iter().enumerate() {
        for (shape, window) in
            [([611, 36], [2, 2]), ([1100, 35], [63, 31]), ([421, 40], [255, 120]), ([90, 33], [31, 64])]
        {
            let unsigned = filter(PixelType::U16, shape, window, border);
            let signed = filter(PixelType::I16, shape, window, border);
            check::<u16>(&samples(&unsigned, [0, 65_535], seed as u64), &unsigned, 65_535);
            // Half of the range is 32767.5.
            check::<i16>(&samples(&signed, [-32_768, 32_767], seed as u64), &signed, 32_767);
        }
    }
}

/// Outputs of any extent, far from the image, too: against the serial reference.
#[test]
fn of_any_extent() {
    let mut numbers = Numbers(3);
    let mut planned = [0; 2];
    for case in 0..120 {
        let shape = Shape::new(60 + numbers.below(120), 20 + numbers.below(20), 1).unwrap();
        let [width, height] = [2 + numbers.below(20), 2 + numbers.below(20)];
        let border = BORDERS[case % 5];
        let extent = match numbers.below(3) {
            0 => Extent::Full,
            _ => {
                let [x, y] = [400, 100].map(|most| numbers.below(most) as i32 - most as i32 / 2);
                Extent::Region(Region { x, y, width: 1 + numbers.below(150), height: 1 + numbers.below(40) })
            }
        };
        let pixel = [PixelType::U8, PixelType::U16][case % 2];
        let deviation = LocalStd { shape, src: pixel, dst: pixel, width, height, border, extent };
        let mean = BoxFilter {
            shape,
            src: pixel,
            dst: pixel,
            width,
            height,
            anchor: (width / 2, height / 2),
            border,
            scale: Scale::Mean,
            extent,
        };
        let problems = [("local-prefix", Problem::from(deviation)), ("boxes-prefix", Problem::from(mean))];
        for (n, (variant, problem)) in problems.into_iter().enumerate() {
            let Ok(recipe) = plan(&problem, Some(variant), &Machine::EMULATED) else { continue };
            planned[n] += 1;
            let Problem::Filter(filter) = &problem else { unreachable!() };
            let (input, expected) = if pixel == PixelType::U8 {
                let samples: Vec<u8> = (0..shape.samples()).map(|_| numbers.next() as u8).collect();
                let image = u8::into_any(Image::new(shape.width, shape.height, 1, samples.as_slice()).unwrap());
                (samples.clone(), apron_reference::any::filter(filter, &image, None).unwrap().bytes().into_owned())
            } else {
                let samples: Vec<u16> = (0..shape.samples()).map(|_| numbers.next() as u16).collect();
                let image = u16::into_any(Image::new(shape.width, shape.height, 1, samples.as_slice()).unwrap());
                (bytes_of(&samples), apron_reference::any::filter(filter, &image, None).unwrap().bytes().into_owned())
            };
            let found = execute(&recipe, &input).unwrap_or_else(|fault| panic!("{variant} {filter:?}: {fault}"));
            assert!(found == expected, "{variant} {filter:?}");
        }
    }
    assert!(planned.iter().all(|&planned| planned > 30), "{planned:?}");
}

#[test]
fn of_whole_numbers_by_hand() {
    // Two samples of each kind per window: half of their difference, 0.5 and 127.5 to even numbers.
    for (pair, expected) in [([0, 1], 0), ([0, 3], 2), ([0, 255], 128), ([10, 17], 4), ([9, 9], 0)] {
        let filter = filter(PixelType::U8, [64, 8], [2, 1], Border::Wrap);
        let input: Vec<u8> = (0..512).map(|at| pair[at % 2]).collect();
        let recipe = plan(&Problem::from(filter), Some("local-prefix"), &Machine::EMULATED).unwrap();
        assert_eq!(execute(&recipe, &input).unwrap(), vec![expected; 512], "{pair:?}");
    }
}

#[test]
fn of_the_largest_windows() {
    // All sums are at their ends: the largest squares of bytes less 128, and the largest sums of 16 bits.
    for ends in [[0, 255], [0, 0], [255, 255]] {
        let filter = filter(PixelType::U8, [1100, 6], [511, 512], Border::Replicate);
        check::<u8>(&samples(&filter, ends, 5), &filter, 255);
    }
    for ends in [[0, 65_535], [65_535, 65_535]] {
        let filter = filter(PixelType::U16, [600, 4], [256, 256], Border::Reflect);
        check::<u16>(&samples(&filter, ends, 6), &filter, 65_535);
    }
    let beyond = filter(PixelType::U16, [600, 4], [256, 257], Border::Reflect);
    assert!(plan(&Problem::from(beyond), Some("local-prefix"), &Machine::EMULATED).is_err());
}
