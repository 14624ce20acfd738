//! Counts as files: CSV, JSON and .npy.

use crate::error::{Error, Result};
use crate::{OutputPath, array, extension};
use apron_core::Histogram;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Where a histogram's counts go.
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
    /// A file in the format that its extension says: `csv`, `json` or `npy`.
    ///
    /// # Errors
    /// [`Error::Extension`] for another extension, [`Error::Write`] where no file can be made.
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

    /// Writes the counts; `per_channel` tells the channels apart where there is only one, too.
    ///
    /// # Errors
    /// [`Error::Write`]; what was at the path before is still there.
    pub fn write(&self, histogram: &Histogram, per_channel: bool) -> Result<()> {
        self.path.write(|file| {
            match self.format {
                Format::Csv => file.write_all(csv(histogram, per_channel).as_bytes())?,
                Format::Json => writeln!(file, "{}", json(histogram))?,
                Format::Array => write_counts(file, histogram, per_channel)?,
            }
            Ok(())
        })
    }
}

/// A line for each bin, under a header.
pub fn csv(histogram: &Histogram, per_channel: bool) -> String {
    let mut text = String::from(if per_channel { "channel,bin,low,high,count\n" } else { "bin,low,high,count\n" });
    let edges = histogram.edges();
    for channel in 0..histogram.channels() {
        for (bin, count) in histogram.channel(channel).iter().enumerate() {
            if per_channel {
                let _ = write!(text, "{channel},");
            }
            let _ = writeln!(text, "{bin},{},{},{count}", edges[bin], edges[bin + 1]);
        }
    }
    text
}

fn json(histogram: &Histogram) -> serde_json::Value {
    let counts: Vec<&[u64]> = (0..histogram.channels()).map(|channel| histogram.channel(channel)).collect();
    json!({ "bins": histogram.bins(), "edges": histogram.edges(), "counts": counts })
}

/// As NumPy's counts: int64, of shape (bins,) or (channels, bins).
fn write_counts(file: &mut impl std::io::Write, histogram: &Histogram, per_channel: bool) -> std::io::Result<()> {
    let bins = histogram.bins() as u64;
    let shape = [histogram.channels() as u64, bins];
    array::write_integers(file, if per_channel { &shape } else { &shape[1..] }, histogram.counts())
}
