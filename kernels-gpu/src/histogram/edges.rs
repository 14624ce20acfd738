//! Histograms of f32 between edges, with as many columns of counters as shared memory holds.
//!
//! ```text
//! copy the edges to shared memory, zero the block's counters; barrier
//! each thread, striding by the whole grid: read 4 x 16 bytes, for each sample in the range
//!     find its bin, and increment counter (bin, own column)                  (atomically)
//! barrier; sum each bin's counters into the block's row in global memory
//! ```
//!
//! An edge is an f32, so that comparing a sample with it is exact: no bin depends on rounding. What
//! arithmetic tells is only which edge to compare with ([`Nearest`]); where it cannot tell that, edges
//! are searched ([`Search`]).
//!
//! With 32 columns a lane has its own, all in one bank of shared memory: whatever the samples are, the
//! increments of a warp take one pass. Per sample: 1/4 of a global load, one shared load (of `Search` one
//! for each doubling of the bins), one shared atomic; two barriers a block.

use super::channel_of;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{nearest_edge, HistogramEdgesParams, EDGES_BLOCK, WORDS_AT_ONCE};
use core::marker::PhantomData;

/// A way to find the bin of a sample.
pub trait Place {
    /// The number of the last of the edges up to `x`, which lies in the range.
    ///
    /// # Safety
    /// The edges are in shared memory, `p.bins` and one more, which nobody writes any more.
    unsafe fn bin<D: Device>(d: D, edges: Shared<f32>, p: &HistogramEdgesParams, x: f32) -> u32;
}

/// Compares with the nearest edge: the sample belongs to the bin on one side of it or on the other.
///
/// Launch contract: for every sample of bin `b` the [nearest edge](nearest_edge) is `b` or `b + 1`.
pub struct Nearest;

impl Place for Nearest {
    #[inline(always)]
    unsafe fn bin<D: Device>(d: D, edges: Shared<f32>, p: &HistogramEdgesParams, x: f32) -> u32 {
        let nearest = nearest_edge(x, p.low, p.per_unit, |a, b, c| d.fma(a, b, c));
        // SAFETY: by the launch contract an edge.
        let edge = unsafe { d.shared_load(edges, nearest) };
        // Wrapping, here and below: behind a fault the emulator reads zeros, and goes on to report it.
        nearest.wrapping_sub((x < edge) as u32)
    }
}

/// Halves the edges until one is left, wherever they are.
pub struct Search;

impl Place for Search {
    #[inline(always)]
    unsafe fn bin<D: Device>(d: D, edges: Shared<f32>, p: &HistogramEdgesParams, x: f32) -> u32 {
        // The sample lies from the first on, and below the second: the last edge stands for infinity.
        let (mut from, mut below) = (0, p.bins);
        while below - from > 1 {
            let middle = (from + below) / 2;
            // SAFETY: an edge between two others.
            if x < unsafe { d.shared_load(edges, middle) } {
                below = middle;
            } else {
                from = middle;
            }
        }
        from
    }
}

/// The kernel: writes `channels * bins` counts to row `block` of its output.
///
/// Launch contract: the input holds `samples` samples and is aligned to 16; the taps are the edges,
/// rising, `bins` and infinity for the last, so that what lies on the range's end falls below it; the
/// output has a row for each block, the shared memory is what the kernel table says, the number of blocks
/// is a multiple of the channels, and no block counts 2^32 samples or more.
pub struct Edges<P>(PhantomData<P>);

/// Loads of 16 bytes that a thread has in flight.
const AT_ONCE: u64 = 4;

impl<P: Place> Body for Edges<P> {
    type Src = f32;
    type Dst = u32;
    type Params = HistogramEdgesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, partials: Global<u32>, p: &HistogramEdgesParams) {
        let (edges, counters) = (Shared::<f32>::at(0), Shared::<u32>::at((p.bins + 1) * 4));
        let (cells, thread) = (p.channels * p.bins, d.thread_x());
        let mut edge = thread;
        while edge <= p.bins {
            // SAFETY: one of the edges, in their place; an edge is one thread's.
            unsafe { d.shared_store(edges, edge, d.tap(edge)) };
            edge += EDGES_BLOCK;
        }
        let mut counter = thread;
        while counter < cells * p.columns {
            // SAFETY: inside the counters; a counter is one thread's.
            unsafe { d.shared_store(counters, counter, 0) };
            counter += EDGES_BLOCK;
        }
        d.barrier();

        let packed = Global::<u32>::at(src.address);
        let stride = d.blocks_x() as u64 * EDGES_BLOCK as u64;
        let first = d.block_x() as u64 * EDGES_BLOCK as u64 + thread as u64;
        // By which a remainder is taken: the columns are a power of two.
        let last_column = p.columns - 1;
        let own = |sample: u64| {
            let column = channel_of(sample, p.channels) * p.bins * p.columns + (thread & last_column);
            Shared::<u32>::at(counters.offset + column * 4)
        };
        // The same for all that the thread reads: its distance is a multiple of the channels.
        let own_four = [own(first * 4), own(first * 4 + 1), own(first * 4 + 2), own(first * 4 + 3)];
        let fours = p.samples / WORDS_AT_ONCE;
        let mut at = first;
        // SAFETY: at + 3 * stride is below the number of fours; the counters are those of their channels.
        unsafe {
            while at + (AT_ONCE - 1) * stride < fours {
                let a = d.load_words(packed, at * WORDS_AT_ONCE);
                let b = d.load_words(packed, (at + stride) * WORDS_AT_ONCE);
                let c = d.load_words(packed, (at + 2 * stride) * WORDS_AT_ONCE);
                let e = d.load_words(packed, (at + 3 * stride) * WORDS_AT_ONCE);
                add_four::<D, P>(d, edges, own_four, p, a);
                add_four::<D, P>(d, edges, own_four, p, b);
                add_four::<D, P>(d, edges, own_four, p, c);
                add_four::<D, P>(d, edges, own_four, p, e);
                at += AT_ONCE * stride;
            }
            while at < fours {
                add_four::<D, P>(d, edges, own_four, p, d.load_words(packed, at * WORDS_AT_ONCE));
                at += stride;
            }
        }
        // The 0 to 3 samples behind the last whole four.
        let tail = fours * WORDS_AT_ONCE + first;
        if tail < p.samples {
            // SAFETY: tail < samples; as above.
            unsafe { add::<D, P>(d, edges, own(tail), p, d.load(src, tail)) };
        }
        d.barrier();

        let mut cell = thread;
        while cell < cells {
            // Once around the columns. Each thread starts at another, so that few of a warp meet in a bank.
            let start = cell & last_column;
            let (mut sum, mut column) = (0, start);
            loop {
                // SAFETY: inside the counters, which nobody changes any more.
                sum += unsafe { d.shared_load(counters, cell * p.columns + column) };
                column = (column + 1) & last_column;
                if column == start {
                    break;
                }
            }
            let row = d.block_x() as u64 * cells as u64;
            // SAFETY: inside the block's row; a cell is one thread's.
            unsafe { d.store(partials, row + cell as u64, sum) };
            cell += EDGES_BLOCK;
        }
    }
}

/// Counts four samples, each among the counters of its channel.
#[inline(always)]
unsafe fn add_four<D: Device, P: Place>(
    d: D,
    edges: Shared<f32>,
    [a, b, c, e]: [Shared<u32>; 4],
    p: &HistogramEdgesParams,
    words: [u32; 4],
) {
    let [x, y, z, w] = words.map(f32::from_bits);
    // SAFETY: the caller's promise.
    unsafe {
        add::<D, P>(d, edges, a, p, x);
        add::<D, P>(d, edges, b, p, y);
        add::<D, P>(d, edges, c, p, z);
        add::<D, P>(d, edges, e, p, w);
    }
}

/// Counts a sample, if it is in the range, among the counters of its channel.
#[inline(always)]
unsafe fn add<D: Device, P: Place>(d: D, edges: Shared<f32>, own: Shared<u32>, p: &HistogramEdgesParams, x: f32) {
    // False for NaN.
    if x >= p.low && x <= p.high {
        // SAFETY: a bin's counter is among its channel's.
        unsafe { d.shared_increment(own, P::bin(d, edges, p, x).wrapping_mul(p.columns)) };
    }
}
