//! `apron histogramdd`.

use super::histogram::{file, goes_to_stdout};
use super::strips::Input;
use crate::args::{self, Common, Devices};
use crate::error::{Error, Result};
use crate::place;
use crate::report::{Made, Ran, Report, print};
use apron::{AnyImage, Binning, Bins, Device, Edges, HistogramDd, HistogramDdBuilder, SparseHistogram, Table};
use apron_core::{Amount, MAX_COLUMNS};
use apron_files::table::{self, Cells, TableOutput};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron histogramdd points.npy --bins 32 --range 0,1 --out counts.npy
  apron histogramdd photo.jpg --columns 0,2 --bins 16,8 --range 0,256 --out counts.csv
  apron histogramdd points.npy --edges \"0,1,10;edges.npy\" --weights masses.npy --density
  apron histogramdd fixed.tif moving.tif --bins 64 --information --json
  apron histogramdd points.npy --bins 1000 --sparse --out cells.npy

An image of one channel is a table, whose columns are its pixels, as a .npy file of shape (rows, columns) is; the pixels of
others are rows, whose columns are the channels. Several images of one size are columns, too: all channels of the first, then
those of the next. The counts are those of numpy.histogramdd; without --out they are written as CSV, or stand in the report of
--json.")]
pub(crate) struct Args {
    /// The images: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr
    #[arg(value_name = "IN", required = true)]
    input: Vec<PathBuf>,
    /// The columns that are counted, up to 8, from 0 [default: all]
    #[arg(long, value_name = "A[,B..]", value_delimiter = ',')]
    columns: Vec<u32>,
    /// Number of bins, of all columns or of each [default: 10]
    #[arg(long, value_name = "N[,M..]", value_delimiter = ',')]
    bins: Vec<usize>,
    /// Lower and upper end of the bins, of all columns or of each [default: the least and largest sample of each]
    #[arg(
        long, value_name = "LO,HI[,LO,HI..]", value_delimiter = ',', value_parser = args::number,
        allow_hyphen_values = true
    )]
    range: Vec<f64>,
    /// Edges of the bins of all columns, or of each, separated by semicolons: .npy files of one
    /// dimension, or lists of numbers
    #[arg(long, value_name = "FILE|LIST[;..]", conflicts_with_all = ["bins", "range"], allow_hyphen_values = true)]
    edges: Option<String>,
    /// Sum up weights instead of counting: a .npy file of shape (rows) for a table, else (height, width)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["information", "sparse"])]
    weights: Option<PathBuf>,
    /// Give for each cell its share of all, divided by its size
    #[arg(long, conflicts_with = "sparse")]
    density: bool,
    /// Sum up over all columns but these, from 0 in the order of --columns
    #[arg(long, value_name = "A[,B..]", value_delimiter = ',', conflicts_with = "sparse")]
    marginal: Vec<usize>,
    /// Tell entropies and mutual information of two columns, in nats
    #[arg(long, conflicts_with = "sparse")]
    information: bool,
    /// Give only cells that are not empty; a .npy file holds the bin of each column, and the count
    #[arg(long)]
    sparse: bool,
    /// Write the counts to a .csv, .json or .npy file, or, as CSV, to - for the standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

impl Args {
    /// Returns the bins of all columns, or of each.
    fn binning(&self) -> Result<Vec<Binning>> {
        if let Some(edges) = &self.edges {
            return edges.split(';').map(|edges| Ok(args::edges(edges)?.into())).collect();
        }
        if self.range.len() % 2 == 1 {
            let what = format!("--range: {} numbers, but must be LO,HI for all columns or each", self.range.len());
            return Err(Error::Usage(what));
        }
        let ranges: Vec<(f64, f64)> = self.range.as_chunks().0.iter().map(|&[low, high]| (low, high)).collect();
        let (counts, most) = (&self.bins, self.bins.len().max(ranges.len()).max(1));
        let single = [counts.len(), ranges.len()].into_iter().all(|of| of <= 1 || of == most);
        if !single || most > MAX_COLUMNS {
            let what = format!("--bins for {} columns and --range for {}", counts.len(), ranges.len());
            return Err(Error::Usage(format!("{what}, but both must be for all or for each of up to {MAX_COLUMNS}")));
        }
        let of = |column: usize| {
            let count = counts.get(column).or(counts.first()).copied().unwrap_or(Bins::OF_COLUMN.count);
            Bins { count, range: ranges.get(column).or(ranges.first()).copied() }
        };
        Ok((0..most).map(|column| of(column).into()).collect())
    }

    /// Returns the histogram of these images, with the options set.
    fn histogram<'a>(&'a self, device: &'a Device, images: &'a [AnyImage<'static>]) -> Result<HistogramDdBuilder<'a>> {
        let table = match images {
            [table] if table.shape().channels == 1 => Table::of_rows(table),
            [image] => image.into(),
            several => Table::of_images(several),
        };
        let mut histogram = device.histogramdd(table).variant(self.common.variant.as_deref());
        if !self.columns.is_empty() {
            histogram = histogram.columns(&self.columns[..]);
        }
        let binning = self.binning()?;
        Ok(match &binning[..] {
            [all] => histogram.bins(all.clone()),
            _ => histogram.bins_of(binning),
        })
    }
}

/// The content of the cells.
pub(super) enum Found {
    Counts(HistogramDd),
    Sums(HistogramDd<f64>),
    Densities(HistogramDd<f64>),
    Sparse(SparseHistogram),
}

impl Found {
    fn edges(&self) -> &[Edges] {
        match self {
            Found::Counts(histogram) => &histogram.edges,
            Found::Sums(histogram) | Found::Densities(histogram) => &histogram.edges,
            Found::Sparse(histogram) => &histogram.edges,
        }
    }

    fn csv(&self) -> String {
        match self {
            Found::Counts(histogram) => table::csv_of_cells(&histogram.edges, Cells::Counts(&histogram.cells)),
            Found::Sums(histogram) => table::csv_of_cells(&histogram.edges, Cells::Sums(&histogram.cells)),
            Found::Densities(histogram) => table::csv_of_cells(&histogram.edges, Cells::Densities(&histogram.cells)),
            Found::Sparse(histogram) => table::csv_of_sparse(histogram),
        }
    }

    fn json(&self) -> Value {
        match self {
            Found::Counts(histogram) => table::json_of_cells(&histogram.edges, Cells::Counts(&histogram.cells)),
            Found::Sums(histogram) => table::json_of_cells(&histogram.edges, Cells::Sums(&histogram.cells)),
            Found::Densities(histogram) => table::json_of_cells(&histogram.edges, Cells::Densities(&histogram.cells)),
            Found::Sparse(histogram) => table::json_of_sparse(histogram),
        }
    }

    fn write(&self, out: &TableOutput<'_>) -> apron_files::Result<()> {
        match self {
            Found::Counts(histogram) => out.write_cells(&histogram.edges, Cells::Counts(&histogram.cells)),
            Found::Sums(histogram) => out.write_cells(&histogram.edges, Cells::Sums(&histogram.cells)),
            Found::Densities(histogram) => out.write_cells(&histogram.edges, Cells::Densities(&histogram.cells)),
            Found::Sparse(histogram) => out.write_sparse(histogram),
        }
    }
}

/// Counts, and writes or prints what was found.
pub(super) fn run(args: &Args) -> Result<(Report, &Common)> {
    let to_stdout = goes_to_stdout(&args.out, &args.common)?;
    let (report, found) = take(args, &mut Devices::watched(&args.common))?;
    if !args.common.json {
        match &report.made {
            Made::Joint { information: Some(information), .. } if !to_stdout => {
                let names = ["entropy", "entropy2", "joint", "mutual", "normalized"];
                let values = ["/entropies/0", "/entropies/1", "/joint", "/mutual", "/normalized"];
                let line = |(name, at): (&str, &str)| match information.pointer(at) {
                    Some(Value::Number(value)) => format!("{name},{value}\n"),
                    _ => format!("{name},nan\n"),
                };
                let lines: String = names.into_iter().zip(values).map(line).collect();
                print(&format!("quantity,value\n{lines}"))?;
            }
            _ if to_stdout || args.out.is_none() => print(&found.csv())?,
            _ => {}
        }
    }
    Ok((report, &args.common))
}

/// Counts or sums, and writes the file that was asked for.
pub(super) fn take(args: &Args, devices: &mut Devices) -> Result<(Report, Found)> {
    let start = Instant::now();
    place::check_apart(&[("--out", file(&args.out))], args.input.iter().chain(&args.weights).map(PathBuf::as_path))?;
    let out = file(&args.out).map(TableOutput::new).transpose()?;
    let read = |path: &PathBuf| {
        devices.at(format!("reading {}", path.display()));
        Input::open(&args.common, path, Some("histogramdd"))?;
        args.common.read(path)
    };
    let images = args.input.iter().map(read).collect::<Result<Vec<_>>>()?;
    let (shape, pixel) = (images[0].shape(), images[0].pixel_type());
    let rows = [u64::from(shape.height), u64::from(shape.width)];
    // A table has weights of its rows.
    let rows = if images.len() == 1 && shape.channels == 1 { &rows[..1] } else { &rows };
    let weights = args.weights.as_deref().map(|path| apron_files::read_weights(path, rows)).transpose()?;
    let device = devices.get(args.common.device)?;
    devices.at(format!("histogramdd on {}", device.name()));
    let histogram = args.histogram(&device, &images)?;
    let (found, total, information, ran) = match &weights {
        Some(weights) => {
            let (sums, ran) = histogram.run_weighted(weights)?;
            let sums = kept(args, sums)?;
            let total = json!(sums.cells.iter().sum::<f64>());
            (if args.density { densities(&sums) } else { Found::Sums(sums) }, total, None, ran)
        }
        None if args.sparse => {
            let (sparse, ran) = histogram.run_sparse()?;
            let total: u64 = sparse.cells.iter().map(|(_, count)| count).sum();
            (Found::Sparse(sparse), json!(total), None, ran)
        }
        None => {
            let (counts, ran) = histogram.run_reported()?;
            let counts = kept(args, counts)?;
            let total = json!(counts.cells.iter().sum::<u64>());
            let information = args.information.then(|| counts.information()).transpose()?;
            (if args.density { densities(&counts) } else { Found::Counts(counts) }, total, information, ran)
        }
    };
    out.map_or(Ok(()), |out| found.write(&out))?;
    let edges = found.edges();
    let made = Made::Joint {
        bins: edges.iter().map(Edges::bins).collect(),
        low: edges.iter().map(|edges| edges.values()[0]).collect(),
        high: edges.iter().map(|edges| edges.values()[edges.bins()]).collect(),
        total,
        output: args.out.as_deref().map(Path::display).map(|path| path.to_string()),
        histogram: (args.out.is_none() && information.is_none()).then(|| found.json()),
        information: information.map(|of| {
            json!({
                "count": of.count, "entropies": of.entropies, "joint": of.joint, "mutual": of.mutual,
                "normalized": of.normalized,
            })
        }),
    };
    let ran = Ran::of("histogramdd", &args.input[0], (shape, pixel), ran, Duration::ZERO, start);
    Ok((Report { ran, made }, found))
}

/// Returns the marginal that was asked for, or all.
fn kept<T: Amount>(args: &Args, histogram: HistogramDd<T>) -> Result<HistogramDd<T>> {
    Ok(if args.marginal.is_empty() { histogram } else { histogram.marginal(&args.marginal)? })
}

fn densities<T: Amount>(histogram: &HistogramDd<T>) -> Found {
    Found::Densities(HistogramDd { edges: histogram.edges.clone(), cells: histogram.density() })
}
