//! Box filters by every kind of kernel, on machines that lead to different plans, against the serial reference.

use crate::numbers::{Numbers, bytes_of};
use apron_core::{Border, BoxFilter, Extent, Image, Pixel, PixelType, Problem, Scale, Shape};
use apron_emulator::execute;
use apron_plan::{Machine, plan};

/// One multiprocessor: blocks of many rows. Little shared memory: narrow strips.
const MACHINES: [Machine; 3] = [
    Machine::EMULATED,
    Machine { multiprocessors: 1, ..Machine::EMULATED },
    Machine { target: 75, multiprocessors: 2, shared_bytes: 64 * 1024, f64_ratio: 32, tuning: None },
];

fn filtered<I: Pixel>(samples: Vec<I>, filter: &BoxFilter) -> Vec<u8> {
    let Shape { width, height, channels } = filter.shape;
    let image = Image::new(width, height, channels, samples).unwrap();
    apron_reference::any::filter(&filter.clone().into(), &I::into_any(image), None).unwrap().bytes().into_owned()
}

/// Runs `filter` with every variant that takes it, on every machine, and compares bits.
#[track_caller]
fn check(filter: &BoxFilter, seed: u64) -> u32 {
    let mut numbers = Numbers(seed);
    let samples = filter.shape.samples() as usize;
    let (input, expected) = match filter.src {
        PixelType::F32 => {
            let samples: Vec<f32> = (0..samples).map(|_| numbers.next() as f32 / 1e9 - 1.0).collect();
            (bytes_of(&samples), filtered::<f32>(samples, filter))
        }
        _ => {
            let samples: Vec<u8> = (0..samples).map(|_| numbers.next() as u8).collect();
            let expected = match filter.dst {
                PixelType::U8 => filtered::<u8>(samples.clone(), filter),
                PixelType::U16 => filtered::<u8>(samples.clone(), filter),
                PixelType::I16 => filtered::<u8>(samples.clone(), filter),
                PixelType::F16 => filtered::<u8>(samples.clone(), filter),
                PixelType::F32 => filtered::<u8>(samples.clone(), filter),
                other => unreachable!("{other} from bytes"),
            };
            (samples, expected)
        }
    };
    let mut runs = 0;
    for machine in &MACHINES {
        for variant in ["boxes-chunks", "boxes-ordered", "boxes-simple"] {
            let Ok(recipe) = plan(&Problem::from(filter.clone()), Some(variant), machine) else { continue };
            let found = execute(&recipe, &input).unwrap_or_else(|fault| panic!("{variant} {filter:?}: {fault}"));
            if found != expected {
                let at = found.iter().zip(&expected).position(|(a, b)| a != b);
                panic!("{variant} on {machine:?}, {filter:?}: byte {at:?} differs; {:?}", recipe.launches);
            }
            runs += 1;
        }
    }
    runs
}

fn random(numbers: &mut Numbers, src: PixelType, dst: PixelType, most: u32, side: u32) -> BoxFilter {
    let (width, height) = (1 + numbers.below(most), 1 + numbers.below(most));
    let shape = Shape::new(1 + numbers.below(side), 1 + numbers.below(side), 1 + numbers.below(4)).unwrap();
    let anchor = (numbers.below(width), numbers.below(height));
    let mut border = Border::ALL[numbers.below(Border::ALL.len() as u32) as usize];
    if border == Border::Crop && (width > shape.width || height > shape.height) {
        border = Border::Reflect;
    }
    if let Border::Constant(value) = &mut border {
        *value = numbers.below(256) as f64;
    }
    let scale = match numbers.below(4) {
        0 => Scale::Tap(numbers.below(1000) as f32 / 1e3 / (width * height) as f32),
        1 => Scale::Tap(numbers.below(1000) as f32 / 1e4 - 0.03),
        _ => Scale::Mean,
    };
    BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent: Extent::Same }
}

fn many(src: PixelType, dst: PixelType, most: u32, side: u32, cases: u32) {
    let mut numbers = Numbers(most as u64 * 1000 + side as u64);
    let runs: u32 = (0..cases).map(|seed| check(&random(&mut numbers, src, dst, most, side), seed as u64)).sum();
    assert!(runs > cases * 2, "{runs}");
}

#[test]
fn floats() {
    many(PixelType::F32, PixelType::F32, 20, 60, 40);
    many(PixelType::F32, PixelType::F32, 80, 60, 40);
    many(PixelType::F32, PixelType::F32, 200, 130, 12);
}

#[test]
fn bytes() {
    many(PixelType::U8, PixelType::U8, 16, 60, 60);
    many(PixelType::U8, PixelType::U8, 80, 60, 40);
    many(PixelType::U8, PixelType::U8, 260, 130, 8);
    for dst in [PixelType::U16, PixelType::I16, PixelType::F32] {
        many(PixelType::U8, dst, 16, 40, 15);
        many(PixelType::U8, dst, 50, 40, 15);
    }
}
