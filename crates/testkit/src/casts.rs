//! Cases of conversions to the types that filters are not computed in, by every cast, and from them.

use crate::case::{Case, Data, random_image};
use crate::exact::Exact;
use apron::PixelType::{Bool, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use apron::{AnyImage, Cast, Image, Overflow, PixelType, PointOp, Rounding};
use apron_core::Pointwise;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Every cast.
pub(crate) const CASTS: [Cast; 4] = {
    use Overflow::{Saturate, Wrap};
    use Rounding::{HalfEven, TowardZero};
    [
        Cast { rounding: HalfEven, overflow: Saturate },
        Cast { rounding: TowardZero, overflow: Saturate },
        Cast { rounding: HalfEven, overflow: Wrap },
        Cast { rounding: TowardZero, overflow: Wrap },
    ]
};

/// Adds the cases.
pub(crate) fn casts(next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    let mut add = |image: AnyImage<'static>, dst, op| {
        let (shape, src) = (image.shape(), image.pixel_type());
        let problem = Pointwise { shape, src, second: None, dst, op }.into();
        cases.push(Case { problem, image, second: None, chosen: None });
    };
    for dst in [U8, I8, U16, I16, U32, I32, U64, I64, Bool] {
        for (n, cast) in CASTS.into_iter().enumerate() {
            let shape = [(37, 35, 3), (1025, 1, 1), (7, 131, 4), (1, 1, 2)][n];
            add(numbers(next(), shape, dst), dst, PointOp::Cast(cast));
        }
    }
    let mut of = |src, shape: (u32, u32, u32), dst, op| {
        let shape = apron::Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        add(random_image(&mut StdRng::seed_from_u64(next()), src, shape, Data::Uniform), dst, op);
    };
    for (src, dst) in [(I8, I16), (I16, I8), (Bool, U8), (U32, F64), (I32, F64), (U64, F64), (I64, F64)] {
        of(src, (61, 47, 2), dst, PointOp::Cast(Cast::default()));
        of(src, (2051, 1, 1), dst, PointOp::Cast(Cast::default()));
    }
    for (src, last) in [(U32, 3e9), (I32, -1.5), (U64, 1e19), (I64, 4e18), (I64, f64::INFINITY)] {
        of(src, (61, 47, 2), F64, PointOp::Below { last });
    }
}

/// Makes an image of numbers of all magnitudes: around 0, with halves, around the ends of a type's
/// range, and not finite.
fn numbers(seed: u64, (width, height, channels): (u32, u32, u32), pixel: PixelType) -> AnyImage<'static> {
    let rng = &mut StdRng::seed_from_u64(seed);
    let (least, greatest) = pixel.limits().expect("an integer type");
    let mut number = || match rng.random_range(0..8) {
        0 => rng.random_range(-2.0..2.0),
        1 => rng.random_range(-600..600) as f64 / 2.0,
        2 => least as f64 + rng.random_range(-8..8) as f64 / 4.0,
        3 => greatest as f64 + rng.random_range(-8..8) as f64 / 4.0,
        4 => rng.random_range(-1.5..1.5) * greatest as f64,
        5 => rng.random_range(-1.0..1.0) * 2f64.powi(rng.random_range(0..120)),
        6 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX][rng.random_range(0..6)],
        _ => rng.random_range(least as f64..greatest as f64 + 1.0),
    };
    let samples = (0..width * height * channels).map(|_| number()).collect::<Vec<f64>>();
    AnyImage::F64(Image::new(width, height, channels, samples).expect("a valid shape"))
}

/// Returns the integer of a number, computed in whole numbers of 128 bits.
pub(crate) fn exact(dst: PixelType, x: f64, cast: Cast) -> Exact {
    let Some((least, greatest)) = dst.limits() else { return Exact { value: x, bound: f64::MIN_POSITIVE } };
    let whole = if cast.rounding == Rounding::HalfEven { x.round_ties_even() } else { x.trunc() };
    let value = match (dst, cast.overflow) {
        (Bool, _) => (whole != 0.0 && !whole.is_nan()).into(),
        // Beyond 2^117 all numbers are multiples of 2^64, and a cast to i128 saturates beyond 2^127.
        (_, Overflow::Wrap) if whole.abs() < 2f64.powi(117) => {
            let values = greatest - least + 1;
            least + (whole as i128 - least).rem_euclid(values)
        }
        (_, Overflow::Wrap) => 0,
        (_, Overflow::Saturate) => (whole as i128).clamp(least, greatest),
    };
    Exact { value: value as f64, bound: f64::MIN_POSITIVE }
}

/// Returns the greatest f64 that is not above an integer, of which only the nearest f64 is known; NaN, which is not
/// compared, if that does not determine it.
pub(crate) fn exact_below(x: f64, last: f64) -> Exact {
    let value = if x.abs() >= 2f64.powi(53) {
        f64::NAN
    } else if x > last {
        f64::INFINITY
    } else {
        x
    };
    Exact { value: if value.is_finite() { value } else { f64::NAN }, bound: f64::MIN_POSITIVE }
}
