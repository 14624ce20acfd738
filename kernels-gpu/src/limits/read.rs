//! Read bandwidth of global memory: each thread adds up its words, with four loads of 16 bytes in flight.
//!
//! ```text
//! each thread, striding by the whole grid: read 4 x 16 bytes, add their words to its sum
//! write the sum
//! ```
//!
//! Each thread writes its sum so that the compiler does not eliminate the loads.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{LimitsReadParams, LIMITS_BLOCK, READS_IN_FLIGHT, WORDS_AT_ONCE};

/// The kernel: element `i` of the output is the sum, modulo 2^32, of what thread `i` of the grid read.
///
/// Launch contract: the input holds `words` words, a multiple of 4, and is aligned to 16 bytes; the output has one
/// element per thread.
pub struct Read;

impl Body for Read {
    type Src = u32;
    type Dst = u32;
    type Params = LimitsReadParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u32>, dst: Global<u32>, p: &LimitsReadParams) {
        const BLOCK: u64 = LIMITS_BLOCK as u64;
        let (block, thread) = (d.block_x() as u64, d.thread_x() as u64);
        let reads = p.words / WORDS_AT_ONCE;
        // SAFETY: called for read < reads only.
        let sum_of = |read: u64| unsafe {
            let [a, b, c, e] = d.load_words(src, read * WORDS_AT_ONCE);
            a.wrapping_add(b).wrapping_add(c).wrapping_add(e)
        };
        let mut sum = 0u32;
        // A block's loads are adjacent.
        let mut read = block * READS_IN_FLIGHT * BLOCK + thread;
        while read + (READS_IN_FLIGHT - 1) * BLOCK < reads {
            let sums = [sum_of(read), sum_of(read + BLOCK), sum_of(read + 2 * BLOCK), sum_of(read + 3 * BLOCK)];
            sum = sums.into_iter().fold(sum, u32::wrapping_add);
            read += d.blocks_x() as u64 * READS_IN_FLIGHT * BLOCK;
        }
        // The loads left, fewer than a block's loads of one iteration, are all this block's.
        while read < reads {
            sum = sum.wrapping_add(sum_of(read));
            read += BLOCK;
        }
        // SAFETY: the output has one element per thread, at the thread's number.
        unsafe { d.store(dst, block * BLOCK + thread, sum) };
    }
}
