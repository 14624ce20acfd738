//! Pointwise operations: an output sample from the samples at the same place in one or two images.
//!
//! ```text
//! each thread, striding by the whole grid: four samples, a block's width apart, so that a warp's are adjacent
//! weighted:  a * x + b * y + c, or x where x and y differ by less than the threshold
//! magnitude: sqrt(x^2 + y^2)
//! direction: atan2(y, x)
//! ```
//!
//! The arithmetic is in f64, rounded once; it takes less time than the memory traffic.

mod alpha;
mod cast;
mod convert;
mod pad;

pub use alpha::Alpha;
pub use cast::{Below, Cast};
pub use convert::Convert;
pub use pad::Pad;

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{
    Accumulator, Element, ElementType, Pixel, PointwiseParams, Sample, POINTWISE_AT_ONCE, POINTWISE_BLOCK,
};
use core::marker::PhantomData;

/// The kernel of weighted sums, of images of sample types `X` and `Y`.
///
/// Launch contract of all kernels here: the images hold `samples` samples.
pub struct Weighted<X, Y, O>(PhantomData<(X, Y, O)>);

/// The kernel of magnitudes of vectors, whose components are samples of one type.
pub struct Magnitude<X, O>(PhantomData<(X, O)>);

/// The kernel of angles of vectors, in f32.
pub struct Direction<X>(PhantomData<X>);

/// The kernel of products of f64.
pub struct Product;

/// The kernel of standard deviations of `a` numbers of f64, from their sums of squares (first image) and their sums
/// (second image).
pub struct Deviation;

/// Stores the result of `of` for each pair of samples.
///
/// # Safety
/// The images hold `samples` samples.
#[inline(always)]
unsafe fn each<D: Device, X: Sample, Y: Sample, O: Pixel>(
    d: D,
    src: Global<X>,
    dst: Global<O>,
    p: &PointwiseParams,
    of: impl Fn(f64, f64) -> f64,
) {
    const BLOCK: u64 = POINTWISE_BLOCK as u64;
    const AT_ONCE: usize = POINTWISE_AT_ONCE as usize;
    let second = Global::<Y>::at(p.second).of_image(d.image(), p.second_step);
    let mut first = d.block_x() as u64 * BLOCK * AT_ONCE as u64 + d.thread_x() as u64;
    while first < p.samples {
        // All loads before the first use.
        let mut pairs = [(0.0, 0.0); AT_ONCE];
        for k in 0..AT_ONCE {
            let index = first + k as u64 * BLOCK;
            if index < p.samples {
                // SAFETY: both images have `samples` samples.
                let y = if p.two != 0 { unsafe { d.load(second, index) }.to_f64() } else { 0.0 };
                // SAFETY: as above.
                pairs[k] = (unsafe { d.load(src, index) }.to_f64(), y);
            }
        }
        for k in 0..AT_ONCE {
            let index = first + k as u64 * BLOCK;
            if index < p.samples {
                let value = O::from_sum(O::Sum::from_f64(of(pairs[k].0, pairs[k].1)));
                // SAFETY: `index` is below `samples`, and this thread's.
                unsafe { d.store(dst, index, value) };
            }
        }
        first += d.blocks_x() as u64 * BLOCK * AT_ONCE as u64;
    }
}

/// Returns the length of a vector whose components are f32, so that their squares are exact in f64.
#[inline(always)]
pub(crate) fn magnitude<D: Device>(d: D, x: f64, y: f64) -> f64 {
    d.sqrt(d.fma(x, x, y * y))
}

/// Returns the angle of a vector.
#[inline(always)]
pub(crate) fn direction<D: Device>(d: D, x: f64, y: f64) -> f64 {
    apron_abi::direction(y, x, |a, b, c| d.fma(a, b, c))
}

impl<X: Element + Sample, Y: Sample, O: Pixel> Body for Weighted<X, Y, O> {
    type Src = X;
    type Dst = O;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &PointwiseParams) {
        let of = |x: f64, y: f64| {
            let rest = if p.two != 0 { d.fma(p.b, y, p.c) } else { p.c };
            let difference = if x > y { x - y } else { y - x };
            if p.two != 0 && difference < p.threshold {
                x
            } else {
                d.fma(p.a, x, rest)
            }
        };
        // SAFETY: the launch contract.
        unsafe { each::<D, X, Y, O>(d, src, dst, p, of) };
    }
}

impl<X: Element + Sample, O: Pixel> Body for Magnitude<X, O> {
    type Src = X;
    type Dst = O;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &PointwiseParams) {
        let of = |x, y| {
            // Squares of f64 are not exact: a fused multiply-add would round only one of them.
            if X::TYPE == ElementType::F64 {
                d.sqrt(x * x + y * y)
            } else {
                magnitude(d, x, y)
            }
        };
        // SAFETY: the launch contract.
        unsafe { each::<D, X, X, O>(d, src, dst, p, of) };
    }
}

impl<X: Element + Sample> Body for Direction<X> {
    type Src = X;
    type Dst = f32;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<f32>, p: &PointwiseParams) {
        let of = |x, y| direction(d, x, y);
        // SAFETY: the launch contract.
        unsafe { each::<D, X, X, f32>(d, src, dst, p, of) };
    }
}

impl Body for Product {
    type Src = f64;
    type Dst = f64;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f64>, p: &PointwiseParams) {
        // SAFETY: the launch contract.
        unsafe { each::<D, f64, f64, f64>(d, src, dst, p, |x, y| x * y) };
    }
}

impl Body for Deviation {
    type Src = f64;
    type Dst = f64;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f64>, p: &PointwiseParams) {
        let of = |x: f64, y: f64| {
            let square = y * y;
            let spread = d.fma(p.a, x, -square) - d.fma(y, y, -square);
            d.sqrt(if spread < 0.0 { 0.0 } else { spread }) / p.a
        };
        // SAFETY: the launch contract.
        unsafe { each::<D, f64, f64, f64>(d, src, dst, p, of) };
    }
}
