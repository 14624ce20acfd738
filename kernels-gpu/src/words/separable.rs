//! Both passes of a separable filter over a tile of packed samples, in one launch: for images so small that a
//! [march](crate::march) would end before its ring is full.
//!
//! ```text
//! copy the tile of 16 output rows; barrier
//! each warp, for every eighth row of the tile, two rows at a time: sum along the rows, and store the sums in shared
//!     memory; barrier
//! for each row of sums under the thread's 4x2 outputs: add its contribution to both rows
//! store the sums as words
//! ```
//!
//! Per output: (15 + taps) / 16 sums along rows, the halo rows included, and one sum down the column.

use super::{add, store, Tile};
use crate::device::{Device, Global, Shared};
use crate::samples::{Packed, Samples, Summed};
use crate::Body;
use apron_abi::{tap_stride, words_rows, Accumulator, Conv2dParams, BLOCKED_BLOCK, BLOCKED_COLUMNS};
use core::marker::PhantomData;

/// The kernel for `C` channels of samples `S`; the mask's width and height are the taps along rows and columns.
///
/// Launch contract: as for [`Dense`](super::Dense), but the taps along columns follow the taps along rows, and the
/// shared memory is [`apron_abi::SharedMemory::WordsAndSums`].
pub struct Separable<S, const C: usize>(PhantomData<S>);

/// Outputs per thread, across and down.
const ACROSS: usize = 4;
const DOWN: usize = 2;
/// Rows along which a thread sums at a time: with one row, each multiply-add would wait for the previous one.
const ROWS: usize = 2;
/// Threads side by side: a warp.
const THREADS: u32 = BLOCKED_COLUMNS / ACROSS as u32;
const WARPS: u32 = BLOCKED_BLOCK / THREADS;

#[allow(private_bounds)] // only this crate implements the bound
impl<S: Packed<ACROSS>, const C: usize> Body for Separable<S, C> {
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
        let (lane, warp) = (d.thread_x() % THREADS, d.thread_x() / THREADS);
        let taps_y = tap_stride(p.mask_width);
        let tile = Tile::<D, S, C>::new(d, p, strip, taps_y + tap_stride(p.mask_height));
        let tile_rows = rows + p.mask_height - 1;
        // Rows of sums, behind the tile. Adjacent sums of a thread are `THREADS` apart, so that lanes access adjacent
        // words.
        let between = Shared::<S::Sum>::at((tile.words.offset + tile.pitch * tile_rows * 4).next_multiple_of(8));
        let place = |row: u32, k: usize| row * BLOCKED_COLUMNS + k as u32 * THREADS + lane;
        // SAFETY: the launch keeps the contract; barriers lie between the writes of the tile and of the sums and their
        // reads.
        unsafe {
            tile.bring(src.address, top as i32 + p.origin_y, tile_rows);
            d.barrier();
            let mut row = warp;
            while row < tile_rows {
                // Rows past the last are replaced by the last, and their sums are discarded.
                let of =
                    |n: usize| if row + n as u32 * WARPS < tile_rows { row + n as u32 * WARPS } else { tile_rows - 1 };
                let sums = tile.along_rows([of(0), of(1)], lane * ACROSS as u32 / S::OF_WORD);
                for n in 0..ROWS {
                    if row + (n as u32) * WARPS < tile_rows {
                        for k in 0..ACROSS {
                            d.shared_store(between, place(of(n), k), sums[n][k]);
                        }
                    }
                }
                row += ROWS as u32 * WARPS;
            }
            d.barrier();
            let first = warp * DOWN as u32;
            let mut sums = [[S::Sum::ZERO; ACROSS]; DOWN];
            let mut row = 0;
            while row < p.mask_height + DOWN as u32 - 1 {
                let samples = [0, 1, 2, 3].map(|k| d.shared_load(between, place(first + row, k)));
                for j in 0..DOWN {
                    if row >= j as u32 && row - (j as u32) < p.mask_height {
                        let tap = d.shared_load(Tile::<D, S, C>::TAPS, taps_y + row - j as u32);
                        for k in 0..ACROSS {
                            sums[j][k] = d.fma(tap, samples[k], sums[j][k]);
                        }
                    }
                }
                row += 1;
            }
            store::<D, S, ACROSS, DOWN, C>(d, dst.address, p, (strip + lane * ACROSS as u32, top + first), &sums);
        }
    }
}

impl<D: Device, S: Samples, const C: usize> Tile<'_, D, S, C> {
    /// Returns the sums along rows of the tile for a thread's adjacent outputs; the first begins in word `column` of
    /// each row.
    #[inline(always)]
    unsafe fn along_rows(&self, rows: [u32; ROWS], column: u32) -> [[S::Sum; ACROSS]; ROWS] {
        let (d, width) = (self.d, self.p.mask_width);
        let mut sums = [[S::Sum::ZERO; ACROSS]; ROWS];
        // SAFETY: the tile has the rows, and in each the words under all taps of the outputs.
        unsafe {
            let mut windows = rows.map(|row| self.window::<ACROSS>(row * self.pitch + column));
            let mut tap = 0;
            while tap < width {
                let taps = S::Sum::four(d, Self::TAPS, tap);
                for n in 0..ROWS {
                    let samples = windows[n].next(self);
                    // Four taps without a check per tap.
                    if width - tap >= 4 {
                        add::<D, S::Sum, ACROSS, C>(d, &mut sums[n], taps, 4, &samples);
                    } else {
                        add::<D, S::Sum, ACROSS, C>(d, &mut sums[n], taps, width - tap, &samples);
                    }
                }
                tap += 4;
            }
        }
        sums
    }
}
