//! The box filter.

use crate::divisor::Divisor;
use crate::pages;
use crate::simd::{self, Level, Work};
use crate::tiles::Tile;
use crate::windows::integers::{Integer, Under, Whole};
use crate::windows::{Windows, floats, integers};
use apron_core::{
    Accumulator, AnyImage, AnyImageMut, BoxFilter, Error, Image, ImageMut, Pixel, PixelType, Result, Scale, Window,
    check_pixels, not_computed,
};
use std::ops::Mul;

/// Applies a box filter, in parallel: bit for bit what `apron_reference::box_filter` computes, in a time almost
/// independent of the window's size.
///
/// ```
/// use apron_core::{Border, BoxFilter, Extent, Image, PixelType, Scale};
///
/// let image = Image::new(3, 1, 1, vec![1u8, 2, 5])?;
/// let (shape, border, scale) = (image.shape(), Border::Replicate, Scale::Mean);
/// let (src, dst, extent) = (PixelType::U8, PixelType::F32, Extent::Same);
/// let (width, height, anchor) = (2, 1, (0, 0));
/// let filter = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
/// let out: Image<f32> = apron_cpu::box_filter(&image, &filter)?;
/// assert_eq!(out.row(0), [1.5, 3.5, 5.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`BoxFilter::window`]; [`Error::PixelType`](apron_core::Error::PixelType) and
/// [`Error::Shape`](apron_core::Error::Shape) if the image or the output does not match the filter's types and shape.
pub fn box_filter<I: Pixel, O: Pixel>(image: &Image<I>, filter: &BoxFilter) -> Result<Image<'static, O>> {
    pages::filled(filter.window()?.out, |out| box_filter_into(image, filter, out))
}

/// As [`box_filter`], into an existing image.
///
/// # Errors
/// As [`box_filter`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn box_filter_into<I: Pixel, O: Pixel>(image: &Image<I>, filter: &BoxFilter, out: ImageMut<'_, O>) -> Result<()> {
    box_windows(image, filter, filter.window()?, out)
}

/// As [`box_filter_into`], for these windows.
pub(crate) fn box_windows<I: Pixel, O: Pixel>(
    image: &Image<I>,
    filter: &BoxFilter,
    window: Window,
    out: ImageMut<'_, O>,
) -> Result<()> {
    check_pixels::<I, O>("box", image, filter.shape, (filter.src, filter.dst))?;
    out.check(window.out)?;
    // Few pairs of types are compiled: integers to all, floats to floats.
    match I::into_any(image.view()) {
        AnyImage::U8(image) => bytes(&image, filter, window, out),
        AnyImage::U16(image) => of_16_bits(&image, filter, window, out),
        AnyImage::I16(image) => of_16_bits(&image, filter, window, out),
        AnyImage::F16(image) => return of_floats(&image, filter, window, out),
        AnyImage::F32(image) => return of_floats(&image, filter, window, out),
        AnyImage::F64(image) => {
            let out = f64::from_any_mut(O::into_any_mut(out)).ok_or_else(|| not_to(O::PIXEL, "f64"))?;
            floats_to(&image, filter, window, Factor(filter.scale.factor_f64(filter.samples())), out);
        }
        other => return Err(not_computed("box", other.pixel_type())),
    }
    Ok(())
}

/// Returns the error for an output type to which sums of floats are not converted.
fn not_to(found: PixelType, expected: &str) -> Error {
    Error::PixelType { operation: "box", found, expected: expected.into() }
}

/// Rows of input per tile that should stay in cache: the fastest of 16 to 256. Floats take half as many, so that rows
/// of up to 8192 samples stay in one piece: two pieces are slower, since their windows overlap.
const SEEN_ROWS: usize = 32;

fn windows<'a, I: Pixel>(image: &'a Image<'a, I>, filter: &BoxFilter, window: Window) -> Windows<'a, I> {
    Windows::new(image, window, (filter.width, filter.height), filter.border)
}

/// Sums bytes in the narrowest integers that hold the sums of columns and windows.
fn bytes<O: Pixel>(image: &Image<'_, u8>, filter: &BoxFilter, window: Window, out: ImageMut<'_, O>) {
    let (samples, column) = (filter.samples() * 255, filter.height as u64 * 255);
    if samples <= u16::MAX as u64
        && (filter.width <= integers::NARROW as u32 || SmallMean::SAMPLES.contains(&filter.samples()))
    {
        whole::<u8, u16, u16, O>(image, filter, window, out);
    } else if samples > i32::MAX as u64 {
        whole::<u8, i64, i64, O>(image, filter, window, out);
    } else if column <= u16::MAX as u64 {
        whole::<u8, u16, i32, O>(image, filter, window, out);
    } else {
        whole::<u8, i32, i32, O>(image, filter, window, out);
    }
}

/// Sums integers of 16 bits.
fn of_16_bits<I: Integer, O: Pixel>(image: &Image<'_, I>, filter: &BoxFilter, window: Window, out: ImageMut<'_, O>) {
    if filter.samples() * 65535 <= i32::MAX as u64 {
        whole::<I, i32, i32, O>(image, filter, window, out);
    } else if filter.height as u64 * 65535 <= i32::MAX as u64 {
        whole::<I, i32, i64, O>(image, filter, window, out);
    } else {
        whole::<I, i64, i64, O>(image, filter, window, out);
    }
}

/// Sums integers, those of columns as `C` and of windows as `T`.
fn whole<I: Integer, C: Whole, T: Whole, O: Pixel>(
    image: &Image<'_, I>,
    filter: &BoxFilter,
    window: Window,
    out: ImageMut<'_, O>,
) {
    let windows = &windows(image, filter, window);
    let (scale, samples) = (filter.scale, filter.samples());
    let is_mean = scale == Scale::Mean && I::PIXEL == O::PIXEL;
    windows.run(out, SEEN_ROWS, &|scratch, mut tile: Tile<'_, O>| {
        let under = &Under::new(windows, &tile);
        let mut sums = integers::Sums::<C, T>::new(under, false, scratch);
        for out in &mut tile.rows {
            let row = sums.row(under);
            if !is_mean {
                simd::run(Scaled { sums: row, scale, samples, out });
            } else if size_of::<T>() == 2 && SmallMean::SAMPLES.contains(&samples) {
                simd::run(SmallMean { sums: row, samples: samples as u16, out: bytemuck::cast_slice_mut(out) });
            } else if samples <= most_samples::<I>() {
                simd::run(Mean { sums: row, samples: samples as i32, out: bytemuck::cast_slice_mut::<_, I>(out) });
            } else {
                simd::run(LargeMean { sums: row, samples, out: bytemuck::cast_slice_mut::<_, I>(out) });
            }
            sums.advance(under);
        }
    });
}

/// Sums floats in f32.
fn of_floats<I: Pixel, O: Pixel>(
    image: &Image<'_, I>,
    filter: &BoxFilter,
    window: Window,
    out: ImageMut<'_, O>,
) -> Result<()> {
    let factor = Factor(filter.scale.factor(filter.samples()));
    match O::into_any_mut(out) {
        AnyImageMut::F16(out) => floats_to(image, filter, window, factor, out),
        AnyImageMut::F32(out) => floats_to(image, filter, window, factor, out),
        other => return Err(not_to(other.pixel_type(), "f16 or f32")),
    }
    Ok(())
}

/// Sums floats in the type of the factor.
fn floats_to<I: Pixel, O: Pixel<Sum = S>, S: floats::Float + Mul<Output = S>>(
    image: &Image<'_, I>,
    filter: &BoxFilter,
    window: Window,
    factor: Factor<S>,
    out: ImageMut<'_, O>,
) {
    let windows = &windows(image, filter, window);
    windows.run(out, SEEN_ROWS / 2, &|scratch, mut tile: Tile<'_, O>| {
        let mut sums = floats::Sums::<I, S>::new(windows, false, scratch, &tile);
        let above = filter.height as usize - 1;
        for y in 0..above + tile.rows.len() {
            sums.next(factor, y.checked_sub(above).map(|y| &mut *tile.rows[y]));
        }
    });
}

/// The factor of sums of floats.
#[derive(Clone, Copy)]
struct Factor<S>(S);

impl<S: floats::Float + Mul<Output = S>, O: Pixel<Sum = S>> floats::Finish<S, O> for Factor<S> {
    #[inline(always)]
    fn of(self, sum: S) -> O {
        O::from_sum(sum * self.0)
    }
}

/// Divides sums of bytes, of 16 bits, by the number of samples, rounding half to even.
struct SmallMean<'a, T> {
    sums: &'a [T],
    samples: u16,
    out: &'a mut [u8],
}

impl SmallMean<'_, ()> {
    const SAMPLES: std::ops::RangeInclusive<u64> = 2..=127;
}

impl<T: Whole> Work for SmallMean<'_, T> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let SmallMean { sums, samples, out } = self;
        // The reciprocal in 16 bits is too large by less than `samples / 2^16`: the quotient of a sum below 256 times
        // the samples is too large by less than a sample's share, so that its integer part is right.
        let digits = (samples - 1).ilog2();
        let reciprocal = (1u32 << (16 + digits)).div_ceil(samples as u32) as u16;
        let even = samples % 2 == 0;
        for (out, &sum) in out.iter_mut().zip(sums) {
            let up = sum.to_i64() as u16 + samples / 2;
            let near = ((up as u32 * reciprocal as u32) >> 16) as u16 >> digits;
            // Halves were rounded up.
            let is_half = even && near.wrapping_mul(samples) == up;
            *out = (near - (is_half as u16 & near & 1)) as u8;
        }
    }
}

/// Returns the largest window, in samples, whose sums have 31 bits.
fn most_samples<I: Integer>() -> u64 {
    i32::MAX as u64 / if I::PIXEL == PixelType::U8 { 255 } else { 65535 }
}

/// Divides sums of 31 bits by the number of samples, rounding half to even.
struct Mean<'a, T, I> {
    sums: &'a [T],
    samples: i32,
    out: &'a mut [I],
}

impl<T: Whole, I: Integer> Work for Mean<'_, T, I> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Mean { sums, samples, out } = self;
        let reciprocal = 1.0 / samples as f32;
        // At 1.5 * 2^23 the spacing of f32 is 1: the addition leaves the nearest integer in the low bits.
        const MAGIC: f32 = 12582912.0;
        for (out, &sum) in out.iter_mut().zip(sums) {
            // The three roundings change the quotient by 2^-6 at most, so the integer is off by at most one; the exact
            // remainder decides.
            let sum = sum.to_i64() as i32;
            let near = I::of_whole((sum as f32 * reciprocal + MAGIC).to_bits() as i32).whole();
            let (odd, twice) = (near & 1, 2 * (sum - near * samples));
            let (more, less) = ((twice + odd > samples) as i32, (odd - twice > samples) as i32);
            *out = I::of_whole(near + more - less);
        }
    }
}

/// As [`Mean`], for sums that are larger.
struct LargeMean<'a, T, I> {
    sums: &'a [T],
    samples: u64,
    out: &'a mut [I],
}

impl<T: Whole, I: Integer> Work for LargeMean<'_, T, I> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let samples = Divisor::new(self.samples);
        // As in `Mean`, in f64.
        const MAGIC: f64 = 6755399441055744.0;
        for (out, sum) in self.out.iter_mut().zip(self.sums) {
            *out = I::of_whole((samples.divide(sum.to_f64()) + MAGIC).to_bits() as i32);
        }
    }
}

/// Scales sums and stores them.
struct Scaled<'a, S, O> {
    sums: &'a [S],
    scale: Scale,
    samples: u64,
    out: &'a mut [O],
}

impl<S: Whole, O: Pixel> Work for Scaled<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let store = |sum: f64| O::from_sum(O::Sum::from_f64(sum));
        let pairs = self.out.iter_mut().zip(self.sums);
        match self.scale {
            Scale::Mean => {
                let samples = Divisor::new(self.samples);
                pairs.for_each(|(out, sum)| *out = store(samples.divide(sum.to_f64())));
            }
            Scale::Tap(tap) => pairs.for_each(|(out, sum)| *out = store(sum.to_f64() * tap as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divides sums of windows of this many samples, at one instruction level: all, or those near every half.
    struct Check<I>(i32, std::marker::PhantomData<I>);

    impl<I: Integer + std::fmt::Debug> Work for Check<I> {
        #[inline(always)]
        fn run<L: Level>(self) {
            let (samples, [low, high]) = (self.0, [I::from_sum(I::Sum::of(-1e9f32)), I::from_sum(I::Sum::of(1e9f32))]);
            let (least, most) = (low.whole() * samples, high.whole() * samples);
            let sums: Vec<i32> = if most - least < 1 << 24 {
                (least..=most).collect()
            } else {
                let halves = (low.whole()..high.whole()).map(|near| near * samples + samples / 2);
                halves.flat_map(|sum| [sum - 1, sum, sum + 1]).chain([least, most]).collect()
            };
            let expected = sums.iter().map(|&sum| (sum as f64 / samples as f64).round_ties_even() as i32);
            let mut out = vec![low; sums.len()];
            Mean { sums: &sums, samples, out: &mut out }.run::<L>();
            assert!(out.iter().map(|out| out.whole()).eq(expected.clone()), "{samples}");
            out.fill(low);
            LargeMean { sums: &sums, samples: samples as u64, out: &mut out }.run::<L>();
            assert!(out.iter().map(|out| out.whole()).eq(expected.clone()), "{samples}");
            if I::PIXEL == PixelType::U8 && SmallMean::SAMPLES.contains(&(samples as u64)) {
                let sums: Vec<u16> = sums.iter().map(|&sum| sum as u16).collect();
                let mut out = vec![0; sums.len()];
                SmallMean { sums: &sums, samples: samples as u16, out: &mut out }.run::<L>();
                assert!(out.into_iter().map(i32::from).eq(expected), "{samples}");
            }
        }
    }

    fn check<I: Integer + std::fmt::Debug>(samples: impl IntoIterator<Item = i32>) {
        for samples in samples.into_iter().filter(|&samples| samples as u64 <= most_samples::<I>()) {
            simd::run_at_all(|| Check::<I>(samples, std::marker::PhantomData));
        }
    }

    #[test]
    fn means_are_those_of_division() {
        // The estimate is too low for 82, 94 and 110 samples, and too high for 14, 26 and others.
        check::<u8>((1..=128).chain([225, 255, 256, 3 * 255, 4096, 4097, 65535, most_samples::<u8>() as i32]));
        check::<u16>([1, 2, 3, 6, 9, 14, 225, 255, 256, 4097, 32767, most_samples::<u16>() as i32]);
        check::<i16>([1, 2, 3, 6, 9, 14, 225, 255, 256, 4097, 32767, most_samples::<i16>() as i32]);
    }
}
