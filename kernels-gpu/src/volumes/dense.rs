//! A mask of three dimensions, with eight rows of four outputs per thread in registers.
//!
//! ```text
//! each thread: four samples of a row, a block's width apart, and the same columns of the seven rows below, in one plane
//! for each plane of the mask: map the plane
//!     for each input row under its outputs: map the row
//!         for each column of the mask: load the four samples
//!             for each of the eight output rows whose mask covers the input row: load the tap; add four products
//! ```
//!
//! Per 32 multiply-adds: four loads of samples, adjacent along a warp, and eight of taps, the same for the whole warp; all
//! from the first-level cache. No shared memory and no barrier.

use super::{tap, Under, ACROSS};
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, VolumesParams, VOLUMES_DOWN, VOLUMES_TILE};
use core::marker::PhantomData;
use core::ops::Div;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, and the taps are in rows without gaps, plane by plane.
pub struct Dense<S>(PhantomData<S>);

const DOWN: usize = VOLUMES_DOWN as usize;

impl<S: Accumulator + Div<Output = S>> Body for Dense<S> {
    type Src = S;
    type Dst = S;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S>, dst: Global<S>, p: &VolumesParams) {
        let sample = d.block_x() * VOLUMES_TILE[0] + d.thread_x();
        // SAFETY: a plane has rows.
        let (plane, band) = unsafe { div_rem(d.block_y(), p.rows_of_blocks) };
        let first = band * VOLUMES_TILE[1] + d.thread_y() * VOLUMES_DOWN;
        if sample >= p.out[0] * p.channels || first >= p.out[1] || plane >= p.out[2] {
            return;
        }
        let under = Under::of(d, src, sample, p);
        let mut sums = [[S::ZERO; ACROSS]; DOWN];
        for k in 0..p.mask[2] {
            let z = (plane + k) as i32 + p.origin[2];
            let taps = k * p.mask[1];
            for j in 0..p.mask[1] + VOLUMES_DOWN - 1 {
                let y = (first + j) as i32 + p.origin[1];
                // For output row r, this row is under mask row `j - r`.
                // SAFETY: the taps are in the mask.
                unsafe {
                    if j >= VOLUMES_DOWN - 1 && j < p.mask[1] {
                        under.row(y, z, |i, samples| add::<D, S, true>(d, p, (taps, j, i), samples, &mut sums));
                    } else {
                        under.row(y, z, |i, samples| add::<D, S, false>(d, p, (taps, j, i), samples, &mut sums));
                    }
                }
            }
        }
        for r in 0..DOWN {
            // SAFETY: each output is one thread's.
            unsafe { under.store(dst, (sample, first + r as u32, plane), sums[r]) };
        }
    }
}

/// Adds the products of samples of row `j` under the outputs with column `i` of the mask's plane, whose rows start at row
/// `taps`: to `ALL` output rows, or only to those with such a mask row.
#[inline(always)]
unsafe fn add<D: Device, S: Accumulator, const ALL: bool>(
    d: D,
    p: &VolumesParams,
    (taps, j, i): (u32, u32, u32),
    samples: [S; ACROSS],
    sums: &mut [[S; ACROSS]; DOWN],
) {
    for r in 0..DOWN {
        // Above the mask it is a large number.
        let row = j.wrapping_sub(r as u32);
        if ALL || row < p.mask[1] {
            // SAFETY: the tap is in the mask.
            let tap: S = unsafe { tap(d, (taps + row) * p.mask[0] + i) };
            for x in 0..ACROSS {
                sums[r][x] = d.fma(tap, samples[x], sums[r][x]);
            }
        }
    }
}
