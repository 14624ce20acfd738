//! `apron bench --jobs`: wall-clock times of whole jobs, from the user's memory or files to the result.

use super::{Pace, median, peers};
use crate::error::{Error, Result};
use apron::{AnyImage, Device, DeviceName, Image, ImageMut, Mask, Pixel, Shape};
use apron_files::{ImageOutput, Scratch};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Standard deviation of the Gaussian of the jobs, in pixels.
const SIGMA: f64 = 2.0;
/// Side of the dense mask.
const MASK: u32 = 64;
/// Photographs of a folder.
const PHOTOS: usize = 32;

/// Source and destination of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Road {
    /// From memory to new memory, as `run().download()`.
    Fresh,
    /// From memory to memory that was written before.
    Touched,
    /// From pinned memory to pinned memory.
    Pinned,
    /// From a `.npy` file to a `.npy` file, by the command.
    Command,
    /// As above, on the first GPU if `auto` is measured: the first result of a program.
    First,
    /// A dense mask of 64x64 from memory to memory that was written before.
    Mask,
    /// A histogram of memory.
    Histogram,
    /// A histogram of pinned memory.
    PinnedHistogram,
    /// JPEG photographs of three channels in a folder to pictures of this format, by the command.
    Photos(&'static str),
}

/// A job; the programs of peers take its name as an argument.
#[derive(Clone, Copy, Debug)]
struct Job {
    road: Road,
    /// Whether samples are f32, else u8.
    float: bool,
    side: u32,
}

const JOBS: &[Job] = &[
    Job { road: Road::Touched, float: true, side: 8192 },
    Job { road: Road::Fresh, float: true, side: 8192 },
    Job { road: Road::Pinned, float: true, side: 8192 },
    Job { road: Road::Touched, float: false, side: 16384 },
    Job { road: Road::Fresh, float: false, side: 16384 },
    Job { road: Road::Pinned, float: false, side: 16384 },
    Job { road: Road::Touched, float: true, side: 2048 },
    Job { road: Road::Touched, float: false, side: 2048 },
    Job { road: Road::Command, float: true, side: 8192 },
    Job { road: Road::Command, float: false, side: 16384 },
    Job { road: Road::Command, float: false, side: 512 },
    Job { road: Road::First, float: false, side: 512 },
    Job { road: Road::Mask, float: true, side: 8192 },
    Job { road: Road::Histogram, float: false, side: 16384 },
    Job { road: Road::Histogram, float: true, side: 8192 },
    Job { road: Road::PinnedHistogram, float: false, side: 16384 },
    Job { road: Road::Photos("png"), float: false, side: 3464 },
    Job { road: Road::Photos("jpg"), float: false, side: 3464 },
];

impl Job {
    fn name(&self) -> String {
        let road = match self.road {
            Road::Fresh => "fresh",
            Road::Touched => "touched",
            Road::Pinned => "pinned",
            Road::Command => "npy",
            Road::First => "first",
            Road::Mask => "mask64",
            Road::Histogram => "histogram",
            Road::PinnedHistogram => "histogram-pinned",
            Road::Photos("png") => "photos-png",
            Road::Photos(_) => "photos-jpg",
        };
        let pixel = if self.float { "f32" } else { "u8" };
        format!("job {pixel} {0}x{0} {road}", self.side)
    }
}

/// A measured job.
struct Row {
    name: String,
    ms: std::result::Result<f64, String>,
    /// Times of other libraries.
    peers: Vec<(String, f64)>,
}

pub(super) struct Jobs {
    device: DeviceName,
    rows: Vec<Row>,
    facts: Vec<(String, String)>,
}

/// Times the jobs whose names hold `pattern`, and with `peers` those of the programs in a folder.
pub(super) fn run(
    device: &Device,
    pattern: &str,
    (pace, quick): (Pace, bool),
    peers: Option<&Path>,
    tell: impl Fn(&str),
) -> Result<Jobs> {
    let shrunk = |job: &Job| if quick { Job { side: job.side / 64, ..*job } } else { *job };
    let jobs: Vec<Job> = JOBS.iter().map(shrunk).filter(|job| job.name().contains(pattern)).collect();
    if jobs.is_empty() {
        return Err(Error::Usage(format!(
            "no job's name holds '{pattern}'; the first of them is '{}'",
            JOBS[0].name()
        )));
    }
    let mut rows = Vec::new();
    for job in &jobs {
        tell(&job.name());
        let ms = if job.float { timed::<f32>(job, device, pace) } else { timed::<u8>(job, device, pace) };
        rows.push(Row { name: job.name(), ms: ms.map_err(|error| error.to_string()), peers: Vec::new() });
    }
    let mut facts = Vec::new();
    if let Some(folder) = peers {
        let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
        let ordinal = if let DeviceName::Gpu(ordinal) = device.name() { ordinal } else { 0 };
        let found = peers::of_jobs(folder, &names, ordinal, tell);
        for (name, peer, ms) in found.times {
            rows.iter_mut().filter(|row| row.name == name).for_each(|row| row.peers.push((peer.clone(), ms)));
        }
        facts = found.facts;
    }
    Ok(Jobs { device: device.name(), rows, facts })
}

/// Times one job: the median of runs after one to warm up.
fn timed<T: Pixel + From<u8>>(job: &Job, device: &Device, pace: Pace) -> Result<f64> {
    let shape = Shape::new(job.side, job.side, 1)?;
    let image = Image::from_fn(job.side, job.side, 1, |x, y, _| T::from((x * x / 7 + y * 3 + x * y / 5) as u8))?;
    let of_runs = |run: &mut dyn FnMut() -> Result<()>| -> Result<f64> {
        run()?;
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..pace.reps {
            let start = Instant::now();
            run()?;
            times.push(start.elapsed());
        }
        Ok(median(times))
    };
    match job.road {
        Road::Fresh => of_runs(&mut || {
            let result = device.gaussian(&image, SIGMA).run()?.download::<T>()?;
            drop(std::hint::black_box(result));
            Ok(())
        }),
        Road::Touched => {
            let mut out = AnyImage::from_bytes(T::PIXEL, shape, |bytes| {
                bytes.fill(1);
                Ok(())
            })?;
            of_runs(&mut || Ok(device.gaussian(&image, SIGMA).run_into(&mut out)?))
        }
        Road::Pinned => {
            let samples = shape.samples() as usize;
            let (mut input, mut out) = (device.pinned::<T>(samples)?, device.pinned::<T>(samples)?);
            input.copy_from_slice(&image.packed());
            let image = Image::new(job.side, job.side, 1, &input[..])?;
            of_runs(&mut || {
                let out = ImageMut::new(job.side, job.side, 1, &mut out)?;
                Ok(device.gaussian(&image, SIGMA).run_into(out)?)
            })
        }
        Road::Mask => {
            let taps = (0..MASK * MASK).map(|i| (i % 7) as f32 / 4096.0).collect::<Vec<_>>();
            let mask = Mask::new(MASK, MASK, taps)?;
            let mut out = image.clone();
            of_runs(&mut || Ok(device.correlate(&image, &mask).run_into(&mut out)?))
        }
        Road::Histogram => of_runs(&mut || count(device, &image)),
        Road::PinnedHistogram => {
            let mut input = device.pinned::<T>(shape.samples() as usize)?;
            input.copy_from_slice(&image.packed());
            let image = Image::new(job.side, job.side, 1, &input[..])?;
            of_runs(&mut || count(device, &image))
        }
        Road::Photos(format) => {
            let folder = tempfile::tempdir().map_err(|error| Error::Failed(error.to_string()))?;
            let first = folder.path().join("0.jpg");
            ImageOutput::new(&first, None)?.write(&photo(job.side)?)?;
            for number in 1..PHOTOS {
                let copied = std::fs::copy(&first, folder.path().join(format!("{number}.jpg")));
                copied.map_err(|error| Error::Failed(error.to_string()))?;
            }
            of_runs(&mut || {
                let args = ["--format", format, "--device", &device.name().to_string()];
                command(&folder.path().join("*.jpg"), &folder.path().join("out/"), &args)
            })
        }
        Road::Command | Road::First => {
            let scratch =
                |what| Scratch::with_extension(what, ".npy").map_err(|error| Error::Failed(error.to_string()));
            let (input, output) = (scratch("in")?, scratch("out")?);
            ImageOutput::new(input.path(), None)?.write(&T::into_any(image))?;
            let named = device.name();
            let named = if (job.road, named) == (Road::First, DeviceName::Auto) { DeviceName::Gpu(0) } else { named };
            of_runs(&mut || command(input.path(), output.path(), &["--device", &named.to_string()]))
        }
    }
}

fn count<T: Pixel>(device: &Device, image: &Image<'_, T>) -> Result<()> {
    let histogram = device.histogram(image).bins(256).range(0.0, 256.0).run()?;
    drop(std::hint::black_box(histogram));
    Ok(())
}

/// Returns a picture that compresses about as well as a photograph.
fn photo(side: u32) -> Result<AnyImage<'static>> {
    let image = Image::from_fn(side, side, 3, |x, y, channel| {
        let smooth = (x as f32 / 97.0).sin() * 60.0 + ((y + 31 * channel) as f32 / 61.0).sin() * 40.0;
        let noise =
            (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(2_246_822_519) ^ channel).wrapping_mul(3_266_489_917);
        (128.0 + smooth + (noise >> 28) as f32) as u8
    })?;
    Ok(AnyImage::U8(image))
}

/// Runs this program as a command on files.
fn command(input: &Path, output: &Path, args: &[&str]) -> Result<()> {
    let program = std::env::current_exe().map_err(|error| Error::Failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.arg("gaussian").arg(input).arg(output).args(["--sigma", &SIGMA.to_string(), "--quiet"]);
    let status = command.args(args).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Failed(format!("the command ended with {status}"))),
        Err(error) => Err(Error::Failed(error.to_string())),
    }
}

impl Jobs {
    /// Formats a table.
    pub(super) fn text(&self) -> String {
        let mut text = format!("whole jobs on {}, Gaussians of sigma {SIGMA}: ms by the clock\n", self.device);
        for Row { name, ms, peers } in &self.rows {
            let ms = ms.as_ref().map_or_else(|why| why.clone(), |ms| format!("{ms:.2}"));
            let peers: Vec<String> = peers.iter().map(|(peer, ms)| format!("{peer} {ms:.2}")).collect();
            let _ = writeln!(text, "{name:<32} {ms:>10}  {}", peers.join("  "));
        }
        self.facts.iter().for_each(|(key, value)| _ = writeln!(text, "{key}: {value}"));
        text
    }

    /// Formats a record.
    pub(super) fn csv(&self, facts: &[(String, String)]) -> String {
        let facts = facts.iter().chain(&self.facts);
        let mut text: String = facts.map(|(key, value)| format!("# {key}: {value}\n")).collect();
        text.push_str("job,device,ms,peers\n");
        for Row { name, ms, peers } in &self.rows {
            let ms = ms.as_ref().map_or_else(|_| String::new(), |ms| format!("{ms:.3}"));
            let peers: Vec<String> = peers.iter().map(|(peer, ms)| format!("{peer}={ms:.3}")).collect();
            let _ = writeln!(text, "{name},{},{ms},{}", self.device, peers.join(";"));
        }
        text
    }

    /// Returns the number of jobs that failed.
    pub(super) fn failed(&self) -> usize {
        self.rows.iter().filter(|row| row.ms.is_err()).count()
    }
}
