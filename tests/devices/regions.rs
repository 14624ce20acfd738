//! Parts of images on a device: read as if they were alone, whatever surrounds them, and written without changing it.

use apron::{AnyImage, Device, Image, Pixel, Shape, Source};
use apron_abi::Accumulator;
use apron_core::each_type;
use apron_testkit::{Case, eligible, examples, first_mismatch, gpu_or_skip, random_case, seldom};
use std::collections::BTreeSet;

/// Makes an image of `width` x `height` pixels of a distinct value, with `image` at column `x` and row `y`.
fn surrounded(image: &AnyImage<'_>, (x, y): (u32, u32), (width, height): (u32, u32)) -> AnyImage<'static> {
    fn typed<T: Pixel>(image: &Image<'_, T>, (x, y): (u32, u32), (width, height): (u32, u32)) -> AnyImage<'static> {
        let channels = image.channels();
        let mut samples = vec![T::from_sum(T::Sum::from_f64(77.0)); (width * height * channels) as usize];
        for (row, from) in image.rows().enumerate() {
            let at = ((y as usize + row) * width as usize + x as usize) * channels as usize;
            samples[at..at + from.len()].copy_from_slice(from);
        }
        T::into_any(Image::new(width, height, channels, samples).unwrap())
    }
    each_type!(image, image => typed(image, (x, y), (width, height)))
}

/// Runs a filter's case on a part of a larger image by every variant; returns the variants that ran.
fn check(device: &Device, case: &Case, from: (u32, u32), beside: (u32, u32)) -> Vec<&'static str> {
    let filter = case.filter().expect("a filter's case");
    let Shape { width, height, .. } = case.image.shape();
    let around = surrounded(&case.image, from, (from.0 + width + beside.0, from.1 + height + beside.1));
    let image = device.upload(&around).unwrap();
    let part = image.region(from.0, from.1, width, height).unwrap();
    assert_eq!(first_mismatch(&part.download_any().unwrap(), &case.image), None, "{case}");
    let machine = device.machine().expect("a device that runs kernels");
    let second = || case.second.as_ref().map(Source::from);
    let solve = |device: &Device, image: Source<'_>, variant| {
        device.solve_with(filter, image, second(), variant).unwrap().download_any().unwrap()
    };
    let expected = solve(&Device::reference(), (&case.image).into(), None);
    let variants: Vec<_> = eligible(&case.problem, &machine).collect();
    for variant in &variants {
        let found = solve(device, (&part).into(), Some(variant));
        let mismatch = first_mismatch(&found, &expected);
        assert_eq!(mismatch, None, "{variant}: {case}, from {from:?}, {beside:?} beside, on {}", device.name());
        // And into a part of an existing image, of its whole width or less.
        let (left, right) = if from.0 == 0 { (0, 0) } else { (from.0, beside.0) };
        let large = (left + expected.shape().width + right, from.1 + expected.shape().height + 1);
        let nothing = expected.region(0, 0, 1, 1).unwrap().into_owned();
        let mut around = surrounded(&nothing, (0, 0), large);
        let mut out = device.upload(&around).unwrap();
        let Shape { width, height, .. } = expected.shape();
        let target = out.region_mut(left, from.1, width, height).unwrap();
        device.solve_into(filter, &part, second(), Some(variant), target).unwrap();
        around.view_mut().region(left, from.1, width, height).unwrap().copy_from(&expected).unwrap();
        let mismatch = first_mismatch(&out.download_any().unwrap(), &around);
        assert_eq!(mismatch, None, "{variant}: {case}, into column {left} of {large:?} on {}", device.name());
    }
    variants
}

/// Checks regions that kernels read in place, and others, which are copied first.
fn check_all(device: &Device, cases: u64) {
    let mut ran = BTreeSet::new();
    let random = (0..cases).map(|seed| (seed, random_case(seed)));
    for (seed, case) in random.chain((0..8).flat_map(|seed| seldom(seed).map(|case| (seed, case)))) {
        let Some(filter) = case.filter() else { continue };
        let (width, pixel) = (filter.shape().width, filter.src());
        // Steps of 16 bytes, in pixels, for any number of channels.
        let piece = 16 / pixel.size_bytes() as u32;
        let beside = (width + piece).next_multiple_of(piece) - width;
        ran.extend(check(device, &case, (0, 1), (beside, 2)));
        ran.extend(check(device, &case, (piece, 0), (beside, 0)));
        ran.extend(check(device, &case, (1 + seed as u32 % 3, 1), (seed as u32 % 2, 1)));
    }
    let others = ["histogram", "lookup", "equalize", "clahe", "stats", "weighted", "joint", "volume"];
    for variant in apron_plan::VARIANTS.iter().filter(|variant| !others.contains(&variant.operation)) {
        // A variant that none of these cases reaches has examples.
        if !ran.contains(variant.name) {
            ran.extend(examples(variant, 1).flat_map(|case| check(device, &case, (3, 1), (2, 1))));
        }
        assert!(ran.contains(variant.name), "{} never ran: {ran:?}", variant.name);
    }
}

#[test]
fn regions_on_the_emulator() {
    check_all(&Device::emulator(), 60);
}

#[test]
fn regions_on_the_gpu() {
    if let Some(device) = gpu_or_skip("regions_on_the_gpu") {
        check_all(&device, 300);
    }
}

#[test]
fn values_of_regions() {
    let devices = [Some(Device::cpu()), Some(Device::emulator()), gpu_or_skip("values_of_regions")];
    for device in devices.into_iter().flatten() {
        let image = device.upload(&Image::new(3, 2, 1, vec![1u8, 2, 3, 4, 5, 6]).unwrap()).unwrap();
        let part = image.region(1, 0, 2, 2).unwrap();
        let histogram = device.histogram(&part).run().unwrap();
        assert_eq!(histogram.counts()[..8], [0, 0, 1, 1, 0, 1, 1, 0], "{}", device.name());
        // For 2, 3, 5 and 6: each a third of 255 above the previous one.
        let equal = device.equalize(&part).run().unwrap().download::<u8>().unwrap();
        assert_eq!(equal.packed().as_ref(), [0, 85, 170, 255], "{}", device.name());
        // The coordinates of a nested region are relative to the outer one.
        let last = part.region(1, 1, 1, 1).unwrap();
        assert_eq!(last.download::<u8>().unwrap().packed().as_ref(), [6]);
    }
}

#[test]
fn regions_outside_are_refused() {
    let image = Device::cpu().upload(&Image::new(3, 2, 1, vec![0u8; 6]).unwrap()).unwrap();
    for (x, y, width, height) in [(0, 0, 0, 1), (1, 0, 3, 1), (0, 2, 1, 1), (u32::MAX, 0, 2, 1)] {
        let error = image.region(x, y, width, height).expect_err("not in the image").to_string();
        assert!(error.contains("of the region is"), "{error}");
    }
}
