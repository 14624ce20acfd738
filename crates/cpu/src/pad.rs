//! Padding.

use crate::{pages, parallel};
use apron_abi::BorderMode;
use apron_core::{Accumulator, Image, ImageMut, Pad, Pixel, Result, check_pixels};

/// Copies a region of an image extended by its border, in parallel: the result of `apron_reference::pad`.
///
/// ```
/// use apron_core::{Border, Image, Pad, PixelType, Region};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 3])?;
/// let (shape, borders, region) = (image.shape(), Border::Reflect.into(), Region { x: -2, y: 0, width: 6, height: 1 });
/// let out = apron_cpu::pad(&image, &Pad { shape, pixel: PixelType::U8, borders, region })?;
/// assert_eq!(out.row(0), [2, 1, 1, 2, 3, 3]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Pad::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn pad<T: Pixel>(image: &Image<T>, problem: &Pad) -> Result<Image<'static, T>> {
    pages::filled(problem.window()?.out, |out| pad_into(image, problem, out))
}

/// As [`pad`], into an existing image.
///
/// # Errors
/// As [`pad`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn pad_into<T: Pixel>(image: &Image<T>, problem: &Pad, mut out: ImageMut<'_, T>) -> Result<()> {
    let window = problem.window()?;
    out.check(window.out)?;
    check_pixels::<T, T>("pad", image, problem.shape, (problem.pixel, problem.pixel))?;
    let (shape, channels) = (window.out, window.out.channels as usize);
    let samples = |constants: [f64; 4]| constants.map(|value| T::from_sum(T::Sum::from_f64(value)));
    let ((mode_x, left_right), (mode_y, above_below)) = (problem.borders.x.mode(), problem.borders.y.mode());
    let (left_right, above_below) = (samples(left_right), samples(above_below));
    let (row, stride) = (shape.row_samples(), out.row_stride());
    // Narrow images have many rows: each task takes several.
    let rows = (1usize << 16).div_ceil(row);
    parallel::chunks(out.spanned_mut(), stride * rows, &|band, out| {
        for (out, at) in out.chunks_mut(stride).zip((band * rows) as i32..) {
            let out = &mut out[..row];
            match mode_y.map(window.origin_y + at, image.height() as i32) {
                Some(y) => pad_row(image.row(y as u32), channels, window.origin_x, (mode_x, &left_right), out),
                None => fill(out, &above_below[..channels]),
            }
        }
    });
    Ok(())
}

/// Copies a row from column `origin` on, extended to the left and right.
fn pad_row<T: Pixel>(row: &[T], channels: usize, origin: i32, (mode, constants): (BorderMode, &[T; 4]), out: &mut [T]) {
    let (width, end) = ((row.len() / channels) as i32, origin + (out.len() / channels) as i32);
    let (first, last) = (origin.clamp(0, width), end.clamp(0, width));
    // Left of the image, inside, right of it; if the region lies to one side of the image, that part is everything.
    let (left, rest) = out.split_at_mut(channels * (first.min(end) - origin).max(0) as usize);
    let (inside, right) = rest.split_at_mut(channels * (last - first) as usize);
    inside.copy_from_slice(&row[channels * first as usize..][..inside.len()]);
    for (part, from) in [(left, origin), (right, origin.max(last))] {
        for (pixel, x) in part.chunks_exact_mut(channels).zip(from..) {
            match mode.map(x, width) {
                Some(x) => pixel.copy_from_slice(&row[x as usize * channels..][..channels]),
                None => pixel.copy_from_slice(&constants[..channels]),
            }
        }
    }
}

/// Fills a row with one pixel.
fn fill<T: Copy>(out: &mut [T], pixel: &[T]) {
    match pixel {
        [value] => out.fill(*value),
        _ => out.chunks_exact_mut(pixel.len()).for_each(|out| out.copy_from_slice(pixel)),
    }
}
