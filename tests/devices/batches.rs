//! Batches: each image is filtered as if it were alone.

use apron::{
    AnyImage, Border, Borders, Constants, Device, Error, Image, Mask, Method, PixelType, Region, Result, Shape, Source,
    filters,
};
use apron_testkit::{Case, Data, eligible, examples, first_mismatch, gpu_or_skip, random_case, random_image, seldom};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::BTreeSet;

/// Returns `count` images: `image`, and random ones of its shape and type.
fn like(image: &AnyImage<'_>, count: u64) -> Vec<AnyImage<'static>> {
    let (pixel, shape) = (image.pixel_type(), image.shape());
    let others = (1..count).map(|seed| random_image(&mut StdRng::seed_from_u64(seed), pixel, shape, Data::Uniform));
    [image.view().into_owned()].into_iter().chain(others).collect()
}

/// Solves a filter's case for a batch by every variant, into a new batch and into an existing one; returns the variants
/// that ran.
fn check(device: &Device, case: &Case, images: u64) -> Vec<&'static str> {
    let filter = case.filter().expect("a filter's case");
    let seconds = case.second.as_ref().map(|second| like(second, images));
    let firsts = like(&case.image, images);
    let reference = Device::reference();
    let expected: Vec<AnyImage<'static>> = (0..images as usize)
        .map(|index| {
            let second = seconds.as_ref().map(|seconds| Source::from(&seconds[index]));
            reference.solve_with(filter, &firsts[index], second, None).unwrap().download_any().unwrap()
        })
        .collect();
    let batch = device.upload_batch_any(&firsts).unwrap();
    let second = seconds.as_ref().map(|seconds| device.upload_batch_any(seconds).unwrap());
    let second = || second.as_ref().map(Source::from);
    let mut ran = Vec::new();
    for variant in eligible(&case.problem, &device.machine().expect("a device that runs kernels")) {
        let found = match device.solve_with(filter, &batch, second(), Some(variant)) {
            // Its kernels read a single image through a texture.
            Err(Error::Unsupported { what, .. }) if variant == "rgba-texture" => {
                assert!(what.contains("images at once"), "{what}");
                continue;
            }
            found => found.unwrap(),
        };
        assert_eq!(found.images() as u64, images);
        let shape = expected[0].shape();
        let mut there = device.zeros_batch(shape, found.pixel_type(), images as usize).unwrap();
        device.solve_into(filter, &batch, second(), Some(variant), &mut there).unwrap();
        for result in [&found, &there] {
            for (found, expected) in result.download_batch_any().unwrap().iter().zip(&expected) {
                let mismatch = first_mismatch(found, expected);
                assert_eq!(mismatch, None, "{variant}: {images} of {case} on {}", device.name());
            }
        }
        ran.push(variant);
    }
    ran
}

fn check_all(device: &Device, cases: u64) {
    let mut ran = BTreeSet::new();
    let random = (0..cases).map(|seed| (seed, random_case(seed)));
    for (seed, case) in random.chain((0..8).flat_map(|seed| seldom(seed).map(|case| (seed, case)))) {
        if case.filter().is_some() {
            ran.extend(check(device, &case, 2 + seed % 3));
        }
    }
    let others = ["histogram", "lookup", "equalize", "clahe", "stats", "weighted", "joint", "volume"];
    for variant in apron_plan::VARIANTS.iter().filter(|variant| !others.contains(&variant.operation)) {
        let alone = variant.name == "rgba-texture";
        // A variant that none of these cases reaches has examples.
        if !alone && !ran.contains(variant.name) {
            ran.extend(examples(variant, 1).flat_map(|case| check(device, &case, 2)));
        }
        assert!(alone || ran.contains(variant.name), "{} never ran: {ran:?}", variant.name);
    }
}

#[test]
fn batches_on_the_emulator() {
    check_all(&Device::emulator(), 60);
}

#[test]
fn batches_on_the_gpu() {
    if let Some(device) = gpu_or_skip("batches_on_the_gpu") {
        check_all(&device, 300);
    }
}

fn devices(test: &str) -> Vec<Device> {
    let devices = [Device::cpu(), Device::emulator(), Device::reference()];
    devices.into_iter().chain(gpu_or_skip(test)).collect()
}

fn photos(pixel: PixelType, channels: u32) -> Vec<AnyImage<'static>> {
    let shape = Shape::new(37, 21, channels).unwrap();
    like(&random_image(&mut StdRng::seed_from_u64(9), pixel, shape, Data::Uniform), 3)
}

/// Filters of several operations, and of two operands.
#[test]
fn filters_of_several_steps() {
    type Operation = fn(&Device, Source<'_>) -> Result<apron::DeviceImage>;
    let operations: [(&str, Operation); 6] = [
        ("gradient", |device, image| device.gradient(image).run()),
        ("unsharp", |device, image| device.unsharp(image, 1.3).out_type(PixelType::F32).run()),
        ("alpha", |device, image| device.gaussian(image, 2.0).keep_alpha(true).run()),
        ("by axis", |device, image| {
            let borders = Borders::by_axis(Border::Wrap, Border::Constant(7.0));
            device.correlate(image, Mask::new(3, 2, [1.0, -2.0, 0.5, 3.0, 0.0, 1.0])?).border(borders).run()
        }),
        ("low rank", |device, image| {
            let bells = [filters::gaussian(1.0, 8.0)?, filters::gaussian(2.0, 4.0)?];
            let tap = |i: usize| bells.iter().map(|bell| bell.taps()[i % 17] * bell.taps()[i / 17]).sum();
            let mask = Mask::new(17, 17, (0..17 * 17).map(tap).collect::<Vec<f32>>())?;
            device.correlate(image, mask).out_type(PixelType::F32).method(Method::LowRank).run()
        }),
        ("pad", |device, image| {
            let region = Region { x: -3, y: 2, width: 50, height: 30 };
            device.pad(image, region).border(Constants::new(&[1.0, 2.0, 3.0, 4.0])?).run()
        }),
    ];
    let images = photos(PixelType::U8, 4);
    for device in devices("filters_of_several_steps") {
        let batch = device.upload_batch_any(&images).unwrap();
        for (name, operation) in operations {
            let found = operation(&device, (&batch).into()).unwrap().download_batch_any().unwrap();
            for (found, image) in found.iter().zip(&images) {
                let expected = operation(&Device::reference(), image.into()).unwrap().download_any().unwrap();
                assert_eq!(first_mismatch(found, &expected), None, "{name} on {}", device.name());
            }
        }
    }
}

/// The planes of a planar image as a batch.
#[test]
fn planes_are_filtered_as_channels_are() {
    let images = photos(PixelType::U8, 3);
    let AnyImage::U8(photo) = &images[0] else { unreachable!("asked for") };
    for device in devices("planes_are_filtered_as_channels_are") {
        let interleaved = device.gaussian(photo, 1.5).run().unwrap().download::<u8>().unwrap();
        let planes = device.upload_batch(&photo.planes()).unwrap();
        let blurred = device.gaussian(&planes, 1.5).run().unwrap().download_batch::<u8>().unwrap();
        assert_eq!(Image::from_planes(&blurred).unwrap().packed(), interleaved.packed(), "{}", device.name());
    }
}

#[test]
fn a_recorded_chain_of_a_batch() {
    let (images, others) = (photos(PixelType::F32, 1), photos(PixelType::F32, 1).into_iter().rev().collect::<Vec<_>>());
    for device in devices("a_recorded_chain_of_a_batch") {
        let batch = device.upload_batch_any(&images).unwrap();
        let mut chain = device.record(&batch, |device, frames| device.sharpen(frames).run()).unwrap();
        chain.load(&device.upload_batch_any(&others).unwrap()).unwrap();
        let found = chain.run().unwrap().download_batch_any().unwrap();
        for (found, image) in found.iter().zip(&others) {
            let expected = Device::reference().sharpen(image).run().unwrap().download_any().unwrap();
            assert_eq!(first_mismatch(found, &expected), None, "{}", device.name());
        }
        let error = chain.load(&others[0]).unwrap_err().to_string();
        assert!(error.contains("number of images is 1"), "{error}");
    }
}

/// Operations on single images refuse a batch, and take an image of it.
#[test]
fn one_image_of_a_batch() {
    let images: Vec<_> = [vec![0u8, 0, 7], vec![9, 255, 9]].map(|row| Image::new(3, 1, 1, row).unwrap()).into();
    for device in devices("one_image_of_a_batch") {
        let batch = device.upload_batch(&images).unwrap();
        assert_eq!((batch.images(), batch.shape()), (2, Shape::new(3, 1, 1).unwrap()));
        let second = batch.image(1).unwrap();
        assert_eq!(device.histogram(&second).run().unwrap().counts()[9], 2, "{}", device.name());
        assert_eq!(device.equalize(&second).run().unwrap().download::<u8>().unwrap().row(0), [0, 255, 0]);
        let mut room = device.zeros(batch.shape(), PixelType::U8).unwrap();
        let refused = [
            device.histogram(&batch).run().err(),
            device.equalize(&batch).run().err(),
            device.statistics(&batch).run().err(),
            batch.download::<u8>().err(),
            batch.region(0, 0, 1, 1).err(),
            batch.clone().into_host().err(),
            device.box_filter(&batch, 3, 1).run_into(&mut room).err(),
        ];
        for (number, error) in refused.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("{number}: not refused on {}", device.name())).to_string();
            assert!(error.contains("number of images is"), "{number}: {error}");
        }
        assert!(batch.image(2).err().unwrap().to_string().contains("0 to 1"));
    }
}

#[test]
fn batches_cross_devices() {
    let images = photos(PixelType::U16, 1);
    let mut devices = devices("batches_cross_devices");
    devices.extend(Device::gpu(1));
    for from in &devices {
        for to in &devices {
            let means = to.box_filter(&from.upload_batch_any(&images).unwrap(), 5, 3).run().unwrap();
            for (found, image) in means.download_batch_any().unwrap().iter().zip(&images) {
                let expected = Device::reference().box_filter(image, 5, 3).run().unwrap().download_any().unwrap();
                assert_eq!(first_mismatch(found, &expected), None, "from {} to {}", from.name(), to.name());
            }
        }
    }
}

#[test]
fn unlike_images_are_no_batch() {
    let device = Device::cpu();
    let (wide, tall) = (Image::new(3, 1, 1, vec![0u8; 3]).unwrap(), Image::new(1, 3, 1, vec![0u8; 3]).unwrap());
    let error = device.upload_batch(&[wide.view(), tall]).err().unwrap().to_string();
    assert!(error.contains("3x1x1, as the first"), "{error}");
    let floats = AnyImage::F32(Image::new(3, 1, 1, vec![0.0; 3]).unwrap());
    assert!(matches!(device.upload_batch_any(&[AnyImage::U8(wide), floats]), Err(Error::PixelType { .. })));
    assert!(device.upload_batch::<u8>(&[]).err().unwrap().to_string().contains("1 or more"));
    assert!(device.zeros_batch(Shape::new(1, 1, 1).unwrap(), PixelType::U8, 65536).is_err());
}
