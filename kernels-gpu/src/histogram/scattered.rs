//! Counts of f32 samples in many bins, of all pixels or of the pixels that a mask selects: each thread adds to the totals in
//! global memory.
//!
//! ```text
//! each thread, striding by the grid: for each sample, unless its pixel's byte of the mask is 0
//!     find its bin; while it is that of the thread's last sample, count in a register
//!     otherwise add the count to the total of the last bin   (atomically)
//! barrier; add the last counts: adjacent threads with the same bin by one atomic
//! ```
//!
//! The image is read once, however many bins there are. Per sample: one global load, one load of an edge (where the bins are
//! of unequal width, one per doubling of their number), at most one global atomic. A thread's counts in registers keep images
//! of few values from adding to few totals.

use super::slices::bin_of;
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{nearest_edge, HistogramScatterParams, SCATTER_BLOCK};

/// The kernel, with a mask or without.
///
/// Launch contract: the input holds `samples` samples, the mask one byte per pixel; the output holds `channels * bins` totals,
/// to which the counts are added; the taps are the least f32 in each bin, ascending. The grid has one row of blocks and is a
/// multiple of the channels, and `rounds` rounds of its threads cover the samples. Where
/// `per_unit` is not 0, the [nearest edge](nearest_edge) of every sample of bin `b` is `b` or `b + 1`.
pub struct Scattered<const MASKED: bool>;

/// A run of samples in one bin: the bin, and their number.
type Run = (u32, u32);

impl<const MASKED: bool> Body for Scattered<MASKED> {
    type Src = f32;
    type Dst = u64;
    type Params = HistogramScatterParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, totals: Global<u64>, p: &HistogramScatterParams) {
        if d.block_y() > 0 {
            // A surplus row of blocks.
            return;
        }
        let mask = Global::<u8>::at(p.beside);
        let (thread, threads) = (d.block_x() * SCATTER_BLOCK + d.thread_x(), d.blocks_x() * SCATTER_BLOCK);
        // The grid is a multiple of the channels: a thread counts one channel.
        // SAFETY: an image has at least one channel.
        let (channel, first_pixel, pixels) =
            unsafe { (div_rem(thread, p.channels).1, div_rem(thread, p.step).0, div_rem(threads, p.step).0) };
        let first = channel * p.bins;
        let (mut sample, mut pixel) = (thread as u64, first_pixel as u64);
        let mut run: Run = (0, 0);
        let mut round = 0;
        while round < p.rounds {
            // SAFETY: samples of the input, each with a byte of the mask; the taps are as in the launch contract.
            unsafe {
                if sample < p.samples && (!MASKED || d.load(mask, pixel) != 0) {
                    let bin = bin(d, d.load(src, sample), p);
                    if bin != run.0 {
                        add(d, totals, first, run, p);
                        run = (bin, 0);
                    }
                    run.1 += 1;
                }
            }
            sample += threads as u64;
            pixel += pixels as u64;
            round += 1;
        }
        // SAFETY: as above; all threads of the block are here.
        unsafe { add_of_block(d, totals, first, run, p) };
    }
}

/// Returns the bin of a sample; `u32::MAX` for none.
#[inline(always)]
unsafe fn bin<D: Device>(d: D, sample: f32, p: &HistogramScatterParams) -> u32 {
    if p.per_unit == 0.0 {
        // SAFETY: the caller's promise.
        return unsafe { bin_of(d, sample, 0, p.bins, p.last) };
    }
    // The comparison is false for NaN.
    if !(sample >= p.low && sample <= p.last) {
        return u32::MAX;
    }
    let nearest = nearest_edge(sample, p.low, p.per_unit, |a, b, c| d.fma(a, b, c));
    // SAFETY: a bin's lower edge.
    let below = nearest >= p.bins || sample < unsafe { d.tap(nearest) };
    nearest - below as u32
}

/// Adds a run to the total of its bin.
#[inline(always)]
unsafe fn add<D: Device>(d: D, totals: Global<u64>, first: u32, (bin, count): Run, p: &HistogramScatterParams) {
    if count > 0 && bin < p.bins {
        // SAFETY: a total of the output.
        unsafe { d.atomic_add(totals, (first + bin) as u64, count as u64) };
    }
}

/// Adds the last runs of a block: those of adjacent threads in one bin at once, so that an image of one value costs one atomic
/// per block.
#[inline(always)]
unsafe fn add_of_block<D: Device>(
    d: D,
    totals: Global<u64>,
    first: u32,
    (bin, count): Run,
    p: &HistogramScatterParams,
) {
    let (places, counts) = (Shared::<u32>::at(0), Shared::<u32>::at(SCATTER_BLOCK * 4));
    let thread = d.thread_x();
    let place = if count > 0 && bin < p.bins { first + bin } else { u32::MAX };
    // SAFETY: each thread has its own elements, which no thread writes after the barrier; a total of the output.
    unsafe {
        d.shared_store(places, thread, place);
        d.shared_store(counts, thread, count);
        d.barrier();
        if place == u32::MAX || thread > 0 && d.shared_load(places, thread - 1) == place {
            return;
        }
        let mut sum = count as u64;
        let mut other = thread + 1;
        while other < SCATTER_BLOCK && d.shared_load(places, other) == place {
            sum += d.shared_load(counts, other) as u64;
            other += 1;
        }
        d.atomic_add(totals, place as u64, sum);
    }
}
