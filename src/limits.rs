//! Measured limits of the machine (speed of light), to compare the times of operations with.

use crate::backend::Backend;
use crate::{Device, Error, Limit, Result};
use std::time::Duration;

/// The measurement of a limit, ready to run any number of times.
pub struct LimitRun(Kind);

enum Kind {
    #[cfg(feature = "gpu")]
    Gpu(apron_gpu::LimitRun),
    Cpu(apron_cpu::LimitRun),
}

impl Device {
    /// Prepares to measure a limit of a GPU, or of the CPU's cores and memory, by moving at least `amount` bytes or
    /// doing at least `amount` operations.
    ///
    /// ```
    /// use apron::{Device, Limit};
    ///
    /// let mut copy = Device::cpu().limit(Limit::Copy, 64 << 20)?;
    /// copy.run()?; // to warm up
    /// println!("{:.0} GB/s", copy.amount() as f64 / copy.run()?.as_secs_f64() / 1e9);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] on other devices, and for copies between host and device where they are the same;
    /// [`Error::OutOfMemory`] and [`Error::Driver`] of GPUs, [`Error::Shape`] for an amount that host
    /// memory does not hold.
    pub fn limit(&self, limit: Limit, amount: u64) -> Result<LimitRun> {
        let run = match &self.for_data().backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Some(Kind::Gpu(apron_gpu::LimitRun::new(gpu, limit, amount)?)),
            Backend::Cpu => apron_cpu::LimitRun::new(limit, amount)?.map(Kind::Cpu),
            Backend::Emulator | Backend::Reference => None,
        };
        run.map(LimitRun).ok_or_else(|| Error::Unsupported {
            operation: "limits",
            device: self.name().to_string(),
            what: format!("measuring the limit '{}' by an amount of {amount}", limit.name()),
            hint: "use --device gpu".into(),
        })
    }
}

impl std::fmt::Debug for LimitRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LimitRun").field("amount", &self.amount()).finish_non_exhaustive()
    }
}

impl LimitRun {
    /// Returns the bytes that a run moves, or the operations that it does.
    pub fn amount(&self) -> u64 {
        match &self.0 {
            #[cfg(feature = "gpu")]
            Kind::Gpu(run) => run.amount(),
            Kind::Cpu(run) => run.amount(),
        }
    }

    /// Runs the measurement once, and returns its time on the device. The times of runs that were
    /// enqueued before are lost.
    ///
    /// # Errors
    /// As [`enqueue`](Self::enqueue).
    pub fn run(&mut self) -> Result<Duration> {
        self.enqueue()?;
        Ok(self.times()?.pop().unwrap_or_default())
    }

    /// Enqueues the measurement once, behind the work of the device; on the CPU it has run when this returns. Runs thus
    /// follow each other without a pause, like operations whose results are not waited for:
    ///
    /// ```
    /// use apron::{Device, Limit};
    ///
    /// let mut copy = Device::cpu().limit(Limit::Copy, 2 * 640 * 480)?;
    /// (0..20).try_for_each(|_| copy.enqueue())?;
    /// assert_eq!(copy.times()?.len(), 20);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn enqueue(&mut self) -> Result<()> {
        match &mut self.0 {
            #[cfg(feature = "gpu")]
            Kind::Gpu(run) => run.enqueue(),
            Kind::Cpu(run) => {
                run.enqueue();
                Ok(())
            }
        }
    }

    /// Waits for the runs that were enqueued since the last call, and returns the time of each on the device, in their
    /// order.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn times(&mut self) -> Result<Vec<Duration>> {
        match &mut self.0 {
            #[cfg(feature = "gpu")]
            Kind::Gpu(run) => run.times(),
            Kind::Cpu(run) => Ok(run.times()),
        }
    }
}
