//! 256-bin histograms of bytes, with one column of counters per lane of a warp.
//!
//! ```text
//! zero the block's counters; barrier
//! each thread, striding by the whole grid: read 4 x 16 bytes, for each byte
//!     increment counter (bin, own lane)                                      (atomically)
//! barrier; sum each bin's counters into the block's row in global memory
//! ```
//!
//! All counters of a lane are in one bank of shared memory, which no other lane uses: the increments of a warp take one
//! pass, whatever the bytes. (With one histogram per warp, random bytes take 3.15 passes.) 32 KiB of shared memory per
//! channel. Per byte: 1/16 of a global load, one shared atomic; two barriers per block.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{HistogramPartialParams, BYTE_BINS, COLUMNS_BLOCK, HISTOGRAM_COLUMNS, WORDS_AT_ONCE};

/// The kernel, for `C` channels counted separately: writes `C * 256` counts to row `block` of its output.
///
/// Launch contract: the input holds `bytes` bytes and is aligned to 16, the output has one row per block, the shared
/// memory is as in the kernel table, the number of blocks is a multiple of the number of channels, and no block
/// counts 2^32 bytes or more.
pub struct Columns<const C: u32>;

/// Loads of 16 bytes that a thread has in flight.
const AT_ONCE: u64 = 4;

impl<const C: u32> Body for Columns<C> {
    type Src = u8;
    type Dst = u32;
    type Params = HistogramPartialParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, partials: Global<u32>, p: &HistogramPartialParams) {
        let counters = Shared::<u32>::at(0);
        let thread = d.thread_x();
        // SAFETY: no thread has accessed the counters.
        unsafe { zero::<D, C>(d, thread) };
        d.barrier();

        let lane = thread % HISTOGRAM_COLUMNS;
        let packed = Global::<u32>::at(src.address);
        let stride = d.blocks_x() as u64 * COLUMNS_BLOCK as u64;
        let first = d.block_x() as u64 * COLUMNS_BLOCK as u64 + thread as u64;
        // One channel for all loads of a thread, since their distance is a multiple of the number of channels.
        let channel = if C == 3 { (first % 3) as u32 } else { 0 };
        let sixteens = p.bytes / 16;
        let mut at = first;
        // SAFETY: at + 3 * stride is below the number of sixteens; every byte has a counter in its channel.
        unsafe {
            while at + (AT_ONCE - 1) * stride < sixteens {
                let a = d.load_words(packed, at * WORDS_AT_ONCE);
                let b = d.load_words(packed, (at + stride) * WORDS_AT_ONCE);
                let c = d.load_words(packed, (at + 2 * stride) * WORDS_AT_ONCE);
                let e = d.load_words(packed, (at + 3 * stride) * WORDS_AT_ONCE);
                add::<D, C>(d, lane, channel, a);
                add::<D, C>(d, lane, channel, b);
                add::<D, C>(d, lane, channel, c);
                add::<D, C>(d, lane, channel, e);
                at += AT_ONCE * stride;
            }
            while at < sixteens {
                add::<D, C>(d, lane, channel, d.load_words(packed, at * WORDS_AT_ONCE));
                at += stride;
            }
        }
        // SAFETY: the input holds `bytes` bytes.
        unsafe { add_tail::<D, C>(d, lane, src, p.bytes, first) };
        d.barrier();

        let mut bin = thread;
        while bin < C * BYTE_BINS {
            let mut sum = 0;
            for column in 0..HISTOGRAM_COLUMNS {
                // Each thread of a warp starts at a different column, against bank conflicts.
                let column = (column + bin) % HISTOGRAM_COLUMNS;
                // SAFETY: bin and column are those of a counter; no thread changes counters after the barrier.
                sum += unsafe { d.shared_load(counters, bin * HISTOGRAM_COLUMNS + column) };
            }
            let row = d.block_x() as u64 * (C * BYTE_BINS) as u64;
            // SAFETY: a row has `C * 256` counts; each bin belongs to one thread of the row's block.
            unsafe { d.store(partials, row + bin as u64, sum) };
            bin += COLUMNS_BLOCK;
        }
    }
}

/// Zeroes the thread's share of the block's counters.
#[inline(always)]
pub(super) unsafe fn zero<D: Device, const C: u32>(d: D, thread: u32) {
    let mut counter = thread;
    while counter < C * BYTE_BINS * HISTOGRAM_COLUMNS {
        // SAFETY: below the number of counters; one thread zeroes each.
        unsafe { d.shared_store(Shared::<u32>::at(0), counter, 0) };
        counter += COLUMNS_BLOCK;
    }
}

/// Returns a lane's column of counters of a channel: counter `bin` is element `bin * HISTOGRAM_COLUMNS`.
#[inline(always)]
fn column_of(channel: u32, lane: u32) -> Shared<u32> {
    Shared::at((channel * BYTE_BINS * HISTOGRAM_COLUMNS + lane) * 4)
}

/// Counts 16 samples, the first of `channel`.
#[inline(always)]
pub(super) unsafe fn add<D: Device, const C: u32>(d: D, lane: u32, channel: u32, words: [u32; 4]) {
    for w in 0..4 {
        for k in 0..4 {
            let mut channel = channel + (w * 4 + k) as u32 % C;
            if channel >= C {
                channel -= C;
            }
            let bin = words[w] >> (8 * k) & 0xff;
            // SAFETY: every byte has a counter in its channel.
            unsafe { d.shared_increment(column_of(channel, lane), bin * HISTOGRAM_COLUMNS) };
        }
    }
}

/// Counts, over all threads, the 0 to 15 bytes after the last whole group of 16; `first` is the thread's number in
/// the grid.
#[inline(always)]
pub(super) unsafe fn add_tail<D: Device, const C: u32>(d: D, lane: u32, src: Global<u8>, bytes: u64, first: u64) {
    let tail = bytes / 16 * 16 + first;
    if tail < bytes {
        let channel = (tail % C as u64) as u32;
        // SAFETY: tail < bytes; every byte has a counter in its channel.
        unsafe { d.shared_increment(column_of(channel, lane), d.load(src, tail) as u32 * HISTOGRAM_COLUMNS) };
    }
}
