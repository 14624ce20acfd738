//! Strips: a filter from host memory to host memory, one strip per lane on the device at a time.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::execute::Timer;
use crate::host_rows::{HostRows, HostRowsMut};
use crate::staging::most_lanes;
use crate::stream::Stream;
use apron_core::Result;
use apron_plan::Recipe;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A strip of an image's result.
#[derive(Debug)]
pub struct StripJob<'a> {
    /// How the strip is computed.
    pub recipe: &'a Recipe,
    /// Bytes of the image that are the strip's input, one range after the other.
    pub input: Vec<Range<usize>>,
    /// Bytes of the result that the strip computes.
    pub output: Range<usize>,
}

impl Gpu {
    /// Returns the number of strips that are computed at a time.
    pub fn strips_at_a_time(&self) -> usize {
        most_lanes()
    }

    /// Computes strips of an image on the host into an image on the host: copies to the device, kernels and copies back of
    /// several strips at a time, each strip on a stream and by a thread of its own. Runs behind all work enqueued on this
    /// handle, and waits for the strips. Returns the time of all kernels; `None` where no memory can be pinned.
    ///
    /// # Errors
    /// As [`execute`](Gpu::execute).
    ///
    /// # Panics
    /// If a strip's sizes differ from its recipe's, or strips overlap.
    pub fn run_strips(
        &self,
        strips: &[StripJob<'_>],
        input: HostRows<'_>,
        output: HostRowsMut<'_>,
    ) -> Result<Option<Duration>> {
        self.device.enter()?;
        self.stream.uncaptured("a filter from host to host", "upload the image before")?;
        let (input, output) = (input.looked_up(), output.looked_up());
        let apart = strips.windows(2).all(|pair| pair[0].output.end <= pair[1].output.start);
        assert!(apart, "strips that do not overlap");
        let (next, kernels) = (AtomicUsize::new(0), Mutex::new(Duration::ZERO));
        let done = self.device.on_lanes(&self.stream, strips.len(), |lane| {
            let stream = Stream::of_lane(self.device.clone(), lane.stream.clone())?;
            let gpu = Gpu { device: self.device.clone(), stream };
            let mut timers: Vec<Timer> = Vec::new();
            while let Some(strip) = strips.get(next.fetch_add(1, Ordering::Relaxed)) {
                let bytes = strip.input.iter().map(|range| range.len()).sum::<usize>();
                let buffer = GpuBuffer::uninitialized(&gpu, strip.recipe.operation, bytes as u64)?;
                let mut at = buffer.device_address();
                for range in &strip.input {
                    let start = at.wrapping_sub(range.start as u64);
                    lane.upload(input, iter::once(range.clone()), start)?;
                    at += range.len() as u64;
                }
                let (result, timer) = gpu.execute(strip.recipe, &buffer)?;
                assert_eq!(result.len_bytes(), strip.output.len() as u64, "size of the strip's output, in bytes");
                timers.extend(timer);
                let start = result.device_address().wrapping_sub(strip.output.start as u64);
                // SAFETY: strips do not overlap, and each belongs to one thread.
                unsafe { lane.download(&output, iter::once(strip.output.clone()), start)? };
            }
            gpu.synchronize()?;
            for timer in &timers {
                *kernels.lock().unwrap_or_else(PoisonError::into_inner) += timer.elapsed()?;
            }
            Ok(())
        })?;
        Ok(done.map(|()| kernels.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }
}
