//! The verbs.

mod batch;
mod bench;
mod box_filter;
mod completions;
mod correlate;
mod counted;
mod filter;
mod filters;
mod gaussian;
mod histogram;
mod histogram2d;
mod histogramdd;
mod image;
mod info;
mod job;
mod kernels;
mod lookup;
mod man;
mod many;
mod named;
mod otsu;
mod pad;
mod pages;
pub(crate) mod pipe;
mod planes;
mod separable;
mod slice;
mod stats;
mod strips;
mod tune;
mod verify;
mod volume;

use crate::args::{Common, Devices};
use crate::error::{Error, Result};
use crate::place::Files;
use crate::report::{Report, complain, print};

pub(crate) const EXAMPLES: &str = "\
Examples:
  apron gaussian photo.jpg blurred.png --sigma 3
  apron correlate photo.png edges.npy --mask sobel-x --out-type f32
  apron histogram photo.jpg --per-channel --plot histogram.svg
  apron info

Environment:
  APRON_VARIANT=correlate=conv2d-tiled,separable=conv1d-fused  the variants that GPU and emulator run, where --variant names none
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
    /// Histogram of two channels: how many pixels lie in each pair of bins
    Histogram2d(histogram2d::Args),
    /// Histogram of many dimensions: of the channels of images, or of the columns of a table
    Histogramdd(histogramdd::Args),
    /// List the GPUs that are there
    Info(info::Args),
    /// List every variant of the GPU's operations, with its kernels and its limits
    Kernels(kernels::Args),
    /// List the named filters: what they compute, and the same in OpenCV, SciPy and scikit-image
    Filters(filters::Args),
    /// Compare every operation on a device with the references
    Verify(verify::Args),
    /// Time every workload beside the machine's limits and beside other libraries
    Bench(bench::Args),
    /// Time every variant for many problems, and print the table by which variants are chosen
    Tune(tune::Args),
    /// Run a file of jobs in one process
    Batch(batch::Args),
    #[command(flatten)]
    Named(named::NamedArgs),
    /// Add what lies outside an image, or cut a part out of it
    Pad(pad::Args),
    /// An image of a volume: one of its planes, along any axis, or the largest samples along it
    Slice(slice::Args),
    /// Run several verbs in a row, with the image on the device from the first to the last
    Pipe(pipe::Args),
    /// Print what a shell needs to complete verbs and options
    Completions(completions::Args),
    /// Print the manual's page, or write the pages of all verbs
    Man(man::Args),
    /// The least and largest sample, mean, standard deviation and percentiles
    Stats(stats::Args),
    /// Spread each channel's histogram over all values
    Equalize(lookup::EqualizeArgs),
    /// Equalize by tiles, with limited contrast
    Clahe(lookup::ClaheArgs),
    /// Give each channel the histogram of the same channel of another image
    Match(lookup::MatchArgs),
    /// Find the threshold between dark and bright, or those between several classes
    Otsu(otsu::Args),
}

/// Runs a verb, and reports.
pub(crate) fn run(verb: &Verb) -> Result<()> {
    if let Some((files, common)) = on_files(verb) {
        return many::run(verb, files, &common);
    }
    match verb {
        Verb::Info(args) => info::run(args),
        Verb::Kernels(args) => kernels::run(args),
        Verb::Filters(args) => filters::run(args),
        Verb::Verify(args) => verify::run(args),
        Verb::Bench(args) => bench::run(args),
        Verb::Tune(args) => tune::run(args),
        Verb::Batch(args) => batch::run(args),
        Verb::Completions(args) => completions::run(args),
        Verb::Man(args) => man::run(args),
        Verb::Histogram(args) => histogram::run(args).and_then(|(report, common)| tell(&report, common)),
        Verb::Histogram2d(args) => histogram2d::run(args).and_then(|(report, common)| tell(&report, common)),
        Verb::Histogramdd(args) => histogramdd::run(args).and_then(|(report, common)| tell(&report, common)),
        Verb::Stats(args) => stats::run(args).and_then(|(report, common)| tell(&report, common)),
        Verb::Otsu(args) => otsu::run(args).and_then(|(report, common)| tell(&report, common)),
        Verb::Slice(args) => {
            let report = slice::run(args, &mut Devices::watched(&args.common))?;
            tell(&report, &args.common)
        }
        Verb::Match(args) => {
            let report = work(verb, &mut Devices::watched(&args.common))?;
            tell(&report, &args.common)
        }
        // Those of `on_files`.
        Verb::Correlate(_)
        | Verb::Convolve(_)
        | Verb::Separable(_)
        | Verb::Gaussian(_)
        | Verb::Box(_)
        | Verb::Named(_)
        | Verb::Equalize(_)
        | Verb::Clahe(_)
        | Verb::Pad(_)
        | Verb::Pipe(_) => work(verb, &mut Devices::new(Default::default())).map(drop),
    }
}

/// Returns the files and the reporting options of a verb that makes an image from an image, and so can be a step of a
/// pipe.
fn on_files(verb: &Verb) -> Option<(Files, Common)> {
    let filter = match verb {
        Verb::Correlate(args) | Verb::Convolve(args) => &args.filter,
        Verb::Separable(args) => &args.filter,
        Verb::Gaussian(args) => &args.filter,
        Verb::Box(args) => &args.filter,
        Verb::Named(args) => &args.filter,
        Verb::Equalize(args) => return Some((args.files.clone(), args.common.clone())),
        Verb::Clahe(args) => return Some((args.files.clone(), args.common.clone())),
        Verb::Pad(args) => return Some((args.files.clone(), args.common.clone())),
        Verb::Pipe(args) => return Some((args.files(), args.common.clone())),
        Verb::Histogram(_)
        | Verb::Histogram2d(_)
        | Verb::Histogramdd(_)
        | Verb::Slice(_)
        | Verb::Stats(_)
        | Verb::Otsu(_)
        | Verb::Match(_)
        | Verb::Info(_)
        | Verb::Kernels(_)
        | Verb::Filters(_)
        | Verb::Verify(_)
        | Verb::Bench(_)
        | Verb::Tune(_)
        | Verb::Batch(_)
        | Verb::Completions(_)
        | Verb::Man(_) => return None,
    };
    Some((filter.files.clone(), filter.common.clone()))
}

/// Runs a verb that reads an image, without output to the terminal.
fn work(verb: &Verb, devices: &mut Devices) -> Result<Report> {
    match verb {
        Verb::Correlate(args) => correlate::run("correlate", args, devices),
        Verb::Convolve(args) => correlate::run("convolve", args, devices),
        Verb::Separable(args) => separable::run(args, devices),
        Verb::Gaussian(args) => gaussian::run(args, devices),
        Verb::Box(args) => box_filter::run(args, devices),
        Verb::Named(args) => named::run(args, devices),
        Verb::Histogram(args) => histogram::take(args, devices).map(|(report, _)| report),
        Verb::Histogram2d(args) => histogram2d::count(args, devices).map(|(report, _)| report),
        Verb::Histogramdd(args) => histogramdd::take(args, devices).map(|(report, _)| report),
        Verb::Pad(args) => pad::run(args, devices),
        Verb::Slice(args) => slice::run(args, devices),
        Verb::Pipe(args) => pipe::run(args, devices),
        Verb::Stats(args) => stats::take(args, devices),
        Verb::Otsu(args) => otsu::find(args, devices),
        Verb::Equalize(args) => lookup::equalize(args, devices),
        Verb::Clahe(args) => lookup::clahe(args, devices),
        Verb::Match(args) => lookup::match_histogram(args, devices),
        Verb::Info(_)
        | Verb::Kernels(_)
        | Verb::Filters(_)
        | Verb::Verify(_)
        | Verb::Bench(_)
        | Verb::Tune(_)
        | Verb::Batch(_)
        | Verb::Completions(_)
        | Verb::Man(_) => Err(Error::Bug("a verb without an image reads one".into())),
    }
}

/// Prints the report in the requested form.
fn tell(report: &Report, common: &Common) -> Result<()> {
    if common.json {
        return print(&format!("{}\n", report.json()));
    }
    if !common.quiet {
        // On stderr: stdout is for results.
        complain(&report.text(log::log_enabled!(target: "apron", log::Level::Debug)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    /// Users copy the examples, so each verb has one, and all of them parse.
    #[test]
    fn every_verb_has_an_example_that_is_right() {
        for verb in crate::Cli::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter(|line| line.starts_with("  apron ")).collect();
            let own = format!("  apron {} ", verb.get_name());
            assert!(help.contains("Example") && examples.iter().any(|example| example.starts_with(&own)), "{own}");
            for example in examples {
                let words = crate::words::words(example).unwrap().remove(0);
                let parsed = crate::Cli::try_parse_from(words.iter().take_while(|word| *word != ">"));
                assert!(parsed.is_ok(), "{example}");
            }
        }
    }
}
