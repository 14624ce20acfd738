//! Results of the bench: as a table, as JSON, and as a record.

use super::limits::{self, Rates};
use super::peers::Found;
use super::workloads::{Operation, Target, Workload};
use super::{Pace, burst};
use crate::report::aligned;
use apron::{DeviceName, Limit};
use apron_testkit::machine;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A run of the bench.
pub(super) struct Bench {
    device: String,
    /// Facts about the machine and the run.
    facts: Vec<(String, String)>,
    rates: Rates,
    pub(super) rows: Vec<Row>,
}

/// A workload and its result.
pub(super) struct Row {
    pub(super) workload: Workload,
    /// The limit that bounds it, and the least time under that limit, in milliseconds, if it is known.
    limit: &'static str,
    pub(super) limit_ms: Option<f64>,
    pub(super) outcome: Outcome,
    /// Other libraries and their times, in milliseconds.
    pub(super) peers: Vec<(String, f64)>,
}

/// The result of a workload.
pub(super) enum Outcome {
    Timed(Timed),
    /// The device does not support it.
    Refused(String),
    /// The result was wrong, or there was an error.
    Failed(String),
}

/// The times of a workload with a correct result, in milliseconds.
pub(super) struct Timed {
    pub(super) variant: String,
    pub(super) why: String,
    /// Median time of the kernels.
    pub(super) ms: f64,
    /// Whether the runs were timed in bursts.
    pub(super) is_burst: bool,
    /// Time of the first call, including compilation.
    pub(super) first_ms: f64,
    pub(super) copy_in_ms: f64,
    pub(super) copy_out_ms: Option<f64>,
    /// For a chain, the sum of the times of its operations, each run alone.
    pub(super) parts_ms: Option<f64>,
}

impl Row {
    /// Makes a row with the limit that bounds the workload, and its least time in milliseconds; a chain has the least
    /// time of its parts instead.
    pub(super) fn new(workload: Workload, outcome: Outcome, limit: Option<(Limit, f64)>) -> Row {
        let name = limit.map(|(limit, _)| limit).or(workload.limit).map_or("parts", Limit::name);
        let mut row = Row { workload, limit: name, limit_ms: limit.map(|(_, ms)| ms), outcome, peers: Vec::new() };
        if workload.limit.is_none() {
            row.limit_ms = row.timed().and_then(|timed| timed.parts_ms);
        }
        row
    }

    fn timed(&self) -> Option<&Timed> {
        if let Outcome::Timed(timed) = &self.outcome { Some(timed) } else { None }
    }

    /// Returns its time divided by the limit's.
    fn times_the_limit(&self) -> Option<f64> {
        Some(self.timed()?.ms / self.limit_ms?)
    }

    /// Whether it meets its target; `None` if it has none, or if the limit is not known.
    fn is_good(&self) -> Option<bool> {
        let (target, times) = (self.workload.target?, self.times_the_limit()?);
        match target {
            Target::Times(most) => Some(times <= most),
            Target::Microseconds(most) => Some(self.timed()?.ms * 1e3 <= most),
        }
    }

    fn verdict(&self) -> &'static str {
        match (&self.outcome, self.is_good()) {
            (Outcome::Failed(_), _) => "failed",
            (Outcome::Refused(_), _) => "refused",
            (Outcome::Timed(_), Some(true)) => "ok",
            (Outcome::Timed(_), Some(false)) => "missed",
            (Outcome::Timed(_), None) => "-",
        }
    }

    fn why_not(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Timed(_) => None,
            Outcome::Refused(why) | Outcome::Failed(why) => Some(why),
        }
    }

    /// Returns the fastest other library.
    fn best_peer(&self) -> Option<&(String, f64)> {
        self.peers.iter().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns GB/s and TFLOP/s.
    fn rates(&self) -> (Option<f64>, Option<f64>) {
        let a_second = |amount: u64| self.timed().map(|timed| amount as f64 / (timed.ms / 1e3));
        (
            a_second(self.workload.bytes()).map(|rate| rate / 1e9),
            self.workload.operations().and_then(a_second).map(|rate| rate / 1e12),
        )
    }
}

const HEADINGS: [&str; 15] = [
    "workload",
    "variant",
    "ms",
    "GB/s",
    "TFLOP/s",
    "x limit",
    "limit",
    "target",
    "",
    "best peer",
    "ms",
    "ratio",
    "first ms",
    "in ms",
    "out ms",
];

const COLUMNS: &str = "work,variant,bytes,operations,ms,limit,limit_ms,target,first_ms,copy_in_ms,copy_out_ms,peers";

/// Returns facts about the machine and the run.
pub(super) fn facts(pace: Pace, gpu: Option<u32>, rates: &Rates) -> Vec<(String, String)> {
    let mut facts: Vec<_> = machine::facts(gpu).into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    facts.push(("runs".into(), format!("median of {} after {} or more", pace.reps, Pace::WARM_UPS)));
    let (runs, short) = (burst::RUNS, burst::SHORT_MS * 1e3);
    let bursts = format!("below {short} us: {runs} runs in a row behind other work; so other libraries, too");
    facts.push(("bursts".into(), bursts));
    let off = std::env::var("CUDA_CACHE_DISABLE").is_ok_and(|value| value == "1");
    let cache = if off { "off: first calls compile" } else { "on: first calls may find compiled kernels" };
    facts.extend(gpu.map(|_| ("kernel cache".to_string(), cache.to_string())));
    facts.extend(rates.0.first().map(|_| ("limits".to_string(), limits::HOW.to_string())));
    facts.extend(rates.0.iter().map(|measured| (measured.limit.name().to_string(), measured.text())));
    facts
}

impl Bench {
    pub(super) fn new(device: DeviceName, pace: Pace, gpu: Option<u32>, rates: Rates, rows: Vec<Row>) -> Bench {
        Bench { device: device.to_string(), facts: facts(pace, gpu, &rates), rates, rows }
    }

    /// Adds the times of other libraries.
    pub(super) fn add(&mut self, found: Found) {
        for (work, peer, ms) in found.times {
            if let Some(row) = self.rows.iter_mut().find(|row| row.workload.to_string() == work) {
                row.peers.push((peer, ms));
            }
        }
        self.facts.extend(found.facts);
    }

    /// Returns the workloads that failed, and why.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&Workload, &str)> {
        self.rows.iter().filter_map(|row| match &row.outcome {
            Outcome::Failed(why) => Some((&row.workload, why.as_str())),
            _ => None,
        })
    }

    /// Formats the results as text.
    pub(super) fn text(&self) -> String {
        let mut text: String = self.facts.iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        let headings = HEADINGS.map(String::from).to_vec();
        let rows: Vec<_> = std::iter::once(headings).chain(self.rows.iter().map(cells)).collect();
        text.push_str(&format!("\n{}", aligned(&rows)));
        for (shape, spread) in self.spreads() {
            text.push_str(&format!(
                "\nhistogram {shape}: the slowest kind of data takes {spread:.3} times the fastest\n"
            ));
        }
        for row in self.rows.iter().filter(|row| row.timed().is_some_and(|timed| timed.is_burst)) {
            text.push_str(&format!("\n{}: timed in a burst\n", row.workload));
        }
        for row in &self.rows {
            text.extend(row.why_not().map(|why| format!("\n{} {}: {why}\n", row.verdict(), row.workload)));
        }
        text
    }

    /// Returns how much the times of histograms differ that differ only by their data.
    fn spreads(&self) -> BTreeMap<String, f64> {
        let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| row.workload.operation == Operation::Histogram) {
            times.entry(row.workload.picture.to_string()).or_default().extend(row.timed().map(|timed| timed.ms));
        }
        let spread = |times: &[f64]| {
            times.iter().copied().fold(0.0, f64::max) / times.iter().copied().fold(f64::INFINITY, f64::min)
        };
        times.into_iter().filter(|(_, times)| times.len() > 1).map(|(shape, times)| (shape, spread(&times))).collect()
    }

    pub(super) fn json(&self) -> Value {
        let facts = self.facts.iter().map(|(key, value)| (key.clone(), Value::from(value.clone())));
        let rates = self.rates.0.iter().map(|measured| {
            let value = json!({ "amount": measured.amount, "ms": measured.ms, "per_second": measured.rate() });
            (measured.limit.name().to_string(), value)
        });
        json!({
            "device": self.device,
            "machine": Value::Object(facts.collect()),
            "limits": Value::Object(rates.collect()),
            "workloads": self.rows.iter().map(object).collect::<Vec<_>>(),
            "failed": self.failures().count(),
        })
    }

    /// Formats the record: lines `# key: value`, a header, and a row for each timed workload.
    pub(super) fn csv(&self) -> String {
        let facts: String = self.facts.iter().map(|(key, value)| format!("# {key}: {value}\n")).collect();
        let rows = self.rows.iter().filter_map(|row| {
            let (timed, workload) = (row.timed()?, &row.workload);
            let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.5}"));
            let peers: Vec<_> = row.peers.iter().map(|(peer, ms)| format!("{peer}={ms:.5}")).collect();
            let cells = [
                workload.to_string(),
                timed.variant.clone(),
                workload.bytes().to_string(),
                workload.operations().map_or(String::new(), |operations| operations.to_string()),
                number(Some(timed.ms)),
                row.limit.into(),
                number(row.limit_ms),
                workload.target.map_or(String::new(), target),
                number(Some(timed.first_ms)),
                number(Some(timed.copy_in_ms)),
                number(timed.copy_out_ms),
                peers.join(";"),
            ];
            Some(cells.join(",") + "\n")
        });
        format!("{facts}{COLUMNS}\n{}", rows.collect::<String>())
    }
}

fn target(target: Target) -> String {
    match target {
        Target::Times(most) => format!("{most} x"),
        Target::Microseconds(most) => format!("{most} us"),
    }
}

/// Formats a row of the table.
fn cells(row: &Row) -> Vec<String> {
    let number = |value: Option<f64>, decimals: usize| value.map_or("-".into(), |value| format!("{value:.decimals$}"));
    let (timed, (bandwidth, compute)) = (row.timed(), row.rates());
    let peer = row.best_peer();
    vec![
        row.workload.to_string(),
        timed.map_or("-".into(), |timed| timed.variant.clone()),
        number(timed.map(|timed| timed.ms), 4),
        number(bandwidth, 0),
        number(compute, 2),
        number(row.times_the_limit(), 3),
        row.limit.into(),
        row.workload.target.map_or("-".into(), target),
        row.verdict().into(),
        peer.map_or("-".into(), |(name, _)| name.clone()),
        number(peer.map(|(_, ms)| *ms), 4),
        number(peer.and_then(|(_, ms)| Some(ms / timed?.ms)), 2),
        number(timed.map(|timed| timed.first_ms), 1),
        number(timed.map(|timed| timed.copy_in_ms), 2),
        number(timed.and_then(|timed| timed.copy_out_ms), 2),
    ]
}

fn object(row: &Row) -> Value {
    let (timed, (bandwidth, compute)) = (row.timed(), row.rates());
    let best = row.best_peer();
    let peers = row.peers.iter().map(|(peer, ms)| json!({ "peer": peer, "ms": ms }));
    json!({
        "work": row.workload.to_string(),
        "verdict": row.verdict(),
        "why_not": row.why_not(),
        "variant": timed.map(|timed| &timed.variant),
        "why": timed.map(|timed| &timed.why),
        "bytes": row.workload.bytes(),
        "operations": row.workload.operations(),
        "ms": timed.map(|timed| timed.ms),
        "burst": timed.map(|timed| timed.is_burst),
        "gb_per_s": bandwidth,
        "tflop_per_s": compute,
        "limit": row.limit,
        "limit_ms": row.limit_ms,
        "times_the_limit": row.times_the_limit(),
        "target": row.workload.target.map(target),
        "first_ms": timed.map(|timed| timed.first_ms),
        "copy_in_ms": timed.map(|timed| timed.copy_in_ms),
        "copy_out_ms": timed.and_then(|timed| timed.copy_out_ms),
        "peers": peers.collect::<Vec<_>>(),
        "best_peer": best.map(|(peer, _)| peer),
        "times_as_fast_as_best_peer": best.and_then(|(_, ms)| Some(ms / timed?.ms)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::limits::Measured;
    use super::super::workloads::WORKLOADS;
    use super::*;
    use apron::Limit;

    fn median_of(ms: f64) -> Timed {
        let (variant, why) = ("tuned".into(), "the preferred variant".into());
        let (first_ms, copy_in_ms, is_burst) = (80.0, 40.0, ms < 0.01);
        Timed { variant, why, ms, is_burst, first_ms, copy_in_ms, copy_out_ms: None, parts_ms: None }
    }

    fn timed(ms: f64) -> Outcome {
        Outcome::Timed(median_of(ms))
    }

    fn in_parts(ms: f64, parts: f64) -> Outcome {
        Outcome::Timed(Timed { parts_ms: Some(parts), ..median_of(ms) })
    }

    /// Makes a bench with invented times.
    fn bench() -> Bench {
        let copy = Measured { limit: Limit::Copy, amount: 512 << 20, ms: 0.185 };
        let read = Measured { limit: Limit::Read, amount: 1 << 30, ms: 0.4 };
        let row = |name: &str, outcome| {
            let workload = *WORKLOADS.iter().find(|workload| workload.to_string() == name).unwrap();
            let measured = [copy, read].into_iter().find(|measured| Some(measured.limit) == workload.limit);
            let ms = |measured: Measured| workload.bytes() as f64 / measured.rate() * 1e3;
            Row::new(workload, outcome, measured.map(|measured| (measured.limit, ms(measured))))
        };
        let rows = vec![
            row("separable f32 8192x8192 radius 8", timed(0.2)),
            row("separable f32 8192x8192 radius 1", timed(0.3)),
            row("histogram u8 32768x32768 uniform", timed(0.4)),
            row("histogram u8 32768x32768 sorted", timed(0.5)),
            row("histogram u8 2048x2048 uniform", timed(0.0059)),
            row("histogram f32 8192x8192 range 0 to 1", Outcome::Refused("no f32".into())),
            row("box f32 8192x8192 window 3x3", Outcome::Failed("wrong: row 3".into())),
            // Without a target, and with a limit that was not measured.
            row("dense f32 8191x8192 mask 7x7", timed(0.6)),
            row("dense f32 8192x8192 mask 15x15", timed(0.7)),
            row("chain u8 2048x2048 gaussian sobel histogram", in_parts(0.054, 0.05)),
            row("chain u8 2048x2048 gaussian sobel histogram", in_parts(0.056, 0.05)),
        ];
        let mut bench = Bench::new(DeviceName::Gpu(0), Pace { reps: 20 }, None, Rates(vec![copy, read]), rows);
        let work = "separable f32 8192x8192 radius 8".to_string();
        bench.add(Found {
            times: vec![(work.clone(), "NPP".into(), 1.3), (work, "CUDA samples".into(), 0.6)],
            facts: vec![("npp".into(), "13.0.1".into())],
        });
        bench
    }

    #[test]
    fn verdicts_follow_from_targets() {
        let verdicts: Vec<_> = bench().rows.iter().map(Row::verdict).collect();
        assert_eq!(verdicts, ["ok", "missed", "ok", "missed", "ok", "refused", "failed", "-", "-", "ok", "missed"]);
    }

    #[test]
    fn a_row_names_what_bounds_it() {
        let workload: Workload = "dense f32 512x512 mask 31x31".parse().unwrap();
        assert_eq!(workload.limit, Some(Limit::Ffma));
        let named = |limit| Row::new(workload, timed(0.01), limit).limit;
        assert_eq!(named(Some((Limit::Copy, 0.004))), "copy");
        assert_eq!(named(Some((Limit::Ffma, 0.004))), "ffma");
        assert_eq!(named(None), "ffma");
    }

    #[test]
    fn the_table_has_a_line_a_workload_and_says_what_went_wrong() {
        let text = bench().text();
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
        let words: Vec<_> = line("separable f32 8192x8192 radius 8").split_whitespace().skip(6).collect();
        let expected =
            ["0.2000", "2684", "22.82", "1.081", "copy", "1.12", "x", "ok", "CUDA", "samples", "0.6000", "3.00"];
        assert_eq!(words[..12], expected, "{text}");
        assert!(text.contains("copy: 2902 GB/s\n") && text.contains("npp: 13.0.1\n"), "{text}");
        assert!(text.contains("\nfailed box f32 8192x8192 window 3x3: wrong: row 3\n"), "{text}");
        assert!(text.contains("\nhistogram u8 32768x32768: the slowest kind of data takes 1.250 times"), "{text}");
        assert!(!text.contains("\nhistogram u8 2048x2048:"), "{text}");
        assert_eq!(text.matches(": timed in a burst\n").count(), 1, "{text}");
        assert!(text.contains("\nhistogram u8 2048x2048 uniform: timed in a burst\n"), "{text}");
    }

    #[test]
    fn json_has_every_workload() {
        let json = bench().json();
        assert_eq!((&json["device"], &json["failed"]), (&json!("gpu:0"), &json!(1)));
        assert_eq!(json["limits"]["copy"]["amount"], 512 << 20);
        let rows = json["workloads"].as_array().unwrap();
        assert_eq!(rows.len(), 11);
        assert_eq!(rows.iter().map(|row| &row["burst"]).filter(|burst| **burst == json!(true)).count(), 1);
        let (first, last) = (&rows[0], &rows[6]);
        assert_eq!((&first["best_peer"], &first["peers"][0]["ms"]), (&json!("CUDA samples"), &json!(1.3)));
        assert!((first["times_the_limit"].as_f64().unwrap() - 0.2 / 0.185).abs() < 1e-9, "{first}");
        assert_eq!((&last["ms"], &last["why_not"]), (&Value::Null, &json!("wrong: row 3")));
    }

    #[test]
    fn a_record_has_what_was_timed() {
        let csv = bench().csv();
        let (facts, rows): (Vec<&str>, Vec<&str>) = csv.lines().partition(|line| line.starts_with('#'));
        assert!(
            facts.contains(&"# copy: 2902 GB/s") && facts.contains(&"# runs: median of 20 after 5 or more"),
            "{csv}"
        );
        assert!(facts.contains(&format!("# limits: {}", limits::HOW).as_str()), "{csv}");
        let bursts = "# bursts: below 50 us: 20 runs in a row behind other work; so other libraries, too";
        assert!(facts.contains(&bursts), "{csv}");
        assert_eq!(rows[0], COLUMNS);
        assert_eq!(rows.len(), 1 + 9);
        let expected = "separable f32 8192x8192 radius 8,tuned,536870912,4563402752,0.20000,copy,0.18500,1.12 x,\
                        80.00000,40.00000,,NPP=1.30000;CUDA samples=0.60000";
        assert_eq!(rows[1], expected);
        assert!(rows[8].contains(",0.05400,parts,0.05000,1.1 x,"), "{csv}");
        assert!(rows.iter().all(|row| row.matches(',').count() == COLUMNS.matches(',').count()), "{csv}");
    }
}
