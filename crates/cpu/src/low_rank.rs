//! Sums of separable correlations.

use crate::{pages, pointwise_into, separable, separable_into};
use apron_core::{AnyImage, Image, ImageMut, LowRank, Pixel, Result};

/// A sum of separable correlations, in parallel: bit for bit what `apron_reference::low_rank` computes.
///
/// ```
/// use apron_core::{Border, Extent, Image, LowRank, PixelType, Taps};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 4])?;
/// let (shape, src, border, extent) = (image.shape(), PixelType::U8, Border::Constant(0.0), Extent::Same);
/// let one = Taps::new([1.0])?;
/// let terms = vec![(Taps::new([1.0, 0.0, 0.0])?, one.clone()), (Taps::new([0.0, 0.0, 10.0])?, one)];
/// let out = apron_cpu::low_rank(&image, &LowRank { shape, src, terms, border, extent })?;
/// assert_eq!(out.row(0), [20.0, 41.0, 2.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`LowRank::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) where the image is not of the problem's type and shape.
pub fn low_rank<I: Pixel>(image: &Image<I>, problem: &LowRank) -> Result<Image<'static, f32>> {
    pages::filled(problem.window()?.out, |out| low_rank_into(image, problem, out))
}

/// [`low_rank`] into an image that is there already.
///
/// # Errors
/// As [`low_rank`], and [`Error::Parameter`](apron_core::Error::Parameter) where `out` has another shape.
pub fn low_rank_into<I: Pixel>(image: &Image<I>, problem: &LowRank, out: ImageMut<'_, f32>) -> Result<()> {
    let addition = LowRank::addition(problem.window()?.out);
    let mut terms = problem.separables();
    let last = terms.next_back().expect("checked: there are terms");
    let mut sum = None;
    for term in terms {
        let term = separable(image, &term)?;
        sum = Some(match sum {
            None => term,
            Some(sum) => crate::pointwise(&AnyImage::F32(sum), Some(&AnyImage::F32(term)), &addition)?,
        });
    }
    let Some(sum) = sum else { return separable_into(image, &last, out) };
    pointwise_into(&AnyImage::F32(sum), Some(&AnyImage::F32(separable(image, &last)?)), &addition, out)
}
