//! Windows of integers, whose sums are exact in any order and so slide.
//!
//! A block of [`WINDOWS_BLOCK`] threads marches down a strip of the output, `N` rows per step:
//!
//! ```text
//! columns:  each thread adds the row that enters the windows to its columns' sums and subtracts the row that leaves, and
//!           copies the sums of the step's rows                                   (border by a list of columns)
//! barrier
//! prefixes: each thread replaces chunks of a row and channel by their prefix sums
//! barrier
//! windows:  each thread computes a chunk of windows along a row: the chunks between, plus the prefix sum at the
//!           window's end, minus the one before its start
//! barrier
//! store:    whole rows of outputs
//! ```
//!
//! Per sample: two global loads, about five accesses to shared memory, and one more per 256 pixels of the window's width.
//! The first windows of a block take the column sums of whole chunks of rows from [`Totals`], a launch before.
//!
//! Launch contract: the buffers are as large as the parameters say, the shared memory is [`apron_abi::SlidingTile`], and
//! the parameters are as the plan computes them.

use super::terms::{add_up, added, terms, whole, Whole};
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{windows_place, BorderMode, ElementType, Sample, SlidingParams, WINDOWS_BLOCK, WINDOWS_CHUNK};
use core::marker::PhantomData;

/// What becomes of a window's sums: of its samples, and, where there are two terms, of their squares.
pub trait Finish<W, const TERMS: usize> {
    /// Returns the output before it is rounded.
    fn finish<D: Device>(d: D, sums: [W; TERMS], signed: bool, p: &SlidingParams) -> f64;
}

/// The image's rows under the windows: row 0 is the one above the first window.
#[derive(Clone, Copy)]
struct Rows<'p> {
    p: &'p SlidingParams,
    border: BorderMode,
}

impl<'p> Rows<'p> {
    #[inline(always)]
    fn of(p: &'p SlidingParams) -> Self {
        Rows { p, border: BorderMode::from_u32(p.border) }
    }

    /// Returns the index of the first sample of the image row that replaces row `row`; [`NO_ROW`] for the constant.
    #[inline(always)]
    fn start(self, row: u32) -> u64 {
        let y = self.border.map(self.p.origin_y - 1 + row as i32, self.p.height as i32);
        y.map_or(NO_ROW, |y| y as u32 as u64 * self.p.row_stride as u64)
    }
}

/// Stands for no sample of the image: the constant.
const NONE: u32 = u32::MAX;
/// Stands for a row of the constant.
const NO_ROW: u64 = u64::MAX;

/// The kernel that sums columns over chunks of [`WINDOWS_CHUNK`] rows, `TERMS` planes of sums: one thread per column of
/// samples and chunk.
///
/// Launch contract: see the module.
pub struct Totals<I, W, const TERMS: usize>(PhantomData<(I, W)>);

impl<I: Sample, W: Whole, const TERMS: usize> Body for Totals<I, W, TERMS> {
    type Src = I;
    type Dst = W;
    type Params = SlidingParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<W>, p: &SlidingParams) {
        let (sample, chunk) = (d.block_x() * WINDOWS_BLOCK + d.thread_x(), d.block_y());
        let samples = p.width * p.channels;
        if sample >= samples || chunk >= p.chunks {
            return;
        }
        let rows = Rows::of(p);
        let mut sums = terms::<W, TERMS>(0);
        for k in 0..WINDOWS_CHUNK {
            let start = rows.start(chunk * WINDOWS_CHUNK + k);
            let value = if start == NO_ROW {
                p.constant
            } else {
                // SAFETY: in the image.
                whole(unsafe { d.load(src, start + sample as u64) })
            };
            sums = added(sums, terms(value));
        }
        for t in 0..TERMS {
            let at = (t as u64 * p.chunks as u64 + chunk as u64) * samples as u64 + sample as u64;
            // SAFETY: in the sums, and no other thread's.
            unsafe { d.store(dst, at, sums[t]) };
        }
    }
}

/// The kernel that slides, `N` rows per step, and ends each window by `F`. Its output is of any type, whatever the type of
/// the sums, which names the kernel.
///
/// Launch contract: see the module.
pub struct Sliding<I, W, F, const TERMS: usize, const N: u32>(PhantomData<(I, W, F)>);

impl<I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize, const N: u32> Body for Sliding<I, W, F, TERMS, N> {
    type Src = I;
    type Dst = W;
    type Params = SlidingParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<W>, p: &SlidingParams) {
        let first_row = d.block_y() * p.rows;
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
        let block = Block::<D, I, W, F, TERMS, N> {
            d,
            p,
            rows: Rows::of(p),
            src,
            dst: dst.address,
            first: d.block_x() * p.tile.strip,
            types: PhantomData,
        };
        // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
        unsafe {
            block.list();
            block.first_sums(first_row);
            let mut row = first_row;
            while row < last_row {
                block.columns(row);
                d.barrier();
                block.prefixes();
                d.barrier();
                block.windows();
                d.barrier();
                block.store(row, last_row);
                row += N;
            }
        }
    }
}

struct Block<'p, D, I, W, F, const TERMS: usize, const N: u32> {
    d: D,
    p: &'p SlidingParams,
    rows: Rows<'p>,
    src: Global<I>,
    /// Address of the output.
    dst: u64,
    /// First output column.
    first: u32,
    types: PhantomData<(W, F)>,
}

/// Windows whose prefix sums are loaded before the first of them ends.
const AT_ONCE: usize = 4;

impl<D: Device, I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize, const N: u32>
    Block<'_, D, I, W, F, TERMS, N>
{
    const CHUNK: u32 = WINDOWS_CHUNK;
    /// Threads per row of a step.
    const TEAM: u32 = WINDOWS_BLOCK / N;
    const SUM: u32 = W::TYPE.size_bytes();

    /// Returns the list of the image's samples, relative to the start of a row, that replace the block's.
    #[inline(always)]
    fn samples(&self) -> Shared<u32> {
        Shared::at(0)
    }

    /// Returns the sums of the columns.
    #[inline(always)]
    fn sums(&self, term: usize) -> Shared<W> {
        let tile = &self.p.tile;
        Shared::at(tile.columns_at + term as u32 * tile.pixels * self.p.channels * Self::SUM)
    }

    /// Returns row `row` of a step.
    #[inline(always)]
    fn row(&self, row: u32, term: usize) -> Shared<W> {
        let tile = &self.p.tile;
        Shared::at(tile.rows_at + (row * TERMS as u32 + term as u32) * tile.row_pitch * Self::SUM)
    }

    /// Returns row `row` of the outputs of a step, a word per sample.
    #[inline(always)]
    fn staged(&self, row: u32) -> Shared<u32> {
        let tile = &self.p.tile;
        Shared::at(tile.staged_at + row * tile.staged_pitch * 4)
    }

    /// Fills the list. Each thread uses only its own part of it.
    #[inline(always)]
    unsafe fn list(&self) {
        let p = self.p;
        let mut i = self.d.thread_x();
        while i < p.tile.pixels * p.channels {
            // SAFETY: an image has at least one channel; in the list.
            unsafe {
                let (pixel, channel) = div_rem(i, p.channels);
                let x = self.rows.border.map((self.first + pixel) as i32 + p.origin_x, p.width as i32);
                let sample = x.map_or(NONE, |x| x as u32 * p.channels + channel);
                self.d.shared_store(self.samples(), i, sample);
            }
            i += WINDOWS_BLOCK;
        }
    }

    /// Returns the terms of a sample of the row that starts at `start`.
    #[inline(always)]
    unsafe fn load(&self, start: u64, sample: u32) -> [W; TERMS] {
        if start == NO_ROW || sample == NONE {
            return terms(self.p.constant);
        }
        // SAFETY: the caller's promise: in the image.
        terms(whole(unsafe { self.d.load(self.src, start + sample as u64) }))
    }

    /// Sums the columns of the window above the first one.
    #[inline(always)]
    unsafe fn first_sums(&self, first_row: u32) {
        let (d, p) = (self.d, self.p);
        let totals = Global::<W>::at(p.totals).of_image(d.image(), p.totals_step);
        let (chunks, samples) = (if p.chunks > 0 { p.window_y / Self::CHUNK } else { 0 }, p.width * p.channels);
        let mut i = d.thread_x();
        while i < p.tile.pixels * p.channels {
            // SAFETY: this thread's part of the list, in the image and in the totals.
            unsafe {
                let sample = d.shared_load(self.samples(), i);
                let outside = {
                    let twice = |sums: [W; TERMS]| added(sums, sums);
                    twice(twice(twice(twice(terms(p.constant)))))
                };
                let mut sums = terms::<W, TERMS>(0);
                sums = add_up(sums, 0, chunks, |chunk| {
                    if sample == NONE {
                        return outside;
                    }
                    let mut sums = outside;
                    for t in 0..TERMS {
                        let row = t as u64 * p.chunks as u64 + (first_row / Self::CHUNK + chunk) as u64;
                        sums[t] = d.load(totals, row * samples as u64 + sample as u64);
                    }
                    sums
                });
                sums = add_up(sums, chunks * Self::CHUNK, p.window_y, |row| {
                    self.load(self.rows.start(first_row + row), sample)
                });
                for t in 0..TERMS {
                    d.shared_store(self.sums(t), i, sums[t]);
                }
            }
            i += WINDOWS_BLOCK;
        }
    }

    /// Slides the columns' sums down to output rows `row` to `row + N - 1`.
    #[inline(always)]
    unsafe fn columns(&self, row: u32) {
        let (d, p) = (self.d, self.p);
        let (mut leaves, mut comes) = ([0; 4], [0; 4]);
        for r in 0..N {
            leaves[r as usize] = self.rows.start(row + r);
            comes[r as usize] = self.rows.start(row + r + p.window_y);
        }
        let end = p.tile.pixels * p.channels;
        let mut i = d.thread_x();
        while i < end {
            // Two samples at a time: all loads are in flight before the first sum.
            let both = [i, if i + WINDOWS_BLOCK < end { i + WINDOWS_BLOCK } else { i }];
            let (mut old, mut new) = ([[terms::<W, TERMS>(0); 4]; 2], [[terms::<W, TERMS>(0); 4]; 2]);
            for s in 0..2 {
                // SAFETY: this thread's part of the list; in the image.
                unsafe {
                    let sample = d.shared_load(self.samples(), both[s]);
                    for r in 0..N as usize {
                        old[s][r] = self.load(leaves[r], sample);
                        new[s][r] = self.load(comes[r], sample);
                    }
                }
            }
            for s in 0..2 {
                if s == 0 || i + WINDOWS_BLOCK < end {
                    for t in 0..TERMS {
                        // SAFETY: this thread's parts of the sums and the rows.
                        unsafe {
                            let mut sum = d.shared_load(self.sums(t), both[s]);
                            for r in 0..N as usize {
                                sum = sum.plus(new[s][r][t].minus(old[s][r][t]));
                                d.shared_store(self.row(r as u32, t), windows_place(both[s]), sum);
                            }
                            d.shared_store(self.sums(t), both[s], sum);
                        }
                    }
                }
            }
            i += 2 * WINDOWS_BLOCK;
        }
    }

    /// Calls `of` with each chunk of this thread's row among the first `pixels` pixels: the index of its first sample.
    #[inline(always)]
    fn for_each_chunk(&self, pixels: u32, mut of: impl FnMut(u32)) {
        let channels = self.p.channels;
        let mut task = self.d.thread_x() % Self::TEAM;
        while task < pixels / Self::CHUNK * channels {
            // SAFETY: an image has at least one channel.
            let (chunk, channel) = unsafe { div_rem(task, channels) };
            of(chunk * Self::CHUNK * channels + channel);
            task += Self::TEAM;
        }
    }

    /// Replaces chunks by their prefix sums.
    #[inline(always)]
    unsafe fn prefixes(&self) {
        let (d, channels) = (self.d, self.p.channels);
        for t in 0..TERMS {
            let row = self.row(d.thread_x() / Self::TEAM, t);
            self.for_each_chunk(self.p.tile.pixels, |base| {
                let place = |k: usize| windows_place(base + k as u32 * channels);
                let mut sums = [W::of(0); WINDOWS_CHUNK as usize];
                // SAFETY: in the row; the chunk is this thread's.
                unsafe {
                    for k in 0..sums.len() {
                        sums[k] = d.shared_load(row, place(k));
                    }
                    for k in 1..sums.len() {
                        sums[k] = sums[k].plus(sums[k - 1]);
                        d.shared_store(row, place(k), sums[k]);
                    }
                }
            });
        }
    }

    /// Computes the windows that start in each chunk of the outputs.
    #[inline(always)]
    unsafe fn windows(&self) {
        let (d, p) = (self.d, self.p);
        let (channels, last) = (p.channels, p.window_x - 1);
        let (between, turn) = (last / Self::CHUNK, Self::CHUNK - last % Self::CHUNK);
        let team = d.thread_x() / Self::TEAM;
        let staged = self.staged(team);
        self.for_each_chunk(p.tile.strip, |base| {
            let at = |t: usize, pixel: u32| {
                // SAFETY: in the row, which reaches to the end of the last window.
                unsafe { d.shared_load(self.row(team, t), windows_place(base + pixel * channels)) }
            };
            let of = |pixel: u32| {
                let mut sums = terms::<W, TERMS>(0);
                for t in 0..TERMS {
                    sums[t] = at(t, pixel);
                }
                sums
            };
            // Sums of the chunks up to the one in which a window ends: for the first windows, and for the others.
            let total = |chunk: u32| of(chunk * Self::CHUNK + Self::CHUNK - 1);
            let near = add_up(terms(0), 0, between, total);
            let far = added(near, total(between));
            let mut before = terms::<W, TERMS>(0);
            for first in [0, 4, 8, 12] {
                let (mut starts, mut ends) = ([before; AT_ONCE], [before; AT_ONCE]);
                for k in 0..AT_ONCE {
                    starts[k] = of(first + k as u32);
                    ends[k] = of(first + k as u32 + last);
                }
                for k in 0..AT_ONCE {
                    let pixel = first + k as u32;
                    let mut sums = added(if pixel < turn { near } else { far }, ends[k]);
                    for t in 0..TERMS {
                        sums[t] = sums[t].minus(before[t]);
                    }
                    before = starts[k];
                    let value = F::finish(d, sums, I::TYPE == ElementType::I16, p);
                    // SAFETY: in the staged row, and this thread's.
                    unsafe { d.shared_store(staged, windows_place(base + pixel * channels), self.rounded(value)) };
                }
            }
        });
    }

    /// Returns the bits of an output, which integers round half to even and saturate.
    #[inline(always)]
    fn rounded(&self, value: f64) -> u32 {
        let p = self.p;
        if p.out_float != 0 {
            return (value as f32).to_bits();
        }
        let inside = if value < p.out_low { p.out_low } else { value };
        let inside = if inside > p.out_high { p.out_high } else { inside };
        // At 1.5 * 2^52 the spacing of f64 is 1: the lowest bits are the integer.
        (inside + 6_755_399_441_055_744.0).to_bits() as u32
    }

    /// Stores the outputs of a step.
    #[inline(always)]
    unsafe fn store(&self, row: u32, last_row: u32) {
        let (d, p) = (self.d, self.p);
        let (size, team) = (p.out_bytes, d.thread_x() / Self::TEAM);
        if row + team >= last_row {
            return;
        }
        let staged = self.staged(team);
        let pixels = if p.out_width - self.first < p.tile.strip { p.out_width - self.first } else { p.tile.strip };
        let samples = pixels * p.channels;
        let start = ((row + team) as u64 * p.out_width as u64 + self.first as u64) * p.channels as u64;
        // SAFETY: staged since the barrier.
        let bits = |index: u32| unsafe { d.shared_load(staged, windows_place(index)) };
        let mut i = d.thread_x() % Self::TEAM;
        // Rows of whole words are stored by words.
        if size == 4 || (p.out_width * p.channels * size).is_multiple_of(4) {
            let to = Global::<u32>::at(self.dst + start * size as u64);
            while i < samples * size / 4 {
                let (byte, half) = (|k: u32| bits(4 * i + k) & 0xff, |k: u32| bits(2 * i + k) & 0xffff);
                let word = match size {
                    1 => byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24,
                    2 => half(0) | half(1) << 16,
                    _ => bits(i),
                };
                // SAFETY: in the output, and no other thread's.
                unsafe { d.store(to, i as u64, word) };
                i += Self::TEAM;
            }
            return;
        }
        while i < samples {
            // SAFETY: as above.
            unsafe {
                match size {
                    1 => d.store(Global::at(self.dst), start + i as u64, bits(i) as u8),
                    _ => d.store(Global::at(self.dst), start + i as u64, bits(i) as u16),
                }
            }
            i += Self::TEAM;
        }
    }
}
