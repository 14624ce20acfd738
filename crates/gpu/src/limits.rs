//! Measurements of the machine: repeatable copies and kernels without an operation.

use crate::buffer::GpuBuffer;
use crate::device::{Gpu, OpenDevice};
use crate::error::{checked, driver};
use crate::execute::Timer;
use apron_core::{Limit, Result};
use apron_plan::{Recipe, limits};
use cust::memory::LockedBuffer;
use cust::sys::{cuMemcpyDtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuMemcpyHtoDAsync_v2};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

const OPERATION: &str = "limits";
/// Blocks per multiprocessor: they fill 2048 threads, which is the most on any GPU since sm_80.
const BLOCKS_A_MULTIPROCESSOR: u32 = 8;

/// A measurement that is ready to run any number of times.
pub struct LimitRun {
    gpu: Gpu,
    work: Work,
    amount: u64,
}

enum Work {
    Kernel { recipe: Recipe, input: GpuBuffer },
    OnDevice { from: GpuBuffer, to: GpuBuffer },
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
                let to = GpuBuffer::uninitialized(gpu, OPERATION, bytes)?;
                (Work::OnDevice { from: filled(bytes)?, to }, 2 * bytes)
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
        Ok(LimitRun { gpu: gpu.clone(), work, amount })
    }

    /// Returns the bytes that a run moves, or the operations that it performs.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Runs the measurement once, and returns its time on the GPU.
    ///
    /// # Errors
    /// [`Error::Driver`](apron_core::Error::Driver).
    pub fn run(&mut self) -> Result<Duration> {
        let gpu = &self.gpu;
        gpu.device.enter()?;
        if let Work::Kernel { recipe, input } = &self.work {
            let (_, timer) = gpu.execute(recipe, input)?;
            return timer.map_or(Ok(Duration::ZERO), |timer| timer.elapsed());
        }
        let stream = gpu.stream.inner.as_inner();
        let timer = Timer::start(gpu)?;
        // SAFETY: both sides have the same size, and outlive the copy: it is waited for below, and if that fails, the
        // context is lost.
        let copied = unsafe {
            match &mut self.work {
                Work::Kernel { .. } => unreachable!("ran above"),
                Work::OnDevice { from, to } => {
                    cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.len_bytes() as usize, stream)
                }
                Work::ToDevice { from, to } => {
                    cuMemcpyHtoDAsync_v2(to.address(), from.memory.as_ptr().cast(), from.memory.len(), stream)
                }
                Work::ToHost { from, to } => {
                    cuMemcpyDtoHAsync_v2(to.memory.as_mut_ptr().cast(), from.address(), to.memory.len(), stream)
                }
            }
        };
        checked(copied, || format!("{OPERATION}: copying"))?;
        timer.stop()?.elapsed()
    }
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
    device: Arc<OpenDevice>,
}

impl Pinned {
    fn new(gpu: &Gpu, bytes: u64) -> Result<Pinned> {
        let locking = |error| driver(format!("{OPERATION}: locking {bytes} bytes of host memory"), error);
        gpu.device.enter()?;
        let memory = LockedBuffer::new(&0, bytes as usize).map_err(locking)?;
        let mut pinned = Pinned { memory: ManuallyDrop::new(memory), device: gpu.device.clone() };
        pinned.memory.copy_from_slice(&pattern(bytes));
        Ok(pinned)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Unlocking needs the context to be current.
        if self.device.enter().is_ok() {
            // SAFETY: dropped once, here; every copy was waited for.
            unsafe { ManuallyDrop::drop(&mut self.memory) };
        }
    }
}
