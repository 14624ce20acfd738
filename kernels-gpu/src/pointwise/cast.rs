//! Conversion from and to the sample types in which no filter is computed.
//!
//! Each thread, striding by the whole grid, converts four samples at a time, a block's width apart.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Element, Pixel, PointwiseParams, Sample, POINTWISE_AT_ONCE, POINTWISE_BLOCK};
use core::marker::PhantomData;

/// The kernel that casts numbers, by way of f64; the parameters' `code` selects rounding and overflow of integers.
///
/// Launch contract of both kernels: the images hold `samples` samples.
pub struct Cast<X, O>(PhantomData<(X, O)>);

/// The kernel that converts integers to f64: to the nearest, or if `code` is not 0 to the greatest f64 that is not
/// above the integer, and to infinity above the parameters' `threshold`.
pub struct Below<X>(PhantomData<X>);

/// Stores the result of `of` for each sample.
///
/// # Safety
/// The images hold `samples` samples.
#[inline(always)]
unsafe fn each<D: Device, X: Element, O: Element>(
    d: D,
    src: Global<X>,
    dst: Global<O>,
    p: &PointwiseParams,
    of: impl Fn(X) -> O,
) {
    const BLOCK: u64 = POINTWISE_BLOCK as u64;
    const AT_ONCE: usize = POINTWISE_AT_ONCE as usize;
    let mut first = d.block_x() as u64 * BLOCK * AT_ONCE as u64 + d.thread_x() as u64;
    while first < p.samples {
        // All loads before the first use.
        let mut samples = [X::default(); AT_ONCE];
        for k in 0..AT_ONCE {
            let index = first + k as u64 * BLOCK;
            if index < p.samples {
                // SAFETY: the image has `samples` samples.
                samples[k] = unsafe { d.load(src, index) };
            }
        }
        for k in 0..AT_ONCE {
            let index = first + k as u64 * BLOCK;
            if index < p.samples {
                // SAFETY: `index` is below `samples`, and this thread's.
                unsafe { d.store(dst, index, of(samples[k])) };
            }
        }
        first += d.blocks_x() as u64 * BLOCK * AT_ONCE as u64;
    }
}

impl<X: Element + Sample, O: Pixel> Body for Cast<X, O> {
    type Src = X;
    type Dst = O;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &PointwiseParams) {
        let cast = apron_abi::Cast::of_code(p.code);
        // SAFETY: the launch contract.
        unsafe { each(d, src, dst, p, |x: X| O::cast(x.to_f64(), cast)) };
    }
}

impl<X: Element + Sample> Body for Below<X> {
    type Src = X;
    type Dst = f64;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<f64>, p: &PointwiseParams) {
        let of = |x: X| if p.code == 0 { x.to_f64() } else { x.to_f64_below(p.threshold) };
        // SAFETY: the launch contract.
        unsafe { each(d, src, dst, p, of) };
    }
}
