//! Bitwise agreement of every result with the reference.

use apron_core::{
    Border, Correlate, Extent, FilterProblem, Image, ImageMut, Mask, Pixel, PixelType, Region, Separable, Shape, Taps,
    f16,
};
use bytemuck::bytes_of;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use std::fmt::Debug;

/// A sample type with random values and a bit pattern for comparison, in which all NaN are equal.
pub(crate) trait Sample: Pixel {
    fn random(rng: &mut StdRng) -> Self;
    fn bits(self) -> u64;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Sample for $type {
            fn random(rng: &mut StdRng) -> $type {
                rng.random()
            }
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}
integers!(u8, u16, i16);

impl Sample for f32 {
    fn random(rng: &mut StdRng) -> f32 {
        rng.random_range(-2.0..2.0)
    }
    fn bits(self) -> u64 {
        // The payload of a NaN is not specified.
        if self.is_nan() { u64::MAX } else { self.to_bits() as u64 }
    }
}

impl Sample for f16 {
    fn random(rng: &mut StdRng) -> f16 {
        f16::from_f32(rng.random_range(-2.0..2.0))
    }
    fn bits(self) -> u64 {
        if self.is_nan() { u64::MAX } else { self.to_bits() as u64 }
    }
}

impl Sample for f64 {
    fn random(rng: &mut StdRng) -> f64 {
        rng.random_range(-2.0..2.0)
    }
    fn bits(self) -> u64 {
        if self.is_nan() { u64::MAX } else { self.to_bits() }
    }
}

pub(crate) fn image<T: Sample>(
    rng: &mut StdRng,
    width: u32,
    height: u32,
    channels: u32,
    padding: usize,
) -> Image<'static, T> {
    let stride = (width * channels) as usize + padding;
    let data: Vec<T> = (0..stride * height as usize).map(|_| T::random(rng)).collect();
    Image::with_row_stride(width, height, channels, stride, data).unwrap()
}

fn taps(rng: &mut StdRng, count: u32) -> Vec<f32> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Returns taps that f32 does not hold.
fn doubles(rng: &mut StdRng, count: u32) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

#[track_caller]
pub(crate) fn same<T: Sample>(
    found: apron_core::Result<Image<T>>,
    expected: apron_core::Result<Image<T>>,
    what: &dyn Debug,
) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!(found.shape(), expected.shape(), "{what:?}");
            let pairs = found.packed().iter().zip(expected.packed().iter()).position(|(a, b)| a.bits() != b.bits());
            assert_eq!(pairs, None, "first differing sample: {what:?}");
        }
        (Err(found), Err(expected)) => assert_eq!(found.to_string(), expected.to_string(), "{what:?}"),
        (found, expected) => panic!("{what:?}: {:?}, but expected {:?}", found.err(), expected.err()),
    }
}

/// Solves a filter's problem by both.
pub(crate) fn check<I: Sample, O: Sample>(image: &Image<I>, problem: FilterProblem) {
    let input = I::into_any(image.view());
    let typed = |image| O::from_any(image).expect("the type of the output");
    let expected = apron_reference::any::filter(&problem, &input, None).map(typed);
    same(apron_cpu::any::filter(&problem, &input, None).map(typed), expected, &problem);
}

fn check_correlate<I: Sample, O: Sample>(image: &Image<I>, mask: &Mask, border: Border, clamp: bool) {
    for extent in extents(image.shape(), (mask.width(), mask.height())) {
        let (shape, src, dst, mask) = (image.shape(), I::PIXEL, O::PIXEL, mask.clone());
        let problem = Correlate { shape, src, dst, mask, border, clamp, extent };
        check::<I, O>(image, problem.into());
    }
}

fn check_separable<I: Sample, O: Sample>(image: &Image<I>, (x, y): (&Taps, &Taps), border: Border) {
    for extent in extents(image.shape(), (x.len(), y.len())) {
        let problem = separable(image, (x, y), O::PIXEL, border, extent);
        check::<I, O>(image, problem.into());
    }
}

fn separable<I: Sample>(
    image: &Image<I>,
    (x, y): (&Taps, &Taps),
    dst: PixelType,
    border: Border,
    extent: Extent,
) -> Separable {
    let (shape, src, taps_x, taps_y) = (image.shape(), I::PIXEL, x.clone(), y.clone());
    Separable { shape, src, dst, taps_x, taps_y, border, extent }
}

/// Returns the image; for little work, also the full extent, and a region partly outside the image.
pub(crate) fn extents(shape: Shape, (width, height): (u32, u32)) -> impl Iterator<Item = Extent> + Clone {
    let work = (shape.width + width) as u64 * (shape.height + height) as u64 * (width * height) as u64;
    let part = Extent::Region(Region { x: -3, y: 2, width: 21, height: 9 });
    [Extent::Same, Extent::Full, part].into_iter().take(if work < 100_000 { 3 } else { 1 })
}

pub(crate) const BORDERS: [Border; 7] = [
    Border::Constant(0.0),
    Border::Constant(-0.37),
    Border::Replicate,
    Border::Reflect,
    Border::Reflect101,
    Border::Wrap,
    Border::Crop,
];

#[test]
fn all_small_sizes() {
    let rng = &mut StdRng::seed_from_u64(1);
    for (width, height) in (1..=5).flat_map(|w| (1..=5).map(move |h| (w, h))) {
        let image = image::<f32>(rng, width, height, 1, 0);
        for (mask_width, mask_height) in (1..=4).flat_map(|w| (1..=4).map(move |h| (w, h))) {
            let mask = Mask::new(mask_width, mask_height, taps(rng, mask_width * mask_height)).unwrap();
            let (x, y) = (Taps::new(taps(rng, mask_width)).unwrap(), Taps::new(taps(rng, mask_height)).unwrap());
            for border in BORDERS {
                check_correlate::<f32, f32>(&image, &mask, border, false);
                check_separable::<f32, f32>(&image, (&x, &y), border);
            }
        }
    }
}

fn larger<I: Sample, O: Sample>(seed: u64) {
    let rng = &mut StdRng::seed_from_u64(seed);
    // Tiles are at least 512 samples wide and 8 rows high, and the ring of lines is smaller than some images are high.
    for (width, height, mask_width, mask_height) in [
        (67, 33, 3, 3),
        (129, 70, 7, 7),
        (1100, 66, 5, 3),
        (1500, 1, 9, 1),
        (1, 1500, 1, 9),
        (1, 200, 5, 4),
        (5, 3, 23, 31),
        (40, 9, 1, 50),
        (17, 40, 50, 1),
        (30, 300, 3, 40),
    ] {
        for border in BORDERS {
            let channels = rng.random_range(1..=4);
            let padding = if rng.random() { rng.random_range(1..9) } else { 0 };
            let image = image::<I>(rng, width, height, channels, padding);
            let anchor = (rng.random_range(0..mask_width), rng.random_range(0..mask_height));
            let mask = Mask::from_f64(mask_width, mask_height, doubles(rng, mask_width * mask_height)).unwrap();
            let mask = if rng.random() { mask.with_anchor(anchor.0, anchor.1).unwrap() } else { mask };
            check_correlate::<I, O>(&image, &mask, border, rng.random());
            let x = Taps::from_f64(doubles(rng, mask_width)).unwrap().with_anchor(anchor.0).unwrap();
            let y = Taps::from_f64(doubles(rng, mask_height)).unwrap().with_anchor(anchor.1).unwrap();
            check_separable::<I, O>(&image, (&x, &y), border);
        }
    }
}

macro_rules! type_pairs {
    ($($name:ident: $src:ty => $($dst:ty),*;)*) => {$(
        #[test]
        fn $name() {
            $(larger::<$src, $dst>(size_of::<$dst>() as u64 + 10);)*
        }
    )*};
}
type_pairs! {
    from_u8: u8 => u8, u16, i16, f32;
    from_u16: u16 => u8, u16, i16, f32;
    from_i16: i16 => u8, u16, i16, f32;
    from_f32: f32 => u8, u16, i16, f32;
    from_f64: f64 => f64;
}

/// Masks and separable taps for which f32 sums round differently from f64 sums: occasionally, at every rounding
/// boundary, or everywhere; and some for which they never do.
fn hard_taps(rng: &mut StdRng) -> Vec<(Mask, Taps, Taps)> {
    let mut all = Vec::new();
    let mut add = |x: Vec<f32>, y: Vec<f32>| {
        let products = y.iter().flat_map(|y| x.iter().map(move |x| x * y)).collect::<Vec<_>>();
        let mask = Mask::new(x.len() as u32, y.len() as u32, products).unwrap();
        all.push((mask, Taps::new(x).unwrap(), Taps::new(y).unwrap()));
    };
    let limited = |taps: Vec<f32>, most: f32| {
        let total: f32 = taps.iter().map(|tap| tap.abs()).sum();
        taps.iter().map(|tap| tap / total * most).collect::<Vec<_>>()
    };
    // Means of even numbers of samples, which are sometimes on a boundary; and half of a mean.
    add(vec![1.0 / 3.0; 3], vec![0.5; 2]);
    add(vec![1.0 / 6.0; 6], vec![1.0 / 6.0; 6]);
    add(vec![0.2; 5], vec![0.1; 5]);
    add(vec![1.0 / 3.0; 3], vec![1.0 / 6.0; 3]);
    // Exact in f64 and not in f32; on a boundary where the image is even.
    let small = 2f32.powi(-20);
    add(vec![0.25 + small, 0.25 - small], vec![0.5 + small, 0.5 - small]);
    // Exact in f32, too: small fractions, integers, large numbers, zeros.
    add(vec![0.25, 0.5, 0.25], vec![0.25, 0.5, 0.25]);
    add(vec![-1.0, 0.0, 1.0], vec![1.0, 2.0, 1.0]);
    add(vec![1024.0, -1023.5], vec![1.0]);
    add(vec![0.0; 2], vec![1e30; 2]);
    add(vec![1.0, 0.0], vec![1.0]);
    // Intermediate sums beyond f32's range.
    add(vec![1e37, -1e37, 1e37], vec![1e-38; 3]);
    // Large taps that nearly cancel, sums beyond a byte's range, random numbers.
    let large = rng.random_range(1e4f32..1e6);
    add(vec![large, rng.random_range(0.0f32..0.7) - large], vec![0.3, 0.4, 0.3]);
    add(vec![large, rng.random_range(0.0f32..0.7) - large], vec![1.0, -1.0, 1.0]);
    for most in [0.5, 1.0, 1.7] {
        add(limited(taps(rng, 9), most), limited(taps(rng, 7), 1.0));
        add(
            limited((0..19).map(|_| rng.random()).collect(), most),
            limited((0..23).map(|_| rng.random()).collect(), 1.0),
        );
    }
    all
}

#[test]
fn bytes_round_as_their_sums_in_f64_do() {
    let rng = &mut StdRng::seed_from_u64(6);
    let mut borders = BORDERS.to_vec();
    // Border constants that are bytes, and others.
    borders.extend([77.0, 255.0, 1.499_999_9, 300.0, f64::INFINITY, f64::NAN].map(Border::Constant));
    for channels in 1..=4 {
        let shape = |rng: &mut StdRng| (rng.random_range(20..300), rng.random_range(20..50));
        let (width, height) = shape(rng);
        let mut images = vec![image::<u8>(rng, width, height, channels, 3)];
        for flat in [77, 255] {
            let (width, height) = shape(rng);
            let samples = (width * height * channels) as usize;
            images.push(Image::new(width, height, channels, vec![flat; samples]).unwrap());
            // Nearly uniform: on a boundary in a few places only.
            let patch = |i: usize| if i % 997 < 8 { flat } else { flat & !1 };
            images.push(Image::new(width, height, channels, (0..samples).map(patch).collect::<Vec<_>>()).unwrap());
        }
        for (n, (mask, x, y)) in hard_taps(rng).iter().enumerate() {
            for (m, image) in images.iter().enumerate() {
                let border = borders[(n + m + channels as usize) % borders.len()];
                check_correlate::<u8, u8>(image, mask, border, false);
                check_separable::<u8, u8>(image, (x, y), border);
            }
            for &border in &borders {
                let small = Image::new(9, 7, 1, (0..63).map(|i| (i * i) as u8).collect::<Vec<_>>()).unwrap();
                check_correlate::<u8, u8>(&small, mask, border, n % 2 == 0);
                check_separable::<u8, u8>(&small, (x, y), border);
            }
        }
    }
}

#[test]
fn what_one_order_of_summation_loses_is_lost() {
    // Along the rows first, 255 * 2^-55 is lost next to 127.5, and 38.5 rounds to 38; along the columns first it is
    // kept next to 38.5, which then rounds to 39.
    let mut bytes = vec![0u8; 60 * 60];
    for (at, byte) in [(1234, 255), (1235, 255), (1234 + 60, 178)] {
        bytes[at] = byte;
    }
    let image = Image::new(60, 60, 1, bytes).unwrap();
    let taps = |taps: [f32; 2]| Taps::new(taps).unwrap();
    let taps = (&taps([0.5, 2f32.powi(-55)]), &taps([1.0, -1.0]));
    check_separable::<u8, u8>(&image, taps, Border::Replicate);
    let problem = separable(&image, taps, PixelType::U8, Border::Replicate, Extent::Same);
    let out: Image<u8> = apron_cpu::separable(&image, &problem).unwrap();
    assert!(out.packed().contains(&38) && !out.packed().contains(&39));
}

/// A destination with gaps between rows, which must not be written.
struct Room<T: Pixel> {
    shape: Shape,
    samples: Vec<T>,
    gap: T,
}

impl<T: Pixel + std::fmt::Debug> Room<T> {
    const GAP: usize = 5;

    fn new(like: &Image<'_, T>, gap: T) -> Room<T> {
        let shape = like.shape();
        Room { shape, samples: vec![gap; (shape.row_samples() + Self::GAP) * shape.height as usize], gap }
    }

    fn image(&mut self) -> ImageMut<'_, T> {
        let Shape { width, height, channels } = self.shape;
        let stride = self.shape.row_samples() + Self::GAP;
        ImageMut::with_row_stride(width, height, channels, stride, &mut self.samples).unwrap()
    }

    fn assert_holds(&self, expected: &Image<'_, T>) {
        let row = self.shape.row_samples();
        for (found, expected) in self.samples.chunks(row + Self::GAP).zip(expected.rows()) {
            assert_eq!(&found[..row], expected);
            assert!(found[row..].iter().all(|sample| bytes_of(sample) == bytes_of(&self.gap)));
        }
    }
}

#[test]
fn an_output_that_is_there_is_filled() {
    let rng = &mut StdRng::seed_from_u64(7);
    for (width, border) in [(64, Border::Wrap), (65, Border::Crop)] {
        let image = image::<f32>(rng, width, 40, 3, 2);
        let mask = Mask::new(3, 5, taps(rng, 15)).unwrap();
        let axis = Taps::new(taps(rng, 5)).unwrap();
        let (shape, src, dst, extent) = (image.shape(), PixelType::F32, PixelType::F32, Extent::Same);
        let dense = Correlate { shape, src, dst, mask, border, clamp: false, extent };
        let expected: Image<f32> = apron_reference::correlate(&image, &dense).unwrap();
        let mut out = Room::new(&expected, f32::NAN);
        apron_cpu::correlate_into(&image, &dense, out.image()).unwrap();
        out.assert_holds(&expected);
        assert!(apron_cpu::correlate_into(&image, &dense, out.image().region(0, 0, 9, 9).unwrap()).is_err());

        let passes = separable(&image, (&axis, &axis), PixelType::I16, border, Extent::Same);
        let expected: Image<i16> = apron_reference::separable(&image, &passes).unwrap();
        let mut out = Room::new(&expected, i16::MAX);
        apron_cpu::separable_into(&image, &passes, out.image()).unwrap();
        out.assert_holds(&expected);
        assert!(apron_cpu::separable_into(&image, &passes, out.image().region(0, 0, 9, 9).unwrap()).is_err());

        // An image of another shape.
        let other = image.region(0, 0, 9, 9).unwrap();
        assert!(apron_cpu::correlate::<f32, f32>(&other, &dense).is_err());
        assert!(apron_cpu::separable::<f32, f32>(&image, &passes).is_err());
    }
}

#[test]
fn nan_and_infinity_spread_no_further_than_their_windows() {
    let rng = &mut StdRng::seed_from_u64(3);
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, f32::MIN_POSITIVE / 8.0];
    for border in BORDERS {
        let mut data = image::<f32>(rng, 90, 40, 2, 0).into_packed();
        for value in special.into_iter().cycle().take(40) {
            let at = rng.random_range(0..data.len());
            data[at] = value;
        }
        let image = Image::new(90, 40, 2, data).unwrap();
        let mut weights = taps(rng, 15);
        weights[4] = 0.0;
        let mask = Mask::new(5, 3, &weights[..]).unwrap();
        let (x, y) = (Taps::new(&weights[2..7]).unwrap(), Taps::new(&weights[..3]).unwrap());
        for clamp in [false, true] {
            check_correlate::<f32, f32>(&image, &mask, border, clamp);
            check_correlate::<f32, u8>(&image, &mask, border, clamp);
        }
        check_separable::<f32, f32>(&image, (&x, &y), border);
        check_separable::<f32, i16>(&image, (&x, &y), border);
    }
    // Only negative zeros: sums start from +0.
    let image = Image::new(70, 3, 1, vec![-0.0f32; 210]).unwrap();
    check_correlate::<f32, f32>(&image, &"1 -1 1".parse().unwrap(), Border::Replicate, false);
    check_correlate::<f32, f32>(&image, &"-1".parse().unwrap(), Border::Replicate, true);
}
