//! Estimated times of jobs on a GPU whose data comes from the host.

use apron_core::{Correlate, Fft, FilterProblem, PixelType, Problem, Separable, VolumeWeights, Weights};
use apron_plan::tuning::Work;
use std::sync::LazyLock;

/// Time of a call, its launches and the threads of its copies, in milliseconds.
const CALL_MS: f64 = 0.25;
/// Bytes that a thread copies between pageable and pinned memory per millisecond, and most bytes that cross the bus,
/// both directions together. Measured: docs/decisions/auto.md.
const THREAD_BYTES: f64 = 3.2e6;
const BUS_BYTES: f64 = 48e6;
/// Bytes that kernels move, and products that they sum, per millisecond: half of the rates of an H100.
const KERNEL_BYTES: f64 = 1.2e9;
const KERNEL_TAPS: f64 = 8e9;

/// Threads that copy.
static THREADS: LazyLock<f64> =
    LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).min(16) as f64);

/// Returns the estimated time of a job that reads and returns these bytes of the host, in milliseconds.
pub(super) fn ms(problems: &[Problem], (read, written): (u64, u64)) -> f64 {
    let copies = (read + written) as f64 / (THREAD_BYTES * *THREADS).min(BUS_BYTES);
    CALL_MS + copies + problems.iter().map(kernels_ms).sum::<f64>()
}

fn kernels_ms(problem: &Problem) -> f64 {
    let work = Work::of(problem);
    let samples = work.width as f64 * work.height as f64 * work.channels as f64;
    let bytes = samples * (work.src.size_bytes() + work.dst.size_bytes()) as f64;
    let taps = match problem {
        Problem::Filter(filter) => products(filter),
        Problem::Count(_) | Problem::Map(_) | Problem::Measure(_) => FEW,
    };
    // Sums with integer results are f64.
    let taps = if work.dst == PixelType::F32 { taps } else { 2.0 * taps };
    (bytes / KERNEL_BYTES).max(taps * samples / KERNEL_TAPS)
}

/// Products per sample of an operation without weights, about.
const FEW: f64 = 4.0;

/// Returns the products per sample of a filter.
fn products(filter: &FilterProblem) -> f64 {
    let by_axis = |x: u32, y: u32| f64::from(x) + f64::from(y);
    match filter {
        FilterProblem::Correlate(Correlate { mask, .. }) => f64::from(mask.width()) * f64::from(mask.height()),
        FilterProblem::Separable(Separable { taps_x, taps_y, .. }) => by_axis(taps_x.len(), taps_y.len()),
        FilterProblem::LowRank(sum) => sum.terms.iter().map(|(x, y)| by_axis(x.len(), y.len())).sum(),
        FilterProblem::Fft(problem) => butterflies(problem),
        FilterProblem::Scaled(problem) => match &problem.weights {
            Weights::Dense(mask) => f64::from(mask.width()) * f64::from(mask.height()),
            Weights::Separable(x, y) => by_axis(x.len(), y.len()),
        },
        FilterProblem::Paired(problem) => {
            problem.parts().filter_map(|part| problem.filter(part)).map(|part| products(&part)).fold(0.0, f64::max)
        }
        FilterProblem::Volume(problem) => match &problem.weights {
            VolumeWeights::Dense(mask) => mask.count() as f64,
            VolumeWeights::Separable(_) => problem.weights.count() as f64,
        },
        FilterProblem::Box(_) | FilterProblem::LocalStd(_) | FilterProblem::Pointwise(_) | FilterProblem::Pad(_) => FEW,
    }
}

/// Returns the operations per output of transforms, as [`Fft`] counts them: 14 per butterfly, both ways.
fn butterflies(problem: &Fft) -> f64 {
    let Ok(tiling) = problem.tiling() else { return FEW };
    let area = |sides: [u32; 2]| f64::from(sides[0]) * f64::from(sides[1]);
    let (numbers, outputs) = (area(tiling.sides) / 2.0, area(tiling.outputs));
    14.0 * numbers * numbers.log2() / outputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, Mask, Scaled, Shape, Taps};

    /// Products of filters are those of their taps, whatever the operation is called.
    #[test]
    fn products_are_counted_by_the_weights() {
        let (shape, src, dst) = (Shape::new(512, 512, 1).unwrap(), PixelType::U8, PixelType::U8);
        let (border, extent, factor, offset) = (Border::Replicate, Extent::Same, 2.0, 0.0);
        let scaled = |weights| products(&Scaled { shape, src, dst, weights, factor, offset, border, extent }.into());
        let taps = |count: usize| Taps::new(vec![1.0; count]).unwrap();
        let mask = |side: u32| Mask::new(side, side, vec![1.0; (side * side) as usize]).unwrap();
        assert_eq!(scaled(Weights::Dense(mask(7))), 49.0);
        assert_eq!(scaled(Weights::Separable(taps(7), taps(5))), 12.0);
        // Transforms hardly depend on the mask: far below its 3969 products.
        let fft = |side| products(&Fft { shape, src, mask: mask(side), border, extent }.into());
        assert!((50.0..400.0).contains(&fft(31)) && (50.0..600.0).contains(&fft(63)), "{} {}", fft(31), fft(63));
    }
}
