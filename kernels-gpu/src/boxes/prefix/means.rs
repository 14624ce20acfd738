//! The sums of a strip: totals of chunks of rows and of warps, and the means of windows.

use super::{signs, Before, Means, Strip, Sums, Vector, BYTES, UNIT, WARP, WINDOWS_CHUNK, WORDS};
use crate::device::{Device, Global, Shared};
use apron_abi::{prefix_layout, Sample};

/// Bits of large sums beyond 32.
const BEYOND: u32 = 5;

impl<D: Device, I: Sample, const C: usize, const W: u32, const LARGE: bool> Strip<'_, D, I, Means<LARGE>, C, W> {
    /// Offset in shared memory of the totals of the warps, in bytes: behind the prefix sums.
    const TOTALS: u32 = prefix_layout(W, C as u32, Self::SIZE)[0];

    /// Adds the sums of a chunk of rows.
    #[inline(always)]
    pub(super) unsafe fn add_totals(&self, columns: &mut Sums, chunk: u32) {
        let (d, p, place) = (self.d, self.p, self.place);
        let totals = Global::<u32>::at(p.totals).of_image(d.image(), p.totals_step);
        let first = chunk as u64 * p.totals_pitch as u64 + (place.pixel * C as u32) as u64;
        // SAFETY: the caller's promise.
        unsafe {
            if self.plain {
                for k in 0..Self::SAMPLES / 4 {
                    let four = d.load_words(totals, first + 4 * k as u64);
                    for n in 0..4 {
                        columns[4 * k + n] = columns[4 * k + n].wrapping_add(four[n]);
                    }
                }
                return;
            }
            let constant = (p.constant & (u32::MAX >> (32 - 8 * Self::SIZE))) * WINDOWS_CHUNK;
            for k in 0..Self::SAMPLES {
                let (pixel, last) = (if place.alike { 0 } else { k / C }, Self::PIXELS as usize - 1);
                let sample = if place.backward { last - pixel } else { pixel } * C + k % C;
                let total = if place.constant { constant } else { d.load(totals, first + sample as u64) };
                columns[k] = columns[k].wrapping_add(total);
            }
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
    pub(super) unsafe fn with_warps(&self, mut before: Before<C>) -> Before<C> {
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

    /// Returns the means of the windows that start at this lane's pixels; `units` are those before its vector.
    #[inline(always)]
    pub(super) unsafe fn means(&self, prefixes: &Sums, units: u32) -> Vector {
        let (d, p) = (self.d, self.p);
        let from = Shared::<u32>::at(self.reader() * Self::PITCH * 4);
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
            means[k] = if Self::SIZE == 1 {
                let pair = |n: usize| d.pick_at(quotients[4 * k + n], quotients[4 * k + n + 1], p.bytes);
                d.pick::<0x5410>(pair(0), pair(2))
            } else {
                d.pick_at(quotients[2 * k], quotients[2 * k + 1], p.bytes) ^ signs::<I>()
            };
        }
        means
    }
}
