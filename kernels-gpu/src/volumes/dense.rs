//! A mask of any number of taps, with eight rows of four outputs per thread in registers.
//!
//! ```text
//! each thread: outputs of four columns, a block's width apart, in eight adjacent rows of one plane
//! for each plane of the mask, for each input row under the thread's outputs, for each column of the mask:
//!     load the four samples
//!     for each of the eight output rows whose mask covers the input row: load the tap; add four products
//! ```
//!
//! Per 32 multiply-adds: four loads of samples, adjacent along a warp, and eight of taps, uniform for the warp; all
//! from the L1 cache. No shared memory and no barrier.

use super::{tap, Extended};
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, Pixel, Sample, VolumesParams, VOLUMES_ACROSS, VOLUMES_BLOCK, VOLUMES_DOWN, VOLUMES_TILE};
use core::marker::PhantomData;
use core::ops::Div;

/// The kernel: samples of type `X` are summed in `S`, and stored as `O`.
///
/// Launch contract: the buffers are as large as the parameters say, and the taps are in rows without padding, plane by
/// plane.
pub struct Dense<X, S, O>(PhantomData<(X, S, O)>);

const ACROSS: usize = VOLUMES_ACROSS as usize;
const DOWN: usize = VOLUMES_DOWN as usize;

impl<X: Sample, S: Accumulator + Div<Output = S>, O: Pixel> Body for Dense<X, S, O> {
    type Src = X;
    type Dst = O;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &VolumesParams) {
        let sample = d.block_x() * VOLUMES_TILE[0] + d.thread_x();
        // SAFETY: a plane has rows.
        let (plane, band) = unsafe { div_rem(d.block_y(), p.rows_of_blocks) };
        let first = band * VOLUMES_TILE[1] + d.thread_y() * VOLUMES_DOWN;
        let row_samples = p.out[0] * p.channels;
        if sample >= row_samples || first >= p.out[1] || plane >= p.out[2] {
            return;
        }
        let extended = Extended::<D, X, S>::of(d, src, p);
        // Samples after the row's last repeat it: their sums are not stored.
        let mut places = [0; ACROSS];
        for k in 0..ACROSS {
            let sample = sample + k as u32 * VOLUMES_BLOCK[0];
            places[k] = if sample < row_samples { sample } else { row_samples - 1 };
        }
        // SAFETY: a volume has at least one channel.
        let ends =
            unsafe { [places[0], places[ACROSS - 1]].map(|place| div_rem(place, p.channels).0 as i32 + p.origin[0]) };
        let inside = ends[0] >= 0 && ends[1] + p.mask[0] as i32 <= p.sides[0] as i32;
        let mut sums = [[S::ZERO; ACROSS]; DOWN];
        for k in 0..p.mask[2] {
            let z = (plane + k) as i32 + p.origin[2];
            for j in 0..p.mask[1] + VOLUMES_DOWN - 1 {
                let line = extended.row((first + j) as i32 + p.origin[1], z);
                for i in 0..p.mask[0] {
                    let x = i as i32 + p.origin[0];
                    // SAFETY: if `inside`, the row has the samples under all taps.
                    let samples = places.map(|place| unsafe { extended.sample(line, x, place, inside) });
                    for r in 0..DOWN {
                        // For output row r, this row is under mask row `j - r`, a large number if the row is above it.
                        let row = j.wrapping_sub(r as u32);
                        if row < p.mask[1] {
                            // SAFETY: plane, row and column are in the mask.
                            let tap: S = unsafe { tap(d, (k * p.mask[1] + row) * p.mask[0] + i) };
                            for x in 0..ACROSS {
                                sums[r][x] = d.fma(tap, samples[x], sums[r][x]);
                            }
                        }
                    }
                }
            }
        }
        for r in 0..DOWN {
            extended.divide(&mut sums[r]);
            for k in 0..ACROSS {
                let (row, sample) = (first + r as u32, sample + k as u32 * VOLUMES_BLOCK[0]);
                if row < p.out[1] && sample < row_samples {
                    let line = plane as u64 * p.out[1] as u64 + row as u64;
                    // SAFETY: plane, row and sample are in the output, and belong to this thread.
                    unsafe { extended.store(dst, line * row_samples as u64 + sample as u64, sums[r][k]) };
                }
            }
        }
    }
}
