//! Ratios of measured to estimated times of both devices, learned from the jobs of a process.

use crate::PixelType;
use std::collections::HashMap;

/// Devices of a ledger.
pub(super) const CPU: usize = 0;
pub(super) const GPU: usize = 1;

/// Weight of a job's time in the factor of its device.
const LEARNING: f64 = 0.25;
/// Largest ratio of the estimates at which a device without a measured time is tried once: estimates are wrong
/// by up to this factor.
const FIRST_TRIAL_RATIO: f64 = 4.0;
/// Jobs of a kind per trial of the slower device.
const JOBS_PER_TRIAL: u32 = 32;
/// Largest ratio of the slower device's estimate to the faster one's at which such trials are made.
const TRIAL_RATIO: f64 = 1.5;

/// A kind of jobs whose measured times deviate from the estimates by about the same factor.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) operation: &'static str,
    pub(super) types: (PixelType, PixelType),
    /// Logarithms, to the base 2, of the samples and of the window's side.
    pub(super) size: u32,
    pub(super) side: u32,
    /// Whether the result is on the host when the call returns.
    pub(super) waits: bool,
}

/// The ratio of measured to estimated times.
#[derive(Clone, Copy, Debug, Default)]
struct Factor {
    /// `None` before the first time that counts.
    value: Option<f64>,
    /// Whether a GPU has loaded its kernels.
    loaded: bool,
}

impl Factor {
    fn learn(&mut self, measured_over_estimated: f64, since: f64) {
        let (new, old) = (measured_over_estimated.clamp(1.0 / 64.0, 64.0), self.value);
        self.value = Some(old.map_or(new, |old| old + since * (new - old)));
    }
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Time that an open GPU would have saved so far, in milliseconds.
    pub(super) saved_ms: f64,
    /// Ratios over all jobs, for kinds without a measured time.
    all: [Factor; 2],
    kinds: HashMap<Kind, ([Factor; 2], u32)>,
}

impl Ledger {
    /// Returns the factors of a kind, of the CPU and of the GPU.
    pub(super) fn factors(&self, kind: &Kind) -> [f64; 2] {
        let own = self.kinds.get(kind).map(|(factors, _)| *factors).unwrap_or_default();
        [CPU, GPU].map(|device| own[device].value.or(self.all[device].value).unwrap_or(1.0))
    }

    /// Chooses a device for a job of a kind, by the estimates of both in milliseconds: the faster one, and now and then
    /// the slower one, to measure its time.
    pub(super) fn choose(&mut self, kind: Kind, estimates: [f64; 2]) -> usize {
        let (factors, jobs) = self.kinds.entry(kind).or_default();
        *jobs += 1;
        let best = if estimates[GPU] < estimates[CPU] { GPU } else { CPU };
        let other = 1 - best;
        // The time of a result that stays on a GPU is unknown, since nothing waits for it.
        if !kind.waits || factors[best].value.is_none() {
            return best;
        }
        let ratio = estimates[other] / estimates[best];
        let unknown = factors[other].value.is_none() && ratio < FIRST_TRIAL_RATIO;
        let again = jobs.is_multiple_of(JOBS_PER_TRIAL) && ratio < TRIAL_RATIO;
        if unknown || again { other } else { best }
    }

    /// Learns from the time of a job, except the first of its kind on a GPU, which includes the loading of kernels.
    pub(super) fn learn(&mut self, kind: Kind, device: usize, measured_over_estimated: f64) {
        let (factors, _) = self.kinds.entry(kind).or_default();
        if device == GPU && !std::mem::replace(&mut factors[GPU].loaded, true) {
            return;
        }
        factors[device].learn(measured_over_estimated, LEARNING);
        self.all[device].learn(measured_over_estimated, LEARNING);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { operation: "box", types: (PixelType::U8, PixelType::U8), size: 20, side: 4, waits: true };

    /// Runs jobs whose estimates are `base` and whose times are `real`, and returns the devices that were chosen.
    fn run(ledger: &mut Ledger, kind: Kind, base: [f64; 2], real: [f64; 2], jobs: usize) -> Vec<usize> {
        let job = |_| {
            let factors = ledger.factors(&kind);
            let chosen = ledger.choose(kind, [base[CPU] * factors[CPU], base[GPU] * factors[GPU]]);
            ledger.learn(kind, chosen, real[chosen] / base[chosen]);
            chosen
        };
        (0..jobs).map(job).collect()
    }

    #[test]
    fn the_faster_device_is_found_although_the_estimates_are_wrong() {
        for (base, real) in [([1.0, 2.0], [6.0, 1.5]), ([2.0, 1.0], [0.5, 3.0]), ([1.0, 3.0], [1.0, 0.9])] {
            let chosen = run(&mut Ledger::default(), KIND, base, real, 30);
            let best = if real[GPU] < real[CPU] { GPU } else { CPU };
            assert!(chosen[4..].iter().all(|device| *device == best), "{base:?} {real:?}: {chosen:?}");
        }
    }

    #[test]
    fn a_device_that_is_far_slower_is_not_tried() {
        assert!(!run(&mut Ledger::default(), KIND, [1.0, 9.0], [1.0, 9.0], 200).contains(&GPU));
        let unwaited = Kind { waits: false, ..KIND };
        assert!(!run(&mut Ledger::default(), unwaited, [1.0, 2.0], [1.0, 2.0], 200).contains(&GPU));
    }

    #[test]
    fn a_device_that_became_faster_is_found_again() {
        let mut ledger = Ledger::default();
        run(&mut ledger, KIND, [1.0, 1.0], [1.0, 1.2], 40);
        let chosen = run(&mut ledger, KIND, [1.0, 1.0], [1.0, 0.1], 100);
        assert_eq!(chosen.last(), Some(&GPU));
    }

    #[test]
    fn other_kinds_begin_with_what_all_have_shown() {
        let mut ledger = Ledger::default();
        run(&mut ledger, KIND, [1.0, 9.0], [3.0, 9.0], 50);
        let other = Kind { size: 24, ..KIND };
        assert!((ledger.factors(&other)[CPU] - 3.0).abs() < 1e-9 && ledger.factors(&other)[GPU] == 1.0);
    }
}
