//! The verbs.

mod batch;
mod bench;
mod box_filter;
mod correlate;
mod filter;
mod gaussian;
mod histogram;
mod info;
mod kernels;
mod otsu;
mod separable;
mod stats;
mod tone;
mod tune;
mod verify;

use crate::args::{Common, Devices};
use crate::error::Result;
use crate::report::{Report, complain, print};

pub(crate) const EXAMPLES: &str = "\
Examples:
  apron gaussian photo.jpg blurred.png --sigma 3
  apron correlate photo.png edges.npy --mask sobel-x --out-type f32
  apron histogram photo.jpg --per-channel --plot histogram.svg
  apron info

Environment:
  APRON_VARIANT=correlate=tiled,separable=fused  the variants that GPU and emulator run, where --variant names none
  APRON_LOG=debug                                log what runs, as --verbose

Exit codes:
  0 done; 1 a check or a job failed; 2 wrong usage; 3 bad input or output file; 4 device trouble";

#[derive(clap::Subcommand)]
pub(crate) enum Verb {
    /// Correlate with a mask: each output pixel is the weighted sum of those around it
    Correlate(correlate::Args),
    /// Convolve with a mask: correlate with the mask turned by half a turn
    Convolve(correlate::Args),
    /// Correlate along the rows with one set of taps, and along the columns with another
    Separable(separable::Args),
    /// Gaussian blur
    Gaussian(gaussian::Args),
    /// Mean over a window
    Box(box_filter::Args),
    /// Histogram of an image's samples, as bars, CSV, JSON, .npy or a plot
    Histogram(histogram::Args),
    /// List the GPUs that are there
    Info(info::Args),
    /// List every variant of the GPU's operations, with its kernels and its limits
    Kernels(kernels::Args),
    /// Compare every operation on a device with the references
    Verify(verify::Args),
    /// Time every workload beside the machine's limits and beside other libraries
    Bench(bench::Args),
    /// Time every variant for many problems, and print the table by which variants are chosen
    Tune(tune::Args),
    /// Run a file of jobs in one process
    Batch(batch::Args),
    /// The least and largest sample, mean, standard deviation and percentiles
    Stats(stats::Args),
    /// Spread each channel's histogram over all values
    Equalize(tone::EqualizeArgs),
    /// Equalize by tiles, with limited contrast
    Clahe(tone::ClaheArgs),
    /// Give each channel the histogram of the same channel of another image
    Match(tone::MatchArgs),
    /// Find the threshold between dark and bright, or those between several classes
    Otsu(otsu::Args),
}

/// Runs a verb and reports.
pub(crate) fn run(verb: &Verb) -> Result<()> {
    let (report, common) = match verb {
        Verb::Info(args) => return info::run(args),
        Verb::Kernels(args) => return kernels::run(args),
        Verb::Verify(args) => return verify::run(args),
        Verb::Bench(args) => return bench::run(args),
        Verb::Tune(args) => return tune::run(args),
        Verb::Batch(args) => return batch::run(args),
        Verb::Histogram(args) => histogram::run(args)?,
        Verb::Stats(args) => stats::run(args)?,
        Verb::Otsu(args) => otsu::run(args)?,
        Verb::Equalize(args) => (filtered(verb)?, &args.files.common),
        Verb::Clahe(args) => (filtered(verb)?, &args.files.common),
        Verb::Match(args) => (filtered(verb)?, &args.common),
        Verb::Correlate(args) | Verb::Convolve(args) => (filtered(verb)?, &args.filter.common),
        Verb::Separable(args) => (filtered(verb)?, &args.filter.common),
        Verb::Gaussian(args) => (filtered(verb)?, &args.filter.common),
        Verb::Box(args) => (filtered(verb)?, &args.filter.common),
    };
    tell(&report, common)
}

/// Runs a filter with a device of its own.
fn filtered(verb: &Verb) -> Result<Report> {
    job(verb, &mut Devices::new(Default::default()))
}

/// Runs a verb that reads an image, and says nothing.
fn job(verb: &Verb, devices: &mut Devices) -> Result<Report> {
    match verb {
        Verb::Correlate(args) => correlate::run("correlate", args, devices),
        Verb::Convolve(args) => correlate::run("convolve", args, devices),
        Verb::Separable(args) => separable::run(args, devices),
        Verb::Gaussian(args) => gaussian::run(args, devices),
        Verb::Box(args) => box_filter::run(args, devices),
        Verb::Histogram(args) => histogram::count(args, devices).map(|(report, _)| report),
        Verb::Stats(args) => stats::take(args, devices),
        Verb::Otsu(args) => otsu::find(args, devices),
        Verb::Equalize(args) => tone::equalize(args, devices),
        Verb::Clahe(args) => tone::clahe(args, devices),
        Verb::Match(args) => tone::match_histogram(args, devices),
        Verb::Info(_) | Verb::Kernels(_) | Verb::Verify(_) | Verb::Bench(_) | Verb::Tune(_) | Verb::Batch(_) => {
            Err(crate::error::Error::Usage("a job is one of the image verbs or histogram".into()))
        }
    }
}

/// The report in the form that was asked for.
fn tell(report: &Report, common: &Common) -> Result<()> {
    if common.json {
        return print(&format!("{}\n", report.json()));
    }
    if !common.quiet {
        // Not on stdout, which is for results.
        complain(&report.text());
    }
    Ok(())
}
