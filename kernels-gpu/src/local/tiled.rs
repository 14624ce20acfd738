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
//! Windows of at most a chunk are summed from the first sample to the last, along rows and then down columns. Their sums
//! are those of [`windows::OrderedRows`](crate::windows::OrderedRows), which keeps sums along rows in global memory.
//!
//! Per output, from shared memory: `(width + 3) / 4` loads of samples for each row of the tile, and `(height + 7) / 8` loads
//! of sums per term; smaller windows than a thread has take `width` and `height` loads. Per term: `width + height` additions.
//! A tile has `31 + height` rows for 32 output rows.
//!
//! Launch contract: windows of at most [`LOCAL_SIDE`](apron_abi::LOCAL_SIDE) pixels per side, blocks that cover the
//! output by tiles of [`local_columns`] samples and [`LOCAL_ROWS`] rows, and shared memory as [`LocalTile`] lays it out.

use super::Deviation;
use crate::device::{Device, Global, Shared};
use crate::samples::Input;
use crate::windows::FinishOrdered;
use crate::{div_rem, Body};
use apron_abi::{
    local_columns, Accumulator, BorderMode, Element, LocalTile, OrderedParams, Pixel, LOCAL_BLOCK, LOCAL_COLUMNS,
    LOCAL_PITCH, LOCAL_ROWS,
};
use core::marker::PhantomData;

/// Adjacent windows of a row per thread and step.
const ALONG: usize = 4;
/// Adjacent windows of a column per thread.
const DOWN: usize = 8;

/// The kernel, for input samples of type `I` and outputs of type `O`.
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
    /// First sample of the block's output rows.
    first: u32,
    /// Output samples per row of the block.
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
        let (d, p) = (self.d, self.p);
        let count = self.columns + (p.window_x - 1) * p.channels;
        let (to, lane) = (Shared::<I::Held>::at(0), d.thread_x() % 32);
        // The row's samples are in one piece, whatever the channels.
        let start = self.first as i64 + p.origin_x as i64 * p.channels as i64;
        let top = (d.block_y() * LOCAL_ROWS) as i32 + p.origin_y;
        let (samples, bottom) = (p.width as i64 * p.channels as i64, top as i64 + self.tile.rows as i64);
        let is_inside = start >= 0 && start + count as i64 <= samples && top >= 0 && bottom <= p.height as i64;
        let mut row = d.thread_x() / 32;
        // SAFETY: the tile has a place for each sample of its rows, each of which is one thread's; samples are in the
        // image, or mapped into it.
        unsafe {
            while row < self.tile.rows {
                let place = row * self.tile.pitch;
                if is_inside {
                    let from = (top as u32 + row) as u64 * p.row_stride as u64 + start as u64;
                    let mut i = lane;
                    while i < count {
                        I::start_copy(d, to, place + i, src, from + i as u64);
                        i += 32;
                    }
                } else {
                    self.copy_mapped(src, place, top + row as i32, count);
                }
                row += LOCAL_BLOCK / 32;
            }
        }
        d.end_copies();
    }

    /// Starts copying a row of the tile, whose first sample is at `place`, from row `y`, by the border's index map.
    #[inline(always)]
    unsafe fn copy_mapped(&self, src: Global<I>, place: u32, y: i32, count: u32) {
        let (d, p, border) = (self.d, self.p, BorderMode::from_u32(self.p.border));
        let (to, y) = (Shared::<I::Held>::at(0), border.map(y, p.height as i32));
        let mut i = d.thread_x() % 32;
        // SAFETY: the caller's promise; there is at least one channel.
        unsafe {
            while i < count {
                let (pixel, channel) = div_rem(self.first + i, p.channels);
                match (border.map(pixel as i32 + p.origin_x, p.width as i32), y) {
                    (Some(x), Some(y)) => {
                        let sample = x as u64 * p.channels as u64 + channel as u64;
                        I::start_copy(d, to, place + i, src, y as u64 * p.row_stride as u64 + sample);
                    }
                    _ => d.shared_store(to, place + i, I::Held::from_f64(p.constant)),
                }
                i += 32;
            }
        }
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
                let sums = sum_windows::<ALONG>(p.window_x, |k| {
                    let value = f64::of(d.shared_load(tile, from + k * p.channels));
                    [value, value * value]
                });
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
            let sums = sum_windows::<DOWN>(p.window_y, |k| {
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

/// Returns the sums of `N` adjacent windows of `count` numbers, each added up in order from zero; window `n` starts at
/// number `n`. Windows of at least `N` numbers share what they have in common, so that each number is loaded once.
#[inline(always)]
fn sum_windows<const N: usize>(count: u32, at: impl Fn(u32) -> [f64; 2]) -> [[f64; 2]; N] {
    let mut sums = [[0.0; 2]; N];
    let mut add = |n: usize, [value, square]: [f64; 2]| {
        sums[n][0] += value;
        sums[n][1] += square;
    };
    if count < N as u32 {
        let mut i = 0;
        while i < count {
            for n in 0..N {
                add(n, at(i + n as u32));
            }
            i += 1;
        }
        return sums;
    }
    for i in 0..N - 1 {
        let number = at(i as u32);
        for n in 0..i + 1 {
            add(n, number);
        }
    }
    let mut i = N as u32 - 1;
    while i < count {
        let number = at(i);
        for n in 0..N {
            add(n, number);
        }
        i += 1;
    }
    for i in 0..N - 1 {
        let number = at(count + i as u32);
        for n in i + 1..N {
            add(n, number);
        }
    }
    sums
}
