//! Histograms of many dimensions. A row of samples has a bin in each column; the tuple of bins is its cell. Cells are
//! written ([`Cells`]), or counted in the same launch by slices of counters ([`Joint`]).
//!
//! Per row and column: one global load; if bins have equal width, one load of an edge for samples next to an edge,
//! otherwise one per doubling of the number of bins. Each thread loads four rows at a time.

use super::slices::bin_of;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{
    Between, Element, Half, HistogramJointParams, JointColumn, Sample, BINS_BLOCK, JOINT_TAPS, SLICES_BLOCK,
};
use core::marker::PhantomData;

/// A sample that has a bin in its column.
pub trait Columned: Element {
    /// Returns the number of the bin; `u32::MAX` for a sample in no bin.
    ///
    /// # Safety
    /// The launch's taps from `column.first` on are the least f32 in each bin, ascending; for f64 samples they are the
    /// `bins + 1` edges, each in two taps.
    unsafe fn bin<D: Device>(self, d: D, column: &JointColumn) -> u32;
}

macro_rules! columned {
    ($($type:ty),*) => {$(
        impl Columned for $type {
            #[inline(always)]
            unsafe fn bin<D: Device>(self, d: D, column: &JointColumn) -> u32 {
                let (sample, first) = (self.to_f32(), column.first);
                if column.spacing.per_unit == 0.0 {
                    // SAFETY: the caller's promise.
                    return unsafe { bin_of(d, sample, first, column.bins, column.spacing.last) };
                }
                match column.spacing.find(sample, column.bins) {
                    Between::Bin(bin) => bin,
                    // SAFETY: the edge is the lower edge of one of the column's bins.
                    Between::Edge(edge) => edge - (sample < unsafe { d.tap(first + edge) }) as u32,
                    Between::Outside => u32::MAX,
                }
            }
        }
    )*};
}
columned!(u8, u16, i16, Half, f32);

impl Columned for f64 {
    #[inline(always)]
    unsafe fn bin<D: Device>(self, d: D, column: &JointColumn) -> u32 {
        let (mut least, mut most) = (0, column.bins);
        while least < most {
            let middle = (least + most) / 2;
            // SAFETY: `middle` is below `bins`.
            if self < unsafe { d.tap_f64(column.first + middle) } {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        // The comparison is false for NaN.
        // SAFETY: there are `bins + 1` edges.
        if self <= unsafe { d.tap_f64(column.first + column.bins) } {
            least.wrapping_sub(1)
        } else {
            u32::MAX
        }
    }
}

/// Returns the cell of each of four rows, `u32::MAX` where a sample is in no bin.
///
/// # Safety
/// The rows are below `p.rows`, and the launch is as [`Cells`] requires it.
#[inline(always)]
unsafe fn cells_of<T: Columned, D: Device>(d: D, src: Global<T>, rows: [u64; 4], p: &HistogramJointParams) -> [u32; 4] {
    let mut cells = [0; 4];
    let mut k = 0;
    while k < p.columns {
        // SAFETY: the taps begin with `JOINT_TAPS` taps per column.
        let column = unsafe { JointColumn::of_taps(d.taps4(k * JOINT_TAPS), d.taps4(k * JOINT_TAPS + 4)) };
        let mut samples = [T::default(); 4];
        for n in 0..4 {
            // SAFETY: the row is below `p.rows`, and the column is one of its samples.
            samples[n] = unsafe { d.load(src, rows[n] * p.row as u64 + column.column as u64) };
        }
        for n in 0..4 {
            // SAFETY: the caller's promise.
            let bin = unsafe { samples[n].bin(d, &column) };
            let inside = bin < column.bins && cells[n] != u32::MAX;
            cells[n] = if inside { cells[n] * column.bins + bin } else { u32::MAX };
        }
        k += 1;
    }
    cells
}

/// Returns four rows of a thread, `step` apart, and whether each exists; those that do not are replaced by the last.
#[inline(always)]
fn four(row: u64, step: u64, p: &HistogramJointParams) -> ([u64; 4], [bool; 4]) {
    let rows = [row, row + step, row + 2 * step, row + 3 * step];
    (rows.map(|row| row.min(p.rows - 1)), rows.map(|row| row < p.rows))
}

/// The kernel: writes the cell of each row, `u32::MAX` if a sample is in no bin. The bin of the first column is the
/// most significant digit of the cell.
///
/// Launch contract: the input holds `rows` rows of `row` samples each, the output one number per row; each column is
/// one of the row's; the taps are the columns, the most significant first, and their edges as [`Columned`] requires
/// them; if a column's bins have equal width, the plan has proved its [spacing](apron_abi::Spacing::find). There are
/// fewer than 2^32 - 1 cells.
pub struct Cells<T>(PhantomData<T>);

impl<T: Columned> Body for Cells<T> {
    type Src = T;
    type Dst = u32;
    type Params = HistogramJointParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, dst: Global<u32>, p: &HistogramJointParams) {
        if d.block_y() > 0 {
            // A surplus row of blocks.
            return;
        }
        let step = (d.blocks_x() * BINS_BLOCK) as u64;
        let mut row = (d.block_x() * BINS_BLOCK + d.thread_x()) as u64;
        while row < p.rows {
            let (rows, there) = four(row, step, p);
            // SAFETY: `four` returns rows below `p.rows`; each existing row belongs to one thread.
            unsafe {
                let cells = cells_of(d, src, rows, p);
                for n in 0..4 {
                    if there[n] {
                        d.store(dst, rows[n], cells[n]);
                    }
                }
            }
            row += 4 * step;
        }
    }
}

/// The kernel: block (`x`, `y`) writes the counts of slice `y` to row `x` of its output. The time does not depend on
/// the data: increments of one counter by several lanes are combined by the hardware, others go to different counters.
///
/// Launch contract: that of [`Cells`], but the output holds a row of `cells` counts for each column of blocks; there is
/// one row of blocks per slice of `slice` cells, the shared memory holds one counter per cell of a slice, and no block
/// counts 2^32 rows or more.
pub struct Joint;

impl Body for Joint {
    type Src = f32;
    type Dst = u32;
    type Params = HistogramJointParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<u32>, p: &HistogramJointParams) {
        let counters = Shared::<u32>::at(0);
        let (thread, start) = (d.thread_x(), d.block_y() * p.slice);
        if start >= p.cells {
            // A surplus row of blocks: all of its threads leave.
            return;
        }
        let slice = (p.cells - start).min(p.slice);
        let mut counter = thread;
        while counter < slice {
            // SAFETY: shared memory has a counter per cell of the slice; one thread zeroes each.
            unsafe { d.shared_store(counters, counter, 0) };
            counter += SLICES_BLOCK;
        }
        d.barrier();

        let step = (d.blocks_x() * SLICES_BLOCK) as u64;
        let mut row = (d.block_x() * SLICES_BLOCK + thread) as u64;
        while row < p.rows {
            let (rows, there) = four(row, step, p);
            // SAFETY: `four` returns rows below `p.rows`; the taps are by the launch contract.
            let cells = unsafe { cells_of(d, src, rows, p) };
            for n in 0..4 {
                // Cells below the slice wrap to large numbers; rows without a cell are large already.
                let place = cells[n].wrapping_sub(start);
                if there[n] && place < slice {
                    // SAFETY: `place` is below the number of counters.
                    unsafe { d.shared_increment(counters, place) };
                }
            }
            row += 4 * step;
        }
        d.barrier();

        let first = d.block_x() as u64 * p.cells as u64 + start as u64;
        let mut counter = thread;
        while counter < slice {
            // SAFETY: the slice is part of row `x` of the output; no thread changes the counters after the barrier.
            unsafe { d.store(dst, first + counter as u64, d.shared_load(counters, counter)) };
            counter += SLICES_BLOCK;
        }
    }
}
