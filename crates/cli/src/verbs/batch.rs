//! `apron batch`: many jobs in one process; prints a JSON object per job, one on each line.

use super::{Verb, job};
use crate::args::Devices;
use crate::error::{Error, Result, usage};
use crate::keys::Keys;
use crate::report::print;
use clap::Parser;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron batch jobs.jsonl --device gpu

Each line of the file is a job, with the options of its verb as keys:
  {\"verb\":\"gaussian\",\"in\":\"a.png\",\"out\":\"b.png\",\"sigma\":3,\"border\":\"reflect\"}
  {\"verb\":\"histogram\",\"in\":\"a.png\",\"out\":\"a.csv\",\"per-channel\":true}
  {\"verb\":\"pipe\",\"in\":\"a.png\",\"out\":\"b.png\",\"steps\":\"gaussian sigma=3 | box size=5\"}
Blank lines and lines that start with # are skipped; a file that is one JSON list of such objects is taken, too. Lists
of numbers are taken where a verb takes them as text: \"percentile\":[5,95], \"mask\":[[0,1],[2,3]].
For each job one JSON object is printed.")]
pub(crate) struct Args {
    /// The jobs, or - for the standard input
    #[arg(value_name = "JOBS")]
    jobs: PathBuf,
    /// The device of jobs that name none: auto, gpu[:N], cpu, emulator or reference
    #[arg(long, default_value = "auto", value_parser = crate::offers::devices(), hide_possible_values = true)]
    device: apron::DeviceName,
    /// Show no progress bar
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let path = crate::input::name(&args.jobs);
    let text = match path == args.jobs {
        true => std::fs::read_to_string(path),
        false => std::io::read_to_string(std::io::stdin().lock()),
    };
    let text = text.map_err(|error| Error::input(path, error))?;
    // Some editors write a byte order mark at the start.
    let jobs = jobs(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|error| Error::input(path, error))?;
    let mut devices = Devices::new(args.device);
    let tell = |(place, _): &(Place, Job), result| print(&job::outcome(place.clone(), &result));
    job::each(&jobs, "job", args.quiet, |(_, job)| one(job, &mut devices), tell)
}

/// Position of a job: its line, or its number in the list, from 1.
type Place = (&'static str, Value);
/// A job, or the error in its text.
type Job = std::result::Result<Map<String, Value>, String>;

/// Splits a file into jobs: it is one list, or has one job per line.
fn jobs(text: &str) -> std::result::Result<Vec<(Place, Job)>, String> {
    if text.trim_start().starts_with('[') {
        let wrong =
            |error| format!("not a list of jobs: line {}: {}", serde_json::Error::line(&error), broken(text, &error));
        let list: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong)?;
        let jobs = (1..).zip(list);
        return Ok(jobs.map(|(number, text): (usize, _)| (("job", number.into()), job(text.get()))).collect());
    }
    let wanted = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| wanted(line));
    Ok(lines.map(|(index, line)| (("line", (index + 1).into()), job(line))).collect())
}

/// Parses the text of a job.
fn job(text: &str) -> Job {
    serde_json::from_str(text).map(|Keys(job)| job).map_err(|error| match serde_json::from_str(text) {
        Ok(Value::Object(_)) | Err(_) => format!("not a JSON object: {}", broken(text, &error)),
        Ok(value) => {
            format!(
                "the job is {}, but must be a JSON object, such as {{\"verb\":\"info\"}}",
                start(&value.to_string())
            )
        }
    })
}

/// Describes an error in JSON, and its position. The parser counts lines from the start of `text`, which may be one
/// line of a file.
fn broken(text: &str, error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    if error.is_eof() {
        return "its end is missing".into();
    }
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let at = line.get(error.column().saturating_sub(1)..).unwrap_or_default();
    match error.is_syntax() && !at.is_empty() {
        true => format!("{what}, and found '{}'", start(at)),
        false => what.into(),
    }
}

/// Returns the first characters of a text.
fn start(text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    if start.len() < text.len() { start + "..." } else { start }
}

/// Parses and runs one job.
fn one(job: &Job, devices: &mut Devices) -> Result<Value> {
    let object = job.clone().map_err(Error::Input)?;
    if object.get("out").is_some_and(|out| out == "-") {
        return Err(Error::Usage("'out' is -, the standard output, where a job prints its report".into()));
    }
    let cli = crate::Cli::try_parse_from(job::arguments(object)?).map_err(|error| usage(&error))?;
    if let Verb::Info(_) = cli.verb {
        return Ok(super::info::found());
    }
    super::many::alone(&cli.verb, devices).map(|report| report.value())
}
