//! P7: one block per bin sums that bin over the partial histograms, by a tree in shared memory.
//!
//! ```text
//! thread t: sum of rows t, t + 256, ...  -> shared[t]; barrier
//! active = 128, 64, .. 1: threads below active add shared[t + active] to shared[t]; barrier
//! thread 0 writes shared[0]
//! ```
//!
//! Per bin: one global load per partial histogram, four at a time; 256 64-bit sums in shared memory (2 KiB), nine
//! barriers.
//!
//! Departure from the article: the sums are 64 bits wide, so no input is too long to count.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{HistogramMergeParams, MERGE_BLOCK};

/// The kernel: block `b` writes the sum of bin `b`.
///
/// Launch contract: the input holds `partials * bins` counts, the output `bins`, the grid has `bins` blocks, and the
/// shared memory is as in the kernel table.
pub struct Merge;

impl Body for Merge {
    type Src = u32;
    type Dst = u64;
    type Params = HistogramMergeParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, partials: Global<u32>, counts: Global<u64>, p: &HistogramMergeParams) {
        let sums = Shared::<u64>::at(0);
        let thread = d.thread_x();
        let bin = d.block_x();
        // SAFETY: called for rows below `partials`; the grid has one block per bin.
        let count = |row: u32| unsafe { d.load(partials, row as u64 * p.bins as u64 + bin as u64) } as u64;
        let mut sum = 0u64;
        let mut row = thread;
        // Four loads in flight: with one at a time, the thread would wait for each.
        while row + 3 * MERGE_BLOCK < p.partials {
            let [a, b, c, e] =
                [count(row), count(row + MERGE_BLOCK), count(row + 2 * MERGE_BLOCK), count(row + 3 * MERGE_BLOCK)];
            sum += a + b + c + e;
            row += 4 * MERGE_BLOCK;
        }
        while row < p.partials {
            sum += count(row);
            row += MERGE_BLOCK;
        }
        // SAFETY: shared memory has one sum per thread.
        unsafe { d.shared_store(sums, thread, sum) };
        d.barrier();

        let mut active = MERGE_BLOCK / 2;
        while active > 0 {
            if thread < active {
                // SAFETY: threads below `active` write the lower half of the sums and read the upper.
                unsafe {
                    let both = d.shared_load(sums, thread) + d.shared_load(sums, thread + active);
                    d.shared_store(sums, thread, both);
                }
            }
            d.barrier();
            active /= 2;
        }
        if thread == 0 {
            // SAFETY: the output has one count per block, which only thread 0 writes.
            unsafe { d.store(counts, bin as u64, d.shared_load(sums, 0)) };
        }
    }
}
