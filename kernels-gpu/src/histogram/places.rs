//! Bin numbers of f64 samples, as f32. The kernels that count f32 samples then count these whole numbers, in bins of
//! width 1.
//!
//! Per sample: one global load; loads of the first and the last edge, then of two edges if bins have equal width,
//! otherwise of one edge per doubling of the number of bins; one global store.

use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{HistogramPlacesParams, BINS_BLOCK};

/// The kernel: writes the bin of each sample, NaN for a sample in no bin.
///
/// Launch contract: the input and the output hold `samples` numbers; the taps are the `bins + 1` edges, f64, ascending.
pub struct Places;

impl Body for Places {
    type Src = f64;
    type Dst = f32;
    type Params = HistogramPlacesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f32>, p: &HistogramPlacesParams) {
        if d.block_y() > 0 {
            // A surplus row of blocks.
            return;
        }
        let mut sample = (d.block_x() * BINS_BLOCK + d.thread_x()) as u64;
        while sample < p.samples {
            // SAFETY: `sample` is below `samples`, and belongs to one thread; the taps are by the launch contract.
            unsafe { d.store(dst, sample, place(d, d.load(src, sample), p.bins, p.per_width)) };
            sample += (d.blocks_x() * BINS_BLOCK) as u64;
        }
    }
}

/// Returns the number of the last bin whose lower edge is not above the sample; NaN for a sample in no bin. If the bins
/// have equal width, `1 / per_width`, the bin is computed and checked before the edges are searched.
///
/// # Safety
/// The taps hold `bins + 1` edges.
#[inline(always)]
unsafe fn place<D: Device>(d: D, sample: f64, bins: u32, per_width: f64) -> f32 {
    // SAFETY: called for 0 to `bins`.
    let edge = |index: u32| unsafe { d.tap_f64(index) };
    let (low, high) = (edge(0), edge(bins));
    // The comparisons are false for NaN.
    if !(sample >= low && sample <= high) {
        return f32::NAN;
    }
    if per_width > 0.0 {
        let near = (sample - low) * per_width;
        let guess = if near < bins as f64 { near as u32 } else { bins - 1 };
        if edge(guess) <= sample && (guess == bins - 1 || sample < edge(guess + 1)) {
            return guess as f32;
        }
    }
    // Edges 0 to `from` are not above the sample, those from `end` on are.
    let (mut from, mut end) = (0, bins);
    while end - from > 1 {
        // SAFETY: 2 is not 0.
        let middle = from + unsafe { div_rem(end - from, 2) }.0;
        if edge(middle) <= sample {
            from = middle;
        } else {
            end = middle;
        }
    }
    from as f32
}
