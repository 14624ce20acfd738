//! Histograms of any samples, by value or between edges, over all pixels or those that a mask selects, with any number
//! of cells: a cell is a bin of a channel.
//!
//! ```text
//! zero the block's counters, one per cell of one slice; barrier
//! each thread, striding by the row of blocks: for each pixel, unless its byte of the mask is 0, and each channel
//!     find the sample's cell; if it is in the slice, increment its counter   (atomically)
//! barrier; write the counters to the row's part of the output
//! ```
//!
//! Each row of the grid counts one slice, so the image is read once per slice; each column of the grid writes one row
//! of counts, which [`Sums`](super::Sums) adds up. The cell of an integer is its value. For f32 the edges are searched
//! in global memory.
//!
//! 64 KiB of shared memory. Per sample and slice: one global load (for f32 one more per doubling of the number of
//! bins), one shared atomic in one of the slices; two barriers per block.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{Element, HistogramCellsParams, SLICES_BLOCK, SLICE_CELLS};
use core::marker::PhantomData;

/// A sample that has a cell in its channel, or the number of its cell.
pub trait Celled: Element {
    /// Returns the number of the cell; `p.bins` or more for a sample in no bin.
    ///
    /// # Safety
    /// For f32 the launch's taps are the least f32 in each bin, ascending.
    unsafe fn cell<D: Device>(self, d: D, p: &HistogramCellsParams) -> u32;
}

macro_rules! celled_by_value {
    ($($type:ty),*) => {$(
        impl Celled for $type {
            #[inline(always)]
            unsafe fn cell<D: Device>(self, _: D, p: &HistogramCellsParams) -> u32 {
                (self as i32 - p.low) as u32
            }
        }
    )*};
}
celled_by_value!(u8, u16, i16);

impl Celled for u32 {
    #[inline(always)]
    unsafe fn cell<D: Device>(self, _: D, _: &HistogramCellsParams) -> u32 {
        self
    }
}

impl Celled for f32 {
    #[inline(always)]
    unsafe fn cell<D: Device>(self, d: D, p: &HistogramCellsParams) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { bin_of(d, self, 0, p.bins, p.last) }
    }
}

/// Returns the bin of a sample between edges, `u32::MAX` for a sample in no bin; `last` is the largest number in the
/// last bin.
///
/// # Safety
/// The launch's taps from `first` on are the least f32 in each bin, ascending.
#[inline(always)]
pub(super) unsafe fn bin_of<D: Device>(d: D, sample: f32, first: u32, bins: u32, last: f32) -> u32 {
    // Lower and upper bound of the number of bins whose least number is not above the sample.
    let (mut least, mut most) = (0, bins);
    while least < most {
        let middle = (least + most) / 2;
        // SAFETY: `middle` is below `bins`.
        if sample < unsafe { d.tap(first + middle) } {
            most = middle;
        } else {
            least = middle + 1;
        }
    }
    // Below the first bin, u32::MAX. The comparison is false for NaN.
    if sample <= last {
        least.wrapping_sub(1)
    } else {
        u32::MAX
    }
}

/// The kernel, with a mask or without: block (`x`, `y`) writes the counts of slice `y` to row `x` of its output.
///
/// Launch contract: the input holds `pixels * channels` samples, a mask one byte per pixel; the output has a row of
/// `apart * bins` counts per column of blocks, fewer than 2^32 / 1024 columns; there is at least one row of blocks
/// per slice; the shared memory is as in the kernel table, and no block counts 2^32 samples or more.
pub struct Slices<T, const MASKED: bool>(PhantomData<T>);

impl<T: Celled, const MASKED: bool> Body for Slices<T, MASKED> {
    type Src = T;
    type Dst = u32;
    type Params = HistogramCellsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, rows: Global<u32>, p: &HistogramCellsParams) {
        let counters = Shared::<u32>::at(0);
        let thread = d.thread_x();
        let cells = p.apart * p.bins;
        let start = d.block_y() * SLICE_CELLS;
        if start >= cells {
            // A surplus row of blocks: all of its threads leave.
            return;
        }
        let own = (cells - start).min(SLICE_CELLS);
        let mut counter = thread;
        while counter < own {
            // SAFETY: below the number of counters; one thread zeroes each.
            unsafe { d.shared_store(counters, counter, 0) };
            counter += SLICES_BLOCK;
        }
        d.barrier();

        let mask = Global::<u8>::at(p.beside);
        let mut pixel = (d.block_x() * SLICES_BLOCK + thread) as u64;
        while pixel < p.pixels {
            // SAFETY: the mask has one byte per pixel.
            if !MASKED || unsafe { d.load(mask, pixel) } != 0 {
                let mut channel = 0;
                while channel < p.channels {
                    // SAFETY: pixel and channel are those of a sample; the taps are by the launch contract; `place` is
                    // checked.
                    unsafe {
                        let cell = d.load(src, pixel * p.channels as u64 + channel as u64).cell(d, p);
                        let first = if p.apart > 1 { channel * p.bins } else { 0 };
                        // Cells below the slice wrap to large numbers.
                        let place = first.wrapping_add(cell).wrapping_sub(start);
                        if cell < p.bins && place < own {
                            d.shared_increment(counters, place);
                        }
                    }
                    channel += 1;
                }
            }
            pixel += (d.blocks_x() * SLICES_BLOCK) as u64;
        }
        d.barrier();

        let row = d.block_x() as u64 * cells as u64 + start as u64;
        let mut counter = thread;
        while counter < own {
            // SAFETY: the slice is part of row `x` of the output; no thread changes the counters after the barrier.
            unsafe { d.store(rows, row + counter as u64, d.shared_load(counters, counter)) };
            counter += SLICES_BLOCK;
        }
    }
}
