//! `apron bench`: times every workload, compared with the machine's limits and, optionally, with other libraries.

pub(super) mod burst;
mod by_auto;
mod chain;
pub(super) mod images;
mod jobs;
mod limits;
mod names;
mod peers;
mod report;
mod scan;
pub(super) mod solved;
mod weights;
pub(super) mod workloads;

use crate::error::{Error, Result};
use crate::report::{complain, print};
use apron::{AnyImage, Device, DeviceName};
use apron_files::OutputPath;
use burst::Bursts;
use images::Picture;
use limits::{Limits, Rates};
use report::{Bench, Outcome, Row, Timed};
use solved::Solved;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use workloads::{Operation, WORKLOADS, Workload};

#[derive(clap::Args)]
#[command(after_help = "\
First the machine's own rates are measured, of large amounts: copying and reading device memory, multiplying and adding,
copying over PCIe. Then each workload: its result is compared, bit for bit, with the CPU's, and it is
timed by the GPU's events, kernels alone; if that is less than 50 us, in bursts of 20 that are enqueued
while the GPU is busy, so that it never waits for the host. Copies of the image and the first call, which compiles the
kernels, are timed apart; with CUDA_CACHE_DISABLE=1 in the environment the driver compiles them anew.

The limit of a workload is a copy of the same bytes in device memory, those that it reads and those that it writes, or for
histograms a read of them, which is timed in the same way: alone, or in bursts. Where multiply-adds bound it, it is their time
at the measured rate, unless the copy takes longer. --scan compares with the longer of both everywhere. On the CPU all threads
copy, read, and multiply and add.

--peers also times what is there of NPP and CUB (compiled by nvcc, which NVCC may name), PyTorch and
CuPy, by the programs in --peers-dir. What is missing is said and left out.

A workload's name is the operation (separable, dense, box, gauss, histogram, volume), the type and size of the image or
volume, and the radius, mask, window or kind of data.

Examples:
  apron bench --only separable --peers --record benches/record/h100-speed.csv
  apron bench --work 'box u8 1920x1080 window 5x5' --work 'histogram u8 1920x1080 natural' --peers
  apron bench --scan --device cpu --reps 3 --charts ladders --record ladders.csv")]
pub(crate) struct Args {
    /// The device to measure: gpu[:N], cpu, emulator or reference; the last two have no limits
    #[arg(long, default_value = "gpu", value_parser = crate::offers::devices(), hide_possible_values = true)]
    device: DeviceName,
    /// Only workloads whose names hold this
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// This workload instead, such as 'dense u8 1920x1080x3 mask 3x3'; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "only")]
    work: Vec<Workload>,
    /// Time other libraries, too
    #[arg(long)]
    peers: bool,
    /// Where the programs are that time other libraries
    #[arg(long, value_name = "DIR", default_value = "benches/peers")]
    peers_dir: PathBuf,
    /// Timed runs, whose median is reported, after 5 or more to warm up
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    reps: u32,
    /// Climb ladders of taps, masks, windows, bins, widths, sizes, borders and types instead, and print where time
    /// grows faster than the work, or is over 3 times the machine's limit; --only then chooses ladders
    #[arg(long, conflicts_with_all = ["work", "peers", "json"])]
    scan: bool,
    /// Time whole jobs instead, by the clock on the wall: from host memory to host memory, and by the command from file
    /// to file; --only then chooses jobs, and --peers times OpenCV, CuPy and PyTorch
    #[arg(long, conflicts_with_all = ["work", "scan", "json"])]
    jobs: bool,
    /// Time filters from host memory to host memory instead, of 64x64 to 16384x16384 pixels: on the CPU, on the device,
    /// and by `auto`, which should take the faster of both
    #[arg(long, conflicts_with_all = ["work", "scan", "jobs", "peers", "json"])]
    auto: bool,
    /// With --scan: draw the ladders as SVG pictures into this folder
    #[arg(long, value_name = "DIR", requires = "scan")]
    charts: Option<PathBuf>,
    /// Small images: shows that all works, and no speed
    #[arg(long)]
    quick: bool,
    /// Write the times and what the machine is to a CSV file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Report as one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Say nothing while it runs
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let workloads = if args.scan || args.jobs || args.auto { Vec::new() } else { chosen(args)? };
    // Checked first: nothing should be measured whose record cannot be written.
    let record = args.record.as_deref().map(OutputPath::new).transpose()?;
    // Kept open, so that the handles of single workloads do not initialise the driver again.
    let device = Device::open(args.device)?;
    let pace = Pace { reps: args.reps as usize };
    let tell = |line: &str| {
        if !args.quiet && !args.json {
            complain(line);
        }
    };
    // The limits of whole jobs are measured by a peer.
    let rates = if args.jobs || args.auto {
        Rates::default()
    } else {
        tell(&format!("device {}: its rates", device.name()));
        Rates::measure(&device, pace, args.quick)?
    };
    let ordinal = if let DeviceName::Gpu(ordinal) = device.name() { Some(ordinal) } else { None };
    let facts = || report::facts(pace, ordinal, &rates);
    if args.scan {
        let scan = scan::run(&device, &rates, args.only.as_deref().unwrap_or(""), (pace, args.quick), tell)?;
        if let Some(folder) = &args.charts {
            scan.draw(folder)?;
        }
        return told(&scan.text(), || scan.csv(&facts()), record);
    }
    if args.auto {
        let table = by_auto::run(&device, args.only.as_deref().unwrap_or(""), (pace, args.quick), tell)?;
        return told(&table.text(), || table.csv(&facts()), record);
    }
    if args.jobs {
        let peers = args.peers.then_some(args.peers_dir.as_path());
        let jobs = jobs::run(&device, args.only.as_deref().unwrap_or(""), (pace, args.quick), peers, tell)?;
        told(&jobs.text(), || jobs.csv(&facts()), record)?;
        return match jobs.failed() {
            0 => Ok(()),
            1 => Err(Error::Failed("1 job failed".into())),
            failed => Err(Error::Failed(format!("{failed} jobs failed"))),
        };
    }
    let mut limits = Limits::new(&device, &rates, pace)?;
    let mut rows = Vec::new();
    let mut last: Option<(Picture, AnyImage<'static>)> = None;
    for workload in workloads {
        tell(&workload.to_string());
        // Drops an image of another picture first: they are large.
        let image = match last.take().filter(|(picture, _)| *picture == workload.picture) {
            Some((_, image)) => image,
            None => workload.picture.make()?,
        };
        let (_, image) = last.insert((workload.picture, image));
        let outcome = measured(&workload, &device, image, pace, args.quick).unwrap_or_else(Outcome::from);
        rows.push(beside_its_limit(workload, outcome, &mut limits));
    }
    // Queried now, while the clock is still the one under load.
    let mut bench = Bench::new(device.name(), pace, ordinal, rates.clone(), rows);
    drop((last, limits));
    if args.peers {
        // The programs of other libraries generate images without gaps.
        let plain = bench.rows.iter().filter(|row| row.workload.picture.gap == 0);
        let names: Vec<String> = plain.map(|row| row.workload.to_string()).collect();
        bench.add(peers::run(&args.peers_dir, &names, ordinal.unwrap_or(0), tell));
    }
    print(&if args.json { format!("{}\n", bench.json()) } else { bench.text() })?;
    if let Some(record) = record {
        record.write(|file| Ok(file.write_all(bench.csv().as_bytes())?))?;
    }
    match bench.failures().count() {
        0 => Ok(()),
        failed => Err(Error::Failed(format!("{failed} of {} workloads failed", bench.rows.len()))),
    }
}

/// Prints a table, and writes its record if one was asked for.
fn told(text: &str, csv: impl FnOnce() -> String, record: Option<OutputPath<'_>>) -> Result<()> {
    print(text)?;
    record.map_or(Ok(()), |record| Ok(record.write(|file| Ok(file.write_all(csv().as_bytes())?))?))
}

/// Returns the workloads that were asked for.
fn chosen(args: &Args) -> Result<Vec<Workload>> {
    let all = if args.work.is_empty() { WORKLOADS } else { &args.work };
    let all = all.iter().map(|workload| if args.quick { workload.quick() } else { *workload });
    let pattern = args.only.as_deref().unwrap_or("");
    let chosen: Vec<Workload> = all.filter(|workload| workload.to_string().contains(pattern)).collect();
    if chosen.is_empty() {
        let first = WORKLOADS[0];
        return Err(Error::Usage(format!("no workload's name holds '{pattern}'; the first of them is '{first}'")));
    }
    Ok(chosen)
}

/// Measures the limit of a workload that was timed.
fn beside_its_limit(workload: Workload, outcome: Outcome, limits: &mut Limits<'_>) -> Row {
    let limit = match &outcome {
        Outcome::Timed(timed) => limits.of(&workload, timed.is_burst),
        Outcome::Refused(_) | Outcome::Failed(_) => Ok(None),
    };
    match limit {
        Ok(limit) => Row::new(workload, outcome, limit),
        Err(error) => Row::new(workload, Outcome::from(error), None),
    }
}

/// Checks a workload's result, and times it.
fn measured(
    workload: &Workload,
    device: &Device,
    image: &AnyImage<'static>,
    pace: Pace,
    quick: bool,
) -> apron::Result<Outcome> {
    // A new handle has not compiled any kernel, so that its first call includes compilation.
    let device = Device::open(device.name())?;
    let copy_in_ms = median_of_3(|| device.upload(image).map(drop))?;
    let Picture { width, height, .. } = workload.picture;
    let on_device = device.upload(image)?.region(0, 0, width, height)?;
    let solve = || workload.solve(&device, &on_device);
    let start = Instant::now();
    let solved = solve()?;
    let report = solved.report()?;
    let first_ms = milliseconds(start.elapsed());
    let copy_out_ms = match &solved {
        Solved::Image(image) => Some(median_of_3(|| image.download_any().map(drop))?),
        Solved::Counts(..) | Solved::Percentiles(..) => None,
    };
    // The suite compares the CPU with the reference, which would take minutes here.
    let judge = if quick { Device::reference() } else { Device::cpu() };
    if let Some(difference) = solved.difference(workload.solve(&judge, &image.region(0, 0, width, height)?)?)? {
        return Ok(Outcome::Failed(format!("wrong: {difference}")));
    }
    let (ms, parts_ms) = if workload.operation == Operation::Chain {
        let (ms, parts_ms) = chain::times(&device, &on_device, pace)?;
        (ms, Some(parts_ms))
    } else {
        // On the CPU, a new output would add the time of its allocation to each run, so the output of the last run is
        // reused; on a GPU it would not.
        let mut last = None;
        let run = || {
            let solved = workload.solve_into(&device, &on_device, last.take())?;
            let took = solved.report()?.kernels;
            if let (Solved::Image(image), DeviceName::Cpu) = (solved, device.name()) {
                last = Some(image);
            }
            Ok(took)
        };
        (pace.median(run)?, None)
    };
    let is_burst = ms < burst::SHORT_MS && workload.operation != Operation::Chain;
    let ms = if is_burst { Bursts::new(&device)?.median(pace, || workload.enqueue(&device, &on_device))? } else { ms };
    let (variant, why) = (report.variant, report.why);
    Ok(Outcome::Timed(Timed { variant, why, ms, is_burst, first_ms, copy_in_ms, copy_out_ms, parts_ms }))
}

impl From<apron::Error> for Outcome {
    fn from(error: apron::Error) -> Outcome {
        match error {
            apron::Error::Unsupported { .. } => Outcome::Refused(error.to_string()),
            error => Outcome::Failed(error.to_string()),
        }
    }
}

/// Number of repetitions.
#[derive(Clone, Copy)]
struct Pace {
    reps: usize,
}

impl Pace {
    const WARM_UPS: usize = 5;
    /// An idle GPU takes some time to raise its clock.
    const WARM: Duration = Duration::from_millis(50);

    /// Returns the median of the times that `run` returns, after warm-up runs, in milliseconds.
    fn median(self, mut run: impl FnMut() -> apron::Result<Duration>) -> apron::Result<f64> {
        let start = Instant::now();
        let mut warm_ups = 0;
        while warm_ups < Pace::WARM_UPS || start.elapsed() < Pace::WARM {
            run()?;
            warm_ups += 1;
        }
        let times = (0..self.reps).map(|_| run()).collect::<apron::Result<Vec<_>>>()?;
        Ok(median(times))
    }
}

/// Returns the median wall-clock time of three runs on the host, in milliseconds.
fn median_of_3(mut run: impl FnMut() -> apron::Result<()>) -> apron::Result<f64> {
    let timed = |_| {
        let start = Instant::now();
        run().map(|()| start.elapsed())
    };
    Ok(median((0..3).map(timed).collect::<apron::Result<Vec<_>>>()?))
}

pub(super) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    milliseconds(times[times.len() / 2])
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_of_the_runs_behind_the_warm_ups() {
        let mut count = 0;
        let run = || {
            count += 1;
            std::thread::sleep(Duration::from_millis(11));
            Ok(Duration::from_millis(if count <= 5 { 1000 } else { count }))
        };
        assert_eq!(Pace { reps: 3 }.median(run).unwrap(), 7.0);
        assert!(Pace { reps: 3 }.median(|| Err(apron::Error::Fault { fault: "planted".into() })).is_err());
    }

    #[test]
    fn a_workload_is_timed_and_what_a_device_does_not_have_is_no_failure() {
        let workload = WORKLOADS[0].quick();
        let image = workload.picture.make().unwrap();
        let outcome = measured(&workload, &Device::emulator(), &image, Pace { reps: 1 }, true).unwrap();
        let Outcome::Timed(timed) = outcome else { panic!("not timed") };
        assert!(timed.ms > 0.0 && timed.first_ms > 0.0 && timed.copy_out_ms.is_some());
        let error = Device::reference().limit(apron::Limit::Read, 1).err().unwrap();
        assert!(matches!(Outcome::from(error), Outcome::Refused(why) if why.contains("'read'")));
        let fault = apron::Error::Fault { fault: "planted".into() };
        assert!(matches!(Outcome::from(fault), Outcome::Failed(why) if why.contains("planted")));
    }
}
