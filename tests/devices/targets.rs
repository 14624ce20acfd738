//! Results written into existing images: the same samples as in new images, and no other samples change.

use apron::{
    AnyImage, AnyImageMut, Border, Borders, Device, DeviceImage, Error, Extent, Image, ImageMut, Mask, Pixel,
    PixelType, Result, Shape, Target,
};
use apron_core::each_type;
use apron_testkit::{Data, first_mismatch, gpu_or_skip, random_image};
use rand::SeedableRng;
use rand::rngs::StdRng;

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu(), Device::emulator(), Device::reference()];
    devices.extend(gpu_or_skip("results into images that are there"));
    devices
}

fn image(pixel: PixelType, (width, height, channels): (u32, u32, u32)) -> AnyImage<'static> {
    random_image(&mut StdRng::seed_from_u64(3), pixel, Shape::new(width, height, channels).unwrap(), Data::Uniform)
}

/// An operation, run into a target or into a new image.
type Operation = fn(&Device, &AnyImage<'_>, Option<Target<'_>>) -> Result<Option<DeviceImage>>;

/// Defines operations that run into a target or into a new image.
macro_rules! operations {
    ($($name:literal $pixel:ident: |$device:ident, $image:ident| $operation:expr,)*) => {
        [$(($name, PixelType::$pixel, (|$device, $image, target| match target {
            Some(target) => $operation.run_into(target).map(|()| None),
            None => $operation.run().map(Some),
        }) as Operation)),*]
    };
}

fn mask() -> Mask {
    Mask::new(5, 4, (0..20).map(|i| ((i * 7 % 11) as f32 - 4.0) / 8.0).collect::<Vec<_>>()).unwrap()
}

fn operations() -> impl Iterator<Item = (&'static str, PixelType, Operation)> {
    operations! {
        "correlate" U8: |device, image| device.correlate(image, mask()),
        "correlate to f32" U8: |device, image| device.correlate(image, mask()).out_type(PixelType::F32),
        "correlate" F32: |device, image| device.correlate(image, mask()).border(Border::Wrap),
        "correlate" U16: |device, image| device.correlate(image, mask()),
        "cropped" F32: |device, image| device.correlate(image, mask()).border(Border::Crop),
        "full" U8: |device, image| device.correlate(image, mask()).extent(Extent::Full),
        "by axis" U8: |device, image| {
            device.correlate(image, mask()).border(Borders::by_axis(Border::Wrap, Border::Constant(9.0)))
        },
        "gaussian" F32: |device, image| device.gaussian(image, 1.3),
        "gaussian" I16: |device, image| device.gaussian(image, 1.3),
        "mean" U8: |device, image| device.box_filter(image, 9, 7),
        "mean" F32: |device, image| device.box_filter(image, 21, 19),
        "local-std" U8: |device, image| device.local_std(image, (5, 3)),
        "gradient" U8: |device, image| device.gradient(image),
        "unsharp" F32: |device, image| device.unsharp(image, 1.1),
        "lookup" U8: |device, image| device.lookup(image, (0..=255).rev().collect::<Vec<u8>>()),
        "equalize" U8: |device, image| device.equalize(image),
        "clahe" U8: |device, image| device.clahe(image, 2.0, (3, 2)),
    }
    .into_iter()
}

/// Makes an image of a distinct value.
fn canvas(shape: Shape, pixel: PixelType) -> AnyImage<'static> {
    AnyImage::from_bytes(pixel, shape, |bytes| {
        bytes.fill(0x5b);
        Ok(())
    })
    .unwrap()
}

/// Returns the canvas with the result at column `x` and row `y`.
fn pasted(canvas: &AnyImage<'_>, result: &AnyImage<'_>, (x, y): (u32, u32)) -> AnyImage<'static> {
    let mut pasted = canvas.view().into_owned();
    let Shape { width, height, .. } = result.shape();
    pasted.view_mut().region(x, y, width, height).unwrap().copy_from(result).unwrap();
    pasted
}

#[test]
fn results_are_where_they_belong_and_nowhere_else() {
    for (device, shape) in devices().iter().flat_map(|device| [(37, 21, 1), (32, 18, 3)].map(|shape| (device, shape))) {
        for (name, pixel, run) in operations() {
            let image = image(pixel, shape);
            let what = format!("{name} of {pixel} {shape:?} on {}", device.name());
            let expected = run(device, &image, None).unwrap().unwrap().into_host().unwrap();
            let (out, dst) = (expected.shape(), expected.pixel_type());
            let check = |found: AnyImage<'_>, expected: &AnyImage<'_>, how: &str| {
                assert_eq!(first_mismatch(&found, expected), None, "{what}, {how}");
            };

            let mut whole = device.upload(&canvas(out, dst)).unwrap();
            run(device, &image, Some((&mut whole).into())).unwrap();
            check(whole.download_any().unwrap(), &expected, "whole");
            assert!(!whole.report().unwrap().variant.is_empty());

            // Into rows with gaps, from a multiple of 16 bytes on and from other addresses.
            let large = Shape { width: out.width + 40, height: out.height + 3, ..out };
            let around = canvas(large, dst);
            for corner in [(0, 0), (16, 1), (3, 2)] {
                let mut large = device.upload(&around).unwrap();
                let part = large.region_mut(corner.0, corner.1, out.width, out.height).unwrap();
                run(device, &image, Some(part)).unwrap();
                check(large.download_any().unwrap(), &pasted(&around, &expected, corner), "in a part");
            }
            // Into whole rows: without gaps, but not from the start.
            let tall = canvas(Shape { height: out.height + 3, ..out }, dst);
            let mut rows = device.upload(&tall).unwrap();
            run(device, &image, Some(rows.region_mut(0, 2, out.width, out.height).unwrap())).unwrap();
            check(rows.download_any().unwrap(), &pasted(&tall, &expected, (0, 2)), "in whole rows");

            // Into an image on the host, for every device.
            let mut host = canvas(out, dst);
            run(device, &image, Some((&mut host).into())).unwrap();
            check(host.view(), &expected, "on the host");
            let mut host = around.view().into_owned();
            let part = host.view_mut().region(3, 2, out.width, out.height).unwrap();
            run(device, &image, Some(part.into())).unwrap();
            check(host.view(), &pasted(&around, &expected, (3, 2)), "in a part on the host");
        }
    }
}

#[test]
fn results_go_to_other_devices() {
    let Some(gpu) = gpu_or_skip("results of one device into images of another") else { return };
    let cpu = Device::cpu();
    let image = image(PixelType::U8, (40, 30, 3));
    let expected = cpu.gaussian(&image, 2.0).run().unwrap().into_host().unwrap();
    for (from, to) in [(&gpu, &cpu), (&cpu, &gpu), (&gpu, &Device::gpu(0).unwrap())] {
        let mut there = to.upload(&canvas(expected.shape(), PixelType::U8)).unwrap();
        from.gaussian(&image, 2.0).run_into(&mut there).unwrap();
        assert_eq!(first_mismatch(&there.download_any().unwrap(), &expected), None, "{} {}", from.name(), to.name());
    }
}

#[test]
fn images_that_are_shared_or_of_another_shape_stay_as_they_are() {
    for device in devices() {
        let before = image(PixelType::U8, (20, 10, 1));
        let mut out = device.upload(&before).unwrap();
        let refused = |out: &mut DeviceImage, input: AnyImage<'_>, value: &str| {
            for error in [
                device.gaussian(&input, 1.0).run_into(&mut *out).unwrap_err(),
                device.gradient(&input).run_into(&mut *out).unwrap_err(),
            ] {
                assert!(matches!(error, Error::Parameter { parameter: "output", .. }), "{error}");
                assert!(error.to_string().contains(value), "{error}");
            }
            let found = out.download_any().unwrap();
            assert_eq!(first_mismatch(&found, &before), None, "{}", device.name());
        };
        let same = || image(PixelType::U8, (20, 10, 1));
        let clone = out.clone();
        refused(&mut out, same(), "shared");
        drop(clone);
        // A region shares the memory on a GPU, and is a copy on other devices.
        let region = out.region(0, 0, 2, 2).unwrap();
        if let Some(apron::DeviceName::Gpu(_)) = Some(device.name()) {
            refused(&mut out, same(), "shared");
        }
        drop(region);
        refused(&mut out, image(PixelType::U8, (10, 20, 1)), "u8 20x10x1, but must be u8 10x20x1");
        refused(&mut out, image(PixelType::F32, (20, 10, 1)), "u8 20x10x1, but must be f32 20x10x1");
        for (x, y, width, height) in [(0, 0, 21, 1), (1, 0, 20, 10), (0, 0, 0, 1)] {
            assert!(matches!(out.region_mut(x, y, width, height), Err(Error::Shape { .. })));
        }
        // The region is dropped, so the memory is not shared any more.
        device.gaussian(&same(), 1.0).run_into(&mut out).unwrap();
    }
}

/// The caller's memory on the host, in rows with gaps.
#[test]
fn results_in_the_callers_memory() {
    fn check<T: Pixel + std::fmt::Debug>(image: &Image<'_, T>) {
        let (shape, gap) = (image.shape(), 3);
        let stride = shape.row_samples() + gap;
        for device in devices() {
            let mut samples = vec![T::default(); stride * shape.height as usize - gap];
            let out = ImageMut::with_row_stride(shape.width, shape.height, shape.channels, stride, &mut samples);
            device.box_filter(image, 1, 1).run_into(out.unwrap()).unwrap();
            for (found, expected) in samples.chunks(stride).zip(image.rows()) {
                // As f64, whose digits filters of 64-bit integers have.
                let numbers = |samples: &[T]| samples.iter().map(|sample| sample.to_f64()).collect::<Vec<_>>();
                assert_eq!(numbers(&found[..expected.len()]), numbers(expected), "{}", device.name());
                assert!(found[expected.len()..].iter().all(|sample| *sample == T::default()));
            }
        }
    }
    for pixel in PixelType::ALL {
        each_type!(&image(pixel, (13, 7, 2)), image => check(image));
    }
    assert!(matches!(image(PixelType::I16, (2, 2, 1)).view_mut(), AnyImageMut::I16(_)));
}
