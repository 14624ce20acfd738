//! Results of workloads: enqueued, or done.

use apron::{DeviceHistogram, DeviceImage, Histogram, Report, Result};
use apron_testkit::first_mismatch;

/// An enqueued workload.
pub(in crate::verbs) enum Enqueued {
    Counts(DeviceHistogram),
    /// An image, which waits for its kernels when it is read, or finished counts.
    Done(Solved),
}

impl Enqueued {
    /// Returns the report; waits for the kernels.
    pub(in crate::verbs) fn report(&self) -> Result<Report> {
        match self {
            Enqueued::Counts(counts) => counts.report(),
            Enqueued::Done(solved) => solved.report(),
        }
    }
}

/// The result of a workload.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // there is one at a time
pub(in crate::verbs) enum Solved {
    Image(DeviceImage),
    Counts(Histogram, Report),
    Percentiles(Vec<Vec<f64>>, Report),
}

impl Solved {
    /// Returns the report; waits for the kernels.
    pub(in crate::verbs) fn report(&self) -> Result<Report> {
        match self {
            Solved::Image(image) => image.report(),
            Solved::Counts(_, report) | Solved::Percentiles(_, report) => Ok(report.clone()),
        }
    }

    /// Returns the first difference from the expected result, bit for bit.
    pub(in crate::verbs) fn difference(self, expected: Solved) -> Result<Option<String>> {
        match (self, expected) {
            (Solved::Image(found), Solved::Image(expected)) => {
                let (found, expected) = (found.into_host()?, expected.into_host()?);
                // The slow comparison only locates the difference.
                Ok(if found.bytes() == expected.bytes() { None } else { first_mismatch(&found, &expected) })
            }
            (Solved::Counts(found, _), Solved::Counts(expected, _)) => {
                let (found, expected) = (found.counts(), expected.counts());
                let bin = (0..found.len().max(expected.len())).find(|&bin| found.get(bin) != expected.get(bin));
                let count = |counts: &[u64], bin: usize| counts.get(bin).map_or("nothing".into(), u64::to_string);
                Ok(bin.map(|bin| format!("bin {bin}: {} instead of {}", count(found, bin), count(expected, bin))))
            }
            (Solved::Percentiles(found, _), Solved::Percentiles(expected, _)) => {
                Ok((found != expected).then(|| format!("{found:?} instead of {expected:?}")))
            }
            _ => Ok(Some("a result of another kind".into())),
        }
    }
}
