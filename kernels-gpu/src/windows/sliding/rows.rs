//! Windows along the rows of column sums, and the outputs of a step.

use super::{Block, Finish};
use crate::device::{Device, Shared};
use crate::samples::WARP;
use crate::windows::outputs::{store, store_some};
use crate::windows::quads::QUAD;
use crate::windows::terms::Whole;
use apron_abi::{ElementType, Sample, WINDOWS_BLOCK, WINDOWS_TOGETHER};

impl<D: Device, I: Sample, W: Whole, F: Finish<W, TERMS>, const TERMS: usize> Block<'_, D, I, W, F, TERMS> {
    /// Adds up sums `first` to `end - 1`.
    #[inline(always)]
    unsafe fn sum(&self, from: Shared<W>, mut first: u32, end: u32) -> W {
        let mut sum = W::of(0);
        // SAFETY: the row has these column sums; no thread writes them in this phase.
        let load = |k: u32| unsafe { self.d.shared_load(from, k) };
        while first + 4 <= end {
            let (a, b, c, e) = (load(first), load(first + 1), load(first + 2), load(first + 3));
            sum = sum.plus(a.plus(b)).plus(c.plus(e));
            first += 4;
        }
        while first < end {
            sum = sum.plus(load(first));
            first += 1;
        }
        sum
    }

    /// Returns the sum of the first window in this lane's segment, whose sums are at `from`.
    #[inline(always)]
    unsafe fn first_window(&self, from: Shared<W>, lane: u32) -> W {
        let (d, p) = (self.d, self.p);
        let [whole, rest] = p.tile.window;
        // SAFETY: as above; all lanes of the warp are here.
        unsafe {
            let near = self.sum(from, 0, rest);
            if whole == 0 {
                return near;
            }
            let own = near.plus(self.sum(from, rest, p.tile.segment));
            let mut sum = own;
            for step in 0..5 {
                let lanes = p.tile.channels << step;
                let below = sum.shuffle_up(d, lanes);
                sum = if lane >= lanes { sum.plus(below) } else { sum };
            }
            let before = sum.minus(own);
            before.plus(near).shuffle(d, (lane + whole * p.tile.channels) % WARP).minus(before)
        }
    }

    /// Returns the address of the strip's first output in row `row`.
    #[inline(always)]
    fn to(&self, row: u32) -> u64 {
        let pixel = row as u64 * self.p.out_width as u64 + self.first as u64;
        self.dst + (pixel * self.p.channels as u64 + self.channel as u64) * self.p.out_bytes as u64
    }

    /// Returns the samples of row `row` that precede the strip's outputs in their first aligned quad.
    #[inline(always)]
    fn out_lead(&self, row: u32) -> u32 {
        match self.p.tile.channels == self.p.channels {
            // Outputs have 1, 2 or 4 bytes: the shift divides by that.
            true => (self.to(row) as u32 >> (self.p.out_bytes / 2)) % QUAD as u32,
            false => 0,
        }
    }

    /// Computes the windows of this lane's segment in row `slot` of a step.
    #[inline(always)]
    pub(super) unsafe fn windows(&self, row: u32, slot: u32) {
        let (d, p) = (self.d, self.p);
        let lane = self.thread() % WARP;
        let (segment, channel) = self.split(lane);
        let idle = segment >= self.split(WARP).0;
        let pixel = if idle { 0 } else { segment * p.tile.segment };
        let end = if idle || pixel >= self.strip { 0 } else { self.strip - pixel };
        let end = if end < p.tile.segment { end } else { p.tile.segment };
        let of_plane = channel * p.tile.plane + pixel;
        let [lead, out_lead] = if p.tile.channels == 1 { [self.lead, self.out_lead(row)] } else { [0; 2] };
        // SAFETY: no thread writes the column sums in this phase; each lane writes the outputs of its segment.
        unsafe {
            let (mut leaves, mut sums) = ([Shared::<W>::at(0); TERMS], [W::of(0); TERMS]);
            for t in 0..TERMS {
                leaves[t] = Shared::at(self.columns(slot, t).offset + (of_plane + lead) * Self::SUM);
                sums[t] = self.first_window(leaves[t], lane);
            }
            let outputs = Shared::<u32>::at(self.outputs(slot).offset + (of_plane + out_lead) * 4);
            let enters = leaves.map(|leaves| Shared::<W>::at(leaves.offset + d.anew(p.window_x) * Self::SUM));
            let slide = |sums: &mut [W; TERMS], pixel: u32| {
                for t in 0..TERMS {
                    let enters: W = d.shared_load(enters[t], pixel);
                    sums[t] = sums[t].plus(enters).minus(d.shared_load(leaves[t], pixel));
                }
            };
            // Segments have an odd number of pixels: the last pixel of the last quad belongs to the next lane.
            let put = |k: u32, last: bool, output: u32| {
                if !last || k < p.tile.segment {
                    d.shared_store(outputs, k, output);
                }
            };
            let mut from = 0;
            if TERMS == 1 && p.multiplier != 0 {
                sums[0] = sums[0].plus(W::of(p.bias));
                while from < end {
                    for k in 0..WINDOWS_TOGETHER {
                        let output = ((sums[0].low() as u64 * p.multiplier as u64) >> 32) as u32 >> p.shift;
                        slide(&mut sums, from + k);
                        put(from + k, k + 1 == WINDOWS_TOGETHER, output);
                    }
                    from += WINDOWS_TOGETHER;
                }
                return;
            }
            while from < end {
                let mut four = [sums; QUAD];
                for k in 0..QUAD {
                    four[k] = sums;
                    slide(&mut sums, from + k as u32);
                }
                let bits = F::finish(d, four, I::TYPE == ElementType::I16 || Self::CENTRE > 0, p);
                for k in 0..QUAD {
                    put(from + k as u32, k + 1 == QUAD, bits[k]);
                }
                from += QUAD as u32;
            }
        }
    }

    /// Stores the outputs of `rows` rows of a step, from row `slot` of the step, row `row` of the output, on. All these
    /// rows start at the same place in an aligned quad.
    #[inline(always)]
    pub(super) unsafe fn store(&self, row: u32, slot: u32, rows: u32) {
        let (d, p) = (self.d, self.p);
        // Opaque, like the thread's number.
        let channels = d.anew(p.channels);
        let (samples, lead) = (self.strip * p.tile.channels, self.out_lead(row));
        // Outputs of one of several channels are not adjacent.
        let pitch = if p.tile.channels == channels { 1 } else { channels };
        let next = p.out_width as u64 * (channels * p.out_bytes) as u64;
        let mut quad = self.thread();
        while quad * (QUAD as u32) < samples + lead {
            let (own, first) = (quad * QUAD as u32, (quad * QUAD as u32) as i32 - lead as i32);
            let (skip, left) = (if first < 0 { lead } else { 0 }, (samples as i32 - first) as u32);
            let whole = skip == 0 && left >= QUAD as u32 && pitch == 1;
            let mut to = self.to(row).wrapping_add((first as i64 * (pitch * p.out_bytes) as i64) as u64);
            let mut from = self.outputs(slot);
            let places = match p.tile.channels {
                1 => [own, own + 1, own + 2, own + 3],
                _ => self.places(first),
            };
            // Opaque, so that the loop is not unrolled.
            for _ in 0..d.anew(rows) {
                // SAFETY: no thread writes outputs in shared memory in this phase; each quad is stored by one thread.
                unsafe {
                    if whole {
                        let bits = match p.tile.channels {
                            1 => d.shared_load4(from, own),
                            _ => places.map(|place| d.shared_load(from, place)),
                        };
                        store(d, to, bits, p);
                    } else {
                        let mut bits = [0; QUAD];
                        for k in 0..QUAD {
                            if skip <= k as u32 && (k as u32) < left {
                                bits[k] = d.shared_load(from, places[k]);
                            }
                        }
                        store_some(d, to, [skip, left], pitch, bits, p);
                    }
                }
                to += next;
                from = Shared::at(from.offset + p.tile.outputs * 4);
            }
            quad += WINDOWS_BLOCK;
        }
    }
}
