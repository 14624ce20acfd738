//! Separable correlation.

use crate::equal::Equal;
use crate::filter::Filter;
use crate::windows::taps::SmallTaps;
use crate::{Fma, pages};
use apron_core::{Image, ImageMut, Pixel, Result, Separable, check_pixels};

/// Applies a separable correlation, in parallel: bit for bit what `apron_reference::separable` computes.
///
/// Along the rows with `taps_x`, then along the columns with `taps_y`; intermediate sums are not rounded (f32 for f32
/// output, f64 for integers). A constant border applies to the image, before the first pass. There is an output for
/// each pixel of the extent; with border crop the output is `taps - 1` pixels smaller than the image along each axis.
///
/// ```
/// use apron_core::{Border, Extent, Image, PixelType, Separable, Taps};
///
/// let image = Image::new(2, 2, 1, vec![1u8, 2, 3, 4])?;
/// let sum = Taps::new([1.0, 1.0])?.with_anchor(0)?;
/// let (shape, src, dst, taps_x, taps_y) = (image.shape(), PixelType::U8, PixelType::U8, sum.clone(), sum);
/// let (border, extent) = (Border::Constant(0.0), Extent::Same);
/// let problem = Separable { shape, src, dst, taps_x, taps_y, border, extent };
/// let out: Image<u8> = apron_cpu::separable(&image, &problem)?;
/// assert_eq!(out.packed().as_ref(), [10, 6, 7, 4]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Separable::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the problem's types and shape.
pub fn separable<I: Pixel, O: Pixel<Sum: Fma>>(image: &Image<I>, problem: &Separable) -> Result<Image<'static, O>> {
    pages::filled(problem.window()?.out, |out| separable_into(image, problem, out))
}

/// As [`separable`], into an existing image.
///
/// # Errors
/// As [`separable`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn separable_into<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    problem: &Separable,
    out: ImageMut<'_, O>,
) -> Result<()> {
    check_pixels::<I, O>("separable", image, problem.shape, (problem.src, problem.dst))?;
    let window = problem.window()?;
    if let Some(equal) = Equal::of(problem) {
        out.check(window.out)?;
        return equal.run(image, problem, window, out);
    }
    if let Some(taps) = SmallTaps::of(problem) {
        out.check(window.out)?;
        return taps.run(image, problem, window, out);
    }
    Filter::separable(image, problem, window).run_into(false, out)
}
