//! Markdown tables of times.

use super::jobs::Job;
use super::record::{Record, Row};
use crate::made::markdown::{code, significant, table};

/// Rows in the README: one per kind of workload, from the largest lead over the best other library to a row that is
/// behind; the last two are one mask by two methods.
const SELECTED: [&str; 9] = [
    "box f32 8192x8192 window 63x63",
    "dense u8 8192x8192 mask 15x15",
    "dense f32 8192x8192 mask 7x7",
    "separable f32 8192x8192 radius 8",
    "gauss u8 8192x8192x4 mask 5x5",
    "histogram u8 32768x32768 natural",
    "separable u8 512x512 radius 8",
    "fft f32 2048x2048 mask 64x64",
    "dense f32 2048x2048 mask 64x64",
];

/// Makes a table with a line per workload.
pub(super) fn speeds(rows: &[Row]) -> String {
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
    table(&header, 2, rows.iter().map(cells))
}

/// Makes a short table of the selected workloads and the first whole command, with the machine below.
pub(super) fn selection(record: &Record, jobs: &[Job]) -> Result<String, String> {
    let job = jobs.first().map(Job::cells).into_iter();
    let rows = SELECTED.iter().map(|name| {
        let row = record.rows.iter().find(|row| row.work == *name);
        let row = row.ok_or_else(|| format!("the record has no row '{name}'"))?;
        let peer = row.best_peer().ok_or_else(|| format!("no other library does '{name}'"))?;
        let limit = format!("{} x {}", significant(row.times_the_limit(), 3), row.limit);
        Ok([vec![row.work.clone(), significant(row.ms, 4), limit], beside(row.ms, Some(peer))].concat())
    });
    let rows = rows.collect::<Result<Vec<_>, String>>()?;
    let job = job.map(|[name, ms, others @ ..]| [vec![name, ms, String::new()], others.to_vec()].concat());
    let header = ["work", "ms", "times the limit", "best other", "its ms", "times as fast"];
    Ok(format!("{}\n{}", table(&header, 1, rows.into_iter().chain(job)), record.facts.line()))
}

/// Returns the best other library, its time, and the ratio of its time to ours.
pub(super) fn beside(ms: f64, peer: Option<(&str, f64)>) -> Vec<String> {
    peer.map_or(vec![String::new(); 3], |(name, its)| vec![name.into(), significant(its, 4), significant(its / ms, 3)])
}

fn cells(row: &Row) -> Vec<String> {
    let a_second = |amount: u64, unit: f64| significant(amount as f64 / (row.ms / 1e3) / unit, 3);
    let or_none = |text: Option<String>| text.unwrap_or_default();
    let own = vec![
        row.work.clone(),
        code(&row.variant),
        significant(row.ms, 4),
        a_second(row.bytes, 1e9),
        or_none(row.operations.map(|operations| a_second(operations, 1e12))),
        format!("{} x {}", significant(row.times_the_limit(), 3), row.limit),
        or_none(row.target.clone()),
    ];
    [own, beside(row.ms, row.best_peer())].concat()
}

/// Formats lines about the machine and the date, and about how its limits were measured.
pub(super) fn machine(record: &Record) -> String {
    let rates =
        [("copy", "copy"), ("read", "read"), ("ffma", "FFMA"), ("to-device", "PCIe in"), ("to-host", "PCIe out")];
    let measured = rates.iter().filter_map(|(key, name)| Some(format!("{name} {}", record.facts.get(key)?)));
    let how = record.facts.get("limits").unwrap_or("copies, reads and ffma at these rates");
    let (line, rates) = (record.facts.line(), measured.collect::<Vec<_>>().join("; "));
    format!("{line}Limits: {how}. Rates of large amounts in that run: {rates}.\n")
}

#[cfg(test)]
mod tests {
    use super::super::jobs;
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
        assert_eq!(speeds(&Record::parse(SAMPLE).unwrap().rows), expected);
    }

    #[test]
    fn the_machine_and_its_limits() {
        let expected = "\
GPU: Some GPU; CUDA 13.0 (driver 580.1); CPU: Some CPU, 16 threads; 2026-11-21.
Limits: copies, reads and ffma at these rates. Rates of large amounts in that run: copy 2900 GB/s; read 3040 GB/s; FFMA 65.0 TFLOP/s.
";
        assert_eq!(machine(&Record::parse(SAMPLE).unwrap()), expected);
        let measured = Record::parse(&format!("# limits: a copy of the same bytes\n{SAMPLE}")).unwrap();
        assert!(machine(&measured).contains("\nLimits: a copy of the same bytes. Rates of"), "{}", machine(&measured));
    }

    #[test]
    fn the_selected_rows_and_a_whole_command() {
        let header = SAMPLE.lines().find(|line| line.starts_with("work,")).unwrap();
        let (facts, _) = SAMPLE.split_once(header).unwrap();
        let rows = SELECTED.map(|work| format!("{work},tuned,1000000,,0.25,copy,0.2,,,,,NPP=2;CuPy=1\n")).concat();
        let selected = |rows: &str| {
            let record = Record::parse(&format!("{facts}{header}\n{rows}")).unwrap();
            selection(&record, &jobs::parse(jobs::SAMPLE).unwrap())
        };
        let made = selected(&rows).unwrap();
        assert!(
            made.contains("| box f32 8192x8192 window 63x63 | 0.2500 | 1.25 x copy | CuPy | 1.000 | 4.00 |"),
            "{made}"
        );
        assert!(made.contains("| 2 photographs on the GPU | 50.00 |  | OpenCV | 25.00 | 0.500 |\n\nGPU: "), "{made}");
        let missing = selected(&rows.replace(SELECTED[3], "another")).unwrap_err();
        assert!(missing.contains(SELECTED[3]), "{missing}");
    }
}
