//! 256-bin histograms of bytes in one launch.
//!
//! ```text
//! start loading 4 x 16 bytes; zero the block's counters; barrier
//! each thread, striding by the whole grid: for each byte of 16
//!     increment counter (bin, own lane), with four more loads in flight      (atomically)
//! barrier; sum each bin's counters, and add the sum, and 1 to the number of finished blocks,
//!     to the bin's total in global memory                                    (atomically)
//! the last thread to add to a total writes it to the output, and resets it to 0
//! ```
//!
//! Counters are laid out as in [`Columns`](super::Columns). The totals are 0 before the launch and after it.
//!
//! 32 KiB of shared memory per channel. Per byte: 1/16 of a global load, one shared atomic; per block: two barriers,
//! one global atomic per bin.

use super::columns::{add, add_tail, zero};
use super::reads::{Count, Reads};
use super::totals;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{HistogramTotalsParams, BYTE_BINS, COLUMNS_BLOCK, HISTOGRAM_COLUMNS};

/// The kernel, for `C` channels counted separately: writes `C * 256` counts.
///
/// Launch contract: the input holds `bytes` bytes, below 2^48, and is aligned to 16; the rounds distribute its whole
/// groups of 16 bytes; the totals are as `totals::add` requires them; the shared memory is as in the kernel table,
/// the number of blocks is a multiple of the number of channels and below 2^16, and no block counts 2^32 bytes or
/// more.
pub struct OneLaunch<const C: u32>;

impl<const C: u32> Body for OneLaunch<C> {
    type Src = u8;
    type Dst = u64;
    type Params = HistogramTotalsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, counts: Global<u64>, p: &HistogramTotalsParams) {
        let thread = d.thread_x();
        let (first, threads) = (d.block_x() * COLUMNS_BLOCK + thread, d.blocks_x() * COLUMNS_BLOCK);
        // SAFETY: the launch contract. No thread accesses the counters before the barrier but to zero them.
        let reads = unsafe {
            let reads = Reads::start(d, src.address, first, threads, p.rounds);
            zero::<D, C>(d, thread);
            reads
        };
        d.barrier();

        // One channel for all loads of a thread, since their distance is a multiple of the number of channels.
        let own = Own::<C> { lane: thread % HISTOGRAM_COLUMNS, channel: if C == 3 { first % 3 } else { 0 } };
        // SAFETY: the input holds `bytes` bytes; every byte has a counter in its channel.
        unsafe {
            reads.count(d, own);
            add_tail::<D, C>(d, own.lane, src, p.bytes, first as u64);
        }
        d.barrier();

        // A block has at least one thread per bin.
        let bin = thread;
        if bin < C * BYTE_BINS {
            // SAFETY: no thread changes the counters after the barrier; the totals are by the launch contract.
            unsafe { totals::add(d, Global::at(p.totals), counts, bin, C * BYTE_BINS, sum(d, bin)) };
        }
    }
}

/// A thread's counters.
#[derive(Clone, Copy)]
struct Own<const C: u32> {
    lane: u32,
    /// Channel of the first byte of 16.
    channel: u32,
}

impl<const C: u32> Count for Own<C> {
    #[inline(always)]
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]) {
        // SAFETY: every byte has a counter in its channel.
        unsafe { add::<D, C>(d, self.lane, self.channel, words) };
    }
}

/// Returns the sum of a bin's counters.
#[inline(always)]
unsafe fn sum<D: Device>(d: D, bin: u32) -> u32 {
    let mut sum = 0;
    let mut column = 0;
    while column < HISTOGRAM_COLUMNS {
        // Threads start at different groups of four columns, so that eight threads have no bank conflicts.
        let fours = (column ^ (bin * 4)) % HISTOGRAM_COLUMNS;
        // SAFETY: the bin has 32 counters, which no thread changes after the barrier.
        let [a, b, c, e] = unsafe { d.shared_load4(Shared::<u32>::at(0), bin * HISTOGRAM_COLUMNS + fours) };
        sum += a + b + c + e;
        column += 4;
    }
    sum
}
