//! Histograms of many dimensions: rows of columns, and the counts or sums of the cells between the columns' edges.

use crate::{Binning, Bins, Edges, Error, PixelType, Result, Shape, check_memory};

/// The operation's name in errors and reports.
const OPERATION: &str = "histogramdd";

/// Most columns of a histogram of many dimensions.
pub const MAX_COLUMNS: usize = 8;

/// Most cells of a dense histogram: 8 GiB of counts.
const MAX_CELLS: u128 = 1 << 30;

/// Samples of an image as rows of columns: `row` successive samples are a row, and some of them are counted.
///
/// The pixels of an image are rows, whose columns are the channels; or the rows of an image of one channel are, whose
/// columns are the pixels.
///
/// ```
/// use apron_core::Columns;
///
/// // The last and the first channel of pixels of three.
/// let columns = Columns::new(3, vec![2, 0])?;
/// assert_eq!((columns.row(), columns.picked()), (3, &[2, 0][..]));
/// let error = Columns::all(9).unwrap_err().to_string();
/// assert_eq!(error, "histogramdd: number of columns is 9, but must be 1 to 8");
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    row: u32,
    picked: Vec<u32>,
}

impl Columns {
    /// Picks columns, from 0, of rows of `row` samples. A column may be picked twice.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no column, more than [`MAX_COLUMNS`], or one that the rows do not have.
    pub fn new(row: u32, picked: Vec<u32>) -> Result<Columns> {
        if !(1..=MAX_COLUMNS).contains(&picked.len()) {
            let limit = format!("1 to {MAX_COLUMNS}");
            return Err(Error::parameter(OPERATION, "number of columns", picked.len(), limit));
        }
        if let Some(wrong) = picked.iter().find(|column| **column >= row) {
            return Err(Error::parameter(OPERATION, "column", wrong, format!("0 to {}", i64::from(row) - 1)));
        }
        Ok(Columns { row, picked })
    }

    /// Picks all columns of rows of `row` samples.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn all(row: u32) -> Result<Columns> {
        // One column above the limit gives the same error as all columns, and needs less memory.
        let columns = Columns::new(row, (0..row.min(MAX_COLUMNS as u32 + 1)).collect());
        columns.map_err(|_| Error::parameter(OPERATION, "number of columns", row, format!("1 to {MAX_COLUMNS}")))
    }

    /// Returns the number of samples of a row.
    pub fn row(&self) -> u32 {
        self.row
    }

    /// Returns the columns that are counted, in the order of the histogram's dimensions.
    pub fn picked(&self) -> &[u32] {
        &self.picked
    }

    /// Returns the number of rows of an image.
    ///
    /// # Errors
    /// [`Error::Shape`] if its samples are no whole rows.
    pub fn rows(&self, shape: Shape) -> Result<u64> {
        let (samples, row) = (shape.samples(), u64::from(self.row));
        if samples.is_multiple_of(row) {
            return Ok(samples / row);
        }
        let limit = format!("a multiple of {row}, the samples of a row");
        Err(Error::Shape { what: "number of samples", value: samples.to_string(), limit })
    }

    /// Checks that there are bins for each column.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another number; as [`Binning::check`].
    pub fn check_binning(&self, binning: &[Binning]) -> Result<()> {
        let columns = self.picked.len();
        if binning.len() != columns {
            let limit = format!("{columns}, one for each column");
            return Err(Error::parameter(OPERATION, "number of binnings", binning.len(), limit));
        }
        binning.iter().try_for_each(Binning::check)
    }

    /// Checks that there is one weight for each row.
    ///
    /// # Errors
    /// [`Error::Parameter`] for another number.
    pub fn check_weights(&self, shape: Shape, weights: u64) -> Result<()> {
        let rows = self.rows(shape)?;
        if weights == rows {
            return Ok(());
        }
        Err(Error::parameter(OPERATION, "number of weights", weights, format!("{rows}, one for each row")))
    }
}

impl Bins {
    /// Ten bins over the range of the samples: the default of `numpy.histogramdd`.
    pub const OF_COLUMN: Bins = Bins { count: 10, range: None };
}

impl Binning {
    /// Returns the edges of a column's bins, as `numpy.histogramdd` does: over a given range they are f64 for samples
    /// of any type; without a range they lie between the least and the largest sample, for u8, too. Otherwise as
    /// [`edges`](Self::edges).
    ///
    /// # Errors
    /// As [`edges`](Self::edges).
    pub fn edges_of_column(&self, pixel: PixelType, extremes: impl FnOnce() -> (f64, f64)) -> Result<Edges> {
        let seeks = matches!(self, Binning::Even(Bins { range: None, .. }));
        let single = matches!(pixel, PixelType::F16 | PixelType::F32);
        self.edges(if seeks && single { pixel } else { PixelType::F64 }, extremes)
    }
}

/// Counts, or sums of weights, of rows of samples by the bins of several columns.
#[derive(Clone, Debug, PartialEq)]
pub struct JointHistogram {
    /// Shape of the input.
    pub shape: Shape,
    /// Sample type of the input.
    pub src: PixelType,
    /// Its rows, and the columns that are counted.
    pub columns: Columns,
    /// The edges of each column's bins.
    pub edges: Vec<Edges>,
    /// The type of the weights, f32 or f64, one per row; `None` counts.
    pub weights: Option<PixelType>,
}

/// Returns the number of cells between these edges.
///
/// # Errors
/// [`Error::Parameter`] for more than 2^30, [`Error::Shape`] for more than memory holds `copies` times.
pub fn dense_cells(edges: &[Edges], copies: u64) -> Result<u64> {
    let cells = cells_of(edges);
    if cells > MAX_CELLS {
        let limit = format!("at most {MAX_CELLS}; a sparse result takes more");
        return Err(Error::parameter(OPERATION, "number of cells", cells, limit));
    }
    let cells = cells as u64;
    check_memory::<u64>(cells * copies, format_args!("{cells} cells; a sparse result takes more"))?;
    Ok(cells)
}

/// Checks that u64 numbers the cells between these edges.
///
/// # Errors
/// [`Error::Parameter`] for more than 2^63.
pub fn check_sparse_cells(edges: &[Edges]) -> Result<()> {
    match cells_of(edges) {
        cells if cells <= 1 << 63 => Ok(()),
        cells => Err(Error::parameter(OPERATION, "number of cells", cells, "at most 2^63 of a sparse result")),
    }
}

fn cells_of(edges: &[Edges]) -> u128 {
    edges.iter().fold(1, |cells: u128, edges| cells.saturating_mul(edges.bins() as u128))
}

/// What a cell holds: a count or a sum.
pub trait Amount: Copy + Default + std::ops::AddAssign {
    /// Converts to the nearest f64.
    fn to_f64(self) -> f64;
}

impl Amount for u64 {
    fn to_f64(self) -> f64 {
        self as f64
    }
}

impl Amount for f64 {
    fn to_f64(self) -> f64 {
        self
    }
}

/// A histogram of one to eight dimensions: counts, or sums of weights as f64.
///
/// ```
/// use apron_core::{Edges, HistogramDd};
///
/// let edges = vec![Edges::new(vec![0.0, 1.0, 2.0])?, Edges::new(vec![0.0, 5.0, 10.0])?];
/// let histogram = HistogramDd { edges, cells: vec![1u64, 0, 2, 1] };
/// assert_eq!((histogram.sides(), histogram.at(&[1, 0])), (vec![2, 2], Some(2)));
/// assert_eq!(histogram.marginal(&[1])?.cells, [3, 1]);
/// // A share of the rows, per unit of each column.
/// assert_eq!(histogram.density(), [0.05, 0.0, 0.1, 0.05]);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramDd<T = u64> {
    /// The edges of each dimension's bins.
    pub edges: Vec<Edges>,
    /// The cells in row-major order: the bins of the last dimension are next to each other.
    pub cells: Vec<T>,
}

impl<T: Amount> HistogramDd<T> {
    /// Returns the number of bins of each dimension.
    pub fn sides(&self) -> Vec<usize> {
        self.edges.iter().map(Edges::bins).collect()
    }

    /// Returns the cell of a bin of each dimension; `None` where there is no such bin.
    pub fn at(&self, bins: &[usize]) -> Option<T> {
        let inside = bins.len() == self.edges.len() && bins.iter().zip(&self.edges).all(|(bin, of)| *bin < of.bins());
        let cell = bins.iter().zip(&self.edges).fold(0, |cell, (bin, of)| cell * of.bins() + bin);
        self.cells.get(cell).copied().filter(|_| inside)
    }

    /// Returns the histogram of some dimensions, in the given order: the sums over all others, in
    /// the order of the cells.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no dimension, one that does not exist, or one that is named twice.
    pub fn marginal(&self, dimensions: &[usize]) -> Result<HistogramDd<T>> {
        let all = self.edges.len();
        let twice = |(n, dimension): (usize, &usize)| dimensions[..n].contains(dimension);
        if dimensions.is_empty() || dimensions.iter().any(|of| *of >= all) || dimensions.iter().enumerate().any(twice) {
            let limit = format!("different ones of 0 to {}", all as i64 - 1);
            return Err(Error::parameter(OPERATION, "dimensions", format!("{dimensions:?}"), limit));
        }
        let edges: Vec<Edges> = dimensions.iter().map(|&of| self.edges[of].clone()).collect();
        let mut cells = vec![T::default(); edges.iter().map(Edges::bins).product()];
        let mut bins = vec![0; all];
        for (cell, amount) in self.cells.iter().enumerate() {
            find_bins(&self.edges, cell as u64, &mut bins);
            cells[dimensions.iter().fold(0, |at, &of| at * self.edges[of].bins() + bins[of])] += *amount;
        }
        Ok(HistogramDd { edges, cells })
    }

    /// Returns the cells as densities, whose integral over all cells is 1: each is divided by its bins' widths, one
    /// after the other, and by the sum of all, as `numpy.histogramdd` does.
    pub fn density(&self) -> Vec<f64> {
        let mut sum = T::default();
        self.cells.iter().for_each(|amount| sum += *amount);
        let mut bins = vec![0; self.edges.len()];
        let of = |(cell, amount): (usize, &T)| {
            find_bins(&self.edges, cell as u64, &mut bins);
            let widths = bins.iter().zip(&self.edges).map(|(bin, of)| of.values()[bin + 1] - of.values()[*bin]);
            widths.fold(amount.to_f64(), |density, width| density / width) / sum.to_f64()
        };
        self.cells.iter().enumerate().map(of).collect()
    }
}

/// The cells of a histogram that are not empty, of one to eight dimensions with any number of cells up to 2^63.
///
/// ```
/// use apron_core::{Edges, SparseHistogram};
///
/// let edges = vec![Edges::new(vec![0.0, 1.0, 2.0])?, Edges::new(vec![0.0, 5.0, 10.0])?];
/// let histogram = SparseHistogram { edges, cells: vec![(0, 7), (2, 1)] };
/// assert_eq!(histogram.bins_of(2), [1, 0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SparseHistogram {
    /// The edges of each dimension's bins.
    pub edges: Vec<Edges>,
    /// The number of each cell in row-major order, ascending, and its count, which is not 0.
    pub cells: Vec<(u64, u64)>,
}

impl SparseHistogram {
    /// Returns the bin of a cell in each dimension.
    pub fn bins_of(&self, cell: u64) -> Vec<usize> {
        let mut bins = vec![0; self.edges.len()];
        find_bins(&self.edges, cell, &mut bins);
        bins
    }
}

/// Writes the bin of a cell in each dimension; there is one number for each.
pub fn find_bins(edges: &[Edges], mut cell: u64, bins: &mut [usize]) {
    for (bin, edges) in bins.iter_mut().zip(edges).rev() {
        (*bin, cell) = ((cell % edges.bins() as u64) as usize, cell / edges.bins() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(values: &[f64]) -> Edges {
        Edges::new(values.to_vec()).unwrap()
    }

    #[test]
    fn edges_of_columns_are_numpys() {
        let even = |count, range| Binning::Even(Bins { count, range });
        // numpy.histogramdd(numpy.float32([[0], [1]]), 10, [(0, 1)])[1][0][3] is 0.30000000000000004, of f64.
        let given = even(10, Some((0.0, 1.0))).edges_of_column(PixelType::F32, || (3.0, 4.0)).unwrap();
        assert_eq!(given.values()[3], 0.30000000000000004);
        let found = even(10, None).edges_of_column(PixelType::F32, || (0.0, 1.0)).unwrap();
        assert_eq!(found.values()[3], f64::from(3.0f32 * 0.1f32));
        let bytes = Binning::from(Bins::OF_COLUMN).edges_of_column(PixelType::U8, || (5.0, 15.0)).unwrap();
        assert_eq!((bytes.values()[0], bytes.values()[10], bytes.bins()), (5.0, 15.0, 10));
    }

    #[test]
    fn columns_that_there_are_not_are_refused() {
        let refused = |row, picked: &[u32]| Columns::new(row, picked.to_vec()).unwrap_err().to_string();
        assert_eq!(refused(3, &[0, 3]), "histogramdd: column is 3, but must be 0 to 2");
        assert_eq!(refused(20, &[0; 9]), "histogramdd: number of columns is 9, but must be 1 to 8");
        assert!(refused(3, &[]).contains("number of columns is 0"));
        let three = Columns::all(3).unwrap();
        let shape = Shape::new(5, 2, 1).unwrap();
        assert!(three.rows(shape).unwrap_err().to_string().contains("number of samples is 10"));
        assert_eq!(three.rows(Shape::new(5, 3, 1).unwrap()).unwrap(), 5);
        let error = three.check_weights(Shape::new(3, 7, 1).unwrap(), 6).unwrap_err().to_string();
        assert_eq!(error, "histogramdd: number of weights is 6, but must be 7, one for each row");
        let error = three.check_binning(&[Bins::OF_COLUMN.into()]).unwrap_err().to_string();
        assert!(error.contains("number of binnings is 1, but must be 3"), "{error}");
    }

    #[test]
    fn too_many_cells_suggest_a_sparse_result() {
        let many = vec![edges(&(0..=1025).map(f64::from).collect::<Vec<_>>()); 3];
        let error = dense_cells(&many, 1).unwrap_err().to_string();
        assert!(error.contains("number of cells is 1076890625") && error.contains("sparse"), "{error}");
        assert!(check_sparse_cells(&many).is_ok());
        let error = check_sparse_cells(&[&many[..], &many, &many[..1]].concat()).unwrap_err().to_string();
        assert!(error.contains("at most 2^63"), "{error}");
    }

    #[test]
    fn marginals_keep_the_order_of_what_is_named() {
        let edges = vec![edges(&[0.0, 1.0, 2.0]), edges(&[0.0, 1.0, 2.0, 3.0]), edges(&[0.0, 1.0])];
        let histogram = HistogramDd { edges, cells: vec![1u64, 2, 3, 4, 5, 6] };
        assert_eq!(histogram.marginal(&[0]).unwrap().cells, [6, 15]);
        assert_eq!(histogram.marginal(&[1, 0]).unwrap().cells, [1, 4, 2, 5, 3, 6]);
        assert_eq!(histogram.marginal(&[2]).unwrap().cells, [21]);
        for wrong in [&[][..], &[3], &[0, 0]] {
            assert!(histogram.marginal(wrong).unwrap_err().to_string().contains("dimensions"), "{wrong:?}");
        }
        assert_eq!((histogram.at(&[1, 2, 0]), histogram.at(&[1, 3, 0]), histogram.at(&[1])), (Some(6), None, None));
    }
}
