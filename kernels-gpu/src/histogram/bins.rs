//! Bin numbers of samples: the input of the kernels that count and sum by bin number.
//!
//! Per sample: one global load, one load of an edge per doubling of the number of bins, one global store.

use super::slices::bin_of;
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{HistogramBinsParams, Sample, BINS_BLOCK};
use core::marker::PhantomData;

/// The kernel: writes the bin of each sample, `u32::MAX` for a sample in no bin; if channels are counted separately,
/// the bins of the first channel, then those of the next.
///
/// Launch contract: the input holds `pixels * channels` samples, the output equally many numbers, and the taps are
/// the least f32 in each bin, ascending.
pub struct Bins<T>(PhantomData<T>);

impl<T: Sample> Body for Bins<T> {
    type Src = T;
    type Dst = u32;
    type Params = HistogramBinsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, bins: Global<u32>, p: &HistogramBinsParams) {
        let mut pixel = (d.block_x() * BINS_BLOCK + d.thread_x()) as u64;
        while pixel < p.pixels {
            let mut channel = 0;
            while channel < p.channels {
                let sample = pixel * p.channels as u64 + channel as u64;
                let place = if p.apart > 1 { channel as u64 * p.pixels + pixel } else { sample };
                // SAFETY: `sample` and `place` are below `pixels * channels`; a pixel belongs to one thread.
                unsafe {
                    let bin = bin_of(d, d.load(src, sample).to_f32(), 0, p.bins, p.last);
                    d.store(bins, place, bin);
                }
                channel += 1;
            }
            pixel += (d.blocks_x() * BINS_BLOCK) as u64;
        }
    }
}
