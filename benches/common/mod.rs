//! Shared by the benches: workloads, runs of them on a device, and criterion's rows.
#![allow(dead_code)] // each bench uses a part

use apron::{
    AnyImage, Border, Device, DeviceImage, Error, Histogram, Image, Mask, PixelType, Result, Shape, Source, Taps,
    filters,
};
use apron_core::{ByteHistogram, Correlate, Extent, FilterProblem, Problem, Separable};
use apron_testkit::{Data, histogram_of, random_image};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::time::{Duration, Instant};

/// A workload: a problem for an image of random samples.
pub(crate) struct Work {
    /// Name of the workload, with sizes.
    pub(crate) text: String,
    /// The problem to solve.
    pub(crate) problem: Problem,
}

impl Work {
    /// Makes a separable correlation of a square f32 image.
    pub(crate) fn separable(side: u32, radius: u32) -> Work {
        let taps: Vec<f32> = (0..2 * radius + 1).map(|i| (i as f32 * 0.37).cos()).collect();
        let taps = Taps::new(taps).expect("valid taps");
        let problem = Separable {
            shape: square(side, 1),
            src: PixelType::F32,
            dst: PixelType::F32,
            taps_x: taps.clone(),
            taps_y: taps,
            border: Border::Replicate,
            extent: Extent::Same,
        };
        Work { text: format!("separable f32 {side}x{side} radius {radius}"), problem: Problem::from(problem) }
    }

    /// Makes a dense correlation of a square f32 image.
    pub(crate) fn dense(side: u32, mask_width: u32, mask_height: u32) -> Work {
        let taps: Vec<f32> = (0..mask_width * mask_height).map(|i| (i as f32 * 0.37).sin()).collect();
        let mask = Mask::new(mask_width, mask_height, taps).expect("a valid mask");
        let text = format!("dense f32 {side}x{side} mask {mask_width}x{mask_height}");
        Work { text, problem: correlate(square(side, 1), PixelType::F32, mask, Border::Constant(0.0)) }
    }

    /// Makes a 3x3 mean of a square RGBA image.
    pub(crate) fn rgba(side: u32) -> Work {
        let mask = filters::named_mask("box3").expect("a known mask");
        let problem = correlate(square(side, 4), PixelType::U8, mask, Border::Replicate);
        Work { text: format!("rgba u8 {side}x{side} box 3x3"), problem }
    }

    /// Makes a histogram of a square u8 image.
    pub(crate) fn histogram(side: u32) -> Work {
        let problem = Problem::from(ByteHistogram { shape: square(side, 1), per_channel: false });
        Work { text: format!("histogram u8 {side}x{side} 256 bins"), problem }
    }

    /// Returns the workload's image, the same in every run.
    pub(crate) fn image(&self) -> AnyImage<'static> {
        let (shape, pixel) = self.input();
        random_image(&mut StdRng::seed_from_u64(1), pixel, shape, Data::Uniform)
    }

    fn input(&self) -> (Shape, PixelType) {
        (self.problem.shape(), self.problem.src())
    }

    /// Returns the least memory traffic, in bytes: the image is read once and, for filters, written once.
    pub(crate) fn bytes(&self) -> u64 {
        let (shape, pixel) = self.input();
        let passes = if self.problem.operation() == "histogram" { 1 } else { 2 };
        shape.samples() * pixel.size_bytes() as u64 * passes
    }

    /// Returns the number of arithmetic operations: a multiplication and an addition per tap and sample, or an update
    /// per sample.
    pub(crate) fn operations(&self) -> u64 {
        let a_sample = match &self.problem {
            Problem::Filter(FilterProblem::Correlate(problem)) => 2 * problem.mask.taps().len(),
            Problem::Filter(FilterProblem::Separable(problem)) => {
                2 * (problem.taps_x.taps().len() + problem.taps_y.taps().len())
            }
            // A mean takes a constant number of operations, whatever the size of the window.
            Problem::Filter(FilterProblem::Box(_)) => 8,
            _ => 1,
        };
        self.input().0.samples() * a_sample as u64
    }

    /// Formats a time, with its bandwidth and its rate of operations.
    pub(crate) fn rates(&self, seconds: f64) -> String {
        let gigas = self.operations() as f64 / seconds / 1e9;
        let computed = match &self.problem {
            Problem::Count(_) => format!("{gigas:.2} Gupdate/s"),
            _ => format!("{:.5} TFLOP/s", gigas / 1e3),
        };
        format!("{:.4} ms, {:.2} GB/s, {computed}", seconds * 1e3, self.bytes() as f64 / seconds / 1e9)
    }

    /// Runs it on a device.
    pub(crate) fn solve<'a>(
        &self,
        device: &'a Device,
        image: impl Into<Source<'a>>,
        variant: Option<&'a str>,
    ) -> Result<Solved> {
        let counting = match &self.problem {
            Problem::Filter(filter) => return Ok(Solved::OnDevice(device.solve(filter, image, variant)?)),
            Problem::Count(problem) => histogram_of(device, problem, image),
            other => panic!("no workload: {other:?}"),
        };
        let (histogram, report) = counting.variant(variant).run_reported()?;
        Ok(Solved::Counts(histogram, report.kernels))
    }

    /// Runs it by the serial program.
    pub(crate) fn serial(&self, image: &AnyImage<'static>) -> Result<Solved> {
        if let (Problem::Filter(FilterProblem::Correlate(problem)), AnyImage::U8(rgba)) = (&self.problem, image) {
            let start = Instant::now();
            let out = serial_rgba(rgba, problem)?;
            return Ok(Solved::OnHost(out, start.elapsed()));
        }
        self.solve(&Device::reference(), image, None)
    }
}

/// Runs program P9.
fn serial_rgba(image: &Image<u8>, problem: &Correlate) -> Result<Image<'static, u8>> {
    apron_reference::rgba3x3(image, &problem.mask, problem.border)
}

fn square(side: u32, channels: u32) -> Shape {
    Shape::new(side, side, channels).expect("a valid shape")
}

fn correlate(shape: Shape, pixel: PixelType, mask: Mask, border: Border) -> Problem {
    Problem::from(Correlate { shape, src: pixel, dst: pixel, mask, border, clamp: false, extent: Extent::Same })
}

/// The result of a workload.
pub(crate) enum Solved {
    OnDevice(DeviceImage),
    OnHost(Image<'static, u8>, Duration),
    Counts(Histogram, Duration),
}

impl Solved {
    /// Returns the time of the kernels by the GPU's events, or of the computation on the host. It excludes the upload
    /// of the image. It includes the copies of a mask to constant memory and of the image to a texture, which every run
    /// of such a variant needs.
    pub(crate) fn time(&self) -> Result<Duration> {
        match self {
            Solved::OnDevice(image) => Ok(image.report()?.kernels),
            Solved::OnHost(_, time) | Solved::Counts(_, time) => Ok(*time),
        }
    }

    /// Returns the bytes of the result, for exact comparison.
    pub(crate) fn bits(self) -> Result<Vec<u8>> {
        match self {
            Solved::OnDevice(image) => Ok(image.into_host()?.bytes().into_owned()),
            Solved::OnHost(image, _) => Ok(image.into_packed()),
            Solved::Counts(histogram, _) => Ok(histogram.counts().iter().flat_map(|n| n.to_ne_bytes()).collect()),
        }
    }
}

/// Whether times are measured: the benches also run as tests.
pub(crate) fn measured() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Returns the side of the image: small if the bench runs as a test.
pub(crate) fn side(full: u32) -> u32 {
    if measured() { full } else { 33 }
}

/// Opens the GPU; without one, prints that its rows are left out.
pub(crate) fn gpu() -> Option<Device> {
    Device::gpu(0).map_err(|error| eprintln!("GPU rows left out: {error}")).ok()
}

/// Criterion's samples per row: few, since the serial references take seconds.
const SAMPLES: usize = 10;

pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(SAMPLES)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5))
}

/// Number of operations above which one run of the serial reference would take half a minute.
const SERIAL_OPERATIONS: u64 = 4_000_000_000;

/// Times each workload by the serial reference, by the CPU, and by every variant of the GPU that supports it. Each
/// result is checked once, before it is timed.
pub(crate) fn bench(c: &mut Criterion, works: &[Work]) {
    let gpu = gpu();
    for work in works {
        let image = work.image();
        let bits = |solved: Result<Solved>| solved.and_then(Solved::bits);
        let mut group = c.benchmark_group(&work.text);
        group.throughput(Throughput::Bytes(work.bytes()));

        let cpu = || work.solve(&Device::cpu(), &image, None);
        let expected = if work.operations() > SERIAL_OPERATIONS {
            println!("{}: serial reference left out, as it takes too long; `--bench ladder` has it", work.text);
            // The suite compares the CPU with the reference, bit for bit.
            bits(cpu()).expect("the CPU takes everything")
        } else {
            let serial = || work.serial(&image);
            let expected = bits(serial()).expect("the reference takes everything");
            assert!(bits(cpu()).is_ok_and(|found| found == expected), "the CPU's result is not the reference's");
            row(&mut group, work, "serial reference", serial);
            expected
        };
        row(&mut group, work, "cpu", cpu);
        let Some(gpu) = &gpu else { continue };
        let image = gpu.upload(&image).expect("memory for the image");
        let mut refused = Vec::new();
        for variant in apron_plan::variants(work.problem.operation()) {
            let name = format!("gpu {}", variant.name);
            let run = || work.solve(gpu, &image, Some(variant.name));
            match bits(run()) {
                Ok(found) => assert!(found == expected, "{}: the result of {name} is wrong", work.text),
                Err(Error::Unsupported { .. }) => {
                    refused.push(variant.name);
                    continue;
                }
                Err(error) => panic!("{}: {name}: {error}", work.text),
            }
            row(&mut group, work, &name, run);
        }
        if !refused.is_empty() {
            println!("{}: beyond the limits of {}", work.text, refused.join(", "));
        }
    }
}

/// Measures one row, and prints the median of its samples.
fn row(group: &mut BenchmarkGroup<'_, WallTime>, work: &Work, name: &str, run: impl Fn() -> Result<Solved>) {
    let mut samples = Vec::new();
    group.bench_function(BenchmarkId::from_parameter(name), |b| {
        b.iter_custom(|runs| {
            let times = (0..runs).map(|_| run().and_then(|solved| solved.time()));
            let time: Duration = times.map(|time| time.expect("it ran when it was checked")).sum();
            samples.push(time.as_secs_f64() / runs as f64);
            time
        });
    });
    // The last samples: criterion's warm-up precedes them. There are none if a filter skips the row.
    let measured = samples.split_off(samples.len().saturating_sub(SAMPLES));
    if !measured.is_empty() {
        println!("{name}: median {}", work.rates(median(measured)));
    }
}

/// Returns the median.
pub(crate) fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
