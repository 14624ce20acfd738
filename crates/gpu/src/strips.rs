//! Strips: a filter from host memory to host memory, one strip per lane on the device at a time.

use crate::buffer::GpuBuffer;
use crate::device::Gpu;
use crate::execute::Timer;
use crate::host_rows::{HostRows, HostRowsMut};
use crate::lanes::{Lane, most_lanes};
use crate::stream::{SharedEvent, Stream};
use crate::team::{Parts, share};
use apron_core::{Error, Result};
use apron_plan::Recipe;
use cust::stream::Stream as CustStream;
use std::iter;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Lanes between pinned images: the host copies nothing, so that more threads would only wait for the driver and for
/// each other.
const PINNED_LANES: usize = 2;

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

impl StripJob<'_> {
    /// Returns the size of the input.
    fn input_bytes(&self) -> usize {
        self.input.iter().map(|range| range.len()).sum()
    }

    /// Enqueues copies of the input to a buffer of its size, on a stream of the lane.
    fn upload(&self, lane: &Lane, stream: &CustStream, rows: HostRows<'_>, buffer: &GpuBuffer) -> Result<()> {
        let mut at = buffer.device_address();
        for range in &self.input {
            lane.upload_on(stream, rows, iter::once(range.clone()), at.wrapping_sub(range.start as u64))?;
            at += range.len() as u64;
        }
        Ok(())
    }
}

/// A strip's input on the device, for uploads ahead of the kernels.
struct InputBuffer {
    buffer: GpuBuffer,
    /// Recorded behind the kernels that read it.
    read: SharedEvent,
}

impl Gpu {
    /// Returns the number of strips that are computed at a time.
    pub fn strips_at_a_time(&self) -> usize {
        most_lanes()
    }

    /// Returns whether bytes are in pinned memory, which is copied in place.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn is_pinned(&self, bytes: &[u8]) -> Result<bool> {
        self.device.enter()?;
        Ok(HostRows::packed(bytes).looked_up().pinned)
    }

    /// Computes strips on up to `lanes` lanes, each with one stream and one thread, until `parts` is empty; strips that
    /// fail return to it. Returns the first failure, or `None` if there are no lanes.
    fn on_strips(
        &self,
        (strips, lanes): (&[StripJob<'_>], usize),
        parts: &Parts,
        input: HostRows<'_>,
        output: &HostRowsMut<'_>,
        kernels: &Mutex<Duration>,
    ) -> Result<Option<Option<Error>>> {
        let failed = Mutex::new(None);
        let done = self.device.on_lanes(&self.stream, lanes, |lane| {
            let mut taken = Vec::new();
            let computed = self.on_lane(lane, strips, parts, &mut taken, input, output);
            match computed {
                Ok(took) => *kernels.lock().unwrap_or_else(PoisonError::into_inner) += took,
                Err(error) => {
                    // Copies must end before another lane computes the strip, or the caller's memory is freed.
                    let _ = lane.synchronize();
                    parts.give_back(taken);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
            Ok(())
        })?;
        Ok(done.map(|()| failed.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Computes strips on a lane, and returns the time of their kernels.
    fn on_lane(
        &self,
        lane: &Lane,
        strips: &[StripJob<'_>],
        parts: &Parts,
        taken: &mut Vec<usize>,
        input: HostRows<'_>,
        output: &HostRowsMut<'_>,
    ) -> Result<Duration> {
        let stream = Stream::of_lane(self.device.clone(), lane.stream.clone(), lane.events.take());
        // The lane's strips have the same sizes.
        stream.keep_spare(true);
        let gpu = Gpu { device: self.device.clone(), stream, others: [].into(), timed: self.timed };
        let (mut timers, mut kernels): (Vec<Timer>, _) = (Vec::new(), Duration::ZERO);
        let ahead = if input.pinned { lane.ahead() } else { None };
        let mut inputs: [Option<InputBuffer>; 2] = [None, None];
        while let Some(part) = parts.take() {
            taken.push(part);
            let strip = &strips[part];
            let room = || GpuBuffer::uninitialized(&gpu, strip.recipe.operation, strip.input_bytes() as u64);
            let (result, timer) = if let Some(ahead) = ahead {
                inputs.rotate_left(1);
                let fits = |reused: &InputBuffer| reused.buffer.len_bytes() == strip.input_bytes() as u64;
                let input_buffer = match inputs[0].take().filter(fits) {
                    Some(reused) => reused,
                    None => InputBuffer { buffer: room()?, read: SharedEvent::recorded(&gpu.stream.inner)? },
                };
                let input_buffer = inputs[0].insert(input_buffer);
                input_buffer.read.make_wait(ahead)?;
                strip.upload(lane, ahead, input, &input_buffer.buffer)?;
                SharedEvent::recorded(ahead)?.make_wait(&gpu.stream.inner)?;
                let executed = gpu.execute(strip.recipe, &input_buffer.buffer)?;
                input_buffer.read = SharedEvent::recorded(&gpu.stream.inner)?;
                executed
            } else {
                let buffer = room()?;
                strip.upload(lane, &lane.stream, input, &buffer)?;
                gpu.execute(strip.recipe, &buffer)?
            };
            assert_eq!(result.len_bytes(), strip.output.len() as u64, "size of the strip's output, in bytes");
            let start = result.device_address().wrapping_sub(strip.output.start as u64);
            // SAFETY: strips do not overlap, and each belongs to one thread.
            unsafe { lane.download(output, iter::once(strip.output.clone()), start)? };
            // Neither a download to pinned rows nor the timer is waited for here.
            match timer {
                Some(timer) if output.pinned => timers.push(timer),
                timer => kernels += timer.map_or(Ok(Duration::ZERO), |timer| timer.elapsed())?,
            }
        }
        gpu.synchronize()?;
        kernels += timers.iter().map(Timer::elapsed).sum::<Result<Duration>>()?;
        drop(timers);
        lane.events.replace(gpu.stream.drain_events());
        Ok(kernels)
    }
}

/// Computes strips of an image on the host into an image on the host: copies to the device, kernels and copies back of
/// several strips at a time, on one GPU or on several, each with its own recipes for the same strips. Runs
/// behind all work enqueued on the handles, and waits for the strips. A GPU with too little memory computes
/// fewer strips at a time; the strips of one that fails go to the others. Returns the time of all kernels;
/// `None` where there are no lanes.
///
/// # Errors
/// As [`execute`](Gpu::execute), if all GPUs fail.
///
/// # Panics
/// If a strip's sizes differ from its recipe's, or strips overlap.
pub fn run_strips(
    gpus: &[(Gpu, Vec<StripJob<'_>>)],
    input: HostRows<'_>,
    output: HostRowsMut<'_>,
) -> Result<Option<Duration>> {
    for (gpu, strips) in gpus {
        gpu.device.enter()?;
        gpu.stream.uncaptured("a filter from host to host", "upload the image before")?;
        let apart = strips.windows(2).all(|pair| pair[0].output.end <= pair[1].output.start);
        assert!(apart && strips.len() == gpus[0].1.len(), "strips that do not overlap, the same for all GPUs");
    }
    let kernels = Mutex::new(Duration::ZERO);
    let name = |(gpu, _): &(Gpu, _)| format!("gpu:{}", gpu.info().ordinal);
    let work = |(gpu, strips): &(Gpu, Vec<StripJob<'_>>), parts: &Parts| {
        gpu.device.enter()?;
        let (input, output) = (input.looked_up(), output.again().looked_up());
        let mut lanes = gpu.strips_at_a_time().min(strips.len());
        if input.pinned && output.pinned {
            lanes = lanes.min(PINNED_LANES);
        }
        loop {
            match gpu.on_strips((strips, lanes), parts, input, &output, &kernels)?.flatten() {
                None => return Ok(()),
                Some(error @ Error::OutOfMemory { .. }) if lanes > 1 => {
                    lanes /= 2;
                    let ordinal = gpu.info().ordinal;
                    log::warn!(target: "apron", "gpu:{ordinal}: {error}; {lanes} strips are computed at a time");
                }
                Some(error) => return Err(error),
            }
        }
    };
    let done = share(gpus, gpus[0].1.len(), name, work)?;
    Ok(done.then(|| kernels.into_inner().unwrap_or_else(PoisonError::into_inner)))
}
