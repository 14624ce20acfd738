//! Dense 2-D correlation.

use crate::Fma;
use crate::filter::Filter;
use apron_core::{Border, Image, Mask, Pixel, Result, Window};

/// Dense 2-D correlation, in parallel: bit for bit what `apron_reference::correlate` computes.
///
/// Output sample (x, y, c) is the sum over the mask of `tap(i, j) * image(x - anchor_x + i, y - anchor_y + j, c)`,
/// the image extended by `border`. The output has the image's shape, but with border crop only
/// full windows have an output: it is `mask - 1` pixels smaller in each axis. `clamp` limits each
/// sum to 0 to 1.
///
/// ```
/// use apron_core::{Border, Image};
///
/// let image = Image::new(3, 1, 1, vec![1.0f32, 2.0, 4.0])?;
/// let mask = "1 10 100".parse()?;
/// let out: Image<f32> = apron_cpu::correlate(&image, &mask, Border::Replicate, false)?;
/// assert_eq!(out.row(0), [1.0 + 10.0 + 200.0, 1.0 + 20.0 + 400.0, 2.0 + 40.0 + 400.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoWindow`](apron_core::Error::NoWindow) where border crop leaves nothing.
pub fn correlate<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    mask: &Mask,
    border: Border,
    clamp: bool,
) -> Result<Image<'static, O>> {
    let window = Window::dense(image.shape(), mask, border)?;
    Filter::dense(image, window, border, mask).run(clamp)
}

/// [`correlate`] into memory that is there already: packed rows of the output's shape.
///
/// # Errors
/// As [`correlate`], and [`Error::Shape`](apron_core::Error::Shape) where `out` has another length.
pub fn correlate_into<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    mask: &Mask,
    border: Border,
    clamp: bool,
    out: &mut [O],
) -> Result<()> {
    let window = Window::dense(image.shape(), mask, border)?;
    Filter::dense(image, window, border, mask).run_into(clamp, out)
}
