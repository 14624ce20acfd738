//! Measurements of the machine: repeatable copies and kernels without an operation.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::error::{checked, driver};
use crate::execute::Timer;
use apron_core::{Limit, Result};
use apron_plan::{Recipe, limits};
use cust::memory::LockedBuffer;
use cust::sys::{CUresult, cuMemcpyDtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2};
use std::fmt;
use std::mem::ManuallyDrop;
use std::time::Duration;

const OPERATION: &str = "limits";
/// Blocks per multiprocessor: they fill 2048 threads, which is the most on any GPU since sm_80.
const BLOCKS_A_MULTIPROCESSOR: u32 = 8;

/// A measurement that is ready to run any number of times.
pub struct LimitRun {
    gpu: Gpu,
    work: Work,
    amount: u64,
    /// The runs that are enqueued, each with the memory that it writes on the device.
    runs: Vec<(Timer, Option<GpuBuffer>)>,
}

impl fmt::Debug for LimitRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitRun").field("amount", &self.amount).finish_non_exhaustive()
    }
}

enum Work {
    Kernel { recipe: Recipe, input: GpuBuffer },
    OnDevice { from: GpuBuffer },
    ToDevice { from: Pinned, to: GpuBuffer },
    ToHost { from: GpuBuffer, to: Pinned },
}

impl LimitRun {
    /// Allocates and fills the memory of a measurement that moves or computes at least `amount` bytes or operations.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](apron_core::Error::OutOfMemory) and [`Error::Driver`](apron_core::Error::Driver).
    pub fn new(gpu: &Gpu, limit: Limit, amount: u64) -> Result<LimitRun> {
        let blocks = gpu.info().multiprocessors * BLOCKS_A_MULTIPROCESSOR;
        let filled = |bytes: u64| GpuBuffer::from_bytes(gpu, OPERATION, &pattern(bytes));
        let (work, amount) = match limit {
            Limit::Copy => {
                let bytes = amount.div_ceil(2);
                (Work::OnDevice { from: filled(bytes)? }, 2 * bytes)
            }
            Limit::Read => {
                let recipe = limits::read(amount.div_ceil(4), blocks);
                let bytes = recipe.buffers[0].size_bytes();
                (Work::Kernel { recipe, input: filled(bytes)? }, bytes)
            }
            Limit::Ffma => {
                let rounds = amount.div_ceil(limits::ffma_operations(1, blocks)).clamp(1, u32::MAX as u64) as u32;
                let factors: Vec<u8> = [0.999f32, 0.5].iter().flat_map(|value| value.to_ne_bytes()).collect();
                let input = GpuBuffer::from_bytes(gpu, OPERATION, &factors)?;
                let recipe = limits::ffma(rounds, blocks);
                (Work::Kernel { recipe, input }, limits::ffma_operations(rounds, blocks))
            }
            Limit::ToDevice => {
                let to = GpuBuffer::uninitialized(gpu, OPERATION, amount)?;
                (Work::ToDevice { from: Pinned::new(gpu, amount)?, to }, amount)
            }
            Limit::ToHost => (Work::ToHost { from: filled(amount)?, to: Pinned::new(gpu, amount)? }, amount),
        };
        gpu.synchronize()?;
        Ok(LimitRun { gpu: gpu.clone(), work, amount, runs: Vec::new() })
    }

    /// Returns the bytes that a run moves, or the operations that it performs.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Enqueues the measurement once. A copy on the device gets new memory for its output, as operations do.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](apron_core::Error::OutOfMemory) and [`Error::Driver`](apron_core::Error::Driver).
    pub fn enqueue(&mut self) -> Result<()> {
        let gpu = &self.gpu;
        gpu.device.enter()?;
        let stream = gpu.stream.inner.as_inner();
        let run = match &mut self.work {
            Work::Kernel { recipe, input } => {
                let (output, timer) = gpu.execute(recipe, input)?;
                timer.map(|timer| (timer, Some(output)))
            }
            Work::OnDevice { from } => {
                let to = GpuBuffer::uninitialized(gpu, OPERATION, from.len_bytes())?;
                // SAFETY: both sides have the same size, and are freed in the order of the stream.
                let copy =
                    || unsafe { cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.len_bytes() as usize, stream) };
                Some((timed(gpu, copy)?, Some(to)))
            }
            Work::ToDevice { from, to } => {
                // SAFETY: both sides have the same size; device memory is freed in the order of the stream, and pinned
                // memory only after the stream was waited for.
                let copy = || unsafe {
                    cuMemcpyHtoDAsync_v2(to.address(), from.memory.as_ptr().cast(), from.memory.len(), stream)
                };
                Some((timed(gpu, copy)?, None))
            }
            Work::ToHost { from, to } => {
                // SAFETY: as above.
                let copy = || unsafe {
                    cuMemcpyDtoHAsync_v2(to.memory.as_mut_ptr().cast(), from.address(), to.memory.len(), stream)
                };
                Some((timed(gpu, copy)?, None))
            }
        };
        self.runs.extend(run);
        Ok(())
    }

    /// Waits for the runs that are enqueued, and returns the time of each on the GPU.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    pub fn times(&mut self) -> Result<Vec<Duration>> {
        self.runs.drain(..).map(|(timer, _)| timer.elapsed()).collect()
    }
}

/// Enqueues a copy on the stream, and times it.
fn timed(gpu: &Gpu, copy: impl FnOnce() -> CUresult) -> Result<Timer> {
    let timer = Timer::start(gpu)?;
    checked(copy(), || format!("{OPERATION}: copying"))?;
    timer.stop()
}

/// Bytes that hardware compression cannot exploit.
fn pattern(bytes: u64) -> Vec<u8> {
    let mut pattern = vec![0; bytes as usize];
    for (i, word) in pattern.chunks_mut(4).enumerate() {
        let mixed = (i as u32).wrapping_mul(0x9e37_79b9).to_ne_bytes();
        word.copy_from_slice(&mixed[..word.len()]);
    }
    pattern
}

/// Page-locked host memory.
struct Pinned {
    memory: ManuallyDrop<LockedBuffer<u8>>,
    /// The GPU whose stream copies it.
    gpu: Gpu,
}

impl Pinned {
    fn new(gpu: &Gpu, bytes: u64) -> Result<Pinned> {
        let locking = |error| driver(format!("{OPERATION}: locking {bytes} bytes of host memory"), error);
        gpu.device.enter()?;
        let memory = LockedBuffer::new(&0, bytes as usize).map_err(locking)?;
        let mut pinned = Pinned { memory: ManuallyDrop::new(memory), gpu: gpu.clone() };
        pinned.memory.copy_from_slice(&pattern(bytes));
        Ok(pinned)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Also makes the context current, which unlocking needs.
        if self.gpu.synchronize().is_ok() {
            // SAFETY: dropped once, here; every copy was waited for.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}
