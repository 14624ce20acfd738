//! Sums of rows in f64, each from the left, and the rows' extremes: one thread per row and channel.
//!
//! ```text
//! start copying the first tile, 32 rows of 96 samples, into planes by channel
//! for each tile: start copying the next one; wait for this one; barrier
//!     warp c, lane r: add the samples of channel c of row r, in order; barrier
//! each thread writes its results
//! ```
//!
//! So loads are coalesced, and the sums are in serial order. With `SQUARES` the sums are those of squared deviations
//! from the mean, which an earlier launch has computed, and there are no extremes.
//!
//! 25 KiB of shared memory, 50 for f64. Per sample: one global load, a quarter of a shared load, and one f64 addition,
//! which depends on the previous one; two barriers per tile.

use crate::device::{Device, Global, Shared};
use crate::samples::{Held, Input};
use crate::Body;
use apron_abi::{
    Accumulator, Element, Sample, StatisticsParams, FOUND_NUMBERS, SUMMED_COLUMNS, SUMMED_PARTS, SUMMED_PITCH,
    SUMMED_ROWS,
};
use core::marker::PhantomData;

/// The kernel: block `x` writes, for each of its 32 rows and each channel, the sum to element `row` of the channel's
/// part 0 and, unless `SQUARES`, the least and the largest sample to parts 1 and 2; a part has one element per row.
///
/// Launch contract: the input holds `height` rows of `samples` samples, `row_stride` samples apart, of whole pixels
/// of 1 to 4 separate channels; the output three parts per channel; for squares, the third result of each channel is
/// its mean. The grid has one block per 32 rows, and the shared memory is as in the kernel table.
pub struct Rows<T, const SQUARES: bool>(PhantomData<T>);

/// A thread's results.
#[derive(Clone, Copy)]
struct Part<H> {
    sum: f64,
    least: H,
    largest: H,
}

impl<H: Held> Part<H> {
    #[inline(always)]
    fn with<const SQUARES: bool>(self, sample: H, mean: f64) -> Part<H> {
        let Part { sum, least, largest } = self;
        if SQUARES {
            let distance = sample.to_f64() - mean;
            return Part { sum: sum + distance * distance, ..self };
        }
        // A NaN is not equal to itself.
        #[allow(clippy::eq_op)]
        let is_nan = sample != sample;
        Part {
            sum: sum + sample.to_f64(),
            // A least that is NaN stays NaN, since no number is below it.
            least: if sample < least || is_nan { sample } else { least },
            largest: if sample > largest { sample } else { largest },
        }
    }
}

/// Returns the samples per channel among `samples` interleaved samples.
#[inline(always)]
fn of_each(samples: u32, apart: u32) -> u32 {
    // A checked division: the compiler's own check would call a panic.
    samples.checked_div(apart).unwrap_or(0)
}

impl<T: Input, const SQUARES: bool> Body for Rows<T, SQUARES> {
    type Src = T;
    type Dst = f64;
    type Params = StatisticsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, parts: Global<f64>, p: &StatisticsParams) {
        let (lane, warp) = (d.thread_x(), d.thread_y());
        let top = d.block_x() * SUMMED_ROWS;
        let plane = of_each(SUMMED_COLUMNS, p.apart);
        // The place of a column in a row of the tile.
        let place = |column: u32| {
            let pixel = of_each(column, p.apart);
            (column - pixel * p.apart) * plane + pixel
        };
        let (first, second, third) = (place(lane), place(lane + 32), place(lane + 64));
        let size = T::Held::TYPE.size_bytes();
        let tile = |step: u32| Shared::<T::Held>::at(step % 2 * SUMMED_ROWS * SUMMED_PITCH * size);
        let load = |step: u32| {
            let start = step * SUMMED_COLUMNS;
            let left = p.samples - start;
            let mut row = warp;
            while row < SUMMED_ROWS && top + row < p.height {
                let from = (top + row) as u64 * p.row_stride as u64 + start as u64;
                let copy = |column: u32, place: u32| {
                    if column < left {
                        // SAFETY: the column is in the row; one thread writes each place, and no thread reads this
                        // stage before the next barrier.
                        unsafe {
                            let to = row * SUMMED_PITCH + place;
                            T::start_copy(d, tile(step), to, src, from + column as u64);
                        }
                    }
                };
                copy(lane, first);
                copy(lane + 32, second);
                copy(lane + 64, third);
                row += 4;
            }
        };

        let row = top + lane;
        let own = warp < p.apart && row < p.height;
        let mean = if SQUARES && own {
            // SAFETY: the results hold each channel's mean, which this launch only reads.
            unsafe { d.load(Global::<f64>::at(p.found), (warp * FOUND_NUMBERS + 2) as u64) }
        } else {
            0.0
        };
        let [least, largest] = [f64::INFINITY, f64::NEG_INFINITY].map(T::Held::from_f64);
        let mut part = Part { sum: 0.0, least, largest };
        load(0);
        d.end_copies();
        let steps = p.samples.div_ceil(SUMMED_COLUMNS);
        let mut step = 0;
        while step < steps {
            if step + 1 < steps {
                load(step + 1);
            }
            d.end_copies();
            d.wait_copies::<1>();
            d.barrier();
            if own {
                let pixels = of_each((p.samples - step * SUMMED_COLUMNS).min(SUMMED_COLUMNS), p.apart);
                let (tile, first) = (tile(step), lane * SUMMED_PITCH + warp * plane);
                let mut pixel = 0;
                while pixel + 4 <= pixels {
                    // SAFETY: the row's plane has `pixels` samples of the channel, complete since the barrier.
                    let [a, b, c, e] = unsafe { T::Held::four(d, tile, first + pixel) };
                    part = part.with::<SQUARES>(a, mean).with::<SQUARES>(b, mean);
                    part = part.with::<SQUARES>(c, mean).with::<SQUARES>(e, mean);
                    pixel += 4;
                }
                while pixel < pixels {
                    // SAFETY: as above.
                    part = part.with::<SQUARES>(unsafe { d.shared_load(tile, first + pixel) }, mean);
                    pixel += 1;
                }
            }
            d.barrier();
            step += 1;
        }
        if own {
            let at = |number: u32| (warp * SUMMED_PARTS + number) as u64 * p.height as u64 + row as u64;
            // SAFETY: each part has one element per row; a row and channel belong to one thread.
            unsafe {
                d.store(parts, at(0), part.sum);
                if !SQUARES {
                    d.store(parts, at(1), part.least.to_f64());
                    d.store(parts, at(2), part.largest.to_f64());
                }
            }
        }
    }
}
