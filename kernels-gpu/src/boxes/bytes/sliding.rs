//! Box filters of bytes by sliding windows: the kernel and its steps.

use super::scaling::{exact, of_bits, plain, word, word_of_plain};
use crate::boxes::{march, slot_after, Part, Steps, LANES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{box_pitch, box_pixels, box_sums_pitch, BoxParams, ElementType, Pixel, BOX_BLOCK, BOX_BYTES};
use core::marker::PhantomData;

/// The kernel for strips of `W` words. With `PIXELS` a word is a pixel of four channels, otherwise images have fewer
/// channels. `LARGE` is for windows whose sums of bytes do not fit into 16 bits.
///
/// Launch contract: see the [module](crate::boxes); windows are at most [`BOX_PACKED`](apron_abi::BOX_PACKED) wide.
pub struct Bytes<O, const LARGE: bool, const PIXELS: bool, const W: u32>(PhantomData<O>);

impl<O: Pixel, const LARGE: bool, const PIXELS: bool, const W: u32> Body for Bytes<O, LARGE, PIXELS, W> {
    type Src = u8;
    type Dst = O;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<O>, p: &BoxParams) {
        let pixels = if PIXELS { 1 } else { box_pixels(p.channels) };
        let input = (pixels - 1) * W + p.tile.chunks * BOX_BYTES;
        let Some(part) = Part::of(d, p, pixels * W, input) else { return };
        let column = (part.left - p.origin_x) as u32 + d.thread_x();
        let stored = d.thread_x() < W && column < p.out_width;
        let mut offsets = [NONE; 4];
        for k in 0..4 {
            let (part, channel) = place(k as u32, p.channels);
            if channel < p.channels && column + part * W < p.out_width {
                offsets[k] = part * W * p.channels + channel;
            }
        }
        let kept = [[0; 2]; CHUNK];
        let mut block =
            Block::<D, O, LARGE, PIXELS, W> { part, src, dst, kept, column, stored, offsets, slot: 0, sums: [0; 4] };
        // SAFETY: the launch keeps the contract.
        unsafe {
            block.clear();
            march(&part, input, &mut block);
        }
    }
}

const CHUNK: usize = BOX_BYTES as usize;
/// Rows of a column that a thread loads before it uses the first.
const HALF: usize = CHUNK / 2;
/// Offset of a byte without an output.
const NONE: u32 = u32::MAX;

struct Block<'p, D, O, const LARGE: bool, const PIXELS: bool, const W: u32> {
    part: Part<'p, D>,
    src: Global<u8>,
    dst: Global<O>,
    /// Words of this thread's chunk, unpacked to 16 bits per byte.
    kept: [[u32; 2]; CHUNK],
    /// Output column of the word's first byte, and whether that column has outputs.
    column: u32,
    stored: bool,
    /// Offsets, in samples, of the outputs of the word's bytes from the output pixel of the first byte.
    offsets: [u32; 4],
    /// Chunk of the ring for the current step.
    slot: u32,
    /// Sums of the window that ends in the last processed row: packed in two words, or one word per byte.
    sums: [u32; 4],
}

/// Returns the part of the strip, and the channel, of byte `k` of a word.
#[inline(always)]
fn place(k: u32, channels: u32) -> (u32, u32) {
    match channels {
        1 => (k, 0),
        2 => (k / 2, k % 2),
        _ => (0, k),
    }
}

/// Unpacks a word to 16 bits per byte: bytes 0 and 2, and bytes 1 and 3.
#[inline(always)]
fn packed(word: u32) -> [u32; 2] {
    [word & 0x00ff_00ff, word >> 8 & 0x00ff_00ff]
}

#[inline(always)]
fn pair(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

#[inline(always)]
fn joined([low, high]: [u32; 2]) -> u64 {
    low as u64 | (high as u64) << 32
}

/// Adds the words that enter a window to its sum, and subtracts the words that leave it.
#[inline(always)]
fn slid(sum: [u32; 2], comes: [u32; 2], leaves: [u32; 2]) -> [u32; 2] {
    let slid = |k: usize| sum[k].wrapping_add(comes[k]).wrapping_sub(leaves[k]);
    [slid(0), slid(1)]
}

impl<D: Device, O: Pixel, const LARGE: bool, const PIXELS: bool, const W: u32> Block<'_, D, O, LARGE, PIXELS, W> {
    /// Pitch of the ring's rows, in pairs of words.
    const PITCH: u32 = box_pitch(W, 1);

    /// Returns input row `row` of a step; two steps alternate.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<u32> {
        let tile = &self.part.p.tile;
        Shared::at(tile.input_at + (step % 2 * BOX_BYTES + row) * tile.input_pitch * 4)
    }

    /// Returns the sums of the chunks of a task's row, from the task's chunk on; with `first_bytes`, the sums of the
    /// first words of the chunks, up to the end of the first window that ends in each.
    #[inline(always)]
    fn sums_of(&self, task: u32, first_bytes: bool) -> Shared<u64> {
        let (tile, row) = (&self.part.p.tile, task % BOX_BYTES + if first_bytes { BOX_BYTES } else { 0 });
        Shared::at(tile.sums_at + (row * box_sums_pitch(tile.chunks) + task / BOX_BYTES) * 8)
    }

    /// Returns row `row` of chunk `slot` of the ring, from column `column` on.
    #[inline(always)]
    fn ring(&self, slot: u32, row: u32, column: u32) -> Shared<u64> {
        Shared::at(self.part.p.tile.ring_at + ((slot * BOX_BYTES + row) * Self::PITCH + column) * 8)
    }

    /// Clears this thread's column of the ring: the rows that leave the first windows are 0.
    ///
    /// # Safety
    /// No thread uses the ring before the next barrier.
    #[inline(always)]
    unsafe fn clear(&self) {
        let mut row = 0;
        while row < self.part.p.tile.slots * BOX_BYTES {
            if self.stored {
                // SAFETY: the ring has `slots * BOX_BYTES` rows; only this thread uses its column.
                unsafe { self.part.d.shared_store(self.ring(0, row, self.part.d.thread_x()), 0, 0u64) };
            }
            row += self.part.p.one;
        }
    }

    /// Stores the sum of a task's chunk, and the sum of its words up to the end of the first window that ends in it;
    /// returns its words, unpacked.
    #[inline(always)]
    unsafe fn sum(&self, step: u32, task: u32) -> [[u32; 2]; CHUNK] {
        let d = self.part.d;
        let input = self.input(step, task % BOX_BYTES);
        let last = d.anew((self.part.p.window_x - 1) % BOX_BYTES);
        let mut words = [[0; 2]; CHUNK];
        // SAFETY: a task is a chunk of an input row, and has its own places for both sums.
        unsafe {
            for k in 0..CHUNK {
                words[k] = packed(d.shared_load(input, task / BOX_BYTES * BOX_BYTES + k as u32));
            }
            let mut sum = [0; 2];
            for k in 0..CHUNK {
                sum = slid(sum, words[k], [0; 2]);
                if k as u32 == last {
                    d.shared_store(self.sums_of(task, true), 0, joined(sum));
                }
            }
            d.shared_store(self.sums_of(task, false), 0, joined(sum));
        }
        words
    }

    /// Adds a row's sums to the window, and subtracts the sums of the row that leaves.
    #[inline(always)]
    fn slide(&mut self, comes: [u32; 2], leaves: [u32; 2]) {
        if !LARGE {
            [self.sums[0], self.sums[1]] = slid([self.sums[0], self.sums[1]], comes, leaves);
            return;
        }
        for k in 0..2 {
            self.sums[k] = self.sums[k].wrapping_add(comes[k] & 0xffff).wrapping_sub(leaves[k] & 0xffff);
            self.sums[k + 2] = self.sums[k + 2].wrapping_add(comes[k] >> 16).wrapping_sub(leaves[k] >> 16);
        }
    }

    /// Returns the window's sum of byte `k` of its words.
    #[inline(always)]
    fn sum_of(&self, k: usize) -> u32 {
        match k {
            _ if LARGE => self.sums[k],
            0 | 1 => self.sums[k] & 0xffff,
            _ => self.sums[k - 2] >> 16,
        }
    }

    /// Stores the outputs of the current sums at pixel `at`. `PLAIN` scales in f32, for integers where the plan allows
    /// it.
    #[inline(always)]
    unsafe fn store<const PLAIN: bool>(&self, at: u64) {
        let (d, p) = (self.part.d, self.part.p);
        let sums = [self.sum_of(0), self.sum_of(1), self.sum_of(2), self.sum_of(3)];
        if PIXELS && O::TYPE == ElementType::U8 {
            let word = if PLAIN {
                word_of_plain([plain(d, sums[0], p), plain(d, sums[1], p), plain(d, sums[2], p), plain(d, sums[3], p)])
            } else {
                let byte = |sum| exact::<D, u8>(d, sum, p) as u32;
                word([byte(sums[0]), byte(sums[1]), byte(sums[2]), byte(sums[3])])
            };
            // SAFETY: the callers check column and row; only this thread stores outputs of its column.
            return unsafe { d.store(Global::<u32>::at(self.dst.address), at, word) };
        }
        let channels = if PIXELS { 4 } else { p.channels };
        for k in 0..4 {
            let value: O = if PLAIN { of_bits(plain(d, sums[k], p)) } else { exact(d, sums[k], p) };
            if self.offsets[k] != NONE {
                // SAFETY: as above; bytes beyond the row have no offset.
                unsafe { d.store(self.dst, at * channels as u64 + self.offsets[k] as u64, value) };
            }
        }
    }

    /// Slides the window over rows `first` to `first + COUNT - 1` of a step. Row `first` completes output row `y` of
    /// the block. Stores all outputs if `ALL`, otherwise only those in the block's output rows.
    #[inline(always)]
    unsafe fn slide_down<const COUNT: usize, const PLAIN: bool, const ALL: bool>(&mut self, first: u32, y: i32) {
        let (d, p, thread) = (self.part.d, self.part.p, self.part.d.thread_x());
        let here = self.ring(self.slot, first, thread);
        // The rows that leave are in the two oldest chunks, which are next in the ring.
        let (later, slots) = (d.anew(p.window_y % BOX_BYTES), p.tile.slots);
        let oldest = slot_after(self.slot, 1, slots);
        let upper = self.ring(oldest, BOX_BYTES - later + first, thread).offset;
        let (mut comes, mut leaves) = ([0; COUNT], [0; COUNT]);
        // SAFETY: rows of the ring, complete since the barrier; only this thread uses its column until the next one.
        unsafe {
            for k in 0..COUNT {
                comes[k] = d.shared_load(here, k as u32 * Self::PITCH);
            }
            if oldest + 1 < slots {
                for k in 0..COUNT {
                    leaves[k] = d.shared_load(Shared::at(upper), k as u32 * Self::PITCH);
                }
            } else {
                let lower = upper - slots * BOX_BYTES * Self::PITCH * 8;
                for k in 0..COUNT {
                    let from = if first + (k as u32) < later { upper } else { lower };
                    leaves[k] = d.shared_load(Shared::at(from + k as u32 * Self::PITCH * 8), 0);
                }
            }
        }
        let (row, width) = (self.part.first_row as i64 + y as i64, self.part.p.out_width as i64);
        let mut at = row * width + self.column as i64;
        for k in 0..COUNT {
            self.slide(pair(comes[k]), pair(leaves[k]));
            if ALL || ((y + k as i32) as u32) < self.part.count {
                // SAFETY: the row is one of the block's output rows, the column this thread's.
                unsafe { self.store::<PLAIN>(at as u64) };
            }
            at += width;
        }
    }

    /// Starts copying an input row of pixels.
    #[inline(always)]
    unsafe fn bring_pixels(&self, to: Shared<u32>, start: Option<u64>) {
        let (p, pixels) = (self.part.p, Global::<u32>::at(self.src.address));
        let (start, constant) = (start.map(|start| start / 4), p.constant as u32 * 0x0101_0101);
        // SAFETY: the contract of `Steps`.
        unsafe { self.part.bring_row(to, pixels, start, 1, p.tile.chunks * BOX_BYTES, constant) };
    }

    /// Packs an input row into words, for images of fewer than four channels.
    #[inline(always)]
    unsafe fn bring_bytes(&self, to: Shared<u32>, start: Option<u64>) {
        let (d, p) = (self.part.d, self.part.p);
        let (mut index, end) = (d.thread_x() % LANES, p.tile.chunks * BOX_BYTES);
        let byte = |index: u32, k: u32| {
            let (part, channel) = place(k, p.channels);
            // SAFETY: `index + part * W` is below the length of the border map, whose columns are in the image.
            unsafe {
                match (start, self.part.column(index + part * W)) {
                    (Some(start), Some(x)) if channel < p.channels => {
                        d.load(self.src, start + x as u64 * p.channels as u64 + channel as u64) as u32
                    }
                    _ => p.constant as u32,
                }
            }
        };
        while index < end {
            let word = word([byte(index, 0), byte(index, 1), byte(index, 2), byte(index, 3)]);
            // SAFETY: `index` is below the row's length, and only this lane of the row's warp writes it.
            unsafe { d.shared_store(to, index, word) };
            index += LANES;
        }
    }
}

impl<D: Device, O: Pixel, const LARGE: bool, const PIXELS: bool, const W: u32> Steps<D, BOX_BYTES>
    for Block<'_, D, O, LARGE, PIXELS, W>
{
    #[inline(always)]
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>) {
        let to = self.input(step, row);
        let start = y.map(|y| y as u64 * self.part.p.row_stride as u64);
        // SAFETY: the contract of `Steps`.
        unsafe {
            if PIXELS {
                self.bring_pixels(to, start);
            } else {
                self.bring_bytes(to, start);
            }
        }
    }

    #[inline(always)]
    unsafe fn prefixes(&mut self, step: u32) {
        // The words kept in the last step must not take registers until here.
        self.kept = [[0; 2]; CHUNK];
        let tasks = self.part.p.tile.chunks * BOX_BYTES;
        let mut task = self.part.d.thread_x();
        // SAFETY: tasks are chunks of the step's input rows, each of one thread.
        unsafe {
            if task < tasks {
                self.kept = self.sum(step, task);
            }
            task += BOX_BLOCK;
            while task < tasks {
                self.sum(step, task);
                task += BOX_BLOCK;
            }
        }
    }

    #[inline(always)]
    unsafe fn rows(&mut self, step: u32) {
        let (d, task, last) = (self.part.d, self.part.d.thread_x(), self.part.p.window_x - 1);
        if task >= W {
            return;
        }
        let (row, column) = (task % BOX_BYTES, task / BOX_BYTES * BOX_BYTES);
        let (input, to) = (self.input(step, row), self.ring(self.slot, row, column));
        let (chunks, between) = (self.sums_of(task, false), last / BOX_BYTES);
        // SAFETY: tasks below `W` are the chunks at which windows begin; since the barrier, all chunks under their
        // windows are summed.
        unsafe {
            let mut comes = [[0; 2]; CHUNK];
            for k in 1..CHUNK {
                comes[k] = packed(d.shared_load(input, column + last + k as u32));
            }
            let mut sum = pair(d.shared_load(self.sums_of(task, true), between));
            let mut k = 0;
            while k + 4 <= between {
                let number = |k: u32| pair(d.shared_load(chunks, k));
                let (a, b, c, e) = (number(k), number(k + 1), number(k + 2), number(k + 3));
                sum = slid(slid(slid(slid(sum, a, [0; 2]), b, [0; 2]), c, [0; 2]), e, [0; 2]);
                k += 4 * self.part.p.one;
            }
            while k < between {
                sum = slid(sum, pair(d.shared_load(chunks, k)), [0; 2]);
                k += self.part.p.one;
            }
            d.shared_store(to, 0, joined(sum));
            for k in 1..CHUNK {
                sum = slid(sum, comes[k], self.kept[k - 1]);
                d.shared_store(to, k as u32, joined(sum));
            }
        }
    }

    #[inline(always)]
    unsafe fn columns(&mut self, step: u32) {
        if self.stored {
            let y = self.part.completed(step, BOX_BYTES);
            let (plain, one) = (O::TYPE != ElementType::F32 && self.part.p.plain != 0, self.part.p.one);
            let mut row = 0;
            // SAFETY: only this thread uses its column of the ring between the barriers.
            unsafe {
                if plain && y >= 0 && y as u32 + BOX_BYTES <= self.part.count {
                    self.slide_down::<HALF, true, true>(0, y);
                    self.slide_down::<HALF, true, true>(HALF as u32, y + HALF as i32);
                } else if plain {
                    while row < BOX_BYTES {
                        self.slide_down::<1, true, false>(row, y + row as i32);
                        row += one;
                    }
                } else {
                    while row < BOX_BYTES {
                        self.slide_down::<1, false, false>(row, y + row as i32);
                        row += one;
                    }
                }
            }
        }
        self.slot = slot_after(self.slot, 1, self.part.p.tile.slots);
    }
}
