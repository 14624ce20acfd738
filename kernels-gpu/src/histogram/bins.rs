//! The number of each sample's bin, or of each pixel's pair of bins: input of the kernels that count and sum by such
//! numbers.
//!
//! Per sample: one global load, one more per doubling of the number of bins, one global store.

use super::slices::bin_of;
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{HistogramBinsParams, HistogramPairsParams, Sample, BINS_BLOCK};
use core::marker::PhantomData;

/// The kernel: writes the bin of each sample, `u32::MAX` for none; with separate channels the bins of the first
/// channel, then the bins of the next.
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
                // SAFETY: one of the samples; the taps are as in the launch contract; each number is one thread's.
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

/// The kernel: writes the cell of each pixel, which is the bin of its sample of the first channel, times the number
/// of the second channel's bins, plus the bin of its sample of the second channel; `u32::MAX` where a sample is in no
/// bin.
///
/// Launch contract: the input holds `pixels * channels` samples, the output one number per pixel; the taps are the
/// least f32 in each of the first channel's bins, ascending, then in the second channel's; there are fewer than 2^32
/// pairs.
pub struct Pairs<T>(PhantomData<T>);

impl<T: Sample> Body for Pairs<T> {
    type Src = T;
    type Dst = u32;
    type Params = HistogramPairsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, cells: Global<u32>, p: &HistogramPairsParams) {
        let mut pixel = (d.block_x() * BINS_BLOCK + d.thread_x()) as u64;
        while pixel < p.pixels {
            let first = pixel * p.channels as u64;
            // SAFETY: samples of the pixel; the taps are as in the launch contract; each number is one thread's.
            unsafe {
                let one = d.load(src, first + p.channel as u64).to_f32();
                let other = d.load(src, first + p.other_channel as u64).to_f32();
                let bin = bin_of(d, one, 0, p.bins, p.last);
                let other_bin = bin_of(d, other, p.bins, p.other_bins, p.other_last);
                let both = bin < p.bins && other_bin < p.other_bins;
                d.store(cells, pixel, if both { bin * p.other_bins + other_bin } else { u32::MAX });
            }
            pixel += (d.blocks_x() * BINS_BLOCK) as u64;
        }
    }
}
