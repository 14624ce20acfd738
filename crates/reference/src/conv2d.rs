//! P5: dense 2-D correlation.

use crate::Fma;
use apron_core::{Correlate, Image, Pixel, Result, Window, check_pixels};

/// Applies a dense 2-D correlation, the host reference of program P5: four loops, and one over the channels.
///
/// Output sample (x, y, c) is the sum over the mask of `tap(i, j) * image(x - anchor_x + i, y - anchor_y + j, c)`, with
/// the image extended by the border, for each pixel of the extent; with border crop, only full windows have an output.
///
/// ```
/// use apron_core::{Border, Correlate, Extent, Image, PixelType};
///
/// let image = Image::new(3, 1, 1, vec![1.0f32, 2.0, 4.0])?;
/// let (shape, src, dst, mask) = (image.shape(), PixelType::F32, PixelType::F32, "1 10 100".parse()?);
/// let (border, extent, clamp) = (Border::Replicate, Extent::Same, false);
/// let problem = Correlate { shape, src, dst, mask, border, clamp, extent };
/// let out: Image<f32> = apron_reference::correlate(&image, &problem)?;
/// assert_eq!(out.row(0), [1.0 + 10.0 + 200.0, 1.0 + 20.0 + 400.0, 2.0 + 40.0 + 400.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Correlate::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the problem's types and shape.
pub fn correlate<I: Pixel, O: Pixel<Sum: Fma>>(image: &Image<I>, problem: &Correlate) -> Result<Image<'static, O>> {
    let window = problem.window()?;
    check_pixels::<I, O>("correlate", image, problem.shape, (problem.src, problem.dst))?;
    let out = sums::<I, O::Sum>(image, problem, &window).into_iter().map(O::from_sum).collect::<Vec<O>>();
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// Returns all sums, clamped if the problem says so.
fn sums<I: Pixel, S: Fma>(image: &Image<I>, problem: &Correlate, window: &Window) -> Vec<S> {
    let (mask, (mode, constant)) = (&problem.mask, problem.border.mode_of(I::PIXEL));
    let taps: Vec<S> = mask.taps_for(I::PIXEL);
    let (width, height) = (image.width() as i32, image.height() as i32);
    let mut out = Vec::with_capacity(window.out.samples() as usize);
    for y in 0..window.out.height as i32 {
        for x in 0..window.out.width as i32 {
            for c in 0..window.out.channels {
                let mut sum = S::ZERO;
                for j in 0..mask.height() {
                    for i in 0..mask.width() {
                        let column = mode.map(x + window.origin_x + i as i32, width);
                        let row = mode.map(y + window.origin_y + j as i32, height);
                        let sample = match (column, row) {
                            (Some(column), Some(row)) => S::of(image.sample(column as u32, row as u32, c)),
                            _ => S::from_f64(constant),
                        };
                        sum = taps[(j * mask.width() + i) as usize].fma(sample, sum);
                    }
                }
                if problem.clamp {
                    let one = S::of(1.0f32);
                    sum = if sum < S::ZERO {
                        S::ZERO
                    } else if sum > one {
                        one
                    } else {
                        sum
                    };
                }
                out.push(sum);
            }
        }
    }
    out
}
