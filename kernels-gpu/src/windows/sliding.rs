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

use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{
    windows_place, BorderMode, Element, ElementType, Pixel, Sample, SlidingParams, WINDOWS_BLOCK, WINDOWS_CHUNK,
};
use core::marker::PhantomData;

/// An unsigned type of sums modulo its size; sums of negative samples wrap around.
pub trait Whole: Element {
    /// Converts an integer.
    fn of(value: i32) -> Self;
    /// Returns the square of an integer of 16 bits.
    fn square(value: i32) -> Self;
    /// Adds, wrapping around.
    fn plus(self, other: Self) -> Self;
    /// Subtracts, wrapping around.
    fn minus(self, other: Self) -> Self;
    /// Returns the sum as f64, for a sum of samples that are `signed` or not.
    fn to_f64(self, signed: bool) -> f64;
}

macro_rules! whole {
    ($type:ty, $signed:ty) => {
        impl Whole for $type {
            #[inline(always)]
            fn of(value: i32) -> Self {
                value as $type
            }
            #[inline(always)]
            fn square(value: i32) -> Self {
                // The square of -32768 to 65535 fits 32 bits without a sign.
                (value as u32).wrapping_mul(value as u32) as $type
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn to_f64(self, signed: bool) -> f64 {
                if signed {
                    self as $signed as f64
                } else {
                    self as f64
                }
            }
        }
    };
}
whole!(u32, i32);
whole!(u64, i64);

/// What becomes of a window's sums: of its samples, and, where there are two terms, of their squares.
pub trait Finish<W, O, const TERMS: usize> {
    /// Returns the output.
    fn finish<D: Device>(d: D, sums: [W; TERMS], signed: bool, p: &SlidingParams) -> O;
}

/// Returns the terms of a sample.
#[inline(always)]
fn terms<W: Whole, const TERMS: usize>(value: i32) -> [W; TERMS] {
    let mut terms = [W::of(value); TERMS];
    if TERMS == 2 {
        terms[1] = W::square(value);
    }
    terms
}

#[inline(always)]
fn whole<I: Sample>(sample: I) -> i32 {
    sample.to_f32() as i32
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
/// Launch contract: see the [module](self).
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
            let more = terms::<W, TERMS>(value);
            for t in 0..TERMS {
                sums[t] = sums[t].plus(more[t]);
            }
        }
        for t in 0..TERMS {
            let at = (t as u64 * p.chunks as u64 + chunk as u64) * samples as u64 + sample as u64;
            // SAFETY: in the sums, and no other thread's.
            unsafe { d.store(dst, at, sums[t]) };
        }
    }
}

/// The kernel that slides, `N` rows per step, and ends each window by `F`.
///
/// Launch contract: see the [module](self).
pub struct Sliding<I, O, W, F, const TERMS: usize, const N: u32>(PhantomData<(I, O, W, F)>);

impl<I: Sample, O: Pixel, W: Whole, F: Finish<W, O, TERMS>, const TERMS: usize, const N: u32> Body
    for Sliding<I, O, W, F, TERMS, N>
{
    type Src = I;
    type Dst = O;
    type Params = SlidingParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &SlidingParams) {
        let first_row = d.block_y() * p.rows;
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
        let block = Block::<D, I, O, W, F, TERMS, N> {
            d,
            p,
            rows: Rows::of(p),
            src,
            dst,
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

struct Block<'p, D, I, O, W, F, const TERMS: usize, const N: u32> {
    d: D,
    p: &'p SlidingParams,
    rows: Rows<'p>,
    src: Global<I>,
    dst: Global<O>,
    /// First output column.
    first: u32,
    types: PhantomData<(W, F)>,
}

impl<D: Device, I: Sample, O: Pixel, W: Whole, F: Finish<W, O, TERMS>, const TERMS: usize, const N: u32>
    Block<'_, D, I, O, W, F, TERMS, N>
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
                let mut sums = terms::<W, TERMS>(0);
                let mut chunk = 0;
                while chunk < chunks {
                    for t in 0..TERMS {
                        let more = if sample == NONE {
                            let once = terms::<W, TERMS>(p.constant)[t];
                            let twice = once.plus(once);
                            let four = twice.plus(twice);
                            let eight = four.plus(four);
                            eight.plus(eight)
                        } else {
                            let row = t as u64 * p.chunks as u64 + (first_row / Self::CHUNK + chunk) as u64;
                            d.load(totals, row * samples as u64 + sample as u64)
                        };
                        sums[t] = sums[t].plus(more);
                    }
                    chunk += 1;
                }
                let mut row = chunks * Self::CHUNK;
                while row < p.window_y {
                    let more = self.load(self.rows.start(first_row + row), sample);
                    for t in 0..TERMS {
                        sums[t] = sums[t].plus(more[t]);
                    }
                    row += 1;
                }
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
        let mut i = d.thread_x();
        while i < p.tile.pixels * p.channels {
            // SAFETY: this thread's parts of the list, the sums and the rows; in the image.
            unsafe {
                let sample = d.shared_load(self.samples(), i);
                let mut sums = terms::<W, TERMS>(0);
                for t in 0..TERMS {
                    sums[t] = d.shared_load(self.sums(t), i);
                }
                // All loads are in flight before the first sum.
                let (mut old, mut new) = ([terms::<W, TERMS>(0); 4], [terms::<W, TERMS>(0); 4]);
                for r in 0..N as usize {
                    old[r] = self.load(leaves[r], sample);
                    new[r] = self.load(comes[r], sample);
                }
                for r in 0..N as usize {
                    for t in 0..TERMS {
                        sums[t] = sums[t].plus(new[r][t].minus(old[r][t]));
                        d.shared_store(self.row(r as u32, t), windows_place(i), sums[t]);
                    }
                }
                for t in 0..TERMS {
                    d.shared_store(self.sums(t), i, sums[t]);
                }
            }
            i += WINDOWS_BLOCK;
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
                let mut sum = W::of(0);
                for k in 0..Self::CHUNK {
                    let place = windows_place(base + k * channels);
                    // SAFETY: in the row; the chunk is this thread's.
                    unsafe {
                        sum = sum.plus(d.shared_load(row, place));
                        d.shared_store(row, place, sum);
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
            let total = |t: usize, chunk: u32| at(t, chunk * Self::CHUNK + Self::CHUNK - 1);
            // Sums of the chunks up to the one in which a window ends: for the first windows, and for the others.
            let mut near = terms::<W, TERMS>(0);
            let mut chunk = 0;
            while chunk < between {
                for t in 0..TERMS {
                    near[t] = near[t].plus(total(t, chunk));
                }
                chunk += 1;
            }
            let mut far = near;
            for t in 0..TERMS {
                far[t] = far[t].plus(total(t, between));
            }
            let mut before = terms::<W, TERMS>(0);
            for k in 0..Self::CHUNK {
                let mut sums = if k < turn { near } else { far };
                for t in 0..TERMS {
                    sums[t] = sums[t].plus(at(t, k + last)).minus(before[t]);
                    before[t] = at(t, k);
                }
                let value = F::finish(d, sums, I::TYPE == ElementType::I16, p);
                let mut bits = [0; 4];
                value.write(&mut bits);
                // SAFETY: in the staged row, and this thread's.
                unsafe { d.shared_store(staged, windows_place(base + k * channels), u32::from_ne_bytes(bits)) };
            }
        });
    }

    /// Stores the outputs of a step.
    #[inline(always)]
    unsafe fn store(&self, row: u32, last_row: u32) {
        let (d, p) = (self.d, self.p);
        let (size, team) = (O::TYPE.size_bytes(), d.thread_x() / Self::TEAM);
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
            let to = Global::<u32>::at(self.dst.address + start * size as u64);
            while i < samples * size / 4 {
                let word = match size {
                    1 => bits(4 * i) | bits(4 * i + 1) << 8 | bits(4 * i + 2) << 16 | bits(4 * i + 3) << 24,
                    2 => bits(2 * i) | bits(2 * i + 1) << 16,
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
            unsafe { d.store(self.dst, start + i as u64, O::read(&bits(i).to_ne_bytes())) };
            i += Self::TEAM;
        }
    }
}
