//! Bitwise agreement of sums over windows with the reference: box filters and deviations.

use crate::agreement::{BORDERS, Sample, check, extents, image};
use crate::pointwise;
use apron_core::{Border, BoxFilter, Image, LocalStd, Pixel, PixelType, Scale, Shape, f16};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Checks a box filter with a random anchor, as a mean and as weighted sums.
fn check_box<I: Sample, O: Sample>(image: &Image<I>, (width, height): (u32, u32), border: Border, rng: &mut StdRng) {
    // Integers that the type holds.
    let border = match (border, I::PIXEL) {
        (Border::Constant(value), PixelType::U8) => Border::Constant((value * -100.0).round()),
        (Border::Constant(value), PixelType::U16) => Border::Constant((value * -1e5).round()),
        (Border::Constant(value), PixelType::I16) => Border::Constant((value * 5e4).round()),
        _ => border,
    };
    let anchor = (rng.random_range(0..width), rng.random_range(0..height));
    let scales = [Scale::Mean, Scale::Tap(rng.random_range(-0.1..0.1))];
    let extents = extents(image.shape(), (width, height));
    for (scale, extent) in scales.into_iter().flat_map(|scale| extents.clone().map(move |extent| (scale, extent))) {
        let (shape, src, dst) = (image.shape(), I::PIXEL, O::PIXEL);
        let filter = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
        check::<I, O>(image, filter.into());
    }
}

#[test]
fn boxes_of_all_small_sizes() {
    let rng = &mut StdRng::seed_from_u64(8);
    for (width, height) in (1..=4).flat_map(|w| (1..=4).map(move |h| (w, h))) {
        let (floats, bytes) = (image::<f32>(rng, width, height, 1, 0), image::<u8>(rng, width, height, 2, 1));
        for size in (1..=4).flat_map(|w| (1..=4).map(move |h| (w, h))) {
            for border in BORDERS {
                check_box::<f32, f32>(&floats, size, border, rng);
                check_box::<u8, u8>(&bytes, size, border, rng);
                check_box::<i16, i16>(&image(rng, width, height, 3, 1), size, border, rng);
                check_box::<f16, f16>(&image(rng, width, height, 4, 1), size, border, rng);
            }
        }
    }
}

#[test]
fn boxes_of_every_length() {
    let rng = &mut StdRng::seed_from_u64(9);
    for length in (1..=70).chain([127, 128, 129, 255, 257, 400]) {
        let (one, border) = (rng.random_range(1..20), BORDERS[length as usize % 6]);
        let channels = length % 4 + 1;
        for (width, height, size) in [(90, 35, (length, one)), (31, 100, (one, length)), (70, 67, (length, length))] {
            let padding = if rng.random() { 3 } else { 0 };
            check_box::<f32, f32>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<u8, u8>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<u8, f32>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<u8, i16>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<u16, u16>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<u16, f32>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<i16, i16>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<f16, f16>(&image(rng, width, height, channels, padding), size, border, rng);
            check_box::<f64, f64>(&image(rng, width, height, channels, padding), size, border, rng);
        }
    }
}

/// Windows in which rows of the image repeat.
#[test]
fn boxes_many_times_higher_than_the_image() {
    let rng = &mut StdRng::seed_from_u64(91);
    for (width, height, channels) in [(1, 1, 1), (7, 3, 1), (5, 2, 3), (600, 4, 1)] {
        let (bytes, floats) =
            (image::<u8>(rng, width, height, channels, 1), image::<f32>(rng, width, height, channels, 0));
        for (size, border) in
            [(9, 2 * height + 1), (40, 61), (3, 300)].into_iter().flat_map(|size| BORDERS.map(|b| (size, b)))
        {
            check_box::<u8, u8>(&bytes, size, border, rng);
            check_box::<u8, f32>(&bytes, size, border, rng);
            check_box::<f32, f32>(&floats, size, border, rng);
            check_box::<u16, f32>(&image(rng, width, height, channels, 2), size, border, rng);
            check_box::<i16, u8>(&image(rng, width, height, channels, 2), size, border, rng);
            check_box::<f16, f32>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<f64, f64>(&image(rng, width, height, channels, 0), size, border, rng);
        }
    }
}

#[test]
fn boxes_of_many_tiles() {
    let rng = &mut StdRng::seed_from_u64(10);
    let sizes = [
        (1500, 1, (9, 1)),
        (1, 1500, (1, 19)),
        (1501, 40, (33, 20)),
        (601, 202, (3, 40)),
        (130, 400, (63, 63)),
        (601, 102, (2, 16)),
        (20, 700, (100, 17)),
    ];
    for (n, (width, height, size)) in sizes.into_iter().enumerate() {
        for border in [BORDERS[n], BORDERS[(n + 3) % 7]] {
            let channels = rng.random_range(1..=4);
            check_box::<f32, f32>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<u8, u8>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<u8, u16>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<u16, u16>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<i16, f32>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<f32, f16>(&image(rng, width, height, channels, 0), size, border, rng);
            check_box::<f64, f64>(&image(rng, width, height, channels, 0), size, border, rng);
        }
    }
    // Sums of windows and of columns that just fit 16, 31 or 32 bits, and sums that just do not.
    let bright = Image::new(5, 4, 1, vec![255u8; 20]).unwrap();
    for size in
        [(257, 1), (1, 257), (1, 258), (43, 6), (8, 32), (8, 33), (256, 256), (2580, 3264), (2581, 3264), (5000, 3370)]
    {
        check_box::<u8, f32>(&bright, size, Border::Reflect, rng);
    }
    let bright = Image::new(5, 4, 1, vec![65535u16; 20]).unwrap();
    let dark = Image::new(5, 4, 1, vec![i16::MIN; 20]).unwrap();
    for size in [(181, 181), (32768, 1), (32769, 1), (3, 32768), (3, 32769), (4, 65536)] {
        check_box::<u16, f32>(&bright, size, Border::Reflect, rng);
        check_box::<i16, f32>(&dark, size, Border::Wrap, rng);
    }
}

#[test]
fn boxes_keep_nan_and_infinity_in_their_windows() {
    let rng = &mut StdRng::seed_from_u64(11);
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, f32::MIN_POSITIVE / 8.0];
    for (size, border) in [(17, 40), (5, 21), (33, 2)].into_iter().flat_map(|size| BORDERS.map(|b| (size, b))) {
        let mut data = image::<f32>(rng, 90, 60, 2, 0).into_packed();
        for value in special.into_iter().cycle().take(30) {
            let at = rng.random_range(0..data.len());
            data[at] = value;
        }
        check_box::<f32, f32>(&Image::new(90, 60, 2, data).unwrap(), size, border, rng);
    }
    let zeros = Image::new(70, 30, 1, vec![-0.0f32; 2100]).unwrap();
    check_box::<f32, f32>(&zeros, (20, 20), Border::Replicate, rng);
    for outside in [f32::INFINITY, f32::NAN] {
        check_box::<f32, f32>(&zeros, (20, 20), Border::Constant(outside as f64), rng);
    }
}

/// Checks deviations of an image of random samples, of floats also NaN, infinity and the largest numbers.
fn check_deviation(rng: &mut StdRng, shape: Shape, src: PixelType, (width, height): (u32, u32), border: Border) {
    let image = pointwise::image(rng, src, shape);
    for extent in extents(shape, (width, height)) {
        let filter = LocalStd { shape, src, dst: src, width, height, border, extent };
        for dst in [PixelType::F32, PixelType::F16, PixelType::F64, PixelType::U16] {
            let problem = LocalStd { dst, ..filter.clone() }.into();
            let expected = apron_reference::any::filter(&problem, &image, None);
            match (apron_cpu::any::filter(&problem, &image, None), expected) {
                (Ok(found), Ok(expected)) => pointwise::same(&found, &expected, &format!("{problem:?}")),
                (found, expected) => {
                    let text = |error: Option<apron_core::Error>| error.map(|error| error.to_string());
                    assert_eq!(text(found.err()), text(expected.err()), "{problem:?}");
                }
            }
        }
    }
}

/// Borders, and constants inside and outside the ranges of the types.
fn borders() -> impl Iterator<Item = Border> {
    BORDERS.into_iter().chain([200.0, 0.25, -70000.0, 3e9, f64::NAN].map(Border::Constant))
}

#[test]
fn deviations_of_all_small_sizes() {
    let rng = &mut StdRng::seed_from_u64(6);
    for (n, (width, height)) in (1..=4).flat_map(|w| (1..=4).map(move |h| (w, h))).enumerate() {
        for (m, size) in (1..=3).flat_map(|w| (1..=5).map(move |h| (w, h))).enumerate() {
            for (k, border) in borders().enumerate() {
                let shape = Shape::new(width, height, (n + m) as u32 % 4 + 1).unwrap();
                check_deviation(rng, shape, PixelType::COMPUTED[(n + m + k) % 5], size, border);
            }
        }
    }
}

#[test]
fn deviations_of_many_windows() {
    let rng = &mut StdRng::seed_from_u64(7);
    let sizes = [
        ((23, 17, 3), (5, 4)),
        ((40, 9, 2), (9, 9)),
        ((7, 31, 4), (2, 16)),
        ((31, 40, 1), (16, 17)),
        ((40, 31, 3), (17, 16)),
        ((70, 50, 2), (33, 18)),
        ((50, 70, 4), (20, 49)),
        ((5, 3, 1), (23, 31)),
        ((12, 2, 3), (3, 90)),
        ((2, 12, 2), (90, 3)),
        ((2100, 20, 1), (18, 7)),
        ((700, 12, 3), (9, 12)),
        ((3, 700, 1), (2, 20)),
    ];
    for ((width, height, channels), window) in sizes {
        for border in borders() {
            for src in PixelType::COMPUTED {
                check_deviation(rng, Shape::new(width, height, channels).unwrap(), src, window, border);
            }
        }
    }
}

/// Sums and sums of squares, of windows and of columns, that just fit 31 bits, and some that just do not.
#[test]
fn deviations_of_large_sums() {
    let shape = Shape::new(6, 5, 1).unwrap();
    let sides = [(181, 181), (182, 182), (1, 33025), (1, 33026), (2, 32768), (3, 32769)];
    for (width, height) in sides {
        for (border, sample) in [(Border::Reflect, 65535), (Border::Constant(0.0), 65534)] {
            let of =
                |src| LocalStd { shape, src, dst: PixelType::F32, width, height, border, extent: Default::default() };
            let samples: Vec<u16> = (0..30).map(|i| sample - i % 3 * 7).collect();
            macro_rules! check {
                ($type:ty) => {
                    let samples: Vec<_> = samples.iter().map(|&sample| sample as $type).collect();
                    let (image, filter) = (Image::new(6, 5, 1, samples).unwrap(), of(<$type>::PIXEL));
                    check::<$type, f32>(&image, filter.into());
                };
            }
            check!(u8);
            check!(u16);
            check!(i16);
        }
    }
}

/// A sum of squares of over 2^63: of 65535 in 25001 of 50000 columns, and of 65534 in the others.
#[test]
fn squares_have_64_bits() {
    let image = Image::new(2, 1, 1, vec![65535u16, 65534]).unwrap();
    let (shape, src, dst, border) = (image.shape(), PixelType::U16, PixelType::F32, Border::Replicate);
    let (width, height, extent) = (50_000, 50_000, Default::default());
    let filter = LocalStd { shape, src, dst, width, height, border, extent };
    let found = apron_cpu::any::filter(&filter.into(), &u16::into_any(image), None).unwrap();
    let found = f32::from_any(found).expect("an image of f32");
    let sums = |power| 50_000 * (25_001 * 65535u64.pow(power) + 24_999 * 65534u64.pow(power));
    assert!(sums(2) > 1 << 63);
    // The squares are rounded to f64, once; what follows is not, before the root.
    let (sum, squares) = (i128::from(sums(1)), sums(2) as f64 as i128);
    let root = ((2_500_000_000 * squares - sum * sum) as f64).sqrt();
    assert_eq!(found.row(0)[0], (root / 2.5e9) as f32);
}
