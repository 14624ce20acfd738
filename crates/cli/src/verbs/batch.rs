//! `apron batch`: many jobs in one process, each a JSON object on a line.

use crate::args::Devices;
use crate::error::{Error, Result, guarded, usage};
use crate::report::{Report, print};
use clap::{CommandFactory, Parser};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron batch jobs.jsonl --device gpu

Each line of the file is a job, with the options of its verb as keys:
  {\"verb\":\"gaussian\",\"in\":\"a.png\",\"out\":\"b.png\",\"sigma\":3,\"border\":\"reflect\"}
  {\"verb\":\"histogram\",\"in\":\"a.png\",\"out\":\"a.csv\",\"per-channel\":true}
Blank lines and lines that start with # are skipped. For each job one JSON object is printed.")]
pub(crate) struct Args {
    /// The jobs
    #[arg(value_name = "JOBS")]
    jobs: PathBuf,
    /// The device of jobs that name none: auto, gpu[:N], cpu, emulator or reference
    #[arg(long, default_value = "auto")]
    device: apron::DeviceName,
    /// Show no progress bar
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let text = std::fs::read_to_string(&args.jobs).map_err(|error| Error::input(&args.jobs, error))?;
    let wanted = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines = text.lines().map(str::trim).enumerate();
    let jobs: Vec<(usize, &str)> = lines.filter(|(_, line)| wanted(line)).collect();
    let bar = if args.quiet { ProgressBar::hidden() } else { ProgressBar::new(jobs.len() as u64) };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} jobs, {eta} left") {
        bar.set_style(style);
    }
    let mut devices = Devices::new(args.device);
    let mut failed = 0;
    for (index, line) in &jobs {
        let result = guarded(|| job(line, &mut devices));
        failed += result.is_err() as usize;
        let line = outcome(index + 1, &result);
        // Not through the bar, which would hide the line where stderr is no terminal.
        bar.suspend(|| print(&format!("{line}\n")))?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    match failed {
        0 => Ok(()),
        _ => Err(Error::Failed(format!("{failed} of {} jobs failed", jobs.len()))),
    }
}

/// The line that says how a job went.
fn outcome(line: usize, result: &Result<Report>) -> Value {
    let mut object = json!({ "line": line, "ok": result.is_ok() });
    let more = match result {
        Ok(report) => serde_json::to_value(report).unwrap_or_default(),
        Err(error) => json!({ "error": error.line(), "exit": error.exit() }),
    };
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

/// Parses and runs one job.
fn job(line: &str, devices: &mut Devices) -> Result<Report> {
    let object: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| Error::Input(format!("not a JSON object: {error}")))?;
    let cli = crate::Cli::try_parse_from(arguments(object)?).map_err(|error| usage(&error))?;
    super::job(&cli.verb, devices)
}

/// The job as the arguments of a command: one grammar for both.
fn arguments(mut job: Map<String, Value>) -> Result<Vec<OsString>> {
    let verb = text("verb", job.remove("verb").unwrap_or_default())?;
    let command = crate::Cli::command();
    let known = command.find_subcommand(&verb).ok_or_else(|| Error::Usage(format!("unknown verb '{verb}'")))?;
    let mut arguments = vec!["apron".into(), OsString::from(&verb)];
    let mut files = vec![text("in", job.remove("in").unwrap_or_default())?];
    // The one verb with a file between.
    if verb == "match" {
        files.push(text("reference", job.remove("reference").unwrap_or_default())?);
    }
    // A histogram's output is an option, a filter's the second file.
    if let Some(out) = job.remove("out") {
        let out = text("out", out)?;
        if verb == "histogram" { arguments.push(format!("--out={out}").into()) } else { files.push(out) }
    }
    for (key, value) in job {
        let option = known.get_arguments().find(|argument| argument.get_long() == Some(&key));
        let option = option.ok_or_else(|| Error::Usage(format!("{verb}: unknown key '{key}'")))?;
        match (option.get_action().takes_values(), value) {
            (false, Value::Bool(true)) => arguments.push(format!("--{key}").into()),
            (false, Value::Bool(false)) => {}
            (false, _) => return Err(Error::Usage(format!("{verb}: '{key}' must be true or false"))),
            (true, value) => arguments.push(format!("--{key}={}", text(&key, value)?).into()),
        }
    }
    // Files may start with a dash.
    arguments.push("--".into());
    arguments.extend(files.into_iter().map(OsString::from));
    Ok(arguments)
}

/// A value as it would be typed.
fn text(key: &str, value: Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null => Err(Error::Usage(format!("'{key}' is missing"))),
        other => Err(Error::Usage(format!("'{key}' is {other}, but must be a string or a number"))),
    }
}
