//! Box filters of bytes, four at a time: see the [module](super).
//!
//! A word has the bytes of a pixel of four channels, or of three; of images with fewer channels, those of two or
//! four pixels that lie in the same place of as many parts of the strip. Sums along a row take 16 bits, in two
//! words: of the bytes 0 and 2, and of 1 and 3. They are numbers modulo 2^32, so that a window is the difference
//! of two prefix sums, whatever has overflowed there.
//!
//! Down a column a window takes up the row that comes and gives up the one that leaves. A window of up to
//! [`BOX_PACKED`](apron_abi::BOX_PACKED) bytes stays packed, larger ones are of four words.
//!
//! Per word 8 shared accesses of 4 or 8 bytes, and along a row `window / 64` for the chunks between.

use super::{march, simple::scaled, slot_after, Part, Steps, LANES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{box_pitch, box_pixels, Accumulator, BoxParams, ElementType, Pixel, BOX_BLOCK, BOX_BYTES};
use core::marker::PhantomData;

/// The kernel for strips of `W` words; `LARGE` for windows of more bytes than 16 bits hold the sum of.
///
/// Launch contract: that of the [module](super); windows are at most [`BOX_PACKED`](apron_abi::BOX_PACKED) wide.
pub struct Bytes<O, const LARGE: bool, const W: u32>(PhantomData<O>);

impl<O: Pixel, const LARGE: bool, const W: u32> Body for Bytes<O, LARGE, W> {
    type Src = u8;
    type Dst = O;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<O>, p: &BoxParams) {
        let pixels = box_pixels(p.channels);
        let input = (pixels - 1) * W + p.tile.chunks * BOX_BYTES;
        let Some(part) = Part::of(d, p, pixels * W, input) else { return };
        let column = (part.left - p.origin_x) as u32 + d.thread_x();
        let stored = d.thread_x() < W && column < p.out_width;
        let mut block =
            Block::<D, O, LARGE, W> { part, src, dst, kept: [[0; 2]; CHUNK], column, stored, slot: 0, sums: [0; 4] };
        // SAFETY: the launch keeps the contract.
        unsafe {
            block.clear();
            march(&part, input, &mut block);
        }
    }
}

const CHUNK: usize = BOX_BYTES as usize;

struct Block<'p, D, O, const LARGE: bool, const W: u32> {
    part: Part<'p, D>,
    src: Global<u8>,
    dst: Global<O>,
    /// The prefix sums of this thread's chunk.
    kept: [[u32; 2]; CHUNK],
    /// The output column of its word's first byte, and whether there is one.
    column: u32,
    stored: bool,
    /// The ring's chunk of the present step.
    slot: u32,
    /// The sums of the window that ends in the last row: packed in two, or of each byte.
    sums: [u32; 4],
}

#[inline(always)]
fn pair(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

#[inline(always)]
fn joined([low, high]: [u32; 2]) -> u64 {
    low as u64 | (high as u64) << 32
}

#[inline(always)]
fn plus(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
}

#[inline(always)]
fn minus(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1])]
}

impl<D: Device, O: Pixel, const LARGE: bool, const W: u32> Block<'_, D, O, LARGE, W> {
    /// Pairs from one row of the ring to the next.
    const PITCH: u32 = box_pitch(W, 1);

    /// Input rows of a step; two steps take turns.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<u32> {
        let tile = &self.part.p.tile;
        Shared::at(tile.input_at + (step % 2 * BOX_BYTES + row) * tile.input_pitch * 4)
    }

    /// The prefix sums of a task's chunk.
    #[inline(always)]
    fn prefix_of(&self, task: u32) -> Shared<u64> {
        let tile = &self.part.p.tile;
        let (row, column) = (task % BOX_BYTES, task / BOX_BYTES * BOX_BYTES);
        Shared::at(tile.prefix_at + (row * tile.input_pitch + column) * 8)
    }

    /// Row `row` of chunk `slot` of the ring, from column `column` on.
    #[inline(always)]
    fn ring(&self, slot: u32, row: u32, column: u32) -> Shared<u64> {
        Shared::at(self.part.p.tile.ring_at + ((slot * BOX_BYTES + row) * Self::PITCH + column) * 8)
    }

    /// Clears this thread's column of the ring: what leaves the first windows is nothing.
    ///
    /// # Safety
    /// Nobody uses the ring before the next barrier.
    #[inline(always)]
    unsafe fn clear(&self) {
        let mut row = 0;
        while row < self.part.p.tile.slots * BOX_BYTES {
            if self.stored {
                // SAFETY: in the ring.
                unsafe { self.part.d.shared_store(self.ring(0, row, self.part.d.thread_x()), 0, 0u64) };
            }
            row += self.part.p.one;
        }
    }

    /// Sums a task's chunk, and gives its prefix sums.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // an iterator over the array would keep it in local memory
    unsafe fn prefix(&self, step: u32, task: u32) -> [[u32; 2]; CHUNK] {
        let d = self.part.d;
        let (input, to) = (self.input(step, task % BOX_BYTES), self.prefix_of(task));
        let (mut words, mut sums) = ([0u32; CHUNK], [[0; 2]; CHUNK]);
        // SAFETY: inside the input row, and inside the row of sums, of which this chunk is this thread's.
        unsafe {
            for k in 0..CHUNK {
                words[k] = d.shared_load(input, task / BOX_BYTES * BOX_BYTES + k as u32);
            }
            let mut sum = [0u32; 2];
            for k in 0..CHUNK {
                sum = plus(sum, [words[k] & 0x00ff_00ff, words[k] >> 8 & 0x00ff_00ff]);
                sums[k] = sum;
                d.shared_store(to, k as u32, joined(sum));
            }
        }
        sums
    }

    /// Takes up a row's sums, and gives up those of another.
    #[inline(always)]
    fn slide(&mut self, comes: [u32; 2], leaves: [u32; 2]) {
        if !LARGE {
            [self.sums[0], self.sums[1]] = minus(plus([self.sums[0], self.sums[1]], comes), leaves);
            return;
        }
        for k in 0..2 {
            self.sums[k] = self.sums[k].wrapping_add(comes[k] & 0xffff).wrapping_sub(leaves[k] & 0xffff);
            self.sums[k + 2] = self.sums[k + 2].wrapping_add(comes[k] >> 16).wrapping_sub(leaves[k] >> 16);
        }
    }

    /// The window's sum of byte `k` of its words.
    #[inline(always)]
    fn sum(&self, k: usize) -> u32 {
        match k {
            _ if LARGE => self.sums[k],
            0 | 1 => self.sums[k] & 0xffff,
            _ => self.sums[k - 2] >> 16,
        }
    }

    /// A sum of byte `k`, scaled. `PLAIN` is for integers, where the plan says that f32 will do.
    #[inline(always)]
    fn output<const PLAIN: bool>(&self, k: usize) -> O {
        let (d, p, sum) = (self.part.d, self.part.p, self.sum(k));
        if !PLAIN {
            return O::from_sum(O::Sum::from_f64(scaled(d, sum as f64, p)));
        }
        // At 2^23 the spacing of f32 is 1: the lowest bits are an integer, to which additions round.
        const ONES: f32 = 8_388_608.0;
        let sum = f32::from_bits(ONES.to_bits() | sum) - ONES;
        O::read(&d.fma(sum, p.scale, ONES).to_bits().to_ne_bytes())
    }

    /// Stores the outputs of the present sums.
    #[inline(always)]
    unsafe fn store<const PLAIN: bool>(&self, y: i32) {
        let (d, p) = (self.part.d, self.part.p);
        let row = self.part.first_row + y as u32;
        let at = (row as u64 * p.out_width as u64 + self.column as u64) * p.channels as u64;
        // SAFETY: the outputs are there, and no other thread's.
        unsafe {
            if O::TYPE == ElementType::U8 && p.channels == 4 {
                let mut word = 0;
                for k in 0..4 {
                    word |= (self.output::<PLAIN>(k).to_f32() as u32) << (8 * k);
                }
                d.store(Global::<u32>::at(self.dst.address), at / 4, word);
                return;
            }
            for k in 0..4 {
                let (part, channel) = place(k, p.channels);
                if channel < p.channels && self.column + part * W < p.out_width {
                    let at = at + (part * W * p.channels + channel) as u64;
                    d.store(self.dst, at, self.output::<PLAIN>(k as usize));
                }
            }
        }
    }

    /// Windows that end in rows `first` to `first + COUNT - 1` of a step.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn slide_down<const COUNT: usize, const PLAIN: bool>(&mut self, step: u32, first: u32) {
        let (d, p, thread) = (self.part.d, self.part.p, self.part.d.thread_x());
        let here = self.ring(self.slot, first, thread);
        // The rows that leave, of the two oldest chunks, which are next in the ring.
        let later = p.window_y % BOX_BYTES;
        let slots = p.tile.slots;
        let upper = self.ring(slot_after(self.slot, 1, slots), BOX_BYTES - later + first, thread).offset;
        let lower = self.ring(slot_after(self.slot, 2, slots), first, thread).offset;
        let lower = lower.wrapping_sub(later * Self::PITCH * 8);
        let y = self.part.completed(step, BOX_BYTES) + first as i32;
        // SAFETY: in the ring, where this column is this thread's since the barrier.
        unsafe {
            let (mut comes, mut leaves) = ([0; COUNT], [0; COUNT]);
            for k in 0..COUNT {
                comes[k] = d.shared_load(here, k as u32 * Self::PITCH);
                let row = first + k as u32;
                let from = if step.wrapping_add(row) < step.wrapping_add(later) { upper } else { lower };
                leaves[k] = d.shared_load(Shared::at(from.wrapping_add(k as u32 * Self::PITCH * 8)), 0);
            }
            for k in 0..COUNT {
                self.slide(pair(comes[k]), pair(leaves[k]));
                if ((y + k as i32) as u32) < self.part.count {
                    self.store::<PLAIN>(y + k as i32);
                }
            }
        }
    }
}

/// Which part of the strip byte `k` of a word belongs to, and which channel.
#[inline(always)]
fn place(k: u32, channels: u32) -> (u32, u32) {
    match channels {
        1 => (k, 0),
        2 => (k / 2, k % 2),
        _ => (0, k),
    }
}

impl<D: Device, O: Pixel, const LARGE: bool, const W: u32> Steps<D, BOX_BYTES> for Block<'_, D, O, LARGE, W> {
    #[inline(always)]
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>) {
        let (d, p) = (self.part.d, self.part.p);
        let to = self.input(step, row);
        let (mut index, end) = (d.thread_x() % LANES, p.tile.chunks * BOX_BYTES);
        let start = y.map(|y| y as u64 * p.width as u64);
        let pixels = Global::<u32>::at(self.src.address);
        // SAFETY: the samples are in the image, and their places in the row this thread's.
        unsafe {
            match start {
                Some(start) if self.part.inside && p.channels == 4 => {
                    let start = start + self.part.left as u32 as u64;
                    while index < end {
                        d.start_copy(to, index, pixels, start + index as u64);
                        index += LANES;
                    }
                }
                _ if p.channels == 4 => {
                    while index < end {
                        match (start, self.part.column(index)) {
                            (Some(start), Some(x)) => d.start_copy(to, index, pixels, start + x as u64),
                            _ => d.shared_store(to, index, p.constant as u32 * 0x0101_0101),
                        }
                        index += LANES;
                    }
                }
                _ => {
                    while index < end {
                        let mut word = 0;
                        for k in 0..4 {
                            let (part, channel) = place(k, p.channels);
                            if channel < p.channels {
                                let byte = match (start, self.part.column(index + part * W)) {
                                    (Some(start), Some(x)) => {
                                        let at = (start + x as u64) * p.channels as u64 + channel as u64;
                                        d.load(self.src, at) as u32
                                    }
                                    _ => p.constant as u32,
                                };
                                word |= byte << (8 * k);
                            }
                        }
                        d.shared_store(to, index, word);
                        index += LANES;
                    }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn prefixes(&mut self, step: u32) {
        let tasks = self.part.p.tile.chunks * BOX_BYTES;
        let mut task = self.part.d.thread_x();
        // SAFETY: tasks are chunks of the input.
        unsafe {
            if task < tasks {
                self.kept = self.prefix(step, task);
            }
            task += BOX_BLOCK;
            while task < tasks {
                self.prefix(step, task);
                task += BOX_BLOCK;
            }
        }
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn rows(&mut self, step: u32) {
        let (d, task, last) = (self.part.d, self.part.d.thread_x(), self.part.p.window_x - 1);
        if task >= W {
            return;
        }
        let chunk = self.prefix_of(task);
        // SAFETY: tasks below the strip's columns are the chunks at which windows begin; all under the windows are
        // summed.
        unsafe {
            let mut sums = [[0; 2]; CHUNK];
            for k in 0..CHUNK {
                sums[k] = pair(d.shared_load(chunk, last + k as u32));
            }
            // The chunks before that in which a window ends.
            let total = |k: u32| pair(d.shared_load(chunk, k * BOX_BYTES + BOX_BYTES - 1));
            let (mut near, mut k) = ([0; 2], 0);
            while k < last / BOX_BYTES {
                near = plus(near, total(k));
                k += 1;
            }
            let far = plus(near, total(k));
            let to = self.ring(self.slot, task % BOX_BYTES, task / BOX_BYTES * BOX_BYTES);
            let turn = BOX_BYTES - last % BOX_BYTES;
            for k in 0..CHUNK {
                let before = if step.wrapping_add(k as u32) < step.wrapping_add(turn) { near } else { far };
                let begin = if k == 0 { [0; 2] } else { self.kept[k - 1] };
                d.shared_store(to, k as u32, joined(minus(plus(sums[k], before), begin)));
            }
        }
    }

    #[inline(always)]
    unsafe fn columns(&mut self, step: u32) {
        if self.stored {
            // SAFETY: this thread's column.
            unsafe {
                if O::TYPE != ElementType::F32 && self.part.p.plain != 0 {
                    self.slide_down::<CHUNK, true>(step, 0);
                } else {
                    let mut row = 0;
                    while row < BOX_BYTES {
                        self.slide_down::<1, false>(step, row);
                        row += self.part.p.one;
                    }
                }
            }
        }
        self.slot = slot_after(self.slot, 1, self.part.p.tile.slots);
    }
}
