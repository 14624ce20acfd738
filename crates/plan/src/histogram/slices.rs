//! Recipes of histograms by slices of bins.

use super::edges::spacing;
use super::values::{Cells, values};
use super::{OPERATION, check_counters};
use crate::examples::{limit, shape, whole_edges};
use crate::kernels;
use crate::recipe::{Steps, launch};
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    ElementType, Family, HistogramCellsParams, HistogramMergeParams, HistogramScatterParams, Kernel, MERGE_BLOCK,
    MOST_SLICES, Params, SCATTER_BLOCK, SLICE_CELLS, SLICES_BLOCK, Spacing,
};
use apron_core::{CellHistogram, Edges, PixelType, Result};

/// Least pixels per thread that justify another block and its row of counts.
const PIXELS_PER_THREAD: u64 = 16;
/// Resident blocks per multiprocessor of the slice kernels.
pub(super) const RESIDENTS: u32 = 2;
/// Most cells of f32 images that are searched for: with more slices, the image would be searched more than once.
const MOST_SLICED: u64 = SLICE_CELLS as u64;
/// Resident blocks per multiprocessor of the kernels that add to totals.
pub(super) const SCATTER_RESIDENTS: u32 = 8;
/// Most counts in the rows of all columns of blocks together.
pub(super) const MAX_ROW_CELLS: u64 = 1 << 26;

/// Plans one launch that sets the totals to 0, and one in which all threads add to them atomically.
fn scattered(problem: &CellHistogram, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (PixelType::F32, Some(edges)) = (problem.src, &problem.edges) else {
        return Err(variant.refused(format!("{} pixels", problem.src)));
    };
    let (samples, channels) = (problem.shape.samples(), problem.channels());
    let (bins, cells) = (problem.cells() as u32, problem.cells() as u32 * channels);
    let (lower, last) = edges.in_f32();
    // A multiple of the channels, so that a thread counts one channel.
    let most = machine.multiprocessors * SCATTER_RESIDENTS;
    let enough = samples.div_ceil(SCATTER_BLOCK as u64 * PIXELS_PER_THREAD).clamp(1, most as u64) as u32;
    let blocks = enough.next_multiple_of(problem.shape.channels);
    check_counters(samples, blocks)?;
    let params = HistogramScatterParams {
        samples,
        beside: if problem.masked { 2 } else { 0 },
        rounds: samples.div_ceil(blocks as u64 * SCATTER_BLOCK as u64) as u32,
        bins,
        channels,
        step: problem.shape.channels,
        spacing: spacing_of(&lower, last),
    };
    let kernel = if problem.masked {
        Kernel::histogram_slices_scattered_masked_f32_u64
    } else {
        Kernel::histogram_slices_scattered_f32_u64
    };
    let counting = Launch { taps: lower.into(), ..launch(kernel, blocks, Params::HistogramScatterParams(params)) };
    // Sums of zero rows set the totals to 0.
    let none = Params::HistogramMergeParams(HistogramMergeParams { partials: 0, bins: cells });
    let zeros = launch(Kernel::histogram_slices_sums_u32_u64, cells.div_ceil(MERGE_BLOCK), none);
    let mut buffers = vec![
        Buffer { role: Role::Input, element: ElementType::F32, elems: samples },
        Buffer { role: Role::Output, element: ElementType::U64, elems: cells as u64 },
    ];
    if problem.masked {
        buffers.push(Buffer { role: Role::Beside, element: ElementType::U8, elems: problem.shape.pixels() });
    }
    Ok((buffers, vec![zeros, counting]))
}

/// Returns the spacing of equal bins with these least samples; if the bins differ in width, `per_unit` is 0, and
/// kernels search the bins.
pub(super) fn spacing_of(lower: &[f32], last: f32) -> Spacing {
    let ends: Vec<f32> = lower.iter().copied().chain([last]).collect();
    spacing(&ends).unwrap_or(Spacing { low: lower[0], last, ..Spacing::default() })
}

/// Plans a launch in which each block counts one slice of the bins, and each column of blocks writes a row of counts;
/// and the sum of the rows.
fn slices(problem: &CellHistogram, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (pixels, channels, apart) = (problem.shape.pixels(), problem.shape.channels, problem.channels());
    let samples = problem.shape.samples();
    let (each, cells) = (problem.cells() as u32, problem.cells() as u64 * apart as u64);
    if let Some((low, each)) = problem.in_range() {
        let counted = Cells { each, channels: 1 };
        if counted.slices(machine).0 > MOST_SLICES {
            return Err(variant.refused(format!("{each} integers")));
        }
        let kernel = Kernel::histogram_slices_range_u32_u32;
        return values(samples, kernel, counted, (Spacing::default(), Vec::new(), low as u32), machine);
    }
    if let (Some(edges), PixelType::F32, true) = (&problem.edges, problem.src, cells > MOST_SLICED) {
        let counted = Cells { each, channels: apart };
        if problem.masked || apart > 1 || counted.slices(machine).0 > MOST_SLICES {
            return scattered(problem, variant, machine);
        }
        let (lower, last) = edges.in_f32();
        let spacing = spacing_of(&lower, last);
        if spacing.per_unit == 0.0 {
            return scattered(problem, variant, machine);
        }
        return values(samples, Kernel::histogram_slices_places_f32_u32, counted, (spacing, lower, 0), machine);
    }
    let kernel = counting(problem, variant)?;
    if !problem.masked && problem.src != PixelType::F32 {
        let counted = Cells { each, channels: apart };
        return values(samples, kernel, counted, (Spacing::default(), Vec::new(), 0), machine);
    }
    let (low, edges, last) = match (&problem.edges, problem.src.values()) {
        (Some(edges), None) => {
            let (lower, last) = edges.in_f32();
            (0, lower, last)
        }
        (_, values) => (values.map_or(0, |(low, _)| low), Vec::new(), 0.0),
    };
    let beside = if problem.masked { MASK } else { 0 };
    let params = HistogramCellsParams { pixels, beside, low, bins: each, channels, apart, last, reserved: 0 };
    let (rows, params) = (rows_of(pixels, cells, RESIDENTS, machine), Params::HistogramCellsParams(params));
    let counting = launch(kernel, rows, params);
    let slices = cells.div_ceil(SLICE_CELLS as u64) as u32;
    let counting = Launch { blocks: [rows, slices], taps: edges.into(), ..counting };
    check_counters(samples, rows)?;
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials: rows, bins: cells as u32 });
    let sums = launch(Kernel::histogram_slices_sums_u32_u64, (cells as u32).div_ceil(MERGE_BLOCK), params);
    let launches = vec![counting, Launch { src: 1, dst: 2, ..sums }];
    let mut buffers = vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: samples },
        Buffer { role: Role::Scratch, element: ElementType::U32, elems: rows as u64 * cells },
        Buffer { role: Role::Output, element: ElementType::U64, elems: cells },
    ];
    if problem.masked {
        buffers.push(Buffer { role: Role::Beside, element: ElementType::U8, elems: pixels });
    }
    Ok((buffers, launches))
}

/// Returns the columns of blocks, and so rows of counts, for `cells` bins.
pub(super) fn rows_of(pixels: u64, cells: u64, residents: u32, machine: &Machine) -> u32 {
    let enough = pixels.div_ceil(SLICES_BLOCK as u64 * PIXELS_PER_THREAD);
    let slices = cells.div_ceil(SLICE_CELLS as u64);
    let most = ((machine.multiprocessors * residents) as u64 / slices).min(MAX_ROW_CELLS / cells);
    enough.clamp(1, most.max(1)) as u32
}

/// Index of the mask's buffer, in recipes that have one.
const MASK: u64 = 3;

fn counting(problem: &CellHistogram, variant: &Variant) -> Result<Kernel> {
    let stage = if problem.masked { "masked" } else { "all" };
    let kernel = kernels::find(variant.kernels, stage, problem.src.element(), ElementType::U32);
    // Bytes without a mask have faster kernels of their own.
    kernel.ok_or_else(|| {
        let what = format!("{} pixels, {}", problem.src, if problem.masked { "masked" } else { "without a mask" });
        unsupported(OPERATION, what, "use --device cpu")
    })
}

fn cells(src: PixelType, edges: Option<Edges>) -> CellHistogram {
    CellHistogram { shape: shape(20, 1), src, edges, per_channel: false, masked: false }
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 90,
        ..Variant::new(
            "histogram-slices",
            Family::Histogram,
            "u16 and i16; f32 in any bins; u8 only with a mask",
            &For(slices),
        )
        .unswept()
    },
    // The fallback of histogram-slices for bins that do not suit slices; by name it takes all bins of f32. Neither
    // variant is swept: the problem decides between them.
    Variant {
        rank: 95,
        kernels: "histogram-slices",
        ..Variant::new("histogram-scattered", Family::Histogram, "f32 in any bins, masked or not", &For(scattered))
            .examples(|| vec![limit(cells(PixelType::F32, Some(whole_edges(1 << 20))), cells(PixelType::U16, None))])
            .unswept()
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recipe, untuned as plan};
    use apron_core::{Edges, Shape};

    fn cells(shape: (u32, u32, u32), src: PixelType, bins: usize, per_channel: bool, masked: bool) -> Recipe {
        let shape = Shape::new(shape.0, shape.1, shape.2).unwrap();
        let edges = (0..=bins).map(|edge| edge as f64).collect();
        let edges = (src == PixelType::F32).then(|| Edges::new(edges).unwrap());
        let problem = CellHistogram { shape, src, edges, per_channel, masked };
        plan(&problem.into(), None, &Machine::EMULATED).unwrap()
    }

    #[test]
    fn every_cell_has_a_slice_and_few_rows_are_enough_for_few_pixels() {
        let blocks = |recipe: Recipe| (recipe.launches[0].blocks, recipe.launches[1].blocks);
        assert_eq!(blocks(cells((10, 10, 1), PixelType::U16, 0, false, false)), ([1, 2], [256, 1]));
        assert_eq!(blocks(cells((8192, 8192, 1), PixelType::U16, 0, false, false)), ([66, 2], [256, 1]));
        // A multiple of the channels.
        assert_eq!(blocks(cells((8192, 8192, 3), PixelType::I16, 0, true, false)), ([33, 4], [768, 1]));
        assert_eq!(blocks(cells((8192, 8192, 1), PixelType::F32, 100_000, false, false)), ([66, 2], [391, 1]));
        assert_eq!(blocks(cells((8192, 8192, 4), PixelType::I16, 0, true, true)), ([16, 16], [1024, 1]));
        assert_eq!(blocks(cells((8192, 8192, 1), PixelType::U8, 0, true, true)), ([264, 1], [1, 1]));
        assert_eq!(blocks(cells((8192, 8192, 1), PixelType::F32, 1 << 14, false, false)), ([264, 1], [64, 1]));
    }

    #[test]
    fn totals_of_many_bins_are_cleared_and_added_to() {
        for (size, masked, bins, blocks) in [((8192, 8192, 3), true, 20_000, 1056), ((10, 10, 3), false, 80_000, 3)] {
            let recipe = cells(size, PixelType::F32, bins, true, masked);
            let [zeros, counting] = &recipe.launches[..] else { panic!("{recipe:?}") };
            let Params::HistogramMergeParams(none) = zeros.params else { panic!("{recipe:?}") };
            let totals = 3 * bins as u32;
            assert_eq!((none.partials, none.bins, zeros.blocks), (0, totals, [totals.div_ceil(256), 1]));
            let Params::HistogramScatterParams(params) = counting.params_at(&[7, 77, 777]) else {
                panic!("{recipe:?}")
            };
            assert_eq!((params.bins, params.channels, params.spacing.per_unit), (bins as u32, 3, 1.0));
            assert_eq!((params.beside, counting.blocks, counting.dst), (if masked { 777 } else { 7 }, [blocks, 1], 1));
            assert!(params.rounds as u64 * blocks as u64 * 256 >= params.samples);
        }
    }

    #[test]
    fn a_mask_is_a_buffer_beside_the_image() {
        let masked = cells((20, 10, 3), PixelType::U16, 0, true, true);
        assert_eq!(masked.buffers[3], Buffer { role: Role::Beside, element: ElementType::U8, elems: 200 });
        let Params::HistogramCellsParams(params) = masked.launches[0].params_at(&[7, 77, 777, 7777]) else { panic!() };
        assert_eq!((params.beside, params.apart, params.low, params.bins), (7777, 3, 0, 65536));
        assert_eq!(cells((20, 10, 3), PixelType::U16, 0, true, false).buffers.len(), 3);
    }
}
