//! Equalisation tables for the histograms of bytes: one block per channel, one thread per value.
//!
//! ```text
//! copy the channel's counts to shared memory; barrier
//! each thread sums the counts up to its value, and all counts, and writes its value's entry
//! ```
//!
//! 2 KiB of shared memory, one barrier; 256 shared loads per thread, all broadcasts, whose only cost is the delay of
//! the next launch.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{equalized, EqualizeParams, BYTE_BINS};

/// The kernel: block `c` writes the 256 entries of channel `c`'s table.
///
/// Launch contract: the input holds 256 counts per channel, not all 0, the output 256 bytes per channel, the grid has
/// `channels` blocks, and the shared memory is as in the kernel table.
pub struct Equalize;

impl Body for Equalize {
    type Src = u64;
    type Dst = u8;
    type Params = EqualizeParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, counts: Global<u64>, table: Global<u8>, p: &EqualizeParams) {
        let (own, value) = (Shared::<u64>::at(0), d.thread_x());
        let entry = (d.block_x().min(p.channels - 1) * BYTE_BINS + value) as u64;
        // SAFETY: the block has 256 threads, one per count of the channel and per place in shared memory.
        unsafe { d.shared_store(own, value, d.load(counts, entry)) };
        d.barrier();

        let (mut all, mut below, mut least, mut of_least) = (0u64, 0u64, BYTE_BINS, 0u64);
        let mut other = 0;
        // Not unrolled, since the unrolled loop would spill registers.
        while other < d.anew(BYTE_BINS) {
            // SAFETY: `other` is below 256; no thread changes the counts after the barrier.
            let count = unsafe { d.shared_load(own, other) };
            if least == BYTE_BINS && count > 0 {
                (least, of_least) = (other, count);
            }
            all += count;
            if other <= value {
                below += count;
            }
            other += 1;
        }
        let below = below.saturating_sub(of_least);
        // SAFETY: the table has 256 entries per channel, one per thread of the channel's block.
        unsafe { d.store(table, entry, equalized(value, least, below, all - of_least)) };
    }
}
