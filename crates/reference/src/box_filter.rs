//! The box filter.

use crate::ordered_sum::ordered_sum;
use apron_core::{Accumulator, BoxFilter, Image, Pixel, PixelType, Result, Window, check_pixels};
use std::ops::Range;

/// Applies a box filter in plain loops, as [`BoxFilter`] defines it: scaled sums over windows; channels are
/// independent.
///
/// Sums are taken along the rows of the extended image first, then along the columns of these sums: of integers
/// exactly, and of floats in the order of [`BOX_CHUNK`](apron_core::BOX_CHUNK).
///
/// ```
/// use apron_core::{Border, BoxFilter, Extent, Image, PixelType, Scale};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 5])?;
/// let (shape, border, scale) = (image.shape(), Border::Replicate, Scale::Mean);
/// let (src, dst, extent) = (PixelType::U8, PixelType::F32, Extent::Same);
/// let (width, height, anchor) = (2, 1, (0, 0));
/// let filter = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
/// let out: Image<f32> = apron_reference::box_filter(&image, &filter)?;
/// assert_eq!(out.row(0), [1.5, 3.5, 5.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`BoxFilter::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the filter's types and shape.
pub fn box_filter<I: Pixel, O: Pixel>(image: &Image<I>, filter: &BoxFilter) -> Result<Image<'static, O>> {
    let window = filter.window()?;
    check_pixels::<I, O>("box", image, filter.shape, (filter.src, filter.dst))?;
    let store = |value| O::from_sum(O::Sum::from_f64(value));
    let out = values(image, filter, window).into_iter().map(store).collect::<Vec<O>>();
    Image::new(window.out.width, window.out.height, window.out.channels, out)
}

/// Returns the scaled sums over all windows, those of f32 as the f64 of the same value.
fn values<I: Pixel>(image: &Image<I>, filter: &BoxFilter, window: Window) -> Vec<f64> {
    let (samples, (_, constant)) = (filter.samples(), filter.border.mode_of(I::PIXEL));
    if !I::PIXEL.is_float() {
        let whole = |sample: I| sample.to_f64() as i64;
        let sums = sums(image, filter, window, whole, constant as i64, |run, at| run.map(at).sum());
        sums.into_iter().map(|sum| filter.scale.of_sum(sum, samples)).collect()
    } else if I::PIXEL == PixelType::F64 {
        let factor = filter.scale.factor_f64(samples);
        let sums = sums(image, filter, window, I::to_f64, constant, ordered_sum);
        sums.into_iter().map(|sum| sum * factor).collect()
    } else {
        let factor = filter.scale.factor(samples);
        let sums = sums(image, filter, window, I::to_f32, constant as f32, ordered_sum);
        sums.into_iter().map(|sum| f64::from(sum * factor)).collect()
    }
}

/// The sum of a range of samples of an axis, which are accessed by index.
type Sum<S> = fn(Range<i32>, &dyn Fn(i32) -> S) -> S;

/// Returns the sums over all windows.
fn sums<I: Pixel, S: Copy>(
    image: &Image<I>,
    filter: &BoxFilter,
    window: Window,
    of: impl Fn(I) -> S,
    constant: S,
    sum: Sum<S>,
) -> Vec<S> {
    let (mode, _) = filter.border.mode();
    let (width, height) = (image.width() as i32, image.height() as i32);
    let Window { out, origin_x, origin_y } = window;
    let columns = origin_x..origin_x + (out.width + filter.width) as i32 - 1;
    let columns: Vec<Option<i32>> = columns.map(|x| mode.map(x, width)).collect();
    // Sums along a row of the image, or along a row of the constant.
    let along = |y: Option<u32>| -> Vec<S> {
        let mut sums = Vec::with_capacity(out.row_samples());
        for x in origin_x..origin_x + out.width as i32 {
            for channel in 0..out.channels {
                sums.push(sum(x..x + filter.width as i32, &|x| match (columns[(x - origin_x) as usize], y) {
                    (Some(x), Some(y)) => of(image.sample(x as u32, y, channel)),
                    _ => constant,
                }));
            }
        }
        sums
    };
    let inside: Vec<Vec<S>> = (0..image.height()).map(|y| along(Some(y))).collect();
    let outside = along(None);
    let row = |y: i32| mode.map(y, height).map_or(&outside, |y| &inside[y as usize]);
    let mut sums = Vec::with_capacity(out.samples() as usize);
    for y in origin_y..origin_y + out.height as i32 {
        sums.extend((0..out.row_samples()).map(|sample| sum(y..y + filter.height as i32, &|y| row(y)[sample])));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, PixelType, Scale, Shape};

    fn filter(
        shape: (u32, u32, u32),
        types: (PixelType, PixelType),
        size: (u32, u32),
        anchor: (u32, u32),
    ) -> BoxFilter {
        let shape = Shape::new(shape.0, shape.1, shape.2).unwrap();
        let (src, dst) = types;
        let (width, height) = size;
        BoxFilter {
            shape,
            src,
            dst,
            width,
            height,
            anchor,
            border: Border::Constant(0.0),
            scale: Scale::Tap(1.0),
            extent: Extent::Same,
        }
    }

    const BYTES: (PixelType, PixelType) = (PixelType::U8, PixelType::U8);
    const FLOATS: (PixelType, PixelType) = (PixelType::F32, PixelType::F32);

    #[test]
    fn sums_of_bytes_by_hand() {
        let image = Image::new(3, 2, 1, vec![1u8, 2, 3, 40, 50, 60]).unwrap();
        let sums = |filter: &BoxFilter| box_filter::<u8, u16>(&image, filter).unwrap().into_packed();
        let filter = filter((3, 2, 1), (PixelType::U8, PixelType::U16), (2, 2), (1, 1));
        assert_eq!(sums(&filter), [1, 3, 5, 41, 93, 115]);
        assert_eq!(sums(&BoxFilter { anchor: (0, 0), ..filter.clone() }), [93, 115, 63, 90, 110, 60]);
        assert_eq!(sums(&BoxFilter { border: Border::Constant(7.0), ..filter.clone() }), [22, 17, 19, 55, 93, 115]);
        assert_eq!(sums(&BoxFilter { border: Border::Crop, ..filter.clone() }), [93, 115]);
        assert_eq!(sums(&BoxFilter { border: Border::Wrap, ..filter.clone() }), [104, 93, 115, 104, 93, 115]);
        // 0.25, 0.75, 1.25, 10.25, 23.25, 28.75.
        let mean = BoxFilter { scale: Scale::Mean, ..filter };
        assert_eq!(sums(&mean), [0, 1, 1, 10, 23, 29]);
    }

    #[test]
    fn halves_go_to_the_even_neighbour_and_means_are_exact() {
        let image = Image::new(6, 1, 1, vec![0u8, 1, 2, 3, 255, 255]).unwrap();
        let mut filter = filter((6, 1, 1), BYTES, (2, 1), (0, 0));
        (filter.scale, filter.border) = (Scale::Mean, Border::Crop);
        let means: Image<u8> = box_filter(&image, &filter).unwrap();
        assert_eq!(means.row(0), [0, 2, 2, 129, 255]);
        filter.dst = PixelType::F32;
        let means: Image<f32> = box_filter(&image, &filter).unwrap();
        assert_eq!(means.row(0), [0.5, 1.5, 2.5, 129.0, 255.0]);
    }

    #[test]
    fn sums_of_16_bits_by_hand() {
        let image = Image::new(4, 1, 1, vec![65535u16, 65535, 65533, 1]).unwrap();
        let of =
            |types| BoxFilter { scale: Scale::Mean, border: Border::Crop, ..filter((4, 1, 1), types, (3, 1), (0, 0)) };
        let means: Image<u16> = box_filter(&image, &of((PixelType::U16, PixelType::U16))).unwrap();
        // 196603 / 3 = 65534.33, and 131069 / 3 = 43689.67.
        assert_eq!(means.row(0), [65534, 43690]);
        let image = Image::new(4, 1, 1, vec![-32768i16, -32768, 5, 2]).unwrap();
        let filter = BoxFilter { border: Border::Constant(-3.0), ..of((PixelType::I16, PixelType::I16)) };
        let means: Image<i16> = box_filter(&image, &filter).unwrap();
        // -65531 / 3 = -21843.67, -32761 / 3 = -10920.33, 4 / 3, and -4 / 3.
        assert_eq!(means.row(0), [-21844, -10920, 1, -1]);
    }

    #[test]
    fn halves_are_summed_in_f32_and_rounded_once() {
        let samples = [2048.0f32, 1.0, 0.5, 1.0].map(apron_core::f16::from_f32);
        let image = Image::new(4, 1, 1, samples.to_vec()).unwrap();
        let types = (PixelType::F16, PixelType::F16);
        let filter = BoxFilter { border: Border::Crop, ..filter((4, 1, 1), types, (3, 1), (0, 0)) };
        let sums: Image<apron_core::f16> = box_filter(&image, &filter).unwrap();
        // f16 has even integers from 2048 to 4096: 2049.5 is nearer to 2050.
        assert_eq!(sums.row(0).iter().map(|sum| sum.to_f32()).collect::<Vec<_>>(), [2050.0, 2.5]);
    }

    #[test]
    fn channels_are_apart() {
        let image = Image::new(2, 1, 3, vec![1u8, 10, 100, 2, 20, 200]).unwrap();
        let filter = filter((2, 1, 3), BYTES, (2, 1), (0, 0));
        let out: Image<u8> = box_filter(&image, &filter).unwrap();
        assert_eq!(out.row(0), [3, 30, 255, 2, 20, 200]);
    }

    #[test]
    fn rows_come_first() {
        let image = Image::new(2, 2, 1, vec![LARGE, 1.0, -LARGE, 0.0]).unwrap();
        let mut filter = filter((2, 2, 1), FLOATS, (2, 2), (0, 0));
        (filter.border, filter.scale) = (Border::Crop, Scale::Mean);
        let out: Image<f32> = box_filter(&image, &filter).unwrap();
        assert_eq!(out.row(0), [0.0]);
        // With a row of the constant, 3, below, three ones remain, and the sums are scaled.
        (filter.border, filter.anchor) = (Border::Constant(3.0), (0, 1));
        let out: Image<f32> = box_filter(&image, &filter).unwrap();
        assert_eq!(out.row(0), [(LARGE + 6.0) / 4.0, (4.0 + 6.0) / 4.0]);
    }

    /// A sample of 2^24: a 1 that is added to it is lost; ones that are summed before it are not.
    const LARGE: f32 = 16777216.0;

    #[test]
    fn short_windows_are_summed_from_the_left() {
        let mut samples = vec![1.0f32; 16];
        samples[3] = LARGE;
        let at = |samples: &[f32]| ordered_sum(0..16, &|i| samples[i as usize]);
        // With the three before it the sum rounds to a multiple of 4; the twelve after it are lost.
        assert_eq!(at(&samples), LARGE + 4.0);
        samples.reverse();
        assert_eq!(at(&samples), LARGE + 12.0);
        assert_eq!(at(&[-0.0; 16]).to_bits(), 0);
    }

    #[test]
    fn long_windows_are_summed_by_chunks() {
        // Ones, and one large sample; the window begins at 13 and ends before 40, so its head is 13 to 15, its only
        // whole chunk 16 to 31, and its tail 32 to 39.
        let sum = |large: i32| ordered_sum(13..40, &|i| if i == large { LARGE } else { 1.0 });
        // The head is summed from its end, 15, 14, 13: two ones count before a large 13, and a single one is lost.
        assert_eq!([13, 14, 15].map(sum), [26.0, 24.0, 24.0].map(|more| LARGE + more));
        // In the chunk the ones before the large sample count, then the head: 3 round to 4, 7 to 8, 15 to 16, 19 to 20.
        assert_eq!([16, 17, 19, 31].map(sum), [12.0, 12.0, 16.0, 28.0].map(|more| LARGE + more));
        // The same in the tail, then the 19 before it.
        assert_eq!([32, 33, 39].map(sum), [20.0, 20.0, 28.0].map(|more| LARGE + more));
        // The same alignment to the left of the image.
        let sum = |large: i32| ordered_sum(-19..8, &|i| if i == large { LARGE } else { 1.0 });
        assert_eq!([-19, -18, -17].map(sum), [26.0, 24.0, 24.0].map(|more| LARGE + more));
    }
}
