//! Work that is recorded once as a CUDA graph, and runs any number of times with one launch each.

use crate::device::Gpu;
use crate::error::checked;
use crate::execute::Timer;
use apron_core::Result;
use cust::sys::{
    CUgraph, CUgraphExec, CUstreamCaptureMode, cuGraphDestroy, cuGraphExecDestroy, cuGraphInstantiateWithFlags,
    cuGraphLaunch, cuStreamBeginCapture_v2, cuStreamEndCapture,
};
use std::fmt;
use std::ptr::null_mut;

/// Recorded work, with its own stream on which it runs. It owns all memory that was allocated during recording, dropped
/// buffers included, and frees it when it and all its results are dropped.
pub struct Recorded {
    graph: CUgraphExec,
    gpu: Gpu,
}

impl fmt::Debug for Recorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorded").field("gpu", &self.gpu).finish_non_exhaustive()
    }
}

// SAFETY: a driver handle, which any thread may use, one at a time.
unsafe impl Send for Recorded {}

impl Gpu {
    /// Records the work that `enqueue` enqueues on its handle, which has a new stream. Nothing runs during
    /// recording; results are undefined before the first [`run`](Recorded::run), and each run overwrites them. Memory
    /// is allocated and filled from the host immediately, in the order of this handle's stream.
    ///
    /// # Errors
    /// The errors of `enqueue`, [`Error::Unsupported`](apron_core::Error::Unsupported) for work that cannot be
    /// recorded, and [`Error::Driver`](apron_core::Error::Driver).
    pub fn record<T>(&self, enqueue: impl FnOnce(&Gpu) -> Result<T>) -> Result<(T, Recorded)> {
        let gpu = self.new_stream()?;
        let stream = gpu.stream.inner.as_inner();
        // Relaxed: other threads, and this one on other streams, are not restricted.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: no one else has the stream.
        checked(unsafe { cuStreamBeginCapture_v2(stream, mode) }, || "recording a chain".into())?;
        gpu.stream.set_beside(Some(self.stream.clone()));
        let made = enqueue(&gpu);
        gpu.stream.set_beside(None);
        let mut captured: CUgraph = null_mut();
        // SAFETY: ends the capture begun above, even after an error, and writes only the handle.
        let ended = unsafe { cuStreamEndCapture(stream, &mut captured) };
        let made = made.and_then(|made| {
            checked(ended, || "recording a chain".into())?;
            let mut graph: CUgraphExec = null_mut();
            // SAFETY: the graph was just made; the call writes only the handle.
            let instantiated = unsafe { cuGraphInstantiateWithFlags(&mut graph, captured, 0) };
            checked(instantiated, || "preparing a recorded chain".into())?;
            Ok((made, Recorded { graph, gpu: gpu.clone() }))
        });
        if !captured.is_null() {
            // SAFETY: the executable graph does not need it.
            unsafe { cuGraphDestroy(captured) };
        }
        // The recorded work runs on another stream than the one on which its memory was filled.
        self.synchronize()?;
        made
    }
}

impl Recorded {
    /// Runs the work once, after all that was enqueued on its stream before; the call does not wait for it.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    pub fn run(&self) -> Result<Timer> {
        self.gpu.device.enter()?;
        let timer = Timer::start(&self.gpu)?;
        // SAFETY: the memory that the graph names is kept by the stream, whose handle is held here.
        let launched = unsafe { cuGraphLaunch(self.graph, self.gpu.stream.inner.as_inner()) };
        checked(launched, || "running a recorded chain".into())?;
        timer.stop()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if self.gpu.device.enter().is_ok() {
            // SAFETY: destroyed once, here; the driver completes a run in flight.
            unsafe { cuGraphExecDestroy(self.graph) };
        }
    }
}
