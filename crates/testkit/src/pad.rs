//! Cases of padding, and of filters that leave alpha alone.

use crate::case::{Case, Data, random_image};
use crate::exact::Exact;
use crate::suite::Scale;
use apron::{AnyImage, AxisBorder, Border, Borders, Constants, PixelType, PointOp, Region, Shape};
use apron_core::{Pad, Sample, each_type};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

impl Case {
    /// Pads a random image to a region around, across or beside it.
    pub fn pad(
        seed: u64,
        shape: (u32, u32, u32),
        pixel: PixelType,
        borders: impl Into<Borders>,
        (x, y, width, height): (i32, i32, u32, u32),
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let (borders, region) = (borders.into(), Region { x, y, width, height });
        let image = random_image(rng, pixel, shape, data);
        Case { problem: Pad { shape, pixel, borders, region }.into(), image, second: None, chosen: None }
    }
}

/// Returns constants that are samples of a type, in most types a different one per channel.
fn constants(channels: u32, pixel: PixelType) -> Constants {
    let samples = [7.0, 0.0, 255.0, 77.0].map(|value| pixel.sample(value));
    Constants::new(&samples[..channels as usize]).expect("a constant for each channel")
}

/// Returns all borders: each mapping, and constants of both kinds.
fn outsides(channels: u32, pixel: PixelType) -> [AxisBorder; 6] {
    let constant = Border::Constant(pixel.sample(9.0));
    let all = [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, constant];
    let [a, b, c, d, e] = all.map(AxisBorder::from);
    [a, b, c, d, e, constants(channels, pixel).into()]
}

/// Makes a case with random borders and a random region.
pub(crate) fn random_pad(rng: &mut StdRng, seed: u64, shape: (u32, u32, u32), pixel: PixelType, data: Data) -> Case {
    let outsides = outsides(shape.2, pixel);
    let mut axis = |side: u32| {
        let outside = outsides[rng.random_range(0..outsides.len())];
        (outside, rng.random_range(-100..side as i32 + 20), rng.random_range(1..=side + 60))
    };
    let ((x, left, width), (y, top, height)) = (axis(shape.0), axis(shape.1));
    Case::pad(seed, shape, pixel, Borders { x, y }, (left, top, width, height), data)
}

/// Adds every type, border and number of channels; regions inside, around, across and beside the image; partial blocks
/// and partial threads.
pub(crate) fn pads(scale: Scale, next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let regions =
        [(-5, -7, 50, 51), (3, 2, 20, 31), (-40, 30, 60, 9), (36, -3, 5, 64), (90, 70, 33, 65), (-70, -1, 32, 33)];
    for (n, pixel) in PixelType::ALL.into_iter().enumerate() {
        for (m, region) in regions.into_iter().enumerate() {
            let channels = (n + m) as u32 % 4 + 1;
            for (k, x) in outsides(channels, pixel).into_iter().enumerate() {
                let borders = Borders { x, y: outsides(channels, pixel)[(k + n + m) % 6] };
                let data = if k == 0 { Data::Special } else { Data::Uniform };
                cases.push(Case::pad(next(), (37, 35, channels), pixel, borders, region, data));
            }
        }
        let crop = Borders::by_axis(Border::Crop, Border::Wrap);
        cases.push(Case::pad(next(), (37, 35, 3), pixel, crop, (5, -90, 32, 200), Data::Uniform));
        cases.push(Case::pad(next(), (1, 1, 4), pixel, Border::Reflect101, (-33, -2, 67, 5), Data::Uniform));
        for (channels, samples) in [(2, 1), (4, 511), (2, 512), (4, 513), (4, 1025)] {
            let types = (pixel, Some(pixel), pixel);
            cases.push(Case::pointwise(next(), (samples, 1, channels), types, PointOp::Alpha, Data::Special));
        }
    }
    if scale == Scale::Full {
        for pixel in [PixelType::U8, PixelType::U16, PixelType::F32] {
            let all = (-9, -7, 4127, 1051);
            cases.push(Case::pad(next(), (4099, 1031, 3), pixel, constants(3, pixel), all, Data::Uniform));
            // More rows of blocks than the grid's y axis allows.
            cases.push(Case::pad(
                next(),
                (1, 2_200_001, 1),
                pixel,
                Border::Wrap,
                (-1, -1, 3, 2_200_009),
                Data::Uniform,
            ));
            let types = (pixel, Some(pixel), pixel);
            cases.push(Case::pointwise(next(), (4099, 1031, 4), types, PointOp::Alpha, Data::Uniform));
        }
    }
}

/// Returns the sample that is copied.
pub(crate) fn exact(problem: &Pad, image: &AnyImage<'_>, x: u32, y: u32, channel: u32) -> Exact {
    let (Borders { x: outside_x, y: outside_y }, Region { x: left, y: top, .. }) = (problem.borders, problem.region);
    let ((mode_x, constants_x), (mode_y, constants_y)) = (outside_x.mode(), outside_y.mode());
    let column = mode_x.map(x as i32 + left, image.shape().width as i32);
    let in_type = |value: f64| if problem.pixel == PixelType::F32 { value as f32 as f64 } else { value };
    let value = match (mode_y.map(y as i32 + top, image.shape().height as i32), column) {
        (None, _) => in_type(constants_y[channel as usize]),
        (_, None) => in_type(constants_x[channel as usize]),
        (Some(y), Some(x)) => each_type!(image, image => image.sample(x as u32, y as u32, channel).to_f64()),
    };
    // Infinities are copied as well, but have no distance.
    Exact { value: if f64::is_finite(value) { value } else { f64::NAN }, bound: f64::MIN_POSITIVE }
}
