//! Local deviations of floats in windows of up to 16x16 pixels, in one launch.
//!
//! ```text
//! copy the tile and its halo to shared memory                                                    (border by index map)
//! barrier
//! along:   a thread sums four windows of a row that share their samples; lanes are rows, an odd pitch apart
//! barrier
//! down:    a thread sums eight windows of a column that share their sums along rows, and stores eight outputs
//! ```
//!
//! Windows of at most a chunk are summed from the first sample to the last, along rows and then down columns, so the
//! sums are those of [`windows::OrderedRows`](crate::windows::OrderedRows), which keeps them in global memory. Per output and term:
//! `(width + 3) / 4` loads of samples and `(height + 7) / 8` of sums from shared memory, and as many additions as both
//! sides have pixels.
//!
//! Launch contract: windows of at most [`LOCAL_SIDE`](apron_abi::LOCAL_SIDE) pixels per side, blocks that cover the
//! output by tiles of [`local_columns`] samples and [`LOCAL_ROWS`] rows, and shared memory as [`LocalTile`] lays it out.

use super::Deviation;
use crate::device::{Device, Global, Shared};
use crate::samples::Input;
use crate::windows::{in_order, ordered_terms, FinishOrdered};
use crate::{div_rem, Body};
use apron_abi::{
    local_columns, Accumulator, BorderMode, Element, LocalTile, OrderedParams, Pixel, LOCAL_BLOCK, LOCAL_COLUMNS,
    LOCAL_PITCH, LOCAL_ROWS,
};
use core::marker::PhantomData;

/// Adjacent windows of a row, or of a column, per thread.
const ALONG: usize = 4;
const DOWN: usize = 8;

/// The kernel.
pub struct Tiled<I, O>(PhantomData<(I, O)>);

impl<I: Input, O: Pixel> Body for Tiled<I, O> {
    type Src = I;
    type Dst = O;
    type Params = OrderedParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &OrderedParams) {
        // A grid may have more rows of blocks than its launch needs.
        if d.block_y() * LOCAL_ROWS >= p.out_height {
            return;
        }
        let columns = local_columns(p.channels);
        let tile = LocalTile::of(p.channels, [p.window_x, p.window_y], I::Held::TYPE.size_bytes());
        let block = Block::<D, I> { d, p, tile, first: d.block_x() * columns, columns, of: PhantomData };
        // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
        unsafe {
            block.copy(src);
            d.wait_copies::<0>();
            d.barrier();
            block.along();
            d.barrier();
            block.down(dst);
        }
    }
}

struct Block<'p, D, I> {
    d: D,
    p: &'p OrderedParams,
    tile: LocalTile,
    /// First output sample per row, and output samples per row.
    first: u32,
    columns: u32,
    of: PhantomData<I>,
}

impl<D: Device, I: Input> Block<'_, D, I> {
    /// Returns the sums along rows of term `term`.
    #[inline(always)]
    fn sums(&self, term: u32) -> Shared<f64> {
        Shared::at(self.tile.sums_at + term * self.tile.rows * LOCAL_PITCH * 8)
    }

    /// Starts copying the tile: a warp copies a row at a time.
    #[inline(always)]
    unsafe fn copy(&self, src: Global<I>) {
        let (d, p, border) = (self.d, self.p, BorderMode::from_u32(self.p.border));
        let count = self.columns + (p.window_x - 1) * p.channels;
        let (to, first_row) = (Shared::<I::Held>::at(0), (d.block_y() * LOCAL_ROWS) as i32 + p.origin_y);
        // The row's samples are in one piece, whatever the channels.
        let start = self.first as i64 + p.origin_x as i64 * p.channels as i64;
        let is_inside = start >= 0 && start + count as i64 <= p.width as i64 * p.channels as i64;
        let mut row = d.thread_x() / 32;
        // SAFETY: the tile has a place for each sample of its rows, each of which is one thread's; samples are in the
        // image, or mapped into it.
        unsafe {
            while row < self.tile.rows {
                let y = border.map(first_row + row as i32, p.height as i32);
                let from = y.map_or(0, |y| y as u64 * p.row_stride as u64);
                let mut i = d.thread_x() % 32;
                while i < count {
                    let at = row * self.tile.pitch + i;
                    if is_inside && y.is_some() {
                        I::start_copy(d, to, at, src, from + (start + i as i64) as u64);
                    } else {
                        let (pixel, channel) = div_rem(self.first + i, p.channels);
                        match border.map(pixel as i32 + p.origin_x, p.width as i32) {
                            Some(x) if y.is_some() => {
                                let sample = x as u64 * p.channels as u64 + channel as u64;
                                I::start_copy(d, to, at, src, from + sample);
                            }
                            _ => d.shared_store(to, at, I::Held::from_f64(p.constant)),
                        }
                    }
                    i += 32;
                }
                row += LOCAL_BLOCK / 32;
            }
        }
        d.end_copies();
    }

    /// Sums windows along the rows of the tile.
    #[inline(always)]
    unsafe fn along(&self) {
        let (d, p, tile) = (self.d, self.p, Shared::<I::Held>::at(0));
        let mut i = d.thread_x();
        // SAFETY: there is at least one row and one channel; all places are in the tile, and in the sums along rows.
        unsafe {
            while i < self.tile.rows * (self.columns / ALONG as u32) {
                let (group, row) = div_rem(i, self.tile.rows);
                let (group, channel) = div_rem(group, p.channels);
                let column = group * ALONG as u32 * p.channels + channel;
                let from = row * self.tile.pitch + column;
                let sums: [[f64; 2]; ALONG] =
                    in_order(p.window_x, |k| ordered_terms(d.shared_load(tile, from + k * p.channels)));
                for k in 0..ALONG {
                    let to = row * LOCAL_PITCH + column + k as u32 * p.channels;
                    d.shared_store(self.sums(0), to, sums[k][0]);
                    d.shared_store(self.sums(1), to, sums[k][1]);
                }
                i += LOCAL_BLOCK;
            }
        }
    }

    /// Sums windows down the columns of sums along rows, and stores the deviations.
    #[inline(always)]
    unsafe fn down<O: Pixel>(&self, dst: Global<O>) {
        let (d, p) = (self.d, self.p);
        let (column, row) = (d.thread_x() % LOCAL_COLUMNS, d.thread_x() / LOCAL_COLUMNS * DOWN as u32);
        let (sample, samples) = (self.first + column, p.out_width * p.channels);
        if column >= self.columns || sample >= samples {
            return;
        }
        // SAFETY: all places are in the sums along rows; an output is in the image, and one thread's.
        unsafe {
            let sums: [[f64; 2]; DOWN] = in_order(p.window_y, |k| {
                let at = (row + k) * LOCAL_PITCH + column;
                [d.shared_load(self.sums(0), at), d.shared_load(self.sums(1), at)]
            });
            for k in 0..DOWN {
                let y = d.block_y() * LOCAL_ROWS + row + k as u32;
                if y < p.out_height {
                    let output: O = Deviation::finish(d, sums[k], p);
                    d.store(dst, y as u64 * samples as u64 + sample as u64, output);
                }
            }
        }
    }
}
