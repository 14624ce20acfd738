//! Work that is recorded once, as a CUDA graph, and run as often as wanted by one launch.

use crate::device::Gpu;
use crate::error::checked;
use crate::execute::Timer;
use apron_core::Result;
use cust::sys::{
    CUgraph, CUgraphExec, CUstreamCaptureMode, cuGraphDestroy, cuGraphExecDestroy, cuGraphInstantiateWithFlags,
    cuGraphLaunch, cuStreamBeginCapture_v2, cuStreamEndCapture,
};
use std::ptr::null_mut;

/// Recorded work, with a stream of its own on which it runs. All memory that it allocated is its own, also what was
/// dropped while it was recorded, and is freed when it and all its results are dropped.
pub struct Recorded {
    graph: CUgraphExec,
    gpu: Gpu,
}

// SAFETY: a handle of the driver, which any thread may use, but only one at a time.
unsafe impl Send for Recorded {}

impl Gpu {
    /// Records what `enqueue` does with the handle that it is given, which has a stream of its own. Nothing of it is
    /// run; results hold nothing before the first [`run`](Recorded::run), and each run writes them anew. Memory
    /// is allocated, and filled from the host, at once, in the order of this handle's stream.
    ///
    /// # Errors
    /// Those of `enqueue`, [`Error::Unsupported`](apron_core::Error::Unsupported) for what cannot be recorded, and
    /// [`Error::Driver`](apron_core::Error::Driver).
    pub fn record<T>(&self, enqueue: impl FnOnce(&Gpu) -> Result<T>) -> Result<(T, Recorded)> {
        let gpu = self.new_stream()?;
        let stream = gpu.stream.inner.as_inner();
        // Relaxed: other threads, and this one on other streams, go on as they like.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is ours alone.
        checked(unsafe { cuStreamBeginCapture_v2(stream, mode) }, || "recording a chain".into())?;
        gpu.stream.set_beside(Some(self.stream.clone()));
        let made = enqueue(&gpu);
        gpu.stream.set_beside(None);
        let mut captured: CUgraph = null_mut();
        // SAFETY: ends what was begun above, also after an error, and writes only the handle.
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
            // SAFETY: what was made of it does not need it.
            unsafe { cuGraphDestroy(captured) };
        }
        // The work is on another stream than its memory.
        self.synchronize()?;
        made
    }
}

impl Recorded {
    /// Runs the work once, after what was enqueued on its stream before: the call does not wait for it.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    pub fn run(&self) -> Result<Timer> {
        self.gpu.device.enter()?;
        let timer = Timer::start(&self.gpu)?;
        // SAFETY: the memory that the graph names is kept by the stream, whose handle is held here.
        let launched = unsafe { cuGraphLaunch(self.graph, self.gpu.stream.inner.as_inner()) };
        checked(launched, || "running a recorded chain".into())?;
        timer.stop(&self.gpu)
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        if self.gpu.device.enter().is_ok() {
            // SAFETY: destroyed once, here; the driver lets a run in flight come to its end.
            unsafe { cuGraphExecDestroy(self.graph) };
        }
    }
}
