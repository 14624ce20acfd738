//! Measured limits of the machine (speed of light), to compare the times of operations with.

use crate::backend::Backend;
use crate::{Device, Error, Limit, Result};
use std::time::Duration;

/// The measurement of a limit, ready to run any number of times.
pub struct LimitRun {
    #[cfg(feature = "gpu")]
    run: apron_gpu::LimitRun,
    #[cfg(not(feature = "gpu"))]
    none: std::convert::Infallible,
}

impl Device {
    /// Prepares to measure a limit of a GPU by moving at least `amount` bytes or doing at least `amount` operations.
    ///
    /// ```no_run
    /// use apron::{Device, Limit};
    ///
    /// let mut copy = Device::gpu(0)?.limit(Limit::Copy, 512 << 20)?;
    /// copy.run()?; // to warm up
    /// println!("{:.0} GB/s", copy.amount() as f64 / copy.run()?.as_secs_f64() / 1e9);
    /// # Ok::<(), apron::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] on other devices, [`Error::OutOfMemory`] and [`Error::Driver`].
    pub fn limit(&self, limit: Limit, amount: u64) -> Result<LimitRun> {
        match &self.backend {
            #[cfg(feature = "gpu")]
            Backend::Gpu(gpu) => Ok(LimitRun { run: apron_gpu::LimitRun::new(gpu, limit, amount)? }),
            Backend::Cpu | Backend::Emulator | Backend::Reference => Err(Error::Unsupported {
                operation: "limits",
                device: self.name().to_string(),
                what: format!("measuring the limit '{}' by an amount of {amount}", limit.name()),
                hint: "use --device gpu".into(),
            }),
        }
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
        #[cfg(feature = "gpu")]
        return self.run.amount();
        #[cfg(not(feature = "gpu"))]
        match self.none {}
    }

    /// Runs the measurement once, and returns its time on the device.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn run(&mut self) -> Result<Duration> {
        #[cfg(feature = "gpu")]
        return self.run.run();
        #[cfg(not(feature = "gpu"))]
        match self.none {}
    }
}
