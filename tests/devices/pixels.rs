//! Padding, constants per channel, alpha and 16-bit floats: the same on every device, and equal to their parts.

use apron::{
    AnyImage, Border, Borders, Constants, Device, Error, ErrorKind, Extent, Image, PixelType, Region, Shape, f16,
};
use apron_testkit::{Data, first_mismatch, gpu_or_skip, random_image};
use rand::SeedableRng;
use rand::rngs::StdRng;

fn devices() -> Vec<Device> {
    let all = [Device::reference(), Device::cpu(), Device::emulator()];
    all.into_iter().chain(gpu_or_skip("pixels")).collect()
}

fn image(pixel: PixelType, channels: u32) -> AnyImage<'static> {
    random_image(&mut StdRng::seed_from_u64(3), pixel, Shape::new(29, 17, channels).unwrap(), Data::Uniform)
}

/// Compares a result with the expected image, bit for bit.
fn same(found: apron::Result<apron::DeviceImage>, expected: &AnyImage<'_>, what: &str) {
    let found = found.unwrap_or_else(|error| panic!("{what}: {error}")).download_any().unwrap();
    assert_eq!(first_mismatch(&found, expected), None, "{what}");
}

#[test]
fn a_filter_with_constants_by_channel_is_that_of_each_channel() {
    let photo = image(PixelType::U8, 3);
    let AnyImage::U8(samples) = &photo else { unreachable!() };
    let constants = [7.0, 0.0, 255.0];
    for device in devices() {
        let borders = Borders::by_axis(Border::Wrap, Constants::new(&constants).unwrap());
        for borders in [Borders::from(Constants::new(&constants).unwrap()), borders] {
            let whole = device.gaussian(&photo, 1.3).border(borders).run().unwrap().download::<u8>().unwrap();
            for (channel, constant) in constants.into_iter().enumerate() {
                let plane: Vec<u8> = samples.packed().iter().copied().skip(channel).step_by(3).collect();
                let plane = Image::new(29, 17, 1, plane).unwrap();
                let own = Borders { y: Border::Constant(constant).into(), ..borders };
                let own = if borders.x == Border::Wrap { own } else { Border::Constant(constant).into() };
                let expected = device.gaussian(&plane, 1.3).border(own).run().unwrap().download::<u8>().unwrap();
                let found: Vec<u8> = whole.packed().iter().copied().skip(channel).step_by(3).collect();
                assert_eq!(found, expected.packed().as_ref(), "channel {channel}, {borders} on {}", device.name());
            }
        }
    }
}

#[test]
fn constants_that_the_type_does_not_hold_are_those_of_a_border_for_all() {
    let mask: apron::Mask = "1 2 3; -1 0.25 7; 1 1 0.5".parse().unwrap();
    for pixel in [PixelType::U8, PixelType::I8, PixelType::U16, PixelType::I16, PixelType::I32, PixelType::F16] {
        let photo = image(pixel, 2);
        for device in devices() {
            for constant in [0.5, -3.25, 70000.0] {
                let everywhere = Borders::from(Border::Constant(constant));
                let by_channel = Borders::from(Constants::new(&[constant; 2]).unwrap());
                // A mask of one row does not reach the border along the columns.
                let by_axis = Borders::by_axis(Border::Constant(constant), Border::Wrap);
                let row: apron::Mask = "3 -1 0.5".parse().unwrap();
                for (mask, borders) in [(&mask, by_channel), (&row, by_axis)] {
                    for dst in [pixel, PixelType::F32] {
                        let filter =
                            |borders| device.correlate(&photo, mask.clone()).border(borders).out_type(dst).run();
                        let expected = filter(everywhere).unwrap().download_any().unwrap();
                        same(filter(borders), &expected, &format!("{pixel} {borders} on {}", device.name()));
                    }
                }
                let mean = |borders: Borders| device.local_std(&photo, 3).border(borders).run();
                let expected = mean(everywhere).unwrap().download_any().unwrap();
                same(mean(by_channel), &expected, &format!("deviation of {pixel} on {}", device.name()));
            }
        }
    }
}

#[test]
fn a_filter_of_a_padded_image_is_that_with_the_border() {
    for (pixel, channels) in [(PixelType::U8, 3), (PixelType::F16, 2), (PixelType::F32, 1), (PixelType::I16, 4)] {
        let photo = image(pixel, channels);
        for device in devices() {
            for border in [Border::Reflect, Border::Wrap, Border::Constant(3.0)] {
                let around = Region { x: -2, y: -1, width: 29 + 4, height: 17 + 3 };
                let padded = device.pad(&photo, around).border(border).run().unwrap();
                let mask: apron::Mask = "1 2 3 4 5; 0 1 0 -1 7; 1 1 1 1 1; 0 0 2 0 0".parse().unwrap();
                let mask = mask.with_anchor(2, 1).unwrap();
                let cropped = device.correlate(&padded, mask.clone()).border(Border::Crop).run().unwrap();
                let direct = device.correlate(&photo, mask).border(border).run();
                same(direct, &cropped.download_any().unwrap(), &format!("{pixel} {border} on {}", device.name()));
            }
        }
    }
}

#[test]
fn a_padded_region_of_a_device_image_is_that_of_its_pixels() {
    for device in devices() {
        for (pixel, x) in [(PixelType::U8, 16), (PixelType::F32, 4), (PixelType::U8, 1)] {
            let photo = device.upload(&image(pixel, 1)).unwrap();
            let part = photo.region(x, 2, 9, 11).unwrap();
            let around = Region { x: -3, y: -2, width: 20, height: 19 };
            let alone = part.download_any().unwrap();
            let expected = Device::reference().pad(&alone, around).run().unwrap().download_any().unwrap();
            same(device.pad(&part, around).run(), &expected, &format!("{pixel} from {x} on {}", device.name()));
        }
    }
}

#[test]
fn alpha_is_that_of_the_pixel_under_the_anchor() {
    let extents = [Extent::Same, Extent::Full, Extent::Region(Region { x: -3, y: 5, width: 20, height: 30 })];
    for (channels, dst) in [(2, PixelType::U8), (4, PixelType::U8), (4, PixelType::F32), (2, PixelType::F16)] {
        let photo = image(PixelType::U8, channels);
        for device in devices() {
            let borders =
                [Borders::from(Border::Reflect), Borders::by_axis(Border::Crop, Border::Wrap), Border::Crop.into()];
            for borders in borders {
                for extent in
                    extents.into_iter().filter(|extent| *extent == Extent::Same || borders == Border::Reflect.into())
                {
                    let mask: apron::Mask = "3 1 2; 0 1 -1".parse().unwrap();
                    let mask = mask.with_anchor(2, 0).unwrap();
                    let make = |keep| {
                        let filter = device.correlate(&photo, mask.clone()).border(borders).extent(extent);
                        filter.out_type(dst).keep_alpha(keep).run().unwrap().download_any().unwrap()
                    };
                    // A mask whose only tap other than 0 is the one over the pixel.
                    let only = "0 0 1; 0 0 0".parse::<apron::Mask>().unwrap().with_anchor(2, 0).unwrap();
                    let under = device.correlate(&photo, only).border(borders).extent(extent).out_type(dst);
                    let under = under.run().unwrap().download_any().unwrap();
                    let numbers = |image: &AnyImage<'_>| -> Vec<f64> {
                        apron_core::each_type!(image, image => image.packed().iter().map(|&s| apron_core::Sample::to_f64(s)).collect())
                    };
                    let (kept, without, under) = (make(true), make(false), under);
                    assert_eq!(kept.shape(), without.shape());
                    let (kept, without, under) = (numbers(&kept), numbers(&without), numbers(&under));
                    let what = format!("{channels} channels to {dst}, {borders}, {extent:?} on {}", device.name());
                    for (index, found) in kept.iter().enumerate() {
                        let last = (index + 1).is_multiple_of(channels as usize);
                        assert_eq!(*found, if last { under[index] } else { without[index] }, "{index}: {what}");
                    }
                }
            }
        }
    }
}

#[test]
fn alpha_of_named_filters_and_of_other_images() {
    let photo = image(PixelType::U8, 4);
    let expected = Device::reference().gradient(&photo).keep_alpha(true).run().unwrap().download_any().unwrap();
    for device in devices() {
        same(device.gradient(&photo).keep_alpha(true).run(), &expected, &device.name().to_string());
        let uploaded = device.upload(&photo).unwrap();
        let report = device.unsharp(&uploaded, 1.0).keep_alpha(true).run().unwrap().report().unwrap();
        assert!(report.variant.contains(" + "), "{report:?}");
        for channels in [1, 3] {
            let error = device.gaussian(&image(PixelType::F32, channels), 1.0).keep_alpha(true).run().err().unwrap();
            assert!(matches!(error, Error::Shape { what: "channels", .. }), "{error}");
        }
    }
}

#[test]
fn floats_of_16_bits_are_the_floats_that_they_are() {
    let AnyImage::F16(halves) = image(PixelType::F16, 3) else { unreachable!() };
    let floats: Vec<f32> = halves.packed().iter().map(|half| half.to_f32()).collect();
    let floats = AnyImage::F32(Image::new(29, 17, 3, floats).unwrap());
    let halves = AnyImage::F16(halves);
    /// Rounds f32 results to f16.
    fn rounded(image: apron::DeviceImage) -> AnyImage<'static> {
        let image = image.download::<f32>().unwrap();
        let samples: Vec<f16> = image.packed().iter().map(|&sample| f16::from_f32(sample)).collect();
        AnyImage::F16(Image::new(image.width(), image.height(), image.channels(), samples).unwrap())
    }
    for device in devices() {
        let what = device.name().to_string();
        let f16 = PixelType::F16;
        let of = |image| device.gaussian(image, 2.0).border(Border::Constant(0.25));
        same(of(&halves).run(), &rounded(of(&floats).run().unwrap()), &what);
        same(
            of(&halves).out_type(PixelType::I16).run(),
            &of(&floats).out_type(PixelType::I16).run().unwrap().download_any().unwrap(),
            &what,
        );
        same(of(&floats).out_type(f16).run(), &rounded(of(&floats).run().unwrap()), &what);
        // Means, deviations, gradients; with one type and with two.
        let mean = |image| device.box_filter(image, 5, 3);
        same(mean(&halves).run(), &rounded(mean(&floats).run().unwrap()), &what);
        same(
            device.local_std(&halves, (5, 3)).run(),
            &rounded(device.local_std(&floats, (5, 3)).run().unwrap()),
            &what,
        );
        let edges = device.gradient(&floats).run().unwrap();
        same(device.gradient(&halves).run(), &rounded(edges), &what);
        let sharp = device.unsharp(&floats, 1.0).run().unwrap();
        same(device.unsharp(&halves, 1.0).run(), &rounded(sharp), &what);
        let bytes = image(PixelType::U8, 1);
        let mean = device.box_filter(&bytes, 31, 31).out_type(PixelType::F32).run().unwrap();
        same(device.box_filter(&bytes, 31, 31).out_type(f16).run(), &rounded(mean), &what);
        let histogram = |image| device.histogram(image).per_channel(true).run().unwrap();
        assert_eq!(histogram(&halves), histogram(&floats), "{what}");
        let edges = |image| device.histogram(image).edges([-0.5, 0.0, 0.1, 0.7]).run().unwrap();
        assert_eq!(edges(&halves), edges(&floats), "{what}");
    }
    for device in devices() {
        let statistics = |image| device.statistics(image).per_channel(true).run().unwrap();
        assert_eq!(statistics(&halves), statistics(&floats), "{}", device.name());
    }
}

#[test]
fn what_can_never_be_right_is_a_usage_error_everywhere() {
    let photo = &image(PixelType::U8, 3);
    let (inside, empty) = (Region { x: 0, y: 0, width: 4, height: 4 }, Region { x: 0, y: 0, width: 0, height: 4 });
    let two = Constants::new(&[1.0, 2.0]).unwrap();
    for device in devices() {
        let errors = [
            device.pad(photo, empty).run().err(),
            device.pad(photo, inside).border(two).run().err(),
            device.pad(photo, inside).border(Border::Constant(0.5)).run().err(),
            device.pad(photo, Region { x: -1, ..inside }).border(Border::Crop).run().err(),
            device.pad(photo, inside).variant("no-such").run().err(),
            device.gaussian(photo, 1.0).border(two).run().err(),
            device.emboss(photo).border(two).run().err(),
        ];
        for (n, error) in errors.into_iter().enumerate() {
            let error = error.unwrap_or_else(|| panic!("no error from call {n} on {}", device.name()));
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        }
    }
}
