//! Sums of windows of floats along rows: see the [module](super).
//!
//! A block of [`WINDOWS_BLOCK`] threads sums a piece of each row of one chunk of rows, a few rows per step:
//!
//! ```text
//! wait for a tile of input; barrier
//! chunks:  each thread computes a chunk's suffix sums (heads), prefix sums (tails) and total, as far as windows need
//!          them
//! barrier; start copying the next tile                                                           (border by index map)
//! middles: each thread adds up the totals between the heads and the tails of a chunk of windows
//! barrier                                     (only after the last tile under the windows)
//! outputs: each thread adds head, middle and tail for its columns, and adds the row to the totals of the chunk of rows
//! ```
//!
//! Chunks of rows outside the image that are under windows are summed, too, only for their totals.

use super::{plane, plus, runs, totals, totals_row, Axis, Number, CHUNK};
use crate::device::{Device, Global, Shared};
use crate::samples::{Held, Input};
use crate::{div_rem, Body};
use apron_abi::{
    ordered_place, Accumulator, BorderMode, Element, OrderedParams, BOX_CHUNK, ORDERED_PITCH as PITCH, WINDOWS_BLOCK,
};
use core::marker::PhantomData;

/// The kernel, for `TERMS` sums of type `S` per window and pieces of up to `COLUMNS` samples per thread.
///
/// Launch contract: see the module `ordered`.
pub struct OrderedRows<I, S, const TERMS: usize, const COLUMNS: usize>(PhantomData<(I, S)>);

impl<I: Input, S: Number, const TERMS: usize, const COLUMNS: usize> Body for OrderedRows<I, S, TERMS, COLUMNS> {
    type Src = I;
    type Dst = S;
    type Params = OrderedParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<S>, p: &OrderedParams) {
        let Some(chunk) = chunk_of(d.block_y(), p) else { return };
        let axis = Axis::of(p.window_x, p.origin_x);
        // SAFETY: a step has at least one row, and at most one per thread, so that no divisor is 0.
        let (team, (own_row, lane)) = unsafe {
            let team = div_rem(WINDOWS_BLOCK, p.tile.rows).0;
            (team, div_rem(d.thread_x(), team))
        };
        let mut block = Block::<D, I, S, TERMS, COLUMNS> {
            d,
            p,
            axis,
            src,
            dst,
            first_row: chunk * CHUNK,
            first_chunk: axis.first + (d.block_x() * p.tile.chunks) as i32,
            team,
            own_row,
            lane,
            totals: [[S::ZERO; TERMS]; COLUMNS],
        };
        let inputs = p.tile.chunks + if axis.is_long() { axis.apart() + 1 } else { 1 };
        // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
        unsafe {
            let (mut row, mut input) = (0, 0);
            block.copy(row, input, inputs);
            while row < BOX_CHUNK {
                d.wait_copies::<0>();
                d.barrier();
                block.chunks(input, inputs);
                d.barrier();
                let is_last = input + p.tile.inputs >= inputs;
                let next = if is_last { (row + p.tile.rows, 0) } else { (row, input + p.tile.inputs) };
                if next.0 < BOX_CHUNK {
                    block.copy(next.0, next.1, inputs);
                }
                block.middles(input, inputs);
                if is_last {
                    d.barrier();
                    block.outputs(row);
                }
                (row, input) = next;
            }
            block.store_totals(chunk - p.first_chunk);
        }
    }
}

/// Returns the chunk of rows of row of blocks `block`: first come the chunks of the image and of the row below it, then
/// other chunks whose totals are needed; `None` for surplus rows of blocks, which a grid may have.
#[inline(always)]
fn chunk_of(block: u32, p: &OrderedParams) -> Option<i32> {
    let own = p.height / BOX_CHUNK + 1;
    if block < own {
        return Some(block as i32);
    }
    let other = (block - own) as i32;
    let end = p.first_chunk + p.chunks as i32;
    let above = if end < 0 { p.chunks as i32 } else { -p.first_chunk };
    let chunk = if other < above {
        p.first_chunk + other
    } else {
        let below = if p.first_chunk > own as i32 { p.first_chunk } else { own as i32 };
        below + other - if above > 0 { above } else { 0 }
    };
    if chunk < end {
        Some(chunk)
    } else {
        None
    }
}

struct Block<'p, D, I, S, const TERMS: usize, const COLUMNS: usize> {
    d: D,
    p: &'p OrderedParams,
    axis: Axis,
    src: Global<I>,
    dst: Global<S>,
    /// First row of the chunk of rows.
    first_row: i32,
    /// Chunk in which the piece's first windows start.
    first_chunk: i32,
    /// Threads per row of a step, this thread's row, and its index among the threads of that row.
    team: u32,
    own_row: u32,
    lane: u32,
    /// Sums of the rows so far of the chunk of rows, per column of this thread.
    totals: [[S; TERMS]; COLUMNS],
}

impl<D: Device, I: Input, S: Number, const TERMS: usize, const COLUMNS: usize> Block<'_, D, I, S, TERMS, COLUMNS> {
    #[inline(always)]
    fn heads(&self, row: u32, term: usize) -> Shared<S> {
        Shared::at((row * TERMS as u32 + term as u32) * self.p.tile.row_pitch * S::TYPE.size_bytes())
    }

    #[inline(always)]
    fn tails(&self, row: u32, term: usize) -> Shared<S> {
        Shared::at(self.heads(row, term).offset + self.p.tile.pitch * S::TYPE.size_bytes())
    }

    /// Returns the two middles of each chunk of windows and channel.
    #[inline(always)]
    fn between(&self, row: u32, term: usize) -> Shared<S> {
        Shared::at(self.heads(row, term).offset + 2 * self.p.tile.pitch * S::TYPE.size_bytes())
    }

    /// Returns the totals of a tile.
    #[inline(always)]
    fn tile_totals(&self, row: u32, term: usize) -> Shared<S> {
        let tile = &self.p.tile;
        let before = 2 * tile.pitch + 2 * tile.chunks * self.p.channels;
        Shared::at(self.heads(row, term).offset + before * S::TYPE.size_bytes())
    }

    #[inline(always)]
    fn inputs(&self, row: u32) -> Shared<I::Held> {
        Shared::at(self.p.tile.inputs_at + row * self.p.tile.inputs_pitch * I::Held::TYPE.size_bytes())
    }

    /// Returns the number of chunks of the tile that starts with input chunk `first`.
    #[inline(always)]
    fn chunks_of_tile(&self, first: u32, inputs: u32) -> u32 {
        let (left, most) = (inputs - first, self.p.tile.inputs);
        if left < most {
            left
        } else {
            most
        }
    }

    /// Starts copying the tile of input chunks from `first` on, for the rows of the step that starts at row `row` of
    /// the chunk of rows.
    #[inline(always)]
    unsafe fn copy(&self, row: u32, first: u32, inputs: u32) {
        let (d, p, border) = (self.d, self.p, BorderMode::from_u32(self.p.border));
        let to = self.inputs(self.own_row);
        let y = border.map(self.first_row + (row + self.own_row) as i32, p.height as i32);
        let count = self.chunks_of_tile(first, inputs) * BOX_CHUNK * p.channels;
        let pixel = (self.first_chunk + first as i32) * CHUNK;
        // Samples `begin` to `end - 1` are inside the image.
        let begin = clamped(-(pixel as i64) * p.channels as i64, count);
        let end = if y.is_some() { clamped((p.width as i64 - pixel as i64) * p.channels as i64, count) } else { 0 };
        let start = y.map_or(0, |y| y as u32 as u64 * p.row_stride as u64);
        let inside = start.wrapping_add((pixel as i64 * p.channels as i64) as u64);
        let mut i = self.lane;
        // SAFETY: the tile has places for `count` samples, and no thread uses it before the next barrier; samples are
        // inside the image, or mapped into it.
        unsafe {
            while i < count {
                let (own, channel) = split(i, p.channels);
                let place = channel * p.tile.inputs * PITCH + ordered_place(own);
                if i >= begin && i < end {
                    I::start_copy(d, to, place, self.src, inside.wrapping_add(i as u64));
                } else {
                    match border.map(pixel + own as i32, p.width as i32) {
                        Some(x) if y.is_some() => {
                            let at = start + x as u64 * p.channels as u64 + channel as u64;
                            I::start_copy(d, to, place, self.src, at);
                        }
                        _ => d.shared_store(to, place, I::Held::from_f64(p.constant)),
                    }
                }
                i += self.team;
            }
        }
        d.end_copies();
    }

    /// Calls `of` with each chunk and channel of this thread, among the first `chunks` chunks of the row.
    #[inline(always)]
    fn for_each_chunk(&self, chunks: u32, of: impl Fn(u32, u32)) {
        let mut i = self.d.anew(self.lane);
        while i < chunks * self.p.channels {
            // SAFETY: there is at least one chunk.
            let (channel, chunk) = if self.p.channels == 1 { (0, i) } else { unsafe { div_rem(i, chunks) } };
            of(chunk, channel);
            i += self.team;
        }
    }

    /// Computes heads, tails and totals of the chunks of the tile that starts with input chunk `first`; short windows
    /// are summed at once, in the place of heads.
    #[inline(always)]
    unsafe fn chunks(&self, first: u32, inputs: u32) {
        let (d, p, axis, row) = (self.d, self.p, self.axis, self.own_row);
        self.for_each_chunk(self.chunks_of_tile(first, inputs), |chunk, channel| {
            let input = channel * p.tile.inputs + chunk;
            let from = Shared::<I::Held>::at(self.inputs(row).offset + input * PITCH * I::Held::TYPE.size_bytes());
            // SAFETY: a chunk of the tile, and the chunk after it if windows are short.
            let sample = |k: u32| unsafe { d.shared_load(from, k) };
            let own = first + chunk;
            if !axis.is_long() {
                if own < p.tile.chunks {
                    let mut start = 0;
                    while start < BOX_CHUNK {
                        // `ordered_place` skips the padding between this chunk and the next.
                        let sums = runs::<S, TERMS, 4>(axis.window, |i| terms(sample(ordered_place(start + i))));
                        for k in 0..4 {
                            // SAFETY: the heads have this chunk, which is one thread's.
                            unsafe { self.store(self.heads(row, 0), own, channel, start + k, sums[k as usize]) };
                        }
                        start += 4;
                    }
                }
                return;
            }
            let mut samples = [I::Held::ZERO; CHUNK as usize];
            for k in 0..samples.len() {
                samples[k] = sample(k as u32);
            }
            let tail = own.wrapping_sub(axis.apart());
            // SAFETY: heads, tails and totals of the row have this chunk, which is one thread's.
            unsafe {
                let total = if tail <= p.tile.chunks {
                    let tails = self.tails(row, 0);
                    sum_up(samples, |k, sums| self.store(tails, tail, channel, k, sums))
                } else {
                    sum_up(samples, |_, _: [S; TERMS]| {})
                };
                for t in 0..TERMS {
                    d.shared_store(self.tile_totals(row, t), input, total[t]);
                }
                if own < p.tile.chunks {
                    let mut sums = [S::ZERO; TERMS];
                    for k in (0..samples.len()).rev() {
                        // Opaque, so that the terms are recomputed, and take no registers until here.
                        sums = plus(sums, terms(samples[k].anew(d)));
                        self.store(self.heads(row, 0), own, channel, k as u32, sums);
                    }
                }
            }
        });
    }

    /// Stores the sums at place `k` of a chunk of heads or tails; `to` is the start of those of term 0.
    #[inline(always)]
    unsafe fn store(&self, to: Shared<S>, chunk: u32, channel: u32, k: u32, sums: [S; TERMS]) {
        let tile = &self.p.tile;
        let at = (channel * (tile.chunks + 1) + chunk) * PITCH;
        for t in 0..TERMS {
            let to = Shared::at(to.offset + (t as u32 * tile.row_pitch + at) * S::TYPE.size_bytes());
            // SAFETY: the caller's promise.
            unsafe { self.d.shared_store(to, k, sums[t]) };
        }
    }

    /// Adds the totals of the tile that starts with input chunk `first` to the middles of the windows.
    #[inline(always)]
    unsafe fn middles(&self, first: u32, inputs: u32) {
        let (d, p, apart) = (self.d, self.p, self.axis.apart());
        if !self.axis.is_long() {
            return;
        }
        let row = self.own_row;
        let tile_end = first + self.chunks_of_tile(first, inputs);
        self.for_each_chunk(p.tile.chunks, |chunk, channel| {
            // The chunks between are `chunk + 1` to `chunk + apart - 1`.
            let begin = if chunk + 1 > first { chunk + 1 } else { first };
            let end = if chunk + apart < tile_end { chunk + apart } else { tile_end };
            let at = 2 * (channel * p.tile.chunks + chunk);
            for t in 0..TERMS {
                let (between, totals) = (self.between(row, t), self.tile_totals(row, t));
                // SAFETY: each chunk's middles are one thread's; the totals are complete since the barrier.
                unsafe {
                    let total = |i: u32| d.shared_load(totals, channel * p.tile.inputs + i - first);
                    let mut sum = if first == 0 { S::ZERO } else { d.shared_load(between, at) };
                    let mut i = begin;
                    while i + 4 <= end {
                        let (a, b, c, e) = (total(i), total(i + 1), total(i + 2), total(i + 3));
                        sum = (((sum + a) + b) + c) + e;
                        i += 4;
                    }
                    while i < end {
                        sum = sum + total(i);
                        i += 1;
                    }
                    d.shared_store(between, at, sum);
                    if tile_end == inputs {
                        let last = (channel * (p.tile.chunks + 1) + chunk) * PITCH + BOX_CHUNK - 1;
                        let more = d.shared_load(self.tails(row, t), last);
                        d.shared_store(between, at + 1, sum + more);
                    }
                }
            }
        });
    }

    /// Returns the output sample of column `column` of the piece; `None` outside the output row.
    #[inline(always)]
    fn output(&self, column: u32) -> Option<u32> {
        let p = self.p;
        let columns = p.tile.chunks * BOX_CHUNK * p.channels;
        let sample = (self.d.block_x() * columns + column).wrapping_sub(self.axis.lead * p.channels);
        if column < columns && sample < p.out_width * p.channels {
            Some(sample)
        } else {
            None
        }
    }

    /// Stores the sums of a step's rows, from row `first` of the chunk of rows on, and adds them to the totals.
    #[inline(always)]
    unsafe fn outputs(&mut self, first: u32) {
        let (d, p, axis) = (self.d, self.p, self.axis);
        let (samples, plane) = plane(p);
        // Opaque, so that places of columns are not kept in registers from step to step.
        let thread = d.anew(d.thread_x());
        for n in 0..COLUMNS {
            let column = thread + n as u32 * WINDOWS_BLOCK;
            let Some(sample) = self.output(column) else { continue };
            let (pixel, channel) = split(column, p.channels);
            let second = pixel % BOX_CHUNK + axis.end() >= BOX_CHUNK;
            let middle = 2 * (channel * p.tile.chunks + pixel / BOX_CHUNK) + second as u32;
            let plane_at = channel * (p.tile.chunks + 1) * PITCH;
            let (head, tail) = (plane_at + ordered_place(pixel), plane_at + ordered_place(pixel + axis.end()));
            let mut row = 0;
            while row < p.tile.rows {
                let y = self.first_row + (first + row) as i32;
                for t in 0..TERMS {
                    // SAFETY: heads, middles and tails are complete since the barrier; row and sample are in the plane
                    // of sums, and belong to this thread.
                    unsafe {
                        let mut sum = d.shared_load(self.heads(row, t), head);
                        if axis.is_long() {
                            sum = sum + d.shared_load(self.between(row, t), middle);
                            sum = sum + d.shared_load(self.tails(row, t), tail);
                        }
                        self.totals[n][t] = self.totals[n][t] + sum;
                        if y >= 0 && y <= p.height as i32 {
                            d.store(self.dst, t as u64 * plane + y as u64 * samples + sample as u64, sum);
                        }
                    }
                }
                row += 1;
            }
        }
    }

    /// Stores the totals of the chunk of rows as chunk `chunk` of the buffer, if the buffer has this chunk.
    #[inline(always)]
    unsafe fn store_totals(&self, chunk: i32) {
        if chunk < 0 || chunk as u32 >= self.p.chunks {
            return;
        }
        let thread = self.d.anew(self.d.thread_x());
        for n in 0..COLUMNS {
            let Some(sample) = self.output(thread + n as u32 * WINDOWS_BLOCK) else { continue };
            for t in 0..TERMS {
                let at = totals_row(self.p, chunk as u32, t) + sample as u64;
                // SAFETY: chunk and sample are in the totals, and belong to this thread.
                unsafe { self.d.store(totals(self.d, self.p), at, self.totals[n][t]) };
            }
        }
    }
}

/// Returns the pixel and the channel of a sample, by divisions by constants.
#[inline(always)]
fn split(sample: u32, channels: u32) -> (u32, u32) {
    match channels {
        1 => (sample, 0),
        2 => (sample / 2, sample % 2),
        3 => (sample / 3, sample % 3),
        _ => (sample / 4, sample % 4),
    }
}

/// Adds up the terms of a chunk's samples, in order; calls `of` with each prefix sum, and returns the total.
#[inline(always)]
fn sum_up<S: Number, H: Held, const TERMS: usize>(
    samples: [H; CHUNK as usize],
    of: impl Fn(u32, [S; TERMS]),
) -> [S; TERMS] {
    let mut sums = [S::ZERO; TERMS];
    for k in 0..samples.len() {
        sums = plus(sums, terms(samples[k]));
        of(k as u32, sums);
    }
    sums
}

/// Clamps a number to 0 to `most`.
#[inline(always)]
fn clamped(number: i64, most: u32) -> u32 {
    if number < 0 {
        0
    } else if number > most as i64 {
        most
    } else {
        number as u32
    }
}

/// Returns the terms of a sample: its value, and if there are two, its square, which is exact in f64 for an f32.
#[inline(always)]
fn terms<S: Number, H: Held, const TERMS: usize>(sample: H) -> [S; TERMS] {
    let value = S::of(sample);
    let mut terms = [value; TERMS];
    if TERMS == 2 {
        terms[1] = value * value;
    }
    terms
}
