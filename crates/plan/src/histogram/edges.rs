//! Recipes of histograms between edges.

use super::{OPERATION, TOTALS, rounds, with_totals};
use crate::examples::{bins, limit};
use crate::recipe::{Steps, launch};
use crate::variant::{For, Grids, Variant};
use crate::{Buffer, Launch, Machine, Recipe, Role, unsupported};
use apron_abi::{
    EDGES_BLOCK, EXTREMES_BLOCK, ElementType, Family, HISTOGRAM_COLUMNS, HistogramEdgesParams, HistogramExtremesParams,
    Kernel, Params, Spacing, edges_bytes, nearest_edge,
};
use apron_core::{EdgeHistogram, PixelType, Result, Shape};

/// Bytes per load of a thread.
const READ: u64 = 16;
/// Loads per thread that justify another block of the search for extremes.
const READS_PER_THREAD: u64 = 4;

/// Finds a sample's bin from the edge nearest to it.
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

/// The hint for integers: `histogram-slices` takes any bins.
const BY_VALUE: &str = "use --variant histogram-slices";

/// Finds a sample's bin by binary search.
fn search(problem: &EdgeHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    if problem.src != PixelType::F32 {
        return Err(unsupported(OPERATION, format!("searched edges of {}", problem.src), BY_VALUE));
    }
    count(problem, machine, Kernel::histogram_edge_search_count_f32_u64, edges(problem)?, 0.0)
}

/// Returns the recipe that finds the minimum and maximum of an f32 image, of all pixels or of those that a mask
/// selects: one pair per block.
pub fn extremes(shape: Shape, masked: bool, machine: &Machine) -> Recipe {
    let (samples, channels) = (shape.samples(), shape.channels);
    let (kernel, beside) = match masked {
        false => (Kernel::histogram_nearest_edge_extremes_f32_f32, 0),
        true => (Kernel::histogram_slices_extremes_f32_f32, 2),
    };
    // At most as many threads as the multiprocessors hold.
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

/// Returns the edges in f32, adjusted so that every sample falls into the same bin.
fn edges(problem: &EdgeHistogram) -> Result<Vec<f32>> {
    let edges = problem.edges()?;
    let edges = edges.values();
    if problem.src == PixelType::F32 {
        // The edges of f32 samples are f32 numbers.
        return Ok(edges.iter().map(|&edge| edge as f32).collect());
    }
    // An integer is below an edge if it is below the least integer that is not less than the edge. f32 holds all 16-bit
    // integers, and rounds only edges far outside their range.
    let mut integers: Vec<f32> = edges.iter().map(|edge| edge.ceil() as f32).collect();
    // The last bin includes its upper edge: its end is just below the next integer.
    let end = edges.len() - 1;
    integers[end] = ((edges[end].floor() + 1.0) as f32).next_down();
    Ok(integers)
}

/// Returns the bins per unit of sample value, with which [`nearest_edge`] gives, for every sample in the range, the
/// lower edge of its bin or the upper one. `None` if there is no such number.
///
/// The nearest edge is monotonic in the sample, so the nearest edges of a bin's first and last sample bound the nearest
/// edges of all samples between. They are correct unless the rounding of the edges to f32 and the three roundings of
/// the formula displace a sample by half a bin, which only happens where bins are hardly wider than the spacing of f32.
pub(super) fn per_unit(edges: &[f32]) -> Option<f32> {
    let bins = edges.len() - 1;
    let (low, high) = (edges[0], edges[bins]);
    let per_unit = bins as f32 / (high - low);
    let leads = |bin: usize| {
        // The last bin includes the end of the range.
        let (first, last) = (edges[bin], if bin + 1 == bins { high } else { edges[bin + 1].next_down() });
        let nearest = |sample| nearest_edge(sample, low, per_unit, f32::mul_add) as usize;
        // A bin between equal edges has no samples.
        first > last || (nearest(first) >= bin && nearest(last) <= bin + 1)
    };
    // Samples below the first edge clamp to it. The end of the range must be nearest to the last edge.
    let ends = |per_unit| nearest_edge(high, low, per_unit, f32::mul_add) == bins as u32;
    (per_unit.is_finite() && ends(per_unit) && (0..bins).all(leads)).then_some(per_unit)
}

/// Returns the spacing of equal bins between these edges, with the least margin at which [`Spacing::find`] finds the
/// bin of every sample; `None` if the bins differ in width, or are so narrow that most samples would have to be
/// compared with the edges anyway.
///
/// The place is monotonic in the sample, so the places of a bin's first and last sample bound those of all between.
pub(super) fn spacing(edges: &[f32]) -> Option<Spacing> {
    let bins = edges.len() - 1;
    let (low, last) = (edges[0], edges[bins]);
    let per_unit = bins as f32 / (last - low);
    let spacing = Spacing { low, last, per_unit, margin: 0.0 };
    let mut margin = 0f32;
    for (bin, ends) in edges.windows(2).enumerate() {
        // A bin between equal edges has no samples, but for the last one, which includes its end.
        if ends[0] < ends[1] || bin + 1 == bins {
            let before = bin as f32 - spacing.place(ends[0]);
            margin = margin.max(if before > 0.0 { before.next_up() } else { 0.0 });
        }
        if ends[0] < ends[1] && bin + 1 < bins {
            let beyond = spacing.place(ends[1].next_down()) - (bin + 1) as f32;
            margin = margin.max(if beyond >= 0.0 { beyond.next_up() } else { 0.0 });
        }
    }
    let exact = bins < 1 << 22 && per_unit.is_finite() && per_unit > 0.0;
    (exact && margin < 0.5).then_some(Spacing { margin, ..spacing })
}

/// Plans one launch that counts with `kernel`.
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
    // One histogram per lane, or the largest power of two that fits shared memory.
    let columns = (0..=HISTOGRAM_COLUMNS.ilog2()).rev().map(|log| 1 << log);
    let Some(columns) = columns.into_iter().find(|&columns| bytes(columns) <= machine.shared_bytes as u64) else {
        let what = format!(
            "{bins} bins of {} and {channels} channels, in {} bytes of shared memory",
            problem.src, machine.shared_bytes
        );
        return Err(unsupported(OPERATION, what, "use --device cpu"));
    };
    let low = edges[0];
    // The last bin includes the end of the range: move the last edge up by one f32, and add an infinite edge.
    edges[bins as usize] = edges[bins as usize].next_up();
    edges.push(f32::INFINITY);
    // As many blocks as fill the GPU, fewer for few samples; a multiple of the channels, so that all loads of a thread
    // start at the same channel.
    let residents = machine.tuning.map_or(kernel.facts().residents, |tuning| tuning.residents);
    let most = machine.multiprocessors * residents / channels;
    let of_read = READ / problem.src.element().size_bytes() as u64;
    let enough = samples.div_ceil(EDGES_BLOCK as u64 * of_read).div_ceil(channels as u64);
    let blocks = enough.clamp(1, most.max(1) as u64) as u32 * channels;
    let rounds = rounds(samples, samples / of_read, blocks, EDGES_BLOCK)?;
    let params =
        HistogramEdgesParams { samples, totals: TOTALS, rounds, low, per_unit, bins, channels, columns, reserved: 0 };
    let params = Params::HistogramEdgesParams(params);
    let counting = Launch { shared_bytes: bytes(columns) as u32, taps: edges.into(), ..launch(kernel, blocks, params) };
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
            "f32, u16 and i16 pixels; bins as for histogram-edge-search, if f32 counts the bins per unit",
            &For(nearest),
        )
        .examples(|| {
            vec![
                limit(bins(1, 29053, (-1.0, 1.0)), bins(1, 29054, (-1.0, 1.0))),
                limit(bins(1, 4, (1.0, 1.0000005)), bins(1, 4, (-1e-39, 1e-39))),
            ]
        })
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
        .examples(|| vec![limit(bins(4, 11620, (1.0, 1.0)), bins(4, 11621, (1.0, 1.0)))])
    },
];

#[cfg(test)]
mod tests {
    use crate::{Machine, untuned as plan};
    use apron_abi::{Between, HistogramEdgesParams, Params, nearest_edge};
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
        // Their bins per unit overflow f32.
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

    #[test]
    fn only_samples_near_an_edge_are_compared_with_it() {
        let margin = |count, range| {
            let edges = Bins { count, range: Some(range) }.fixed_edges(PixelType::F32).unwrap();
            let edges: Vec<f32> = edges.values().iter().map(|&edge| edge as f32).collect();
            super::spacing(&edges).map(|spacing| spacing.margin)
        };
        assert_eq!([margin(65536, (0.0, 1.0)), margin(1 << 20, (0.0, 1.0))], [Some(0.0); 2]);
        assert!(margin(100_000, (0.1, 0.7)).is_some_and(|margin| (0.001..0.02).contains(&margin)));
        assert!(margin(1 << 20, (0.1, 0.7)).is_some_and(|margin| (0.05..0.3).contains(&margin)));
        // Bins of different widths.
        assert_eq!(super::spacing(&[0.0, 0.9, 1.0]), None);
        assert_eq!(super::spacing(&[0.0, 1.0, f32::INFINITY]), None);
    }

    /// Tests the proofs of [`super::per_unit`] and [`super::spacing`] on every sample of ranges that hold few samples.
    #[test]
    fn what_is_proved_of_a_bins_ends_holds_between_them() {
        let rising = |low: f32| std::iter::successors(Some(low), |x| Some(x.next_up()));
        let (mut proved, mut spaced) = (0, 0);
        for (n, low) in (0..400).flat_map(|n| [(n, 1.0f32), (n, -0.75), (n, 1.9999995), (n, -1e-38)]) {
            // Bins of one spacing of f32 and more.
            for (steps, count) in [(n + 1, n % 61 + 1), (3 * n + 1, n + 1), (n + n % 50 + 1, n + 1)] {
                let samples: Vec<f32> = rising(low).take(steps + 1).collect();
                let bins = Bins { count, range: Some((low as f64, samples[steps] as f64)) };
                // Edges of bins without width are an error.
                let Ok(edges) = bins.fixed_edges(PixelType::F32) else { continue };
                let table: Vec<f32> = edges.values().iter().map(|&edge| edge as f32).collect();
                let Some(per_unit) = super::per_unit(&table) else { continue };
                proved += 1;
                let spacing = super::spacing(&table);
                for x in samples {
                    let bin = edges.bin(x as f64).unwrap();
                    let found = spacing.map(|spacing| match spacing.find(x, count as u32) {
                        Between::Bin(bin) => bin as usize,
                        Between::Edge(edge) => edge as usize - usize::from(x < table[edge as usize]),
                        Between::Outside => panic!("{x} is in {bins:?}"),
                    });
                    assert!(found.is_none_or(|found| found == bin), "{x} of {bins:?}: {found:?} for {bin}");
                    spaced += usize::from(found.is_some());
                    let nearest = nearest_edge(x, low, per_unit, f32::mul_add) as usize;
                    assert!(nearest == bin || nearest == bin + 1, "{x} of {bins:?}: {nearest} for {bin}");
                }
            }
        }
        assert!((1000..4000).contains(&proved) && spaced > 100_000, "{proved}, {spaced}");
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
