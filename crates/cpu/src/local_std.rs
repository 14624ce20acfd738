//! The local standard deviation.

use crate::simd::{self, Level, Work};
use crate::{pages, parallel};
use apron_abi::BorderMode;
use apron_core::{
    Accumulator, BOX_CHUNK, Image, ImageMut, LocalStd, Pixel, Result, Sample, Shape, Window, check_pixels,
};
use std::ops::Range;

/// Computes the standard deviation in a window around each pixel, in parallel: bit for bit what
/// `apron_reference::local_std` computes. For integers its time does not depend on the window; for floats it is
/// proportional to the sum of the window's width and height, and it allocates 16 bytes of scratch memory per sample.
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
    if filter.sums_are_exact() {
        return slide(image, filter, &window, out);
    }
    let (shape, (mode, constant)) = (window.out, filter.border.mode());
    let row = shape.row_samples();
    let along = |y: Option<u32>, sums: &mut [Sums]| {
        let (origin, taps, constant) = (window.origin_x, filter.width, constant as f64);
        let row = y.map(|y| image.row(y));
        simd::run(Along { row, channels: shape.channels as usize, origin, taps, mode, constant, sums });
    };
    // Sums along every row, and along a row of the constant.
    let mut inside = pages::zeros::<Sums>(Shape { height: image.height(), ..shape })?;
    parallel::chunks(&mut inside, row, &|y, sums| along(Some(y as u32), sums));
    let mut outside = vec![[0.0; 2]; row];
    along(None, &mut outside);
    let count = filter.width as f64 * filter.height as f64;
    let stride = out.row_stride();
    let rows = out.spanned_mut().chunks_mut(stride).enumerate().collect();
    parallel::items(rows, &|sums: &mut Vec<Sums>, (y, out): (usize, &mut [O])| {
        let under =
            |y: i32| mode.map(y, image.height() as i32).map_or(&outside[..], |y| &inside[y as usize * row..][..row]);
        let first = y as i32 + window.origin_y;
        sums.clear();
        sums.extend((0..row).map(|x| ordered_sum(first..first + filter.height as i32, |y| under(y)[x])));
        simd::run(Roots { sums, count, out: &mut out[..row] });
    });
    Ok(())
}

/// Returns a window's sum in the order of [`BOX_CHUNK`].
fn ordered_sum(window: Range<i32>, at: impl Fn(i32) -> Sums) -> Sums {
    let add = |[a, b]: Sums, [c, d]: Sums| [a + c, b + d];
    let upwards = |window: Range<i32>| window.map(&at).reduce(add).unwrap_or_default();
    let chunk = BOX_CHUNK as i32;
    if window.len() <= chunk as usize {
        return window.fold([0.0; 2], |sum, i| add(sum, at(i)));
    }
    let (near, far) = ((window.start & -chunk) + chunk, (window.end - 1) & -chunk);
    let head = (window.start..near).rev().map(&at).reduce(add).unwrap_or_default();
    let chunks = (near..far).step_by(chunk as usize);
    let middle = chunks.fold([0.0; 2], |sum, start| add(sum, upwards(start..start + chunk)));
    add(add(head, middle), upwards(far..window.end))
}

/// A sum of samples, and one of their squares.
type Sums = [f64; 2];

/// Computes exact sums of windows from those of their neighbours: columns of sums slide down the image, and the window
/// slides along them.
fn slide<I: Pixel, O: Pixel>(
    image: &Image<I>,
    filter: &LocalStd,
    window: &Window,
    mut out: ImageMut<'_, O>,
) -> Result<()> {
    let (shape, (mode, constant)) = (window.out, filter.border.mode());
    let (channels, row) = (shape.channels as usize, shape.row_samples());
    let count = filter.width as f64 * filter.height as f64;
    // The image's columns under the windows; `None` outside, where the border is constant.
    let columns: Vec<Option<usize>> = (window.origin_x..)
        .take((shape.width + filter.width - 1) as usize)
        .map(|x| mode.map(x, image.width() as i32).map(|x| x as usize))
        .collect();
    let stride = out.row_stride();
    // The first sums of a band take as many rows as the window has.
    let share = (shape.height as u64).div_ceil(4 * parallel::threads());
    let band = share.max(filter.height.into()).clamp(16, shape.height.max(16).into()) as usize;
    parallel::chunks(out.spanned_mut(), stride * band, &|index, out| {
        let first = (index * band) as i32 + window.origin_y;
        let under = |y: i32| mode.map(y, image.height() as i32).map(|y| image.row(y as u32));
        let constant = constant as i64;
        let mut sums = vec![[0i64; 2]; image.shape().row_samples()];
        for y in (first..).take(filter.height as usize) {
            simd::run(Replace { old: None, new: under(y), constant, sums: &mut sums });
        }
        let outside = [constant, constant * constant].map(|sum| sum * filter.height as i64);
        let mut extended = vec![[0i64; 2]; columns.len() * channels];
        let mut windows = vec![[0.0; 2]; row];
        for (y, out) in (first..).zip(out.chunks_mut(stride)) {
            if y > first {
                let (old, new) = (under(y - 1), under(y - 1 + filter.height as i32));
                simd::run(Replace { old: Some(old), new, constant, sums: &mut sums });
            }
            for (to, column) in extended.chunks_exact_mut(channels).zip(&columns) {
                match column {
                    Some(x) => to.copy_from_slice(&sums[x * channels..][..channels]),
                    None => to.fill(outside),
                }
            }
            slide_along(&extended, filter.width as usize * channels, channels, &mut windows);
            simd::run(Roots { sums: &windows, count, out: &mut out[..row] });
        }
    });
    Ok(())
}

/// Sums windows of `length` samples, the samples of a channel `channels` apart.
fn slide_along(sums: &[[i64; 2]], length: usize, channels: usize, windows: &mut [Sums]) {
    for channel in 0..channels {
        let add = |[a, b]: [i64; 2], [c, d]: [i64; 2]| [a + c, b + d];
        let first = sums[channel..length].iter().step_by(channels).copied().fold([0; 2], add);
        let (enters, leaves) = (sums[channel..].iter().skip(length), sums[channel..].iter());
        let steps = enters.step_by(channels).zip(leaves.step_by(channels));
        let mut total = first;
        let mut places = windows[channel..].iter_mut().step_by(channels);
        let mut set = |total: [i64; 2]| {
            if let Some(place) = places.next() {
                *place = total.map(|sum| sum as f64);
            }
        };
        set(total);
        for (enters, leaves) in steps {
            total = [total[0] + enters[0] - leaves[0], total[1] + enters[1] - leaves[1]];
            set(total);
        }
    }
}

/// Adds a row of integers and their squares to sums of columns, and takes another row away. A row that is `None` is one of
/// the constant; without `old` no row leaves.
struct Replace<'a, I> {
    old: Option<Option<&'a [I]>>,
    new: Option<&'a [I]>,
    constant: i64,
    sums: &'a mut [[i64; 2]],
}

impl<I: Sample> Work for Replace<'_, I> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Replace { old, new, constant, sums } = self;
        // Integers of 16 bits, exactly.
        let of = |sample: I| i64::from(sample.to_f32() as i32);
        match (old, new) {
            (Some(Some(old)), Some(new)) => {
                for (([sum, squares], &old), &new) in sums.iter_mut().zip(old).zip(new) {
                    let (old, new) = (of(old), of(new));
                    *sum += new - old;
                    *squares += (new - old) * (new + old);
                }
            }
            (old, new) => {
                let mut add = |row: Option<&[I]>, sign: i64| match row {
                    Some(row) => {
                        for ([sum, squares], &sample) in sums.iter_mut().zip(row) {
                            *sum += sign * of(sample);
                            *squares += sign * of(sample) * of(sample);
                        }
                    }
                    None => {
                        for [sum, squares] in sums.iter_mut() {
                            *sum += sign * constant;
                            *squares += sign * constant * constant;
                        }
                    }
                };
                add(new, 1);
                if let Some(old) = old {
                    add(old, -1);
                }
            }
        }
    }
}

/// Sums samples and their squares along a row.
struct Along<'a, I> {
    row: Option<&'a [I]>,
    channels: usize,
    origin: i32,
    taps: u32,
    mode: BorderMode,
    constant: f64,
    sums: &'a mut [Sums],
}

impl<I: Sample> Work for Along<'_, I> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Along { row, channels, origin, taps, mode, constant, sums } = self;
        let width = row.map_or(0, |row| row.len() / channels) as i32;
        for (pixel, x) in sums.chunks_exact_mut(channels).zip(origin..) {
            for (channel, sums) in pixel.iter_mut().enumerate() {
                *sums = ordered_sum(x..x + taps as i32, |x| {
                    let sample = match (mode.map(x, width.max(1)), row) {
                        (Some(x), Some(row)) => row[x as usize * channels + channel].to_f64(),
                        _ => constant,
                    };
                    // The square of an f32 is exact in f64.
                    [sample, sample * sample]
                });
            }
        }
    }
}

/// Computes the deviations from the sums.
struct Roots<'a, O> {
    sums: &'a [Sums],
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
