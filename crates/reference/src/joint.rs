//! Serial histograms of many dimensions.

use apron_core::{
    Binning, Columns, Edges, HistogramDd, Image, Pixel, Result, SparseHistogram, WEIGHTED_BLOCK, check_sparse_cells,
    dense_cells,
};
use std::collections::BTreeMap;

/// Counts rows by the bins of their columns: `numpy.histogramdd`.
///
/// ```
/// use apron_core::{Binning, Columns, Image};
///
/// let image = Image::new(3, 1, 2, vec![0u8, 200, 10, 10, 200, 200])?;
/// let histogram = apron_reference::joint(&image, &Columns::all(2)?, &[Binning::from(2), Binning::from(2)])?;
/// assert_eq!(histogram.cells, [1, 1, 0, 1]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Columns::rows`], [`Columns::check_binning`], [`Binning::edges_of_column`] and [`dense_cells`].
pub fn joint<T: Pixel>(image: &Image<T>, columns: &Columns, binning: &[Binning]) -> Result<HistogramDd> {
    let (rows, edges) = placed(image, columns, binning)?;
    let mut cells = vec![0; dense_cells(&edges, 1)? as usize];
    rows.into_iter().flatten().for_each(|cell| cells[cell as usize] += 1);
    Ok(HistogramDd { edges, cells })
}

/// Sums weights, one per row, by the bins of the columns: blocks of [`WEIGHTED_BLOCK`] rows, each summed from 0 in the
/// order of the rows and then added to the total.
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
    let (rows, edges) = placed(image, columns, binning)?;
    let mut cells = vec![0.0; dense_cells(&edges, 2)? as usize];
    for (rows, weights) in rows.chunks(WEIGHTED_BLOCK).zip(weights.chunks(WEIGHTED_BLOCK)) {
        let mut block = vec![0.0; cells.len()];
        for (cell, weight) in rows.iter().zip(weights) {
            if let Some(cell) = cell {
                block[*cell as usize] += weight;
            }
        }
        cells.iter_mut().zip(block).for_each(|(sum, more)| *sum += more);
    }
    Ok(HistogramDd { edges, cells })
}

/// Counts rows as [`joint`], and returns the cells that are not empty.
///
/// # Errors
/// As [`joint`], but [`check_sparse_cells`] in place of [`dense_cells`].
pub fn joint_sparse<T: Pixel>(image: &Image<T>, columns: &Columns, binning: &[Binning]) -> Result<SparseHistogram> {
    let (rows, edges) = placed(image, columns, binning)?;
    let mut cells = BTreeMap::new();
    rows.into_iter().flatten().for_each(|cell| *cells.entry(cell).or_insert(0) += 1);
    Ok(SparseHistogram { edges, cells: cells.into_iter().collect() })
}

/// Returns the cell of each row, and the edges of each column.
fn placed<T: Pixel>(
    image: &Image<T>,
    columns: &Columns,
    binning: &[Binning],
) -> Result<(Vec<Option<u64>>, Vec<Edges>)> {
    columns.check_binning(binning)?;
    columns.rows(image.shape())?;
    let samples = image.packed();
    let rows = || samples.chunks_exact(columns.row() as usize);
    let mut edges = Vec::new();
    for (&column, binning) in columns.picked().iter().zip(binning) {
        let extremes = || {
            let samples = rows().map(|row| row[column as usize].to_f64());
            samples.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| {
                // NaN is kept once it was found.
                if low.is_nan() || sample.is_nan() { (f64::NAN, f64::NAN) } else { (low.min(sample), high.max(sample)) }
            })
        };
        edges.push(binning.edges_of_column(T::PIXEL, extremes)?);
    }
    check_sparse_cells(&edges)?;
    let cell = |row: &[T]| {
        columns.picked().iter().zip(&edges).try_fold(0, |cell, (&column, edges)| {
            Some(cell * edges.bins() as u64 + edges.bin(row[column as usize].to_f64())? as u64)
        })
    };
    let cells = rows().map(cell).collect();
    Ok((cells, edges))
}
