//! Pointwise operations on filters of an image.

use crate::{box_filter, correlate, local_std, low_rank, pointwise, separable};
use apron_core::{AnyImage, FilterProblem, Image, Paired, Part, Pixel, Result};

/// Computes the parts, each as its own function does, and then the pointwise operation.
///
/// ```
/// use apron_core::{Border, Extent, Image, Paired, Part, PixelType, PointOp, Taps};
///
/// // The lengths of (difference along the row, sum down the column).
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 4])?;
/// let (difference, sum, one) = (Taps::new([-1.0, 0.0, 1.0])?, Taps::new([1.0, 1.0, 1.0])?, Taps::new([1.0])?);
/// let (x, y) = (Part::Separable(difference, one.clone()), Part::Separable(one, sum));
/// let (shape, src, dst, border, extent) =
///     (image.shape(), PixelType::U8, PixelType::F32, Border::Constant(0.0), Extent::Same);
/// let lengths = Paired { shape, src, dst, op: PointOp::Magnitude, x, y: Some(y), border, extent };
/// let out: Image<f32> = apron_reference::paired(&image, &lengths)?;
/// // (2, 1), (3, 2) and (-2, 4).
/// assert_eq!(out.row(0), [5f32.sqrt(), 13f32.sqrt(), 20f32.sqrt()]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Paired::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn paired<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Paired) -> Result<Image<'static, O>> {
    let point = problem.pointwise(problem.window()?.out);
    let (x, y) = operands(image, problem)?;
    pointwise(&x, y.as_ref(), &point)
}

/// Computes the operands of the pointwise operation.
fn operands<'a, I: Pixel>(image: &'a Image<I>, problem: &Paired) -> Result<(AnyImage<'a>, Option<AnyImage<'a>>)> {
    let operand = |part: &Part| match problem.filter(part) {
        Some(filter) => filtered(image, &filter).map(AnyImage::F32),
        None => Ok(I::into_any(image.view())),
    };
    Ok((operand(&problem.x)?, problem.y.as_ref().map(operand).transpose()?))
}

/// Computes a part.
fn filtered<I: Pixel>(image: &Image<I>, filter: &FilterProblem) -> Result<Image<'static, f32>> {
    match filter {
        FilterProblem::Correlate(p) => correlate(image, p),
        FilterProblem::Separable(p) => separable(image, p),
        FilterProblem::LowRank(p) => low_rank(image, p),
        FilterProblem::Box(p) => box_filter(image, p),
        FilterProblem::LocalStd(p) => local_std(image, p),
        FilterProblem::Paired(p) => paired(image, p),
        FilterProblem::Scaled(_)
        | FilterProblem::Pointwise(_)
        | FilterProblem::Pad(_)
        | FilterProblem::Fft(_)
        | FilterProblem::Volume(_) => Err(Paired::no_part(filter)),
    }
}
