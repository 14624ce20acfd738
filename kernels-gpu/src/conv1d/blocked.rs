//! Filters of any length, one launch per axis: 16 adjacent outputs per thread in registers, the taps in pieces.
//!
//! A block of 256 threads computes 256x16 output samples of one channel along rows, or 32x128 along columns:
//!
//! ```text
//! for each piece of at most 256 (rows) or 128 (columns) taps, from the first:
//!     copy the input under the outputs and the piece              (border by index map)
//!     copy the piece's taps, as accumulators; barrier
//!     add the piece's contribution to the sums; barrier
//! rows:    write the sums to shared memory; barrier; store them, adjacent lanes adjacent sums
//! columns: store them
//! ```
//!
//! The sums stay in registers from piece to piece, so each adds its products in the order of the taps. Per 64
//! multiply-adds a thread reads from shared memory four samples, in one access of 16 bytes along rows, and four taps,
//! which are a broadcast. A piece costs about 2 global loads per output, and two barriers.
//!
//! As in [`Simple`](super::Simple), the first launch of a separable filter stores its sums without rounding: as f32, or
//! as f64 for integer results. A mask of a single row or column takes one launch, which stores the results.

use super::fused::{self, SUMS};
use crate::device::{Device, Global, Shared};
use crate::taps::SharedTaps;
use crate::{div_rem, Body};
use apron_abi::{
    Accumulator, BorderMode, Conv1dParams, ElementType, FromSum, Sample, BLOCKED_COLUMNS_TAPS, BLOCKED_COLUMNS_TILE,
    BLOCKED_LINE_BLOCK, BLOCKED_ROWS_PITCH, BLOCKED_ROWS_TAPS, BLOCKED_ROWS_TILE, BLOCKED_SUMS_PITCH,
};
use core::marker::PhantomData;

/// Lanes of a warp; a warp copies and stores a row at a time.
const LANES: u32 = 32;
const WARPS: u32 = BLOCKED_LINE_BLOCK / LANES;

/// Copies `count` taps from tap `first` on, as accumulators, padded by zeros to a multiple of 4.
#[inline(always)]
unsafe fn copy_taps<D: Device, A: Accumulator>(d: D, first: u32, count: u32, to: Shared<A>) {
    let tap = d.thread_x();
    // One tap per thread: a piece has at most 256 taps.
    if tap < count.next_multiple_of(4) {
        // SAFETY: the tap exists; its place is this thread's, and no thread reads it before the next barrier.
        unsafe { d.shared_store(to, tap, A::of(if tap < count { d.tap(first + tap) } else { 0.0 })) };
    }
}

/// The pass along rows, which sums in `A` and stores `O`.
///
/// Launch contract: the buffers are as large as the parameters say, there are `taps` taps, a row of the grid has all
/// blocks of one channel, then those of the next, and the shared memory is [`apron_abi::blocked_rows_bytes`].
pub struct BlockedRows<I, A, O>(PhantomData<(I, A, O)>);

impl<I: Sample, A: Accumulator, O: FromSum<A>> Body for BlockedRows<I, A, O> {
    type Src = I;
    type Dst = O;
    type Params = Conv1dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv1dParams) {
        let [tile_columns, tile_rows] = BLOCKED_ROWS_TILE;
        let first_row = d.block_y() * tile_rows;
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        // SAFETY: a row of outputs takes at least one block, so that the divisor is not 0.
        let (channel, strip) = unsafe { div_rem(d.block_x(), p.out_width.div_ceil(tile_columns)) };
        let first_column = strip * tile_columns;
        let (row, column) = (d.thread_x() % tile_rows, d.thread_x() / tile_rows * SUMS as u32);
        let taps = Shared::<A>::at(BLOCKED_ROWS_PITCH * tile_rows * 4);
        let mut sums = [A::ZERO; SUMS];
        let mut tap = 0;
        while tap < p.taps {
            let count = BLOCKED_ROWS_TAPS.min(p.taps - tap);
            // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
            unsafe {
                let left = (first_column + tap) as i32 + p.origin;
                bring_rows(d, src, p, (left, first_row, channel), (tile_columns + count - 1).next_multiple_of(4));
                copy_taps(d, tap, count, taps);
                d.end_copies();
                d.wait_copies::<0>();
                d.barrier();
                let mut at = row * BLOCKED_ROWS_PITCH + column;
                let mut next = |_, _| {
                    let four = d.shared_load4(Shared::<f32>::at(0), at);
                    at += 4;
                    four.map(A::of)
                };
                fused::add::<D, A, _, 0>(d, SharedTaps(taps), 0, count, &mut next, &mut sums);
                d.barrier();
            }
            tap += BLOCKED_ROWS_TAPS;
        }
        // SAFETY: no thread reads the tile any more; each sum, and each output, is written by one thread.
        unsafe {
            for k in 0..SUMS {
                d.shared_store(Shared::<A>::at(0), row * BLOCKED_SUMS_PITCH + column + k as u32, sums[k]);
            }
            d.barrier();
            let mut row = d.thread_x() / LANES;
            while row < tile_rows && first_row + row < p.out_height {
                let start = (first_row + row) as u64 * p.out_width as u64 + first_column as u64;
                let mut column = d.thread_x() % LANES;
                while column < tile_columns && first_column + column < p.out_width {
                    let sum = d.shared_load(Shared::<A>::at(0), row * BLOCKED_SUMS_PITCH + column);
                    let at = (start + column as u64) * p.channels as u64 + channel as u64;
                    d.store(dst, at, O::from_sum(sum));
                    column += LANES;
                }
                row += WARPS;
            }
        }
    }
}

/// Starts copying `count` samples of one channel of every row of a tile, from image column `left` on, one row per warp.
#[inline(always)]
unsafe fn bring_rows<D: Device, I: Sample>(
    d: D,
    src: Global<I>,
    p: &Conv1dParams,
    (left, first_row, channel): (i32, u32, u32),
    count: u32,
) {
    let border = BorderMode::from_u32(p.border);
    let inside = left >= 0 && left + count as i32 <= p.width as i32;
    let tile = Shared::<f32>::at(0);
    let mut row = d.thread_x() / LANES;
    while row < BLOCKED_ROWS_TILE[1] {
        // Rows below the image repeat its last one: their sums are not stored.
        let y = (first_row + row).min(p.height - 1);
        let start = y as u64 * p.row_stride as u64 + channel as u64;
        let at = |column: i32| start + column as u32 as u64 * p.channels as u64;
        let to = row * BLOCKED_ROWS_PITCH;
        let mut index = d.thread_x() % LANES;
        // SAFETY: the samples are in the image; each place of the tile is written by one lane of the row's warp.
        unsafe {
            while inside && index + 3 * LANES < count {
                let column = |k: u32| left + (index + k * LANES) as i32;
                if I::TYPE == ElementType::F32 {
                    for k in 0..4 {
                        d.start_copy_as_f32(tile, to + index + k * LANES, src, at(column(k)));
                    }
                } else {
                    // All loads are in flight before the first sample is stored.
                    let four = [0, 1, 2, 3].map(|k| d.load(src, at(column(k))));
                    for k in 0..4 {
                        d.shared_store(tile, to + index + k * LANES, four[k as usize].to_f32());
                    }
                }
                index += 4 * LANES;
            }
            while index < count {
                match border.map(left + index as i32, p.width as i32) {
                    Some(column) => d.start_copy_as_f32(tile, to + index, src, at(column)),
                    None => d.shared_store(tile, to + index, p.constant as f32),
                }
                index += LANES;
            }
        }
        row += WARPS;
    }
}

/// The pass along columns, over samples or the sums of [`BlockedRows`].
///
/// Launch contract: as for [`BlockedRows`], but the blocks along x cover the interleaved samples of all channels, and
/// the shared memory is [`apron_abi::blocked_columns_bytes`].
pub struct BlockedColumns<I, A, O>(PhantomData<(I, A, O)>);

impl<I: Sample, A: Accumulator, O: FromSum<A>> Body for BlockedColumns<I, A, O> {
    type Src = I;
    type Dst = O;
    type Params = Conv1dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv1dParams) {
        let [tile_columns, tile_rows] = BLOCKED_COLUMNS_TILE;
        let first_row = d.block_y() * tile_rows;
        if first_row >= p.out_height {
            return;
        }
        let samples = p.out_width * p.channels;
        // Adjacent lanes have adjacent columns; columns past the image repeat its last one, and their sums are not
        // stored.
        let (lane, row) = (d.thread_x() % tile_columns, d.thread_x() / tile_columns * SUMS as u32);
        let sample = d.block_x() * tile_columns + lane;
        let column = sample.min(samples - 1);
        let taps = Shared::<A>::at((tile_rows + BLOCKED_COLUMNS_TAPS) * tile_columns * A::TYPE.size_bytes());
        let mut sums = [A::ZERO; SUMS];
        let mut tap = 0;
        while tap < p.taps {
            let count = BLOCKED_COLUMNS_TAPS.min(p.taps - tap);
            // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
            unsafe {
                let top = (first_row + tap) as i32 + p.origin;
                bring_columns::<D, I, A>(d, src, p, (column, top), (tile_rows + count - 1).next_multiple_of(4));
                copy_taps(d, tap, count, taps);
                d.end_copies();
                d.wait_copies::<0>();
                d.barrier();
                let mut at = row * tile_columns + lane;
                let mut next = |_, _| {
                    let four = [0, 1, 2, 3].map(|k| d.shared_load(Shared::<A>::at(0), at + k * tile_columns));
                    at += 4 * tile_columns;
                    four
                };
                fused::add::<D, A, _, 0>(d, SharedTaps(taps), 0, count, &mut next, &mut sums);
                d.barrier();
            }
            tap += BLOCKED_COLUMNS_TAPS;
        }
        for k in 0..SUMS {
            let y = first_row + row + k as u32;
            if sample < samples && y < p.out_height {
                // SAFETY: (sample, y) is in the output, and no other thread's.
                unsafe { d.store(dst, y as u64 * samples as u64 + sample as u64, O::from_sum(sums[k])) };
            }
        }
    }
}

/// Starts copying `count` samples of a column of the tile, from image row `top` on.
#[inline(always)]
unsafe fn bring_columns<D: Device, I: Sample, A: Accumulator>(
    d: D,
    src: Global<I>,
    p: &Conv1dParams,
    (column, top): (u32, i32),
    count: u32,
) {
    let border = BorderMode::from_u32(p.border);
    let columns = BLOCKED_COLUMNS_TILE[0];
    let step = BLOCKED_LINE_BLOCK / columns;
    let (lane, mut row) = (d.thread_x() % columns, d.thread_x() / columns);
    let tile = Shared::<A>::at(0);
    if top >= 0 && top + count as i32 <= p.height as i32 {
        let mut at = (top as u32 + row) as u64 * p.row_stride as u64 + column as u64;
        let down = step as u64 * p.row_stride as u64;
        while row + 3 * step < count {
            // SAFETY: the samples are in the image; their places are this thread's, and no thread reads them before the
            // next barrier.
            unsafe {
                let four = [0, 1, 2, 3].map(|k| A::of(d.load(src, at + k * down)));
                for k in 0..4 {
                    d.shared_store(tile, (row + k as u32 * step) * columns + lane, four[k]);
                }
            }
            (row, at) = (row + 4 * step, at + 4 * down);
        }
    }
    while row < count {
        // Loads of four rows are in flight before the first sample is stored.
        let mut four = [A::ZERO; 4];
        for k in 0..4 {
            let row = row + k as u32 * step;
            if row < count {
                let y = border.map(top + row as i32, p.height as i32);
                four[k] = match y {
                    // SAFETY: the sample is in the image.
                    Some(y) => A::of(unsafe { d.load(src, y as u32 as u64 * p.row_stride as u64 + column as u64) }),
                    None => A::from_f64(p.constant),
                };
            }
        }
        for k in 0..4 {
            let row = row + k as u32 * step;
            if row < count {
                // SAFETY: the tile has the row; only this thread writes this place, which is read after the barrier.
                unsafe { d.shared_store(tile, row * columns + lane, four[k]) };
            }
        }
        row += 4 * step;
    }
}
