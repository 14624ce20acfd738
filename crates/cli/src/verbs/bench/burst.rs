//! Bursts: work of a few microseconds, whose runs follow each other without a pause.
//!
//! On an idle stream, the event before a run is recorded when the host enqueues it, and the run's first kernel starts
//! only after the host has enqueued the kernel as well: the time between the events then includes launch overhead of
//! the host. So the runs are enqueued behind other work, which keeps the GPU busy until the host is done.

use super::solved::Enqueued;
use super::{Pace, median};
use apron::{Device, DeviceImage, DeviceName, Image, LimitRun, Mask, Result};
use std::time::{Duration, Instant};

/// Runs shorter than this are timed in bursts, in milliseconds.
pub(in crate::verbs) const SHORT_MS: f64 = 0.05;
/// Runs per burst.
pub(super) const RUNS: usize = 20;

/// Bursts on a device.
pub(in crate::verbs) struct Bursts<'a>(Before<'a>);

impl<'a> Bursts<'a> {
    pub(in crate::verbs) fn new(device: &'a Device) -> Result<Bursts<'a>> {
        Before::new(device).map(Bursts)
    }

    /// Returns the median time of a workload's runs, in milliseconds.
    pub(super) fn median(&mut self, pace: Pace, run: impl Fn() -> Result<Enqueued>) -> Result<f64> {
        self.median_of(pace, of(run))
    }

    /// Returns the median time of a limit's runs, in milliseconds.
    pub(super) fn limit(&mut self, pace: Pace, limit: &mut LimitRun) -> Result<f64> {
        self.median_of(pace, || {
            (0..RUNS).try_for_each(|_| limit.enqueue())?;
            Ok((Instant::now(), limit.times()?))
        })
    }

    /// Returns the times of [`RUNS`] runs.
    pub(in crate::verbs) fn times(&mut self, run: impl Fn() -> Result<Enqueued>) -> Result<Vec<Duration>> {
        self.times_of(&mut of(run))
    }

    fn median_of(&mut self, pace: Pace, mut burst: impl FnMut() -> Result<Burst>) -> Result<f64> {
        // The GPU lowered its clock while the host prepared the bursts.
        let start = Instant::now();
        while self.0.image.is_some() && start.elapsed() < Pace::WARM {
            self.times_of(&mut burst)?;
        }
        let mut times = Vec::new();
        while times.len() < pace.reps {
            times.extend(self.times_of(&mut burst)?);
        }
        Ok(median(times))
    }

    fn times_of(&mut self, burst: &mut impl FnMut() -> Result<Burst>) -> Result<Vec<Duration>> {
        let Bursts(before) = self;
        let mut repeats = Before::LEAST;
        loop {
            // Measured from here, as the GPU may start before everything is enqueued.
            let start = Instant::now();
            before.start(repeats)?;
            let (enqueued, times) = burst()?;
            // Otherwise the GPU may have waited for the host.
            if before.image.is_none() || repeats >= Before::MOST || before.took()? > enqueued - start {
                return Ok(times);
            }
            repeats *= 2;
        }
    }
}

/// When all runs of a burst were enqueued, and the times of the runs.
type Burst = (Instant, Vec<Duration>);

/// Returns a function that runs a burst of a workload.
fn of(run: impl Fn() -> Result<Enqueued>) -> impl FnMut() -> Result<Burst> {
    move || {
        let runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
        let enqueued = Instant::now();
        let times = runs.iter().map(|run| Ok(run.report()?.kernels)).collect::<Result<Vec<_>>>()?;
        Ok((enqueued, times))
    }
}

/// Work that precedes the runs; none on host devices, whose runs are complete when `enqueue` returns.
struct Before<'a> {
    device: &'a Device,
    image: Option<DeviceImage>,
    running: Vec<DeviceImage>,
}

impl<'a> Before<'a> {
    /// Initial number of repetitions, of half a millisecond each on an H100.
    const LEAST: usize = 4;
    /// Maximum number of repetitions, some seconds: beyond that the host is too slow to ever be ahead.
    const MOST: usize = 1 << 10;

    fn new(device: &'a Device) -> Result<Before<'a>> {
        let is_gpu = matches!(device.name(), DeviceName::Gpu(_));
        let image = || device.upload(&Image::new(2048, 2048, 1, vec![0.5f32; 2048 * 2048])?);
        let mut before = Before { device, image: is_gpu.then(image).transpose()?, running: Vec::new() };
        // The first run compiles the kernel.
        before.start(1)?;
        before.took()?;
        Ok(before)
    }

    /// Enqueues the work.
    fn start(&mut self, repeats: usize) -> Result<()> {
        self.running.clear();
        if let Some(image) = &self.image {
            for _ in 0..repeats {
                let mask = Mask::new(64, 64, vec![1.0 / 4096.0; 4096])?;
                self.running.push(self.device.correlate(image, mask).run()?);
            }
        }
        Ok(())
    }

    /// Returns the time that the work took on the GPU; waits for it.
    fn took(&self) -> Result<Duration> {
        self.running.iter().map(|run| Ok(run.report()?.kernels)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::workloads::WORKLOADS;
    use super::*;

    #[test]
    fn a_burst_of_every_workload_gives_a_time() {
        let device = Device::cpu();
        for workload in WORKLOADS.iter().map(|workload| workload.quick()) {
            let image = device.upload(&workload.picture.make().unwrap()).unwrap();
            let mut bursts = Bursts::new(&device).unwrap();
            let ms = bursts.median(Pace { reps: 1 }, || workload.enqueue(&device, &image)).unwrap();
            assert!(ms > 0.0, "{workload}");
        }
    }
}
