//! `apron histogram`.

use crate::args::{self, Common, Devices};
use crate::error::{Error, Result};
use crate::files::{self, TableOutput};
use crate::plot::Plot;
use crate::report::{Made, Ran, Report, milliseconds, print};
use crate::{bars, files::table};
use apron::{Bins, Histogram};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  apron histogram photo.jpg
  apron histogram photo.jpg --per-channel --out counts.csv --plot histogram.svg
  apron histogram heights.npy --bins 64 --range -1,1

On a terminal the histogram is drawn as bars; elsewhere, without --out, it is written as CSV.")]
pub(crate) struct Args {
    /// The image: PNG, JPEG, TIFF, BMP, PNM or .npy
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Number of bins
    #[arg(long, value_name = "N", default_value_t = 256)]
    bins: usize,
    /// Lower and upper end of the bins [default: 0,256 for u8, else the least and largest sample]
    #[arg(long, value_name = "LO,HI", value_parser = args::range, allow_hyphen_values = true)]
    range: Option<(f64, f64)>,
    /// Count each channel apart
    #[arg(long)]
    per_channel: bool,
    /// Write the counts to a .csv, .json or .npy file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the histogram into a .png or .svg file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Draw the plot's counts on a logarithmic axis
    #[arg(long)]
    log: bool,
    #[command(flatten)]
    common: Common,
}

/// Counts, writes, and shows the counts where they should be shown.
pub(super) fn run(args: &Args) -> Result<(Report, &Common)> {
    let (report, histogram) = count(args, &mut Devices::new(Default::default()))?;
    if !args.common.json {
        let terminal = std::io::stdout().is_terminal();
        if terminal && !args.common.quiet {
            print(&bars::draw(&histogram))?;
        } else if !terminal && args.out.is_none() && args.plot.is_none() {
            print(&table::csv(&histogram, args.per_channel))?;
        }
    }
    Ok((report, &args.common))
}

/// Counts and writes the files that were asked for.
pub(super) fn count(args: &Args, devices: &mut Devices) -> Result<(Report, Histogram)> {
    let start = Instant::now();
    let bins = Bins { count: args.bins, range: args.range };
    bins.check()?;
    if args.log && args.plot.is_none() {
        return Err(Error::Usage("--log is for --plot, which is not given".into()));
    }
    let out = args.out.as_deref().map(TableOutput::new).transpose()?;
    let plot = args.plot.as_deref().map(|path| Plot::new(path, args.log)).transpose()?;
    let image = files::read_image(&args.input, args.common.max_pixels)?;

    let device = devices.get(args.common.device)?;
    let counting = device.histogram(&image).bins(bins).per_channel(args.per_channel);
    let (histogram, ran) = counting.variant(args.common.variant.as_deref()).run_reported()?;
    out.map_or(Ok(()), |out| out.write(&histogram, args.per_channel))?;
    plot.map_or(Ok(()), |plot| plot.write(&histogram))?;

    let shape = image.shape();
    let ran = Ran {
        operation: ran.operation,
        verb: "histogram",
        input: args.input.display().to_string(),
        method: None,
        why_method: None,
        device: ran.device,
        variant: ran.variant,
        why: ran.why,
        grid: ran.grid,
        width: shape.width,
        height: shape.height,
        channels: shape.channels,
        in_type: image.pixel_type().to_string(),
        copy_in_ms: milliseconds(ran.copy_in),
        kernels_ms: milliseconds(ran.kernels),
        // The counts come with the kernels' time: there is no image to copy.
        copy_out_ms: 0.0,
        total_ms: milliseconds(start.elapsed()),
    };
    let text = |path: &Option<PathBuf>| path.as_deref().map(Path::display).map(|path| path.to_string());
    let made = Made::Counts {
        bins: histogram.bins(),
        low: histogram.edges()[0],
        high: histogram.edges()[histogram.bins()],
        per_channel: args.per_channel,
        total: histogram.counts().iter().sum(),
        output: text(&args.out),
        plot: text(&args.plot),
    };
    Ok((Report { ran, made }, histogram))
}
