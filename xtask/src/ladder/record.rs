//! The record: lines `# key: value` about the machine, a header, and one row per program.

use crate::made::record::{self, Facts, number, optional, whole, word};

const HEADER: &str = "work,level,program,variant,bytes,operations,predicted_ms,ms,twin_ms";
/// Facts that a record must contain.
const NEEDED: [&str; 4] = ["gpu", "driver", "cpu", "date"];

/// A measured ladder.
#[derive(Debug)]
pub(super) struct Record {
    /// Facts about the machine.
    facts: Facts,
    /// Programs in the order of the ladder, grouped by workload.
    rows: Vec<Row>,
}

/// A program's time for a workload.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) work: String,
    /// What the program adds to the previous one.
    pub(super) level: String,
    /// The program's name in the articles, or `-`.
    pub(super) program: String,
    pub(super) variant: String,
    /// Least memory traffic, in bytes.
    pub(super) bytes: u64,
    /// Arithmetic operations.
    pub(super) operations: u64,
    /// The time predicted before the measurement, in milliseconds.
    pub(super) predicted_ms: Option<f64>,
    pub(super) ms: f64,
    /// Time of the CUDA C twin, in milliseconds, if it was measured.
    pub(super) twin_ms: Option<f64>,
}

impl Row {
    /// Whether the row is that of the serial program.
    pub(super) fn is_serial(&self) -> bool {
        self.variant == "serial"
    }

    /// Whether the row is that of the parallel CPU program.
    pub(super) fn is_cpu(&self) -> bool {
        self.variant == "parallel"
    }
}

impl Record {
    /// Parses a record.
    pub(super) fn parse(text: &str) -> Result<Record, String> {
        let (facts, rows) = record::parse(text, HEADER, &NEEDED, row)?;
        Ok(Record { facts, rows })
    }

    /// Returns the facts about the machine.
    pub(super) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns all rows.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the rows of each workload.
    pub(super) fn works(&self) -> impl Iterator<Item = &[Row]> {
        self.rows.chunk_by(|row, next| row.work == next.work)
    }
}

fn row(fields: [&str; 9]) -> Result<Row, String> {
    let [work, level, program, variant, bytes, operations, predicted_ms, ms, twin_ms] = fields;
    Ok(Row {
        work: word("work", work)?,
        level: word("level", level)?,
        program: word("program", program)?,
        variant: word("variant", variant)?,
        bytes: whole("bytes", bytes)?,
        operations: whole("operations", operations)?,
        predicted_ms: optional("predicted_ms", predicted_ms, number)?,
        ms: number("ms", ms)?,
        twin_ms: optional("twin_ms", twin_ms, number)?,
    })
}

/// A record of invented times, for tests.
#[cfg(test)]
pub(super) const SAMPLE: &str = "\
# gpu: Some GPU
# driver: CUDA 13.0 (driver 580.1)
# clock: SM 1980 MHz of at most 1980 MHz
# nvcc: 13.0
# cpu: Some CPU, 16 threads
# date: 2026-11-21
work,level,program,variant,bytes,operations,predicted_ms,ms,twin_ms
separable f32 64x64 radius 8,serial,P1,serial,1000000,2000000,,200,
separable f32 64x64 radius 8,all cores,-,parallel,1000000,2000000,,20.5,
separable f32 64x64 radius 8,GPU,P2,simple,1000000,2000000,0.4,0.5,
dense f32 64x64 mask 5x5,shared tile,P4,conv2d-tiled-symbol,1000000,2000000,,2,2.5
dense f32 64x64 mask 5x5,mask in the launch,P4,conv2d-tiled,1000000,2000000,,4,2
rgba u8 64x64 box 3x3,serial,P9,serial,1000000,2000000,,1000,
rgba u8 64x64 box 3x3,texture,P10,rgba-texture,1000000,2000000,,0.0125,
histogram u8 64x64 256 bins,serial,-,serial,1000000,1000000,,64902.1607,
histogram u8 64x64 256 bins,shared partials,P6+P7,histogram-partials,1000000,1000000,,0.0212,0.0212
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read() {
        let record = Record::parse(SAMPLE).unwrap();
        assert_eq!(record.facts().get("cpu"), Some("Some CPU, 16 threads"));
        assert_eq!(record.facts().get("nobody"), None);
        let works: Vec<_> = record.works().map(|rows| (rows[0].work.as_str(), rows.len())).collect();
        let expected = [
            ("separable f32 64x64 radius 8", 3),
            ("dense f32 64x64 mask 5x5", 2),
            ("rgba u8 64x64 box 3x3", 2),
            ("histogram u8 64x64 256 bins", 2),
        ];
        assert_eq!(works, expected);
        let row = &record.rows()[3];
        assert_eq!(
            (row.level.as_str(), row.program.as_str(), row.variant.as_str()),
            ("shared tile", "P4", "conv2d-tiled-symbol")
        );
        assert_eq!((row.bytes, row.operations, row.ms, row.twin_ms), (1_000_000, 2_000_000, 2.0, Some(2.5)));
        assert_eq!(record.rows()[0].twin_ms, None);
        assert_eq!((record.rows()[2].predicted_ms, row.predicted_ms), (Some(0.4), None));
    }

    #[test]
    fn what_is_malformed_is_named_with_its_line() {
        let row = "separable f32 64x64 radius 8,GPU,P2,simple,1000000,2000000,0.4,0.5,";
        let broken = [
            (row, "a,b,c", "line 10: 3 fields"),
            (row, "a,b,c,d,1,1,1,1,1,1", "line 10: 10 fields"),
            (row, "", "line 10: 1 fields"),
            (row, "a,b,,d,1,1,,1,", "line 10: program is empty"),
            (row, "a,b,c,d,-1,1,,1,", "line 10: bytes is '-1'"),
            (row, "a,b,c,d,1,1.5,,1,", "line 10: operations is '1.5'"),
            (row, "a,b,c,d,1,1,,fast,", "line 10: ms is 'fast'"),
            (row, "a,b,c,d,1,1,,0,", "line 10: ms is '0'"),
            (row, "a,b,c,d,1,1,,NaN,", "line 10: ms is 'NaN'"),
            (row, "a,b,c,d,1,1,,1,inf", "line 10: twin_ms is 'inf'"),
            (row, "a,b,c,d,1,1,soon,1,", "line 10: predicted_ms is 'soon'"),
            ("# nvcc: 13.0", "# nvcc", "line 4: '# nvcc'"),
            (HEADER, "work,ms", "line 7: 'work,ms' is not the header"),
            ("# gpu: Some GPU\n", "", "no line '# gpu: ...'"),
            ("# date: 2026-11-21", "# date:", "no line '# date: ...'"),
        ];
        for (part, by, expected) in broken {
            let error = Record::parse(&SAMPLE.replace(part, by)).unwrap_err();
            assert!(error.contains(expected), "{by}: {error}");
        }
        assert_eq!(Record::parse(&format!("# gpu: a\n{HEADER}\n")).unwrap_err(), "it has no rows");
    }
}
