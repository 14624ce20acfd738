//! Histograms of samples whose cell is computed without a search, by slices of cells: 16-bit integers by value; 32-bit
//! integers by value in a range; f32 by the upper half of their order, or in bins of equal width. Those by all values and by
//! upper halves may count channels separately.
//!
//! ```text
//! start loading 4 x 16 bytes; zero the block's counters, one per cell of one slice; barrier
//! each thread, striding by the row of blocks: for each sample of a load
//!     if its cell is in the slice, increment its counter, with four more loads in flight         (atomically)
//! barrier; write the counters to the row's part of the output
//! ```
//!
//! A slice takes all of shared memory, so there are few slices. The rows of blocks of all slices run at the same time:
//! one of them reads the image from memory, the others from the L2 cache. Per sample and slice: 1/8 of a global load
//! (1/4 for f32), a few instructions, one shared atomic in one of the slices, and for an f32 next to an edge one load
//! of the edge; two barriers per block.

use super::channel_of;
use super::reads::{Count, Reads};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{order_of, Between, Element, HistogramValuesParams, SLICES_BLOCK, WORDS_AT_ONCE};
use core::marker::PhantomData;

/// A way to find the cell of a sample.
pub trait Placed {
    /// Type of the samples.
    type Sample: Element;
    /// Samples per word.
    const OF_WORD: usize;
    /// Whether channels may be counted separately.
    const APART: bool;

    /// Returns sample `k` of a word.
    fn of_word(word: u32, k: usize) -> Self::Sample;

    /// Returns the cell of a sample, relative to the slice; `first` is the first cell of its channel, relative to the
    /// slice. A result of at least the slice's length is a cell of another slice, or none.
    ///
    /// # Safety
    /// The launch's taps are as [`Values`] requires them.
    unsafe fn cell<D: Device>(d: D, p: &HistogramValuesParams, first: u32, sample: Self::Sample) -> u32;
}

/// Stands for no cell: beyond the end of any slice.
const NOWHERE: u32 = 1 << 31;

/// A cell per value of a 16-bit integer.
pub struct ByValue<T>(PhantomData<T>);

macro_rules! by_value {
    ($($type:ty),*) => {$(
        impl Placed for ByValue<$type> {
            type Sample = $type;
            const OF_WORD: usize = 2;
            const APART: bool = true;

            #[inline(always)]
            fn of_word(word: u32, k: usize) -> $type {
                (word >> (16 * k)) as $type
            }

            #[inline(always)]
            unsafe fn cell<D: Device>(_: D, _: &HistogramValuesParams, first: u32, sample: $type) -> u32 {
                first.wrapping_add((sample as i32 - <$type>::MIN as i32) as u32)
            }
        }
    )*};
}
by_value!(u16, i16);

/// A cell per integer of a range, for integers of 32 bits with or without a sign. The last cell takes the integer after the
/// range, too, as the last bin has both of its edges.
pub struct InRange;

impl Placed for InRange {
    type Sample = u32;
    const OF_WORD: usize = 1;
    const APART: bool = false;

    #[inline(always)]
    fn of_word(word: u32, _: usize) -> u32 {
        word
    }

    #[inline(always)]
    unsafe fn cell<D: Device>(_: D, p: &HistogramValuesParams, first: u32, sample: u32) -> u32 {
        // Integers below the range wrap to large numbers.
        let cell = sample.wrapping_sub(p.low);
        if cell > p.cells {
            return NOWHERE;
        }
        first.wrapping_add(if cell == p.cells { cell - 1 } else { cell })
    }
}

/// A cell per upper half of an f32's [order](order_of).
pub struct ByUpperHalf;

impl Placed for ByUpperHalf {
    type Sample = f32;
    const OF_WORD: usize = 1;
    const APART: bool = true;

    #[inline(always)]
    fn of_word(word: u32, _: usize) -> f32 {
        f32::from_bits(word)
    }

    #[inline(always)]
    unsafe fn cell<D: Device>(_: D, _: &HistogramValuesParams, first: u32, sample: f32) -> u32 {
        first.wrapping_add(order_of(sample) >> 16)
    }
}

/// A cell per bin of equal width: an edge is read only for samples next to it.
pub struct ByPlace;

impl Placed for ByPlace {
    type Sample = f32;
    const OF_WORD: usize = 1;
    // The first cells of several channels would take too many registers.
    const APART: bool = false;

    #[inline(always)]
    fn of_word(word: u32, _: usize) -> f32 {
        f32::from_bits(word)
    }

    #[inline(always)]
    unsafe fn cell<D: Device>(d: D, p: &HistogramValuesParams, first: u32, sample: f32) -> u32 {
        match p.spacing.find(sample, p.cells) {
            Between::Bin(bin) => first.wrapping_add(bin),
            Between::Edge(edge) => {
                let cell = first.wrapping_add(edge);
                // Neither the bin above the edge nor the one below is in the slice.
                if cell > p.slice {
                    return NOWHERE;
                }
                // SAFETY: the edge is the lower edge of one of the bins.
                cell.wrapping_sub((sample < unsafe { d.tap(edge) }) as u32)
            }
            Between::Outside => NOWHERE,
        }
    }
}

/// The kernel: block (`x`, `y`) writes the counts of slice `y` to row `x` of its output.
///
/// Launch contract: the input holds `samples` samples, below 2^48, and is aligned to 16; the rounds distribute the
/// whole loads over the threads of a row of blocks, whose number is a multiple of the number of channels; the output
/// has a row of `channels * cells` counts, below 2^30, for each column of blocks; there is one row of blocks per slice
/// of these; the shared memory holds a counter per cell of a slice, and no block counts 2^32 samples or more. For bins
/// of equal width the taps are the least f32 in each, and the plan has proved the [spacing](apron_abi::Spacing::find).
pub struct Values<P>(PhantomData<P>);

impl<P: Placed> Body for Values<P> {
    type Src = P::Sample;
    type Dst = u32;
    type Params = HistogramValuesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<P::Sample>, rows: Global<u32>, p: &HistogramValuesParams) {
        let counters = Shared::<u32>::at(0);
        let thread = d.thread_x();
        let channels = if P::APART { p.channels } else { 1 };
        let (cells, start) = (channels * p.cells, d.block_y() * p.slice);
        if start >= cells {
            // A surplus row of blocks: all of its threads leave.
            return;
        }
        let slice = (cells - start).min(p.slice);
        let (first, threads) = (d.block_x() * SLICES_BLOCK + thread, d.blocks_x() * SLICES_BLOCK);
        // SAFETY: the launch contract. One thread zeroes each counter.
        let reads = unsafe {
            let reads = Reads::start(d, src.address, first, threads, p.rounds);
            let mut counter = thread;
            while counter < slice {
                d.shared_store(counters, counter, 0);
                counter += SLICES_BLOCK;
            }
            reads
        };
        d.barrier();

        // First cell of a sample's channel, relative to the slice; negative numbers wrap to large ones.
        let of = |sample: u64| {
            let first = if P::APART { channel_of(sample, p.channels) * p.cells } else { 0 };
            first.wrapping_sub(start)
        };
        // The same channels for all loads of the thread, since their distance is a multiple of the number of channels.
        let of_read = P::OF_WORD as u64 * WORDS_AT_ONCE;
        let own = first as u64 * of_read;
        let own = Own::<P> { firsts: [of(own), of(own + 1), of(own + 2), of(own + 3)], p, of: PhantomData };
        // The samples after the last whole load are counted before the loop, which then needs fewer registers.
        let tail = p.samples / of_read * of_read + first as u64;
        // SAFETY: the input holds `samples` samples.
        unsafe {
            if tail < p.samples {
                own.add(d, [of(tail)], [d.load(src, tail)]);
            }
            reads.count(d, own);
        }
        d.barrier();

        let start = d.anew(start);
        let slice = (cells - start).min(p.slice);
        let row = d.block_x() as u64 * cells as u64 + start as u64;
        let mut counter = thread;
        while counter < slice {
            // SAFETY: the slice is part of row `x` of the output; no thread changes the counters after the barrier.
            unsafe { d.store(rows, row + counter as u64, d.shared_load(counters, counter)) };
            counter += SLICES_BLOCK;
        }
    }
}

/// A thread's parameters of counting.
struct Own<'a, P> {
    /// The first cell of the channel, relative to the slice, for the first four samples of a load.
    firsts: [u32; 4],
    p: &'a HistogramValuesParams,
    of: PhantomData<P>,
}

impl<P> Clone for Own<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Own<'_, P> {}

impl<P: Placed> Count for Own<'_, P> {
    #[inline(always)]
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            if P::OF_WORD == 1 {
                let [a, b, c, e] = words.map(|word| P::of_word(word, 0));
                self.add(d, [self.first(0), self.first(1)], [a, b]);
                return self.add(d, [self.first(2), self.first(3)], [c, e]);
            }
            for k in 0..8 {
                self.add(d, [self.first(k)], [P::of_word(words[k / 2], k % 2)]);
            }
        }
    }
}

impl<P: Placed> Own<'_, P> {
    /// Returns the first cell of the channel of sample `k` of a load.
    #[inline(always)]
    fn first(self, k: usize) -> u32 {
        match (k, self.p.channels) {
            (0..4, _) => self.firsts[k],
            (_, 3) => self.firsts[k - 3 * (k / 3)],
            _ => self.firsts[k % 4],
        }
    }

    /// Counts the samples that are in the slice.
    #[inline(always)]
    unsafe fn add<D: Device, const N: usize>(self, d: D, firsts: [u32; N], samples: [P::Sample; N]) {
        // All cells are found before the first increment, so that the samples do not wait for each other.
        let mut cells = [0; N];
        for k in 0..N {
            // SAFETY: the caller's promise.
            cells[k] = unsafe { P::cell(d, self.p, firsts[k], samples[k]) };
        }
        for k in 0..N {
            // The last slice may be shorter, but no sample has a cell beyond its end.
            if cells[k] < self.p.slice {
                // SAFETY: the slice has a counter for this cell.
                unsafe { d.shared_increment(Shared::<u32>::at(0), cells[k]) };
            }
        }
    }
}
