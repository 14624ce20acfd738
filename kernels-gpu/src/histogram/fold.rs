//! The sum of what [`Rows`](super::Rows) found, from the top, and what follows from it: a block a channel.
//!
//! ```text
//! for each 256 rows: copy their numbers to shared memory; barrier
//!     thread 0 adds the sums, in order; thread 32 joins the extremes; barrier
//! thread 0 writes the mean, or of squares the sum; thread 32 the extremes
//! ```
//!
//! 6 KiB of shared memory. Per row and channel: three global loads, one addition in f64 that waits for the one before.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{StatisticsParams, FOLD_BLOCK, FOUND_NUMBERS, SUMMED_PARTS};

/// The kernel: block `c` writes the found numbers of channel `c`: the least sample, the largest, and the mean; of squares
/// the fourth alone, their sum. Both extremes are NaN where a sample is.
///
/// Launch contract: the input holds three parts of `height` numbers a channel, the output four numbers; the grid has
/// `apart` blocks, and the shared memory is what the kernel table says.
pub struct Fold<const SQUARES: bool>;

impl<const SQUARES: bool> Body for Fold<SQUARES> {
    type Src = f64;
    type Dst = f64;
    type Params = StatisticsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, parts: Global<f64>, found: Global<f64>, p: &StatisticsParams) {
        let (channel, thread) = (d.block_x(), d.thread_x());
        let part = |number: u32| Shared::<f64>::at(number * FOLD_BLOCK * 8);
        let (mut sum, mut least, mut largest) = (0.0f64, f64::INFINITY, f64::NEG_INFINITY);
        let mut top = 0;
        while top < p.height {
            let rows = (p.height - top).min(FOLD_BLOCK);
            if thread < rows {
                let copy = |number: u32| {
                    let from = (channel * SUMMED_PARTS + number) as u64 * p.height as u64 + (top + thread) as u64;
                    // SAFETY: a number of a row; a place is one thread's.
                    unsafe { d.shared_store(part(number), thread, d.load(parts, from)) };
                };
                copy(0);
                if !SQUARES {
                    copy(1);
                    copy(2);
                }
            }
            d.barrier();
            // SAFETY: called for rows that were copied, behind the barrier.
            let of = |number: u32, row: u32| unsafe { d.shared_load(part(number), row) };
            let mut row = 0;
            if thread == 0 {
                while row + 4 <= rows {
                    let (a, b, c, e) = (of(0, row), of(0, row + 1), of(0, row + 2), of(0, row + 3));
                    sum = sum + a + b + c + e;
                    row += 4;
                }
                while row < rows {
                    sum += of(0, row);
                    row += 1;
                }
            }
            if !SQUARES && thread == 32 {
                while row < rows {
                    let (low, high) = (of(1, row), of(2, row));
                    least = if low < least || low.is_nan() { low } else { least };
                    largest = if high > largest { high } else { largest };
                    row += 1;
                }
            }
            d.barrier();
            top += rows;
        }
        let at = |number: u32| (channel * FOUND_NUMBERS + number) as u64;
        // SAFETY: a number is one thread's.
        unsafe {
            if thread == 0 {
                d.store(found, at(if SQUARES { 3 } else { 2 }), if SQUARES { sum } else { sum / p.count });
            }
            if !SQUARES && thread == 32 {
                d.store(found, at(0), least);
                d.store(found, at(1), if least.is_nan() { least } else { largest });
            }
        }
    }
}
