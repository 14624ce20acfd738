//! Filters of two parts in one launch: which filters use it, and that the bits equal those of separate parts.

use apron::{
    Border, Borders, Device, DeviceImage, Extent, Formula, Image, Mask, Method, PixelType, PointOp, Region, Result,
    Taps,
};

fn devices() -> Vec<Device> {
    let mut devices = vec![Device::emulator()];
    devices.extend(apron_testkit::gpu_or_skip("filters of two parts"));
    devices
}

fn bytes(width: u32, channels: u32) -> Image<'static, u8> {
    Image::from_fn(width, 37, channels, |x, y, channel| ((x * x + 7 * y * y + 31 * channel) % 251) as u8).unwrap()
}

fn floats(width: u32, channels: u32) -> Image<'static, f32> {
    Image::from_fn(width, 37, channels, |x, y, channel| ((x * x + 7 * y * y + channel) % 251) as f32 / 7.0 - 11.0)
        .unwrap()
}

/// Returns the operation of the result's report, and the number of launches or steps.
fn ran(result: &Result<DeviceImage>) -> (&'static str, usize) {
    let report = result.as_ref().unwrap().report().unwrap();
    (report.operation, report.variant.matches(" + ").count() + 1)
}

#[test]
fn named_filters_of_two_parts_take_one_launch() {
    for device in devices() {
        let reference = Device::reference();
        // Rows of 16 bytes and others, gray and colour.
        for (width, channels) in [(64, 1), (53, 1), (48, 3), (32, 4)] {
            let (bytes, floats) = (&bytes(width, channels), &floats(width, channels));
            let all = |device: &Device| {
                [
                    device.gradient(bytes).run(),
                    device.gradient(floats).ksize(5).run(),
                    device.gradient(floats).direction(true).run(),
                    device.laplacian_of_gaussian(bytes, 1.0).run(),
                    device.laplacian_of_gaussian(floats, 0.7).border(Border::Constant(3.5)).run(),
                    device.unsharp(bytes, 1.0).threshold(9.0).run(),
                    device.unsharp(floats, 0.8).border(Border::Wrap).run(),
                    device.gradient(floats).border(Border::Crop).run(),
                ]
            };
            for (n, (found, expected)) in all(&device).into_iter().zip(all(&reference)).enumerate() {
                assert_eq!(ran(&found), ("paired", 1), "filter {n} of {width}x{channels}");
                assert_eq!(ran(&expected).0, "pointwise", "the reference computes the parts one by one");
                let samples = |image: Result<DeviceImage>| image.unwrap().download_any().unwrap();
                let mismatch = apron_testkit::first_mismatch(&samples(found), &samples(expected));
                assert_eq!(mismatch, None, "filter {n} of {width}x{channels} on {}", device.name());
            }
        }
        // Blurs of two radii, of 9 and of 13 taps; one part, scaled; masks that are a column times a row.
        let (bytes, floats) = (&bytes(64, 1), &floats(53, 1));
        let sobel = |name: &str| Formula::Dense(apron::filters::named_mask(name).unwrap());
        let both = Formula::of(PointOp::weighted(0.5, 0.25, 1.0), sobel("sobel-x"), Some(sobel("sobel-y")));
        let region = Extent::Region(Region { x: -1, y: 5, width: 40, height: 20 });
        let all = |device: &Device| {
            [
                device.dog(bytes, 1.0, 1.6).run(),
                device.dog(floats, 1.0, 1.6).run(),
                device.sobel(floats, 1, 0).scale(0.5).delta(2.0).run(),
                device.apply(bytes, both.clone()).out_type(PixelType::F32).run(),
                device.gradient(bytes).extent(region).run(),
                device.unsharp(floats, 1.0).extent(region).border(Border::Reflect).run(),
            ]
        };
        for (n, (found, expected)) in all(&device).into_iter().zip(all(&reference)).enumerate() {
            assert_eq!(ran(&found), ("paired", 1), "filter {n}");
            let samples = |image: Result<DeviceImage>| image.unwrap().download_any().unwrap();
            assert_eq!(apron_testkit::first_mismatch(&samples(found), &samples(expected)), None, "filter {n}");
        }
    }
}

#[test]
fn others_are_computed_part_by_part() {
    for device in devices() {
        let (bytes, floats) = (&bytes(64, 1), &floats(64, 1));
        let dense = Formula::Dense(Mask::from_rows([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]).unwrap());
        let detail = Formula::of(PointOp::weighted(1.0, -1.0, 0.0), Formula::Image, Some(dense));
        let mean = Formula::of(PointOp::weighted(1.0, -1.0, 9.0), Formula::Image, Some(Formula::Mean(3, 3)));
        for (n, (result, steps)) in [
            // A mask that is not a column times a row, a mean of bytes, and more taps than kernels have.
            (device.apply(floats, detail).run(), 2),
            (device.apply(bytes, mean).run(), 2),
            (device.unsharp(floats, 3.0).run(), 2),
            // A constant that is not a byte, constants per axis, and 16-bit integers.
            (device.gradient(bytes).border(Border::Constant(0.5)).run(), 3),
            (device.gradient(bytes).border(Borders::by_axis(Border::Wrap, Border::Reflect)).run(), 5),
            (device.gradient(bytes).out_type(PixelType::I16).run(), 3),
            // A requested variant applies to the parts.
            (device.gradient(bytes).variant("conv1d-fused").run(), 3),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(ran(&result), ("pointwise", steps), "filter {n}");
        }
    }
}

/// Lengths that f32 rounds to halfway between two integers, and then to the even one below; by NumPy, in f64, they are
/// 10.50000011, 100.5000006, 200.500004 and 254.5000008.
#[test]
fn lengths_beside_a_half_are_decided_in_f64() {
    let one = || Taps::new([1.0]).unwrap();
    for device in devices() {
        for (x, y, expected) in [
            (7.5718374f32, 7.2744265f32, 11),
            (87.93651, 48.656147, 101),
            (176.51431, 95.09442, 201),
            (189.51984, 169.86018, 255),
        ] {
            let part = |tap: f32| Formula::Separable(Taps::new([tap]).unwrap(), one());
            let length = Formula::of(PointOp::Magnitude, part(x), Some(part(y)));
            let image = Image::new(16, 2, 1, vec![1u8; 32]).unwrap();
            let out = device.apply(&image, length).run();
            assert_eq!(ran(&out), ("paired", 1));
            assert_eq!(out.unwrap().download::<u8>().unwrap().row(1), [expected; 16], "{x} {y}");
        }
    }
}

/// The gradient of a small image, by SciPy's `sobel` of f64 and `hypot`.
#[test]
fn a_gradient_by_scipy() {
    let image = Image::from_fn(16, 3, 1, |x, y, _| ((x * 5 + y * 3) % 7 * (y + 1)) as u8).unwrap();
    for device in devices() {
        let found = device.gradient(&image).border(Border::Replicate).out_type(PixelType::F32).run();
        assert_eq!(ran(&found), ("paired", 1));
        let found = found.unwrap().download::<f32>().unwrap();
        assert_eq!(
            found.row(1)[..6],
            [61.66036, 35.128338, 12.649111, 10.770329, 22.36068, 20.396078],
            "{}",
            device.name()
        );
    }
}

/// On the CPU, each band of rows goes through all parts: several bands, whose windows overlap at the edges.
#[test]
fn the_cpu_takes_any_parts_at_once() {
    let (cpu, reference) = (Device::cpu(), Device::reference());
    let bytes = Image::from_fn(300, 900, 1, |x, y, _| ((x * x + 7 * y * y) % 251) as u8).unwrap();
    let dense = Formula::Dense(Mask::from_rows([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]]).unwrap());
    let (sum, product) = (PointOp::weighted(1.0, 1.0, 0.0), PointOp::weighted(-2.0, 0.5, 9.0));
    let nested = Formula::of(sum, Formula::of(product, dense.clone(), Some(Formula::Image)), Some(Formula::Mean(5, 7)));
    let region = Extent::Region(Region { x: -3, y: 40, width: 200, height: 850 });
    let all = |device: &Device| {
        [
            device.gradient(&bytes).run(),
            device.gradient(&bytes).border(Border::Crop).run(),
            device.unsharp(&bytes, 3.0).extent(region).run(),
            device.apply(&bytes, Formula::of(sum, dense.clone(), Some(Formula::LocalStd(9, 9)))).run(),
            device.apply(&bytes, nested.clone()).out_type(PixelType::I16).run(),
            device.apply(&bytes, nested.clone()).extent(region).out_type(PixelType::F32).run(),
            device.apply(&bytes, Formula::of(sum, Formula::Mean(31, 41), Some(nested.clone()))).run(),
        ]
    };
    for (n, (found, expected)) in all(&cpu).into_iter().zip(all(&reference)).enumerate() {
        assert_eq!(ran(&found), ("paired", 1), "filter {n}");
        let samples = |image: Result<DeviceImage>| image.unwrap().download_any().unwrap();
        assert_eq!(apron_testkit::first_mismatch(&samples(found), &samples(expected)), None, "filter {n}");
    }
    // With a border per axis each part pads the image; errors name the part.
    let borders = Borders::by_axis(Border::Wrap, Border::Reflect);
    assert_eq!(ran(&cpu.gradient(&bytes).border(borders).run()), ("pointwise", 5));
    let error = cpu.apply(&bytes, Formula::of(sum, Formula::Mean(3, 3), Some(dense))).border(Border::Crop);
    let error = error.anchor((0, 0)).run().unwrap_err().to_string();
    assert!(error.contains("anchor"), "{error}");
    let cropped = Formula::of(sum, Formula::Mean(3, 3), Some(Formula::Mean(5, 3)));
    let error = cpu.apply(&bytes, cropped).border(Border::Crop).run().unwrap_err().to_string();
    assert!(error.contains("masks of two sizes leave 298x898x1 and 296x898x1"), "{error}");
}

/// Fourier transforms do not compute single rows, so such parts are separate filters.
#[test]
fn transformed_parts_are_computed_one_after_the_other() {
    let (image, taps) =
        (bytes(64, 1), |seed: u32| (0..20).map(move |n| (n * seed % 7) as f32 - 2.0).collect::<Vec<_>>());
    let mask = |seed| Formula::Dense(Mask::new(5, 4, taps(seed)).unwrap());
    let lengths = Formula::of(PointOp::Magnitude, mask(3), Some(mask(5)));
    let of = |device: &Device| {
        let lengths = device.apply(&image, lengths.clone()).method(Method::Fft).out_type(PixelType::F32);
        lengths.run().unwrap().download_any().unwrap()
    };
    let expected = of(&Device::reference());
    for device in devices().into_iter().chain([Device::cpu()]) {
        assert_eq!(apron_testkit::first_mismatch(&of(&device), &expected), None, "{}", device.name());
    }
}
