//! Bitwise agreement of pointwise operations and padding with the reference, for every pair of types.

use apron_core::{
    AnyImage, AxisBorder, Border, Borders, Constants, Image, Pad, Pixel, PixelType, PointOp, Pointwise, Region, Shape,
    each_type, f16,
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

pub(crate) fn same<O: Pixel>(found: &Image<'_, O>, expected: &Image<'_, O>, what: &str) {
    let bits = |sample: &O| sample.to_f64();
    let equal = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    let (found, expected) = (found.packed(), expected.packed());
    let wrong = found.iter().zip(expected.iter()).position(|(a, b)| !equal(bits(a), bits(b)));
    assert_eq!((found.len(), wrong), (expected.len(), None), "{what}");
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
                let what = format!("{problem:?}");
                let expected = apron_reference::pointwise::<f32>(&x, Some(&y), &problem).unwrap();
                same(&apron_cpu::pointwise(&x, Some(&y), &problem).unwrap(), &expected, &what);
                if op != PointOp::Direction {
                    let doubles = Pointwise { dst: PixelType::F64, ..problem.clone() };
                    let expected = apron_reference::pointwise::<f64>(&x, Some(&y), &doubles).unwrap();
                    same(&apron_cpu::pointwise(&x, Some(&y), &doubles).unwrap(), &expected, &what);
                    let problem = Pointwise { dst: PixelType::I16, ..problem };
                    let expected = apron_reference::pointwise::<i16>(&x, Some(&y), &problem).unwrap();
                    same(&apron_cpu::pointwise(&x, Some(&y), &problem).unwrap(), &expected, &what);
                }
            }
            let op = PointOp::weighted(-1.5, 0.0, 20.0);
            let problem = Pointwise { shape, src, second: None, dst: PixelType::U8, op };
            let expected = apron_reference::pointwise::<u8>(&x, None, &problem).unwrap();
            same(&apron_cpu::pointwise(&x, None, &problem).unwrap(), &expected, &format!("{problem:?}"));
            assert!(apron_cpu::pointwise::<u8>(&x, Some(&y), &problem).is_err());
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
        each_type!(&x, image => {
            fn of<T: Pixel>(_: &Image<'_, T>, (x, y): (&AnyImage<'_>, &AnyImage<'_>), problem: &Pointwise) {
                let expected = apron_reference::pointwise::<T>(x, Some(y), problem).unwrap();
                same(&apron_cpu::pointwise::<T>(x, Some(y), problem).unwrap(), &expected, &format!("{problem:?}"));
            }
            of(image, (&x, &y), &problem);
        });
        assert!(apron_cpu::pointwise::<u8>(&x, Some(&y), &problem).is_err());
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
                each_type!(&image, image => {
                    let expected = apron_reference::pad(image, &problem).unwrap();
                    same(&apron_cpu::pad(image, &problem).unwrap(), &expected, &format!("{problem:?}"));
                });
            }
        }
    }
}
