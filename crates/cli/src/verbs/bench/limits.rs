//! The machine's limits, which bound the times of workloads.
//!
//! A copy or read is measured for each number of bytes, and timed in the same way as the workload that it bounds: small
//! amounts stay in caches, and launch overhead is much of their time, so the rates of large amounts do not hold for
//! them.

use super::Pace;
use super::burst::Bursts;
use super::workloads::Workload;
use apron::{Device, Error, Limit, Result};
use std::collections::HashMap;

/// How [`Limits`] are measured, as a fact of a record.
pub(super) const HOW: &str =
    "a copy or read of the same bytes, timed as the work is; ffma by its rate, where that takes longer";

/// Rates of the device, measured on large amounts of work.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates(pub(super) Vec<Measured>);

/// The measurement of a rate.
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

impl Rates {
    /// Measures the rates that the device has.
    pub(super) fn measure(device: &Device, pace: Pace, quick: bool) -> Result<Rates> {
        let mut measured = Vec::new();
        for limit in Limit::ALL {
            let amount = amount(limit) >> if quick { 8 } else { 0 };
            let mut run = match device.limit(limit, amount) {
                Err(Error::Unsupported { .. }) => continue,
                run => run?,
            };
            measured.push(Measured { limit, amount: run.amount(), ms: pace.median(|| run.run())? });
        }
        Ok(Rates(measured))
    }

    /// Returns the time of multiply-adds at their rate, in milliseconds; each is two operations.
    pub(super) fn ffma_ms(&self, operations: u64) -> Option<f64> {
        let measured = self.0.iter().find(|measured| measured.limit == Limit::Ffma)?;
        Some(operations as f64 / measured.rate() * 1e3)
    }
}

/// Returns the amount of work by which a rate is measured.
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

/// The least times of workloads on a device.
pub(super) struct Limits<'a> {
    device: &'a Device,
    rates: &'a Rates,
    pace: Pace,
    pub(super) bursts: Bursts<'a>,
    /// Milliseconds of copies and reads, by name, bytes and whether in bursts; `None` if the device
    /// does not measure them.
    measured: HashMap<(&'static str, u64, bool), Option<f64>>,
}

impl<'a> Limits<'a> {
    pub(super) fn new(device: &'a Device, rates: &'a Rates, pace: Pace) -> Result<Limits<'a>> {
        Ok(Limits { device, rates, pace, bursts: Bursts::new(device)?, measured: HashMap::new() })
    }

    /// Returns the limit that bounds a workload of the bench, and its least time in milliseconds; `None` for a chain,
    /// which is bounded by its parts, and on devices without limits.
    pub(super) fn of(&mut self, workload: &Workload, is_burst: bool) -> Result<Option<(Limit, f64)>> {
        let ffma_ms = match workload.limit {
            None => return Ok(None),
            Some(Limit::Ffma) => workload.operations().and_then(|operations| self.rates.ffma_ms(operations)),
            Some(_) => None,
        };
        self.least(workload, is_burst, ffma_ms)
    }

    /// Returns the limit that bounds a workload, and its least time in milliseconds: that of a copy or read of its
    /// bytes, in bursts or alone, or `ffma_ms`, if that is longer.
    pub(super) fn least(
        &mut self,
        workload: &Workload,
        is_burst: bool,
        ffma_ms: Option<f64>,
    ) -> Result<Option<(Limit, f64)>> {
        let traffic = workload.traffic();
        let moved = self.moved(traffic, workload.bytes(), is_burst)?;
        Ok(moved.map(|ms| longer((traffic, ms), ffma_ms)))
    }

    /// Returns the time of a copy or read, in milliseconds, measured once for each number of bytes and way of timing.
    fn moved(&mut self, limit: Limit, bytes: u64, is_burst: bool) -> Result<Option<f64>> {
        let key = (limit.name(), bytes, is_burst);
        if let Some(known) = self.measured.get(&key) {
            return Ok(*known);
        }
        let ms = match self.device.limit(limit, bytes) {
            Err(Error::Unsupported { .. }) => None,
            Err(error) => return Err(error),
            Ok(mut run) if is_burst => Some(self.bursts.limit(self.pace, &mut run)?),
            Ok(mut run) => Some(self.pace.median(|| run.run())?),
        };
        self.measured.insert(key, ms);
        Ok(ms)
    }
}

/// Returns the longer one of a copy or read and the multiply-adds.
fn longer(moved: (Limit, f64), ffma_ms: Option<f64>) -> (Limit, f64) {
    match ffma_ms {
        Some(ms) if ms > moved.1 => (Limit::Ffma, ms),
        _ => moved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_work_by_time() {
        let copy = Measured { limit: Limit::Copy, amount: 512 << 20, ms: 0.185 };
        assert_eq!(copy.text(), "2902 GB/s");
        let ffma = Measured { limit: Limit::Ffma, amount: 65_000_000_000, ms: 1.0 };
        assert_eq!(ffma.text(), "65.0 TFLOP/s");
        assert_eq!(Rates(vec![copy, ffma]).ffma_ms(130_000_000_000), Some(2.0));
        assert_eq!(Rates(vec![copy]).ffma_ms(1), None);
    }

    #[test]
    fn the_cpu_has_those_of_its_cores_and_memory_and_the_reference_none() {
        let measure = |device: &Device| Rates::measure(device, Pace { reps: 1 }, true).unwrap().0;
        let found: Vec<Limit> = measure(&Device::cpu()).iter().map(|measured| measured.limit).collect();
        assert_eq!(found, [Limit::Ffma, Limit::Copy, Limit::Read]);
        assert!(measure(&Device::reference()).is_empty());
    }

    #[test]
    fn the_longer_of_moving_and_multiplying_bounds() {
        assert_eq!(longer((Limit::Copy, 0.2), Some(0.3)), (Limit::Ffma, 0.3));
        assert_eq!(longer((Limit::Copy, 0.2), Some(0.1)), (Limit::Copy, 0.2));
        assert_eq!(longer((Limit::Read, 0.2), None), (Limit::Read, 0.2));
    }

    #[test]
    fn copies_and_reads_have_the_bytes_of_the_workload_and_are_measured_once() {
        let device = Device::cpu();
        // A multiply-add takes a second, so that it bounds each workload that has any.
        let rates = Rates(vec![Measured { limit: Limit::Ffma, amount: 2, ms: 1000.0 }]);
        let mut limits = Limits::new(&device, &rates, Pace { reps: 1 }).unwrap();
        let mut of = |name: &str, is_burst| limits.of(&name.parse().unwrap(), is_burst).unwrap().unwrap();
        let copy = of("dense u8 640x480 mask 3x3", false);
        assert_eq!(copy.0, Limit::Copy);
        assert_eq!(of("box u8 640x480 window 9x9", false), copy);
        assert_eq!(of("box u8 640x480 window 9x9", true).0, Limit::Copy);
        assert_eq!(of("dense u16 320x480 mask 11x11", false), (Limit::Ffma, 121.0 * 320.0 * 480.0 * 1e3));
        assert_eq!(of("histogram u8 640x480 uniform", false).0, Limit::Read);
        let mut keys: Vec<_> = limits.measured.keys().copied().collect();
        keys.sort();
        assert_eq!(keys, [("copy", 614_400, false), ("copy", 614_400, true), ("read", 307_200, false)]);
        let chain = "chain u8 640x480 gaussian sobel histogram".parse().unwrap();
        assert_eq!(limits.of(&chain, false).unwrap(), None);
    }

    #[test]
    fn a_device_that_measures_nothing_has_no_limits() {
        let (device, rates) = (Device::reference(), Rates::default());
        let mut limits = Limits::new(&device, &rates, Pace { reps: 1 }).unwrap();
        assert_eq!(limits.of(&"box u8 64x64 window 3x3".parse().unwrap(), false).unwrap(), None);
    }
}
