//! Pointwise operations: parameters, and the arctangent that all devices share.

use core::f64::consts::{FRAC_PI_2, PI};

/// Threads per block of the pointwise kernels.
pub const POINTWISE_BLOCK: u32 = 256;
/// Samples that a thread of the pointwise kernels computes at a time, a block's width apart.
pub const POINTWISE_AT_ONCE: u32 = 4;
/// Groups of four adjacent samples that a thread of the converting kernels converts at a time, a block's width apart.
pub const CONVERT_GROUPS: u32 = 2;
/// Rows per thread of the padding kernel, a block's height apart.
pub const PAD_ROWS: u32 = 4;
/// Most blocks per launch; threads stride by the whole grid.
pub const POINTWISE_BLOCKS: u64 = 1 << 20;

/// Coefficients of `atan(t) / t` in powers of `t^2`, lowest first, for `t` from 0 to 1: interpolation at 14 Chebyshev
/// nodes, with a first coefficient of 1. The relative error is at most 3.7e-12.
const ARCTAN: [f64; 14] = [
    1.0,
    -0.3333333326248311,
    0.19999995340508625,
    -0.14285592395992738,
    0.1110942837591961,
    -0.090767989165641,
    0.07614250245326529,
    -0.06366092077884622,
    0.050455569594003324,
    -0.035267704529007626,
    0.019937423423745854,
    -0.0082418861060732,
    0.00216278896674385,
    -0.0002666010394055167,
];

/// Returns the angle of the vector `(x, y)` in radians, `atan2(y, x)`, with a relative error of at most 4e-12:
/// rounded to f32, within 0.5001 units in the last place. Zeros, infinities and NaN as in IEEE 754. The order of
/// operations is fixed, with `fma` for `a * b + c` rounded once, so that every device gives the same bits.
pub fn direction(y: f64, x: f64, fma: impl Fn(f64, f64, f64) -> f64) -> f64 {
    let (across, down) = (x.abs(), y.abs());
    let steep = down > across;
    let (low, high) = if steep { (across, down) } else { (down, across) };
    let t = if high == 0.0 {
        0.0
    } else if low == f64::INFINITY {
        1.0
    } else {
        low / high
    };
    let (square, mut sum, mut power) = (t * t, ARCTAN[ARCTAN.len() - 1], ARCTAN.len() - 1);
    while power > 0 {
        power -= 1;
        sum = fma(sum, square, ARCTAN[power]);
    }
    // The angle of t is added to a multiple of a quarter turn, or subtracted from it.
    let behind = x.is_sign_negative();
    let base = match (steep, behind) {
        (false, false) => 0.0,
        (false, true) => PI,
        (true, _) => FRAC_PI_2,
    };
    let angle = fma(if steep == behind { t } else { -t }, sum, base);
    // Comparisons with NaN are false, so the branches above would lose some NaN.
    if x.is_nan() || y.is_nan() { f64::NAN } else { angle.copysign(y) }
}

/// Parameters of the pointwise kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PointwiseParams {
    /// Number of samples of each image.
    pub samples: u64,
    /// Address of the second image; in a recipe, the number of its buffer. Without a second image, the first image's.
    pub second: u64,
    /// Weight of the first image.
    pub a: f64,
    /// Weight of the second image.
    pub b: f64,
    /// Addend.
    pub c: f64,
    /// Where the two images differ by less than this, the result is the first image's sample. In conversions of
    /// integers to f64, the last edge of the bins.
    pub threshold: f64,
    /// Whether there is a second image: 0 or 1.
    pub two: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Stride between the second images of a batch, in units of [`IMAGE_ALIGNMENT`](crate::IMAGE_ALIGNMENT) bytes.
    pub second_step: u32,
    /// In conversions to integers, [`Cast::code`](crate::Cast::code). In conversions of integers to f64, whether the
    /// result is the greatest f64 that is not above the integer: 0 or 1.
    pub code: u32,
}

/// Parameters of the padding kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PadParams {
    /// Input row stride, in samples.
    pub row_stride: u32,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Input column at output column 0.
    pub origin_x: i32,
    /// Input row at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode) left and right.
    pub border_x: u32,
    /// Number of the [`BorderMode`](crate::BorderMode) above and below.
    pub border_y: u32,
    /// Bits of the samples left and right, by channel, where the border is constant.
    pub constants_x: [u64; 4],
    /// Bits of the samples above and below, by channel, where the border is constant.
    pub constants_y: [u64; 4],
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::direction;

    fn of(y: f64, x: f64) -> f64 {
        direction(y, x, f64::mul_add)
    }

    #[test]
    fn the_axes_and_the_diagonals() {
        use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
        for (y, x, expected) in [
            (0.0, 1.0, 0.0),
            (-0.0, 1.0, -0.0),
            (0.0, -1.0, PI),
            (-0.0, -1.0, -PI),
            (1.0, 0.0, FRAC_PI_2),
            (-1.0, -0.0, -FRAC_PI_2),
            (0.0, 0.0, 0.0),
            (0.0, -0.0, PI),
            (-0.0, -0.0, -PI),
            (2.0, 2.0, FRAC_PI_4),
            (2.0, -2.0, 3.0 * FRAC_PI_4),
            (-2.0, -2.0, -3.0 * FRAC_PI_4),
            (f64::INFINITY, f64::INFINITY, FRAC_PI_4),
            (f64::INFINITY, -7.0, FRAC_PI_2),
            (3.0, f64::NEG_INFINITY, PI),
        ] {
            let found = of(y, x) as f32;
            assert_eq!(found.to_bits(), (expected as f32).to_bits(), "{y} {x}: {found}");
        }
        assert!(of(f64::NAN, 1.0).is_nan() && of(1.0, f64::NAN).is_nan() && of(0.0, f64::NAN).is_nan());
    }

    #[test]
    fn it_is_atan2_to_a_few_places_in_ten_to_the_twelve() {
        let mut state = 1u64;
        let mut number = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Numbers of either sign, over many powers of two.
            let size = ((state >> 40) % 200) as i32 - 100;
            (((state >> 8) as u32 as f64 / 2147483648.0 - 1.0) * 2f64.powi(size / 4)) as f32 as f64
        };
        for _ in 0..200_000 {
            let (y, x) = (number(), number());
            let (found, exact) = (of(y, x), y.atan2(x));
            assert!((found - exact).abs() <= 4e-12 * exact.abs(), "{y} {x}: {found} {exact}");
        }
    }
}
