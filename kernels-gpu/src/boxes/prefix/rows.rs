//! Prefix sums along a row of column sums, the means of its windows, and their stores.

use super::vectors::{Image, Vector, BYTES, WORDS};
use super::{Before, Strip, Sums};
use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use apron_abi::{prefix_layout, Sample};

/// Large sums are estimated in units of this number.
pub(super) const UNIT: u32 = 1 << 12;
/// Bits of large sums beyond 32.
const BEYOND: u32 = 5;

impl<D: Device, I: Sample, const C: usize, const W: u32, const LARGE: bool> Strip<'_, D, I, C, W, LARGE> {
    /// Threads per block.
    const THREADS: u32 = W * WARP;
    /// Pitch of the vectors' prefix sums, in words: odd, against bank conflicts.
    const PITCH: u32 = Self::SAMPLES as u32 + 1;
    /// Offsets in shared memory, in bytes: the totals of the warps, and the means, behind the prefix sums.
    const TOTALS: u32 = prefix_layout(W, C as u32, Self::SIZE)[0];
    const MEANS: u32 = prefix_layout(W, C as u32, Self::SIZE)[1];

    /// Clears the word before the means, which is read where an output row begins in the middle of a word.
    #[inline(always)]
    pub(super) unsafe fn clear_before_means(&self) {
        if self.d.thread_x() == 0 {
            // SAFETY: the word is inside the shared memory, and read only behind a barrier.
            unsafe { self.d.shared_store(Shared::at(Self::MEANS - 4), 0, 0u32) };
        }
    }

    /// Stores the totals of the warp, which its last lane has.
    #[inline(always)]
    pub(super) unsafe fn put_totals(&self, sums: &[u32; C], units: u32) {
        let thread = self.thread();
        if W > 1 && thread % WARP == WARP - 1 {
            let to = Shared::at(Self::TOTALS + thread / WARP * 4);
            // SAFETY: only this lane writes them.
            unsafe {
                for c in 0..C {
                    self.d.shared_store(to, c as u32 * W, sums[c]);
                }
                if LARGE {
                    self.d.shared_store(to, C as u32 * W, units);
                }
            }
        }
    }

    /// Adds the totals of the warps before this one.
    #[inline(always)]
    unsafe fn with_warps(&self, mut before: Before<C>) -> Before<C> {
        if W == 1 {
            return before;
        }
        let (d, thread) = (self.d, self.thread());
        let (lane, warp) = (thread % WARP, thread / WARP);
        // A lane per warp and channel, and per warp for the units.
        let lanes = W * (C as u32 + if LARGE { 1 } else { 0 });
        let mut total = 0;
        if lane < lanes {
            // SAFETY: the totals are complete behind the barrier.
            total = unsafe { d.shared_load(Shared::<u32>::at(Self::TOTALS), lane) };
        }
        let (mut sum, mut below) = (total, 1);
        while below < W {
            let lower = d.shuffle_up(sum, below);
            sum = sum.wrapping_add(if lane % W >= below { lower } else { 0 });
            below *= 2;
        }
        let of = |c: usize| d.shuffle(sum.wrapping_sub(total), c as u32 * W + warp);
        for c in 0..C {
            before.sums[c] = before.sums[c].wrapping_add(of(c));
        }
        if LARGE {
            before.units += of(C);
        }
        before
    }

    /// Stores and returns the prefix sum before each of this lane's samples, per channel, and the units before its
    /// vector. `before` are those of the warp.
    #[inline(always)]
    pub(super) unsafe fn put_prefixes(&self, columns: &Sums, before: Before<C>) -> (Sums, u32) {
        let d = self.d;
        let to = Shared::at(self.thread() * Self::PITCH * 4);
        let mut prefixes = [0; BYTES];
        // SAFETY: only this lane writes the `PITCH` words from its first on.
        unsafe {
            let Before { sums: mut next, units } = self.with_warps(before);
            for k in 0..Self::SAMPLES {
                d.shared_store(to, k as u32, next[k % C]);
                prefixes[k] = next[k % C];
                next[k % C] = next[k % C].wrapping_add(columns[k]);
            }
            if LARGE {
                // In the padding.
                d.shared_store(to, Self::SAMPLES as u32, units);
            }
            (prefixes, units)
        }
    }

    /// Returns the means of the windows that start at this lane's pixels; `units` are those before its vector.
    #[inline(always)]
    pub(super) unsafe fn means(&self, prefixes: &Sums, units: u32) -> Vector {
        let (d, p, vector) = (self.d, self.p, self.thread());
        // Lanes without windows compute those of the strip's first lane again, so that all ends are in the strip.
        let reader = if vector * (Self::PIXELS as u32) < self.lead + self.outputs { vector } else { 0 };
        let from = Shared::<u32>::at(reader * Self::PITCH * 4);
        let samples = Self::SAMPLES as u32;
        let mut sums = [0u32; BYTES];
        for k in 0..Self::SAMPLES {
            // Pixel by pixel, so that samples of a pixel share an address.
            let (end, channel) = ((k / C) as u32 + p.window_x, (k % C) as u32);
            let place = end * C as u32 + end / Self::PIXELS as u32 + channel;
            // SAFETY: the windows of a lane with outputs end in the strip, whose prefix sums are complete.
            let sum: u32 = unsafe { d.shared_load(from, place) };
            sums[k] = sum.wrapping_sub(prefixes[k]).wrapping_add(p.bias);
        }
        // The upper bits of a large sum, which take the place of all of it in the multiplication.
        let mut uppers = sums;
        if LARGE {
            let end = p.window_x / samples * Self::PITCH + samples;
            // SAFETY: as above.
            let units = unsafe { d.shared_load(from, end) }.wrapping_sub(units);
            let estimate = units as u64 * UNIT as u64;
            for k in 0..Self::SAMPLES {
                // The sum is less than 2^31 beside the estimate: less than two vectors, and a unit per vector.
                let beside = sums[k].wrapping_sub(estimate as u32) as i32;
                uppers[k] = (estimate.wrapping_add(beside as i64 as u64) >> BEYOND) as u32;
            }
        }
        let mut quotients = uppers.map(|upper| d.multiply_high(upper, p.multiplier));
        // Packed on each path, so that the quotients take no registers after the branch.
        if !LARGE && p.corrected == 0 {
            return self.packed(&quotients);
        }
        for k in 0..Self::SAMPLES {
            let mut quotient = quotients[k] >> p.shift;
            let mut rest = sums[k].wrapping_sub(quotient.wrapping_mul(p.count));
            if rest >= p.count {
                (quotient, rest) = (quotient + 1, rest - p.count);
            }
            // Halfway between two integers: the even one.
            quotients[k] = if rest == 0 { quotient & !p.halves } else { quotient };
        }
        self.packed(&quotients)
    }

    /// Packs the means, which are bytes of the quotients.
    #[inline(always)]
    fn packed(&self, quotients: &Sums) -> Vector {
        let (d, p, mut means) = (self.d, self.p, [0; WORDS]);
        for k in 0..WORDS {
            means[k] = if Self::OF_BYTES {
                let pair = |n: usize| d.pick_at(quotients[4 * k + n], quotients[4 * k + n + 1], p.bytes);
                d.pick::<0x5410>(pair(0), pair(2))
            } else {
                d.pick_at(quotients[2 * k], quotients[2 * k + 1], p.bytes) ^ Image::<D, I>::SIGNS
            };
        }
        means
    }

    /// Puts this lane's means into shared memory.
    #[inline(always)]
    pub(super) unsafe fn put_means(&self, means: Vector) {
        let to = Shared::at(Self::MEANS + self.thread() * BYTES as u32);
        // SAFETY: only this lane writes its 16 bytes of the means.
        unsafe { self.d.shared_store4(to, 0, means) };
    }

    /// Stores the means of row `row` of the output, by aligned words.
    #[inline(always)]
    pub(super) unsafe fn store(&self, row: u32) {
        let (d, p) = (self.d, self.p);
        let thread = self.thread();
        let (outputs, pitch) = (self.outputs * Self::PIXEL, p.out_width * Self::PIXEL);
        let (start, means) = (self.dst + row as u64 * pitch as u64, Self::MEANS + self.lead * Self::PIXEL);
        // SAFETY: the words read are means of this row, or in the room for a vector before them; each output word is
        // stored by one lane.
        unsafe {
            if (self.dst as u32 | pitch | outputs).is_multiple_of(4) {
                let (from, shift) = (Shared::at((means & !3) + thread * 4), means % 4 * 8);
                let to = Global::<u32>::at(start + thread as u64 * 4);
                for n in 0..WORDS as u32 {
                    let before = n * Self::THREADS * 4;
                    if outputs > before && thread * 4 < outputs - before {
                        d.store(to, (n * Self::THREADS) as u64, self.four(from, n * Self::THREADS, shift));
                    }
                }
            } else {
                self.store_unaligned(start, means, outputs);
            }
        }
    }

    /// Stores `outputs` bytes of means at any address: as words, and the samples at both ends one by one.
    #[inline(always)]
    unsafe fn store_unaligned(&self, address: u64, means: u32, outputs: u32) {
        let d = self.d;
        // Bytes of the first word before the first output.
        let before = address as u32 % 4;
        let to = Global::<u32>::at(address - before as u64);
        let from = means - before;
        let (from, shift) = (Shared::at(from & !3), from % 4 * 8);
        let mut word = d.thread_x();
        while word * 4 < before + outputs {
            // SAFETY: as in [`store`](Self::store).
            unsafe {
                let bytes = self.four(from, word, shift);
                if word * 4 >= before && word * 4 + 4 <= before + outputs {
                    d.store(to, word as u64, bytes);
                } else {
                    for k in 0..4 / Self::SIZE {
                        let byte = word * 4 + k * Self::SIZE;
                        if byte >= before && byte < before + outputs {
                            let bits = bytes >> (8 * k * Self::SIZE);
                            let at = (byte / Self::SIZE) as u64;
                            match Self::OF_BYTES {
                                true => d.store(Global::<u8>::at(to.address), at, bits as u8),
                                false => d.store(Global::<u16>::at(to.address), at, bits as u16),
                            }
                        }
                    }
                }
            }
            word += Self::THREADS;
        }
    }

    /// Returns the four bytes of shared memory that start `shift` bits into word `word`.
    #[inline(always)]
    unsafe fn four(&self, from: Shared<u32>, word: u32, shift: u32) -> u32 {
        // SAFETY: the caller's promise.
        let [low, high] = [0, 1].map(|next| unsafe { self.d.shared_load(from, word + next) } as u64);
        ((low | high << 32) >> shift) as u32
    }
}
