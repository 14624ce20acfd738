//! The local standard deviation.

use crate::divisor::Divisor;
use crate::pages;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use crate::windows::integers::{self, Integer, Under, Whole};
use crate::windows::{Windows, floats};
use apron_core::{Accumulator, AnyImage, Image, ImageMut, LocalStd, Pixel, PixelType, Result, Window, check_pixels};

/// Computes the standard deviation in a window around each pixel, in parallel: bit for bit what
/// `apron_reference::local_std` computes, in a time almost independent of the window's size.
///
/// ```
/// use apron_core::{Border, Extent, Image, LocalStd, PixelType};
///
/// let image = Image::new(4, 1, 1, vec![0u8, 6, 6, 0])?;
/// let (shape, src, dst, border) = (image.shape(), PixelType::U8, PixelType::F32, Border::Replicate);
/// let filter = LocalStd { shape, src, dst, width: 2, height: 1, border, extent: Extent::Same };
/// let out: Image<f32> = apron_cpu::local_std(&image, &filter)?;
/// assert_eq!(out.row(0), [0.0, 3.0, 0.0, 3.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`LocalStd::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the filter's types and shape.
pub fn local_std<I: Pixel, O: Pixel>(image: &Image<I>, filter: &LocalStd) -> Result<Image<'static, O>> {
    pages::filled(filter.window()?.out, |out| local_std_into(image, filter, out))
}

/// As [`local_std`], into an existing image.
///
/// # Errors
/// As [`local_std`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn local_std_into<I: Pixel, O: Pixel>(image: &Image<I>, filter: &LocalStd, out: ImageMut<'_, O>) -> Result<()> {
    local_std_windows(image, filter, filter.window()?, out)
}

/// As [`local_std_into`], for these windows.
pub(crate) fn local_std_windows<I: Pixel, O: Pixel>(
    image: &Image<I>,
    filter: &LocalStd,
    window: Window,
    out: ImageMut<'_, O>,
) -> Result<()> {
    check_pixels::<I, O>("local-std", image, filter.shape, (filter.src, filter.dst))?;
    out.check(window.out)?;
    match I::into_any(image.view()) {
        AnyImage::U8(image) if filter.sums_are_exact() => bytes(&image, filter, window, out),
        AnyImage::U16(image) if filter.sums_are_exact() => of_16_bits(&image, filter, window, out),
        AnyImage::I16(image) if filter.sums_are_exact() => of_16_bits(&image, filter, window, out),
        _ => of_floats(image, filter, window, out),
    }
    Ok(())
}

/// Rows of input per tile that should stay in cache.
const SEEN_ROWS: usize = 64;

fn windows<'a, I: Pixel>(image: &'a Image<'a, I>, filter: &LocalStd, window: Window) -> Windows<'a, I> {
    Windows::new(image, window, (filter.width, filter.height), filter.border)
}

/// Sums bytes and their squares in integers that hold the sums.
fn bytes<O: Pixel>(image: &Image<'_, u8>, filter: &LocalStd, window: Window, out: ImageMut<'_, O>) {
    let largest = 255 * 255;
    if filter.samples() * largest <= i32::MAX as u64 {
        whole::<u8, i32, i32, i32, O>(image, filter, window, out);
    } else if filter.height as u64 * largest <= i32::MAX as u64 {
        whole::<u8, i64, i32, i64, O>(image, filter, window, out);
    } else {
        whole::<u8, i64, i64, i64, O>(image, filter, window, out);
    }
}

/// Sums integers of 16 bits and their squares.
fn of_16_bits<I: Integer, O: Pixel>(image: &Image<'_, I>, filter: &LocalStd, window: Window, out: ImageMut<'_, O>) {
    if filter.samples() * 65535 <= i32::MAX as u64 {
        whole::<I, i32, i64, i64, O>(image, filter, window, out);
    } else {
        whole::<I, i64, i64, i64, O>(image, filter, window, out);
    }
}

/// Sums integers as `S`; their squares as `C` down columns, and as `T` in windows.
fn whole<I: Integer, S: Whole, C: Whole, T: Whole, O: Pixel>(
    image: &Image<'_, I>,
    filter: &LocalStd,
    window: Window,
    out: ImageMut<'_, O>,
) {
    let windows = &windows(image, filter, window);
    let count = filter.samples();
    windows.run(out, SEEN_ROWS, &|scratch, mut tile: Tile<'_, O>| {
        let (scratch, squared) = scratch;
        let under = &Under::new(windows, &tile);
        let mut sums = integers::Sums::<S, S>::new(under, false, scratch);
        let mut squares = integers::Sums::<C, T>::new(under, true, squared);
        for out in &mut tile.rows {
            let of = |sum: S, squares: T| (sum.to_f64(), squares.squares_to_f64());
            simd::run(Roots { sums: sums.row(under), squares: squares.row(under), of, count, out });
            sums.advance(under);
            squares.advance(under);
        }
    });
}

/// Sums samples and their squares in f64.
fn of_floats<I: Pixel, O: Pixel>(image: &Image<'_, I>, filter: &LocalStd, window: Window, out: ImageMut<'_, O>) {
    let windows = &windows(image, filter, window);
    let (count, above) = (filter.samples(), filter.height as usize - 1);
    windows.run(out, SEEN_ROWS, &|scratch, mut tile: Tile<'_, O>| {
        let (scratch, squared, ends): &mut (_, _, [Buffer<f64>; 2]) = scratch;
        let [sum, square] = ends.each_mut().map(|ends| ends.take(tile.rows[0].len()));
        let mut sums = floats::Sums::<I, f64>::new(windows, false, scratch, &tile);
        let mut squares = floats::Sums::<I, f64>::new(windows, true, squared, &tile);
        for y in 0..above + tile.rows.len() {
            let out = y.checked_sub(above).map(|y| &mut *tile.rows[y]);
            sums.next(Same, out.is_some().then_some(&mut *sum));
            squares.next(Same, out.is_some().then_some(&mut *square));
            if let Some(out) = out {
                simd::run(Roots { sums: sum, squares: square, of: |sum, squares| (sum, squares), count, out });
            }
        }
    });
}

/// Leaves sums as they are.
#[derive(Clone, Copy)]
struct Same;

impl floats::Finish<f64, f64> for Same {
    #[inline(always)]
    fn of(self, sum: f64) -> f64 {
        sum
    }
}

/// Computes the deviations from sums and sums of squares.
struct Roots<'a, S, T, F, O> {
    sums: &'a [S],
    squares: &'a [T],
    /// Converts the two sums.
    of: F,
    /// Number of samples.
    count: u64,
    out: &'a mut [O],
}

impl<S: Copy, T: Copy, F: Fn(S, T) -> (f64, f64), O: Pixel> Work for Roots<'_, S, T, F, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Roots { sums, squares, of, count, out } = self;
        let (divisor, count) = (Divisor::new(count), count as f64);
        for ((out, &sum), &squares) in out.iter_mut().zip(sums).zip(squares) {
            let (sum, squares) = of(sum, squares);
            // Less the rounding error of the square.
            let square = sum * sum;
            let variance = count.mul_add(squares, -square) - sum.mul_add(sum, -square);
            // The comparison is false for NaN, which is kept.
            let root = if variance < 0.0 { 0.0 } else { variance }.sqrt();
            // Roots of f64 may be near the ends of its range.
            let deviation = if O::PIXEL == PixelType::F64 { root / count } else { divisor.divide(root) };
            *out = O::from_sum(O::Sum::from_f64(deviation));
        }
    }
}
