//! Tables of counts and of sums: CSV, JSON and .npy.

use crate::error::{Error, Result};
use crate::{OutputPath, array, extension};
use apron_core::{Edges, Histogram, Histogram2d, WeightedHistogram};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The file of a histogram's counts or sums.
pub struct TableOutput<'a> {
    path: OutputPath<'a>,
    format: Format,
}

enum Format {
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

    /// Writes counts; with `per_channel`, channels are kept apart even if there is only one.
    ///
    /// # Errors
    /// [`Error::Write`]; the previous file is then unchanged.
    pub fn write(&self, histogram: &Histogram, per_channel: bool) -> Result<()> {
        self.path.write(|file| {
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

    /// Writes sums of weights; `per_channel` as for [`write`](Self::write).
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_sums(&self, histogram: &WeightedHistogram, per_channel: bool) -> Result<()> {
        self.path.write(|file| {
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

    /// Writes counts of pairs of bins; as an array they are int64 of shape (bins of the first, bins of the second).
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_pairs(&self, histogram: &Histogram2d) -> Result<()> {
        let bins = [&histogram.first, &histogram.second].map(|edges| edges.bins() as u64);
        self.path.write(|file| {
            match self.format {
                Format::Csv => file.write_all(csv_of_pairs(histogram).as_bytes())?,
                Format::Json => writeln!(file, "{}", json_of_pairs(histogram))?,
                Format::Array => array::write_integers(file, &bins, &histogram.counts)?,
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

/// Formats a line per pair of bins, with a header.
///
/// ```
/// use apron_core::{Edges, Histogram2d};
///
/// let (first, second) = (Edges::new(vec![0.0, 1.0])?, Edges::new(vec![0.0, 2.0, 4.0])?);
/// let csv = "bin,low,high,bin2,low2,high2,count\n0,0,1,0,0,2,5\n0,0,1,1,2,4,6\n";
/// assert_eq!(apron_files::table::csv_of_pairs(&Histogram2d { first, second, counts: vec![5, 6] }), csv);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn csv_of_pairs(histogram: &Histogram2d) -> String {
    let mut text = String::from("bin,low,high,bin2,low2,high2,count\n");
    let (edges, others) = (histogram.first.values(), histogram.second.values());
    for (cell, count) in histogram.counts.iter().enumerate() {
        let (bin, other) = (cell / histogram.second.bins(), cell % histogram.second.bins());
        let (low, high, other_low, other_high) = (edges[bin], edges[bin + 1], others[other], others[other + 1]);
        let _ = writeln!(text, "{bin},{low},{high},{other},{other_low},{other_high},{count}");
    }
    text
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

/// Makes an object for pairs of bins: both numbers of bins, both edges, and the counts as a matrix, with a row for each
/// bin of the first.
pub fn json_of_pairs(histogram: &Histogram2d) -> Value {
    let edges = [&histogram.first, &histogram.second];
    let counts: Vec<&[u64]> = histogram.counts.chunks(histogram.second.bins()).collect();
    json!({ "bins": edges.map(Edges::bins), "edges": edges.map(Edges::values), "counts": counts })
}
