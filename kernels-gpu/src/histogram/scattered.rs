//! Histograms of many bins, of f32 samples or of cell numbers, over all pixels or those that a mask selects. Threads
//! add to totals in global memory, except for the most frequent bins, which are counted in shared memory first.
//!
//! ```text
//! each thread: find the bin of one of its samples; its place in shared memory keeps the greatest bin   (atomically)
//! barrier
//! each thread, striding by the grid: for each sample, unless its pixel's byte of the mask is 0
//!     find its bin; if the bin's place keeps this bin, increment the place's counter              (atomically)
//!     otherwise add 1 to the bin's total                                                          (atomically)
//! barrier; add each counter to its bin's total                                                    (atomically)
//! ```
//!
//! The image is read once, whatever the number of bins. Per sample: one global load, one shared load of the place, one
//! shared or global atomic; if bins have unequal width, one load of an edge per doubling of their number, otherwise one
//! for samples next to an edge.
//!
//! The samples that select the kept bins are spread over all of the block's samples, so a bin with more than a small
//! part of them is almost always kept. Each block maps bins to places differently: two frequent bins that share a place
//! in one block have different places in most others.

use super::slices::bin_of;
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{Between, Element, HistogramScatterParams, SCATTER_BLOCK, SCATTER_KEPT};
use core::marker::PhantomData;

/// The kernel, with a mask or without.
///
/// Launch contract: the input holds `samples` samples, the mask one byte per pixel; the output holds `channels * bins`
/// totals, below 2^32 - 1, to which the counts are added; for f32 the taps are the least f32 in each bin, ascending.
/// The grid has one row of blocks and is a multiple of the channels, and `rounds` rounds of its threads, at least one,
/// cover the samples. If bins have equal width, the plan has proved the [spacing](apron_abi::Spacing::find). No block
/// counts 2^32 samples or more.
pub struct Scattered<T, const MASKED: bool>(PhantomData<T>);

/// A sample that has a bin, or the number of its bin.
pub trait Totalled: Element {
    /// Returns the number of the bin; `p.bins` or more for a sample in no bin.
    ///
    /// # Safety
    /// The launch is as [`Scattered`] requires it.
    unsafe fn bin<D: Device>(self, d: D, p: &HistogramScatterParams) -> u32;
}

impl Totalled for u32 {
    #[inline(always)]
    unsafe fn bin<D: Device>(self, _: D, _: &HistogramScatterParams) -> u32 {
        self
    }
}

impl Totalled for f32 {
    #[inline(always)]
    unsafe fn bin<D: Device>(self, d: D, p: &HistogramScatterParams) -> u32 {
        if p.spacing.per_unit == 0.0 {
            // SAFETY: the caller's promise.
            return unsafe { bin_of(d, self, 0, p.bins, p.spacing.last) };
        }
        match p.spacing.find(self, p.bins) {
            Between::Bin(bin) => bin,
            // SAFETY: the edge is the lower edge of one of the bins.
            Between::Edge(edge) => edge - (self < unsafe { d.tap(edge) }) as u32,
            Between::Outside => u32::MAX,
        }
    }
}

/// The total of the bin that each place keeps, plus 1; 0 if the place keeps none.
const KEPT: Shared<u32> = Shared::at(0);
/// The counters of the kept bins.
const COUNTERS: Shared<u32> = Shared::at(SCATTER_KEPT * 4);

impl<T: Totalled, const MASKED: bool> Body for Scattered<T, MASKED> {
    type Src = T;
    type Dst = u64;
    type Params = HistogramScatterParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, totals: Global<u64>, p: &HistogramScatterParams) {
        if d.block_y() > 0 {
            // A surplus row of blocks.
            return;
        }
        let mask = Global::<u8>::at(p.beside);
        let (own, threads) = (d.block_x() * SCATTER_BLOCK + d.thread_x(), d.blocks_x() * SCATTER_BLOCK);
        // The grid is a multiple of the channels: a thread counts one channel.
        // SAFETY: an image has at least one channel, and there is at least one round.
        let (channel, first_pixel, pixels, chosen) = unsafe {
            (
                div_rem(own, p.channels).1,
                div_rem(own, p.step).0,
                div_rem(threads, p.step).0,
                div_rem(own.wrapping_mul(0x9e37_79b1) >> 8, p.rounds).1,
            )
        };
        let first = channel * p.bins;
        // An odd factor per block, so that each block maps bins to places differently.
        let factor = (d.block_x() * 2 + 1).wrapping_mul(0x9e37_79b1);
        let place = |total: u32| total.wrapping_mul(factor) >> (32 - SCATTER_KEPT.ilog2());
        // Returns the index of the total to which a round's sample adds; `u32::MAX` if it is not counted.
        let total = |round: u32| {
            let (sample, pixel) =
                (own as u64 + round as u64 * threads as u64, first_pixel as u64 + round as u64 * pixels as u64);
            // SAFETY: the sample is below `samples`, and its pixel has a byte of the mask; the taps are by the launch
            // contract.
            unsafe {
                if sample < p.samples && (!MASKED || d.load(mask, pixel) != 0) {
                    let bin = d.load(src, sample).bin(d, p);
                    if bin < p.bins {
                        return first + bin;
                    }
                }
            }
            u32::MAX
        };
        let mut at = d.thread_x();
        while at < SCATTER_KEPT {
            // SAFETY: below the number of places; one thread zeroes each.
            unsafe {
                d.shared_store(KEPT, at, 0);
                d.shared_store(COUNTERS, at, 0);
            }
            at += SCATTER_BLOCK;
        }
        d.barrier();
        let one = total(chosen);
        if one != u32::MAX {
            // SAFETY: the factor's shift leaves a number below `SCATTER_KEPT`.
            unsafe { d.shared_max(KEPT, place(one), one + 1) };
        }
        d.barrier();

        let add = |total: u32| {
            if total == u32::MAX {
                return;
            }
            // SAFETY: as above; no thread changes the kept bins after the barrier; `total` is below `channels * bins`.
            unsafe {
                let place = place(total);
                if d.shared_load(KEPT, place) == total + 1 {
                    d.shared_increment(COUNTERS, place);
                } else {
                    d.atomic_add(totals, total as u64, 1);
                }
            }
        };
        let mut round = 0;
        // Four samples in flight: with one at a time, the thread would wait for each.
        while round + 4 <= p.rounds {
            let four = [total(round), total(round + 1), total(round + 2), total(round + 3)];
            for k in 0..4 {
                add(four[k]);
            }
            round += 4;
        }
        while round < p.rounds {
            add(total(round));
            round += 1;
        }
        d.barrier();

        let mut at = d.thread_x();
        while at < SCATTER_KEPT {
            // SAFETY: no thread changes the counters after the barrier; a kept bin has a total in the output.
            unsafe {
                let count = d.shared_load(COUNTERS, at);
                if count > 0 {
                    d.atomic_add(totals, (d.shared_load(KEPT, at) - 1) as u64, count as u64);
                }
            }
            at += SCATTER_BLOCK;
        }
    }
}
