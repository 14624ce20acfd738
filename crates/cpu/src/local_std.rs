//! The local standard deviation.

use crate::simd::{self, Level, Work};
use crate::{pages, parallel};
use apron_abi::BorderMode;
use apron_core::{Accumulator, Image, ImageMut, LocalStd, Pixel, Result, Sample, Shape, check_pixels};

/// Computes the standard deviation in a window around each pixel, in parallel: bit for bit what
/// `apron_reference::local_std` computes. Its time is proportional to the sum of the window's width and height, not to
/// their product; it allocates 16 bytes of scratch memory per sample.
///
/// ```
/// use apron_core::{Border, Extent, Image, LocalStd, PixelType};
///
/// let image = Image::new(4, 1, 1, vec![0u8, 6, 6, 0])?;
/// let (shape, src, dst, border) = (image.shape(), PixelType::U8, PixelType::F32, Border::Replicate);
/// let filter = LocalStd { shape, src, dst, width: 2, height: 1, border, extent: Extent::Same };
/// let out: Image<f32> = apron_cpu::local_std(&image, &filter)?;
/// assert_eq!(out.row(0), [0.0, 3.0, 0.0, 3.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`LocalStd::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the filter's types and shape.
pub fn local_std<I: Pixel, O: Pixel>(image: &Image<I>, filter: &LocalStd) -> Result<Image<'static, O>> {
    pages::filled(filter.window()?.out, |out| local_std_into(image, filter, out))
}

/// As [`local_std`], into an existing image.
///
/// # Errors
/// As [`local_std`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn local_std_into<I: Pixel, O: Pixel>(image: &Image<I>, filter: &LocalStd, mut out: ImageMut<'_, O>) -> Result<()> {
    let window = filter.window()?;
    check_pixels::<I, O>("local-std", image, filter.shape, (filter.src, filter.dst))?;
    out.check(window.out)?;
    let (shape, (mode, constant)) = (window.out, filter.border.mode());
    let row = shape.row_samples();
    let along = |y: Option<u32>, sums: &mut [[f64; 2]]| {
        let (origin, taps, constant) = (window.origin_x, filter.width, constant as f64);
        let row = y.map(|y| image.row(y));
        simd::run(Along { row, channels: shape.channels as usize, origin, taps, mode, constant, sums });
    };
    // Sums along every row, and along a row of the constant.
    let mut inside = pages::zeros::<[f64; 2]>(Shape { height: image.height(), ..shape })?;
    parallel::chunks(&mut inside, row, &|y, sums| along(Some(y as u32), sums));
    let mut outside = vec![[0.0; 2]; row];
    along(None, &mut outside);
    let count = filter.width as f64 * filter.height as f64;
    let stride = out.row_stride();
    let rows = out.spanned_mut().chunks_mut(stride).enumerate().collect();
    parallel::items(rows, &|sums: &mut Vec<[f64; 2]>, (y, out): (usize, &mut [O])| {
        sums.clear();
        sums.resize(row, [0.0; 2]);
        for y in (y as i32 + window.origin_y..).take(filter.height as usize) {
            let from = mode.map(y, image.height() as i32);
            simd::run(Add { from: from.map_or(&outside[..], |y| &inside[y as usize * row..][..row]), sums });
        }
        simd::run(Roots { sums, count, out: &mut out[..row] });
    });
    Ok(())
}

/// Sums samples and their squares along a row.
struct Along<'a, I> {
    row: Option<&'a [I]>,
    channels: usize,
    origin: i32,
    taps: u32,
    mode: BorderMode,
    constant: f64,
    sums: &'a mut [[f64; 2]],
}

impl<I: Sample> Work for Along<'_, I> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Along { row, channels, origin, taps, mode, constant, sums } = self;
        let width = row.map_or(0, |row| row.len() / channels) as i32;
        let add = |[sum, squares]: &mut [f64; 2], sample: f64| {
            *sum += sample;
            // The square of an f32 is exact in f64.
            *squares += sample * sample;
        };
        for (pixel, x) in sums.chunks_exact_mut(channels).zip(origin..) {
            pixel.fill([0.0; 2]);
            for x in x..x + taps as i32 {
                // Most columns are inside, and need no border map.
                let place = if (0..width).contains(&x) { Some(x) } else { mode.map(x, width.max(1)) };
                match (place, row) {
                    (Some(x), Some(row)) => {
                        let samples = &row[x as usize * channels..][..channels];
                        pixel.iter_mut().zip(samples).for_each(|(sums, sample)| add(sums, sample.to_f64()));
                    }
                    _ => pixel.iter_mut().for_each(|sums| add(sums, constant)),
                }
            }
        }
    }
}

/// Adds the sums of a row to the totals of the rows above.
struct Add<'a> {
    from: &'a [[f64; 2]],
    sums: &'a mut [[f64; 2]],
}

impl Work for Add<'_> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for ([sum, squares], [more, more_squares]) in self.sums.iter_mut().zip(self.from) {
            *sum += more;
            *squares += more_squares;
        }
    }
}

/// Computes the deviations from the sums.
struct Roots<'a, O> {
    sums: &'a [[f64; 2]],
    count: f64,
    out: &'a mut [O],
}

impl<O: Pixel> Work for Roots<'_, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for (out, [sum, squares]) in self.out.iter_mut().zip(self.sums) {
            let variance = self.count.mul_add(*squares, -(sum * sum));
            // The comparison is false for NaN, which is kept.
            let root = if variance < 0.0 { 0.0 } else { variance }.sqrt();
            *out = O::from_sum(O::Sum::from_f64(root / self.count));
        }
    }
}
