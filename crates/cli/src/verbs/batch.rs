//! `apron batch`: many jobs in one process, each a JSON object on a line.

use super::job;
use crate::args::Devices;
use crate::error::{Error, Result, usage};
use crate::keys::Keys;
use crate::report::{Report, print};
use clap::Parser;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
Example:
  apron batch jobs.jsonl --device gpu

Each line of the file is a job, with the options of its verb as keys:
  {\"verb\":\"gaussian\",\"in\":\"a.png\",\"out\":\"b.png\",\"sigma\":3,\"border\":\"reflect\"}
  {\"verb\":\"histogram\",\"in\":\"a.png\",\"out\":\"a.csv\",\"per-channel\":true}
  {\"verb\":\"pipe\",\"in\":\"a.png\",\"out\":\"b.png\",\"steps\":\"gaussian sigma=3 | box size=5\"}
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
    let mut devices = Devices::new(args.device);
    let tell = |(index, _): &(usize, &str), result| print(&job::outcome(("line", (index + 1).into()), &result));
    job::each(&jobs, "jobs", args.quiet, |(_, line)| one(line, &mut devices), tell)
}

/// Parses and runs one job.
fn one(line: &str, devices: &mut Devices) -> Result<Report> {
    let Keys(object) =
        serde_json::from_str(line).map_err(|error| Error::Input(format!("not a JSON object: {error}")))?;
    let cli = crate::Cli::try_parse_from(job::arguments(object)?).map_err(|error| usage(&error))?;
    super::many::alone(&cli.verb, devices)
}
