//! The sums of many counts over few rows: a thread a cell, neighbours side by side in memory, nobody waits.
//!
//! Per cell: one global load for each row, one store. [`Merge`](super::Merge) is for few cells in many rows.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{HistogramMergeParams, MERGE_BLOCK};

/// The kernel: thread `t` of the grid writes the sum of cell `t`.
///
/// Launch contract: the input holds `partials * bins` counts, the output `bins`, and the grid has as many threads or
/// more, below 2^32.
pub struct Sums;

impl Body for Sums {
    type Src = u32;
    type Dst = u64;
    type Params = HistogramMergeParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, rows: Global<u32>, counts: Global<u64>, p: &HistogramMergeParams) {
        let cell = (d.block_x() * MERGE_BLOCK + d.thread_x()) as u64;
        if cell < p.bins as u64 {
            let mut sum = 0u64;
            let mut at = cell;
            let mut row = 0;
            while row < p.partials {
                // SAFETY: inside the row.
                sum += unsafe { d.load(rows, at) } as u64;
                at += p.bins as u64;
                row += 1;
            }
            // SAFETY: a cell a thread.
            unsafe { d.store(counts, cell, sum) };
        }
    }
}
