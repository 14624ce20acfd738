//! Tables of histograms of many dimensions.

use crate::array;
use crate::error::Result;
use crate::table::{Format, TableOutput};
use apron_core::{Edges, SparseHistogram};
use serde_json::{Value, json};
use std::fmt::{Display, Write as _};
use std::io::Write as _;

/// What the cells of a histogram of many dimensions hold, in row-major order.
#[derive(Clone, Copy, Debug)]
pub enum Cells<'a> {
    /// Counts.
    Counts(&'a [u64]),
    /// Sums of weights.
    Sums(&'a [f64]),
    /// Densities.
    Densities(&'a [f64]),
}

impl Cells<'_> {
    fn name(&self) -> &'static str {
        match self {
            Cells::Counts(_) => "count",
            Cells::Sums(_) => "sum",
            Cells::Densities(_) => "density",
        }
    }
}

impl TableOutput<'_> {
    /// Writes all cells; as an array they are int64 or float64, of one dimension for each column.
    ///
    /// # Errors
    /// [`Error::Write`](crate::Error::Write); the previous file is then unchanged.
    pub fn write_cells(&self, edges: &[Edges], cells: Cells<'_>) -> Result<()> {
        self.path.write(|file| {
            match (&self.format, cells) {
                (Format::Csv, cells) => file.write_all(csv_of_cells(edges, cells).as_bytes())?,
                (Format::Json, cells) => writeln!(file, "{}", json_of_cells(edges, cells))?,
                (Format::Array, Cells::Counts(counts)) => array::write_integers(file, &sides(edges), counts)?,
                (Format::Array, Cells::Sums(numbers) | Cells::Densities(numbers)) => {
                    array::write_floats(file, &sides(edges), numbers)?;
                }
            }
            Ok(())
        })
    }

    /// Writes the cells that are not empty; as an array they are int64 of shape (cells, columns + 1): the bin of each
    /// column, and the count.
    ///
    /// # Errors
    /// As [`write_cells`](Self::write_cells).
    pub fn write_sparse(&self, histogram: &SparseHistogram) -> Result<()> {
        self.path.write(|file| {
            match self.format {
                Format::Csv => file.write_all(csv_of_sparse(histogram).as_bytes())?,
                Format::Json => writeln!(file, "{}", json_of_sparse(histogram))?,
                Format::Array => {
                    let shape = [histogram.cells.len() as u64, histogram.edges.len() as u64 + 1];
                    array::write_integers(file, &shape, &rows(histogram).concat())?;
                }
            }
            Ok(())
        })
    }
}

fn sides(edges: &[Edges]) -> Vec<u64> {
    edges.iter().map(|edges| edges.bins() as u64).collect()
}

/// Formats a line per cell, with a header.
///
/// ```
/// use apron_core::Edges;
/// use apron_files::table::{Cells, csv_of_cells};
///
/// let edges = [Edges::new(vec![0.0, 1.0])?, Edges::new(vec![0.0, 2.0, 4.0])?];
/// let csv = "bin,low,high,bin2,low2,high2,count\n0,0,1,0,0,2,5\n0,0,1,1,2,4,6\n";
/// assert_eq!(csv_of_cells(&edges, Cells::Counts(&[5, 6])), csv);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn csv_of_cells(edges: &[Edges], cells: Cells<'_>) -> String {
    let mut text = header(edges.len(), cells.name());
    match cells {
        Cells::Counts(counts) => lines(&mut text, edges, (0..).zip(counts)),
        Cells::Sums(numbers) | Cells::Densities(numbers) => lines(&mut text, edges, (0..).zip(numbers)),
    }
    text
}

/// Formats a line per cell that is not empty, with the header of [`csv_of_cells`].
pub fn csv_of_sparse(histogram: &SparseHistogram) -> String {
    let mut text = header(histogram.edges.len(), "count");
    lines(&mut text, &histogram.edges, histogram.cells.iter().copied());
    text
}

fn header(columns: usize, name: &str) -> String {
    let mut text = String::new();
    for column in 1..=columns {
        let number = if column > 1 { column.to_string() } else { String::new() };
        let _ = write!(text, "bin{number},low{number},high{number},");
    }
    text + name + "\n"
}

fn lines<T: Display>(text: &mut String, edges: &[Edges], cells: impl Iterator<Item = (u64, T)>) {
    let mut bins = vec![0; edges.len()];
    for (cell, amount) in cells {
        apron_core::find_bins(edges, cell, &mut bins);
        for (bin, edges) in bins.iter().zip(edges) {
            let _ = write!(text, "{bin},{},{},", edges.values()[*bin], edges.values()[bin + 1]);
        }
        let _ = writeln!(text, "{amount}");
    }
}

/// Makes an object with the numbers of bins, all edges, and the cells as nested lists, one in the other for each
/// column; an infinite edge is null in JSON.
///
/// ```
/// use apron_core::Edges;
/// use apron_files::table::{Cells, json_of_cells};
///
/// let edges = [Edges::new(vec![0.0, 1.0])?, Edges::new(vec![0.0, 2.0, 4.0])?];
/// let json = r#"{"bins":[1,2],"edges":[[0.0,1.0],[0.0,2.0,4.0]],"sums":[[5.5,6.0]]}"#;
/// assert_eq!(json_of_cells(&edges, Cells::Sums(&[5.5, 6.0])).to_string(), json);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn json_of_cells(edges: &[Edges], cells: Cells<'_>) -> Value {
    let mut object = json_of_edges(edges);
    let name = if let Cells::Densities(_) = cells { "densities".into() } else { format!("{}s", cells.name()) };
    object[name] = match cells {
        Cells::Counts(counts) => nested(edges, counts),
        Cells::Sums(numbers) | Cells::Densities(numbers) => nested(edges, numbers),
    };
    object
}

/// Makes an object with the numbers of bins, all edges, and a list for each cell that is not empty: the bin of each
/// column, and the count.
pub fn json_of_sparse(histogram: &SparseHistogram) -> Value {
    let mut object = json_of_edges(&histogram.edges);
    object["cells"] = json!(rows(histogram));
    object
}

fn json_of_edges(edges: &[Edges]) -> Value {
    json!({ "bins": sides(edges), "edges": edges.iter().map(Edges::values).collect::<Vec<_>>() })
}

fn nested<T: Copy + Into<Value>>(edges: &[Edges], cells: &[T]) -> Value {
    match edges.split_first() {
        Some((first, rest)) if !rest.is_empty() => {
            cells.chunks(cells.len() / first.bins()).map(|part| nested(rest, part)).collect()
        }
        _ => cells.iter().copied().collect(),
    }
}

fn rows(histogram: &SparseHistogram) -> Vec<Vec<u64>> {
    let row = |&(cell, count): &(u64, u64)| {
        histogram.bins_of(cell).into_iter().map(|bin| bin as u64).chain([count]).collect()
    };
    histogram.cells.iter().map(row).collect()
}
