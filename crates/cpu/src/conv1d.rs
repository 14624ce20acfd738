//! Separable correlation.

use crate::Fma;
use crate::filter::Filter;
use apron_core::{Border, Image, Pixel, Result, Taps, Window};

/// Separable correlation, in parallel: bit for bit what `apron_reference::separable` computes.
///
/// Along the rows with `taps_x`, then along the columns with `taps_y`; between the passes the sums
/// are kept as they are (f32 for f32 output, f64 for integers). Where the border is constant, the
/// image is meant to be extended before the first pass. The output has the image's shape, but with
/// border crop it is `taps - 1` pixels smaller in each axis.
///
/// ```
/// use apron_core::{Border, Image, Taps};
///
/// let image = Image::new(2, 2, 1, vec![1u8, 2, 3, 4])?;
/// let sum = Taps::new([1.0, 1.0])?.with_anchor(0)?;
/// let out: Image<u8> = apron_cpu::separable(&image, &sum, &sum, Border::Constant(0.0))?;
/// assert_eq!(out.packed().as_ref(), [10, 6, 7, 4]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoWindow`](apron_core::Error::NoWindow) where border crop leaves nothing.
pub fn separable<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    taps_x: &Taps,
    taps_y: &Taps,
    border: Border,
) -> Result<Image<'static, O>> {
    let window = Window::separable(image.shape(), taps_x, taps_y, border)?;
    Filter::separable(image, window, border, (taps_x, taps_y)).run(false)
}

/// [`separable`] into memory that is there already: packed rows of the output's shape.
///
/// # Errors
/// As [`separable`], and [`Error::Shape`](apron_core::Error::Shape) where `out` has another length.
pub fn separable_into<I: Pixel, O: Pixel<Sum: Fma>>(
    image: &Image<I>,
    taps_x: &Taps,
    taps_y: &Taps,
    border: Border,
    out: &mut [O],
) -> Result<()> {
    let window = Window::separable(image.shape(), taps_x, taps_y, border)?;
    Filter::separable(image, window, border, (taps_x, taps_y)).run_into(false, out)
}
