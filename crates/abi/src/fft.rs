//! Fast Fourier transforms of tiles: the order of their butterflies, which all devices share, and parameters.
//!
//! A tile of `w` columns and `h` rows of real samples is `w/2` columns of complex numbers: column `x` holds the samples
//! of columns `x` (real part) and `x + w/2` (imaginary part). Along each axis, `n` complex numbers are a polynomial
//! modulo `z^n - i`. Along rows the product of two such polynomials is the product of the real rows modulo `z^w + 1`,
//! because `z^(w/2)` is `i`; no step separates the two halves. Outputs that do not wrap around are those of the linear
//! correlation, and only these are stored (overlap-save).
//!
//! A butterfly splits a polynomial modulo `z^2m - c^2` into its remainders modulo `z^m - c` and `z^m + c`. Stage `l`
//! splits `2^l` polynomials, and the root `c` of polynomial `b` is [`FFT_ROOTS`]`[2^l + b]`. After the last stage there
//! is one number per root, which is multiplied by that of the mask; [`fft_join`] inverts the stages, from the last to
//! the first. Columns are split first, then rows; rows are joined first.

/// Sides of tiles, in samples.
pub const FFT_SIDES: [u32; 4] = [128, 256, 512, 1024];

/// Returns the side of tiles, in samples, for masks of `taps` taps along the axis: at least half of the side is
/// outputs. `None` for more than [`FFT_MOST_TAPS`] taps.
pub const fn fft_side(taps: u32) -> Option<u32> {
    let mut n = 0;
    while n < FFT_SIDES.len() {
        if taps <= FFT_SIDES[n] / 2 + 1 {
            return Some(FFT_SIDES[n]);
        }
        n += 1;
    }
    None
}

/// Most taps of a mask along an axis.
pub const FFT_MOST_TAPS: u32 = FFT_SIDES[FFT_SIDES.len() - 1] / 2 + 1;

/// A complex number: its real and its imaginary part.
pub type Complex<T> = [T; 2];

const ROOTS: usize = FFT_SIDES[FFT_SIDES.len() - 1] as usize;

/// The roots `c` of the butterflies, as f64; index 0 is unused.
pub static FFT_ROOTS_F64: [Complex<f64>; ROOTS] = roots();

/// [`FFT_ROOTS_F64`], rounded to f32.
pub static FFT_ROOTS: [Complex<f32>; ROOTS] = {
    let (exact, mut rounded, mut n) = (roots(), [[0.0f32; 2]; ROOTS], 0);
    while n < ROOTS {
        rounded[n] = [exact[n][0] as f32, exact[n][1] as f32];
        n += 1;
    }
    rounded
};

/// The roots of the first five stages, as constants that the compiler can put into instructions.
pub const FFT_FIRST_ROOTS: [Complex<f32>; 32] = {
    let (mut first, mut n) = ([[0.0; 2]; 32], 0);
    while n < 32 {
        first[n] = FFT_ROOTS[n];
        n += 1;
    }
    first
};

/// Computes the roots by half angles, so that they are the same numbers on every host: sines of mathematical libraries
/// may differ in the last bit.
const fn roots() -> [Complex<f64>; ROOTS] {
    let mut roots = [[0.0f64; 2]; ROOTS];
    // The first polynomial is modulo z^n - i.
    roots[1] = half([0.0, 1.0]);
    let mut n = 1;
    while 2 * n < ROOTS {
        let [re, im] = half(roots[n]);
        roots[2 * n] = [re, im];
        roots[2 * n + 1] = [-im, re];
        n += 1;
    }
    roots
}

/// Returns the square root of a number of magnitude 1 in the upper half plane.
const fn half([re, im]: Complex<f64>) -> Complex<f64> {
    if re >= 0.0 {
        let root = square_root((1.0 + re) / 2.0);
        [root, im / (2.0 * root)]
    } else {
        let root = square_root((1.0 - re) / 2.0);
        [im / (2.0 * root), root]
    }
}

/// Returns the square root of a number from 1/2 to 1, by Newton's iteration.
const fn square_root(square: f64) -> f64 {
    let (mut root, mut step) = (1.0, 0);
    while step < 8 {
        root = (root + square / root) / 2.0;
        step += 1;
    }
    root
}

/// The arithmetic of butterflies, on one number or on a vector of numbers; every operation rounds once. Any function
/// `fma(a, b, c)` of f32 implements it.
pub trait FftArithmetic<N: Copy>: Copy {
    /// Returns `a * b + c`.
    fn fma(self, a: N, b: N, c: N) -> N;
    /// Returns `a * b - c`.
    fn fms(self, a: N, b: N, c: N) -> N;
    /// Returns `c - a * b`.
    fn fnma(self, a: N, b: N, c: N) -> N;
    /// Returns `a + b`.
    fn add(self, a: N, b: N) -> N;
    /// Returns `a - b`.
    fn sub(self, a: N, b: N) -> N;
    /// Returns `a * b`.
    fn mul(self, a: N, b: N) -> N;
    /// Returns 2.
    fn two(self) -> N;
}

impl<F: Fn(f32, f32, f32) -> f32 + Copy> FftArithmetic<f32> for F {
    #[inline(always)]
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        self(a, b, c)
    }
    #[inline(always)]
    fn fms(self, a: f32, b: f32, c: f32) -> f32 {
        self(a, b, -c)
    }
    #[inline(always)]
    fn fnma(self, a: f32, b: f32, c: f32) -> f32 {
        self(-a, b, c)
    }
    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn sub(self, a: f32, b: f32) -> f32 {
        a - b
    }
    #[inline(always)]
    fn mul(self, a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn two(self) -> f32 {
        2.0
    }
}

/// Splits two numbers of a polynomial, `m` places apart: returns `low + root * high` and `low - root * high`.
#[inline(always)]
pub fn fft_split<N: Copy>(
    by: impl FftArithmetic<N>,
    [low, high]: [Complex<N>; 2],
    root: Complex<N>,
) -> [Complex<N>; 2] {
    let re = by.fma(root[0], high[0], by.fnma(root[1], high[1], low[0]));
    let im = by.fma(root[0], high[1], by.fma(root[1], high[0], low[1]));
    [[re, im], [by.fms(by.two(), low[0], re), by.fms(by.two(), low[1], im)]]
}

/// The inverse of [`fft_split`], times 2: returns the sum of both remainders, and their difference divided by the root,
/// whose magnitude is 1.
#[inline(always)]
pub fn fft_join<N: Copy>(
    by: impl FftArithmetic<N>,
    [first, second]: [Complex<N>; 2],
    root: Complex<N>,
) -> [Complex<N>; 2] {
    let sum = [by.add(first[0], second[0]), by.add(first[1], second[1])];
    let [re, im] = [by.sub(first[0], second[0]), by.sub(first[1], second[1])];
    [sum, [by.fma(root[0], re, by.mul(root[1], im)), by.fms(root[0], im, by.mul(root[1], re))]]
}

/// Returns the product of two complex numbers.
#[inline(always)]
pub fn fft_product<N: Copy>(by: impl FftArithmetic<N>, a: Complex<N>, b: Complex<N>) -> Complex<N> {
    [by.fms(a[0], b[0], by.mul(a[1], b[1])), by.fma(a[0], b[1], by.mul(a[1], b[0]))]
}

/// Threads per block of the kernels.
pub const FFT_BLOCK: u32 = 256;

/// Complex numbers per block.
pub const FFT_BLOCK_NUMBERS: u32 = 8192;
/// Bytes of shared memory per block.
pub const FFT_BLOCK_BYTES: u32 = FFT_BLOCK_NUMBERS * 8;

/// Roots in a launch's taps, before the mask's transform.
pub const FFT_ROOT_COUNT: u32 = ROOTS as u32;

/// Returns the place of column `x` and row `y` of the mask's transform in the taps of the one-pass kernel, in complex
/// numbers after the roots: a thread reads two adjacent numbers, and adjacent threads adjacent pairs.
pub const fn fft_place(x: u32, y: u32) -> u32 {
    let thread = y >> 4 | (x >> 3) << 3 | (y >> 2 & 3) << 6;
    let number = (y & 3) << 3 | (x & 7);
    2 * (number / 2 * FFT_BLOCK + thread) + number % 2
}

/// As [`fft_place`], for the kernels in three passes, for rows of `2^stages` numbers.
pub const fn fft_rows_place(stages: u32, x: u32, y: u32) -> u32 {
    let (rows, low) = (FFT_BLOCK_NUMBERS >> stages, 10 - stages);
    let (block, line) = (y / rows, y % rows);
    let thread = x >> (stages - 5) << 3 | line >> low;
    let number = (x & ((1 << (stages - 5)) - 1)) << low | (line & ((1 << low) - 1));
    2 * ((block * 16 + number / 2) * FFT_BLOCK + thread) + number % 2
}

/// Parameters of the kernels of tiles.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FftParams {
    /// Row stride of the image that is read, in samples.
    pub row_stride: u32,
    /// Value outside the image, where the border is constant.
    pub constant: f32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
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
    /// Input column of the first sample of the first tile.
    pub left: i32,
    /// Input row of the first sample of the first tile.
    pub top: i32,
    /// Output column of the first output of the first tile; at most 0.
    pub out_left: i32,
    /// Output row of the first output of the first tile; at most 0.
    pub out_top: i32,
    /// Columns of outputs per tile.
    pub outputs_x: u32,
    /// Rows of outputs per tile.
    pub outputs_y: u32,
    /// Tiles per row of tiles.
    pub tiles_x: u32,
    /// Rows of tiles.
    pub tiles_y: u32,
    /// Columns of complex numbers per tile.
    pub columns: u32,
    /// Number of the first tile of a launch, for the kernels in three passes. Tiles are numbered by row of tiles, then
    /// by tile, then by channel.
    pub first_tile: u32,
    /// Number of tiles of the launch, for the kernels in three passes.
    pub tiles: u32,
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn roots_are_roots_of_unity() {
        // The square of a root is the number of the polynomial that it splits: i, then the root of the stage
        // before, or minus that root.
        for n in 1..ROOTS {
            let [re, im] = FFT_ROOTS_F64[n];
            let of = if n == 1 { [0.0, 1.0] } else { FFT_ROOTS_F64[n / 2] };
            let of = if n > 1 && n % 2 == 1 { [-of[0], -of[1]] } else { of };
            let square = [re * re - im * im, 2.0 * re * im];
            assert!((square[0] - of[0]).abs() < 4e-16 && (square[1] - of[1]).abs() < 4e-16, "{n}: {square:?} {of:?}");
            let angle = im.atan2(re);
            let [cos, sin] = [angle.cos(), angle.sin()];
            assert!((FFT_ROOTS[n][0] as f64 - cos).abs() < 6e-8 && (FFT_ROOTS[n][1] as f64 - sin).abs() < 6e-8);
        }
        assert_eq!(FFT_ROOTS[1], [core::f32::consts::FRAC_1_SQRT_2; 2]);
    }

    #[test]
    fn joining_undoes_splitting() {
        let numbers = [[3.0, -1.0], [0.5, 8.0]];
        for root in [FFT_ROOTS[1], FFT_ROOTS[37], FFT_ROOTS[1023]] {
            let joined = fft_join(f32::mul_add, fft_split(f32::mul_add, numbers, root), root);
            for (joined, number) in joined.as_flattened().iter().zip(numbers.as_flattened()) {
                assert!((joined - 2.0 * number).abs() < 1e-5, "{joined} {number}");
            }
        }
    }

    #[test]
    fn sides_follow_the_taps() {
        for (taps, side) in [(1, 128), (65, 128), (66, 256), (129, 256), (257, 512), (258, 1024), (513, 1024)] {
            assert_eq!(fft_side(taps), Some(side), "{taps}");
        }
        assert_eq!((fft_side(514), FFT_MOST_TAPS), (None, 513));
    }
}
