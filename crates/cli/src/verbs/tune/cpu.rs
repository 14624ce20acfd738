//! `apron tune --device cpu`: the times by which `auto` estimates jobs on the CPU.

use super::works::{correlate, histogram, mean, picture, separable, shape, uneven};
use crate::verbs::bench::images::Picture;
use crate::verbs::bench::{median, milliseconds};
use apron::{AnyImage, Device, PixelType, PointOp, Result};
use apron_core::{FilterProblem, LocalStd, Pointwise, Problem};
use apron_plan::tuning::Work;
use apron_testkit::histogram_of;
use std::fmt::Write;
use std::time::{Duration, Instant};

use PixelType::{F16, F32, I16, U8, U16};

/// Pairs of types; others are estimated by the nearest of them.
const TYPES: &[(PixelType, PixelType)] =
    &[(F32, F32), (U8, U8), (U16, U16), (U8, F32), (F32, U8), (F16, F16), (U8, I16)];
/// Widths and heights: a small image, and one large enough for each thread to get several rows.
const SIZES: [(u32, u32); 2] = [(256, 256), (2048, 2048)];
const SEPARABLE: &[u32] = &[3, 9, 17, 33, 65, 257];
const DENSE: &[u32] = &[3, 5, 7, 15, 31, 64];
const BOXES: &[u32] = &[3, 15, 63, 255];
const DEVIATIONS: &[u32] = &[15, 63];
/// Products above which a workload is left out: it is estimated from fewer taps.
const MOST_PRODUCTS: u64 = 1 << 33;

/// Columns of the table, which stands in src/auto/cpu.csv.
const COLUMNS: &str = "cpu,threads,operation,src,dst,side,samples,ms";

/// Returns all workloads, grouped by image; for a quick sweep few, of a small image.
pub(super) fn works(quick: bool) -> Result<Vec<(Picture, Problem)>> {
    let mut works = Vec::new();
    let sizes = if quick { &[(32, 32)] } else { &SIZES[..] };
    let few = |sides: &'static [u32]| if quick { &sides[..1] } else { sides };
    for &size in sizes {
        for &(src, dst) in TYPES {
            let picture = picture(src, size, 1);
            let shape = shape(&picture)?;
            let mut add = |problem: Problem| -> Result<()> {
                let side = Work::of(&problem).side as u64;
                let taps = if problem.operation() == "correlate" { side * side } else { side };
                if picture.samples() * taps <= MOST_PRODUCTS {
                    works.push((picture, problem));
                }
                Ok(())
            };
            for &taps in few(SEPARABLE) {
                add(separable(&picture, dst, uneven(taps))?)?;
            }
            for &side in few(DENSE) {
                add(correlate(&picture, dst, side, uneven(side * side))?)?;
            }
            for &side in few(BOXES) {
                if let Problem::Filter(mean) = mean(&picture, dst, side)?
                    && let Ok(by_method) = mean.by_method(None)
                    && let FilterProblem::Box(_) = by_method.problem
                {
                    add(by_method.problem.into())?;
                }
            }
            for &side in few(DEVIATIONS) {
                let (border, extent) = Default::default();
                add(FilterProblem::LocalStd(LocalStd { shape, src, dst, width: side, height: side, border, extent })
                    .into())?;
            }
            let op = PointOp::weighted(0.5, 0.0, 1.0);
            add(FilterProblem::Pointwise(Pointwise { shape, src, second: None, dst, op }).into())?;
            if src == dst && src != F16 {
                add(histogram(&picture, 256)?)?;
            }
        }
    }
    Ok(works)
}

/// Returns the time of a workload from host memory to host memory that was touched before, in milliseconds.
pub(super) fn time(device: &Device, problem: &Problem, image: &AnyImage<'_>, quick: bool) -> Result<f64> {
    let mut room = match problem {
        Problem::Filter(filter) => Some(AnyImage::from_bytes(filter.dst(), filter.window()?.out, |bytes| {
            bytes.fill(1);
            Ok(())
        })?),
        _ => None,
    };
    let mut run = || -> Result<Duration> {
        let start = Instant::now();
        match (problem, &mut room) {
            (Problem::Filter(filter), Some(room)) => device.solve_into(filter, image, None, None, room)?,
            (Problem::Count(problem), _) => drop(histogram_of(device, problem, image).run()?),
            _ => {}
        }
        Ok(start.elapsed())
    };
    let (least, total) = if quick { (1, Duration::ZERO) } else { (5, Duration::from_millis(60)) };
    run()?;
    let (mut times, start) = (Vec::new(), Instant::now());
    while times.len() < least || (start.elapsed() < total && times.len() < 200) {
        times.push(run()?);
    }
    times.sort();
    // Other programs only ever make a run slower.
    Ok(milliseconds(times[0]).min(median(times)))
}

/// Formats the table.
pub(super) fn table(cpu: &str, facts: &[(String, String)], rows: &[(Work, f64)]) -> String {
    let mut text: String = facts.iter().map(|(key, value)| format!("# {key}: {value}\n")).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let _ = writeln!(text, "{COLUMNS}");
    let cpu = cpu.replace(',', " ");
    for (work, ms) in rows {
        let samples = work.width as u64 * work.height as u64 * work.channels as u64;
        let Work { operation, src, dst, side, .. } = work;
        let _ = writeln!(text, "{cpu},{threads},{operation},{src},{dst},{side},{samples},{ms:.5}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_timed_and_stands_in_the_table() {
        let mut rows = Vec::new();
        for (picture, problem) in works(true).unwrap() {
            let ms = time(&Device::cpu(), &problem, &picture.make().unwrap(), true).unwrap();
            rows.push((Work::of(&problem), ms));
        }
        let operations = ["separable", "correlate", "box", "local-std", "pointwise", "histogram"];
        assert!(operations.iter().all(|operation| rows.iter().any(|(work, _)| work.operation == *operation)));
        let text = table("A, B", &[("cpu".into(), "A, B".into())], &rows);
        let mut lines = text.lines();
        assert_eq!((lines.next(), lines.next()), (Some("# cpu: A, B"), Some(COLUMNS)));
        assert!(lines.clone().all(|line| line.split(',').count() == 8 && line.starts_with("A  B,")), "{text}");
        assert_eq!(lines.count(), rows.len());
    }
}
