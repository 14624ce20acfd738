//! `apron bench --auto`: whether `auto` takes the faster device, from host memory to host memory.

use super::{Pace, median};
use crate::error::{Error, Result};
use apron::{AnyImage, Device, DeviceName, Image, Mask, Pixel, Target};
use std::fmt::Write;
use std::time::{Duration, Instant};

const SIDES: [u32; 9] = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const FILTERS: [&str; 3] = ["gaussian", "box15", "dense5x5"];
/// Runs of `auto` before it is timed: it learns from the times of jobs, and opens the GPU when that would have paid.
const LEARNING_RUNS: u32 = 4;
/// How much slower than the faster device `auto` may be.
const ALLOWED: f64 = 1.15;

/// Times of a filter of one size, in milliseconds.
struct Row {
    name: String,
    cpu: f64,
    device: f64,
    auto: f64,
}

impl Row {
    /// Returns the time of `auto` over that of the faster device.
    fn ratio(&self) -> f64 {
        self.auto / self.cpu.min(self.device)
    }
}

pub(super) struct Table {
    device: DeviceName,
    rows: Vec<Row>,
}

/// Times the filters whose names hold `pattern`.
pub(super) fn run(device: &Device, pattern: &str, (pace, quick): (Pace, bool), tell: impl Fn(&str)) -> Result<Table> {
    let (cpu, auto) = (Device::cpu(), Device::auto());
    let sides = if quick { &SIDES[..2] } else { &SIDES[..] };
    // Opens the GPU of `auto`, as a program with many jobs does.
    auto.upload(&Image::new(1, 1, 1, vec![0u8])?)?;
    let mut rows = Vec::new();
    for pixel in ["u8", "f32"] {
        for &side in sides {
            let name = |filter: &str| format!("{filter} {pixel} {side}x{side}");
            let asked: Vec<&str> = FILTERS.into_iter().filter(|filter| name(filter).contains(pattern)).collect();
            let told = |filter: &str| tell(&name(filter));
            let times = match pixel {
                "u8" => timed::<u8>(&asked, side, [&cpu, device, &auto], pace, told)?,
                _ => timed::<f32>(&asked, side, [&cpu, device, &auto], pace, told)?,
            };
            rows.extend(asked.iter().zip(times).map(|(filter, [cpu, device, auto])| Row {
                name: name(filter),
                cpu,
                device,
                auto,
            }));
        }
    }
    // By filter: each image was made once.
    rows.sort_by_key(|row| FILTERS.iter().position(|filter| row.name.starts_with(filter)));
    match rows.is_empty() {
        true => {
            Err(Error::Usage(format!("no filter's name holds '{pattern}'; the first of them is 'gaussian u8 64x64'")))
        }
        false => Ok(Table { device: device.name(), rows }),
    }
}

/// Times filters on each device, one run of each after the other: the medians, in milliseconds.
fn timed<T: Pixel + From<u8>>(
    filters: &[&str],
    side: u32,
    devices: [&Device; 3],
    pace: Pace,
    tell: impl Fn(&str),
) -> Result<Vec<[f64; 3]>> {
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    let image = Image::from_fn(side, side, 1, |x, y, _| T::from((x * x / 7 + y * 3 + x * y / 5) as u8))?;
    let mask = Mask::new(5, 5, (0..25).map(|i| (i % 7) as f32 / 75.0).collect::<Vec<_>>())?;
    let mut out: AnyImage<'_> = T::into_any(image.clone());
    let mut run = |filter: &str, device: &Device| -> Result<Duration> {
        let target = Target::from(&mut out);
        let start = Instant::now();
        match filter {
            "gaussian" => device.gaussian(&image, 2.0).run_into(target)?,
            "box15" => device.box_filter(&image, 15, 15).run_into(target)?,
            _ => device.correlate(&image, &mask).run_into(target)?,
        }
        Ok(start.elapsed())
    };
    let mut medians = Vec::new();
    for filter in filters {
        tell(filter);
        for device in devices {
            for _ in 0..LEARNING_RUNS {
                run(filter, device)?;
            }
        }
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..pace.reps {
            for (times, device) in times.iter_mut().zip(devices) {
                times.push(run(filter, device)?);
            }
        }
        medians.push(times.map(median));
    }
    Ok(medians)
}

impl Table {
    /// Formats a table.
    pub(super) fn text(&self) -> String {
        let mut text =
            format!("from host to host, ms by the clock: cpu, {}, auto, auto over the faster\n", self.device);
        for row in &self.rows {
            let Row { name, cpu, device, auto } = row;
            let slow = if row.ratio() > ALLOWED { "  slow" } else { "" };
            let _ = writeln!(text, "{name:<28} {cpu:>9.3} {device:>9.3} {auto:>9.3} {:>6.2}{slow}", row.ratio());
        }
        let slow = self.rows.iter().filter(|row| row.ratio() > ALLOWED).count();
        let _ = writeln!(text, "{slow} of {} are over {ALLOWED} times the faster device", self.rows.len());
        text
    }

    /// Formats a record.
    pub(super) fn csv(&self, facts: &[(String, String)]) -> String {
        let mut text: String = facts.iter().map(|(key, value)| format!("# {key}: {value}\n")).collect();
        let _ = writeln!(text, "work,cpu_ms,{}_ms,auto_ms", self.device);
        for Row { name, cpu, device, auto } in &self.rows {
            let _ = writeln!(text, "{name},{cpu:.4},{device:.4},{auto:.4}");
        }
        text
    }
}
