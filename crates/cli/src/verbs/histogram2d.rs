//! `apron histogram2d`.

use super::histogram::{file, goes_to_stdout};
use super::strips::Input;
use crate::args::{self, Common, Devices};
use crate::error::Result;
use crate::place;
use crate::report::{Made, Ran, Report, print};
use apron::{Binning, Bins, Edges, Histogram2d};
use apron_files::table::{self, Cells, TableOutput};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron histogram2d photo.jpg --channels 0,2 --bins 64
  apron histogram2d fields.npy --channels 0,1 --bins 64,32 --range -1,1,0,10 --out counts.npy
  apron histogram2d photo.jpg --channels 1,2 --edges 0,64,256 --edges2 0,16,64,256 --out counts.csv

The counts are of pixels, as numpy.histogram2d gives them; without --out they are written as CSV, or stand in the
report of --json.")]
pub(crate) struct Args {
    /// The image: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The two channels, from 0
    #[arg(long, value_name = "A,B", value_parser = args::channels)]
    channels: (u32, u32),
    /// Number of bins, of both channels or of each [default: 256]
    #[arg(long, value_name = "N[,M]", value_parser = args::bins)]
    bins: Option<(usize, usize)>,
    /// Lower and upper end of the bins, of both channels or of each [default: 0,256 for u8, else the least and largest
    /// sample of each channel]
    #[arg(long, value_name = "LO,HI[,LO,HI]", value_parser = args::ranges, allow_hyphen_values = true)]
    range: Option<[(f64, f64); 2]>,
    /// Edges of the bins, instead of a number and a range: a .npy file of one dimension, or a list of numbers
    #[arg(long, value_name = "FILE|LIST", conflicts_with_all = ["bins", "range"], allow_hyphen_values = true)]
    edges: Option<String>,
    /// Edges of the second channel's bins, where they are others
    #[arg(long, value_name = "FILE|LIST", requires = "edges", conflicts_with_all = ["bins", "range"], allow_hyphen_values = true)]
    edges2: Option<String>,
    /// Write the counts to a .csv, .json or .npy file, or, as CSV, to - for the standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

impl Args {
    /// Returns the bins of both channels.
    fn binning(&self) -> Result<[Binning; 2]> {
        let count = Bins::default().count;
        let (first, second) = self.bins.unwrap_or((count, count));
        // Checked before the edges are allocated, which are fewer than the pairs.
        apron_core::check_memory::<u64>((first as u64).saturating_mul(second as u64), "pairs of bins")?;
        let [range, other_range] = [0, 1].map(|which| self.range.map(|ranges| ranges[which]));
        let binning = match &self.edges {
            None => [(first, range), (second, other_range)].map(|(count, range)| Binning::Even(Bins { count, range })),
            Some(edges) => {
                let first = args::edges(edges)?;
                let second = self.edges2.as_deref().map(args::edges).transpose()?.unwrap_or_else(|| first.clone());
                [Binning::Between(first), Binning::Between(second)]
            }
        };
        binning.iter().try_for_each(Binning::check)?;
        Ok(binning)
    }
}

/// Counts, and writes or prints the counts.
pub(super) fn run(args: &Args) -> Result<(Report, &Common)> {
    let to_stdout = goes_to_stdout(&args.out, &args.common)?;
    let (report, histogram) = count(args, &mut Devices::watched(&args.common))?;
    if to_stdout || args.out.is_none() && !args.common.json {
        print(&table::csv_of_cells(&edges(&histogram), Cells::Counts(&histogram.counts)))?;
    }
    Ok((report, &args.common))
}

/// Counts, and writes the file that was asked for.
pub(super) fn count(args: &Args, devices: &mut Devices) -> Result<(Report, Histogram2d)> {
    let start = Instant::now();
    let binning = args.binning()?;
    place::check_apart(&[("--out", file(&args.out))], [args.input.as_path()])?;
    let out = file(&args.out).map(TableOutput::new).transpose()?;
    devices.at(format!("reading {}", args.input.display()));
    Input::open(&args.common, &args.input, Some("pairs of channels"))?;
    let image = args.common.read(&args.input)?;
    let device = devices.get(args.common.device)?;
    devices.at(format!("histogram2d on {}", device.name()));
    let (channels, variant) = ([args.channels.0, args.channels.1], args.common.variant.as_deref());
    let counting = device.histogram2d(&image, channels).bins(binning).variant(variant);
    let (histogram, ran) = counting.run_reported()?;
    let (edges, cells) = (edges(&histogram), Cells::Counts(&histogram.counts));
    out.map_or(Ok(()), |out| out.write_cells(&edges, cells))?;
    let of = (image.shape(), image.pixel_type());
    let ran = Ran::of("histogram2d", &args.input, of, ran, Duration::ZERO, start);
    let made = Made::Joint {
        bins: edges.iter().map(Edges::bins).collect(),
        low: edges.iter().map(|edges| edges.values()[0]).collect(),
        high: edges.iter().map(|edges| edges.values()[edges.bins()]).collect(),
        total: histogram.counts.iter().sum::<u64>().into(),
        information: None,
        output: args.out.as_deref().map(Path::display).map(|path| path.to_string()),
        histogram: args.out.is_none().then(|| table::json_of_cells(&edges, cells)),
    };
    Ok((Report { ran, made }, histogram))
}

fn edges(histogram: &Histogram2d) -> [Edges; 2] {
    [histogram.first.clone(), histogram.second.clone()]
}
