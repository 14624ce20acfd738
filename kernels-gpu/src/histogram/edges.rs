//! Histograms of f32, and of 16-bit integers, between edges, in one launch, with as many columns of counters as shared
//! memory holds.
//!
//! ```text
//! start loading 4 x 16 bytes; zero the block's counters, copy the edges to shared memory; barrier
//! each thread, striding by the whole grid: for each sample, with four more loads in flight
//!     find its row, and increment counter (row, own column)                  (atomically)
//! barrier; sum each bin's counters, and add the sum to the bin's total in global memory (atomically)
//! the last thread to add to a total writes it to the output
//! ```
//!
//! Samples and edges are f32 numbers, so comparisons are exact: no bin depends on rounding. Arithmetic only finds the
//! edge to compare with ([`Nearest`]); if the spacing does not allow that, the edges are searched ([`Search`]).
//!
//! Samples outside the range have counters, too, which are never read: so all samples are processed alike, without a
//! branch.
//!
//! With 32 columns each lane has a column in a bank of its own: the increments of a warp take one pass, whatever the
//! samples. Per sample: 1/4 of a global load (1/8 for integers), one shared load (with `Search` one per doubling of the
//! number of bins), one shared atomic; two barriers per block, one global atomic per bin.

use super::channel_of;
use super::reads::{Count, Numbered, Reads};
use super::totals;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{channel_row, edge_rows, nearest_edge, HistogramEdgesParams, EDGES_BLOCK, WORDS_AT_ONCE};
use core::marker::PhantomData;

/// A way to find the row of counters of a sample.
pub trait Place {
    /// Returns the sample's row of counters, `bin + 1`; for NaN and samples outside the range, 0, `p.bins + 1` or
    /// `p.bins + 2`.
    ///
    /// # Safety
    /// Shared memory holds the edges, and no thread writes them any more: the lower edges of the bins, the first number
    /// above the range, infinity.
    unsafe fn row<D: Device>(d: D, edges: Shared<f32>, p: &HistogramEdgesParams, x: f32) -> u32;
}

/// Compares with the nearest edge: the sample is in the bin on one side of that edge or in the one on the other side.
///
/// Launch contract: for every sample of bin `b` the [nearest edge](nearest_edge) is `b` or `b + 1`, and for the end of
/// the range it is the last edge. It follows that a sample below the range gives the first edge or a number past all
/// edges; NaN gives a number past all edges.
pub struct Nearest;

impl Place for Nearest {
    #[inline(always)]
    unsafe fn row<D: Device>(d: D, edges: Shared<f32>, p: &HistogramEdgesParams, x: f32) -> u32 {
        let nearest = nearest_edge(x, p.low, p.per_unit, |a, b, c| d.fma(a, b, c)).min(p.bins + 1);
        // SAFETY: the last edge is number `bins + 1`.
        let below = x < unsafe { d.shared_load(edges, nearest) };
        nearest + !below as u32
    }
}

/// Binary search of the edges, however they are spaced.
pub struct Search;

impl Place for Search {
    #[inline(always)]
    unsafe fn row<D: Device>(d: D, edges: Shared<f32>, p: &HistogramEdgesParams, x: f32) -> u32 {
        // Lower and upper bound of the number of edges that are not above the sample.
        let (mut least, mut most) = (0, p.bins + 1);
        while least < most {
            let middle = (least + most) / 2;
            // SAFETY: `middle` is at most `bins`, and there are `bins + 2` edges.
            if x < unsafe { d.shared_load(edges, middle) } {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        least
    }
}

/// The kernel: writes `channels * bins` counts.
///
/// Launch contract: the input holds `samples` samples, fewer than 2^48, and is aligned to 16; the rounds distribute
/// its whole groups of 16 bytes; the taps are the edges as `Place::row` requires them; the totals are as
/// `totals::add` requires them; the shared memory is as in the kernel table; the number of blocks is a multiple of
/// the number of channels and below 2^16; and no block counts 2^32 samples or more.
pub struct Edges<P, T>(PhantomData<(P, T)>);

impl<P: Place, T: Numbered> Body for Edges<P, T> {
    type Src = T;
    type Dst = u64;
    type Params = HistogramEdgesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, counts: Global<u64>, p: &HistogramEdgesParams) {
        let (cells, thread) = (p.channels * p.bins, d.thread_x());
        let (first, threads) = (d.block_x() * EDGES_BLOCK + thread, d.blocks_x() * EDGES_BLOCK);
        let counters = edge_rows(p.bins, p.channels) * p.columns;
        let edges = Shared::<f32>::at(counters * 4);
        // SAFETY: the launch contract. One thread writes each counter and each edge.
        let reads = unsafe {
            let reads = Reads::start(d, src.address, first, threads, p.rounds);
            let mut counter = thread;
            while counter < counters {
                d.shared_store(Shared::<u32>::at(0), counter, 0);
                counter += EDGES_BLOCK;
            }
            let mut edge = thread;
            while edge < p.bins + 2 {
                d.shared_store(edges, edge, d.tap(edge));
                edge += EDGES_BLOCK;
            }
            reads
        };
        d.barrier();

        // The number of columns is a power of two.
        let column = thread & (p.columns - 1);
        let of = |sample: u64| {
            let channel = channel_of(sample, p.channels);
            Shared::<u32>::at((channel_row(p.bins, channel) * p.columns + column) * 4)
        };
        // The same channels for all loads of the thread, since their distance is a multiple of the number of channels.
        let (of_word, of_read) = (T::OF_WORD as u64, T::OF_WORD as u64 * WORDS_AT_ONCE);
        let own_of =
            |sample: u64| [of(sample), of(sample + of_word), of(sample + 2 * of_word), of(sample + 3 * of_word)];
        let own = first as u64 * of_read;
        let own = Own::<P, T> { edges, counters: [own_of(own), own_of(own + 1)], p, of: PhantomData };
        // The samples after the last whole load.
        let tail = p.samples / of_read * of_read + first as u64;
        // SAFETY: the input holds `samples` samples; every row has a counter.
        unsafe {
            reads.count(d, own);
            if tail < p.samples {
                own.add(d, [of(tail)], [d.load(src, tail).number()]);
            }
        }
        d.barrier();

        let mut cell = thread;
        while cell < cells {
            // There are up to 4 channels. The first row of a channel counts samples below its bins.
            let channel = (1..4).map(|channel| (cell >= channel * p.bins) as u32).sum::<u32>();
            let row = channel_row(p.bins, channel) + 1 + (cell - channel * p.bins);
            // SAFETY: no thread changes the counters after the barrier; the totals are by the launch contract.
            unsafe { totals::add(d, Global::at(p.totals), counts, cell, cells, sum(d, row, p.columns)) };
            cell += EDGES_BLOCK;
        }
    }
}

/// Returns the sum of a row's counters.
#[inline(always)]
unsafe fn sum<D: Device>(d: D, row: u32, columns: u32) -> u32 {
    let counters = Shared::<u32>::at(0);
    let mut sum = 0;
    let mut column = 0;
    // SAFETY: the row has `columns` counters, which no thread changes after the barrier.
    unsafe {
        while column + 4 <= columns {
            // Threads of a warp start at different groups of four columns, so that few of them have bank conflicts.
            let fours = (column ^ (row * 4)) & (columns - 1);
            let [a, b, c, e] = d.shared_load4(counters, row * columns + fours);
            sum += a + b + c + e;
            column += 4;
        }
        while column < columns {
            sum += d.shared_load(counters, row * columns + column);
            column += 1;
        }
    }
    sum
}

/// A thread's parameters of counting.
struct Own<'a, P, T> {
    edges: Shared<f32>,
    /// The thread's counter in the first row of a sample's channel: for the first samples of the four words of a load,
    /// then for their second samples, if words have two.
    counters: [[Shared<u32>; 4]; 2],
    p: &'a HistogramEdgesParams,
    of: PhantomData<(P, T)>,
}

impl<P, T> Clone for Own<'_, P, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P, T> Copy for Own<'_, P, T> {}

impl<P: Place, T: Numbered> Count for Own<'_, P, T> {
    #[inline(always)]
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            self.add(d, self.counters[0], words.map(|word| T::of_word(word, 0)));
            if T::OF_WORD == 2 {
                self.add(d, self.counters[1], words.map(|word| T::of_word(word, 1)));
            }
        }
    }
}

impl<P: Place, T: Numbered> Own<'_, P, T> {
    /// Counts samples, each in the counters of its channel.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // an iterator over the array would keep it in local memory
    unsafe fn add<D: Device, const N: usize>(self, d: D, counters: [Shared<u32>; N], samples: [f32; N]) {
        // All rows are found before the first increment, so that the searches overlap.
        let mut rows = [0; N];
        for k in 0..N {
            // SAFETY: the caller's promise.
            rows[k] = unsafe { P::row(d, self.edges, self.p, samples[k]) };
        }
        for k in 0..N {
            // SAFETY: every row has a counter.
            unsafe { d.shared_increment(counters[k], rows[k].wrapping_mul(self.p.columns)) };
        }
    }
}
