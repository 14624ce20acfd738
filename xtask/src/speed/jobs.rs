//! Times of whole commands, from the program's start to its end, including reading, decoding, encoding and writing
//! files.

use super::table::beside;
use crate::made::markdown::{significant, table};
use crate::made::record::{self, number, word};

const HEADER: &str = "job,ms,peers";

/// The time of a command, and of other libraries.
#[derive(Debug)]
pub(super) struct Job {
    name: String,
    ms: f64,
    /// Other libraries and their times, in milliseconds.
    peers: Vec<(String, f64)>,
}

impl Job {
    /// Returns its name, its time, the fastest other library with its time, and the ratio of the times.
    pub(super) fn cells(&self) -> [String; 5] {
        let best = self.peers.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(name, ms)| (name.as_str(), *ms));
        let own = [self.name.clone(), significant(self.ms, 4)];
        let cells: Vec<String> = own.into_iter().chain(beside(self.ms, best)).collect();
        cells.try_into().expect("two cells and three")
    }
}

/// Parses the record.
pub(super) fn parse(text: &str) -> Result<Vec<Job>, String> {
    let (_, jobs) = record::parse(text, HEADER, &["gpu", "cpu", "date"], |[name, ms, peers]| {
        Ok(Job { name: word("job", name)?, ms: number("ms", ms)?, peers: record::peers(peers)? })
    })?;
    Ok(jobs)
}

/// Makes a table with a line per command.
pub(super) fn commands(jobs: &[Job]) -> String {
    table(&["command", "ms", "best other", "its ms", "times as fast"], 1, jobs.iter().map(|job| job.cells().to_vec()))
}

/// A record of invented times, for tests.
#[cfg(test)]
pub(super) const SAMPLE: &str = "\
# gpu: Some GPU
# cpu: Some CPU
# date: 2026-11-21
job,ms,peers
2 photographs on the GPU,50,OpenCV=25;Pillow=30
2 photographs on the CPU,40,
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_command() {
        let expected = "\
| command | ms | best other | its ms | times as fast |
|---|---:|---:|---:|---:|
| 2 photographs on the GPU | 50.00 | OpenCV | 25.00 | 0.500 |
| 2 photographs on the CPU | 40.00 |  |  |  |
";
        assert_eq!(commands(&parse(SAMPLE).unwrap()), expected);
    }

    #[test]
    fn what_is_malformed_is_named_with_its_line() {
        for (part, by, expected) in [
            ("GPU,50", "GPU,soon", "line 5: ms is 'soon'"),
            ("OpenCV=25", "OpenCV", "line 5: peers: 'OpenCV' is not NAME=MS"),
            ("# cpu: Some CPU\n", "", "no line '# cpu: ...'"),
        ] {
            let error = parse(&SAMPLE.replace(part, by)).unwrap_err();
            assert!(error.contains(expected), "{by}: {error}");
        }
    }
}
