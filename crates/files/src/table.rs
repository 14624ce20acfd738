//! Tables of counts and of sums: CSV, JSON and .npy.

use crate::error::{Error, Result};
use crate::{Complete, OutputPath, array, extension};
use apron_core::{Histogram, WeightedHistogram};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

pub use crate::joint::{Cells, csv_of_cells, csv_of_sparse, json_of_cells, json_of_sparse};

/// The file of a histogram's counts or sums.
#[derive(Debug)]
pub struct TableOutput<'a> {
    pub(crate) path: OutputPath<'a>,
    pub(crate) format: Format,
}

#[derive(Debug)]
pub(crate) enum Format {
    Csv,
    Json,
    Array,
}

impl<'a> TableOutput<'a> {
    /// Opens a file in the format of its extension: `csv`, `json` or `npy`.
    ///
    /// # Errors
    /// [`Error::Extension`] for another extension, [`Error::Write`] if no file can be created.
    pub fn new(path: &'a Path) -> Result<TableOutput<'a>> {
        let format = match extension(path).as_str() {
            "csv" => Format::Csv,
            "json" => Format::Json,
            "npy" => Format::Array,
            other => {
                let known = "csv, json, npy".into();
                return Err(Error::Extension { path: path.into(), extension: other.into(), known });
            }
        };
        Ok(TableOutput { path: OutputPath::new(path)?, format })
    }

    /// Writes counts to a file that is yet to be [published](crate::publish); with `per_channel`, channels are kept
    /// apart even if there is only one.
    ///
    /// # Errors
    /// [`Error::Write`]; the previous file is then unchanged.
    pub fn complete(&self, histogram: &Histogram, per_channel: bool) -> Result<Complete<'_>> {
        self.path.complete(|file| {
            match self.format {
                Format::Csv => file.write_all(csv(histogram, per_channel).as_bytes())?,
                Format::Json => writeln!(file, "{}", json(histogram))?,
                Format::Array => {
                    let shape = [histogram.channels() as u64, histogram.bins() as u64];
                    array::write_integers(file, sides(&shape, per_channel), histogram.counts())?;
                }
            }
            Ok(())
        })
    }

    /// Writes sums of weights, as [`complete`](Self::complete) does counts.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    pub fn complete_sums(&self, histogram: &WeightedHistogram, per_channel: bool) -> Result<Complete<'_>> {
        self.path.complete(|file| {
            match self.format {
                Format::Csv => file.write_all(csv_of_sums(histogram, per_channel).as_bytes())?,
                Format::Json => writeln!(file, "{}", json_of_sums(histogram))?,
                Format::Array => {
                    let shape = [histogram.channels as u64, histogram.edges.bins() as u64];
                    array::write_floats(file, sides(&shape, per_channel), &histogram.sums)?;
                }
            }
            Ok(())
        })
    }
}

/// Returns the shape of the array: channels and bins, or bins only if channels are not kept apart, as NumPy's.
fn sides(shape: &[u64; 2], per_channel: bool) -> &[u64] {
    if per_channel { shape } else { &shape[1..] }
}

/// Formats a line per bin, with a header.
pub fn csv(histogram: &Histogram, per_channel: bool) -> String {
    lines("count", histogram.edges(), histogram.counts(), per_channel)
}

/// Formats sums of weights, a line per bin, with a header.
///
/// ```
/// use apron_core::{Edges, WeightedHistogram};
///
/// let edges = Edges::new(vec![0.0, 1.0, 3.5])?;
/// let histogram = WeightedHistogram { edges, channels: 1, sums: vec![0.25, -7.0] };
/// let csv = "bin,low,high,sum\n0,0,1,0.25\n1,1,3.5,-7\n";
/// assert_eq!(apron_files::table::csv_of_sums(&histogram, false), csv);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn csv_of_sums(histogram: &WeightedHistogram, per_channel: bool) -> String {
    lines("sum", histogram.edges.values(), &histogram.sums, per_channel)
}

/// Formats a line per bin between edges, channel by channel.
fn lines<T: std::fmt::Display>(name: &str, edges: &[f64], values: &[T], per_channel: bool) -> String {
    let mut text = format!("{}bin,low,high,{name}\n", if per_channel { "channel," } else { "" });
    for (channel, values) in values.chunks(edges.len() - 1).enumerate() {
        for (bin, value) in values.iter().enumerate() {
            if per_channel {
                let _ = write!(text, "{channel},");
            }
            let _ = writeln!(text, "{bin},{},{},{value}", edges[bin], edges[bin + 1]);
        }
    }
    text
}

/// Makes an object with the number of bins, their edges, and the counts by channel; an infinite edge is null in JSON.
pub fn json(histogram: &Histogram) -> Value {
    let counts: Vec<&[u64]> = (0..histogram.channels()).map(|channel| histogram.channel(channel)).collect();
    json!({ "bins": histogram.bins(), "edges": histogram.edges(), "counts": counts })
}

/// Makes an object as [`json()`], with sums of weights in place of counts.
pub fn json_of_sums(histogram: &WeightedHistogram) -> Value {
    let bins = histogram.edges.bins();
    let sums: Vec<&[f64]> = histogram.sums.chunks(bins).collect();
    json!({ "bins": bins, "edges": histogram.edges.values(), "sums": sums })
}
