//! Separable filters of 16-bit integers to integers whose taps are equal along each axis: by the exact sums of windows.
//!
//! The f64 sum in the order of the taps is near the product of both taps and the sum of the samples: sums along a row
//! are exact, of 24 bits a tap and 29 a sum, and each addition down the column rounds once. If the product is farther
//! from a rounding boundary than all errors, both have the same nearest integer; the few other sums are computed again
//! in order.

use crate::rounding::lowest_bit;
use crate::simd::{self, Level, Work};
use crate::tiles::Tile;
use crate::windows::Windows;
use crate::windows::integers::{self, Integer, Under};
use apron_core::{AnyImage, AnyImageMut, Error, Image, ImageMut, Pixel, PixelType, Result, Separable, Window};

/// Equal taps along each axis.
#[derive(Clone, Copy)]
pub(crate) struct Equal {
    x: f64,
    y: f64,
    /// Bound of the errors of a product and of a sum in the order of the taps; 0 if both are exact.
    off: f64,
}

/// Rows of input per tile that should stay in cache, as for box filters.
const SEEN_ROWS: usize = 32;

impl Equal {
    /// Returns the taps of a filter that this file computes.
    pub(crate) fn of(problem: &Separable) -> Option<Equal> {
        let (_, constant) = problem.border.mode();
        let is_16_bits = matches!(problem.src, PixelType::U16 | PixelType::I16);
        if !is_16_bits || problem.dst.is_float() || !problem.src.holds(constant) {
            return None;
        }
        let equal = |taps: &[f32]| taps.iter().all(|tap| *tap == taps[0]).then_some(taps[0] as f64);
        let (x, y) = (equal(problem.taps_x.taps())?, equal(problem.taps_y.taps())?);
        let height = problem.taps_y.len() as u64;
        let most = (problem.taps_x.len() as u64 * height) as i64 * 65535;
        if most > i32::MAX as i64 {
            return None;
        }
        let largest = (x * y).abs() * most as f64;
        let is_exact = largest <= lowest_bit(x) * lowest_bit(y) * 2f64.powi(53);
        let off = if is_exact { 0.0 } else { (height + 2) as f64 * largest * 2f64.powi(-53) };
        (off < 2f64.powi(-10) && largest < 2f64.powi(50)).then_some(Equal { x, y, off })
    }

    /// Computes the output, whose shape and type were checked.
    ///
    /// # Errors
    /// [`Error::PixelType`] for other types than [`of`](Equal::of) takes.
    pub(crate) fn run<I: Pixel, O: Pixel>(
        self,
        image: &Image<I>,
        problem: &Separable,
        window: Window,
        out: ImageMut<'_, O>,
    ) -> Result<()> {
        match I::into_any(image.view()) {
            AnyImage::U16(image) => self.of_type(&image, problem, window, O::into_any_mut(out)),
            AnyImage::I16(image) => self.of_type(&image, problem, window, O::into_any_mut(out)),
            other => Err(refused(other.pixel_type(), "u16 or i16")),
        }
    }

    fn of_type<I: Integer>(
        self,
        image: &Image<I>,
        problem: &Separable,
        window: Window,
        out: AnyImageMut<'_>,
    ) -> Result<()> {
        let size = (problem.taps_x.len(), problem.taps_y.len());
        let windows = &Windows::new(image, window, size, problem.border);
        match out {
            AnyImageMut::U8(out) => self.to(windows, out),
            AnyImageMut::U16(out) => self.to(windows, out),
            AnyImageMut::I16(out) => self.to(windows, out),
            other => return Err(refused(other.pixel_type(), "u8, u16 or i16")),
        }
        Ok(())
    }

    fn to<I: Integer, O: Pixel<Sum = f64>>(self, windows: &Windows<'_, I>, out: ImageMut<'_, O>) {
        windows.run(out, SEEN_ROWS, &|scratch, mut tile: Tile<'_, O>| {
            let under = &Under::new(windows, &tile);
            let mut sums = integers::Sums::<i32, i32>::new(under, false, scratch);
            let mut open = Vec::new();
            for (y, out) in (tile.y..).zip(&mut tile.rows) {
                simd::run(Near { equal: self, sums: sums.row(under), out, open: &mut open });
                for sample in open.drain(..) {
                    let rows = windows.rows_of(tile.x, y, sample).map(|row| self.x * row as f64);
                    out[sample] = O::from_sum(rows.fold(0.0, |sum, row| self.y.mul_add(row, sum)));
                }
                sums.advance(under);
            }
        });
    }
}

/// Returns the error for a type that has no sums of windows.
fn refused(found: PixelType, expected: &str) -> Error {
    Error::PixelType { operation: "separable", found, expected: expected.into() }
}

/// Rounds the products of taps and sums, and lists those that are undecided.
struct Near<'a, O> {
    equal: Equal,
    sums: &'a [i32],
    out: &'a mut [O],
    /// Indices of undecided sums.
    open: &'a mut Vec<usize>,
}

/// Sums rounded at a time.
const PIECE: usize = 64;

impl<O: Pixel<Sum = f64>> Work for Near<'_, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Near { equal, sums, out, open } = self;
        let factor = equal.x * equal.y;
        // At 1.5 * 2^52 the spacing of f64 is 1: the addition rounds to the nearest integer.
        const MAGIC: f64 = 6755399441055744.0;
        let is_open = |sum: i32| {
            let product = factor * sum as f64;
            0.5 - (product - ((product + MAGIC) - MAGIC)).abs() < equal.off
        };
        for (n, (sums, out)) in sums.chunks(PIECE).zip(out.chunks_mut(PIECE)).enumerate() {
            let mut any = 0;
            for (out, &sum) in out.iter_mut().zip(sums) {
                *out = O::from_sum(factor * sum as f64);
                any |= is_open(sum) as u32;
            }
            if any != 0 {
                open.extend((0..sums.len()).filter(|at| is_open(sums[*at])).map(|at| n * PIECE + at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::separable;
    use apron_core::{Border, Extent, Shape, Taps};

    fn problem(shape: Shape, x: &[f32], y: &[f32]) -> Separable {
        let (src, dst, border, extent) = (PixelType::U16, PixelType::U16, Border::Reflect, Extent::Same);
        let (taps_x, taps_y) = (Taps::new(x).unwrap(), Taps::new(y).unwrap());
        Separable { shape, src, dst, taps_x, taps_y, border, extent }
    }

    #[test]
    fn taps_are_equal_and_their_sums_near() {
        let shape = Shape::new(9, 9, 1).unwrap();
        let off = |x: &[f32], y: &[f32]| Equal::of(&problem(shape, x, y)).map(|equal| equal.off);
        let third = 1.0f32 / 3.0;
        assert_eq!(off(&[0.5; 2], &[third; 3]), Some(0.0));
        assert!((1e-12..1e-10).contains(&off(&[third; 3], &[third; 3]).unwrap()));
        assert_eq!(off(&[third, third, 0.5], &[third; 3]), None);
        assert_eq!(off(&[3e7 + 2.0; 3], &[third; 3]), None);
        let floats = Separable { dst: PixelType::F32, ..problem(shape, &[third], &[third]) };
        assert!(Equal::of(&floats).is_none());
        let between = Separable { border: Border::Constant(0.5), ..problem(shape, &[third], &[third]) };
        assert!(Equal::of(&between).is_none());
    }

    /// Windows whose means are at a half or next to one, and taps for which every sum is computed again.
    #[test]
    fn sums_are_those_in_order() {
        for (x, y) in [(2, 2), (3, 3), (2, 3), (5, 5), (6, 1), (9, 7), (1, 14)] {
            for channels in [1, 3] {
                let sample = |x: u32, y: u32, c: u32| ((x * 7919 + y * 104729 + c * 31) % 65536) as u16;
                let image = Image::from_fn(41, 30, channels, sample).unwrap();
                let taps = |count: usize, tap: f32| vec![tap; count];
                for (tap_x, tap_y) in [(1.0 / x as f32, 1.0 / y as f32), (-0.1, -0.7), (0.3, 1.0 + f32::EPSILON)] {
                    let problem = problem(image.shape(), &taps(x, tap_x), &taps(y, tap_y));
                    let expected: Image<u16> = apron_reference::separable(&image, &problem).unwrap();
                    let found: Image<u16> = separable(&image, &problem).unwrap();
                    assert_eq!(found, expected, "{x}x{y} of {tap_x}, {tap_y}");
                    let mut again = vec![0; image.shape().samples() as usize];
                    let out = ImageMut::new(41, 30, channels, &mut again).unwrap();
                    // All sums are computed again.
                    let all = Equal { off: 1.0, ..Equal::of(&problem).unwrap() };
                    all.run(&image, &problem, problem.window().unwrap(), out).unwrap();
                    assert_eq!(again, expected.packed()[..], "{x}x{y} of {tap_x}, {tap_y} in order");
                }
            }
        }
    }
}
