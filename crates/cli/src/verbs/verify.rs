//! `apron verify`: what the articles' main programs do, for every variant.

use crate::error::{Error, Result};
use crate::report::{complain, print};
use apron::{Device, DeviceName};
use apron_testkit::{Outcome, Scale, check_all, random_case, suite};
use serde_json::json;

/// Random cases beside the suite's own.
const RANDOM_CASES: u64 = 40;

#[derive(clap::Args)]
#[command(after_help = "\
Random images and masks go through every variant, and each result is compared with the serial
reference: every bit of it, and f32 results also with the exact sums, within the bound
(taps + 3) * 2^-24 * sum |tap * sample|.

Example:
  apron verify --device gpu")]
pub(crate) struct Args {
    /// The device to check: auto, gpu[:N], cpu, emulator or reference
    #[arg(long, default_value = "auto")]
    pub(crate) device: DeviceName,
    /// Seed of the random images and masks [default: another each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Only small images, as always on the emulator and the reference
    #[arg(long)]
    pub(crate) small: bool,
    /// Report as one JSON object on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Report nothing but failures
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let device = Device::open(args.device)?;
    let seed = args.seed.unwrap_or_else(|| rand::random::<u32>() as u64);
    let slow = matches!(device.name(), DeviceName::Emulator | DeviceName::Reference);
    let scale = if slow || args.small { Scale::Small } else { Scale::Full };
    let random = (0..RANDOM_CASES).map(|n| random_case(seed.wrapping_add(n)));
    if !args.json && !args.quiet {
        print(&format!("device {}, seed {seed}\n{}", device.name(), row(HEADINGS)))?;
    }
    let (mut count, mut failed) = (0, Vec::new());
    let mut rows = Vec::new();
    for case in suite(scale, seed).into_iter().chain(random) {
        for outcome in check_all(&device, &case) {
            count += 1;
            if args.json {
                rows.push(record(&outcome));
            } else if !args.quiet {
                print(&line(&outcome))?;
            }
            failed.extend(outcome.failure.map(|what| format!("{} {}: {what}", outcome.variant, outcome.case)));
        }
    }
    if args.json {
        let report = json!({ "device": device.name().to_string(), "seed": seed, "count": count, "failed": failed.len(), "cases": rows });
        print(&format!("{report}\n"))?;
    } else if !args.quiet {
        print(&format!("{count} checks, {} failed\n", failed.len()))?;
    }
    if failed.is_empty() {
        return Ok(());
    }
    failed.iter().for_each(|what| complain(what));
    Err(Error::Failed(format!(
        "{} of {count} checks failed on {}; repeat with --seed {seed}",
        failed.len(),
        device.name()
    )))
}

const HEADINGS: [&str; 6] = ["variant", "case", "blocks x threads", "largest error", "bound", "result"];

fn row(cells: [&str; 6]) -> String {
    let [variant, case, geometry, error, bound, result] = cells;
    format!("{variant:<16} {case:<50} {geometry:<26} {error:>13} {bound:>9}  {result}\n")
}

fn line(outcome: &Outcome) -> String {
    let result = outcome.failure.as_ref().map_or("pass".into(), |what| format!("FAIL {what}"));
    let (error, bound) = (format!("{:.1e}", outcome.largest_error), format!("{:.1e}", outcome.bound));
    // Integers and counts are exact.
    let (error, bound) = if outcome.bound == 0.0 { ("0", "0") } else { (error.as_str(), bound.as_str()) };
    row([&outcome.variant, &outcome.case, &outcome.geometry, error, bound, &result])
}

fn record(outcome: &Outcome) -> serde_json::Value {
    json!({
        "operation": outcome.operation,
        "variant": outcome.variant,
        "case": outcome.case,
        "geometry": outcome.geometry,
        "largest_error": outcome.largest_error,
        "bound": outcome.bound,
        "failure": outcome.failure,
    })
}
