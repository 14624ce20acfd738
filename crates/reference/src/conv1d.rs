//! P1: separable correlation.

use crate::Fma;
use apron_core::{Image, Pixel, Result, Separable, Window, check_pixels};

/// Applies a separable correlation, the serial program P1: along the rows, then along the columns.
///
/// Intermediate sums are not rounded (f32 for f32 output, f64 for integers). A constant border applies to the image,
/// before the first pass; so the border value of the second pass is the first pass's result on the constant.
///
/// ```
/// use apron_core::{Border, Extent, Image, PixelType, Separable, Taps};
///
/// let image = Image::new(2, 2, 1, vec![1u8, 2, 3, 4])?;
/// let sum = Taps::new([1.0, 1.0])?.with_anchor(0)?;
/// let (shape, src, dst, taps_x, taps_y) = (image.shape(), PixelType::U8, PixelType::U8, sum.clone(), sum);
/// let (border, extent) = (Border::Constant(0.0), Extent::Same);
/// let problem = Separable { shape, src, dst, taps_x, taps_y, border, extent };
/// let out: Image<u8> = apron_reference::separable(&image, &problem)?;
/// assert_eq!(out.packed().as_ref(), [10, 6, 7, 4]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Separable::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the problem's types and shape.
pub fn separable<I: Pixel, O: Pixel<Sum: Fma>>(image: &Image<I>, problem: &Separable) -> Result<Image<'static, O>> {
    let window = problem.window()?;
    check_pixels::<I, O>("separable", image, problem.shape, (problem.src, problem.dst))?;
    let out = sums::<I, O::Sum>(image, problem, &window).into_iter().map(O::from_sum).collect::<Vec<O>>();
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// Returns all sums.
fn sums<I: Pixel, S: Fma>(image: &Image<I>, problem: &Separable, window: &Window) -> Vec<S> {
    let Separable { taps_x, taps_y, border, .. } = problem;
    let (mode, constant) = border.mode_of(I::PIXEL);
    let constant = S::from_f64(constant);
    let (along_rows, along_columns): (Vec<S>, Vec<S>) = (taps_x.taps_for(I::PIXEL), taps_y.taps_for(I::PIXEL));
    let (out_width, channels) = (window.out.width, window.out.channels);

    let mut rows = Vec::with_capacity(out_width as usize * image.height() as usize * channels as usize);
    for y in 0..image.height() {
        for x in 0..out_width as i32 {
            for c in 0..channels {
                let mut sum = S::ZERO;
                for (i, &tap) in along_rows.iter().enumerate() {
                    let sample = match mode.map(x + window.origin_x + i as i32, image.width() as i32) {
                        Some(x) => S::of(image.sample(x as u32, y, c)),
                        None => constant,
                    };
                    sum = tap.fma(sample, sum);
                }
                rows.push(sum);
            }
        }
    }

    let outside = along_rows.iter().fold(S::ZERO, |sum, &tap| tap.fma(constant, sum));
    let row_samples = (out_width * channels) as usize;
    let mut out = Vec::with_capacity(window.out.samples() as usize);
    for y in 0..window.out.height as i32 {
        for sample in 0..row_samples {
            let mut sum = S::ZERO;
            for (i, &tap) in along_columns.iter().enumerate() {
                let value = match mode.map(y + window.origin_y + i as i32, image.height() as i32) {
                    Some(y) => rows[y as usize * row_samples + sample],
                    None => outside,
                };
                sum = tap.fma(value, sum);
            }
            out.push(sum);
        }
    }
    out
}
