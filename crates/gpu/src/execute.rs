//! The executor: runs a recipe, and knows no operation.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::error::driver;
use apron_abi::{MAX_TAPS, Params, Taps};
use apron_core::Result;
use apron_plan::{Launch, Recipe, Role};
use cust::event::{Event, EventFlags};
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

/// The time that a recipe's launches took on the GPU, known when they are done.
pub struct Timer {
    start: Event,
    stop: Event,
    device: Arc<crate::device::OpenDevice>,
}

impl Timer {
    /// Waits for the launches, and gives their time.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver), also for a kernel that failed.
    pub fn elapsed(&self) -> Result<Duration> {
        self.device.enter()?;
        let elapsed = self.stop.synchronize().and_then(|()| self.stop.elapsed_time_f32(&self.start));
        elapsed
            .map(|milliseconds| Duration::from_secs_f64(milliseconds as f64 / 1e3))
            .map_err(|error| driver("timing kernels", error))
    }
}

impl Gpu {
    /// Enqueues a recipe on `input` and gives its output, which is there when the stream comes to it.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](apron_core::Error::OutOfMemory) and [`Error::Driver`](apron_core::Error::Driver).
    ///
    /// # Panics
    /// If `input` has not the size of the recipe's input, or the recipe has no output.
    pub fn execute(&self, recipe: &Recipe, input: &GpuBuffer) -> Result<(GpuBuffer, Timer)> {
        self.device.enter()?;
        self.stream.wait_for(input.home())?;
        let mut addresses = Vec::with_capacity(recipe.buffers.len());
        let mut scratch = Vec::new();
        let mut output = None;
        for spec in &recipe.buffers {
            if spec.role == Role::Input {
                assert_eq!(input.len_bytes(), spec.size_bytes(), "size of the input, in bytes");
                addresses.push(input.address());
                continue;
            }
            let buffer = GpuBuffer::uninitialized(self, recipe.operation, spec.size_bytes())?;
            addresses.push(buffer.address());
            match spec.role {
                Role::Output => output = Some(buffer),
                _ => scratch.push(buffer),
            }
        }
        // Kernels are found, and compiled on first use, before the clock starts.
        for launch in &recipe.launches {
            self.device.function(launch.kernel)?;
        }
        let event = || Event::new(EventFlags::DEFAULT).map_err(|error| driver("creating an event", error));
        let (start, stop) = (event()?, event()?);
        let record = |event: &Event| event.record(&self.stream.inner).map_err(|error| driver("timing kernels", error));
        record(&start)?;
        let launched = recipe.launches.iter().try_for_each(|launch| self.launch(launch, &addresses));
        // The input must not be freed before the launches that read it are done, also if one failed.
        let waits = input.home().wait_for(&self.stream);
        launched.and(waits)?;
        record(&stop)?;
        let timer = Timer { start, stop, device: self.device.clone() };
        Ok((output.expect("a recipe has an output"), timer))
    }

    fn launch(&self, launch: &Launch, addresses: &[u64]) -> Result<()> {
        let facts = launch.kernel.facts();
        let function = self.device.function(launch.kernel)?;
        let (mut src, mut dst) = (addresses[launch.src], addresses[launch.dst]);
        let mut params = launch.params;
        let mut taps = Taps([0.0; MAX_TAPS]);
        let mut arguments: Vec<*mut c_void> =
            vec![(&raw mut src).cast(), (&raw mut dst).cast(), params_pointer(&mut params)];
        if facts.taps {
            taps.0[..launch.taps.len()].copy_from_slice(&launch.taps);
            arguments.push((&raw mut taps).cast());
        }
        let block = (facts.block[0], facts.block[1], 1);
        // SAFETY: the arguments are of the entry's types, which come from the same table, and the
        // driver copies them before the call returns; the plan keeps the kernel's launch contract.
        let launched = unsafe {
            self.stream.inner.launch(&function, (launch.blocks, 1, 1), block, launch.shared_bytes, &arguments)
        };
        launched.map_err(|error| {
            driver(format!("launching {} with {} blocks of {:?}", facts.entry, launch.blocks, facts.block), error)
        })
    }
}

/// The address of the parameters themselves, without the tag that says which they are.
fn params_pointer(params: &mut Params) -> *mut c_void {
    match params {
        Params::Conv2dParams(params) => (&raw mut *params).cast(),
        Params::Conv1dParams(params) => (&raw mut *params).cast(),
        Params::HistogramPartialParams(params) => (&raw mut *params).cast(),
        Params::HistogramMergeParams(params) => (&raw mut *params).cast(),
    }
}
