//! A row of taps over f64, with four outputs per thread.
//!
//! Per four multiply-adds: four loads of samples, adjacent along a warp, and one of a tap, the same for the whole warp; all from
//! the first-level cache. No shared memory and no barrier.

use super::{Under, ACROSS};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{DoublesParams, DOUBLES_BLOCK, DOUBLES_TILE};

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, there are `mask_width` taps of f64, and no clamping.
pub struct Line;

impl Body for Line {
    type Src = f64;
    type Dst = f64;
    type Params = DoublesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f64>, p: &DoublesParams) {
        let sample = d.block_x() * DOUBLES_TILE[0] + d.thread_x();
        let row = d.block_y() * DOUBLES_BLOCK[1] + d.thread_y();
        if sample >= p.out_width * p.channels || row >= p.out_height {
            return;
        }
        let under = Under::of(d, src, sample, p);
        let mut sums = [0.0; ACROSS];
        // SAFETY: the taps are in the mask; each output is one thread's.
        unsafe {
            under.row(row as i32 + p.origin_y, |i, samples| {
                let tap = d.tap_f64(i);
                for x in 0..ACROSS {
                    sums[x] = d.fma(tap, samples[x], sums[x]);
                }
            });
            under.store(dst, (sample, row), sums);
        }
    }
}
