//! The local standard deviation.

use crate::ordered_sum::ordered_sum;
use apron_core::{Accumulator, Image, LocalStd, Pixel, Result, Window, check_pixels};
use std::ops::Add;

/// Computes the standard deviation in a window around each pixel in plain loops, as [`LocalStd`] defines it.
///
/// ```
/// use apron_core::{Border, Extent, Image, LocalStd, PixelType};
///
/// let image = Image::new(4, 1, 1, vec![0u8, 6, 6, 0])?;
/// let (shape, src, dst, border) = (image.shape(), PixelType::U8, PixelType::F32, Border::Replicate);
/// let filter = LocalStd { shape, src, dst, width: 2, height: 1, border, extent: Extent::Same };
/// let out: Image<f32> = apron_reference::local_std(&image, &filter)?;
/// assert_eq!(out.row(0), [0.0, 3.0, 0.0, 3.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`LocalStd::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the filter's types and shape.
pub fn local_std<I: Pixel, O: Pixel>(image: &Image<I>, filter: &LocalStd) -> Result<Image<'static, O>> {
    let window = filter.window()?;
    check_pixels::<I, O>("local-std", image, filter.shape, (filter.src, filter.dst))?;
    let store = |deviation| O::from_sum(O::Sum::from_f64(deviation));
    let out = deviations(image, filter, &window).into_iter().map(store).collect::<Vec<O>>();
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// Returns all deviations.
fn deviations<I: Pixel>(image: &Image<I>, filter: &LocalStd, window: &Window) -> Vec<f64> {
    let (mode, constant) = filter.border.mode_of(I::PIXEL);
    let (width, height) = (image.width() as i32, image.height() as i32);
    let count = filter.width as f64 * filter.height as f64;
    let exact = filter.sums_are_exact();
    let mut out = Vec::with_capacity(window.out.samples() as usize);
    for y in window.origin_y..window.origin_y + window.out.height as i32 {
        let rows: Vec<Option<i32>> = (y..y + filter.height as i32).map(|y| mode.map(y, height)).collect();
        for x in window.origin_x..window.origin_x + window.out.width as i32 {
            let columns: Vec<Option<i32>> = (x..x + filter.width as i32).map(|x| mode.map(x, width)).collect();
            for channel in 0..window.out.channels {
                let sample = |column: Option<i32>, row: Option<i32>| match (column, row) {
                    (Some(x), Some(y)) => image.sample(x as u32, y as u32, channel).to_f64(),
                    _ => constant,
                };
                let Sums(sum, squares) = if exact {
                    let (mut sum, mut squares) = (0, 0);
                    for &row in &rows {
                        for &column in &columns {
                            let x = sample(column, row) as i64;
                            (sum, squares) = (sum + x, squares + (x * x) as u64);
                        }
                    }
                    Sums(sum as f64, squares as f64)
                } else {
                    // By the places in the extended image, on which the order depends.
                    ordered_sum(y..y + filter.height as i32, &|j| {
                        let row = rows[(j - y) as usize];
                        ordered_sum(x..x + filter.width as i32, &|i| Sums::of(sample(columns[(i - x) as usize], row)))
                    })
                };
                // Sums of 301x301 samples of u16 have squares that f64 rounds: by `rest`.
                let square = sum * sum;
                let rest = sum.mul_add(sum, -square);
                let variance = count.mul_add(squares, -square) - rest;
                let root = if variance < 0.0 { 0.0 } else { variance.sqrt() };
                out.push(root / count);
            }
        }
    }
    out
}

/// A sum of samples, and one of their squares.
#[derive(Clone, Copy, Default)]
struct Sums(f64, f64);

impl Sums {
    /// The square of an f32 is exact in f64.
    fn of(sample: f64) -> Sums {
        Sums(sample, sample * sample)
    }
}

impl Add for Sums {
    type Output = Sums;
    fn add(self, other: Sums) -> Sums {
        Sums(self.0 + other.0, self.1 + other.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, PixelType, Shape};

    fn filter(shape: (u32, u32, u32), src: PixelType, (width, height): (u32, u32), border: Border) -> LocalStd {
        let shape = Shape::new(shape.0, shape.1, shape.2).unwrap();
        LocalStd { shape, src, dst: PixelType::F32, width, height, border, extent: Extent::Same }
    }

    #[test]
    fn deviations_by_hand() {
        // One window over the whole image: 2 4 4 4 5 5 7 9 have a mean of 5 and a deviation of 2.
        let image = Image::new(4, 2, 1, vec![2u8, 4, 4, 4, 5, 5, 7, 9]).unwrap();
        let out: Image<f32> = local_std(&image, &filter((4, 2, 1), PixelType::U8, (4, 2), Border::Crop)).unwrap();
        assert_eq!(out.packed().as_ref(), [2.0]);
        // Windows of one column and two rows, zeros above the image: 0 and 2, 0 and 4, and so on; then 2 and 5.
        let out: Image<f32> =
            local_std(&image, &filter((4, 2, 1), PixelType::U8, (1, 2), Border::Constant(0.0))).unwrap();
        assert_eq!(out.packed().as_ref(), [1.0, 2.0, 2.0, 2.0, 1.5, 0.5, 1.5, 2.5]);
    }

    #[test]
    fn channels_are_apart_and_integers_round() {
        let image = Image::new(2, 1, 2, vec![0u8, 10, 5, 10]).unwrap();
        let filter = filter((2, 1, 2), PixelType::U8, (2, 1), Border::Crop);
        let out: Image<u8> = local_std(&image, &LocalStd { dst: PixelType::U8, ..filter }).unwrap();
        // 2.5 rounds to the even neighbour.
        assert_eq!(out.row(0), [2, 0]);
    }

    #[test]
    fn a_large_mean_hides_nothing() {
        let samples = [1e6f32, 1e6 + 1.0, 1e6, 1e6 + 1.0];
        let image = Image::new(4, 1, 1, samples.to_vec()).unwrap();
        let out: Image<f32> = local_std(&image, &filter((4, 1, 1), PixelType::F32, (4, 1), Border::Crop)).unwrap();
        assert_eq!(out.row(0), [0.5]);
    }

    #[test]
    fn floats_are_summed_by_chunks_and_integers_exactly() {
        // 2^53 swallows a 1 that is added to it. The window starts at the first chunk's last two samples, which are
        // summed from the right: 1 + 2^53 is 2^53, and -2^53 + 2^53 leaves nothing; then the tail.
        let mut samples = [0.0f32; 40];
        (samples[14], samples[15], samples[16]) = (9_007_199_254_740_992.0, 1.0, -9_007_199_254_740_992.0);
        let image = Image::new(40, 1, 1, samples.to_vec()).unwrap();
        let of = |width| filter((40, 1, 1), PixelType::F32, (width, 1), Border::Crop);
        let sum_of_squares = 2.0 * 81_129_638_414_606_681_695_789_005_144_064.0_f64;
        let out: Image<f32> = local_std(&image, &of(18)).unwrap();
        assert_eq!(out.row(0)[14], ((18.0 * sum_of_squares).sqrt() / 18.0) as f32);

        // Sums of squares of over 2^53, which f64 would round on the way: 65535 twice, else 65534.
        let mut samples = vec![65534u16; 1500 * 1500];
        (samples[0], samples[1]) = (65535, 65535);
        let image = Image::new(1500, 1500, 1, samples).unwrap();
        let of =
            LocalStd { width: 1500, height: 1500, ..filter((1500, 1500, 1), PixelType::U16, (1, 1), Border::Crop) };
        let out: Image<f32> = local_std(&image, &of).unwrap();
        let (count, sum) = (2_250_000i128, 147_451_500_002i128);
        let squares = (2u64 * 65535 * 65535 + 2_249_998 * 65534 * 65534) as f64;
        let spread = count * squares as i128 - sum * sum;
        assert_eq!(out.row(0), [((spread.max(0) as f64).sqrt() / count as f64) as f32]);
    }

    #[test]
    fn a_constant_of_large_integers_deviates_by_nothing() {
        // The square of the sum, (301 * 301 * 65533)^2, has 66 bits.
        let image = Image::new(2, 1, 1, vec![65533u16; 2]).unwrap();
        let of = filter((2, 1, 1), PixelType::U16, (301, 301), Border::Replicate);
        let out: Image<f32> = local_std(&image, &of).unwrap();
        assert_eq!(out.row(0), [0.0; 2]);
        // 60,501 of 0 and 30,100 of 65535, and one column more or less of each.
        let image = Image::new(2, 1, 1, vec![0u16, 65535]).unwrap();
        let out: Image<f32> = local_std(&image, &of).unwrap();
        let expected = [150.0, 151.0].map(|columns: f64| {
            let share = columns / 301.0;
            (65535.0 * (share * (1.0 - share)).sqrt()) as f32
        });
        assert_eq!(out.row(0), expected);
    }
}
