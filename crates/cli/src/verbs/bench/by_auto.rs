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
    // So that the GPU of `auto` is open, as it is in a program that goes on asking.
    auto.upload(&Image::new(1, 1, 1, vec![0u8])?)?;
    let mut rows = Vec::new();
    for filter in FILTERS {
        for pixel in ["u8", "f32"] {
            for &side in sides {
                let name = format!("{filter} {pixel} {side}x{side}");
                if !name.contains(pattern) {
                    continue;
                }
                tell(&name);
                let devices = [&cpu, device, &auto];
                let [cpu, device, auto] = match pixel {
                    "u8" => timed::<u8>(filter, side, devices, pace)?,
                    _ => timed::<f32>(filter, side, devices, pace)?,
                };
                rows.push(Row { name, cpu, device, auto });
            }
        }
    }
    match rows.is_empty() {
        true => {
            Err(Error::Usage(format!("no filter's name holds '{pattern}'; the first of them is 'gaussian u8 64x64'")))
        }
        false => Ok(Table { device: device.name(), rows }),
    }
}

/// Times a filter on each device, one run of each after the other: the medians, in milliseconds.
fn timed<T: Pixel + From<u8>>(filter: &str, side: u32, devices: [&Device; 3], pace: Pace) -> Result<[f64; 3]> {
    let image = Image::from_fn(side, side, 1, |x, y, _| T::from((x * x / 7 + y * 3 + x * y / 5) as u8))?;
    let mask = Mask::new(5, 5, (0..25).map(|i| (i % 7) as f32 / 75.0).collect::<Vec<_>>())?;
    let mut out: AnyImage<'_> = T::into_any(image.clone());
    let mut run = |device: &Device| -> Result<Duration> {
        let target = Target::from(&mut out);
        let start = Instant::now();
        match filter {
            "gaussian" => device.gaussian(&image, 2.0).run_into(target)?,
            "box15" => device.box_filter(&image, 15, 15).run_into(target)?,
            _ => device.correlate(&image, &mask).run_into(target)?,
        }
        Ok(start.elapsed())
    };
    for device in devices {
        for _ in 0..LEARNING_RUNS {
            run(device)?;
        }
    }
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..pace.reps {
        for (times, device) in times.iter_mut().zip(devices) {
            times.push(run(device)?);
        }
    }
    Ok(times.map(median))
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
