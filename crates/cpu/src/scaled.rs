//! Weighted sums that are scaled before they are rounded to integers.

use crate::filter::Filter;
use crate::pages;
use apron_core::{Image, ImageMut, Kind, Pixel, Result, Scaled, check_pixels};

/// Computes integers of scaled sums, in parallel: bit for bit what `apron_reference::scaled` computes.
///
/// ```
/// use apron_core::{Border, Extent, Image, PixelType, Scaled, Weights};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 6])?;
/// let (shape, src, dst) = (image.shape(), PixelType::U8, PixelType::I16);
/// let (weights, factor, offset) = (Weights::Dense("-1 0 1".parse()?), 0.25, -10.0);
/// let (border, extent) = (Border::Replicate, Extent::Same);
/// let problem = Scaled { shape, src, dst, weights, factor, offset, border, extent };
/// let out: Image<i16> = apron_cpu::scaled(&image, &problem)?;
/// assert_eq!(out.row(0), [-10, -9, -9]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Scaled::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the problem's types and shape.
pub fn scaled<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Scaled) -> Result<Image<'static, O>> {
    pages::filled(problem.window()?.out, |out| scaled_into(image, problem, out))
}

/// As [`scaled`], into an existing image.
///
/// # Errors
/// As [`scaled`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn scaled_into<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Scaled, out: ImageMut<'_, O>) -> Result<()> {
    check_pixels::<I, O>(Scaled::OPERATION, image, problem.shape, (problem.src, problem.dst))?;
    Filter::scaled(image, problem, problem.window()?).scaled_into((problem.factor, problem.offset), out)
}
