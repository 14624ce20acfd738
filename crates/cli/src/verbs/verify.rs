//! `apron verify`: the verification step of the articles' programs, for every variant.

use crate::error::{Error, Result};
use crate::report::{complain, print};
use apron::{Device, DeviceName};
use apron_testkit::{Outcome, Scale, check_each, random_case, suite};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Number of random cases besides the suite's fixed ones.
const RANDOM_CASES: u64 = 40;

#[derive(clap::Args)]
#[command(after_help = "\
Random images and masks go through every variant, and each result is compared with the serial
reference: every bit of it, and f32 results also with the exact sums, within the bound
(taps + 3) * 2^-24 * sum |tap * sample|. The articles' sizes are among them, such as 2048x2048 with
64x64 taps; there the parallel CPU stands in for the serial reference, which would take minutes.

Example:
  apron verify --device gpu
  apron verify --device emulator --only separable --seed 5")]
pub(crate) struct Args {
    /// The device to check: auto, gpu[:N], cpu, emulator or reference
    #[arg(long, default_value = "auto", value_parser = crate::offers::devices(), hide_possible_values = true)]
    pub(crate) device: DeviceName,
    /// Seed of the random images and masks [default: another each time]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Only cases whose operation and description, as printed, hold this: 'separable', or 'u8->f32'
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
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
    let pattern = args.only.as_deref().unwrap_or("");
    let cases = suite(scale, seed).into_iter().chain(random);
    let cases = cases.filter(move |case| format!("{} {case}", case.problem.operation()).contains(pattern));
    let (mut count, mut failed) = (0, Vec::new());
    let (mut rows, mut tallies) = (Vec::new(), Tallies::new());
    for outcome in check_each(&device, cases) {
        count += 1;
        tally(&mut tallies, &outcome);
        if args.json {
            rows.push(record(&outcome));
        } else if !args.quiet {
            print(&line(&outcome))?;
        }
        failed.extend(outcome.failure.map(|what| format!("{} {}: {what}", outcome.variant, outcome.case)));
    }
    if count == 0 {
        return Err(Error::Usage(format!("no case of the suite holds '{pattern}'")));
    }
    if args.json {
        let report = json!({
            "device": device.name().to_string(),
            "seed": seed,
            "count": count,
            "failed": failed.len(),
            "variants": by_operation(&tallies),
            "cases": rows,
        });
        print(&format!("{report}\n"))?;
    } else if !args.quiet {
        print(&format!("\n{}{count} checks, {} failed\n", summary(&tallies), failed.len()))?;
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
    format!("{variant:<22} {case:<66} {geometry:<57} {error:>13} {bound:>8}  {result}\n")
}

fn line(outcome: &Outcome) -> String {
    let result = outcome.failure.as_ref().map_or("pass".into(), |what| format!("FAIL {what}"));
    let (error, bound) = (format!("{:.1e}", outcome.largest_error), format!("{:.1e}", outcome.bound));
    // Results of integers and counts are exact.
    let (error, bound) = if outcome.bound == 0.0 { ("0", "0") } else { (error.as_str(), bound.as_str()) };
    row([&outcome.variant, &outcome.case, &few_launches(&outcome.geometry), error, bound, &result])
}

/// Formats the geometry of up to four launches; for more, as sums of filters have, the first three and the number of
/// the others.
fn few_launches(geometry: &str) -> String {
    let launches: Vec<&str> = geometry.split(" + ").collect();
    match launches.len() {
        0..=4 => geometry.into(),
        all => format!("{} + {} more", launches[..3].join(" + "), all - 3),
    }
}

fn record(outcome: &Outcome) -> Value {
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

/// The results of a variant's checks.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    checks: usize,
    failed: usize,
    /// Largest error of a sample, relative to the error bound of that sample.
    error_to_bound: f64,
}

/// By operation and variant, because operations share names of variants.
type Tallies = BTreeMap<(&'static str, String), Tally>;

fn tally(tallies: &mut Tallies, outcome: &Outcome) {
    let tally = tallies.entry((outcome.operation, outcome.variant.clone())).or_default();
    tally.checks += 1;
    tally.failed += usize::from(outcome.failure.is_some());
    tally.error_to_bound = tally.error_to_bound.max(outcome.error_to_bound);
}

/// Formats a line per variant.
fn summary(tallies: &Tallies) -> String {
    let lines = tallies.iter().map(|((operation, variant), Tally { checks, failed, error_to_bound })| {
        let counts = format!("{checks:>5} checks, {failed:>3} failed");
        format!("{operation:<9} {variant:<22} {counts}, largest error {error_to_bound:.3} of its bound\n")
    });
    lines.collect()
}

/// Makes a JSON object of the tallies, by operation and variant.
fn by_operation(tallies: &Tallies) -> Value {
    let mut operations = json!({});
    for ((operation, variant), tally) in tallies {
        operations[operation][variant] = json!({
            "checks": tally.checks,
            "failed": tally.failed,
            "largest_error_to_bound": tally.error_to_bound,
        });
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(operation: &'static str, error_to_bound: f64, failure: Option<&str>) -> Outcome {
        let (variant, case, geometry) = ("conv2d-tiled".into(), "1x1".into(), "-".into());
        let (largest_error, bound, failure) = (error_to_bound * 8.0, 8.0, failure.map(String::from));
        Outcome { operation, variant, case, geometry, largest_error, bound, error_to_bound, failure }
    }

    #[test]
    fn tallies_are_of_one_variant_of_one_operation() {
        let mut tallies = Tallies::new();
        for (share, failure) in [(0.125, None), (0.25, None), (0.0, Some("row 1")), (f64::NAN, Some("row 2"))] {
            tally(&mut tallies, &outcome("correlate", share, failure));
        }
        tally(&mut tallies, &outcome("separable", 0.0, None));
        let lines = "\
correlate conv2d-tiled               4 checks,   2 failed, largest error 0.250 of its bound
separable conv2d-tiled               1 checks,   0 failed, largest error 0.000 of its bound
";
        assert_eq!(summary(&tallies), lines);
        let expected = json!({
            "correlate": { "conv2d-tiled": { "checks": 4, "failed": 2, "largest_error_to_bound": 0.25 } },
            "separable": { "conv2d-tiled": { "checks": 1, "failed": 0, "largest_error_to_bound": 0.0 } },
        });
        assert_eq!(by_operation(&tallies), expected);
    }
}
