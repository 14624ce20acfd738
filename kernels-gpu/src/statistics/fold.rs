//! Adds up the rows' sums of [`Rows`](super::Rows), from the top, and derives the results: one block per channel.
//!
//! ```text
//! for each 256 rows:
//!     each thread copies one row's sum to shared memory, and joins the row's extremes to its own; barrier
//!     each thread starts loading its next row; thread 0 adds the sums, in order; barrier
//! the extremes of all rows: by shuffles in each warp, then over the warps by thread 0
//! thread 0 writes the extremes and the mean, or for squares the sum
//! ```
//!
//! 2 KiB of shared memory. Per row and channel: three global loads, and one f64 addition, which depends on the previous
//! one.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{StatisticsParams, FOLD_BLOCK, FOUND_NUMBERS, SUMMED_PARTS};

/// The kernel: block `c` writes the results of channel `c`: the least sample, the largest sample, and the mean; for
/// squares only the fourth result, their sum. Both extremes are NaN if a sample is NaN.
///
/// Launch contract: the input holds three parts of `height` numbers per channel, the output four numbers per channel;
/// the grid has `apart` blocks, and the shared memory is as in the kernel table.
pub struct Fold<const SQUARES: bool>;

/// The least and the largest sample.
#[derive(Clone, Copy)]
struct Pair(f64, f64);

impl Pair {
    /// Returns the extremes of the samples of both pairs; a least that is NaN stays NaN.
    #[inline(always)]
    fn join(self, Pair(low, high): Pair) -> Pair {
        let Pair(least, largest) = self;
        Pair(if low < least || low.is_nan() { low } else { least }, if high > largest { high } else { largest })
    }
}

impl<const SQUARES: bool> Body for Fold<SQUARES> {
    type Src = f64;
    type Dst = f64;
    type Params = StatisticsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, parts: Global<f64>, found: Global<f64>, p: &StatisticsParams) {
        let (channel, thread) = (d.block_x(), d.thread_x());
        let sums = Shared::<f64>::at(0);
        // SAFETY: called for rows of the image.
        let part = |number: u32, row: u32| unsafe {
            d.load(parts, (channel * SUMMED_PARTS + number) as u64 * p.height as u64 + row as u64)
        };
        let of_row = |row: u32| if row < p.height { part(0, row) } else { 0.0 };
        let (mut sum, mut pair) = (0.0f64, Pair(f64::INFINITY, f64::NEG_INFINITY));
        let (mut own, mut top) = (of_row(thread), 0);
        while top < p.height {
            let rows = (p.height - top).min(FOLD_BLOCK);
            // SAFETY: shared memory has one place per thread.
            unsafe { d.shared_store(sums, thread, own) };
            if !SQUARES && thread < rows {
                pair = pair.join(Pair(part(1, top + thread), part(2, top + thread)));
            }
            d.barrier();
            top += rows;
            own = of_row(top.saturating_add(thread));
            if thread == 0 {
                // SAFETY: called for the rows that the threads copied before the barrier.
                let of = |row: u32| unsafe { d.shared_load(sums, row) };
                let mut row = 0;
                while row + 8 <= rows {
                    let (a, b, c, e) = (of(row), of(row + 1), of(row + 2), of(row + 3));
                    let (f, g, h, i) = (of(row + 4), of(row + 5), of(row + 6), of(row + 7));
                    sum = sum + a + b + c + e + f + g + h + i;
                    row += 8;
                }
                while row < rows {
                    sum += of(row);
                    row += 1;
                }
            }
            d.barrier();
        }
        let at = |number: u32| (channel * FOUND_NUMBERS + number) as u64;
        if SQUARES {
            if thread == 0 {
                // SAFETY: the output has four numbers per channel, which only thread 0 of the channel's block writes.
                unsafe { d.store(found, at(3), sum) };
            }
            return;
        }

        let (lane, warp) = (thread % 32, thread / 32);
        let mut apart = 16;
        while apart > 0 {
            let other = Pair(d.shuffle_f64(pair.0, lane ^ apart), d.shuffle_f64(pair.1, lane ^ apart));
            pair = pair.join(other);
            apart /= 2;
        }
        if lane == 0 {
            // SAFETY: two places per warp, written by lane 0; no thread reads the sums any more.
            unsafe {
                d.shared_store(sums, 2 * warp, pair.0);
                d.shared_store(sums, 2 * warp + 1, pair.1);
            }
        }
        d.barrier();
        if thread == 0 {
            let mut other = 1;
            while other < FOLD_BLOCK / 32 {
                // SAFETY: each warp's pair is complete since the barrier.
                pair = pair.join(unsafe { Pair(d.shared_load(sums, 2 * other), d.shared_load(sums, 2 * other + 1)) });
                other += 1;
            }
            let Pair(least, largest) = pair;
            // SAFETY: as for the sum of squares.
            unsafe {
                d.store(found, at(0), least);
                d.store(found, at(1), if least.is_nan() { least } else { largest });
                d.store(found, at(2), sum / p.count);
            }
        }
    }
}
