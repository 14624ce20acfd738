//! The machine's own limits, measured before anything is held against them.

use super::Pace;
use apron::{Device, Error, Limit, Result};

/// The limits that the device has.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits(pub(super) Vec<Measured>);

/// A limit's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) limit: Limit,
    /// What was moved or computed: bytes, or operations.
    pub(super) amount: u64,
    pub(super) ms: f64,
}

impl Measured {
    /// Bytes or operations a second.
    pub(super) fn rate(&self) -> f64 {
        self.amount as f64 / (self.ms / 1e3)
    }

    /// The rate in its unit.
    pub(super) fn text(&self) -> String {
        match self.limit {
            Limit::Ffma => format!("{:.1} TFLOP/s", self.rate() / 1e12),
            _ => format!("{:.0} GB/s", self.rate() / 1e9),
        }
    }
}

impl Limits {
    /// Measures them; none on devices that have no such limits.
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

    /// The least time for this much of a limit, in milliseconds.
    pub(super) fn ms(&self, limit: Limit, amount: u64) -> Option<f64> {
        let measured = self.0.iter().find(|measured| measured.limit == limit)?;
        Some(amount as f64 / measured.rate() * 1e3)
    }
}

/// By how much a limit is measured.
fn amount(limit: Limit) -> u64 {
    match limit {
        // Some milliseconds, beside which a launch is nothing.
        Limit::Ffma => 200_000_000_000,
        // 256 MiB read, and written.
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
    fn a_host_device_has_none() {
        assert!(Limits::measure(&Device::cpu(), Pace { reps: 1 }, true).unwrap().0.is_empty());
    }
}
