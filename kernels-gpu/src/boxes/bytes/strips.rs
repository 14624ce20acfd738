//! Box filters of RGBA bytes: one warp per strip of [`BOX_STRIP`] pixels, [`BOX_BYTES`] adjacent pixels per thread.
//!
//! ```text
//! wait for an input row; barrier              (the block is the warp)
//! start copying the row that comes BOX_STRIP_AHEAD rows later
//! outputs of the row before: differences of prefix sums, from shared memory
//! columns: each thread adds the row to the sums of its columns, and subtracts the row that leaves the window
//! rows:    each thread computes prefix sums of its column sums along its chunk, into shared memory
//! ```
//!
//! Sums of bytes are exact in any order, and intermediate sums may wrap modulo 2^32. A word holds two sums, of bytes 0
//! and 2 or of bytes 1 and 3. The final sums fit into 16 bits each, so differences of packed sums are correct, whatever
//! the lower halves carried into the upper ones. For windows of more than
//! [`BOX_STRIP_SMALL`](apron_abi::BOX_STRIP_SMALL) pixels (`LARGE`), prefix sums take four words.
//!
//! Input rows under a window of few rows stay in a ring until they leave the window. Under higher windows such a ring
//! would leave room for few warps per multiprocessor, so each row is copied again when it leaves, in general from the
//! L2 cache. The cost per pixel does not depend on the window, except for `width / 8` additions per chunk of pixels.
//!
//! Launch contract: one warp per block; the buffers are as large as the parameters say, the shared memory is
//! [`apron_abi::BoxTile::of_strip`], and the parameters are as the plan computes them, for a mean of an odd number of
//! pixels, less than 2^15.

use super::scaling::ONES;
use crate::boxes::{Part, LANES};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{box_factor, BorderMode, BoxParams, BOX_BYTES, BOX_STRIP, BOX_STRIP_AHEAD};

/// The kernel; `LARGE` for windows of more than [`BOX_STRIP_SMALL`](apron_abi::BOX_STRIP_SMALL) pixels.
pub struct Strips<const LARGE: bool>;

const CHUNK: usize = BOX_BYTES as usize;
const PIECE: u32 = 4;

impl<const LARGE: bool> Body for Strips<LARGE> {
    type Src = u8;
    type Dst = u8;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &BoxParams) {
        let outputs = p.tile.chunks * BOX_BYTES;
        let Some(part) = Part::of(d, p, outputs, BOX_STRIP) else { return };
        let thread = d.thread_x();
        let pieces = ((src.address as u32 / 4) | (p.row_stride / 4) | part.left as u32).is_multiple_of(PIECE);
        let lead = (p.origin_x - p.left) as u32;
        let first = thread * BOX_BYTES;
        let mut block = Strip::<D, LARGE> {
            part,
            src: src.address,
            dst: dst.address,
            pieces: part.inside && pieces,
            wide: ((dst.address as u32 / 4) | p.out_width).is_multiple_of(PIECE),
            column: d.block_x() * outputs + first,
            stored: first < outputs,
            factor: box_factor(p.scale),
            columns: [[0; 2]; CHUNK],
            own: [swizzled(thread * 2) * PIECE, swizzled(thread * 2 + 1) * PIECE],
            low: [0; CHUNK],
            high: [0; CHUNK],
            between: (lead + p.window_x) / BOX_BYTES,
            turns: [BOX_BYTES - lead, BOX_BYTES - (lead + p.window_x) % BOX_BYTES],
        };
        for k in 0..CHUNK {
            block.low[k] = Sums::<LARGE>::place(first + lead + k as u32);
            block.high[k] = Sums::<LARGE>::place(first + lead + p.window_x + k as u32);
        }
        // SAFETY: the launch keeps the contract.
        unsafe { block.run() };
    }
}

/// Returns the index, in a row of the ring, of a piece of 16 bytes of an input row. The order is swizzled against bank
/// conflicts: each thread reads two adjacent pieces, one after the other.
#[inline(always)]
fn swizzled(piece: u32) -> u32 {
    piece ^ ((piece >> 3) & 1)
}

/// Layout of the prefix sums along a row in shared memory: for each pixel of a chunk the sum of the chunk's pixels
/// before it, and then the chunk's sum. Sums at the same place of adjacent chunks are adjacent.
struct Sums<const LARGE: bool>;

impl<const LARGE: bool> Sums<LARGE> {
    /// Bytes per sum.
    const BYTES: u32 = if LARGE { 16 } else { 8 };
    /// Bytes between the sums of adjacent pixels of a chunk.
    const PITCH: u32 = (LANES + 1) * Self::BYTES;

    /// Returns the offset, in bytes, of the sum before pixel `x`.
    #[inline(always)]
    fn place(x: u32) -> u32 {
        x % BOX_BYTES * Self::PITCH + x / BOX_BYTES * Self::BYTES
    }
}

/// Sums of a pixel's bytes: packed in the first two words, or one word per byte.
type Four = [u32; 4];

struct Strip<'p, D, const LARGE: bool> {
    part: Part<'p, D>,
    src: u64,
    dst: u64,
    /// Whether input rows are whole pieces of 16 bytes inside the image.
    pieces: bool,
    /// Whether output rows start at multiples of 16 bytes.
    wide: bool,
    /// Output column of this thread's first pixel, and whether it has outputs.
    column: u32,
    stored: bool,
    /// 2^24 divided by the number of pixels of the window: exact enough for up to [`BOX_STRIP_SMALL`] pixels.
    factor: u32,
    /// Sums of this thread's columns.
    columns: [[u32; 2]; CHUNK],
    /// Indices, in words, of this thread's two pieces of pixels in a row of the ring.
    own: [u32; 2],
    /// Offsets, in bytes, of the prefix sums at the starts and at the ends of this thread's windows.
    low: [u32; CHUNK],
    high: [u32; CHUNK],
    /// Number of chunks from the thread's first pixels to the end of its first window.
    between: u32,
    /// Indices of this thread's first window that begins in the next chunk, and of its first window that ends one chunk
    /// later than window 0.
    turns: [u32; 2],
}

impl<D: Device, const LARGE: bool> Strip<'_, D, LARGE> {
    /// Marches down the strip.
    #[inline(always)]
    unsafe fn run(&mut self) {
        let (d, p) = (self.part.d, self.part.p);
        let rows = self.part.count + p.window_y - 1;
        // SAFETY: a barrier lies between each write of shared memory and the reads by other threads.
        unsafe {
            if !self.part.inside {
                self.part.list(BOX_STRIP, LANES);
            }
            self.clear();
            d.barrier();
            let mut row = 0;
            while row < BOX_STRIP_AHEAD * p.one {
                self.bring(row, row, rows);
                row += p.one;
            }
            let (mut row, mut slots) = (0, [0, BOX_STRIP_AHEAD]);
            let mut at = self.dst + (self.part.first_row as u64 * p.out_width as u64 + self.column as u64) * 4;
            while row < rows {
                self.step::<0>(row, rows, &mut slots, &mut at);
                row += 1;
                if row < rows {
                    self.step::<1>(row, rows, &mut slots, &mut at);
                }
                row += 1;
            }
            d.barrier();
            if rows.is_multiple_of(2) {
                self.store::<1>(at);
            } else {
                self.store::<0>(at);
            }
        }
    }

    /// Clears the sums before the first pixels of chunks.
    #[inline(always)]
    unsafe fn clear(&self) {
        let mut word = self.part.d.thread_x();
        while word < Sums::<LARGE>::PITCH / 4 {
            // SAFETY: one of the first `PITCH` bytes of the sums, which no thread uses before the next barrier.
            unsafe {
                self.part.d.shared_store(self.sums::<u32>(0, 0), word, 0);
                self.part.d.shared_store(self.sums::<u32>(1, 0), word, 0);
            }
            word += LANES;
        }
    }

    /// Returns the prefix sums at an offset in bytes; two rows of sums alternate.
    #[inline(always)]
    fn sums<T>(&self, parity: u32, place: u32) -> Shared<T> {
        Shared::at(self.part.p.tile.sums_at + parity * (BOX_BYTES + 1) * Sums::<LARGE>::PITCH + place)
    }

    /// Returns the ring's row in a slot.
    #[inline(always)]
    fn ring(&self, slot: u32) -> Shared<u32> {
        Shared::at(self.part.p.tile.ring_at + slot * BOX_STRIP * 4)
    }

    /// Returns the second copy of the row that leaves the window when the row in `slot` enters it; only if rows are
    /// copied again.
    #[inline(always)]
    fn again(&self, slot: u32) -> Shared<u32> {
        Shared::at(self.part.p.tile.totals_at + slot * BOX_STRIP * 4)
    }

    /// Starts copying input row `row` of the block into a slot, if `row` is below `rows`. If rows are copied again,
    /// copies also the row that leaves the window when this one enters.
    #[inline(always)]
    unsafe fn bring(&self, row: u32, slot: u32, rows: u32) {
        let p = self.part.p;
        // SAFETY: no thread uses the slots before the next barrier.
        unsafe {
            if row < rows {
                self.bring_row(row, self.ring(slot));
                if p.tile.totals_at > 0 && row >= p.window_y {
                    self.bring_row(row - p.window_y, self.again(slot));
                }
            }
        }
        self.part.d.end_copies();
    }

    #[inline(always)]
    unsafe fn bring_row(&self, row: u32, to: Shared<u32>) {
        let (d, p, lane) = (self.part.d, self.part.p, self.part.d.thread_x());
        let y = self.part.top + row as i32;
        let inside = y >= 0 && y < p.height as i32;
        let y = if inside { Some(y) } else { BorderMode::from_u32(p.border).map(y, p.height as i32) };
        let row = y.map(|y| Global::<u32>::at(self.src + y as u32 as u64 * p.row_stride as u64));
        // SAFETY: the pixels are in the image, and each place of the ring's row is written by one lane.
        unsafe {
            match row {
                Some(row) if self.pieces => {
                    let (place, from) = (swizzled(lane) * PIECE, (self.part.left as u32 + lane * PIECE) as u64);
                    // The swizzle repeats every 16 pieces, so that it is the same for both halves of the row.
                    d.start_copy4(to, place, row, from);
                    d.start_copy4(to, place + LANES * PIECE, row, from + (LANES * PIECE) as u64);
                }
                _ => {
                    let mut x = lane;
                    while x < BOX_STRIP {
                        let place = swizzled(x / PIECE) * PIECE + x % PIECE;
                        let column = if self.part.inside {
                            Some((self.part.left + x as i32) as u32)
                        } else {
                            self.part.column(x)
                        };
                        match (row, column) {
                            (Some(row), Some(column)) => d.start_copy(to, place, row, column as u64),
                            _ => d.shared_store(to, place, p.constant as u32 * 0x0101_0101),
                        }
                        x += LANES;
                    }
                }
            }
        }
    }

    /// Adds an input row to the windows, and stores the outputs of the previous row. `slots` are the slots of this row
    /// and of the next row to copy.
    #[inline(always)]
    unsafe fn step<const PARITY: u32>(&mut self, row: u32, rows: u32, slots: &mut [u32; 2], at: &mut u64) {
        let (d, p) = (self.part.d, self.part.p);
        let next = |slot: u32| if slot + 1 == p.tile.slots { 0 } else { slot + 1 };
        let [slot, free] = *slots;
        *slots = [next(slot), next(free)];
        // SAFETY: the row is complete when all threads have waited for their copies of it; no thread reads the free
        // slot any more.
        unsafe {
            d.wait_copies::<{ BOX_STRIP_AHEAD - 1 }>();
            d.barrier();
            self.bring(row + BOX_STRIP_AHEAD, free, rows);
            if row >= p.window_y {
                if PARITY == 0 {
                    self.store::<1>(*at);
                } else {
                    self.store::<0>(*at);
                }
                *at += p.out_width as u64 * 4;
                // In the ring, the row that leaves is in the slot after the free one.
                let leaves = if p.tile.totals_at > 0 { self.again(slot) } else { self.ring(slots[1]) };
                self.take::<true>(self.ring(slot), leaves);
            } else {
                self.take::<false>(self.ring(slot), self.ring(slot));
            }
            if row + 1 >= p.window_y {
                self.add_up(PARITY);
            }
        }
    }

    /// Returns this thread's pixels of a row in the ring.
    #[inline(always)]
    unsafe fn pixels(&self, row: Shared<u32>) -> [u32; CHUNK] {
        // SAFETY: in the ring.
        let ([a, b, c, d], [e, f, g, h]) =
            unsafe { (self.part.d.shared_load4(row, self.own[0]), self.part.d.shared_load4(row, self.own[1])) };
        [a, b, c, d, e, f, g, h]
    }

    /// Adds a row to the column sums; if `LEAVES`, subtracts the row that leaves the window.
    #[inline(always)]
    unsafe fn take<const LEAVES: bool>(&mut self, comes: Shared<u32>, leaves: Shared<u32>) {
        // SAFETY: both rows are complete.
        let (comes, leaves) = unsafe { (self.pixels(comes), if LEAVES { self.pixels(leaves) } else { [0; CHUNK] }) };
        let odd = |word: u32| self.part.d.pick::<0x4341>(word, 0);
        for k in 0..CHUNK {
            let [even_sum, odd_sum] = self.columns[k];
            self.columns[k] = [
                even_sum.wrapping_add(comes[k] & 0x00ff_00ff).wrapping_sub(leaves[k] & 0x00ff_00ff),
                odd_sum.wrapping_add(odd(comes[k])).wrapping_sub(odd(leaves[k])),
            ];
        }
    }

    /// Stores the prefix sums of this thread's column sums in shared memory.
    #[inline(always)]
    unsafe fn add_up(&self, parity: u32) {
        let mut sum = [0; 4];
        let mut place = Sums::<LARGE>::place(self.part.d.thread_x() * BOX_BYTES);
        for k in 0..CHUNK {
            sum = added(sum, self.column_sums(k));
            place += Sums::<LARGE>::PITCH;
            // SAFETY: only this thread writes the sums of its chunk.
            unsafe { self.store_sum(self.sums(parity, place), sum) };
        }
    }

    /// Returns the sums of this thread's column `k`: packed, or if `LARGE` one word per byte.
    #[inline(always)]
    fn column_sums(&self, k: usize) -> Four {
        let [even, odd] = self.columns[k];
        if LARGE {
            [even & 0xffff, odd & 0xffff, even >> 16, odd >> 16]
        } else {
            [even, odd, 0, 0]
        }
    }

    #[inline(always)]
    unsafe fn store_sum(&self, at: Shared<u32>, sum: Four) {
        // SAFETY: the caller's promise.
        unsafe {
            if LARGE {
                self.part.d.shared_store4(at, 0, sum);
            } else {
                self.part.d.shared_store(Shared::at(at.offset), 0, sum[0] as u64 | (sum[1] as u64) << 32);
            }
        }
    }

    #[inline(always)]
    unsafe fn load_sum(&self, at: Shared<u32>) -> Four {
        // SAFETY: the caller's promise.
        unsafe {
            if LARGE {
                self.part.d.shared_load4(at, 0)
            } else {
                let [even, odd] = self.part.d.shared_load2(at, 0);
                [even, odd, 0, 0]
            }
        }
    }

    /// Stores a row of outputs at address `at`.
    #[inline(always)]
    unsafe fn store<const PARITY: u32>(&self, at: u64) {
        let (d, p, dst) = (self.part.d, self.part.p, Global::<u32>::at(at));
        if !self.stored {
            return;
        }
        // SAFETY: the sums are complete since the barrier; only this thread stores the outputs of its pixels.
        unsafe {
            let chunk = |count: u32| {
                let place = Sums::<LARGE>::place((d.thread_x() + count) * BOX_BYTES) + BOX_BYTES * Sums::<LARGE>::PITCH;
                self.load_sum(self.sums(PARITY, place))
            };
            let own = chunk(0);
            let mut near = if LARGE { [ONES.to_bits(); 4] } else { [0; 4] };
            let mut count = 0;
            // Four are read before any is added.
            while count + 4 <= self.between {
                let (a, b, c, e) = (chunk(count), chunk(count + 1), chunk(count + 2), chunk(count + 3));
                near = added(added(near, a), added(added(b, c), e));
                count += 4 * p.one;
            }
            while count < self.between {
                near = added(near, chunk(count));
                count += p.one;
            }
            let far = added(near, chunk(self.between));
            let mut words = [0; CHUNK];
            for k in 0..CHUNK {
                let low = self.load_sum(self.sums(PARITY, self.low[k]));
                let high = self.load_sum(self.sums(PARITY, self.high[k]));
                let mut middle = if k as u32 >= self.turns[1] { far } else { near };
                // A strip starts up to 3 pixels before its first window.
                if k + 3 >= CHUNK && k as u32 >= self.turns[0] {
                    middle = taken(middle, own);
                }
                words[k] = self.output(taken(added(high, middle), low));
            }
            if self.wide && self.column + BOX_BYTES <= p.out_width {
                let [a, b, c, e, f, g, h, i] = words;
                d.store4(dst, 0, [a, b, c, e]);
                d.store4(dst, 4, [f, g, h, i]);
            } else {
                for k in 0..CHUNK {
                    if self.column + (k as u32) < p.out_width {
                        d.store(dst, k as u64, words[k]);
                    }
                }
            }
        }
    }

    /// Returns the output pixel of a window's sums. If `LARGE`, the sums are bits of f32 numbers: 2^23 plus the sum.
    #[inline(always)]
    fn output(&self, sums: Four) -> u32 {
        let d = self.part.d;
        if LARGE {
            let byte = |bits: u32| d.fma(f32::from_bits(bits) - ONES, self.part.p.scale, ONES).to_bits();
            let (low, high) =
                (d.pick::<0x40>(byte(sums[0]), byte(sums[1])), d.pick::<0x40>(byte(sums[2]), byte(sums[3])));
            return d.pick::<0x5410>(low, high);
        }
        // The output is the highest byte of the product, rounded by adding half of its unit.
        let byte = |sum: u32| sum.wrapping_mul(self.factor).wrapping_add(1 << 23);
        let [even, odd, ..] = sums;
        let low = d.pick::<0x73>(byte(even & 0xffff), byte(odd & 0xffff));
        let high = d.pick::<0x73>(byte(even >> 16), byte(odd >> 16));
        d.pick::<0x5410>(low, high)
    }
}

#[inline(always)]
fn added(a: Four, b: Four) -> Four {
    [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1]), a[2].wrapping_add(b[2]), a[3].wrapping_add(b[3])]
}

#[inline(always)]
fn taken(a: Four, b: Four) -> Four {
    [a[0].wrapping_sub(b[0]), a[1].wrapping_sub(b[1]), a[2].wrapping_sub(b[2]), a[3].wrapping_sub(b[3])]
}
