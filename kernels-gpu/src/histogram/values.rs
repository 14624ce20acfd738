//! Counts of 16-bit integers by value, for any number of separate channels: as [`Slices`](super::Slices), with one
//! cell per value.
//!
//! ```text
//! start loading 4 x 16 bytes; zero the block's counters, one per cell of one slice; barrier
//! each thread, striding by the row of blocks: for each sample of eight
//!     if its value is in the slice, increment its counter, with four more loads in flight        (atomically)
//! barrier; write the counters to the row's part of the output
//! ```
//!
//! 64 KiB of shared memory. Per sample and slice: 1/8 of a global load, four instructions, one shared atomic in one
//! of the slices; two barriers per block.

use super::channel_of;
use super::reads::{Count, Reads};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{Element, HistogramValuesParams, SLICES_BLOCK, SLICE_CELLS, WIDE_VALUES, WORDS_AT_ONCE};
use core::marker::PhantomData;

/// Samples per load.
const EIGHT: u64 = 2 * WORDS_AT_ONCE;

/// A type of samples with one cell per value.
pub trait Valued: Element {
    /// Returns the number of a value's cell.
    fn cell(self) -> u32;
    /// Returns the sample with these bits.
    fn of_bits(bits: u32) -> Self;
}

macro_rules! valued {
    ($($type:ty),*) => {$(
        impl Valued for $type {
            #[inline(always)]
            fn cell(self) -> u32 {
                (self as i32 - <$type>::MIN as i32) as u32
            }

            #[inline(always)]
            fn of_bits(bits: u32) -> $type {
                bits as $type
            }
        }
    )*};
}
valued!(u16, i16);

/// The kernel: block (`x`, `y`) writes the counts of slice `y` to row `x` of its output.
///
/// Launch contract: the input holds `samples` samples, below 2^48, and is aligned to 16; the rounds distribute the
/// whole groups of eight samples over the threads of a row of blocks, whose number is a multiple of the number of
/// channels; the output has a row of [`WIDE_VALUES`] counts per channel for each column of blocks; there is one row
/// of blocks per slice of these; the shared memory is as in the kernel table, and no block counts 2^32 samples or
/// more.
pub struct Values<T>(PhantomData<T>);

impl<T: Valued> Body for Values<T> {
    type Src = T;
    type Dst = u32;
    type Params = HistogramValuesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, rows: Global<u32>, p: &HistogramValuesParams) {
        let counters = Shared::<u32>::at(0);
        let thread = d.thread_x();
        let start = d.block_y() * SLICE_CELLS;
        let (first, threads) = (d.block_x() * SLICES_BLOCK + thread, d.blocks_x() * SLICES_BLOCK);
        // SAFETY: the launch contract. Each counter is one thread's.
        let reads = unsafe {
            let reads = Reads::start(d, src.address, first, threads, p.rounds);
            let mut counter = thread;
            while counter < SLICE_CELLS {
                d.shared_store(counters, counter, 0);
                counter += SLICES_BLOCK;
            }
            reads
        };
        d.barrier();

        // First cell of a sample's channel, relative to the slice: negative numbers wrap to large ones.
        let of = |sample: u64| (channel_of(sample, p.channels) * WIDE_VALUES).wrapping_sub(start);
        // The same for all loads of the thread: their distance is a multiple of the number of channels.
        let own = first as u64 * EIGHT;
        let own = Own::<T> {
            low: [of(own), of(own + 2), of(own + 4), of(own + 6)],
            high: [of(own + 1), of(own + 3), of(own + 5), of(own + 7)],
            of: PhantomData,
        };
        // The samples after the last whole group of eight.
        let tail = p.samples / EIGHT * EIGHT + first as u64;
        // SAFETY: the input holds `samples` samples.
        unsafe {
            reads.count(d, own);
            if tail < p.samples {
                add(d, of(tail), d.load(src, tail));
            }
        }
        d.barrier();

        let row = d.block_x() as u64 * (p.channels * WIDE_VALUES) as u64 + start as u64;
        let mut counter = thread;
        while counter < SLICE_CELLS {
            // SAFETY: inside the block's part of the row; no thread changes the counters any more.
            unsafe { d.store(rows, row + counter as u64, d.shared_load(counters, counter)) };
            counter += SLICES_BLOCK;
        }
    }
}

/// Counts a sample, if it is in the slice; `first` is the first cell of its channel, relative to the slice.
#[inline(always)]
unsafe fn add<D: Device, T: Valued>(d: D, first: u32, sample: T) {
    let place = first.wrapping_add(sample.cell());
    if place < SLICE_CELLS {
        // SAFETY: a counter of the slice.
        unsafe { d.shared_increment(Shared::<u32>::at(0), place) };
    }
}

/// What a thread needs to count: the first cell of the channel, for the lower and the upper sample of each of four
/// words.
struct Own<T> {
    low: [u32; 4],
    high: [u32; 4],
    of: PhantomData<T>,
}

impl<T> Clone for Own<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Own<T> {}

impl<T: Valued> Count for Own<T> {
    #[inline(always)]
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]) {
        for k in 0..4 {
            // SAFETY: the caller's promise.
            unsafe {
                add(d, self.low[k], T::of_bits(words[k]));
                add(d, self.high[k], T::of_bits(words[k] >> 16));
            }
        }
    }
}
