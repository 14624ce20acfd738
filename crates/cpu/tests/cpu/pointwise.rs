//! Bitwise agreement of pointwise operations and padding with the reference, for every pair of types.

use apron_core::{
    AnyImage, AxisBorder, Border, Borders, Constants, FilterProblem, Image, Pad, Pixel, PixelType, PointOp, Pointwise,
    Region, Sample, Shape, each_type, f16,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Returns an image with gaps between its rows.
pub(crate) fn image(rng: &mut StdRng, pixel: PixelType, shape: Shape) -> AnyImage<'static> {
    fn of<T: Pixel>(shape: Shape, mut sample: impl FnMut() -> T) -> AnyImage<'static> {
        let stride = shape.row_samples() + 3;
        let samples: Vec<T> = (0..stride * shape.height as usize).map(|_| sample()).collect();
        T::into_any(Image::with_row_stride(shape.width, shape.height, shape.channels, stride, samples).unwrap())
    }
    const SPECIAL: [f32; 6] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40, f32::MAX];
    match pixel {
        PixelType::U8 => of(shape, || rng.random::<u8>()),
        PixelType::U16 => of(shape, || rng.random::<u16>()),
        PixelType::I16 => of(shape, || rng.random::<i16>()),
        PixelType::F16 => of(shape, || f16::from_bits(rng.random())),
        PixelType::F32 => of(shape, || match rng.random_range(0..12) {
            n @ 0..6 => SPECIAL[n],
            _ => rng.random_range(-300.0..300.0),
        }),
        PixelType::F64 => of(shape, || match rng.random_range(0..12) {
            n @ 0..3 => SPECIAL[n] as f64,
            3 => 1e-300,
            4 => -1e300,
            _ => rng.random_range(-300.0..300.0),
        }),
        other => panic!("{other} is not computed"),
    }
}

/// Checks that two images have the same samples, bit for bit, in which all NaN are equal.
pub(crate) fn same(found: &AnyImage<'_>, expected: &AnyImage<'_>, what: &str) {
    assert_eq!((found.pixel_type(), found.shape()), (expected.pixel_type(), expected.shape()), "{what}");
    let samples = |image: &AnyImage<'_>| -> Vec<f64> {
        each_type!(image, image => image.packed().iter().map(|sample| sample.to_f64()).collect())
    };
    let equal = |(a, b): (f64, f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let wrong = samples(found).into_iter().zip(samples(expected)).position(|pair| !equal(pair));
    assert_eq!(wrong, None, "first differing sample: {what}");
}

/// Solves a filter's problem by both.
fn check(problem: impl Into<FilterProblem>, x: &AnyImage<'_>, y: Option<&AnyImage<'_>>) {
    let problem = problem.into();
    let expected = apron_reference::any::filter(&problem, x, y).unwrap();
    same(&apron_cpu::any::filter(&problem, x, y).unwrap(), &expected, &format!("{problem:?}"));
}

#[test]
fn pointwise_operations() {
    let rng = &mut StdRng::seed_from_u64(5);
    let ops = [
        PointOp::weighted(0.5, 0.5, 0.0),
        PointOp::Weighted { a: 2.25, b: -1.25, c: 3.5, threshold: 40.0 },
        PointOp::Magnitude,
        PointOp::Direction,
    ];
    for (n, (width, height, channels)) in [(1, 1, 1), (37, 5, 3), (3000, 2, 1), (700, 3, 4)].into_iter().enumerate() {
        let shape = Shape::new(width, height, channels).unwrap();
        for src in PixelType::COMPUTED {
            let second = PixelType::COMPUTED[(n + src as usize) % PixelType::COMPUTED.len()];
            let (x, y) = (image(rng, src, shape), image(rng, second, shape));
            for op in ops {
                let problem = Pointwise { shape, src, second: Some(second), dst: PixelType::F32, op };
                check(problem.clone(), &x, Some(&y));
                if op != PointOp::Direction {
                    check(Pointwise { dst: PixelType::F64, ..problem.clone() }, &x, Some(&y));
                    check(Pointwise { dst: PixelType::I16, ..problem }, &x, Some(&y));
                }
            }
            let op = PointOp::weighted(-1.5, 0.0, 20.0);
            let problem = Pointwise { shape, src, second: None, dst: PixelType::U8, op };
            check(problem.clone(), &x, None);
            assert!(apron_cpu::any::filter(&problem.into(), &x, Some(&y)).is_err());
        }
    }
}

#[test]
fn alpha() {
    let rng = &mut StdRng::seed_from_u64(7);
    for (n, (width, height, channels)) in [(1, 1, 2), (37, 5, 4), (3000, 90, 2), (1, 700, 4)].into_iter().enumerate() {
        let (shape, src) = (Shape::new(width, height, channels).unwrap(), PixelType::COMPUTED[n + 1]);
        let (x, y) = (image(rng, src, shape), image(rng, src, shape));
        let problem = Pointwise { shape, src, second: Some(src), dst: src, op: PointOp::Alpha };
        check(problem.clone(), &x, Some(&y));
        let other = Pointwise { dst: PixelType::U8, ..problem };
        assert!(apron_cpu::any::filter(&other.into(), &x, Some(&y)).is_err());
    }
}

#[test]
fn padding() {
    let rng = &mut StdRng::seed_from_u64(8);
    let sizes = [(1, 1, 1), (37, 5, 3), (1, 300, 4), (700, 3, 2)];
    for (n, (width, height, channels)) in sizes.into_iter().enumerate() {
        let constants = Constants::new(&[1.0, 2.0, 3.0, 4.0][..channels as usize]).unwrap();
        let borders = [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Constant(7.0)];
        let outsides: Vec<AxisBorder> = borders.map(AxisBorder::from).into_iter().chain([constants.into()]).collect();
        for (m, &x) in outsides.iter().enumerate() {
            let (borders, pixel) = (Borders { x, y: outsides[(n + 2 * m + 1) % 6] }, PixelType::COMPUTED[(n + m) % 6]);
            let shape = Shape::new(width, height, channels).unwrap();
            let image = image(rng, pixel, shape);
            for (x, y, width, height) in
                [(-70, -9, 900, 400), (0, 0, width, height), (-90, 2, 60, 9), (800, -40, 3, 30)]
            {
                let problem = Pad { shape, pixel, borders, region: Region { x, y, width, height } };
                check(problem, &image, None);
            }
        }
    }
}
