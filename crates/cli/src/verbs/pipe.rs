//! `apron pipe`: several verbs in a row; the image stays on the device in between.

use super::Verb;
use super::image::Target;
use super::job;
use super::strips::Job;
use crate::args::{Common, Devices};
use crate::error::{Error, Result, usage};
use crate::output::OutputArgs;
use crate::place::{Files, Place};
use crate::report::{Made, Ran, Report, milliseconds};
use crate::words::words;
use apron_files::Scratch;
use clap::{CommandFactory, Parser};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
#[command(override_usage = "apron pipe [OPTIONS] <IN>... <OUT> <STEPS>")]
#[command(after_help = "\
Examples:
  apron pipe photo.png edges.png \"gaussian sigma=2 | correlate mask=sobel-x\"
  apron pipe scan.npy edges.npy \"gaussian sigma=2,2,1 | gradient out-type=f32\" --volume
  apron pipe *.tif soft/ \"box size=5x3 border=wrap | correlate mask='1 2 1; 2 4 2; 1 2 1' normalize\"

A step is a verb that makes an image of an image, and its options: KEY=VALUE for --KEY VALUE, KEY for --KEY.
Values with blanks or bars are quoted. The first step takes the image, each other one the result of the step
before it, also its sample type: a step that makes numbers below 0 of bytes needs out-type=i16 or out-type=f32.")]
pub(crate) struct Args {
    /// The image; the result; the steps, separated by '|'. Several images go to a folder, DIR/
    #[arg(value_names = ["IN", "OUT", "STEPS"], num_args = 3.., required = true)]
    words: Vec<PathBuf>,
    /// The format on the standard output, or in a folder instead of the images' own: png, tif, npy or another
    #[arg(long, value_name = "EXT", value_parser = crate::offers::formats(), hide_possible_values = true)]
    format: Option<String>,
    /// Take the whole file as a volume, or as several, in every step, as --volume of a filter does
    #[arg(long, conflicts_with_all = ["rescale", "quality", "background", "page", "pages"])]
    volume: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of the input, the output and the report, which belong to the whole pipe and not to a step.
#[rustfmt::skip]
const OF_THE_PIPE: &[&str] = &[
    "verb", "in", "out", "format", "device", "json", "quiet", "page", "max-pixels", "memory", "grey", "gray", "in-type",
    "quality", "background", "resume", "pages", "volume",
];

impl Args {
    /// Returns the files among the words.
    pub(super) fn files(&self) -> Files {
        let (inputs, rest) = self.words.split_at(self.words.len().saturating_sub(2));
        let output = rest.first().cloned().unwrap_or_default();
        Files { inputs: inputs.to_vec(), output, format: self.format.clone() }
    }

    /// Parses the steps, by the grammars of their verbs. Each gets the limits of the pipe.
    fn steps(&self) -> Result<Vec<Step>> {
        let text = self.words.last().map(|word| word.to_string_lossy()).unwrap_or_default();
        let unended = |quote| Error::Usage(format!("the steps end inside {quote}quotes"));
        let steps = words(&text).map_err(unended)?.into_iter().enumerate();
        steps.map(|(index, words)| Step::new(index + 1, words, (&self.common, self.volume))).collect()
    }
}

/// One step of a pipe.
struct Step {
    number: usize,
    name: String,
    verb: Verb,
}

impl Step {
    fn new(number: usize, words: Vec<String>, of_pipe: (&Common, bool)) -> Result<Step> {
        let mut words = words.into_iter();
        let name = words.next().ok_or_else(|| Error::Usage(format!("step {number} is empty")))?;
        let wrong = |error| Error::Step { number, verb: name.clone(), error: Box::new(error) };
        let verb = parsed(&name, words, of_pipe).map_err(wrong)?;
        let step = Step { number, name, verb };
        // Runs it without an image, to find invalid values before one is read.
        match step.run(&mut Devices::new(Default::default())) {
            Err(Error::Step { error, .. }) if matches!(*error, Error::NoImage) => Ok(step),
            other => other.map(|_| step),
        }
    }

    fn run(&self, devices: &mut Devices) -> Result<Report> {
        let Step { number, name, verb } = self;
        let wrong = |error| Error::Step { number: *number, verb: name.clone(), error: Box::new(error) };
        super::work(verb, devices).map_err(wrong)
    }
}

/// Parses a step as a job without files, by the verb's own grammar; with `volume` it is a step on volumes.
fn parsed(name: &str, options: impl Iterator<Item = String>, (common, volume): (&Common, bool)) -> Result<Verb> {
    let command = crate::Cli::command();
    let known = command.find_subcommand(name).ok_or_else(|| Error::Usage(format!("unknown verb '{name}'")))?;
    let no_step = || Error::Usage("makes no image of an image, and so is no step".into());
    if !known.get_positionals().any(|file| file.get_id() == "output") {
        return Err(no_step());
    }
    let mut step = Map::new();
    for option in options {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Value::from(value)),
            None => (option.as_str(), Value::Bool(true)),
        };
        if OF_THE_PIPE.contains(&key) {
            return Err(Error::Usage(format!("'{key}' is for the whole pipe, and not for a step")));
        }
        let argument = known.get_arguments().find(|argument| job::is_called(argument, key));
        let takes_values = argument.map(|argument| argument.get_action().takes_values());
        if value == Value::Bool(true) && takes_values == Some(true) {
            return Err(Error::Usage(format!("'{key}' has no value: write {key}=...")));
        }
        let value = match (takes_values, value.as_str().map(str::parse)) {
            (Some(false), Some(Ok(set))) => Value::Bool(set),
            _ => value,
        };
        if step.insert(key.into(), value).is_some() {
            return Err(Error::Usage(format!("'{key}' is there twice")));
        }
    }
    if volume {
        if !known.get_arguments().any(|argument| job::is_called(argument, "volume")) {
            return Err(Error::Usage("takes no volumes, and so is no step of a pipe with --volume".into()));
        }
        step.insert("volume".into(), true.into());
    }
    step.insert("max-pixels".into(), common.max_pixels.into());
    step.insert("quiet".into(), common.quiet.into());
    step.extend(common.memory.map(|memory| ("memory".into(), memory.0.into())));
    // Placeholders for the files: the pipe holds the image.
    step.extend([("verb", name), ("in", "-"), ("out", "-")].map(|(key, value)| (key.into(), value.into())));
    let cli = crate::Cli::try_parse_from(job::arguments(step)?).map_err(|error| usage(&error))?;
    if super::on_files(&cli.verb).is_none() { Err(no_step()) } else { Ok(cli.verb) }
}

pub(super) fn run(args: &Args, devices: &mut Devices) -> Result<Report> {
    if args.common.variant.is_some() {
        return Err(Error::Usage("--variant is for a step: write variant=NAME in it".into()));
    }
    if args.output.resume {
        return Err(Error::Usage("--resume is for one filter, and not for the steps of a pipe".into()));
    }
    let steps = args.steps()?;
    let mut reports: Vec<Report> = Vec::new();
    let mut run_steps = |inner: &mut Devices| {
        for (index, step) in steps.iter().enumerate() {
            let report = step.run(inner)?;
            match reports.get_mut(index) {
                // The report of the pages or volumes before this one.
                Some(sum) => sum.add(&report),
                None => reports.push(report),
            }
        }
        Ok(())
    };
    if args.volume {
        return match (super::volume::pipe((&args.common, &args.output), devices, run_steps)?, devices.files()) {
            (None, Some(files)) => by_files(args, &steps, files, devices),
            (report, _) => Ok(report.ok_or(Error::NoImage)?.of_steps(reports)),
        };
    }
    // The first step warns.
    let common = Common { quiet: true, ..args.common.clone() };
    if let Some((input, output)) = devices.files()
        && Job::asked("pipe", &common, &Target::of(&args.output), (&input, &output), devices)?.is_some()
    {
        return by_files(args, &steps, (input, output), devices);
    }
    let report =
        super::image::run("pipe", &args.common, &Target::of(&args.output), devices, |device, image, known| {
            let mut inner = Devices::of(device.clone()).for_each_of(known.images);
            inner.go_to(Place::Pipe(device.upload(image)?));
            run_steps(&mut inner)?;
            match inner.place()? {
                Place::Pipe(image) => Ok(image),
                _ => Err(Error::Bug("a step left the pipe".into())),
            }
        })?;
    Ok(report.of_steps(reports))
}

/// Runs the steps on an image or a volume that is too large to be taken whole: strip by strip or slab by slab, through
/// files beside the output, at most two at a time.
fn by_files(args: &Args, steps: &[Step], (input, output): (PathBuf, PathBuf), devices: &mut Devices) -> Result<Report> {
    let start = Instant::now();
    devices.place()?;
    let device = devices.get(args.common.device)?;
    let mut inner = devices.for_steps(device, input.clone());
    let mut reports: Vec<Report> = Vec::new();
    let mut last: Option<Scratch> = None;
    for step in steps {
        let made = if step.number == steps.len() { None } else { Some(between(&output)?) };
        let from = last.as_ref().map_or(input.as_path(), |last| last.path()).to_path_buf();
        let to = made.as_ref().map_or(output.as_path(), |made| made.path()).to_path_buf();
        // A file without a name has no extension, either.
        let format = made.as_ref().map(|_| BETWEEN.to_string());
        inner.go_to(Place::Files { input: from, output: to, format });
        reports.push(step.run(&mut inner)?);
        last = made;
    }
    let (Some(first), Some(end)) = (reports.first(), reports.last()) else { return Err(Error::NoImage) };
    let ran = Ran { total_ms: milliseconds(start.elapsed()), verb: "pipe", ..first.ran.clone() };
    let report = Report { ran, made: end.made.clone() };
    // Files between the steps do not belong in the reports.
    for step in &mut reports {
        step.ran.input = "-".into();
        if let Made::Image { output, .. } | Made::Volume { output, .. } = &mut step.made {
            *output = "-".into();
        }
    }
    Ok(report.of_steps(reports))
}

/// The format of files between steps.
const BETWEEN: &str = "npy";

/// Creates a file between two steps.
fn between(output: &Path) -> Result<Scratch> {
    Scratch::beside(output, &format!(".{BETWEEN}"))
        .map_err(|error| Error::input(output, format!("no file beside it: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_parsed_by_their_verbs() {
        let cli = crate::Cli::try_parse_from(["apron", "pipe", "a.png", "b.png", "x"]).unwrap();
        let Verb::Pipe(pipe) = cli.verb else { unreachable!("a pipe") };
        let step = |text: &str| {
            let words = words(text).unwrap().remove(0);
            Step::new(1, words, (&pipe.common, false))
        };
        assert!(matches!(step("box size=3x5 border=constant:-1").unwrap().verb, Verb::Box(_)));
        assert!(matches!(
            step("correlate mask='-1 0 1' clamp=false keep-alpha=true").unwrap().verb,
            Verb::Correlate(_)
        ));
        for (text, part) in [
            ("", "step 1 is empty"),
            ("blur", "step 1 (blur): unknown verb 'blur'"),
            ("gaussian", "step 1 (gaussian): the following required arguments were not provided: --sigma"),
            ("gaussian sigma", "step 1 (gaussian): 'sigma' has no value"),
            ("gaussian sigma=1 sigma=2", "'sigma' is there twice"),
            ("gaussian sigma=x", "S or S,SY"),
            ("gaussian sigma=1 sigmoid=3", "unknown key 'sigmoid'"),
            ("gaussian sigma=1 device=cpu", "'device' is for the whole pipe"),
            ("correlate mask=1 clamp=3", "'clamp' must be true or false"),
            ("pipe steps=x", "is no step"),
            ("histogram", "is no step"),
            ("verify", "is no step"),
        ] {
            let Err(error) = step(text) else { panic!("{text}: taken") };
            assert!(error.line().contains(part), "{text}: {}", error.line());
            assert_eq!(error.exit(), 2, "{text}");
        }
    }
}
