//! A dense mask over f64, with eight rows of four outputs per thread in registers.
//!
//! ```text
//! each thread: four samples of a row, a block's width apart, and the same columns of the seven rows below
//! for each input row under its outputs: map the row
//!     for each column of the mask: map the column; load the four samples
//!         for each of the eight output rows whose mask covers the input row: load the tap; add four products
//! ```
//!
//! Per 32 multiply-adds: four loads of samples, adjacent along a warp, and eight of taps, the same for the whole warp; all
//! from the first-level cache. No shared memory and no barrier.

use super::{Under, ACROSS};
use crate::conv2d::clamped;
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{DoublesParams, DOUBLES_DOWN, DOUBLES_TILE};

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, and the taps are f64, in rows without gaps.
pub struct Dense;

const DOWN: usize = DOUBLES_DOWN as usize;

impl Body for Dense {
    type Src = f64;
    type Dst = f64;
    type Params = DoublesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f64>, p: &DoublesParams) {
        let sample = d.block_x() * DOUBLES_TILE[0] + d.thread_x();
        let first = d.block_y() * DOUBLES_TILE[1] + d.thread_y() * DOUBLES_DOWN;
        if sample >= p.out_width * p.channels || first >= p.out_height {
            return;
        }
        let under = Under::of(d, src, sample, p);
        let mut sums = [[0.0; ACROSS]; DOWN];
        for j in 0..p.mask_height + DOUBLES_DOWN - 1 {
            let y = (first + j) as i32 + p.origin_y;
            // For output row k, this row is under mask row `j - k`.
            // SAFETY: the taps are in the mask.
            unsafe {
                if j >= DOUBLES_DOWN - 1 && j < p.mask_height {
                    under.row(y, |i, samples| add::<D, true>(d, p, j, i, samples, &mut sums));
                } else {
                    under.row(y, |i, samples| add::<D, false>(d, p, j, i, samples, &mut sums));
                }
            }
        }
        for k in 0..DOWN {
            let of_row = if p.clamp != 0 { sums[k].map(clamped) } else { sums[k] };
            // SAFETY: each output is one thread's.
            unsafe { under.store(dst, (sample, first + k as u32), of_row) };
        }
    }
}

/// Adds the products of samples of row `j` under the outputs with column `i` of the mask: to `ALL` output rows, or only to
/// those with such a mask row.
#[inline(always)]
unsafe fn add<D: Device, const ALL: bool>(
    d: D,
    p: &DoublesParams,
    j: u32,
    i: u32,
    samples: [f64; ACROSS],
    sums: &mut [[f64; ACROSS]; DOWN],
) {
    for k in 0..DOWN {
        // Above the mask it is a large number.
        let row = j.wrapping_sub(k as u32);
        if ALL || row < p.mask_height {
            // SAFETY: the tap is in the mask.
            let tap = unsafe { d.tap_f64(row * p.mask_width + i) };
            for x in 0..ACROSS {
                sums[k][x] = d.fma(tap, samples[x], sums[k][x]);
            }
        }
    }
}
