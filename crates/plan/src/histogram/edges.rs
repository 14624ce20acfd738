//! Recipes of histograms between edges.

use super::{OPERATION, TOTALS, rounds, with_totals};
use crate::recipe::{Steps, launch};
use crate::variant::{For, Grids, Variant};
use crate::{Buffer, Launch, Machine, Recipe, Role, unsupported};
use apron_abi::{
    EDGES_BLOCK, EXTREMES_BLOCK, ElementType, Family, HISTOGRAM_COLUMNS, HistogramEdgesParams, HistogramExtremesParams,
    Kernel, Params, edges_bytes, nearest_edge,
};
use apron_core::{EdgeHistogram, PixelType, Result, Shape};

/// Bytes that a thread reads at once.
const READ: u64 = 16;
/// Such reads that it has in flight: what is worth a thread.
const READS_PER_THREAD: u64 = 4;

/// The edge nearest to a sample tells its bin.
fn nearest(problem: &EdgeHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    let (kernel, hint) = match problem.src {
        PixelType::F32 => (Kernel::histogram_nearest_edge_count_f32_u64, "use --variant histogram-edge-search"),
        PixelType::U16 => (Kernel::histogram_nearest_edge_count_u16_u64, BY_VALUE),
        PixelType::I16 => (Kernel::histogram_nearest_edge_count_i16_u64, BY_VALUE),
        pixel => return Err(unsupported(OPERATION, format!("edges of {pixel}"), "use --device cpu")),
    };
    let edges = edges(problem)?;
    match per_unit(&edges) {
        Some(per_unit) => count(problem, machine, kernel, edges, per_unit),
        None => {
            let (low, high) = (edges[0], edges[edges.len() - 1]);
            let what = format!("bins so narrow, {} from {low} to {high}", edges.len() - 1);
            Err(unsupported(OPERATION, what, hint))
        }
    }
}

/// What counts integers in any bins.
const BY_VALUE: &str = "use --variant histogram-slices";

/// The bin of a sample is searched.
fn search(problem: &EdgeHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    if problem.src != PixelType::F32 {
        return Err(unsupported(OPERATION, format!("searched edges of {}", problem.src), BY_VALUE));
    }
    count(problem, machine, Kernel::histogram_edge_search_count_f32_u64, edges(problem)?, 0.0)
}

/// The least and the largest sample of an f32 image, of all pixels or of those that a mask selects: pairs of them, one
/// for each block's share.
pub fn extremes(shape: Shape, masked: bool, machine: &Machine) -> Recipe {
    let (samples, channels) = (shape.samples(), shape.channels);
    let (kernel, beside) = match masked {
        false => (Kernel::histogram_nearest_edge_extremes_f32_f32, 0),
        true => (Kernel::histogram_slices_extremes_f32_f32, 2),
    };
    // As many threads as a multiprocessor holds.
    let most = machine.multiprocessors as u64 * (2048 / EXTREMES_BLOCK) as u64;
    let blocks = (samples * 4).div_ceil(EXTREMES_BLOCK as u64 * READ * READS_PER_THREAD).clamp(1, most);
    let mut buffers = vec![
        Buffer { role: Role::Input, element: ElementType::F32, elems: samples },
        Buffer { role: Role::Output, element: ElementType::F32, elems: 2 * blocks },
    ];
    if masked {
        buffers.push(Buffer { role: Role::Beside, element: ElementType::U8, elems: shape.pixels() });
    }
    let params = HistogramExtremesParams { samples, beside, channels, reserved: 0 };
    Recipe {
        operation: OPERATION,
        variant: kernel.facts().variant,
        why: "finds the range".into(),
        buffers,
        launches: vec![launch(kernel, blocks as u32, Params::HistogramExtremesParams(params))],
        images: 1,
    }
}

/// The edges as f32 numbers, which tell the same bin of every sample.
fn edges(problem: &EdgeHistogram) -> Result<Vec<f32>> {
    let edges = problem.edges()?;
    let edges = edges.values();
    if problem.src == PixelType::F32 {
        // So they are.
        return Ok(edges.iter().map(|&edge| edge as f32).collect());
    }
    // An integer is below an edge where it is below the least integer that is not. f32 holds all of 16 bits, and rounds only
    // what is far beyond them.
    let mut integers: Vec<f32> = edges.iter().map(|edge| edge.ceil() as f32).collect();
    // The end belongs to the last bin: up to the next integer.
    let end = edges.len() - 1;
    integers[end] = ((edges[end].floor() + 1.0) as f32).next_down();
    Ok(integers)
}

/// Edges in a unit, by which [`nearest_edge`] leads to the right bin for every sample in the range: to the
/// sample's bin, or to the next. `None` where there is no such number.
///
/// Nearest edges never fall as samples rise, so those of a bin's first and last sample bound those of
/// all between. They are right unless edges that were rounded to f32, and the three roundings of the
/// formula, put a sample half a bin away from its place: where bins are hardly wider than the steps of f32.
fn per_unit(edges: &[f32]) -> Option<f32> {
    let bins = edges.len() - 1;
    let (low, high) = (edges[0], edges[bins]);
    let per_unit = bins as f32 / (high - low);
    let leads = |bin: usize| {
        // The last bin has the range's end.
        let (first, last) = (edges[bin], if bin + 1 == bins { high } else { edges[bin + 1].next_down() });
        let nearest = |sample| nearest_edge(sample, low, per_unit, f32::mul_add) as usize;
        // A bin between equal edges has no samples.
        first > last || (nearest(first) >= bin && nearest(last) <= bin + 1)
    };
    // Samples below the first edge are nearest to that, or below it. Those above the last must not be nearer to
    // another.
    let ends = |per_unit| nearest_edge(high, low, per_unit, f32::mul_add) == bins as u32;
    (per_unit.is_finite() && ends(per_unit) && (0..bins).all(leads)).then_some(per_unit)
}

/// Counts by `kernel`, in one launch.
fn count(
    problem: &EdgeHistogram,
    machine: &Machine,
    kernel: Kernel,
    mut edges: Vec<f32>,
    per_unit: f32,
) -> Result<Steps> {
    let (samples, channels) = (problem.shape.samples(), problem.channels());
    let bins = (edges.len() - 1) as u32;
    let bytes = |columns| edges_bytes(bins, channels, columns);
    // A column for each lane, or as many as there is room for.
    let columns = (0..=HISTOGRAM_COLUMNS.ilog2()).rev().map(|log| 1 << log);
    let Some(columns) = columns.into_iter().find(|&columns| bytes(columns) <= machine.shared_bytes as u64) else {
        let what = format!(
            "{bins} bins of {} and {channels} channels, in {} bytes of shared memory",
            problem.src, machine.shared_bytes
        );
        return Err(unsupported(OPERATION, what, "use --device cpu"));
    };
    let low = edges[0];
    // So that the range's end, which belongs to the last bin, falls below an edge, and all numbers below the next.
    edges[bins as usize] = edges[bins as usize].next_up();
    edges.push(f32::INFINITY);
    // Blocks that fill the GPU, but no more than have enough to count; the kernel's threads then meet the
    // same channels in all that they read.
    let residents = machine.tuning.map_or(kernel.facts().residents, |tuning| tuning.residents);
    let most = machine.multiprocessors * residents / channels;
    let of_read = READ / problem.src.element().size_bytes() as u64;
    let enough = samples.div_ceil(EDGES_BLOCK as u64 * of_read).div_ceil(channels as u64);
    let blocks = enough.clamp(1, most.max(1) as u64) as u32 * channels;
    let rounds = rounds(samples, samples / of_read, blocks, EDGES_BLOCK)?;
    let params =
        HistogramEdgesParams { samples, totals: TOTALS, rounds, low, per_unit, bins, channels, columns, reserved: 0 };
    let params = Params::HistogramEdgesParams(params);
    let counting = Launch { shared_bytes: bytes(columns) as u32, taps: edges, ..launch(kernel, blocks, params) };
    with_totals(samples, bins * channels, counting)
}

const GRIDS: Grids = Grids::of_residents(&[1, 2, 4]);

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 10,
        grids: GRIDS,
        ..Variant::new(
            "histogram-nearest-edge",
            Family::Histogram,
            "f32, u16 and i16 pixels; bins as for histogram-edge-search, in a unit as many as f32 holds",
            &For(nearest),
        )
    },
    // Never the fastest: it stays because it takes bins that histogram-nearest-edge must refuse.
    Variant {
        rank: 20,
        grids: GRIDS,
        ..Variant::new(
            "histogram-edge-search",
            Family::Histogram,
            "f32 pixels; bins whose edges and counters shared memory holds: H100 29053, 4 channels apart 11620",
            &For(search),
        )
    },
];

#[cfg(test)]
mod tests {
    use crate::{Machine, untuned as plan};
    use apron_abi::{HistogramEdgesParams, Params, nearest_edge};
    use apron_core::{Bins, EdgeHistogram, PixelType, Problem, Shape};

    fn problem(count: usize, range: (f64, f64), channels: u32) -> EdgeHistogram {
        let (shape, bins) = (Shape::new(4096, 4096, channels).unwrap(), Bins { count, range: Some(range) });
        EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel: true }
    }

    fn params(problem: EdgeHistogram, machine: &Machine) -> (&'static str, u32, HistogramEdgesParams) {
        let recipe = plan(&Problem::from(problem), None, machine).unwrap();
        let launch = &recipe.launches[0];
        let Params::HistogramEdgesParams(params) = launch.params else { panic!("{recipe:?}") };
        assert!(launch.shared_bytes <= machine.shared_bytes && launch.blocks[0].is_multiple_of(params.channels));
        assert_eq!(launch.taps.len(), params.bins as usize + 2);
        (recipe.variant, launch.blocks[0], params)
    }

    #[test]
    fn ordinary_ranges_need_no_search() {
        for count in [1, 2, 3, 10, 255, 256, 1000, 5000, 29053] {
            for range in [(0.0, 1.0), (-1.0, 1.0), (0.1, 0.7), (-7e5, 3.0), (1e-30, 3e38), (-1e-40, 3.0), (3.0, 4.0)] {
                assert_eq!(
                    params(problem(count, range, 1), &Machine::EMULATED).0,
                    "histogram-nearest-edge",
                    "{count} {range:?}"
                );
            }
        }
    }

    #[test]
    fn ranges_that_f32_cannot_divide_are_searched() {
        // Their bins in a unit are more than f32 holds.
        let tiny = [(0.0, 4.3e-43), (1e-39, 3e-39), (-1e-38, 1e-38)];
        for range in tiny {
            assert_eq!(params(problem(256, range, 1), &Machine::EMULATED).0, "histogram-edge-search", "{range:?}");
        }
    }

    #[test]
    fn edges_far_from_their_places_are_not_proved() {
        assert_eq!(super::per_unit(&[0.0, 0.5, 1.0]), Some(2.0));
        // 0.8 is nearest to edge 2, and in bin 0; 0.2 is nearest to edge 0, and in bin 1.
        assert_eq!(super::per_unit(&[0.0, 0.9, 1.0]), None);
        assert_eq!(super::per_unit(&[0.0, 0.1, 1.0]), None);
        assert_eq!(super::per_unit(&[1.0, 1.0]), None);
    }

    /// The proof of [`super::per_unit`] against every sample of ranges with few.
    #[test]
    fn what_is_proved_of_a_bins_ends_holds_between_them() {
        let rising = |low: f32| std::iter::successors(Some(low), |x| Some(x.next_up()));
        let mut proved = 0;
        for (n, low) in (0..400).flat_map(|n| [(n, 1.0f32), (n, -0.75), (n, 1.9999995), (n, -1e-38)]) {
            // Bins of a step of f32 and more.
            for (steps, count) in [(n + 1, n % 61 + 1), (3 * n + 1, n + 1), (n + n % 50 + 1, n + 1)] {
                let samples: Vec<f32> = rising(low).take(steps + 1).collect();
                let bins = Bins { count, range: Some((low as f64, samples[steps] as f64)) };
                // Some have no width.
                let Ok(edges) = bins.edges(PixelType::F32, || unreachable!()) else { continue };
                let table: Vec<f32> = edges.values().iter().map(|&edge| edge as f32).collect();
                let Some(per_unit) = super::per_unit(&table) else { continue };
                proved += 1;
                for x in samples {
                    let bin = edges.bin(x as f64).unwrap();
                    let nearest = nearest_edge(x, low, per_unit, f32::mul_add) as usize;
                    assert!(nearest == bin || nearest == bin + 1, "{x} of {bins:?}: {nearest} for {bin}");
                }
            }
        }
        assert!((1000..4000).contains(&proved), "{proved}");
    }

    #[test]
    fn lanes_have_columns_of_their_own_where_there_is_room() {
        let columns = |count, channels, machine| params(problem(count, (0.0, 1.0), channels), machine).2.columns;
        let old = &Machine { shared_bytes: 64 * 1024, ..Machine::EMULATED };
        assert_eq!([1, 4].map(|channels| columns(256, channels, &Machine::EMULATED)), [32, 32]);
        assert_eq!([1, 2, 4].map(|channels| columns(256, channels, old)), [32, 16, 8]);
        assert_eq!([1000, 3000, 29053].map(|count| columns(count, 1, &Machine::EMULATED)), [32, 16, 1]);
    }

    #[test]
    fn blocks_fill_the_gpu_and_no_more() {
        let blocks = |width, channels| {
            let shape = Shape::new(width, 16, channels).unwrap();
            params(EdgeHistogram { shape, ..problem(256, (0.0, 1.0), channels) }, &Machine::EMULATED).1
        };
        assert_eq!([blocks(1, 1), blocks(1025, 1), blocks(1 << 20, 1)], [1, 5, 132]);
        assert_eq!([blocks(1, 3), blocks(1 << 20, 3), blocks(1 << 20, 4)], [3, 132, 132]);
        let pairs = super::extremes(Shape::new(1 << 20, 64, 1).unwrap(), false, &Machine::EMULATED);
        assert_eq!((pairs.launches[0].blocks, pairs.buffers[1].elems), ([1056, 1], 2112));
    }
}
