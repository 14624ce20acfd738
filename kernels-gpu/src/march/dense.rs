//! A dense square mask over a strip of the image, in registers: see [`march`](super).
//!
//! Per output: one global load (and the halo's share), K * K multiply-adds whose tap is an operand in constant memory.
//! Per thread and input row: one shared load of up to 16 bytes for each group of `P` samples of its window.

use super::{march, Results, Rows, WINDOW};
use crate::device::{Device, Global};
use crate::samples::{Samples, Summed, WARP};
use crate::Body;
use apron_abi::{Accumulator, MarchParams};
use core::marker::PhantomData;

/// The kernel for masks of `K` x `K` taps over `C` channels of type `S`, `P` adjacent outputs per thread.
///
/// Launch contract: see [`march`](super).
pub struct Dense<S, const P: usize, const K: usize, const C: usize, const PIECES: bool = true>(PhantomData<S>);

#[allow(private_bounds)] // only this crate implements the bound
impl<S: Results<P, K, C>, const P: usize, const K: usize, const C: usize, const PIECES: bool> Body
    for Dense<S, P, K, C, PIECES>
{
    type Src = S::Element;
    type Dst = S::Element;
    type Params = MarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &MarchParams) {
        // SAFETY: the launch keeps the contract.
        unsafe { march::<D, Self, S, P, K, C, PIECES>(d, src, dst, p) }
    }
}

impl<S, const P: usize, const K: usize, const C: usize, const PIECES: bool> Rows<P, K, C>
    for Dense<S, P, K, C, PIECES>
{
    const DENSE: bool = true;

    #[inline(always)]
    unsafe fn add<D: Device, T: Samples>(d: D, sums: &mut [[T::Sum; P]; K], window: &[T::Sum; WINDOW], start: T::Sum) {
        for j in (0..K).rev() {
            let mut some = if j == 0 { [start; P] } else { sums[j - 1] };
            for i in 0..K {
                // SAFETY: the launch's taps are the K * K taps of the mask.
                let tap = unsafe { T::Sum::tap(d, (j * K + i) as u32) };
                for k in 0..P {
                    some[k] = d.fma(tap, window[k + i * C], some[k]);
                }
            }
            sums[j] = some;
        }
    }

    #[inline(always)]
    unsafe fn exact<D: Device>(d: D, last: u32, sample: impl Fn(u32, u32) -> f64) -> f64 {
        const { assert!(K * K <= 2 * WARP as usize) };
        // Up to two products per lane, exact in f64, so that adding them in order equals fused multiply-adds.
        let (lane, count) = (d.thread_x() % WARP, (last + 1) * (last + 1));
        let product = |at: u32| {
            if at < count {
                // SAFETY: as above.
                f64::of(unsafe { d.tap(at) }) * sample(at / K as u32, at % K as u32)
            } else {
                0.0
            }
        };
        let (one, other) = (product(lane), product(lane + WARP));
        let (mut sum, mut at) = (0.0, 0);
        while at < count {
            sum += d.shuffle_f64(if at < WARP { one } else { other }, at % WARP);
            at += 1;
        }
        sum
    }
}
