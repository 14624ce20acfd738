//! Sums of columns over chunks of rows, from which [`Sliding`](super::Sliding) computes the first windows of its
//! blocks.

use super::quads::{add_up, words_inside, Quad, Rows, NONE, QUAD};
use super::terms::{terms, Whole};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Sample, SlidingParams, WINDOWS_BLOCK, WINDOWS_CHUNK};
use core::marker::PhantomData;

/// The kernel: sums each column of samples over chunks of [`WINDOWS_CHUNK`] rows, into one plane of sums per term. A
/// thread sums four columns over one chunk.
///
/// Launch contract: as for [`Sliding`](super::Sliding).
pub struct Totals<I, W, const TERMS: usize>(PhantomData<(I, W)>);

impl<I: Sample, W: Whole, const TERMS: usize> Body for Totals<I, W, TERMS> {
    type Src = I;
    type Dst = W;
    type Params = SlidingParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<W>, p: &SlidingParams) {
        let (quad, chunk) = (d.block_x() * WINDOWS_BLOCK + d.thread_x(), d.block_y());
        let (first, samples) = (quad * QUAD as u32, p.width * p.channels);
        if first >= samples || chunk >= p.chunks {
            return;
        }
        let (rows, words) = (Rows::of(src, p), words_inside(first as i32, samples));
        let mut each = [NONE; QUAD];
        for k in 0..QUAD as u32 {
            each[k as usize] = if first + k < samples { first + k } else { NONE };
        }
        let zeros = [terms::<W, TERMS>(0); QUAD];
        let aligned = rows.are_aligned() && first + QUAD as u32 <= samples;
        // SAFETY: samples are checked against the row's length; rows are inside the image, or mapped into it.
        let sums = unsafe {
            if let (true, Some(top)) = (aligned, rows.inside(chunk * WINDOWS_CHUNK, WINDOWS_CHUNK)) {
                let from = rows.address(top, first);
                add_up::<8, I, W, TERMS>(zeros, 0, WINDOWS_CHUNK, |k| {
                    Quad::aligned(d, from + k as u64 * rows.pitch() as u64)
                })
            } else {
                add_up::<2, I, W, TERMS>(zeros, 0, WINDOWS_CHUNK, |k| {
                    let row = rows.row(rows.map(d, chunk * WINDOWS_CHUNK + k));
                    if words {
                        row.words(d, 0, quad)
                    } else {
                        row.each(d, each)
                    }
                })
            }
        };
        for t in 0..TERMS {
            let row = (t as u64 * p.chunks as u64 + chunk as u64) * samples as u64;
            for k in 0..QUAD as u32 {
                if first + k < samples {
                    // SAFETY: chunk and sample are in the plane of sums, and belong to this thread.
                    unsafe { d.store(dst, row + (first + k) as u64, sums[k as usize][t]) };
                }
            }
        }
    }
}
