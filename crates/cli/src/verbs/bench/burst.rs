//! Workloads of a few microseconds, run one behind the other without a pause.
//!
//! On a stream with nothing to do the event before a run is recorded when the host has enqueued it, and the run's first
//! kernel comes when the host has enqueued that: the time between the events is then also the host's. So the runs are
//! enqueued behind work that the GPU is still busy with when the host is done.

use super::workloads::{Enqueued, Workload};
use super::{Pace, median};
use apron::{Device, DeviceImage, DeviceName, Image, Mask, Result};
use std::time::{Duration, Instant};

/// Runs that take less are timed so, in milliseconds.
pub(in crate::verbs) const SHORT_MS: f64 = 0.05;
/// Runs that are enqueued together.
pub(super) const RUNS: usize = 20;

/// The median of the times of a workload's runs, in milliseconds.
pub(super) fn median_ms(workload: &Workload, device: &Device, image: &DeviceImage, pace: Pace) -> Result<f64> {
    let mut bursts = Bursts::new(device)?;
    // While the host made that, the GPU lowered its clock.
    let start = Instant::now();
    while bursts.0.image.is_some() && start.elapsed() < Pace::WARM {
        bursts.times(|| workload.enqueue(device, image))?;
    }
    let mut times = Vec::new();
    while times.len() < pace.reps {
        times.extend(bursts.times(|| workload.enqueue(device, image))?);
    }
    Ok(median(times))
}

/// Bursts on a device.
pub(in crate::verbs) struct Bursts<'a>(Before<'a>);

impl<'a> Bursts<'a> {
    pub(in crate::verbs) fn new(device: &'a Device) -> Result<Bursts<'a>> {
        Before::new(device).map(Bursts)
    }

    /// The times of [`RUNS`] runs.
    pub(in crate::verbs) fn times(&mut self, run: impl Fn() -> Result<Enqueued>) -> Result<Vec<Duration>> {
        let Bursts(before) = self;
        let mut repeats = Before::LEAST;
        loop {
            // The GPU may be at it before all of it is enqueued.
            let start = Instant::now();
            before.start(repeats)?;
            let runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
            let enqueueing = start.elapsed();
            let burst = runs.iter().map(|run| Ok(run.report()?.kernels)).collect::<Result<Vec<_>>>()?;
            // Else the GPU may have waited for the host.
            if before.image.is_none() || repeats >= Before::MOST || before.took()? > enqueueing {
                return Ok(burst);
            }
            repeats *= 2;
        }
    }
}

/// Work before the runs; none on a device of the host, which has done a run when it is enqueued.
struct Before<'a> {
    device: &'a Device,
    image: Option<DeviceImage>,
    running: Vec<DeviceImage>,
}

impl<'a> Before<'a> {
    /// Repetitions, each of which takes an H100 half a millisecond.
    const LEAST: usize = 4;
    /// Most: some seconds, after which the host is taken for too slow to ever be ahead.
    const MOST: usize = 1 << 10;

    fn new(device: &'a Device) -> Result<Before<'a>> {
        let is_gpu = matches!(device.name(), DeviceName::Gpu(_));
        let image = || device.upload(&Image::new(2048, 2048, 1, vec![0.5f32; 2048 * 2048])?);
        let mut before = Before { device, image: is_gpu.then(image).transpose()?, running: Vec::new() };
        // Its kernel is compiled when it first runs.
        before.start(1)?;
        before.took()?;
        Ok(before)
    }

    /// Enqueues it.
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

    /// How long it took, by the GPU's clock; waits for it.
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
            assert!(median_ms(&workload, &device, &image, Pace { reps: 1 }).unwrap() > 0.0, "{workload}");
        }
    }
}
