//! `apron tune`: measures the tuning table.

mod cpu;
mod report;
mod sweep;
mod works;

use crate::error::{Error, Result};
use crate::report::{complain, print};
use crate::verbs::bench::burst::Bursts;
use crate::verbs::bench::images::Picture;
use apron::{AnyImage, Device, DeviceImage, DeviceName};
use apron_files::OutputPath;
use apron_plan::tuning::Work;
use apron_testkit::machine;
use report::Sweep;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sweep::Task;

#[derive(clap::Args)]
#[command(after_help = "\
Every variant is timed for images of several sizes, masks of many and every common pair of types, with each
grid that it leaves open (rows of a block x blocks per multiprocessor). Times are those of the kernels,
medians of 7 to 25 runs after two, below 50 us of 20 that are enqueued while the GPU is busy; a variant
that takes over four times the best is timed once. Results of the variants are compared, bit for bit.

The table that is printed in the end belongs in crates/plan/tuning.csv, where plans find it when
Apron is built. Rows of several GPUs may stand in it.

--device cpu times the CPU's one variant of each operation, by which the device auto chooses between the
CPU and the GPU. Its table belongs in src/auto/cpu.csv; rows of several CPUs may stand in it.

Example:
  apron tune --only \"f32 8192x8192\" --write tuning.csv")]
pub(crate) struct Args {
    /// The device to time: gpu[:N], or cpu; or the emulator, whose times mean nothing
    #[arg(long, default_value = "gpu", value_parser = crate::offers::devices(), hide_possible_values = true)]
    device: DeviceName,
    /// Only workloads whose names hold this
    #[arg(long, value_name = "PATTERN")]
    only: Option<String>,
    /// A few workloads of small images, each once: shows that all works, and no speed
    #[arg(long)]
    quick: bool,
    /// Write the table to this file
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
    /// Report as one JSON object on stdout
    #[arg(long)]
    json: bool,
    /// Say nothing while it runs
    #[arg(long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let pattern = args.only.as_deref().unwrap_or("");
    if args.device == DeviceName::Cpu {
        return run_cpu(args, pattern, start);
    }
    let works: Vec<_> = works::works(args.quick)?
        .into_iter()
        .filter(|(_, problem)| Work::of(problem).to_string().contains(pattern))
        .collect();
    if works.is_empty() {
        return Err(Error::Usage(format!("no workload's name holds '{pattern}'; one is 'f32 8192x8192 mask 5x5'")));
    }
    let write = args.write.as_deref().map(OutputPath::new).transpose()?;
    let device = Device::open(args.device)?;
    let Some(machine) = device.machine() else {
        let name = device.name();
        return Err(Error::Usage(format!("the {name} device has one variant of each operation: nothing to tune")));
    };
    let mut found = Vec::new();
    let mut bursts = Bursts::new(&device)?;
    let mut last: Option<(Picture, DeviceImage)> = None;
    for (picture, problem) in &works {
        if !args.quiet && !args.json {
            complain(&Work::of(problem).to_string());
        }
        let image = match last.take() {
            Some((made, image)) if made == *picture => image,
            _ => {
                let image = device.upload(&picture.make()?)?;
                // The GPU lowered its clock while the host generated the image.
                if !args.quick {
                    let task = Task { device: &device, problem, image: &image };
                    warm_up(|| task.solve(None, None)?.report().map(drop))?;
                }
                image
            }
        };
        found.push(sweep::sweep(&Task { device: &device, problem, image: &image }, &mut bursts, args.quick)?);
        last = Some((*picture, image));
    }
    let ordinal = if let DeviceName::Gpu(ordinal) = device.name() { Some(ordinal) } else { None };
    let mut facts: Vec<_> = machine::facts(ordinal).into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    let gpu = facts.iter().find(|(key, _)| key == "gpu").map_or(device.name().to_string(), |(_, name)| name.clone());
    facts.push((
        "sweep".into(),
        format!("apron tune, {} workloads in {:.0} s", works.len(), start.elapsed().as_secs_f64()),
    ));
    let sweep = Sweep { device: device.name().to_string(), gpu, machine, facts, found };
    print(&if args.json { format!("{}\n", sweep.json()) } else { sweep.text() })?;
    if let Some(write) = write {
        write.write(|file| Ok(file.write_all(sweep.table().as_bytes())?))?;
    }
    match sweep.failures().count() {
        0 => Ok(()),
        failed => {
            sweep.failures().for_each(|failure| complain(&failure));
            Err(Error::Failed(format!("{failed} of {} workloads failed", works.len())))
        }
    }
}

/// Times the CPU.
fn run_cpu(args: &Args, pattern: &str, start: Instant) -> Result<()> {
    let write = args.write.as_deref().map(OutputPath::new).transpose()?;
    let (device, mut rows) = (Device::cpu(), Vec::new());
    let mut last: Option<(Picture, AnyImage<'static>)> = None;
    for (picture, problem) in cpu::works(args.quick)? {
        let work = Work::of(&problem);
        if !work.to_string().contains(pattern) {
            continue;
        }
        if !args.quiet && !args.json {
            complain(&work.to_string());
        }
        if last.as_ref().is_none_or(|(made, _)| *made != picture) {
            last = Some((picture, picture.make()?));
        }
        if let Some((_, image)) = &last {
            let ms = cpu::time(&device, &problem, image, args.quick)?;
            rows.push((problem, ms));
        }
    }
    if rows.is_empty() {
        return Err(Error::Usage(format!("no workload's name holds '{pattern}'; one is 'f32 2048x2048 mask 5x5'")));
    }
    let mut facts: Vec<_> = machine::facts(None).into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    let cpu = facts.iter().find(|(key, _)| key == "cpu").map_or(String::new(), |(_, name)| name.clone());
    let took = start.elapsed().as_secs_f64();
    facts.push(("sweep".into(), format!("apron tune --device cpu, {} workloads in {took:.0} s", rows.len())));
    let table = cpu::table(&cpu, &facts, &rows);
    if args.json {
        let name = |problem| Work::of(problem).to_string();
        let rows = rows.iter().map(|(problem, ms)| serde_json::json!({ "work": name(problem), "ms": ms }));
        print(&format!("{}\n", serde_json::json!({ "device": "cpu", "rows": rows.collect::<Vec<_>>() })))?;
    } else {
        print(&table)?;
    }
    write.map_or(Ok(()), |write| Ok(write.write(|file| Ok(file.write_all(table.as_bytes())?))?))
}

/// Keeps the device busy until its clock has risen.
fn warm_up(run: impl Fn() -> apron::Result<()>) -> apron::Result<()> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(100) {
        run()?;
    }
    Ok(())
}
