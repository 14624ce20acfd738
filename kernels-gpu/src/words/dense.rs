//! A dense mask over a tile of packed samples, `ACROSS` x `DOWN` adjacent outputs per thread in registers.
//!
//! ```text
//! copy the tile of 2 * ACROSS * DOWN output rows; barrier
//! for each row of the tile under the thread's outputs:
//!     add its contribution to the sums of those of the DOWN output rows whose masks cover it
//! store the sums as words
//! ```
//!
//! With 4x4 outputs per thread, each row of the tile is read a fourth as often as with 4x1; with 4x1, there are four
//! times as many blocks, for small images.

use super::{add, store, Tile, WINDOW};
use crate::device::{Device, Global};
use crate::samples::{Packed, Samples, Summed};
use crate::Body;
use apron_abi::{tap_stride, words_rows, Accumulator, Conv2dParams, BLOCKED_COLUMNS};
use core::marker::PhantomData;

/// The kernel for `C` channels of samples `S`.
///
/// Launch contract: the buffers are as large as the parameters say and start at multiples of 16 bytes, the shared
/// memory is [`apron_abi::SharedMemory::Words`], and the taps are as the plan computes them, rows
/// [`tap_stride`](apron_abi::tap_stride) taps apart.
pub struct Dense<S, const ACROSS: usize, const DOWN: usize, const C: usize>(PhantomData<S>);

#[allow(private_bounds)] // only this crate implements the bound
impl<S: Packed<ACROSS>, const ACROSS: usize, const DOWN: usize, const C: usize> Body for Dense<S, ACROSS, DOWN, C> {
    type Src = S::Element;
    type Dst = S::Element;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &Conv2dParams) {
        let rows = words_rows(ACROSS as u32, DOWN as u32);
        let (strip, top) = (d.block_x() * BLOCKED_COLUMNS, d.block_y() * rows);
        // A grid may have more rows of blocks than its launch needs.
        if top >= p.out_height {
            return;
        }
        let threads = BLOCKED_COLUMNS / ACROSS as u32;
        let (column, row) = (d.thread_x() % threads * ACROSS as u32, d.thread_x() / threads * DOWN as u32);
        let tile = Tile::<D, S, C>::new(d, p, strip, p.mask_height * tap_stride(p.mask_width));
        // SAFETY: the launch keeps the contract; a barrier lies between the writes of the tile and its reads.
        unsafe {
            tile.bring(src.address, top as i32 + p.origin_y, rows + p.mask_height - 1);
            d.barrier();
            let sums = tile.sum::<ACROSS, DOWN>(column, row);
            store::<D, S, ACROSS, DOWN, C>(d, dst.address, p, (strip + column, top + row), &sums);
        }
    }
}

impl<D: Device, S: Samples, const C: usize> Tile<'_, D, S, C> {
    /// Returns the sums of a thread's outputs; the first is at (`column`, `first_row`) of the block, in samples and
    /// rows.
    #[inline(always)]
    unsafe fn sum<const ACROSS: usize, const DOWN: usize>(
        &self,
        column: u32,
        first_row: u32,
    ) -> [[S::Sum; ACROSS]; DOWN] {
        let mut sums = [[S::Sum::ZERO; ACROSS]; DOWN];
        let mut at = first_row * self.pitch + column / S::OF_WORD;
        let mut row = 0;
        while row < self.p.mask_height + DOWN as u32 - 1 {
            // SAFETY: the tile has all rows under the block's outputs.
            unsafe {
                if row >= DOWN as u32 - 1 && row < self.p.mask_height {
                    self.add_row::<true, ACROSS, DOWN>(at, row, &mut sums);
                } else {
                    self.add_row::<false, ACROSS, DOWN>(at, row, &mut sums);
                }
            }
            at += self.pitch;
            row += 1;
        }
        sums
    }

    /// Adds row `row` of the tile, from its word `at` on, to the sums of the output rows whose masks cover it: for
    /// output row `k` it is under mask row `row - k`. If `ALL`, each output row has such a mask row; otherwise that is
    /// checked.
    #[inline(always)]
    unsafe fn add_row<const ALL: bool, const ACROSS: usize, const DOWN: usize>(
        &self,
        at: u32,
        row: u32,
        sums: &mut [[S::Sum; ACROSS]; DOWN],
    ) {
        let (width, height) = (self.p.mask_width, self.p.mask_height);
        // SAFETY: the tile has the words under the thread's outputs.
        let mut window = unsafe { self.window::<ACROSS>(at) };
        let mut add = |tap: u32, count: u32, samples: &[S::Sum; WINDOW]| {
            for k in 0..DOWN {
                if ALL || (row >= k as u32 && row - (k as u32) < height) {
                    let first = (row - k as u32) * tap_stride(width) + tap;
                    // SAFETY: the mask has this row.
                    let taps = unsafe { S::Sum::four(self.d, Self::TAPS, first) };
                    add::<D, S::Sum, ACROSS, C>(self.d, &mut sums[k], taps, count, samples);
                }
            }
        };
        let mut tap = 0;
        while tap < width {
            // SAFETY: the tile has the words under all taps of the row.
            let samples = unsafe { window.next(self) };
            // Four taps without a check per tap.
            if width - tap >= 4 {
                add(tap, 4, &samples);
            } else {
                add(tap, width - tap, &samples);
            }
            tap += 4;
        }
    }
}
