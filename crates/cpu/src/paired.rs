//! Pointwise operations on filters of an image.

use crate::{pages, pointwise_into, separable};
use apron_core::{AnyImage, Image, ImageMut, Paired, Part, Pixel, Result};

/// Computes the parts, then the pointwise operation, in parallel: bit for bit what `apron_reference::paired` computes.
///
/// ```
/// use apron_core::{Border, Extent, Image, Paired, Part, PixelType, PointOp, Taps};
///
/// // The image and twice what a mean along the row takes from it.
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 9])?;
/// let mean = Part::Separable(Taps::new([0.25, 0.5, 0.25])?, Taps::new([1.0])?);
/// let (shape, src, border, extent) = (image.shape(), PixelType::U8, Border::Replicate, Extent::Same);
/// let op = PointOp::weighted(3.0, -2.0, 0.0);
/// let sharp = Paired { shape, src, dst: PixelType::I16, op, x: Part::Image, y: Some(mean), border, extent };
/// // Means of 1.25, 3.5 and 7.25; halves are rounded to the even neighbour.
/// let out: Image<i16> = apron_cpu::paired(&image, &sharp)?;
/// assert_eq!(out.row(0), [0, -1, 12]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Paired::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn paired<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Paired) -> Result<Image<'static, O>> {
    pages::filled(problem.window()?.out, |out| paired_into(image, problem, out))
}

/// As [`paired`], into an existing image.
///
/// # Errors
/// As [`paired`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn paired_into<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Paired, out: ImageMut<'_, O>) -> Result<()> {
    let point = problem.pointwise(problem.window()?.out);
    let operand = |part: &Part| match problem.separable(part) {
        Some(filter) => separable::<I, f32>(image, &filter).map(AnyImage::F32),
        None => Ok(I::into_any(image.view())),
    };
    let (x, y) = (operand(&problem.x)?, problem.y.as_ref().map(operand).transpose()?);
    pointwise_into(&x, y.as_ref(), &point, out)
}
