//! Windows of floats that are summed in order, on machines that lead to different plans, against the serial reference.

use crate::numbers::{Numbers, bytes_of};
use apron_abi::Params;
use apron_core::{Border, BoxFilter, Extent, Image, LocalStd, Pixel, PixelType, Problem, Region, Scale, Shape, f16};
use apron_emulator::execute;
use apron_plan::{Machine, Tuning, plan};

/// One multiprocessor: long pieces of rows and many rows of outputs per block. Little shared memory: small tiles.
const MACHINES: [Machine; 3] = [
    Machine::EMULATED,
    Machine { multiprocessors: 1, ..Machine::EMULATED },
    Machine {
        target: 75,
        multiprocessors: 2,
        shared_bytes: 34 * 1024,
        f64_ratio: 32,
        tuning: Some(Tuning { rows: 32, residents: 1 }),
    },
];

/// Runs a problem on every machine, and compares bits. Returns the number of plans with several tiles per piece.
#[track_caller]
fn check(problem: &Problem, variant: &str, input: &[u8], expected: &[u8]) -> u32 {
    let mut tiled = 0;
    for machine in &MACHINES {
        let Ok(recipe) = plan(problem, Some(variant), machine) else { continue };
        let params = recipe.launches.iter().find_map(|launch| match launch.params {
            Params::OrderedParams(params) => Some(params),
            _ => None,
        });
        let params = params.unwrap_or_else(|| panic!("{recipe:?}"));
        let found = execute(&recipe, input).unwrap_or_else(|fault| panic!("{problem:?} on {machine:?}: {fault}"));
        if found != expected {
            let at = found.iter().zip(expected).position(|(a, b)| a != b);
            panic!("{problem:?} on {machine:?}: byte {at:?} differs; {params:?}");
        }
        tiled += u32::from(params.tile.inputs < params.tile.chunks + (params.window_x - 1) / 16 + 1);
    }
    tiled
}

fn border(numbers: &mut Numbers, shape: Shape, (width, height): (u32, u32)) -> Border {
    match Border::ALL[numbers.below(Border::ALL.len() as u32) as usize] {
        Border::Crop if width > shape.width || height > shape.height => Border::Reflect,
        Border::Constant(_) => Border::Constant(numbers.below(2000) as f64 / 7.0 - 100.0),
        border => border,
    }
}

fn extent(numbers: &mut Numbers, border: Border, most: u32) -> Extent {
    match numbers.below(4) {
        0 if border != Border::Crop && most < 100 => Extent::Full,
        1 if border != Border::Crop => {
            let (x, y) = (numbers.below(300) as i32 - 150, numbers.below(300) as i32 - 150);
            Extent::Region(Region { x, y, width: 1 + numbers.below(40), height: 1 + numbers.below(40) })
        }
        _ => Extent::Same,
    }
}

/// A shape of up to `side` a side, a window of up to `most`, a border and an extent.
fn random(numbers: &mut Numbers, most: u32, side: u32) -> (Shape, (u32, u32), Border, Extent) {
    let window = (1 + numbers.below(most), 1 + numbers.below(most));
    let shape = Shape::new(1 + numbers.below(side), 1 + numbers.below(side), 1 + numbers.below(4)).unwrap();
    let border = border(numbers, shape, window);
    (shape, window, border, extent(numbers, border, most))
}

fn floats(numbers: &mut Numbers, shape: Shape) -> Vec<f32> {
    (0..shape.samples()).map(|_| numbers.next() as f32 / 1e9 - 1.0).collect()
}

fn check_box<T: Pixel>(numbers: &mut Numbers, of: impl Fn(f32) -> T, filter: BoxFilter) -> u32 {
    let filter = BoxFilter { src: T::PIXEL, dst: T::PIXEL, ..filter };
    let samples: Vec<T> = floats(numbers, filter.shape).into_iter().map(of).collect();
    let image = Image::new(filter.shape.width, filter.shape.height, filter.shape.channels, samples.as_slice()).unwrap();
    let expected = apron_reference::any::filter(&filter.clone().into(), &T::into_any(image), None).unwrap();
    let expected = expected.bytes();
    check(&Problem::from(filter), "boxes-ordered", &bytes_of(&samples), &expected)
}

fn boxes(most: u32, side: u32, cases: u32) {
    let mut numbers = Numbers(most as u64 * 1000 + side as u64);
    for case in 0..cases {
        let (shape, (width, height), border, extent) = random(&mut numbers, most, side);
        let anchor = (numbers.below(width), numbers.below(height));
        let scale = if numbers.below(2) == 0 { Scale::Mean } else { Scale::Tap(numbers.below(99) as f32 / 97.0) };
        let (src, dst) = (PixelType::F32, PixelType::F32);
        let filter = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
        match case % 3 {
            0 => check_box(&mut numbers, double, filter),
            _ => check_box(&mut numbers, |sample| sample, filter),
        };
    }
}

/// Returns a number that f32 does not hold.
fn double(sample: f32) -> f64 {
    f64::from(sample) / 3.0
}

#[test]
fn boxes_of_any_size() {
    for (most, side, cases) in [(20, 50, 30), (80, 50, 20), (300, 30, 8), (1000, 16, 4)] {
        boxes(most, side, cases);
    }
}

fn check_deviation<I: Pixel>(numbers: &mut Numbers, of: impl Fn(f32) -> I, filter: LocalStd) -> u32 {
    let samples: Vec<I> = floats(numbers, filter.shape).into_iter().map(of).collect();
    let image = Image::new(filter.shape.width, filter.shape.height, filter.shape.channels, samples.as_slice()).unwrap();
    let expected = apron_reference::any::filter(&filter.clone().into(), &I::into_any(image), None).unwrap();
    let (input, expected) = (bytes_of(&samples), expected.bytes());
    let takes = [PixelType::F16, PixelType::F32, PixelType::F64].contains(&filter.src) && filter.src == filter.dst;
    let is_small = takes && filter.width.max(filter.height) <= 16;
    let problem = Problem::from(filter);
    if is_small {
        assert!(plan(&problem, Some("local-tiled"), &Machine::EMULATED).is_ok(), "{problem:?}");
        check(&problem, "local-tiled", &input, &expected);
    }
    check(&problem, "local-ordered", &input, &expected)
}

fn deviations<I: Pixel, O: Pixel>(of: impl Fn(f32) -> I + Copy, most: u32, side: u32, cases: u32) {
    let mut numbers = Numbers(most as u64 * 1000 + side as u64 + O::PIXEL as u64);
    for _ in 0..cases {
        let (shape, (width, height), border, extent) = random(&mut numbers, most, side);
        let filter = LocalStd { shape, src: I::PIXEL, dst: O::PIXEL, width, height, border, extent };
        check_deviation(&mut numbers, of, filter);
    }
}

#[test]
fn wide_windows_come_in_several_tiles() {
    let (mut numbers, extent) = (Numbers(1), Extent::Same);
    for (channels, border) in [(1, Border::Reflect), (3, Border::Constant(0.75))] {
        let shape = Shape::new(40, 3, channels).unwrap();
        let (src, dst, anchor, scale) = (PixelType::F32, PixelType::F32, (4000, 1), Scale::Mean);
        let filter = BoxFilter { shape, src, dst, width: 9001, height: 2, anchor, border, scale, extent };
        assert_eq!(check_box(&mut numbers, |sample| sample, filter.clone()), 3);
        assert_eq!(check_box(&mut numbers, double, filter), 3);
        let filter = LocalStd { shape, src, dst, width: 9001, height: 2, border, extent };
        assert_eq!(check_deviation::<f32>(&mut numbers, |sample| sample, filter), 3);
    }
}

#[test]
fn deviations_of_any_size() {
    for (most, side, cases) in [(16, 90, 8), (20, 40, 6), (80, 40, 6), (300, 20, 2)] {
        deviations::<f32, f32>(|sample| sample * 1000.0, most, side, cases);
        deviations::<f32, u16>(|sample| sample * 99_000.0, most, side, cases);
        deviations::<f32, i16>(|sample| sample * 44_000.0, most, side, cases);
        deviations::<f64, f64>(double, most, side, cases);
        deviations::<u8, u8>(|sample| (sample * 100.0 + 100.0) as u8, most, side, cases);
    }
}

#[test]
fn half_precision_is_widened() {
    deviations::<f16, f16>(f16::from_f32, 40, 40, 6);
}

/// Sums whose bits depend on the order: in f32, 2^24 + 1 is 2^24.
#[test]
fn chunks_are_those_of_the_unmapped_axis() {
    let large = 16_777_216.0f32;
    // Rows 13 to 15 are the head, 16 to 31 the chunk between, 32 to 39 the tail. Each case has 2^24 in one of these
    // rows; the expected sums are those of the reference's test.
    for (at, sum) in [(13, 26.0), (14, 24.0), (16, 12.0), (19, 16.0), (31, 28.0), (32, 20.0), (39, 28.0)] {
        for turned in [false, true] {
            let mut samples = vec![1.0f32; 40];
            samples[at] = large;
            let (side, window) = ((1, 40), (1, 27));
            let ((width, height), (wide, high)) =
                if turned { (side, window) } else { ((side.1, side.0), (window.1, window.0)) };
            let shape = Shape::new(width, height, 1).unwrap();
            let filter = BoxFilter {
                shape,
                src: PixelType::F32,
                dst: PixelType::F32,
                width: wide,
                height: high,
                anchor: (0, 0),
                border: Border::Crop,
                scale: Scale::Tap(1.0),
                extent: Extent::Same,
            };
            let recipe = plan(&Problem::from(filter), Some("boxes-ordered"), &Machine::EMULATED).unwrap();
            let found = execute(&recipe, &bytes_of(&samples)).unwrap();
            let found: Vec<f32> = found.chunks(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap())).collect();
            assert_eq!((found.len(), found[13]), (14, large + sum), "{at}, turned {turned}");
        }
    }
}
