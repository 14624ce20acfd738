//! Windows of integers, whose sums are exact in any order and so slide.
//!
//! A block of [`WINDOWS_BLOCK`] threads marches down a strip of the output. A thread owns a quad, four adjacent pixels of a channel
//! (or several quads, for wide windows), and keeps the sums of its columns. For each row of outputs:
//!
//! ```text
//! columns:  each thread adds the row that enters the windows to its columns' sums, subtracts the row that leaves, both loaded
//!           a row ahead, and starts to load the next ones           (border by a list of columns)
//! prefixes: each warp makes the sums exclusive prefix sums, by shuffles, into shared memory, with a total per warp
//! barrier
//! windows:  each thread takes four windows: the prefix sums after their ends, minus those at their starts, which are
//!           its own, plus the totals of the warps between, and stores them
//! ```
//!
//! Two rows of prefix sums alternate, so that one barrier per row suffices. Lanes of all channels are interleaved; in a block for
//! windows too wide for that, all lanes are of one channel. Per four samples: two or four loads of a word (eight loads of
//! a sample where there are several channels, and at the image's left and right edge), eight accesses to shared memory, and
//! one more per warp that a window spans. The first windows of a block take the column sums of whole chunks of rows from
//! [`Totals`](super::Totals), a launch before.
//!
//! Launch contract: the buffers are as large as the parameters say, the shared memory is [`apron_abi::SlidingTile`], and
//! the parameters are as the plan computes them.

use super::outputs::store;
use super::quads::{add_up, words_inside, Quad, Row, Rows, Sums, NONE, QUAD};
use super::terms::{added, centre, terms, Whole};
use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use crate::{div_rem, Body};
use apron_abi::{ElementType, Sample, SlidingParams, WINDOWS_BLOCK, WINDOWS_CHUNK};
use core::marker::PhantomData;

/// What becomes of a window's sums: of its samples, and, where there are two terms, of their squares.
pub trait Finish<W, const TERMS: usize> {
    /// Returns the bits of four outputs: each an f32, or an integer of 32 bits that is saturated when it is stored.
    fn finish<D: Device>(d: D, sums: Sums<W, TERMS>, signed: bool, p: &SlidingParams) -> [u32; QUAD];
}

/// The kernel that slides and ends each window by `F`. Its output is of any type, whatever the type of the sums, which names the
/// kernel.
///
/// Launch contract: see the module.
pub struct Sliding<I, W, F, const TERMS: usize>(PhantomData<(I, W, F)>);

impl<I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize> Body for Sliding<I, W, F, TERMS> {
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
        let block = Block::<D, I, W, F, TERMS>::of(d, src, dst.address, p);
        // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
        unsafe { block.march(first_row, last_row) };
    }
}

struct Block<'p, D, I, W, F, const TERMS: usize> {
    d: D,
    p: &'p SlidingParams,
    rows: Rows<'p, I>,
    /// Address of the output.
    dst: u64,
    /// First output column, and number of output columns: whole quads.
    first: u32,
    strip: u32,
    lane: u32,
    /// Channel of the lane; whether it is left over; whether its quad is the warp's last one of the channel.
    channel: u32,
    idle: bool,
    last: bool,
    /// Pixel of the thread's first quad, and pixels from one of its quads to the next.
    pixel: u32,
    step: u32,
    /// From the prefix sums of a quad to those of the quad where its first window ends, and of the next quad, in bytes.
    ends: [u32; 2],
    /// Warps from the quad's to that of the quad where its first window ends, and of the next quad.
    between: [u32; 2],
    types: PhantomData<(W, F)>,
}

impl<'p, D: Device, I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize> Block<'p, D, I, W, F, TERMS> {
    const SUM: u32 = W::TYPE.size_bytes();
    const CENTRE: i32 = centre::<I, W, TERMS>();
    const WARPS: u32 = WINDOWS_BLOCK / WARP;
    /// Sums per quad of a thread in shared memory: of a row, and of two.
    const ROW: u32 = (TERMS * QUAD) as u32 * WINDOWS_BLOCK;
    const ROWS: u32 = 2 * Self::ROW;

    #[inline(always)]
    fn of(d: D, src: Global<I>, dst: u64, p: &'p SlidingParams) -> Self {
        let (thread, channels) = (d.thread_x(), p.tile.channels);
        let (warp, lane) = (thread / WARP, thread % WARP);
        // SAFETY: an image has at least one channel, and a block, too.
        let ((strip, of_block), (quads, _), (quad, of_lane)) = unsafe {
            let (blocks, _) = div_rem(p.channels, channels);
            (div_rem(d.block_x(), blocks), div_rem(WARP, channels), div_rem(lane, channels))
        };
        let (mut ends, mut between) = ([0; 2], [0; 2]);
        for n in 0..2 {
            // SAFETY: a warp has at least eight quads of a channel.
            let (warps, other) = unsafe { div_rem(quad + p.window_x / QUAD as u32 + n as u32, quads) };
            let index = (warp + warps) * WARP + other * channels + of_lane;
            let sums = index / WINDOWS_BLOCK * Self::ROWS + index % WINDOWS_BLOCK;
            ends[n] = sums.wrapping_sub(thread).wrapping_mul(Self::SUM);
            between[n] = warps;
        }
        let first = strip * p.tile.strip;
        let left = p.out_width - first;
        Block {
            d,
            p,
            rows: Rows::of(src, p),
            dst,
            first,
            strip: (if left < p.tile.strip { left } else { p.tile.strip }).next_multiple_of(QUAD as u32),
            lane,
            channel: of_block + of_lane,
            idle: quad >= quads,
            last: quad + 1 == quads,
            pixel: (warp * quads + quad) * QUAD as u32,
            step: Self::WARPS * quads * QUAD as u32,
            ends,
            between,
            types: PhantomData,
        }
    }

    /// Returns the index of the thread's quad `n`.
    #[inline(always)]
    fn index(&self, n: u32) -> u32 {
        n * WINDOWS_BLOCK + self.d.thread_x()
    }

    /// Returns the column sums of the threads' quads `n`: of each term and pixel, a sum per thread.
    #[inline(always)]
    fn columns(&self, n: u32) -> Shared<W> {
        Shared::at(self.p.tile.columns_at + n * Self::ROW * Self::SUM)
    }

    /// Returns the prefix sums of the threads' quads `n`, for row `row`: as those of columns.
    #[inline(always)]
    fn prefixes(&self, row: u32, n: u32) -> Shared<W> {
        Shared::at(self.p.tile.prefixes_at + (n * Self::ROWS + row % 2 * Self::ROW) * Self::SUM)
    }

    /// Returns the index of a sum of this thread.
    #[inline(always)]
    fn of_thread(&self, term: usize, k: usize) -> u32 {
        (term * QUAD + k) as u32 * WINDOWS_BLOCK + self.d.thread_x()
    }

    /// Returns the totals of warps, four channels of each, for row `row`.
    #[inline(always)]
    fn totals(&self, row: u32, term: usize) -> Shared<W> {
        let warps = self.p.tile.quads * Self::WARPS;
        Shared::at(self.p.tile.totals_at + (row % 2 * TERMS as u32 + term as u32) * warps * 4 * Self::SUM)
    }

    /// Image column of the block's first pixel.
    #[inline(always)]
    fn left(&self) -> i32 {
        self.first as i32 + self.p.origin_x
    }

    /// Returns whether a lane of the warp has pixels of windows in its quad `n`.
    #[inline(always)]
    fn is_needed(&self, n: u32) -> bool {
        self.d.thread_x() / WARP * (self.step / Self::WARPS) + n * self.step < self.strip + self.p.window_x
    }

    /// Lists the image's samples, relative to the start of a row, that replace those of quad `n`. Each thread uses only its own
    /// part of the list.
    #[inline(always)]
    unsafe fn list(&self, n: u32) {
        let mut samples = [NONE; QUAD];
        for k in 0..QUAD {
            let pixel = self.pixel + n * self.step + k as u32;
            if !self.idle && pixel < self.strip + self.p.window_x {
                let column = self.rows.column(self.left() + pixel as i32);
                samples[k] = if column == NONE { NONE } else { column * self.p.channels + self.channel };
            }
        }
        // SAFETY: in the list.
        unsafe { self.d.shared_store4(Shared::at(0), self.index(n) * QUAD as u32, samples) };
    }

    /// Maps rows `first` to `first + 31`, one per lane.
    #[inline(always)]
    fn map(&self, first: u32) -> u32 {
        self.rows.map(self.d, first + self.lane)
    }

    /// Returns row `k % 32` of those that the lanes have mapped.
    #[inline(always)]
    fn row(&self, mapped: u32, k: u32) -> Row<I> {
        self.rows.row(self.d.shuffle(mapped, k % WARP))
    }

    /// Loads quad `n` of a row: by words, if it is inside the image, of one channel.
    #[inline(always)]
    unsafe fn load(&self, row: Row<I>, n: u32) -> Quad<I> {
        let pixel = self.pixel + n * self.step;
        // SAFETY: in the list, and in the image.
        unsafe {
            if self.p.channels == 1 && words_inside(self.left() + pixel as i32, self.p.width) {
                return row.words(self.d, self.left(), pixel / QUAD as u32);
            }
            row.each(self.d, self.d.shared_load4(Shared::at(0), self.index(n) * QUAD as u32))
        }
    }

    /// Sums the columns of quad `n` of the window above the one in row `first_row`.
    #[inline(always)]
    unsafe fn first_sums(&self, first_row: u32, n: u32) -> Sums<W, TERMS> {
        let (d, p) = (self.d, self.p);
        let totals = Global::<W>::at(p.totals).of_image(d.image(), p.totals_step);
        let (chunks, samples) = (if p.chunks > 0 { p.window_y / WINDOWS_CHUNK } else { 0 }, p.width * p.channels);
        // SAFETY: in the list, in the totals and in the image.
        unsafe {
            let list = d.shared_load4(Shared::<u32>::at(0), self.index(n) * QUAD as u32);
            let outside = {
                let twice = |sums: [W; TERMS]| added(sums, sums);
                twice(twice(twice(twice(terms(p.constant - Self::CENTRE)))))
            };
            let sums = add_up([terms::<W, TERMS>(0); QUAD], 0, chunks, |chunk| {
                let mut sums = [outside; QUAD];
                for t in 0..TERMS {
                    let row = t as u64 * p.chunks as u64 + (first_row / WINDOWS_CHUNK + chunk) as u64;
                    for k in 0..QUAD {
                        if list[k] != NONE {
                            sums[k][t] = d.load(totals, row * samples as u64 + list[k] as u64);
                        }
                    }
                }
                sums
            });
            // Fewer rows than lanes are left.
            let rest = chunks * WINDOWS_CHUNK;
            let mapped = self.map(first_row + rest);
            add_up(sums, 0, p.window_y - rest, |k| self.load(self.row(mapped, k), n).terms())
        }
    }

    /// Slides column sums down by a row.
    #[inline(always)]
    fn slide(&self, mut sums: Sums<W, TERMS>, [leaves, enters]: [Quad<I>; 2]) -> Sums<W, TERMS> {
        let (old, new) = (leaves.samples(), enters.samples());
        for k in 0..QUAD {
            let difference = new[k] - old[k];
            sums[k][0] = sums[k][0].plus(W::of(difference));
            if TERMS == 2 {
                // The difference of squares.
                sums[k][1] = sums[k][1].plus(W::product(difference, new[k] + old[k] - 2 * Self::CENTRE));
            }
        }
        sums
    }

    /// Makes column sums exclusive prefix sums within the warp, and stores the warp's totals of quad `n`.
    #[inline(always)]
    unsafe fn scan(&self, row: u32, n: u32, sums: Sums<W, TERMS>) -> Sums<W, TERMS> {
        let (d, channels) = (self.d, self.p.tile.channels);
        let mut prefixes = sums;
        for t in 0..TERMS {
            let own = sums[0][t].plus(sums[1][t]).plus(sums[2][t].plus(sums[3][t]));
            let mut sum = own;
            for step in 0..5 {
                let lanes = channels << step;
                let below = sum.shuffle_up(d, lanes);
                sum = if self.lane >= lanes { sum.plus(below) } else { sum };
            }
            prefixes[0][t] = sum.minus(own);
            for k in 1..QUAD {
                prefixes[k][t] = prefixes[k - 1][t].plus(sums[k - 1][t]);
            }
            if self.last {
                let warp = self.index(n) / WARP;
                // SAFETY: no other lane has this channel's last quad.
                unsafe { d.shared_store(self.totals(row, t), warp * 4 + self.channel, sum) };
            }
        }
        prefixes
    }

    /// Computes the windows of quad `n` in row `row`, whose prefix sums are `starts`, and stores them; the first output of the
    /// thread's first quad is at `to`.
    #[inline(always)]
    unsafe fn windows(&self, row: u32, n: u32, starts: Sums<W, TERMS>, to: u64) {
        let (d, p) = (self.d, self.p);
        let (warp, beyond) = (self.index(n) / WARP, p.window_x % QUAD as u32);
        let mut sums = starts;
        for t in 0..TERMS {
            let totals = self.totals(row, t);
            // SAFETY: the totals of the warps that a window touches, and prefix sums in it.
            unsafe {
                let total = |warps: u32| d.shared_load(totals, (warp + warps) * 4 + self.channel);
                let mut near = W::of(0);
                let mut warps = 0;
                while warps < self.between[0] {
                    near = near.plus(total(warps));
                    warps += 1;
                }
                let far = if beyond > 0 && self.between[1] > self.between[0] { near.plus(total(warps)) } else { near };
                let prefixes = self.prefixes(row, n).offset;
                let ends = [prefixes.wrapping_add(self.ends[0]), prefixes.wrapping_add(self.ends[1])];
                for k in 0..QUAD {
                    let at = beyond as usize + k;
                    let (sum, end) = if at < QUAD { (near, ends[0]) } else { (far, ends[1]) };
                    let end: W = d.shared_load(Shared::at(end), self.of_thread(t, at % QUAD));
                    sums[k][t] = end.minus(starts[k][t]).plus(sum);
                }
            }
        }
        let bits = F::finish(d, sums, I::TYPE == ElementType::I16 || Self::CENTRE > 0, p);
        let (pixels, size) = (n * self.step, p.channels * p.out_bytes);
        // SAFETY: this thread's outputs.
        unsafe { store(d, to + (pixels * size) as u64, self.first + self.pixel + pixels, bits, p) };
    }

    /// Reads this thread's sums.
    #[inline(always)]
    unsafe fn get(&self, from: Shared<W>) -> Sums<W, TERMS> {
        let mut sums = [terms(0); QUAD];
        for t in 0..TERMS {
            for k in 0..QUAD {
                // SAFETY: this thread's.
                sums[k][t] = unsafe { self.d.shared_load(from, self.of_thread(t, k)) };
            }
        }
        sums
    }

    /// Writes this thread's sums.
    #[inline(always)]
    unsafe fn put(&self, to: Shared<W>, sums: Sums<W, TERMS>) {
        for t in 0..TERMS {
            for k in 0..QUAD {
                // SAFETY: this thread's.
                unsafe { self.d.shared_store(to, self.of_thread(t, k), sums[k][t]) };
            }
        }
    }

    /// Computes output rows `first_row` to `last_row - 1`.
    #[inline(always)]
    unsafe fn march(&self, first_row: u32, last_row: u32) {
        let (d, p, quads) = (self.d, self.p, self.p.tile.quads);
        let map = |row| [self.map(row), self.map(row + p.window_y)];
        // SAFETY: each thread uses its own quads, but for prefix sums and totals between barriers.
        unsafe {
            let load = |mapped: [u32; 2], k: u32, n: u32| {
                [self.load(self.row(mapped[0], k), n), self.load(self.row(mapped[1], k), n)]
            };
            let (mut n, mut sums) = (quads, [terms(0); QUAD]);
            while n > 0 {
                n -= 1;
                self.list(n);
                sums = self.first_sums(first_row, n);
                if quads > 1 {
                    self.put(self.columns(n), sums);
                }
            }
            let mut mapped = map(first_row);
            let mut next = load(mapped, 0, 0);
            let first = (first_row as u64 * p.out_width as u64 + (self.first + self.pixel) as u64) * p.channels as u64;
            let mut to = self.dst + (first + self.channel as u64) * p.out_bytes as u64;
            let mut row = first_row;
            while row < last_row {
                let mut starts = [terms(0); QUAD];
                for n in 0..quads {
                    let now = next;
                    let (later, other) = if n + 1 < quads { (row, n + 1) } else { (row + 1, 0) };
                    if later < last_row {
                        let k = (later - first_row) % WARP;
                        if k == 0 && other == 0 {
                            mapped = map(later);
                        }
                        next = load(mapped, k, other);
                    }
                    if quads > 1 {
                        sums = self.get(self.columns(n));
                    }
                    sums = self.slide(sums, now);
                    if quads > 1 {
                        self.put(self.columns(n), sums);
                    }
                    if self.is_needed(n) {
                        starts = self.scan(row, n, sums);
                        self.put(self.prefixes(row, n), starts);
                    }
                }
                d.barrier();
                for n in 0..quads {
                    if !self.idle && self.pixel + n * self.step < self.strip {
                        if quads > 1 {
                            starts = self.get(self.prefixes(row, n));
                        }
                        self.windows(row, n, starts, to);
                    }
                }
                row += 1;
                to += p.out_width as u64 * (p.channels * p.out_bytes) as u64;
            }
        }
    }
}
