//! A row of taps over a volume, with four outputs per thread.
//!
//! Per four multiply-adds: four loads of samples, adjacent along a warp, and one of a tap, the same for the whole warp; all from
//! the first-level cache. No shared memory and no barrier.

use super::{tap, Under, ACROSS};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Accumulator, VolumesParams, VOLUMES_BLOCK, VOLUMES_TILE};
use core::marker::PhantomData;
use core::ops::Div;

/// The kernel, for which all rows are those of one plane.
///
/// Launch contract: the buffers are as large as the parameters say, and there are `mask[0]` taps.
pub struct Line<S>(PhantomData<S>);

impl<S: Accumulator + Div<Output = S>> Body for Line<S> {
    type Src = S;
    type Dst = S;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S>, dst: Global<S>, p: &VolumesParams) {
        let sample = d.block_x() * VOLUMES_TILE[0] + d.thread_x();
        let row = d.block_y() * VOLUMES_BLOCK[1] + d.thread_y();
        if sample >= p.out[0] * p.channels || row >= p.out[1] {
            return;
        }
        let under = Under::of(d, src, sample, p);
        let mut sums = [S::ZERO; ACROSS];
        // SAFETY: the taps are in the mask; each output is one thread's.
        unsafe {
            under.row(row as i32, 0, |i, samples| {
                let tap: S = tap(d, i);
                for x in 0..ACROSS {
                    sums[x] = d.fma(tap, samples[x], sums[x]);
                }
            });
            under.store(dst, (sample, row, 0), sums);
        }
    }
}
