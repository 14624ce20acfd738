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
//! Per word 8 shared accesses of 4 or 8 bytes.

use super::{march, simple::scaled, Part, Steps, CHUNK, LANES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{Accumulator, BoxParams, ElementType, Pixel, BOX_BLOCK, BOX_CHUNK};
use core::marker::PhantomData;

/// The kernel; `LARGE` for windows of more bytes than 16 bits hold the sum of.
///
/// Launch contract: that of the [module](super); windows are at most [`BOX_PACKED`](apron_abi::BOX_PACKED) wide.
pub struct Bytes<O, const LARGE: bool>(PhantomData<O>);

impl<O: Pixel, const LARGE: bool> Body for Bytes<O, LARGE> {
    type Src = u8;
    type Dst = O;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<O>, p: &BoxParams) {
        let parts = if p.channels == 1 {
            4
        } else if p.channels == 2 {
            2
        } else {
            1
        };
        let Some(part) = Part::of(d, p, p.strip * parts) else { return };
        let column = part.left - p.origin_x + d.thread_x() as i32;
        let stored = d.thread_x() < p.strip && column < p.out_width as i32;
        let (kept, column) = ([[0; 2]; CHUNK], column as u32);
        let mut block = Block::<D, O, LARGE> { part, src, dst, kept, column, stored, slot: 0, sums: [0; 4] };
        // SAFETY: the launch keeps the contract.
        unsafe {
            block.clear();
            march(&part, &mut block);
        }
    }
}

struct Block<'p, D, O, const LARGE: bool> {
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

/// Sums of the bytes 0 and 2, and of 1 and 3.
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

impl<D: Device, O: Pixel, const LARGE: bool> Block<'_, D, O, LARGE> {
    /// Input rows of a step; two steps take turns.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<u32> {
        Shared::at((step % 2 * BOX_CHUNK + row) * self.part.p.tile.input_pitch * 4)
    }

    /// The prefix sums of a task's chunk.
    #[inline(always)]
    fn prefix_of(&self, task: u32) -> Shared<u64> {
        let tile = &self.part.p.tile;
        let (row, column) = (task % BOX_CHUNK, task / BOX_CHUNK * BOX_CHUNK);
        Shared::at(2 * BOX_CHUNK * tile.input_pitch * 4 + (row * tile.prefix_pitch + column) * 8)
    }

    /// Row `row` of chunk `slot` of the ring, from column `column` on.
    #[inline(always)]
    fn ring(&self, slot: u32, row: u32, column: u32) -> Shared<u64> {
        let tile = &self.part.p.tile;
        Shared::at(tile.ring_at + ((slot * BOX_CHUNK + row) * tile.ring_pitch + column) * 8)
    }

    /// Clears this thread's column of the ring: what leaves the first windows is nothing.
    ///
    /// # Safety
    /// Nobody uses the ring before the next barrier.
    #[inline(always)]
    unsafe fn clear(&self) {
        let tile = &self.part.p.tile;
        let mut row = 0;
        while row < tile.slots * BOX_CHUNK {
            if self.stored {
                // SAFETY: in the ring.
                unsafe { self.part.d.shared_store(self.ring(0, row, self.part.d.thread_x()), 0, 0u64) };
            }
            row += 1;
        }
    }

    /// Sums a task's chunk, and gives its prefix sums.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // an iterator over the array would keep it in local memory
    unsafe fn prefix(&self, step: u32, task: u32) -> [[u32; 2]; CHUNK] {
        let d = self.part.d;
        let input = Shared::<u32>::at(self.input(step, task % BOX_CHUNK).offset + task / BOX_CHUNK * BOX_CHUNK * 4);
        let (mut words, mut sums) = ([0; CHUNK], [[0; 2]; CHUNK]);
        // SAFETY: inside the input row, and inside the row of sums, of which this chunk is this thread's.
        unsafe {
            for k in 0..CHUNK {
                words[k] = d.shared_load(input, k as u32);
            }
            let mut sum = [0u32; 2];
            for k in 0..CHUNK {
                let word = packed(words[k]);
                sum = [sum[0].wrapping_add(word[0]), sum[1].wrapping_add(word[1])];
                sums[k] = sum;
                d.shared_store(self.prefix_of(task), k as u32, joined(sum));
            }
        }
        sums
    }

    /// The chunk of the ring so many after the present one.
    #[inline(always)]
    fn slot_after(&self, count: u32) -> u32 {
        let slots = self.part.p.tile.slots;
        let slot = self.slot + count;
        if slot >= slots {
            slot - slots
        } else {
            slot
        }
    }

    /// Takes up a row's sums, and gives up those of another.
    #[inline(always)]
    fn slide(&mut self, comes: u64, leaves: u64) {
        let (comes, leaves) = (pair(comes), pair(leaves));
        for k in 0..2 {
            if LARGE {
                let (low, high) = (comes[k] & 0xffff, comes[k] >> 16);
                self.sums[k] = self.sums[k].wrapping_add(low).wrapping_sub(leaves[k] & 0xffff);
                self.sums[k + 2] = self.sums[k + 2].wrapping_add(high).wrapping_sub(leaves[k] >> 16);
            } else {
                self.sums[k] = self.sums[k].wrapping_add(comes[k]).wrapping_sub(leaves[k]);
            }
        }
    }

    /// The window's sum of byte `k` of its words.
    #[inline(always)]
    fn sum(&self, k: usize) -> u32 {
        match (LARGE, k) {
            (true, _) => self.sums[k],
            (false, 0 | 1) => self.sums[k] & 0xffff,
            (false, _) => self.sums[k - 2] >> 16,
        }
    }

    /// Scales a sum, exactly.
    #[inline(always)]
    fn scaled(&self, sum: u32) -> O {
        O::from_sum(O::Sum::from_f64(scaled(self.part.d, sum as f64, self.part.p)))
    }

    /// The same in f32, as the lowest bits: right where the plan says so.
    #[inline(always)]
    fn scaled_plainly(&self, sum: u32) -> u32 {
        // At 2^23 the spacing of f32 is 1: below are the sum's bits, above is rounded to an integer.
        const ONES: f32 = 8_388_608.0;
        let sum = f32::from_bits(ONES.to_bits() | sum) - ONES;
        self.part.d.fma(sum, self.part.p.scale, ONES).to_bits()
    }

    /// Stores the outputs of the present sums.
    #[inline(always)]
    unsafe fn store(&self, row: u32) {
        let (d, p) = (self.part.d, self.part.p);
        let at = (row as u64 * p.out_width as u64 + self.column as u64) * p.channels as u64;
        let plain = O::TYPE != ElementType::F32 && p.plain != 0;
        // SAFETY: the outputs are there, and no other thread's.
        unsafe {
            if O::TYPE == ElementType::U8 && p.channels == 4 {
                let mut word = 0;
                for k in 0..4 {
                    let byte =
                        if plain { self.scaled_plainly(self.sum(k)) & 0xff } else { bits(self.scaled(self.sum(k))) };
                    word |= byte << (8 * k);
                }
                d.store(Global::<u32>::at(self.dst.address), at / 4, word);
                return;
            }
            for k in 0..4 {
                let (pixels, channel) = split(k, p.channels);
                if channel < p.channels && self.column + pixels * p.strip < p.out_width {
                    let at = at + (pixels * p.strip * p.channels + channel) as u64;
                    let value = if plain {
                        of_bits(self.scaled_plainly(self.sum(k as usize)))
                    } else {
                        self.scaled(self.sum(k as usize))
                    };
                    d.store(self.dst, at, value);
                }
            }
        }
    }
}

/// Which part of the strip byte `k` of a word belongs to, and which channel.
#[inline(always)]
fn split(k: u32, channels: u32) -> (u32, u32) {
    match channels {
        1 => (k, 0),
        2 => (k / 2, k % 2),
        _ => (0, k),
    }
}

/// The bits of an integer.
#[inline(always)]
fn bits<O: Pixel>(value: O) -> u32 {
    value.to_f32() as u32
}

/// The integer that has these lowest bits.
#[inline(always)]
fn of_bits<O: Pixel>(bits: u32) -> O {
    O::read(&bits.to_ne_bytes())
}

impl<D: Device, O: Pixel, const LARGE: bool> Steps<D> for Block<'_, D, O, LARGE> {
    #[inline(always)]
    unsafe fn bring(&self, step: u32, row: u32, y: Option<u32>) {
        let (d, p) = (self.part.d, self.part.p);
        let to = self.input(step, row);
        let mut index = d.thread_x() % LANES;
        let start = y.map(|y| y as u64 * p.width as u64);
        while index < p.tile.chunks * BOX_CHUNK {
            // SAFETY: the samples are in the image, and their place in the row is this thread's.
            unsafe {
                if p.channels == 4 {
                    match (start, self.part.column(index)) {
                        (Some(start), Some(x)) => {
                            d.start_copy(to, index, Global::<u32>::at(self.src.address), start + x as u32 as u64)
                        }
                        _ => d.shared_store(to, index, p.constant as u32 * 0x0101_0101),
                    }
                } else {
                    let mut word = 0;
                    for k in 0..4 {
                        let (pixels, channel) = split(k, p.channels);
                        if channel < p.channels {
                            let byte = match (start, self.part.column(index + pixels * p.strip)) {
                                (Some(start), Some(x)) => {
                                    let at = (start + x as u32 as u64) * p.channels as u64 + channel as u64;
                                    d.load(self.src, at) as u32
                                }
                                _ => p.constant as u32,
                            };
                            word |= byte << (8 * k);
                        }
                    }
                    d.shared_store(to, index, word);
                }
            }
            index += LANES;
        }
    }

    #[inline(always)]
    unsafe fn prefixes(&mut self, step: u32) {
        let tasks = self.part.p.tile.chunks * BOX_CHUNK;
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
    unsafe fn rows(&mut self, _: u32) {
        let (d, task, last) = (self.part.d, self.part.d.thread_x(), self.part.p.window_x - 1);
        if task >= self.part.p.strip {
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
            let mut near = [0u32; 2];
            let total = |k: u32| pair(d.shared_load(chunk, k * BOX_CHUNK + BOX_CHUNK - 1));
            let add = |sum: [u32; 2], more: [u32; 2]| [sum[0].wrapping_add(more[0]), sum[1].wrapping_add(more[1])];
            let mut k = 0;
            while k < last / BOX_CHUNK {
                near = add(near, total(k));
                k += 1;
            }
            let far = add(near, total(k));
            let to = self.ring(self.slot, task % BOX_CHUNK, task / BOX_CHUNK * BOX_CHUNK);
            for k in 0..CHUNK {
                let before = if (k as u32 + last % BOX_CHUNK) < BOX_CHUNK { near } else { far };
                let mut sum = add(sums[k], before);
                if k > 0 {
                    sum = [sum[0].wrapping_sub(self.kept[k - 1][0]), sum[1].wrapping_sub(self.kept[k - 1][1])];
                }
                d.shared_store(to, k as u32, joined(sum));
            }
        }
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // as above
    unsafe fn columns(&mut self, step: u32) {
        let (d, p, thread) = (self.part.d, self.part.p, self.part.d.thread_x());
        let pitch = p.tile.ring_pitch;
        if self.stored {
            let here = self.ring(self.slot, 0, thread);
            // The rows that leave, of the two chunks that follow in the ring.
            let later = p.window_y % BOX_CHUNK;
            let upper = self.ring(self.slot_after(1), BOX_CHUNK - later, thread);
            let lower = self.ring(self.slot_after(2), 0, thread);
            let y = self.part.completed(step);
            let mut row = 0;
            while row < BOX_CHUNK {
                // SAFETY: in the ring, where this column is this thread's since the barrier.
                unsafe {
                    let (mut comes, mut leaves) = ([0; 4], [0; 4]);
                    for k in 0..4 {
                        let row = row + k as u32;
                        comes[k] = d.shared_load(here, row * pitch);
                        let from = if row < later {
                            upper.offset + row * pitch * 8
                        } else {
                            lower.offset + (row - later) * pitch * 8
                        };
                        leaves[k] = d.shared_load(Shared::at(from), 0);
                    }
                    for k in 0..4 {
                        self.slide(comes[k], leaves[k]);
                        let y = y + (row + k as u32) as i32;
                        if (y as u32) < self.part.count {
                            self.store(self.part.first_row + y as u32);
                        }
                    }
                }
                row += p.rows_at_once;
            }
        }
        self.slot = self.slot_after(1);
    }
}
