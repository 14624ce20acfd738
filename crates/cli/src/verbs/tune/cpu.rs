//! `apron tune --device cpu`: the times by which `auto` estimates jobs on the CPU.

use super::works::{correlate, histogram, mean, picture, separable, shape, uneven};
use crate::verbs::bench::images::Picture;
use crate::verbs::bench::{median, milliseconds};
use apron::volumes::{VolumeBorders, VolumeExtent, VolumeMask, VolumeWeights};
use apron::{AnyImage, Border, Cast, Device, Extent, Mask, PixelType, PointOp, Result, Taps, timed_as};
use apron_core::{Fft, FilterProblem, LocalStd, Pointwise, Problem, Scaled, VolumeFilter, Weights};
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
/// Sides of masks that are transformed, of types whose sums are f32.
const TRANSFORMED: &[u32] = &[7, 31, 127];
/// Taps along each axis, and sides of masks, of sums with integer results that are scaled.
const SCALED: (&[u32], &[u32]) = (&[3, 17, 65], &[3, 7, 15]);
/// As [`SCALED`], of volumes, for these types.
const VOLUMES: (&[u32], &[u32]) = (&[3, 9, 33], &[3, 5, 7]);
const VOLUME_TYPES: &[(PixelType, PixelType)] = &[(F32, F32), (U8, U8), (U16, U16)];
/// Width, height and depth of volumes, of as many voxels as [`SIZES`] have pixels.
const VOLUME_SIZES: [[u32; 3]; 2] = [[32, 32, 64], [128, 128, 256]];
/// Products above which a workload is left out: it is estimated from fewer taps.
const MOST_PRODUCTS: u64 = 1 << 33;

/// Columns of the table src/auto/cpu.csv.
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
                let taps = if matches!(timed_as(&problem), "correlate" | "scaled") { side * side } else { side };
                if picture.samples() * taps <= MOST_PRODUCTS {
                    works.push((picture, problem));
                }
                Ok(())
            };
            for &taps in few(SEPARABLE) {
                add(separable(&picture, dst, uneven(taps))?)?;
            }
            for &side in few(DENSE) {
                add(correlate(&picture, dst, [side; 2], uneven(side * side))?)?;
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
            let (border, extent, factor, offset) = (Border::Replicate, Extent::Same, 0.5, 1.0);
            for &side in few(TRANSFORMED).iter().filter(|_| dst == F32) {
                let mask = Mask::new(side, side, uneven(side * side))?;
                add(FilterProblem::Fft(Fft { shape, src, mask, border, extent }).into())?;
            }
            let scaled = |weights| {
                FilterProblem::Scaled(Scaled { shape, src, dst, weights, factor, offset, border, extent }).into()
            };
            for &taps in few(SCALED.0).iter().filter(|_| !dst.is_float()) {
                let taps = Taps::new(uneven(taps))?;
                add(scaled(Weights::Separable(taps.clone(), taps)))?;
            }
            for &side in few(SCALED.1).iter().filter(|_| !dst.is_float()) {
                add(scaled(Weights::Dense(Mask::new(side, side, uneven(side * side))?)))?;
            }
            let op = PointOp::weighted(0.5, 0.0, 1.0);
            add(FilterProblem::Pointwise(Pointwise { shape, src, second: None, dst, op }).into())?;
            if src == dst && src != F16 {
                add(histogram(&picture, 256)?)?;
            }
        }
    }
    let sizes = if quick { &[[16, 8, 8]] } else { &VOLUME_SIZES[..] };
    for &[width, height, depth] in sizes {
        for &(src, dst) in VOLUME_TYPES {
            let picture = picture(src, (width, height * depth), 1);
            let mut add = |weights| -> Result<()> {
                let (shape, divisor, cast, extent) = (shape(&picture)?, 1.0, Cast::default(), VolumeExtent::Same);
                let borders = VolumeBorders::from(Border::Replicate);
                let stored = false;
                let filter = VolumeFilter { shape, depth, src, dst, weights, divisor, cast, stored, borders, extent };
                works.push((picture, FilterProblem::Volume(filter).into()));
                Ok(())
            };
            for &taps in few(VOLUMES.0) {
                let taps = || Taps::new(uneven(taps));
                add(VolumeWeights::Separable([taps()?, taps()?, taps()?]))?;
            }
            for &side in few(VOLUMES.1) {
                let taps: Vec<f64> = uneven(side.pow(3)).into_iter().map(f64::from).collect();
                add(VolumeWeights::Dense(VolumeMask::new(side, side, side, taps)?))?;
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
pub(super) fn table(cpu: &str, facts: &[(String, String)], rows: &[(Problem, f64)]) -> String {
    let mut text: String = facts.iter().map(|(key, value)| format!("# {key}: {value}\n")).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let _ = writeln!(text, "{COLUMNS}");
    let cpu = cpu.replace(',', " ");
    for (problem, ms) in rows {
        let (Work { src, dst, side, width, height, channels, .. }, operation) = (Work::of(problem), timed_as(problem));
        let samples = width as u64 * height as u64 * channels as u64;
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
            rows.push((problem, ms));
        }
        let operations = [
            "separable",
            "correlate",
            "fft",
            "scaled",
            "scaled-separable",
            "box",
            "local-std",
            "pointwise",
            "volume",
            "volume-separable",
            "histogram",
        ];
        assert!(operations.iter().all(|operation| rows.iter().any(|(problem, _)| timed_as(problem) == *operation)));
        let text = table("A, B", &[("cpu".into(), "A, B".into())], &rows);
        let mut lines = text.lines();
        assert_eq!((lines.next(), lines.next()), (Some("# cpu: A, B"), Some(COLUMNS)));
        assert!(lines.clone().all(|line| line.split(',').count() == 8 && line.starts_with("A  B,")), "{text}");
        assert_eq!(lines.count(), rows.len());
    }
}
