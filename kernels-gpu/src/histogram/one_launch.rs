//! 256-bin histograms of bytes in one launch.
//!
//! ```text
//! start reading 4 x 16 bytes; zero the block's counters; barrier
//! each thread, striding by the whole grid: for each byte of 16
//!     increment counter (bin, own lane), four more reads on their way        (atomically)
//! barrier; sum each bin's counters, and add that, and that a block is done,
//!     to the bin's total in global memory                                    (atomically)
//! who was the last to add to a total writes it to the output, and takes it away again
//! ```
//!
//! Counters are those of [`Columns`](super::Columns). The totals are 0 before the launch and behind it.
//!
//! 32 KiB of shared memory a channel. Per byte: 1/16 of a global load, one shared atomic; a block: two
//! barriers, a global atomic a bin.

use super::columns::{add, add_tail, zero};
use super::reads::{Count, Reads};
use super::totals;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{HistogramTotalsParams, BYTE_BINS, COLUMNS_BLOCK, HISTOGRAM_COLUMNS};

/// The kernel, for `C` channels counted apart: writes `C * 256` counts.
///
/// Launch contract: the input holds `bytes` bytes, below 2^48, and is aligned to 16; the rounds are those of its whole
/// sixteens; the totals are as `totals::add` wants them; the shared memory is what the kernel table says, the number
/// of blocks is a multiple of the channels and below 2^16, and no block counts 2^32 bytes or more.
pub struct OneLaunch<const C: u32>;

impl<const C: u32> Body for OneLaunch<C> {
    type Src = u8;
    type Dst = u64;
    type Params = HistogramTotalsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, counts: Global<u64>, p: &HistogramTotalsParams) {
        let thread = d.thread_x();
        let (first, threads) = (d.block_x() * COLUMNS_BLOCK + thread, d.blocks_x() * COLUMNS_BLOCK);
        // SAFETY: the launch contract's. Nobody has accessed the counters.
        let reads = unsafe {
            let reads = Reads::start(d, src.address, first, threads, p.rounds);
            zero::<D, C>(d, thread);
            reads
        };
        d.barrier();

        // The channel is the same for all that a thread reads: their distance is a multiple of the channels.
        let own = Own::<C> { lane: thread % HISTOGRAM_COLUMNS, channel: if C == 3 { first % 3 } else { 0 } };
        // SAFETY: the input holds so many bytes; a byte's counter is among its channel's.
        unsafe {
            reads.count(d, own);
            add_tail::<D, C>(d, own.lane, src, p.bytes, first as u64);
        }
        d.barrier();

        // No block has fewer threads than bins.
        let bin = thread;
        if bin < C * BYTE_BINS {
            // SAFETY: nobody changes the counters any more; the launch contract's.
            unsafe { totals::add(d, Global::at(p.totals), counts, bin, C * BYTE_BINS, sum(d, bin)) };
        }
    }
}

/// A thread's counters.
#[derive(Clone, Copy)]
struct Own<const C: u32> {
    lane: u32,
    /// Of the first byte of 16.
    channel: u32,
}

impl<const C: u32> Count for Own<C> {
    #[inline(always)]
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]) {
        // SAFETY: a byte's counter is among its channel's.
        unsafe { add::<D, C>(d, self.lane, self.channel, words) };
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
