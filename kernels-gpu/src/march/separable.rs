//! Both passes of a separable filter over a strip of the image: see [`march`](super). The sums between the passes stay
//! in registers.
//!
//! Per output: one global load (and the halo's share), 2 K multiply-adds whose tap is an operand in constant memory.
//! Per thread and input row: one shared load of up to 16 bytes for each group of `P` samples of its window.

use super::{march, Results, Rows, WINDOW};
use crate::device::{Device, Global};
use crate::samples::{Samples, Summed, WARP};
use crate::Body;
use apron_abi::{tap_stride, Accumulator, MarchParams};
use core::marker::PhantomData;

/// The kernel for `K` taps along the rows and `K` along the columns, over `C` channels of type `S`, `P` adjacent
/// outputs per thread.
///
/// Launch contract: see [`march`](super); the columns' taps start [`tap_stride`] taps after the rows'.
pub struct Separable<S, const P: usize, const K: usize, const C: usize, const PIECES: bool = true>(PhantomData<S>);

#[allow(private_bounds)] // only this crate implements the bound
impl<S: Results<P, K, C>, const P: usize, const K: usize, const C: usize, const PIECES: bool> Body
    for Separable<S, P, K, C, PIECES>
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
    for Separable<S, P, K, C, PIECES>
{
    const DENSE: bool = false;

    #[inline(always)]
    unsafe fn add<D: Device, T: Samples>(d: D, sums: &mut [[T::Sum; P]; K], window: &[T::Sum; WINDOW], start: T::Sum) {
        let mut row = [T::Sum::ZERO; P];
        for i in 0..K {
            // SAFETY: the launch's taps are K along the rows and, from `tap_stride(K)` on, K along the columns.
            let tap = unsafe { T::Sum::tap(d, i as u32) };
            for k in 0..P {
                row[k] = d.fma(tap, window[k + i * C], row[k]);
            }
        }
        for j in (0..K).rev() {
            // SAFETY: as above.
            let tap = unsafe { T::Sum::tap(d, tap_stride(K as u32) + j as u32) };
            let before = if j == 0 { [start; P] } else { sums[j - 1] };
            for k in 0..P {
                sums[j][k] = d.fma(tap, row[k], before[k]);
            }
        }
    }

    #[inline(always)]
    unsafe fn exact<D: Device>(d: D, last: u32, sample: impl Fn(u32, u32) -> f64) -> f64 {
        // Lane `j` sums row `j`.
        let (j, mut row) = (d.thread_x() % WARP, 0.0);
        if j <= last {
            let mut i = 0;
            while i <= last {
                // SAFETY: as above.
                let tap = unsafe { d.tap(i) };
                row = d.fma(f64::of(tap), sample(j, i), row);
                i += 1;
            }
        }
        let (mut sum, mut j) = (0.0, 0);
        while j <= last {
            // SAFETY: as above.
            let tap = unsafe { d.tap(tap_stride(K as u32) + j) };
            sum = d.fma(f64::of(tap), d.shuffle_f64(row, j), sum);
            j += 1;
        }
        sum
    }
}
