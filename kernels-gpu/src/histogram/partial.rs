//! P6: 256-bin histograms of bytes, several partial histograms per block, by atomics in shared memory.
//!
//! ```text
//! zero the block's partial histograms; barrier
//! each thread, striding by the whole grid: read a word, split it into 4 bytes,
//!     increment 4 bins of its group's partial histogram                      (atomically)
//! barrier; sum the groups' histograms into the block's row in global memory
//! ```
//!
//! 32 threads (a group) share a partial histogram, so that equal bytes contend for one counter less often. There are 8
//! rows of 256 bins, 8 KiB of shared memory: if channels are counted separately, a partial histogram takes one row per
//! channel, and there are fewer partial histograms. Per byte: a quarter of a global load, one shared atomic; two
//! barriers per block.
//!
//! Departures from the article: the last bytes of an input whose length is no multiple of 4 are counted; interleaved
//! channels.

use super::channel_of;
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{HistogramPartialParams, BYTE_BINS, GROUP_THREADS, PARTIAL_BLOCK, PARTIAL_ROWS};

/// The kernel: writes `channels * 256` counts to row `block` of its output.
///
/// Launch contract: the input holds `bytes` bytes and is aligned to 4, the output has one row per block, the shared
/// memory is as in the kernel table, the number of blocks is a multiple of the number of channels, and no block
/// counts 2^32 bytes or more.
pub struct Partial;

impl Body for Partial {
    type Src = u8;
    type Dst = u32;
    type Params = HistogramPartialParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, partials: Global<u32>, p: &HistogramPartialParams) {
        let rows = Shared::<u32>::at(0);
        let thread = d.thread_x();
        let mut counter = thread;
        while counter < PARTIAL_ROWS * BYTE_BINS {
            // SAFETY: below the number of counters; one thread zeroes each.
            unsafe { d.shared_store(rows, counter, 0) };
            counter += PARTIAL_BLOCK;
        }
        d.barrier();

        // SAFETY: there are 1 to 4 channels, and so at least 2 groups.
        let (groups, group) = unsafe {
            let groups = div_rem(PARTIAL_ROWS, p.channels).0;
            (groups, div_rem(thread / GROUP_THREADS, groups).1)
        };
        let own_row = group * p.channels;
        let words = p.bytes / 4;
        let stride = d.blocks_x() as u64 * PARTIAL_BLOCK as u64;
        let first = d.block_x() as u64 * PARTIAL_BLOCK as u64 + thread as u64;
        // The same channels for all words of the thread, since their distance is a multiple of the number of channels.
        let counters = |k: u64| Shared::<u32>::at((own_row + channel_of(first * 4 + k, p.channels)) * BYTE_BINS * 4);
        let word_counters = [counters(0), counters(1), counters(2), counters(3)];
        let packed = Global::<u32>::at(src.address);
        let mut word = first;
        while word < words {
            // SAFETY: word < bytes / 4; every byte has a counter in each row.
            unsafe { add_word(d, word_counters, d.load(packed, word)) };
            word += stride;
        }
        // The 0 to 3 bytes after the last whole word.
        let tail = words * 4 + first;
        if tail < p.bytes {
            let counters = Shared::<u32>::at((own_row + channel_of(tail, p.channels)) * BYTE_BINS * 4);
            // SAFETY: tail < bytes; as above.
            unsafe { d.shared_increment(counters, d.load(src, tail) as u32) };
        }
        d.barrier();

        let mut bin = thread;
        while bin < p.channels * BYTE_BINS {
            let mut sum = 0;
            for group in 0..groups {
                // SAFETY: group and bin are those of a counter; no thread changes counters after the barrier.
                sum += unsafe { d.shared_load(rows, group * p.channels * BYTE_BINS + bin) };
            }
            let row = d.block_x() as u64 * (p.channels * BYTE_BINS) as u64;
            // SAFETY: a row has `channels * 256` counts; each bin belongs to one thread of the row's block.
            unsafe { d.store(partials, row + bin as u64, sum) };
            bin += PARTIAL_BLOCK;
        }
    }
}

/// Splits a word into four samples, the first in its low byte, and counts each in its counters.
#[inline(always)]
unsafe fn add_word<D: Device>(d: D, [a, b, c, e]: [Shared<u32>; 4], word: u32) {
    // SAFETY: every byte has one of the row's 256 counters.
    unsafe {
        d.shared_increment(a, word & 0xff);
        d.shared_increment(b, word >> 8 & 0xff);
        d.shared_increment(c, word >> 16 & 0xff);
        d.shared_increment(e, word >> 24);
    }
}
