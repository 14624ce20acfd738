//! Sums of separable correlations.

use crate::{pointwise, separable};
use apron_core::{AnyImage, Image, LowRank, Pixel, Result};

/// Computes the terms, each as [`separable`] does, and adds them in order, each sum rounded to f32.
///
/// ```
/// use apron_core::{Border, Extent, Image, LowRank, PixelType, Taps};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 4])?;
/// let (shape, src, border, extent) = (image.shape(), PixelType::U8, Border::Constant(0.0), Extent::Same);
/// let one = Taps::new([1.0])?;
/// let terms = vec![(Taps::new([1.0, 0.0, 0.0])?, one.clone()), (Taps::new([0.0, 0.0, 10.0])?, one)];
/// let out = apron_reference::low_rank(&image, &LowRank { shape, src, terms, border, extent })?;
/// assert_eq!(out.row(0), [20.0, 41.0, 2.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`LowRank::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image does not match the problem's type and shape.
pub fn low_rank<I: Pixel>(image: &Image<I>, problem: &LowRank) -> Result<Image<'static, f32>> {
    let addition = LowRank::addition(problem.window()?.out);
    let mut terms = problem.separables().map(|term| separable(image, &term));
    let first = terms.next().expect("checked: there are terms")?;
    terms.try_fold(first, |sum, term| pointwise(&AnyImage::F32(sum), Some(&AnyImage::F32(term?)), &addition))
}
