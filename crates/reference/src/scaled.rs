//! Weighted sums that are scaled before they are rounded to integers.

use apron_core::{Accumulator, Image, Kind, Pixel, Result, Scaled, Weights, Window, check_pixels};

/// Computes integers of scaled sums in plain loops: sums in f64, in the order of [`correlate`](crate::correlate) and
/// [`separable`](crate::separable), then `fma(factor, sum, offset)`, rounded once.
///
/// ```
/// use apron_core::{Border, Extent, Image, PixelType, Scaled, Weights};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 6])?;
/// let (shape, src, dst) = (image.shape(), PixelType::U8, PixelType::I16);
/// let (weights, factor, offset) = (Weights::Dense("-1 0 1".parse()?), 0.25, -10.0);
/// let (border, extent) = (Border::Replicate, Extent::Same);
/// let problem = Scaled { shape, src, dst, weights, factor, offset, border, extent };
/// let out: Image<i16> = apron_reference::scaled(&image, &problem)?;
/// // 0.25 - 10, 1.25 - 10, 1 - 10
/// assert_eq!(out.row(0), [-10, -9, -9]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Scaled::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the problem's types and shape.
pub fn scaled<I: Pixel, O: Pixel>(image: &Image<I>, problem: &Scaled) -> Result<Image<'static, O>> {
    let window = problem.window()?;
    check_pixels::<I, O>(Scaled::OPERATION, image, problem.shape, (problem.src, problem.dst))?;
    let store = |value| O::from_sum(O::Sum::from_f64(value));
    let out = values(image, problem, &window).into_iter().map(store).collect::<Vec<O>>();
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// Returns the scaled sums.
fn values<I: Pixel>(image: &Image<I>, problem: &Scaled, window: &Window) -> Vec<f64> {
    let mut out = Vec::with_capacity(window.out.samples() as usize);
    for y in 0..window.out.height as i32 {
        for x in 0..window.out.width as i32 {
            for c in 0..window.out.channels {
                out.push(problem.factor.mul_add(sum(image, problem, window, x, y, c), problem.offset));
            }
        }
    }
    out
}

/// Returns the sum at an output column and row.
fn sum<I: Pixel>(image: &Image<I>, problem: &Scaled, window: &Window, x: i32, y: i32, c: u32) -> f64 {
    let (mode, constant) = problem.border.mode();
    let sample = |i: usize, j: usize| {
        let column = mode.map(x + window.origin_x + i as i32, image.width() as i32);
        let row = mode.map(y + window.origin_y + j as i32, image.height() as i32);
        match (column, row) {
            (Some(column), Some(row)) => image.sample(column as u32, row as u32, c).to_f64(),
            _ => constant as f64,
        }
    };
    let mut sum = 0.0;
    match &problem.weights {
        Weights::Dense(mask) => {
            let width = mask.width() as usize;
            for (index, &tap) in mask.taps().iter().enumerate() {
                sum = (tap as f64).mul_add(sample(index % width, index / width), sum);
            }
        }
        Weights::Separable(taps_x, taps_y) => {
            for (j, &tap_y) in taps_y.taps().iter().enumerate() {
                let mut along_row = 0.0;
                for (i, &tap_x) in taps_x.taps().iter().enumerate() {
                    along_row = (tap_x as f64).mul_add(sample(i, j), along_row);
                }
                sum = (tap_y as f64).mul_add(along_row, sum);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, PixelType, Taps};

    fn of(image: &Image<u16>, dst: PixelType, weights: Weights, factor: f64, offset: f64) -> Scaled {
        let (shape, src, border, extent) = (image.shape(), PixelType::U16, Border::Crop, Extent::Same);
        Scaled { shape, src, dst, weights, factor, offset, border, extent }
    }

    #[test]
    fn sums_that_f32_cannot_hold() {
        // 65535 * 3001 - 65535 * 1501 - 65533 * 1500 = 3000, from partial sums of 2^27 and more.
        let image = Image::new(3, 1, 1, vec![65535u16, 65535, 65533]).unwrap();
        let mask = Weights::Dense("3001 -1501 -1500".parse().unwrap());
        let one = Taps::new([1.0]).unwrap();
        let axes = Weights::Separable(Taps::new([3001.0, -1501.0, -1500.0]).unwrap(), one);
        for weights in [mask, axes] {
            let out: Image<i16> = scaled(&image, &of(&image, PixelType::I16, weights, 1.0, 1.0)).unwrap();
            assert_eq!(out.row(0), [3001]);
        }
    }

    #[test]
    fn rounded_once_to_even_and_saturated() {
        let image = Image::new(4, 1, 1, vec![5u16, 7, 9, 65535]).unwrap();
        let one = || Weights::Dense("1".parse().unwrap());
        // 2.5, 3.5, 4.5, and a value above 255.
        let out: Image<u8> = scaled(&image, &of(&image, PixelType::U8, one(), 0.5, 0.0)).unwrap();
        assert_eq!(out.row(0), [2, 4, 4, 255]);
        // 2.51, 3.51 and 4.51 less 3: -0.49, 0.51 and 1.51; and 65535 / 2 - 2.99 = 32764.51.
        let out: Image<i16> = scaled(&image, &of(&image, PixelType::I16, one(), 0.5, -2.99)).unwrap();
        assert_eq!(out.row(0), [0, 1, 2, 32765]);
        // 1.5 rounds to 2, 0.5 and values below 0 become 0.
        let out: Image<u16> = scaled(&image, &of(&image, PixelType::U16, one(), -1.0, 6.5)).unwrap();
        assert_eq!(out.row(0), [2, 0, 0, 0]);
    }

    #[test]
    fn both_axes_and_what_lies_outside() {
        // Rows 1 2 and 3 4, border 10: along x 1 + 2 * 2 and 2 + 2 * 10, then 3 + 2 * 4 and 4 + 2 * 10, and 30 below.
        let image = Image::new(2, 2, 1, vec![1u16, 2, 3, 4]).unwrap();
        let taps = |taps: [f32; 2]| Taps::new(taps).unwrap().with_anchor(0).unwrap();
        let weights = Weights::Separable(taps([1.0, 2.0]), taps([1.0, -1.0]));
        let problem = of(&image, PixelType::I16, weights, 10.0, 1.0);
        let problem = Scaled { border: Border::Constant(10.0), ..problem };
        let out: Image<i16> = scaled(&image, &problem).unwrap();
        assert_eq!(
            out.packed().as_ref(),
            [10 * (5 - 11) + 1, 10 * (22 - 24) + 1, 10 * (11 - 30) + 1, 10 * (24 - 30) + 1]
        );
        assert!(scaled::<u16, u8>(&image, &problem).is_err());
    }
}
