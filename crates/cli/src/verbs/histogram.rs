//! `apron histogram`.

use super::counted::Counted;
use super::strips::Input;
use crate::args::{self, Common, Devices};
use crate::bars;
use crate::error::{Error, Result};
use crate::place;
use crate::plot::Plot;
use crate::report::{Made, Ran, Report, print};
use apron::{AnyImage, Binning, Bins, Device, Histogram, HistogramBuilder, Image, Source, WeightedHistogram};
use apron_core::each_type;
use apron_files::table::{self, TableOutput};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron histogram photo.jpg
  apron histogram photo.jpg --per-channel --out counts.csv --plot histogram.svg
  apron histogram heights.npy --bins 64 --range -1,1
  apron histogram photo.jpg --edges 0,16,64,256 --roi-mask mask.png --cumulative
  apron histogram photo.jpg --weights areas.npy --out sums.npy
  apron histogram scan.npy --volume --bins 64

On a terminal the histogram is drawn as bars; elsewhere, without --out, it is written as CSV, or
stands in the report of --json.")]
pub(crate) struct Args {
    /// The image: PNG, JPEG, TIFF, BMP, PNM, .npy or .zarr
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Number of bins [default: 256]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    bins: Option<usize>,
    /// Lower and upper end of the bins [default: 0,256 for u8, else the least and largest sample]
    #[arg(long, value_name = "LO,HI", value_parser = args::range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Edges of the bins, instead of a number and a range: a .npy file of one dimension, or a list of numbers
    #[arg(long, value_name = "FILE|LIST", conflicts_with_all = ["bins", "range"], allow_hyphen_values = true)]
    edges: Option<String>,
    /// Count only pixels for which this image, of one channel and the same size, has another number than 0; not with
    /// --weights
    #[arg(long, value_name = "FILE")]
    roi_mask: Option<PathBuf>,
    /// Sum up weights, one for each pixel, instead of counting: a .npy file of real numbers of shape (height, width);
    /// not with --roi-mask
    #[arg(long, value_name = "FILE", conflicts_with_all = ["roi_mask", "cumulative", "log"])]
    weights: Option<PathBuf>,
    /// Count each channel apart
    #[arg(long)]
    per_channel: bool,
    /// Of a volume: all images of a .npy file or a Zarr, or all pages of a TIFF
    #[arg(long, conflicts_with_all = ["page", "roi_mask", "weights"])]
    volume: bool,
    /// Give for each bin the count of all samples in it and in the bins below
    #[arg(long)]
    cumulative: bool,
    /// Write the counts to a .csv, .json or .npy file, or, as CSV, to - for the standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the histogram's counts or sums into a .png or .svg file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw the plot's counts on a logarithmic axis
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    common: Common,
}

impl Args {
    /// Returns the bins that were asked for.
    fn binning(&self) -> Result<Binning> {
        let even = Bins { count: self.bins.unwrap_or(Bins::default().count), range: self.range };
        let binning = match &self.edges {
            None => Binning::Even(even),
            Some(edges) => Binning::Between(args::edges(edges)?),
        };
        binning.check()?;
        match &binning {
            Binning::Between(edges) if self.plot.is_some() && edges.values().iter().any(|edge| edge.is_infinite()) => {
                Err(Error::Usage("--plot: an axis cannot go to infinity, as --edges do".into()))
            }
            _ => Ok(binning),
        }
    }
}

/// Whether a table is to go to the standard output, as CSV.
///
/// # Errors
/// If the report of `--json` is to go there, too.
pub(super) fn goes_to_stdout(out: &Option<PathBuf>, common: &Common) -> Result<bool> {
    match out {
        Some(out) if out == Path::new("-") && common.json => {
            Err(Error::Usage("the table and the report of --json cannot both go to the standard output".into()))
        }
        out => Ok(out.as_deref() == Some(Path::new("-"))),
    }
}

/// Returns the file that a table is to go to.
pub(super) fn file(out: &Option<PathBuf>) -> Option<&Path> {
    out.as_deref().filter(|out| *out != Path::new("-"))
}

/// Reads the mask of a region of interest: pixels count where it is not 0.
fn read_roi(path: &Path, image: &AnyImage<'_>, common: &Common) -> Result<AnyImage<'static>> {
    let roi = common.read_unchanged(path)?;
    let (width, height) = (image.shape().width, image.shape().height);
    let shape = roi.shape();
    if (shape.width, shape.height, shape.channels) != (width, height, 1) {
        let what = format!("the ROI mask is {shape}, but must be {width}x{height}x1, as the image");
        return Err(Error::input(path, what));
    }
    let selects: Vec<u8> = match &roi {
        AnyImage::U8(_) => return Ok(roi),
        other => {
            each_type!(other, roi => roi.rows().flatten().map(|&number| u8::from(apron_core::Sample::to_f64(number) != 0.0)).collect())
        }
    };
    Ok(AnyImage::U8(Image::new(width, height, 1, selects)?))
}

/// The result: counts, or sums of weights.
pub(super) enum Table {
    Counts(Histogram),
    Sums(WeightedHistogram),
}

/// Counts, writes the files, and prints the counts if no file was asked for.
pub(super) fn run(args: &Args) -> Result<(Report, &Common)> {
    let to_stdout = goes_to_stdout(&args.out, &args.common)?;
    let (report, table) = take(args, &mut Devices::watched(&args.common))?;
    let histogram = match table {
        Table::Counts(histogram) => histogram,
        Table::Sums(histogram) => {
            if to_stdout || args.out.is_none() && args.plot.is_none() && !args.common.json {
                print(&table::csv_of_sums(&histogram, args.per_channel))?;
            }
            return Ok((report, &args.common));
        }
    };
    if !args.common.json {
        let terminal = std::io::stdout().is_terminal();
        if to_stdout {
            print(&table::csv(&histogram, args.per_channel))?;
        } else if terminal && !args.common.quiet {
            print(&bars::draw(&histogram, args.cumulative))?;
        } else if !terminal && args.out.is_none() && args.plot.is_none() {
            print(&table::csv(&histogram, args.per_channel))?;
        }
    }
    Ok((report, &args.common))
}

/// Counts samples or sums weights, and writes the files that were asked for.
pub(super) fn take(args: &Args, devices: &mut Devices) -> Result<(Report, Table)> {
    let inputs = [Some(&args.input), args.roi_mask.as_ref(), args.weights.as_ref()];
    let outputs = [("--out", file(&args.out)), ("--plot", args.plot.as_deref())];
    place::check_apart(&outputs, inputs.into_iter().flatten().map(PathBuf::as_path))?;
    match &args.weights {
        Some(weights) => sum(args, weights, devices).map(|(report, sums)| (report, Table::Sums(sums))),
        None => count(args, devices).map(|(report, counts)| (report, Table::Counts(counts))),
    }
}

/// Sums weights, and writes the files that were asked for.
fn sum(args: &Args, weights: &Path, devices: &mut Devices) -> Result<(Report, WeightedHistogram)> {
    let start = Instant::now();
    let binning = args.binning()?;
    let out = file(&args.out).map(TableOutput::new).transpose()?;
    let plot = args.plot.as_deref().map(|path| Plot::new(path, false)).transpose()?;
    devices.at(format!("reading {}", args.input.display()));
    Input::open(&args.common, &args.input, Some("--weights"))?;
    let image = args.common.read(&args.input)?;
    let weights = apron_files::read_weights(weights, &[image.shape().height.into(), image.shape().width.into()])?;
    let (device, variant) = (devices.get(args.common.device)?, args.common.variant.as_deref());
    devices.at(format!("histogram on {}", device.name()));
    let sums = device.weighted_histogram(&image, &weights).binning(binning).per_channel(args.per_channel);
    let (sums, ran) = sums.variant(variant).run_reported()?;
    let out = out.as_ref().map(|out| out.complete_sums(&sums, args.per_channel)).transpose()?;
    let plot = plot.as_ref().map(|plot| plot.complete_sums(&sums)).transpose()?;
    apron_files::publish(out.into_iter().chain(plot).collect())?;
    let of = (image.shape(), image.pixel_type());
    let ran = Ran::of("histogram", &args.input, of, ran, Duration::ZERO, start);
    let (bins, edges) = (sums.edges.bins(), sums.edges.values());
    let text = |path: &Option<PathBuf>| path.as_deref().map(Path::display).map(|path| path.to_string());
    let histogram = (args.out.is_none() && args.plot.is_none()).then(|| table::json_of_sums(&sums));
    let (output, plot, per_channel) = (text(&args.out), text(&args.plot), args.per_channel);
    let made = Made::Sums { bins, low: edges[0], high: edges[bins], per_channel, output, plot, histogram };
    Ok((Report { ran, made }, sums))
}

/// Sets the options of the histogram.
fn histogram<'a>(args: &'a Args, device: &'a Device, image: Source<'a>, binning: Binning) -> HistogramBuilder<'a> {
    let counting = device.histogram(image).binning(binning).per_channel(args.per_channel);
    counting.variant(args.common.variant.as_deref())
}

/// Counts samples, and writes the files that were asked for.
fn count(args: &Args, devices: &mut Devices) -> Result<(Report, Histogram)> {
    let start = Instant::now();
    let binning = args.binning()?;
    if args.log && args.plot.is_none() {
        return Err(Error::Usage("--log is for --plot, which is not given".into()));
    }
    let out = file(&args.out).map(TableOutput::new).transpose()?;
    let plot = args.plot.as_deref().map(|path| Plot::new(path, args.log)).transpose()?;
    let whole = args.roi_mask.as_ref().map(|_| "--roi-mask");
    let image = Counted::open(&args.common, &args.input, args.volume, whole, devices)?;
    let of = image.of();
    let roi = match (&args.roi_mask, &image) {
        (Some(path), Counted::Whole(image)) => Some(read_roi(path, image, &args.common)?),
        _ => None,
    };
    let device = devices.get(args.common.device)?;
    let (counted, ran) = image.take(
        devices,
        |image| {
            devices.at(format!("histogram on {}", device.name()));
            let counting = histogram(args, &device, image.into(), binning.clone());
            match &roi {
                Some(roi) => counting.roi_mask(roi).run_reported(),
                None => counting.run_reported(),
            }
        },
        |rows, memory| histogram(args, &device, rows.into(), binning.clone()).run_rows(memory),
    )?;
    let total = counted.counts().iter().sum();
    let histogram = if args.cumulative { counted.cumulated() } else { counted };
    let out = out.as_ref().map(|out| out.complete(&histogram, args.per_channel)).transpose()?;
    let plot = plot.as_ref().map(|plot| plot.complete(&histogram)).transpose()?;
    apron_files::publish(out.into_iter().chain(plot).collect())?;

    // The time of the kernels includes the copy of the counts: there is no image to copy.
    let ran = Ran::of("histogram", &args.input, of, ran, Duration::ZERO, start);
    let text = |path: &Option<PathBuf>| path.as_deref().map(Path::display).map(|path| path.to_string());
    let made = Made::Counts {
        bins: histogram.bins(),
        low: histogram.edges()[0],
        high: histogram.edges()[histogram.bins()],
        per_channel: args.per_channel,
        total,
        output: text(&args.out),
        plot: text(&args.plot),
        histogram: (args.out.is_none() && args.plot.is_none()).then(|| table::json(&histogram)),
    };
    Ok((Report { ran, made }, histogram))
}
