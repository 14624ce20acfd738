//! Shapes: empty ones, one pixel, masks larger than the image, anchors, parts, results that replace their inputs.

use super::{devices, integers, row};
use apron::{Border, Device, Error, ErrorKind, Image, Mask, Method, Taps};

const BORDERS: [Border; 5] =
    [Border::Constant(3.0), Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap];

#[test]
fn an_image_without_columns_or_rows_is_refused_by_name() {
    for (width, height, name) in [(0, 5, "width"), (5, 0, "height"), (0, 0, "width")] {
        let error = Image::<u8>::new(width, height, 1, vec![]).unwrap_err();
        assert!(matches!(&error, Error::Shape { what, value, .. } if *what == name && value == "0"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Input);
    }
    for channels in [0, 5] {
        assert!(Image::new(1, 1, channels, vec![0u8; channels as usize]).is_err());
    }
}

/// Returns the index of the sample at a coordinate of an axis of `n` samples; `None` for the constant.
fn there(border: Border, at: i64, n: i64) -> Option<i64> {
    let mirrored = |period: i64, last: i64| {
        let place = at.rem_euclid(period);
        place.min(last - place)
    };
    match border {
        _ if (0..n).contains(&at) => Some(at),
        Border::Replicate => Some(at.clamp(0, n - 1)),
        Border::Reflect => Some(mirrored(2 * n, 2 * n - 1)),
        Border::Reflect101 if n == 1 => Some(0),
        Border::Reflect101 => Some(mirrored(2 * n - 2, 2 * n - 2)),
        Border::Wrap => Some(at.rem_euclid(n)),
        _ => None,
    }
}

/// Correlates by the definition.
fn by_definition(image: &Image<'_, f32>, mask: &Mask, border: Border) -> Vec<f32> {
    let (n, m) = (i64::from(image.width()), i64::from(image.height()));
    let (x0, y0) = (i64::from(mask.anchor().0), i64::from(mask.anchor().1));
    let constant = if let Border::Constant(value) = border { value as f32 } else { 0.0 };
    let sample = |x: i64, y: i64| match (there(border, x, n), there(border, y, m)) {
        (Some(x), Some(y)) => image.sample(x as u32, y as u32, 0),
        _ => constant,
    };
    let sum = |x: i64, y: i64| {
        let taps = mask.taps().iter().zip(0..);
        taps.map(|(tap, i)| tap * sample(x + i % i64::from(mask.width()) - x0, y + i / i64::from(mask.width()) - y0))
            .sum()
    };
    (0..m).flat_map(|y| (0..n).map(move |x| (x, y))).map(|(x, y)| sum(x, y)).collect()
}

#[track_caller]
fn assert_defined(device: &Device, image: &Image<'_, f32>, mask: &Mask, border: Border) {
    let found = device.correlate(image, mask.clone()).border(border).method(Method::Direct).run().unwrap();
    let found = found.download::<f32>().unwrap();
    let (expected, sides) = (by_definition(image, mask, border), (mask.width(), mask.height()));
    assert_eq!(found.packed().as_ref(), expected, "{} {sides:?} {border} on {}", image.shape(), device.name());
}

fn ramp(width: u32, height: u32) -> Mask {
    Mask::new(width, height, (0..width * height).map(|i| (i * 7 % 11) as f32 - 5.0).collect::<Vec<_>>()).unwrap()
}

#[test]
fn one_pixel_one_row_and_one_column() {
    for device in devices() {
        for (width, height) in [(1, 1), (1, 7), (7, 1)] {
            for (border, mask) in BORDERS.into_iter().flat_map(|b| [(1, 5), (5, 1), (3, 3), (4, 2)].map(|m| (b, m))) {
                assert_defined(&device, &integers(width, height), &ramp(mask.0, mask.1), border);
            }
        }
    }
}

#[test]
fn masks_up_to_64_over_images_of_1_to_3() {
    for device in devices() {
        for (width, height) in (1..=3).flat_map(|w| (1..=3).map(move |h| (w, h))) {
            for (border, mask) in BORDERS.into_iter().flat_map(|b| [(64, 1), (1, 64), (13, 9), (8, 21)].map(|m| (b, m)))
            {
                assert_defined(&device, &integers(width, height), &ramp(mask.0, mask.1), border);
            }
        }
        for border in BORDERS {
            assert_defined(&device, &integers(3, 2), &ramp(64, 64), border);
        }
    }
}

#[test]
fn even_masks_hang_where_scipys_do() {
    // Expected values are from scipy.ndimage.correlate([1, 2, 3, 4], [1, 0]) and convolve, with mode="nearest".
    let (image, mask) = (row(&[1f32, 2.0, 3.0, 4.0]), || "1 0".parse::<Mask>().unwrap());
    for device in devices() {
        let correlated = device.correlate(&image, mask()).border(Border::Replicate).run().unwrap();
        assert_eq!(correlated.download::<f32>().unwrap().packed().as_ref(), [1.0, 1.0, 2.0, 3.0]);
        let convolved = device.convolve(&image, mask()).border(Border::Replicate).run().unwrap();
        assert_eq!(convolved.download::<f32>().unwrap().packed().as_ref(), [2.0, 3.0, 4.0, 4.0]);
        let taps = || Taps::new([1.0, 0.0]).unwrap();
        let passes = device.separable(&image, taps(), Taps::new([1.0]).unwrap()).border(Border::Replicate).run();
        assert_eq!(passes.unwrap().download::<f32>().unwrap().packed().as_ref(), [1.0, 1.0, 2.0, 3.0]);
    }
}

#[test]
fn an_anchor_in_each_corner_of_the_mask() {
    for device in devices() {
        for (x, y) in [(0, 0), (3, 0), (0, 2), (3, 2)] {
            let mask = ramp(4, 3).with_anchor(x, y).unwrap();
            BORDERS.into_iter().for_each(|border| assert_defined(&device, &integers(6, 5), &mask, border));
        }
    }
}

#[test]
fn parts_that_start_at_each_byte_of_a_word() {
    // Widths and offsets from the tests of OpenCV's GPU histograms.
    let bytes: Vec<u8> = (0..140 * 6).map(|i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let image = Image::new(140, 6, 1, bytes).unwrap();
    for device in devices() {
        let on_device = device.upload(&image).unwrap();
        for (x, width) in (0..4).flat_map(|x| [1, 2, 3, 4, 128, 129].map(|width| (x, width))) {
            let (part, alone) = (on_device.region(x, 1, width, 4).unwrap(), image.region(x, 1, width, 4).unwrap());
            let reference = Device::reference();
            let counts = reference.histogram(&alone).run().unwrap();
            assert_eq!(device.histogram(&part).run().unwrap().counts(), counts.counts(), "{x} {width}");
            let filtered = |device: &Device, image: apron::Source<'_>| {
                device.gaussian(image, 0.8).run().unwrap().download::<u8>().unwrap()
            };
            let expected = filtered(&reference, (&alone).into());
            assert_eq!(filtered(&device, (&part).into()), expected, "{x} {width} on {}", device.name());
        }
    }
}

#[test]
fn a_result_takes_the_place_of_its_input() {
    let mask: Mask = "1 2; 0 -1".parse().unwrap();
    for device in devices() {
        let mut image = device.upload(&integers(9, 7)).unwrap();
        let mut expected = integers(9, 7);
        for _ in 0..3 {
            image = device.correlate(&image, mask.clone()).border(Border::Wrap).run().unwrap();
            let samples = by_definition(&expected, &mask, Border::Wrap);
            expected = Image::new(9, 7, 1, samples).unwrap();
        }
        assert_eq!(image.download::<f32>().unwrap(), expected, "{}", device.name());
        // A recorded chain that is loaded with its own result.
        let filtered = |device: &Device, image: &_| device.correlate(image, mask.clone()).border(Border::Wrap).run();
        let mut chain = device.record(&integers(9, 7), filtered).unwrap();
        for _ in 0..2 {
            let result = chain.run().unwrap().clone();
            chain.load(&result).unwrap();
        }
        assert_eq!(chain.run().unwrap().download::<f32>().unwrap(), expected, "{}", device.name());
    }
}
