//! Estimated times of problems on the CPU: the time of the nearest measured workload, scaled to the samples, taps and
//! threads.
//!
//! The times are data, `cpu.csv`, as `apron tune --device cpu` prints them.

use apron_core::{FilterProblem, MapProblem, PixelType, Problem, VolumeWeights, Weights};
use apron_plan::tuning::Work;
use std::sync::LazyLock;

/// A measured workload.
struct Row {
    threads: f64,
    /// As [`timed_as`] names it.
    operation: &'static str,
    src: PixelType,
    dst: PixelType,
    side: f64,
    samples: f64,
    ms: f64,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| include_str!("cpu.csv").lines().filter_map(row).collect());

/// Threads of the CPU device.
static THREADS: LazyLock<f64> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from) as f64);

fn row(line: &'static str) -> Option<Row> {
    let [_, threads, operation, src, dst, side, samples, ms] = line.split(',').collect::<Vec<_>>()[..] else {
        return None;
    };
    let number = |text: &str| text.parse::<f64>().ok();
    Some(Row {
        threads: number(threads)?,
        operation,
        src: src.parse().ok()?,
        dst: dst.parse().ok()?,
        side: number(side)?,
        samples: number(samples)?,
        ms: number(ms)?,
    })
}

/// Returns the estimated time of problems, one after the other, in milliseconds.
pub(super) fn ms(problems: &[Problem]) -> f64 {
    problems.iter().map(|problem| problem_ms(problem, &ROWS, *THREADS)).sum()
}

fn problem_ms(problem: &Problem, rows: &[Row], threads: f64) -> f64 {
    let (work, operation) = (Work::of(problem), timed_as(problem));
    let samples = work.width as f64 * work.height as f64 * work.channels as f64;
    let side = work.side as f64;
    let ratio = |a: f64, b: f64| (a / b).ln().abs();
    // Operation first, then threads, types, side and size; scaling is least wrong from the nearest.
    let distance = |row: &Row| {
        // f64 takes about twice the time of f32.
        let single = |pixel| if pixel == PixelType::F64 { PixelType::F32 } else { pixel };
        let types = f64::from(row.src != single(work.src)) + f64::from(row.dst != single(work.dst));
        1e6 * f64::from(row.operation != operation)
            + 1e3 * types
            + 30.0 * ratio(row.side, side)
            + 3.0 * ratio(row.threads, threads)
            + ratio(row.samples, samples)
    };
    let Some(row) = rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else { return 0.0 };
    let taps = growth(problem).map_or(1.0, |power| (side / row.side).powi(power));
    let terms = if let Problem::Filter(FilterProblem::LowRank(sum)) = problem { sum.terms.len() as f64 } else { 1.0 };
    let doubles = if work.dst == PixelType::F64 && row.dst != work.dst { 2.0 } else { 1.0 };
    let share = samples / row.samples * (row.threads / threads) * doubles;
    row.ms * taps * terms * share
}

/// Returns the operation whose rows of `cpu.csv` give the estimate for a problem: its own, or one with a similar time.
/// The sweep names its rows accordingly.
pub fn timed_as(problem: &Problem) -> &'static str {
    match problem {
        Problem::Filter(filter) => match filter {
            FilterProblem::Correlate(_) => "correlate",
            FilterProblem::Separable(_) | FilterProblem::LowRank(_) | FilterProblem::Paired(_) => "separable",
            FilterProblem::Fft(_) => "fft",
            FilterProblem::Scaled(problem) => match problem.weights {
                Weights::Dense(_) => "scaled",
                Weights::Separable(..) => "scaled-separable",
            },
            FilterProblem::Box(_) => "box",
            FilterProblem::LocalStd(_) => "local-std",
            FilterProblem::Pointwise(_) | FilterProblem::Pad(_) => "pointwise",
            FilterProblem::Volume(problem) => match problem.weights {
                VolumeWeights::Dense(_) => "volume",
                VolumeWeights::Separable(_) => "volume-separable",
            },
        },
        Problem::Count(_) | Problem::Measure(_) => "histogram",
        Problem::Map(MapProblem::Lookup(_) | MapProblem::Equalize(_) | MapProblem::Clahe(_)) => "pointwise",
    }
}

/// Returns the power of the window's side with which the time grows; `None` if it hardly grows.
fn growth(problem: &Problem) -> Option<i32> {
    let Problem::Filter(filter) = problem else { return None };
    match filter {
        FilterProblem::Correlate(_) => Some(2),
        FilterProblem::Separable(_) | FilterProblem::LowRank(_) | FilterProblem::Paired(_) => Some(1),
        FilterProblem::Scaled(problem) => match problem.weights {
            Weights::Dense(_) => Some(2),
            Weights::Separable(..) => Some(1),
        },
        FilterProblem::Volume(problem) => match problem.weights {
            VolumeWeights::Dense(_) => Some(3),
            VolumeWeights::Separable(_) => Some(1),
        },
        FilterProblem::Fft(_)
        | FilterProblem::Box(_)
        | FilterProblem::LocalStd(_)
        | FilterProblem::Pointwise(_)
        | FilterProblem::Pad(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Correlate, Extent, Fft, LowRank, Mask, Scaled, Separable, Shape, Taps};

    const PIXEL: PixelType = PixelType::U8;

    fn shape(width: u32) -> Shape {
        Shape::new(width, 1000, 1).unwrap()
    }

    fn taps(side: u32) -> Taps {
        Taps::new(vec![1.0; side as usize]).unwrap()
    }

    fn mask(side: u32) -> Mask {
        Mask::new(side, side, vec![1.0; (side * side) as usize]).unwrap()
    }

    fn separable(side: u32, width: u32) -> Problem {
        let (border, extent) = (Border::Replicate, Extent::Same);
        let (taps_x, taps_y) = (taps(side), taps(side));
        Separable { shape: shape(width), src: PIXEL, dst: PIXEL, taps_x, taps_y, border, extent }.into()
    }

    fn scaled(weights: Weights) -> Problem {
        let (factor, offset, border, extent) = (0.5, 1.0, Border::Replicate, Extent::Same);
        Scaled { shape: shape(1000), src: PIXEL, dst: PIXEL, weights, factor, offset, border, extent }.into()
    }

    #[test]
    fn times_are_scaled_from_the_nearest_workload() {
        let text = [
            "Some CPU,4,separable,u8,u8,9,1000000,8.0",
            "Some CPU,4,separable,u8,u8,33,1000000,20.0",
            "Some CPU,4,separable,f32,f32,9,1000000,5.0",
            "Some CPU,4,correlate,u8,u8,9,1000000,40.0",
            "Some CPU,4,scaled,u8,u8,9,1000000,30.0",
            "Some CPU,4,scaled-separable,u8,u8,9,1000000,6.0",
            "Some CPU,4,fft,u8,f32,31,1000000,7.0",
            "# a comment",
        ];
        let rows: Vec<Row> = text.into_iter().filter_map(row).collect();
        assert_eq!(rows.len(), 7);
        let ms = |problem: &Problem, threads| problem_ms(problem, &rows, threads);
        assert_eq!(ms(&separable(9, 1000), 4.0), 8.0);
        assert_eq!(ms(&separable(18, 2000), 8.0), 20.0 * 18.0 / 33.0);
        let (border, extent, clamp) = (Border::Replicate, Extent::Same, false);
        let of_mask =
            |side| Correlate { shape: shape(1000), src: PIXEL, dst: PIXEL, mask: mask(side), border, clamp, extent };
        assert_eq!(ms(&of_mask(18).into(), 4.0), 160.0);
        assert_eq!(ms(&scaled(Weights::Dense(mask(18))), 4.0), 120.0);
        assert_eq!(ms(&scaled(Weights::Separable(taps(18), taps(18))), 4.0), 12.0);
        let fft = Fft { shape: shape(2000), src: PIXEL, mask: mask(60), border, extent };
        assert_eq!(ms(&fft.into(), 4.0), 14.0);
        let terms = vec![(taps(9), taps(9)); 3];
        let sum = LowRank { shape: shape(1000), src: PIXEL, terms, border, extent };
        assert_eq!(ms(&sum.into(), 4.0), 24.0);
        assert_eq!(problem_ms(&separable(9, 1000), &[], 4.0), 0.0);
    }

    #[test]
    fn all_measured_times_are_read() {
        let lines = include_str!("cpu.csv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(ROWS.len(), lines - 1, "all but the heading");
        let small = problem_ms(&separable(9, 1000), &ROWS, 2.0);
        assert!((0.1..50.0).contains(&small), "{small}");
        let operations = [
            "correlate",
            "separable",
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
        for operation in operations {
            assert!(ROWS.iter().any(|row| row.operation == operation), "{operation}");
        }
        assert!(ROWS.iter().all(|row| operations.contains(&row.operation)));
    }
}
