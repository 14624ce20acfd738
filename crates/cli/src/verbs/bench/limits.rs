//! The machine's limits, measured before the workloads that are compared with them.

use super::Pace;
use apron::{Device, Error, Limit, Result};

/// The measured limits of the device.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits(pub(super) Vec<Measured>);

/// The measurement of a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) limit: Limit,
    /// Amount of work: bytes moved, or operations.
    pub(super) amount: u64,
    pub(super) ms: f64,
}

impl Measured {
    /// Returns bytes or operations per second.
    pub(super) fn rate(&self) -> f64 {
        self.amount as f64 / (self.ms / 1e3)
    }

    /// Formats the rate with its unit.
    pub(super) fn text(&self) -> String {
        match self.limit {
            Limit::Ffma => format!("{:.1} TFLOP/s", self.rate() / 1e12),
            _ => format!("{:.0} GB/s", self.rate() / 1e9),
        }
    }
}

impl Limits {
    /// Measures the limits that the device has.
    pub(super) fn measure(device: &Device, pace: Pace, quick: bool) -> Result<Limits> {
        let mut measured = Vec::new();
        for limit in Limit::ALL {
            let amount = amount(limit) >> if quick { 8 } else { 0 };
            let mut run = match device.limit(limit, amount) {
                Err(Error::Unsupported { .. }) => continue,
                run => run?,
            };
            measured.push(Measured { limit, amount: run.amount(), ms: pace.median(|| run.run())? });
        }
        Ok(Limits(measured))
    }

    /// Returns the least time for an amount of work, in milliseconds.
    pub(super) fn ms(&self, limit: Limit, amount: u64) -> Option<f64> {
        let measured = self.0.iter().find(|measured| measured.limit == limit)?;
        Some(amount as f64 / measured.rate() * 1e3)
    }
}

/// Returns the amount of work by which a limit is measured.
fn amount(limit: Limit) -> u64 {
    match limit {
        // Some milliseconds, so that launch overhead is negligible.
        Limit::Ffma => 200_000_000_000,
        // 256 MiB read, and 256 MiB written.
        Limit::Copy => 512 << 20,
        Limit::Read => 1 << 30,
        Limit::ToDevice | Limit::ToHost => 256 << 20,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_rate() {
        let copy = Measured { limit: Limit::Copy, amount: 512 << 20, ms: 0.185 };
        assert_eq!(copy.text(), "2902 GB/s");
        let ffma = Measured { limit: Limit::Ffma, amount: 65_000_000_000, ms: 1.0 };
        assert_eq!(ffma.text(), "65.0 TFLOP/s");
        let limits = Limits(vec![copy, ffma]);
        assert_eq!(limits.ms(Limit::Copy, 256 << 20), Some(0.0925));
        assert_eq!(limits.ms(Limit::Read, 1), None);
    }

    #[test]
    fn the_cpu_has_those_of_its_cores_and_memory_and_the_reference_none() {
        let measure = |device: &Device| Limits::measure(device, Pace { reps: 1 }, true).unwrap().0;
        let found: Vec<Limit> = measure(&Device::cpu()).iter().map(|measured| measured.limit).collect();
        assert_eq!(found, [Limit::Ffma, Limit::Copy, Limit::Read]);
        assert!(measure(&Device::reference()).is_empty());
    }
}
