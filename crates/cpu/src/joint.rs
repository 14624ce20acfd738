//! Parallel histograms of many dimensions.

use crate::parallel;
use apron_core::{
    Binning, Columns, Edges, HistogramDd, Image, Pixel, Result, SparseHistogram, WEIGHTED_BLOCK, check_sparse_cells,
    dense_cells, join_extremes,
};
use rayon::slice::ParallelSliceMut;
use std::borrow::Cow;

/// Rows whose cells are found at a time, column by column.
const AT_ONCE: usize = 512;
/// Least number of rows per task.
const PART_ROWS: usize = 1 << 15;
/// Marks a row without a cell.
const NOWHERE: u64 = u64::MAX;

/// Counts rows by the bins of their columns: `numpy.histogramdd`.
///
/// # Errors
/// As [`Columns::rows`], [`Columns::check_binning`], [`Binning::edges_of_column`] and [`dense_cells`].
pub fn joint<T: Pixel>(image: &Image<T>, columns: &Columns, binning: &[Binning]) -> Result<HistogramDd> {
    let placed = Placed::new(image, columns, binning)?;
    let threads = parallel::threads();
    let cells = dense_cells(&placed.edges, threads + 1)? as usize;
    // No part is so small that merging its counts outweighs the counting.
    let parts = placed.parts((placed.rows() / cells).clamp(1, threads as usize));
    let counts = parallel::map(parts.len(), &|part| {
        let mut counts = vec![0u64; cells];
        placed.each_cell(parts[part], |cell| {
            if cell != NOWHERE {
                counts[cell as usize] += 1;
            }
        });
        counts
    });
    Ok(HistogramDd { cells: parallel::add_counts(counts), edges: placed.edges })
}

/// Sums weights, one per row, by the bins of the columns. Blocks of [`WEIGHTED_BLOCK`] rows are computed in parallel,
/// and added in their order.
///
/// # Errors
/// As [`joint`], and as [`Columns::check_weights`].
pub fn joint_weighted<T: Pixel>(
    image: &Image<T>,
    columns: &Columns,
    binning: &[Binning],
    weights: &[f64],
) -> Result<HistogramDd<f64>> {
    columns.check_weights(image.shape(), weights.len() as u64)?;
    let placed = Placed::new(image, columns, binning)?;
    let threads = parallel::threads();
    let cells = dense_cells(&placed.edges, threads + 1)? as usize;
    let blocks: Vec<(&[T], &[f64])> =
        placed.samples.chunks(WEIGHTED_BLOCK * placed.row).zip(weights.chunks(WEIGHTED_BLOCK)).collect();
    let mut all = vec![0.0; cells];
    // One block per thread at a time, to bound the memory for the cells.
    for few in blocks.chunks(threads as usize) {
        let sums = parallel::map(few.len(), &|index| {
            let (rows, weights) = few[index];
            let (mut sums, mut weights) = (vec![0.0; cells], weights.iter());
            placed.each_cell(rows, |cell| {
                let weight = weights.next().copied().unwrap_or_default();
                if cell != NOWHERE {
                    sums[cell as usize] += weight;
                }
            });
            sums
        });
        for more in sums {
            all.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
    Ok(HistogramDd { edges: placed.edges, cells: all })
}

/// Counts rows as [`joint`], and returns the cells that are not empty: the numbers of all rows' cells are sorted.
///
/// # Errors
/// As [`joint`], but [`check_sparse_cells`] in place of [`dense_cells`].
pub fn joint_sparse<T: Pixel>(image: &Image<T>, columns: &Columns, binning: &[Binning]) -> Result<SparseHistogram> {
    let placed = Placed::new(image, columns, binning)?;
    let parts = placed.parts(parallel::threads() as usize);
    let found = parallel::map(parts.len(), &|part| {
        let mut cells = Vec::new();
        placed.each_cell(parts[part], |cell| {
            if cell != NOWHERE {
                cells.push(cell);
            }
        });
        cells
    });
    let mut rows = found.concat();
    rows.par_sort_unstable();
    let cells = rows.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u64)).collect();
    Ok(SparseHistogram { edges: placed.edges, cells })
}

/// Returns the least and the largest sample of each column that is counted; both NaN if a sample is NaN.
///
/// # Errors
/// As [`Columns::rows`].
pub fn column_extremes<T: Pixel>(image: &Image<T>, columns: &Columns) -> Result<Vec<(f64, f64)>> {
    columns.rows(image.shape())?;
    Ok(extremes(&image.packed(), columns))
}

fn extremes<T: Pixel>(samples: &[T], columns: &Columns) -> Vec<(f64, f64)> {
    let row = columns.row() as usize;
    let parts = split(samples, row, parallel::threads() as usize);
    let none = || vec![(f64::INFINITY, f64::NEG_INFINITY); columns.picked().len()];
    let join = |all: &mut [(f64, f64)], more: &[(f64, f64)]| {
        all.iter_mut().zip(more).for_each(|(all, more)| *all = join_extremes(*all, *more));
    };
    let found = parallel::map(parts.len(), &|part| {
        let mut all = none();
        for samples in parts[part].chunks_exact(row) {
            for (all, &column) in all.iter_mut().zip(columns.picked()) {
                let sample = samples[column as usize].to_f64();
                *all = join_extremes(*all, (sample, sample));
            }
        }
        all
    });
    found.into_iter().fold(none(), |mut all, more| {
        join(&mut all, &more);
        all
    })
}

/// Splits rows into at most `parts` parts, none of them small.
fn split<T>(samples: &[T], row: usize, parts: usize) -> Vec<&[T]> {
    let rows = (samples.len() / row).div_ceil(parts).max(PART_ROWS);
    samples.chunks(rows * row).collect()
}

/// Rows whose columns have edges.
struct Placed<'a, T: Pixel> {
    samples: Cow<'a, [T]>,
    row: usize,
    columns: &'a Columns,
    edges: Vec<Edges>,
}

impl<'a, T: Pixel> Placed<'a, T> {
    fn new(image: &'a Image<'_, T>, columns: &'a Columns, binning: &[Binning]) -> Result<Placed<'a, T>> {
        columns.check_binning(binning)?;
        columns.rows(image.shape())?;
        let samples = image.packed();
        let seeks = |binning: &Binning| matches!(binning, Binning::Even(bins) if bins.range.is_none());
        let ranges = if binning.iter().any(seeks) { extremes(&samples, columns) } else { Vec::new() };
        let of = |(n, binning): (usize, &Binning)| binning.edges_of_column(T::PIXEL, || ranges[n]);
        let edges = binning.iter().enumerate().map(of).collect::<Result<Vec<_>>>()?;
        check_sparse_cells(&edges)?;
        Ok(Placed { samples, row: columns.row() as usize, columns, edges })
    }

    fn rows(&self) -> usize {
        self.samples.len() / self.row
    }

    fn parts(&self, parts: usize) -> Vec<&[T]> {
        split(&self.samples, self.row, parts)
    }

    /// Calls `take` with the cell of each row, or [`NOWHERE`], in order.
    fn each_cell(&self, samples: &[T], mut take: impl FnMut(u64)) {
        let mut cells = [0; AT_ONCE];
        for samples in samples.chunks(AT_ONCE * self.row) {
            parallel::end_if_stopped();
            let cells = &mut cells[..samples.len() / self.row];
            cells.fill(0);
            for (&column, edges) in self.columns.picked().iter().zip(&self.edges) {
                let bins = edges.bins() as u64;
                for (cell, row) in cells.iter_mut().zip(samples.chunks_exact(self.row)) {
                    *cell = match edges.bin(row[column as usize].to_f64()) {
                        Some(bin) if *cell != NOWHERE => *cell * bins + bin as u64,
                        _ => NOWHERE,
                    };
                }
            }
            cells.iter().for_each(|cell| take(*cell));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::Bins;

    /// More rows than two tasks and two blocks of weights have, with NaN where ranges are given.
    fn image(nan: bool) -> Image<'static, f32> {
        let sample = |x: u32, y: u32, _| match (x * 7 + y * 31) % 101 {
            0 if nan => f32::NAN,
            1 if nan => f32::INFINITY,
            n => n as f32 * 0.37 - 11.0,
        };
        Image::from_fn(5 * 200, 700, 1, sample).unwrap()
    }

    #[test]
    fn parts_give_what_serial_loops_give() {
        let columns = Columns::new(5, vec![3, 0, 0]).unwrap();
        let even = |count, range| Binning::Even(Bins { count, range });
        let uneven = Binning::Between(Edges::new(vec![-11.0, -2.0, -2.0, 3.7, 20.0]).unwrap());
        let given = [even(7, Some((-10.0, 20.0))), uneven.clone(), even(40, Some((-11.0, 26.0)))];
        let found = [even(3, None), uneven, even(50, None)];
        for (image, binning) in [(image(true), given), (image(false), found)] {
            let dense = joint(&image, &columns, &binning).unwrap();
            assert_eq!(dense, apron_reference::joint(&image, &columns, &binning).unwrap());
            let sparse = joint_sparse(&image, &columns, &binning).unwrap();
            assert_eq!(sparse, apron_reference::joint_sparse(&image, &columns, &binning).unwrap());
            assert!(sparse.cells.iter().all(|&(cell, count)| dense.cells[cell as usize] == count));
            assert_eq!(sparse.cells.len(), dense.cells.iter().filter(|count| **count > 0).count());
            let weights: Vec<f64> = (0..140_000).map(|n| f64::from(n % 977).exp2().recip() - 0.3).collect();
            let sums = joint_weighted(&image, &columns, &binning, &weights).unwrap();
            assert_eq!(sums, apron_reference::joint_weighted(&image, &columns, &binning, &weights).unwrap());
            assert!(sums.cells.iter().any(|sum| *sum != 0.0));
        }
    }
}
