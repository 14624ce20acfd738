//! Estimated times of problems on the CPU: of the nearest measured workload, scaled to the samples, taps and threads.
//!
//! The times are data, `cpu.csv`, as `apron tune --device cpu` prints them.

use apron_core::PixelType;
use apron_plan::tuning::Work;
use std::sync::LazyLock;

/// A measured workload.
struct Row {
    threads: f64,
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
pub(super) fn ms(works: &[Work]) -> f64 {
    works.iter().map(|work| work_ms(work, &ROWS, *THREADS)).sum()
}

fn work_ms(work: &Work, rows: &[Row], threads: f64) -> f64 {
    let samples = work.width as f64 * work.height as f64 * work.channels as f64;
    let side = work.side as f64;
    let ratio = |a: f64, b: f64| (a / b).ln().abs();
    // Operation first, then threads, types, side and size; scaling is least wrong from the nearest.
    let distance = |row: &Row| {
        // f64 takes about twice the time of f32.
        let single = |pixel| if pixel == PixelType::F64 { PixelType::F32 } else { pixel };
        let types = f64::from(row.src != single(work.src)) + f64::from(row.dst != single(work.dst));
        1e6 * f64::from(row.operation != like(work.operation))
            + 1e3 * types
            + 30.0 * ratio(row.side, side)
            + 3.0 * ratio(row.threads, threads)
            + ratio(row.samples, samples)
    };
    let Some(row) = rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))) else { return 0.0 };
    let taps = match like(work.operation) {
        "correlate" => (side / row.side).powi(2),
        "separable" => side / row.side,
        _ => 1.0,
    };
    let doubles = if work.dst == PixelType::F64 && row.dst != work.dst { 2.0 } else { 1.0 };
    let share = samples / row.samples * (row.threads / threads) * doubles;
    row.ms * taps * share
}

/// Returns the measured operation whose time an operation's is like.
fn like(operation: &'static str) -> &'static str {
    match operation {
        "paired" => "separable",
        "weighted" | "joint" | "stats" => "histogram",
        "pad" | "lookup" | "equalize" | "clahe" => "pointwise",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(operation: &'static str, side: u32, width: u32) -> Work {
        let (src, dst) = (PixelType::U8, PixelType::U8);
        Work { operation, src, dst, exact: false, aligned: true, channels: 1, side, width, height: 1000 }
    }

    #[test]
    fn times_are_scaled_from_the_nearest_workload() {
        let text = [
            "Some CPU,4,separable,u8,u8,9,1000000,8.0",
            "Some CPU,4,separable,u8,u8,33,1000000,20.0",
            "Some CPU,4,separable,f32,f32,9,1000000,5.0",
            "Some CPU,4,correlate,u8,u8,9,1000000,40.0",
            "# a comment",
        ];
        let rows: Vec<Row> = text.into_iter().filter_map(row).collect();
        assert_eq!(rows.len(), 4);
        let ms = |operation, side, width, threads| work_ms(&work(operation, side, width), &rows, threads);
        assert_eq!(ms("separable", 9, 1000, 4.0), 8.0);
        assert_eq!(ms("separable", 18, 2000, 8.0), 20.0 * 18.0 / 33.0);
        assert_eq!(ms("paired", 9, 500, 2.0), 8.0);
        assert_eq!(ms("correlate", 18, 1000, 4.0), 160.0);
        assert_eq!(work_ms(&work("separable", 9, 1000), &[], 4.0), 0.0);
    }

    #[test]
    fn all_measured_times_are_read() {
        let lines = include_str!("cpu.csv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(ROWS.len(), lines - 1, "all but the heading");
        let small = work_ms(&work("separable", 9, 1000), &ROWS, 2.0);
        assert!((0.1..50.0).contains(&small), "{small}");
    }
}
