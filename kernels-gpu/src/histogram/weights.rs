//! Sums of weights by bin, in the order of the samples: one block per 65536 samples and 256 bins, one thread per bin.
//!
//! ```text
//! for each 1024 samples: copy their bins and weights to shared memory; barrier
//!     each thread compares all bins with its own bin, and adds the weights of equal ones, in order; barrier
//! each thread writes its sum
//! ```
//!
//! The blocks' sums are then added in order, by [`Sums`](super::Sums). So every sum is computed in the order of the
//! serial reference, which atomics would not preserve. The samples of a block are read once per 256 bins.
//!
//! 12 KiB of shared memory. Per sample and thread: a quarter of a shared load, one comparison; two barriers per
//! batch.

use super::pixel_of;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{Element, HistogramWeightsParams, WEIGHTS_BATCH, WEIGHTS_BLOCK, WEIGHTS_SAMPLES};
use core::marker::PhantomData;

/// The kernel, for weights of f64 or f32: block (`x`, `c * slices + s`) writes the sums of slice `s` of the bins of
/// channel `c`, over samples from `65536 * x` on, to row `x` of the output, which has `apart * bins` numbers.
///
/// Launch contract: the input holds the bins of `samples` samples per separate channel; there is one weight per
/// pixel, which has `channels` adjacent samples; the grid has one column per 65536 samples, and at least `apart *
/// slices` rows; the shared memory is as in the kernel table.
pub struct Weights<W>(PhantomData<W>);

impl<W: Element + Into<f64>> Body for Weights<W> {
    type Src = u32;
    type Dst = f64;
    type Params = HistogramWeightsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u32>, sums: Global<f64>, p: &HistogramWeightsParams) {
        // A checked division: the compiler's own check would call a panic.
        let channel = d.block_y().checked_div(p.slices).unwrap_or(0);
        if channel >= p.apart {
            // A surplus row of blocks: all of its threads leave.
            return;
        }
        let thread = d.thread_x();
        let own = (d.block_y() - channel * p.slices) * WEIGHTS_BLOCK + thread;
        let (bins, weights) = (Shared::<u32>::at(0), Shared::<f64>::at(WEIGHTS_BATCH * 4));
        let first = d.block_x() as u64 * WEIGHTS_SAMPLES as u64;
        let count = (p.samples - first).min(WEIGHTS_SAMPLES as u64) as u32;
        let from = channel as u64 * p.samples;
        let (mut sum, mut done) = (0.0f64, 0);
        while done < count {
            let batch = (count - done).min(WEIGHTS_BATCH);
            let mut place = thread;
            while place < WEIGHTS_BATCH {
                // SAFETY: the sample is one of the block's; one thread writes each place.
                unsafe {
                    if place < batch {
                        let sample = first + (done + place) as u64;
                        d.shared_store(bins, place, d.load(src, from + sample));
                        let weight = d.load(Global::<W>::at(p.weights), pixel_of(sample, p.channels));
                        d.shared_store(weights, place, weight.into());
                    } else {
                        // No bin: pads the batch, since bins are read four at a time.
                        d.shared_store(bins, place, u32::MAX);
                    }
                }
                place += WEIGHTS_BLOCK;
            }
            d.barrier();
            let mut place = 0;
            while place < batch {
                // SAFETY: the batch is complete since the barrier; places past its end have no bin, so that their
                // weights are not read.
                unsafe {
                    let [a, b, c, e] = d.shared_load4(bins, place);
                    if a == own {
                        sum += d.shared_load(weights, place);
                    }
                    if b == own {
                        sum += d.shared_load(weights, place + 1);
                    }
                    if c == own {
                        sum += d.shared_load(weights, place + 2);
                    }
                    if e == own {
                        sum += d.shared_load(weights, place + 3);
                    }
                }
                place += 4;
            }
            d.barrier();
            done += batch;
        }
        if own < p.bins {
            let row = d.block_x() as u64 * (p.apart * p.bins) as u64;
            // SAFETY: a row has `apart * bins` sums; channel and bin belong to one thread of the row's blocks.
            unsafe { d.store(sums, row + (channel * p.bins + own) as u64, sum) };
        }
    }
}
