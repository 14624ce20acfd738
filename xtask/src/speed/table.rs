//! The table of speeds, in Markdown.

use super::record::{Record, Row};
use crate::made::markdown::{code, significant, table};

/// What the page has marked places for.
pub(super) const NAMES: [&str; 2] = ["table", "machine"];

/// What belongs into the place of this name.
pub(super) fn part(record: &Record, name: &str) -> Result<String, String> {
    match name {
        "table" => Ok(speeds(record)),
        "machine" => Ok(machine(record)),
        _ => Err(format!("nothing is called '{name}'; known are {}", NAMES.join(", "))),
    }
}

fn speeds(record: &Record) -> String {
    let header = [
        "work",
        "variant",
        "ms",
        "GB/s",
        "TFLOP/s",
        "times the limit",
        "target",
        "best other",
        "its ms",
        "times as fast",
    ];
    table(&header, 2, record.rows.iter().map(cells))
}

fn cells(row: &Row) -> Vec<String> {
    let peer = row.best_peer();
    let a_second = |amount: u64, unit: f64| significant(amount as f64 / (row.ms / 1e3) / unit, 3);
    let or_none = |text: Option<String>| text.unwrap_or_default();
    vec![
        row.work.clone(),
        code(&row.variant),
        significant(row.ms, 4),
        a_second(row.bytes, 1e9),
        or_none(row.operations.map(|operations| a_second(operations, 1e12))),
        format!("{} x {}", significant(row.times_the_limit(), 3), row.limit),
        or_none(row.target.clone()),
        or_none(peer.map(|(name, _)| name.into())),
        or_none(peer.map(|(_, ms)| significant(ms, 4))),
        or_none(peer.map(|(_, ms)| significant(ms / row.ms, 3))),
    ]
}

/// Lines about the machine, its limits and the day.
fn machine(record: &Record) -> String {
    let limits =
        [("copy", "copy"), ("read", "read"), ("ffma", "FFMA"), ("to-device", "PCIe in"), ("to-host", "PCIe out")];
    let measured = limits.iter().filter_map(|(key, name)| Some(format!("{name} {}", record.facts.get(key)?)));
    format!("{}Limits in that run: {}.\n", record.facts.line(), measured.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::super::record::SAMPLE;
    use super::*;

    #[test]
    fn a_line_a_workload() {
        let expected = "\
| work | variant | ms | GB/s | TFLOP/s | times the limit | target | best other | its ms | times as fast |
|---|---|---:|---:|---:|---:|---:|---:|---:|---:|
| separable f32 64x64 radius 8 | `tuned` | 0.2500 | 4.00 | 0.00800 | 1.25 x copy | 1.12 x | CuPy | 1.000 | 4.00 |
| dense f32 64x64 mask 5x5 | `tuned` | 0.5000 | 2.00 | 0.00400 | 1.25 x ffma |  |  |  |  |
| histogram u8 64x64 uniform | `histogram-partials` | 0.01250 | 80.0 |  | 0.625 x read | 6 us | CUB | 0.02000 | 1.60 |
";
        assert_eq!(part(&Record::parse(SAMPLE).unwrap(), "table").unwrap(), expected);
    }

    #[test]
    fn the_machine_and_its_limits() {
        let expected = "\
GPU: Some GPU; CUDA 13.0 (driver 580.1); CPU: Some CPU, 16 threads; 2026-11-21.
Limits in that run: copy 2900 GB/s; read 3040 GB/s; FFMA 65.0 TFLOP/s.
";
        let record = Record::parse(SAMPLE).unwrap();
        assert_eq!(part(&record, "machine").unwrap(), expected);
        assert!(part(&record, "speed").unwrap_err().contains("'speed'"));
    }
}
