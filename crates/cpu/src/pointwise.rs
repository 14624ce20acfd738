//! Pointwise operations.

use crate::cast::cast_into;
use crate::simd::{self, Level, Work};
use crate::{pages, parallel};
use apron_core::{
    Accumulator, AnyImage, Cast, Error, Image, ImageMut, Pixel, PixelType, PointOp, Pointwise, Result, deviation,
    direction, each_computed, not_computed,
};
use std::ops::Range;

/// Samples converted at a time, which fit the first-level cache.
const PIECE: usize = 2048;

/// Applies a pointwise operation, in parallel: bit for bit what `apron_reference::pointwise` computes.
///
/// ```
/// use apron_core::{AnyImage, Image, PixelType, PointOp, Pointwise};
///
/// let x = AnyImage::U8(Image::new(3, 1, 1, vec![1u8, 2, 200])?);
/// let (shape, src) = (x.shape(), PixelType::U8);
/// let problem = Pointwise { shape, src, second: None, dst: src, op: PointOp::weighted(2.0, 0.0, -1.0) };
/// let out: Image<u8> = apron_cpu::pointwise(&x, None, &problem)?;
/// assert_eq!(out.row(0), [1, 3, 255]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Pointwise::check_images`].
pub fn pointwise<O: Pixel>(
    x: &AnyImage<'_>,
    y: Option<&AnyImage<'_>>,
    problem: &Pointwise,
) -> Result<Image<'static, O>> {
    pages::filled(problem.shape, |out| pointwise_into(x, y, problem, out))
}

/// As [`pointwise`], into an existing image.
///
/// # Errors
/// As [`pointwise`], and [`Error::Parameter`](apron_core::Error::Parameter) if `out` has another shape.
pub fn pointwise_into<O: Pixel>(
    x: &AnyImage<'_>,
    y: Option<&AnyImage<'_>>,
    problem: &Pointwise,
    out: ImageMut<'_, O>,
) -> Result<()> {
    problem.check_images((x.shape(), x.pixel_type()), y.map(|y| (y.shape(), y.pixel_type())))?;
    out.check(problem.shape)?;
    let op = match (problem.op, y) {
        (PointOp::Alpha, Some(y)) => return with_alpha(&typed(x)?, &typed(y)?, out),
        (PointOp::Cast(cast), _) => return cast_into(x, None, cast, out),
        (PointOp::Below { last }, _) => return cast_into(x, Some(last), Cast::default(), out),
        (PointOp::Weighted { a, c, .. }, None) => Op::Scaled { a, c },
        (PointOp::Weighted { a, b, c, threshold }, Some(_)) => Op::Weighted { a, b, c, threshold },
        (PointOp::Magnitude, Some(_)) => Op::Magnitude,
        (PointOp::Direction, Some(_)) => Op::Direction,
        (PointOp::Product, Some(_)) => Op::Product,
        (PointOp::Deviation { n }, Some(_)) => Op::Deviation { n },
        (_, None) => return Err(Pointwise::needs_second()),
    };
    if const { !O::PIXEL.is_computed() } {
        return Err(not_computed("pointwise", O::PIXEL));
    }
    // f32 holds the samples of all types that are computed, but f64.
    match [Some(problem.src), problem.second].contains(&Some(PixelType::F64)) {
        true => points::<f64, O>(op, numbers(x)?, y.map(numbers).transpose()?, out),
        false => points::<f32, O>(op, numbers(x)?, y.map(numbers).transpose()?, out),
    }
    Ok(())
}

/// An operation in f64, on two images or, `a * x + c`, on one.
#[derive(Clone, Copy)]
enum Op {
    Scaled { a: f64, c: f64 },
    Weighted { a: f64, b: f64, c: f64, threshold: f64 },
    Magnitude,
    Direction,
    Product,
    Deviation { n: f64 },
}

/// Computes the output piece by piece.
fn points<S: Pixel + Accumulator, O: Pixel>(
    op: Op,
    x: &dyn Numbers<S>,
    y: Option<&dyn Numbers<S>>,
    mut out: ImageMut<'_, O>,
) {
    let (row, stride) = (out.shape().row_samples(), out.row_stride());
    // Narrow images have many rows: each task takes several.
    let rows = (1usize << 16).div_ceil(row);
    let bands = out.spanned_mut().chunks_mut(stride * rows).enumerate().collect();
    parallel::items(bands, &|(xs, ys): &mut (Vec<S>, Vec<S>), (band, out): (usize, &mut [O])| {
        for (out, at) in out.chunks_mut(stride).zip((band * rows) as u32..) {
            for (out, start) in out[..row].chunks_mut(PIECE).zip((0..).step_by(PIECE)) {
                let samples = start..start + out.len();
                let x = x.of_row(at, samples.clone(), xs);
                // An operation on one image does not look at `y`.
                let y = y.map_or(x, |y| y.of_row(at, samples, ys));
                simd::run(Points { op, x, y, out });
            }
        }
    });
}

/// Borrows the image as one of this sample type.
fn typed<'a, T: Pixel>(image: &'a AnyImage<'_>) -> Result<Image<'a, T>> {
    let (found, expected) = (image.pixel_type(), T::PIXEL.to_string());
    T::from_any(image.view()).ok_or(Error::PixelType { operation: "alpha", found, expected })
}

/// Combines one image with the last channel of another.
fn with_alpha<T: Pixel>(x: &Image<'_, T>, y: &Image<'_, T>, mut out: ImageMut<'_, T>) -> Result<()> {
    let (row, stride, channels) = (x.shape().row_samples(), out.row_stride(), x.channels() as usize);
    let rows = (1usize << 16).div_ceil(row);
    parallel::chunks(out.spanned_mut(), stride * rows, &|band, out| {
        for (out, at) in out.chunks_mut(stride).zip((band * rows) as u32..) {
            let out = &mut out[..row];
            out.copy_from_slice(x.row(at));
            let alpha = y.row(at).iter().skip(channels - 1).step_by(channels);
            out.iter_mut().skip(channels - 1).step_by(channels).zip(alpha).for_each(|(out, &alpha)| *out = alpha);
        }
    });
    Ok(())
}

/// An image whose samples have type `S`, or are converted to it.
trait Numbers<S>: Sync {
    /// Returns a part of a row.
    fn of_row<'a>(&'a self, row: u32, samples: Range<usize>, converted: &'a mut Vec<S>) -> &'a [S];
}

impl<T: Pixel, S: Pixel + Accumulator> Numbers<S> for Image<'_, T> {
    fn of_row<'a>(&'a self, row: u32, samples: Range<usize>, converted: &'a mut Vec<S>) -> &'a [S] {
        let samples = &self.row(row)[samples];
        if T::PIXEL == S::PIXEL {
            return bytemuck::cast_slice(samples);
        }
        simd::run(Convert { samples, converted });
        converted
    }
}

/// Returns the image as one of numbers.
fn numbers<'a, S: Pixel + Accumulator>(image: &'a AnyImage<'_>) -> Result<&'a dyn Numbers<S>> {
    each_computed!(image, image => Ok(image), else Err(not_computed("pointwise", image.pixel_type())))
}

/// Converts samples.
struct Convert<'a, T, S> {
    samples: &'a [T],
    converted: &'a mut Vec<S>,
}

impl<T: Pixel, S: Accumulator> Work for Convert<'_, T, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        self.converted.clear();
        self.converted.extend(self.samples.iter().map(|&sample| S::of(sample)));
    }
}

/// Computes the outputs of samples.
struct Points<'a, S, O> {
    op: Op,
    x: &'a [S],
    y: &'a [S],
    out: &'a mut [O],
}

impl<S: Accumulator, O: Pixel> Work for Points<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Points { op, x, y, out } = self;
        match op {
            Op::Scaled { a, c } => two(x, y, out, |x, _| a.mul_add(x, c)),
            Op::Weighted { a, b, c, threshold } => two(x, y, out, |x, y| {
                let sum = a.mul_add(x, b.mul_add(y, c));
                if (x - y).abs() < threshold { x } else { sum }
            }),
            Op::Magnitude => two(x, y, out, |x, y| (x * x + y * y).sqrt()),
            Op::Direction => two(x, y, out, |x, y| direction(y, x, f64::mul_add)),
            Op::Product => two(x, y, out, |x, y| x * y),
            Op::Deviation { n } => two(x, y, out, |x, y| deviation(n, x, y)),
        }
    }
}

#[inline(always)]
fn two<S: Accumulator, O: Pixel>(x: &[S], y: &[S], out: &mut [O], of: impl Fn(f64, f64) -> f64) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = store(of(x.to_f64(), y.to_f64()));
    }
}

#[inline(always)]
fn store<O: Pixel>(value: f64) -> O {
    O::from_sum(O::Sum::from_f64(value))
}
