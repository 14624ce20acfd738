//! Estimated times of jobs on a GPU whose data comes from the host.

use apron_core::PixelType;
use apron_plan::tuning::Work;
use std::sync::LazyLock;

/// Time of a call, its launches and the threads of its copies, in milliseconds.
const CALL_MS: f64 = 0.25;
/// Bytes that a thread copies between pageable and pinned memory per millisecond, and most bytes that cross the bus,
/// both directions together. Measured: docs/decisions/auto.md.
const THREAD_BYTES: f64 = 3.2e6;
const BUS_BYTES: f64 = 48e6;
/// Bytes that kernels move, and products that they sum, per millisecond: half of what an H100 does.
const KERNEL_BYTES: f64 = 1.2e9;
const KERNEL_TAPS: f64 = 8e9;

/// Threads that copy.
static THREADS: LazyLock<f64> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).min(16) as f64);

/// Returns the estimated time of a job that reads and returns these bytes of the host, in milliseconds.
pub(super) fn ms(works: &[Work], (read, written): (u64, u64)) -> f64 {
    let copies = (read + written) as f64 / (THREAD_BYTES * *THREADS).min(BUS_BYTES);
    CALL_MS + copies + works.iter().map(kernels_ms).sum::<f64>()
}

fn kernels_ms(work: &Work) -> f64 {
    let samples = work.width as f64 * work.height as f64 * work.channels as f64;
    let bytes = samples * (work.src.size_bytes() + work.dst.size_bytes()) as f64;
    let side = work.side as f64;
    let taps = match work.operation {
        "correlate" => side * side,
        "separable" | "paired" => 2.0 * side,
        _ => 4.0,
    };
    // Sums with integer results are f64.
    let taps = if work.dst == PixelType::F32 { taps } else { 2.0 * taps };
    (bytes / KERNEL_BYTES).max(taps * samples / KERNEL_TAPS)
}
