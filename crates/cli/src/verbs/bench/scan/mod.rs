//! `apron bench --scan`: whether cost follows the work, over ladders of taps, windows, bins, sizes and types.

mod chart;
mod ladders;
mod rule;

use super::burst::SHORT_MS;
use super::images::Picture;
use super::limits::{Limits, Rates};
use super::workloads::Workload;
use super::{Pace, median, milliseconds};
use crate::error::Result;
use apron::{Device, DeviceImage, DeviceName, PixelType};
use ladders::{Ladder, Scale};
use rule::{Cost, broken};
use std::fmt::Write;
use std::path::Path;

/// A measured point of a ladder.
struct Point {
    at: u32,
    workload: Workload,
    variant: String,
    cost: Cost,
    broken: Vec<String>,
}

/// A measured ladder.
struct Climbed {
    group: &'static str,
    series: String,
    points: Vec<Point>,
    /// Points that the device refused, with its reason.
    refused: Vec<String>,
}

/// The result of a scan.
pub(super) struct Scan {
    ladders: Vec<Climbed>,
    launch_ms: f64,
}

/// Measures the ladders whose group and series hold `pattern`.
pub(super) fn run(
    device: &Device,
    rates: &Rates,
    pattern: &str,
    (pace, quick): (Pace, bool),
    tell: impl Fn(&str),
) -> Result<Scan> {
    let scale = match device.name() {
        _ if quick => Scale::QUICK,
        DeviceName::Gpu(_) => Scale::GPU,
        _ => Scale::HOST,
    };
    let mut scanner = Scanner { device, rates, pace, limits: Limits::new(device, rates, pace)?, image: None };
    let launch_ms = scanner.time(&ladders::launch())?.ms;
    let mut climbed = Vec::new();
    for Ladder { group, series, points } in ladders::ladders(scale) {
        if !format!("{group} {series}").contains(pattern) {
            continue;
        }
        tell(&format!("{group}: {series}"));
        let mut ladder = Climbed { group, series, points: Vec::new(), refused: Vec::new() };
        for (at, workload) in points {
            let Timed { variant, ms, is_burst } = match scanner.time(&workload) {
                Ok(timed) => timed,
                Err(refused @ apron::Error::Unsupported { .. }) => {
                    ladder.refused.push(format!("{workload}: {refused}"));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let cost = Cost { ms, limit_ms: scanner.limit_ms(&workload, is_burst, launch_ms)? };
            let broken = broken(cost, ladder.points.last().map(|point| point.cost), launch_ms);
            ladder.points.push(Point { at, workload, variant, cost, broken });
        }
        climbed.push(ladder);
    }
    Ok(Scan { ladders: climbed, launch_ms })
}

/// The median time of a workload, in milliseconds.
struct Timed {
    variant: String,
    ms: f64,
    /// Whether it was timed in bursts.
    is_burst: bool,
}

struct Scanner<'a> {
    device: &'a Device,
    rates: &'a Rates,
    pace: Pace,
    limits: Limits<'a>,
    /// The last image, which the next point may share.
    image: Option<(Picture, DeviceImage)>,
}

/// Runs of at least this many milliseconds are timed once.
const LONG_MS: f64 = 50.0;

impl Scanner<'_> {
    /// Times a workload.
    fn time(&mut self, workload: &Workload) -> apron::Result<Timed> {
        let picture = workload.picture;
        // Drops an image of another picture first: they are large.
        let image = match self.image.take().filter(|(known, _)| *known == picture) {
            Some((_, image)) => image,
            None => self.device.upload(&picture.make()?)?,
        };
        let image = &self.image.insert((picture, image)).1;
        let run = || workload.enqueue(self.device, image);
        // Loads the kernels.
        let report = run()?.report()?;
        let first = run()?.report()?.kernels;
        let first = milliseconds(first);
        let is_burst = first < SHORT_MS;
        let ms = match first {
            long if long >= LONG_MS => long,
            _ if is_burst => median(self.limits.bursts.times(run)?),
            _ => {
                let runs =
                    (0..self.pace.reps).map(|_| Ok(run()?.report()?.kernels)).collect::<apron::Result<Vec<_>>>()?;
                median(runs)
            }
        };
        Ok(Timed { variant: report.variant, ms, is_burst })
    }

    /// Returns the least time of a workload on this machine, in milliseconds: a copy or read of its bytes, timed in the
    /// same way, or its multiply-adds, in f64 where the result is an integer (tensor cores may take less). A small copy
    /// on the host is done by one thread, so that there it is at least the time that other threads take to start.
    fn limit_ms(&mut self, workload: &Workload, is_burst: bool, launch_ms: f64) -> apron::Result<Option<f64>> {
        let is_float = matches!(workload.picture.pixel, PixelType::F32 | PixelType::F16);
        let ratio = self.device.machine().map_or(2, |machine| machine.f64_ratio);
        let ratio = if is_float { 1.0 } else { f64::from(ratio) };
        let is_gpu = matches!(self.device.name(), DeviceName::Gpu(_));
        let ffma_ms = workload.operations().and_then(|operations| self.rates.ffma_ms(operations));
        let least = self.limits.least(workload, is_burst, ffma_ms.map(|ms| ms * ratio))?;
        let start_ms = if is_gpu { 0.0 } else { launch_ms };
        Ok(least.map(|(_, ms)| ms.max(start_ms)))
    }
}

impl Scan {
    fn points(&self) -> impl Iterator<Item = (&Climbed, &Point)> {
        self.ladders.iter().flat_map(|ladder| ladder.points.iter().map(move |point| (ladder, point)))
    }

    /// Returns the points that break the rule, as lines of text, and a line that counts them.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String does not fail.
        for (ladder, point) in self.points().filter(|(_, point)| !point.broken.is_empty()) {
            let Cost { ms, limit_ms } = point.cost;
            let limit = limit_ms.map_or(String::new(), |limit| format!(" (limit {limit:.4})"));
            let (group, series, at) = (ladder.group, &ladder.series, point.at);
            let _ = writeln!(
                text,
                "{group}, {series}, {at}: {ms:.4} ms{limit}, {}: {}",
                point.variant,
                point.broken.join(", ")
            );
        }
        for refused in self.ladders.iter().flat_map(|ladder| &ladder.refused) {
            let _ = writeln!(text, "refused: {refused}");
        }
        let broken = self.points().filter(|(_, point)| !point.broken.is_empty()).count();
        let (all, ladders, launch) = (self.points().count(), self.ladders.len(), self.launch_ms);
        let _ = writeln!(
            text,
            "{broken} of {all} points of {ladders} ladders break the rule; a launch takes {launch:.4} ms"
        );
        text
    }

    /// Returns all points as CSV, after comments that say what was measured on.
    pub(super) fn csv(&self, facts: &[(String, String)]) -> String {
        let mut text: String = facts.iter().map(|(key, value)| format!("# {key}: {value}\n")).collect();
        text.push_str("group,series,at,work,variant,ms,limit_ms,times_the_limit,broken\n");
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.5}"));
        for (ladder, point) in self.points() {
            let Point { at, workload, variant, cost, broken } = point;
            let (limit, times) = (number(cost.limit_ms), number(cost.times()));
            let (group, series, broken) = (ladder.group, &ladder.series, broken.join("; "));
            let _ =
                writeln!(text, "{group},{series},{at},{workload},{variant},{:.5},{limit},{times},{broken}", cost.ms);
        }
        text
    }

    /// Draws a picture of each group into a folder, which is made if it is not there.
    pub(super) fn draw(&self, folder: &Path) -> Result<()> {
        chart::draw(folder, &self.ladders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quick_scan_has_a_point_for_each_rung() {
        let device = Device::cpu();
        let rates = Rates::measure(&device, Pace { reps: 1 }, true).unwrap();
        let scan = run(&device, &rates, "u8", (Pace { reps: 1 }, true), |_| {}).unwrap();
        let csv = scan.csv(&[("cpu".into(), "some".into())]);
        assert!(csv.starts_with("# cpu: some\ngroup,series,at,work,variant,ms"), "{csv}");
        assert_eq!(csv.lines().count(), 2 + scan.points().count());
        for group in
            ["separable by taps", "dense by side", "box by window", "by border", "composed", "percentiles by count"]
        {
            assert!(csv.contains(&format!("\n{group},u8")), "{group}: {csv}");
        }
        assert!(scan.text().contains("break the rule"), "{}", scan.text());
        let folder = tempfile::tempdir().unwrap();
        scan.draw(&folder.path().join("charts")).unwrap();
        let chart = std::fs::read_to_string(folder.path().join("charts/separable-by-taps.svg")).unwrap();
        assert!(chart.contains("<svg") && chart.contains("u8 x 4"), "{chart}");
    }
}
