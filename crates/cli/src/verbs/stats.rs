//! `apron stats`.

use super::counted::Counted;
use crate::args::{self, Common, Devices};
use crate::error::Result;
use crate::report::{ChannelStatistics, Extreme, Made, Percentile, Ran, Report, aligned, print};
use apron::{Device, Error, Source, StatisticsBuilder};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron stats photo.jpg --per-channel --percentile 5,50,95
  apron stats scan.npy --volume

Of integers all follows from the counts of all values, and sums are exact; of floats sums are taken in f64. NaN and infinity are null
in the report of --json.")]
pub(crate) struct Args {
    /// The image: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Of each channel apart
    #[arg(long)]
    per_channel: bool,
    /// Percentiles, 0 to 100, as numpy.percentile(image, [P, ..]) gives them: f64, of f32 images, too
    #[arg(long, value_name = "P,..", value_delimiter = ',', value_parser = args::percentage, allow_hyphen_values = true)]
    percentile: Vec<f64>,
    /// Of a volume: all images of a .npy file or a Zarr, or all pages of a TIFF
    #[arg(long, conflicts_with = "page")]
    volume: bool,
    #[command(flatten)]
    common: Common,
}

/// Computes statistics, and prints them.
pub(super) fn run(args: &Args) -> Result<(Report, &Common)> {
    let report = take(args, &mut Devices::watched(&args.common))?;
    if let (Made::Statistics { statistics, .. }, false) = (&report.made, args.common.json) {
        print(&table(statistics, args))?;
    }
    Ok((report, &args.common))
}

/// Computes statistics.
pub(super) fn take(args: &Args, devices: &mut Devices) -> Result<Report> {
    let start = Instant::now();
    let counted = Counted::open(&args.common, &args.input, args.volume, None, devices)?;
    let device = devices.get(args.common.device)?;
    let (statistics, ran) = counted.take(
        devices,
        |image| {
            devices.at(format!("stats on {}", device.name()));
            statistics(args, &device, image.into()).run_reported().map_err(told)
        },
        |rows, memory| statistics(args, &device, rows.into()).run_rows(memory).map_err(told),
    )?;
    let percentiles = |values: Vec<f64>| {
        args.percentile.iter().zip(values).map(|(&percent, value)| Percentile { percent, value }).collect()
    };
    let of_channel = |of: apron::Statistics| {
        let (min, max) = match of.extremes {
            Some((min, max)) => (Extreme::Integer(min), Extreme::Integer(max)),
            None => (Extreme::Float(of.min), Extreme::Float(of.max)),
        };
        let percentiles = percentiles(of.percentiles);
        ChannelStatistics { count: of.count, min, max, mean: of.mean, std: of.std, percentiles }
    };
    let statistics = statistics.into_iter().map(of_channel).collect();
    let ran = Ran::of("stats", &args.input, counted.of(), ran, Duration::ZERO, start);
    Ok(Report { ran, made: Made::Statistics { per_channel: args.per_channel, statistics } })
}

/// Names the verb in an error of the histogram that statistics of integers follow from.
fn told(error: Error) -> Error {
    match error {
        Error::Parameter { operation: "histogram", parameter, value, limit } => {
            Error::parameter("stats, by a histogram", parameter, value, limit)
        }
        error => error,
    }
}

/// Sets the options of the statistics.
fn statistics<'a>(args: &'a Args, device: &'a Device, image: Source<'a>) -> StatisticsBuilder<'a> {
    let taking = device.statistics(image).per_channel(args.per_channel).percentiles(&args.percentile[..]);
    taking.variant(args.common.variant.as_deref())
}

/// Makes a table with a line per channel, and a header.
fn table(statistics: &[ChannelStatistics], args: &Args) -> String {
    let names = ["samples", "min", "max", "mean", "std"].map(String::from).into_iter();
    let head = names.chain(args.percentile.iter().map(|percent| format!("p{percent}")));
    let channel = |name: String| args.per_channel.then_some(name);
    let mut rows: Vec<Vec<String>> = vec![channel("channel".into()).into_iter().chain(head).collect()];
    for (number, of) in statistics.iter().enumerate() {
        let numbers = [of.mean, of.std].into_iter().chain(of.percentiles.iter().map(|percentile| percentile.value));
        let ends = [of.count.to_string(), of.min.to_string(), of.max.to_string()].into_iter();
        let cells = ends.chain(numbers.map(|number| number.to_string()));
        rows.push(channel(number.to_string()).into_iter().chain(cells).collect());
    }
    aligned(&rows)
}
