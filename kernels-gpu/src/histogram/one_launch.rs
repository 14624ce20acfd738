//! 256-bin histograms of bytes in one launch, for images so small that a second one is much of the time.
//!
//! ```text
//! start reading 2 x 16 bytes; zero the block's counters; barrier
//! each thread, striding by the whole grid: for each byte of 16
//!     increment counter (bin, own lane), two more reads on their way         (atomically)
//! barrier; sum each bin's counters, and add that, and that a block is done,
//!     to the bin's total in global memory                                    (atomically)
//! who was the last to add to a total writes it to the output, and takes it away again
//! ```
//!
//! Counters are those of [`Columns`](super::Columns). A total tells by itself how many blocks have added to
//! it, so no thread waits for another block, and nothing but the total must be visible to anyone: of what
//! a block does behind its counting, one addition's way to the L2 cache and back is waited for. The totals
//! are 0 before the launch and behind it.
//!
//! 32 KiB of shared memory a channel. Per byte: 1/16 of a global load, one shared atomic; a block: two
//! barriers, a global atomic a bin.

use super::columns::{add, add_tail, zero};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{
    total_of, HistogramTotalsParams, BYTE_BINS, COLUMNS_BLOCK, HISTOGRAM_COLUMNS, TOTAL_BITS, WORDS_AT_ONCE,
};

/// The kernel, for `C` channels counted apart: writes `C * 256` counts.
///
/// Launch contract: the input holds `bytes` bytes, below 2^48, and is aligned to 16; the totals, at
/// [`total_of`] each bin, are 0, and no other launch that runs adds to them; the shared memory is what the
/// kernel table says, the number of blocks is a multiple of the channels and below 2^16, and no block counts
/// 2^32 bytes or more.
pub struct OneLaunch<const C: u32>;

impl<const C: u32> Body for OneLaunch<C> {
    type Src = u8;
    type Dst = u64;
    type Params = HistogramTotalsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, counts: Global<u64>, p: &HistogramTotalsParams) {
        let packed = Global::<u32>::at(src.address);
        let thread = d.thread_x();
        let stride = d.blocks_x() as u64 * COLUMNS_BLOCK as u64;
        let first = d.block_x() as u64 * COLUMNS_BLOCK as u64 + thread as u64;
        let sixteens = p.bytes / 16;
        let read = |at: u64| {
            if at < sixteens {
                // SAFETY: inside the input.
                unsafe { d.load_words(packed, at * WORDS_AT_ONCE) }
            } else {
                [0; 4]
            }
        };
        let (mut now, mut next) = (read(first), read(first + stride));
        // SAFETY: nobody has accessed the counters.
        unsafe { zero::<D, C>(d, thread) };
        d.barrier();

        let lane = thread % HISTOGRAM_COLUMNS;
        // The same for all that a thread reads: their distance is a multiple of the channels.
        let channel = if C == 3 { (first % 3) as u32 } else { 0 };
        let mut at = first;
        while at < sixteens {
            let after = read(at + 2 * stride);
            // SAFETY: a byte's counter is among its channel's.
            unsafe { add::<D, C>(d, lane, channel, now) };
            (now, next) = (next, after);
            at += stride;
        }
        // SAFETY: the input holds so many bytes.
        unsafe { add_tail::<D, C>(d, lane, src, p.bytes, first) };
        d.barrier();

        // No block has fewer threads than bins.
        let bin = thread;
        if bin < C * BYTE_BINS {
            // SAFETY: nobody changes the counters any more; the total is inside the totals, and the count, a
            // thread's of all, inside the output.
            unsafe {
                let counted = (1 << TOTAL_BITS) + sum(d, bin) as u64;
                let totals = Global::<u64>::at(p.totals);
                let before = d.atomic_add(totals, total_of(bin), counted);
                if before >> TOTAL_BITS == d.blocks_x() as u64 - 1 {
                    let total = before + counted;
                    d.store(counts, bin as u64, total & ((1 << TOTAL_BITS) - 1));
                    d.atomic_add(totals, total_of(bin), total.wrapping_neg());
                }
            }
        }
    }
}

/// The sum of a bin's counters.
#[inline(always)]
unsafe fn sum<D: Device>(d: D, bin: u32) -> u32 {
    let mut sum = 0;
    let mut column = 0;
    while column < HISTOGRAM_COLUMNS {
        // Each thread starts at another four, so that no two of eight meet in a bank.
        let fours = (column ^ (bin * 4)) % HISTOGRAM_COLUMNS;
        // SAFETY: inside the counters, which nobody changes any more.
        let [a, b, c, e] = unsafe { d.shared_load4(Shared::<u32>::at(0), bin * HISTOGRAM_COLUMNS + fours) };
        sum += a + b + c + e;
        column += 4;
    }
    sum
}
