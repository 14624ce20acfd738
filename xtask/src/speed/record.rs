//! The record: lines `# key: value` about the machine, a header, and one row per workload.

use crate::made::record::{self, Facts, number, optional, whole, word};

/// The header that `apron bench --record` writes.
const HEADER: &str = "work,variant,bytes,operations,ms,limit,limit_ms,target,first_ms,copy_in_ms,copy_out_ms,peers";
/// Facts that a record must contain.
const NEEDED: [&str; 6] = ["gpu", "driver", "date", "copy", "read", "ffma"];

/// The record of a run of the bench.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) facts: Facts,
    pub(super) rows: Vec<Row>,
}

/// The times of a workload.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) work: String,
    pub(super) variant: String,
    /// Least memory traffic, in bytes.
    pub(super) bytes: u64,
    /// Arithmetic operations, for filters with multiplications.
    pub(super) operations: Option<u64>,
    pub(super) ms: f64,
    /// The limit that bounds the workload: `copy`, `read`, `ffma` or `parts`.
    pub(super) limit: String,
    /// The least time that the limit allows, in milliseconds.
    pub(super) limit_ms: f64,
    /// Target: a multiple of the limit's time, or a time in microseconds.
    pub(super) target: Option<String>,
    /// Other libraries and their times, in milliseconds.
    peers: Vec<(String, f64)>,
}

impl Record {
    /// Parses a record.
    pub(super) fn parse(text: &str) -> Result<Record, String> {
        let (facts, rows) = record::parse(text, HEADER, &NEEDED, row)?;
        Ok(Record { facts, rows })
    }
}

impl Row {
    /// Returns the workload's time divided by the limit's.
    pub(super) fn times_the_limit(&self) -> f64 {
        self.ms / self.limit_ms
    }

    /// Returns the fastest other library.
    pub(super) fn best_peer(&self) -> Option<(&str, f64)> {
        let best = self.peers.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(name, ms)| (name.as_str(), *ms))
    }
}

fn row(fields: [&str; 12]) -> Result<Row, String> {
    let [work, variant, bytes, operations, ms, limit, limit_ms, target, first_ms, copy_in_ms, copy_out_ms, peers] =
        fields;
    for (name, value) in [("first_ms", first_ms), ("copy_in_ms", copy_in_ms), ("copy_out_ms", copy_out_ms)] {
        optional(name, value, number)?;
    }
    Ok(Row {
        work: word("work", work)?,
        variant: word("variant", variant)?,
        bytes: whole("bytes", bytes)?,
        operations: optional("operations", operations, whole)?,
        ms: number("ms", ms)?,
        limit: word("limit", limit)?,
        limit_ms: number("limit_ms", limit_ms)?,
        target: optional("target", target, word)?,
        peers: record::peers(peers)?,
    })
}

/// A record of invented times, for tests.
#[cfg(test)]
pub(super) const SAMPLE: &str = "\
# gpu: Some GPU
# driver: CUDA 13.0 (driver 580.1)
# cpu: Some CPU, 16 threads
# date: 2026-11-21
# ffma: 65.0 TFLOP/s
# copy: 2900 GB/s
# read: 3040 GB/s
work,variant,bytes,operations,ms,limit,limit_ms,target,first_ms,copy_in_ms,copy_out_ms,peers
separable f32 64x64 radius 8,tuned,1000000,2000000,0.25,copy,0.2,1.12 x,80,40,30,NPP=2;CuPy=1
dense f32 64x64 mask 5x5,tuned,1000000,2000000,0.5,ffma,0.4,,80,40,,
histogram u8 64x64 uniform,histogram-partials,1000000,,0.0125,read,0.02,6 us,80,40,,CUB=0.02
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bench_writes_this_header() {
        assert!(include_str!("../../../crates/cli/src/verbs/bench/report.rs").contains(HEADER));
    }

    #[test]
    fn a_record_is_read() {
        let record = Record::parse(SAMPLE).unwrap();
        assert_eq!((record.rows.len(), record.facts.get("copy")), (3, Some("2900 GB/s")));
        let [separable, dense, histogram] = &record.rows[..] else { panic!() };
        assert_eq!((separable.best_peer(), separable.times_the_limit()), (Some(("CuPy", 1.0)), 1.25));
        assert_eq!((dense.best_peer(), &dense.target, dense.limit.as_str()), (None, &None, "ffma"));
        assert_eq!((histogram.operations, histogram.target.as_deref()), (None, Some("6 us")));
    }

    #[test]
    fn what_is_malformed_is_named_with_its_line() {
        let broken = [
            ("tuned,1000000,2000000,0.25", "tuned,1000000,2000000,fast", "line 9: ms is 'fast'"),
            ("copy,0.2", "copy,0", "line 9: limit_ms is '0'"),
            ("0.4,,80", "0.4,,soon", "line 10: first_ms is 'soon'"),
            ("CUB=0.02", "CUB", "line 11: peers: 'CUB' is not NAME=MS"),
            ("CUB=0.02", "=0.02", "line 11: peers is empty"),
            ("CUB=0.02", "CUB=0", "line 11: peers is '0'"),
            (",CUB=0.02", "", "line 11: 11 fields"),
            ("# copy: 2900 GB/s\n", "", "no line '# copy: ...'"),
        ];
        for (part, by, expected) in broken {
            let error = Record::parse(&SAMPLE.replace(part, by)).unwrap_err();
            assert!(error.contains(expected), "{by}: {error}");
        }
    }
}
