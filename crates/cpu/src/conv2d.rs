//! Dense 2-D correlation.

use crate::Fma;
use crate::filter::Filter;
use apron_core::{Correlate, Image, ImageMut, Pixel, Result, check_pixels};

/// Applies a dense 2-D correlation, in parallel: bit for bit what `apron_reference::correlate` computes.
///
/// Output sample (x, y, c) is the sum over the mask of `tap(i, j) * image(x - anchor_x + i, y - anchor_y + j, c)`, with
/// the image extended by the border, for each pixel of the extent; with border crop only full windows have an output,
/// which is `mask - 1` pixels smaller than the image along each axis.
///
/// ```
/// use apron_core::{Border, Correlate, Extent, Image, PixelType};
///
/// let image = Image::new(3, 1, 1, vec![1.0f32, 2.0, 4.0])?;
/// let (shape, src, dst, mask) = (image.shape(), PixelType::F32, PixelType::F32, "1 10 100".parse()?);
/// let (border, extent, clamp) = (Border::Replicate, Extent::Same, false);
/// let problem = Correlate { shape, src, dst, mask, border, clamp, extent };
/// let out: Image<f32> = apron_cpu::correlate(&image, &problem)?;
/// assert_eq!(out.row(0), [1.0 + 10.0 + 200.0, 1.0 + 20.0 + 400.0, 2.0 + 40.0 + 400.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Correlate::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the problem's types and shape.
pub fn correlate<I: Pixel, O: Pixel<Sum: Fma>>(image: &Image<I>, problem: &Correlate) -> Result<Image<'static, O>> {
    check_pixels::<I, O>("correlate", image, problem.shape, (problem.src, problem.dst))?;
    Filter::dense(image, problem, problem.window()?).run(problem.clamp)
}

/// As [`correlate`], into an existing image.
///
/// # Errors
/// As [`correlate`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn correlate_into<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    problem: &Correlate,
    out: ImageMut<'_, O>,
) -> Result<()> {
    check_pixels::<I, O>("correlate", image, problem.shape, (problem.src, problem.dst))?;
    Filter::dense(image, problem, problem.window()?).run_into(problem.clamp, out)
}
