//! The device that `auto` chooses for each job: the one that is estimated to finish first.
//!
//! All devices give the same bits, so the choice affects only the time. The CPU's time is that of the nearest measured
//! workload ([`cpu`]); a GPU's time is that of the copies and the kernels ([`gpu`]), and of its start if no context is
//! open. Measured times of the process's own jobs correct both estimates ([`ledger`]).

pub(crate) mod cpu;
mod gpu;
mod ledger;

use crate::backend::Backend;
use crate::choice::{self, Choice};
use crate::device_image::DeviceImage;
use crate::{Bins, Device, PixelType, PointOp, Result, Shape, Source};
use apron_core::{ByteHistogram, EdgeHistogram, FilterProblem, Pointwise, Problem};
use apron_plan::tuning::Work;
use ledger::{CPU, GPU, Kind, Ledger};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time until a GPU's first result, in milliseconds, if no context is open: `cuInit` and the context alone took 205 on
/// the machine of docs/decisions/auto.md.
const START_MS: f64 = 250.0;

/// What `auto` estimated for a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Time of the job on the CPU.
    pub cpu: Duration,
    /// Time of the job on the GPU, copies from and to the host included.
    pub gpu: Duration,
    /// Time to start the GPU; zero if its context is open.
    pub start: Duration,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        write!(f, "estimated {:.3} ms on the CPU, {:.3} ms on the GPU", ms(self.cpu), ms(self.gpu))?;
        if self.start.is_zero() { Ok(()) } else { write!(f, " and {:.0} ms to start it", ms(self.start)) }
    }
}

/// A GPU that may be opened, and what is known about the times of jobs.
#[derive(Default)]
pub(crate) struct Auto {
    /// The GPU, if its context is open, or why there is none.
    gpu: OnceLock<std::result::Result<Backend, String>>,
    /// Whether a thread is opening the GPU.
    opening: AtomicBool,
    ledger: Mutex<Ledger>,
}

impl fmt::Debug for Auto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auto").field("open", &self.gpu.get().is_some()).finish_non_exhaustive()
    }
}

/// A job whose device is to be chosen.
pub(crate) struct Job {
    /// The problems that are solved one after the other, for each image of a batch.
    pub(crate) problems: Vec<Problem>,
    /// Number of images.
    pub(crate) images: u32,
    /// Bytes of an image, and of its result if that is an image.
    pub(crate) bytes: (u64, u64),
    /// Whether the result is on the host when the call returns.
    pub(crate) waits: bool,
}

impl Job {
    /// Returns a job of filters, the last of which makes the result; `None` if there is no filter, or an invalid one:
    /// then any device reports its error. With a room, the result is on the host when the call returns.
    pub(crate) fn of(filters: Vec<FilterProblem>, source: &Source<'_>, has_room: bool) -> Option<Job> {
        let last = filters.last()?;
        let (out, sample) = (last.window().ok()?.out, last.dst().size_bytes() as u64);
        let read = source.shape().samples() * source.pixel_type().size_bytes() as u64;
        let bytes = (read, out.samples() * sample);
        let problems = filters.into_iter().map(Problem::Filter).collect();
        Some(Job { problems, images: source.images(), bytes, waits: has_room })
    }

    /// Returns a job on one image whose result are counts or other numbers.
    pub(crate) fn counting(source: &Source<'_>) -> Job {
        let (shape, src, per_channel) = (source.shape(), source.pixel_type(), false);
        let problem: Problem = match src {
            PixelType::U8 => ByteHistogram { shape, per_channel }.into(),
            _ => EdgeHistogram { shape, src, bins: Bins::default(), extremes: None, per_channel }.into(),
        };
        let bytes = shape.samples() * src.size_bytes() as u64;
        Job { problems: vec![problem], images: 1, bytes: (bytes, 0), waits: true }
    }

    /// Returns the kind of the job.
    fn kind(&self) -> Kind {
        let log = |number: u64| number.max(1).ilog2();
        let works = self.problems.iter().map(Work::of);
        let of = |work: Work| {
            let samples = u64::from(work.width) * u64::from(work.height) * u64::from(work.channels);
            let (size, side) = (log(samples * u64::from(self.images)), log(work.side.into()));
            Kind { operation: work.operation, types: (work.src, work.dst), size, side, waits: self.waits }
        };
        // The problem with the largest window takes the most time.
        works.map(of).max_by_key(|kind| kind.side).expect("a job has a problem")
    }

    /// Returns a job whose result has the shape and type of its image.
    pub(crate) fn mapping(source: &Source<'_>, has_room: bool) -> Option<Job> {
        let (shape, src, op) = (source.shape(), source.pixel_type(), PointOp::weighted(1.0, 0.0, 0.0));
        Job::of(vec![Pointwise { shape, src, second: None, dst: src, op }.into()], source, has_room)
    }
}

impl Auto {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the GPU, and opens it if it is closed.
    fn open(&self) -> &std::result::Result<Backend, String> {
        self.gpu.get_or_init(|| Backend::open_gpu(0).map_err(|error| error.to_string()))
    }

    /// Returns the GPU, if its context is open.
    pub(crate) fn opened(&self) -> Option<&Backend> {
        self.gpu.get().and_then(|gpu| gpu.as_ref().ok())
    }

    /// Returns the estimates of a job.
    fn estimate(&self, job: &Job) -> Estimate {
        let factors = self.ledger().factors(&job.kind()).map(|factor| factor * job.images as f64);
        let duration = |ms: f64| Duration::from_secs_f64(ms.min(1e9) / 1e3);
        Estimate {
            cpu: duration(cpu::ms(&job.problems) * factors[CPU]),
            gpu: duration(gpu::ms(&job.problems, job.bytes) * factors[GPU]),
            start: duration(if self.gpu.get().is_some() { 0.0 } else { START_MS }),
        }
    }

    /// Opens the GPU in a new thread.
    fn open_beside(self: &Arc<Self>) {
        if !self.opening.swap(true, Ordering::Relaxed) {
            let auto = self.clone();
            // If no thread can be started, the GPU stays closed.
            let _ = std::thread::Builder::new().spawn(move || {
                auto.open();
            });
        }
    }

    /// Returns whether the GPU is chosen for a job with these estimates.
    fn chooses_gpu(self: &Arc<Self>, job: &Job, estimate: &Estimate) -> bool {
        match self.gpu.get() {
            Some(Ok(_)) => {
                let ms = [estimate.cpu, estimate.gpu].map(|time| time.as_secs_f64() * 1e3);
                return self.ledger().choose(job.kind(), ms) == GPU;
            }
            Some(Err(_)) => return false,
            None => {}
        }
        if estimate.gpu + estimate.start < estimate.cpu {
            return true;
        }
        let saved = estimate.cpu.saturating_sub(estimate.gpu);
        let mut ledger = self.ledger();
        ledger.saved_ms += saved.as_secs_f64() * 1e3;
        if ledger.saved_ms >= START_MS {
            self.open_beside();
        }
        false
    }
}

impl Device {
    /// Returns the device for images that stay on a device: the GPU, if `auto` may choose one.
    pub(crate) fn for_data(&self) -> Device {
        let Some(auto) = &self.auto else { return self.clone() };
        match auto.open() {
            Ok(backend) => {
                let chosen = Some("auto: a GPU is there".into());
                Device { backend: backend.clone(), chosen, ..self.settled() }
            }
            Err(why) => Device { chosen: Some(format!("auto: {why}")), ..self.settled() },
        }
    }

    /// Returns the device that `auto` chooses for the slabs of a volume, by the estimate for the whole volume.
    pub(crate) fn for_slabs(&self, job: Option<Job>) -> Device {
        match (&self.auto, job) {
            (None, _) => self.clone(),
            (_, None) => self.settled(),
            (Some(auto), Some(job)) => self.chosen(auto, &job),
        }
    }

    /// Returns this device without a further choice: the CPU, if this is `auto`.
    fn settled(&self) -> Device {
        Device { auto: None, ..self.clone() }
    }

    /// Returns the device that `auto` chooses for a filter of an image on the host; other devices themselves.
    pub(crate) fn for_job(&self, filter: &FilterProblem) -> Device {
        let Some(auto) = &self.auto else { return self.clone() };
        let (shape, out) = (filter.shape(), filter.window().map(|window| window.out));
        let bytes = |shape: Shape, pixel: PixelType| shape.samples() * pixel.size_bytes() as u64;
        let written = out.map_or(0, |out| bytes(out, filter.dst()));
        let problems = vec![Problem::Filter(filter.clone())];
        let job = Job { problems, images: 1, bytes: (bytes(shape, filter.src()), written), waits: true };
        self.chosen(auto, &job)
    }

    fn chosen(&self, auto: &Arc<Auto>, job: &Job) -> Device {
        let estimate = auto.estimate(job);
        let device = if auto.chooses_gpu(job, &estimate) { self.for_data() } else { self.settled() };
        Device { chosen: Some(format!("auto: {estimate}")), estimate: Some(estimate), ..device }
    }

    /// Runs a job by the device that `auto` chooses for it; other devices run it themselves.
    pub(crate) fn by_cost<T>(
        &self,
        sources: &[&Source<'_>],
        choice: &Choice<'_>,
        job: impl FnOnce() -> Option<Job>,
        run: impl FnOnce(&Device) -> Result<T>,
    ) -> Result<T> {
        let Some(auto) = &self.auto else { return run(self) };
        // Data stays on its device, and named variants are the GPU's, except `parallel`.
        let named = choice.variant.is_some_and(|name| name != "parallel") || !choice::environment()?.is_empty();
        if named || sources.iter().any(|source| matches!(source, Source::Device(image) if is_on_gpu(image))) {
            return run(&self.for_data());
        }
        if choice.variant.is_some() {
            return run(&self.settled());
        }
        let Some(job) = job() else { return run(&self.settled()) };
        let device = self.chosen(auto, &job);
        let Some(estimate) = device.estimate else { return run(&device) };
        let on_gpu = !matches!(device.backend, Backend::Cpu);
        let (start, known) = (Instant::now(), estimate.start.is_zero() || !on_gpu);
        let result = run(&device)?;
        if known && (job.waits || !on_gpu) {
            let (device, expected) = if on_gpu { (GPU, estimate.gpu) } else { (CPU, estimate.cpu) };
            let measured = start.elapsed().as_secs_f64() / expected.as_secs_f64().max(1e-6);
            let mut ledger = auto.ledger();
            let factor = ledger.factors(&job.kind())[device];
            ledger.learn(job.kind(), device, measured * factor);
        }
        Ok(result)
    }
}

/// Returns whether an image is in the memory of a GPU.
#[cfg_attr(not(feature = "gpu"), allow(unused_variables))]
fn is_on_gpu(image: &DeviceImage) -> bool {
    #[cfg(feature = "gpu")]
    return matches!(*image.storage, crate::backend::Storage::Gpu(_));
    #[cfg(not(feature = "gpu"))]
    false
}
