//! Sums of many cells over few rows, of counts or of sums: one thread per cell, with coalesced loads and no barrier.
//!
//! Per cell: one global load per row, one store. [`Merge`](super::Merge) is for few cells in many rows.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Element, HistogramMergeParams, MERGE_BLOCK};
use core::marker::PhantomData;
use core::ops::Add;

/// The kernel: thread `t` of the grid writes the sum of cell `t`, from the first row on.
///
/// Launch contract: the input holds `partials * bins` numbers, the output `bins`, and the grid has at least `bins`
/// threads, fewer than 2^32.
pub struct Sums<A, B>(PhantomData<(A, B)>);

impl<A: Element, B: Element + From<A> + Add<Output = B>> Body for Sums<A, B> {
    type Src = A;
    type Dst = B;
    type Params = HistogramMergeParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, rows: Global<A>, sums: Global<B>, p: &HistogramMergeParams) {
        let cell = (d.block_x() * MERGE_BLOCK + d.thread_x()) as u64;
        if cell < p.bins as u64 {
            let mut sum = B::default();
            let mut at = cell;
            let mut row = 0;
            // Eight loads in flight: with one at a time, the thread would wait for each. They are added in row order.
            while row + 8 <= p.partials {
                let mut numbers = [A::default(); 8];
                for k in 0..8 {
                    // SAFETY: inside the row.
                    numbers[k] = unsafe { d.load(rows, at) };
                    at += p.bins as u64;
                }
                for k in 0..8 {
                    sum = sum + B::from(numbers[k]);
                }
                row += 8;
            }
            while row < p.partials {
                // SAFETY: inside the row.
                sum = sum + B::from(unsafe { d.load(rows, at) });
                at += p.bins as u64;
                row += 1;
            }
            // SAFETY: one cell per thread.
            unsafe { d.store(sums, cell, sum) };
        }
    }
}
