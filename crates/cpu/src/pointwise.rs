//! Pointwise operations.

use crate::cast::cast_into;
use crate::simd::{self, Level, Work};
use crate::{pages, parallel};
use apron_core::{
    Accumulator, AnyImage, Error, Image, ImageMut, Pixel, PixelType, PointOp, Pointwise, Result, deviation, direction,
    each_computed,
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
    mut out: ImageMut<'_, O>,
) -> Result<()> {
    problem.check_images((x.shape(), x.pixel_type()), y.map(|y| (y.shape(), y.pixel_type())))?;
    out.check(problem.shape)?;
    if let (PointOp::Alpha, Some(y)) = (problem.op, y) {
        return with_alpha(&typed::<O>(x)?, &typed(y)?, out);
    }
    if const { !O::PIXEL.is_computed() } || matches!(problem.op, PointOp::Cast(_) | PointOp::Below { .. }) {
        cast_into(x, problem.op, out);
        return Ok(());
    }
    let (row, stride) = (problem.shape.row_samples(), out.row_stride());
    // Narrow images have many rows: each task takes several.
    let rows = (1usize << 16).div_ceil(row);
    let bands = out.spanned_mut().chunks_mut(stride * rows).enumerate().collect();
    let of_doubles = [Some(problem.src), problem.second].contains(&Some(PixelType::F64));
    parallel::items(bands, &|(xs, ys, doubles): &mut Scratch, (band, out): (usize, &mut [O])| {
        for (out, at) in out.chunks_mut(stride).zip((band * rows) as u32..) {
            for (out, start) in out[..row].chunks_mut(PIECE).zip((0..).step_by(PIECE)) {
                let samples = start..start + out.len();
                if of_doubles {
                    let [xs, ys] = doubles;
                    let x = numbers(x, at, samples.clone(), xs);
                    simd::run(Points { op: problem.op, x, y: y.map(|y| numbers(y, at, samples, ys)), out });
                } else {
                    let x = numbers(x, at, samples.clone(), xs);
                    simd::run(Points { op: problem.op, x, y: y.map(|y| numbers(y, at, samples, ys)), out });
                }
            }
        }
    });
    Ok(())
}

/// Samples of both images: in f32, which holds those of all types but f64, or in f64.
type Scratch = (Vec<f32>, Vec<f32>, [Vec<f64>; 2]);

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

/// Returns a part of a row as numbers of type `S`.
fn numbers<'a, S: Pixel + Accumulator>(
    image: &'a AnyImage<'_>,
    row: u32,
    samples: Range<usize>,
    converted: &'a mut Vec<S>,
) -> &'a [S] {
    match image {
        AnyImage::F32(image) if S::PIXEL == PixelType::F32 => bytemuck::cast_slice(&image.row(row)[samples]),
        AnyImage::F64(image) if S::PIXEL == PixelType::F64 => bytemuck::cast_slice(&image.row(row)[samples]),
        _ => {
            simd::run(Convert { image, row, samples, converted });
            converted
        }
    }
}

/// Converts a part of a row.
struct Convert<'a, 'b, S> {
    image: &'a AnyImage<'b>,
    row: u32,
    samples: Range<usize>,
    converted: &'a mut Vec<S>,
}

impl<S: Accumulator> Work for Convert<'_, '_, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        self.converted.clear();
        each_computed!(self.image, image => {
            let samples = &image.row(self.row)[self.samples];
            self.converted.extend(samples.iter().map(|&sample| S::of(sample)));
        }, else unreachable!("the types were checked"));
    }
}

/// Computes the outputs of samples.
struct Points<'a, S, O> {
    op: PointOp,
    x: &'a [S],
    y: Option<&'a [S]>,
    out: &'a mut [O],
}

impl<S: Accumulator, O: Pixel> Work for Points<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Points { op, x, y, out } = self;
        match (op, y) {
            (PointOp::Weighted { a, b, c, threshold }, Some(y)) => two(x, y, out, |x, y| {
                let sum = a.mul_add(x, b.mul_add(y, c));
                if (x - y).abs() < threshold { x } else { sum }
            }),
            (PointOp::Weighted { a, c, .. }, _) => {
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = store(a.mul_add(x.to_f64(), c));
                }
            }
            (PointOp::Magnitude, Some(y)) => two(x, y, out, |x, y| (x * x + y * y).sqrt()),
            (PointOp::Direction, Some(y)) => two(x, y, out, |x, y| direction(y, x, f64::mul_add)),
            (PointOp::Product, Some(y)) => two(x, y, out, |x, y| x * y),
            (PointOp::Deviation { n }, Some(y)) => two(x, y, out, |x, y| deviation(n, x, y)),
            _ => unreachable!("two images were checked, and other operations returned before"),
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
