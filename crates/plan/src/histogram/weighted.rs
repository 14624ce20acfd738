//! Recipes of weighted histograms and of joint histograms of two channels.

use super::check_counters;
use super::slices::{RESIDENTS, rows_of};
use crate::kernels;
use crate::recipe::{Steps, launch};
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BINS_BLOCK, ElementType, Family, HistogramBinsParams, HistogramCellsParams, HistogramMergeParams,
    HistogramPairsParams, HistogramWeightsParams, Kernel, MERGE_BLOCK, Params, SLICE_CELLS, WEIGHTS_BLOCK,
    WEIGHTS_SAMPLES,
};
use apron_core::{PairHistogram, PixelType, Result, Shape, WeightedBins};

const WEIGHTED: &str = "weighted";
const PAIRS: &str = "pairs";

/// Most bytes of the partial sums of all blocks of samples.
const MAX_SUMS_BYTES: u64 = 1 << 30;
/// Most cells of a joint histogram.
const MAX_CELLS: u64 = 1 << 26;

/// As many blocks as are resident at once, or fewer for few pixels.
fn blocks(pixels: u64, machine: &Machine) -> u32 {
    let most = machine.multiprocessors as u64 * (2048 / BINS_BLOCK) as u64;
    pixels.div_ceil(BINS_BLOCK as u64).clamp(1, most) as u32
}

fn kernel(variant: &str, stage: &str, src: PixelType) -> Kernel {
    kernels::find(variant, stage, src.element(), ElementType::U32).expect("a kernel for every type")
}

fn buffer(role: Role, element: ElementType, elems: u64) -> Buffer {
    Buffer { role, element, elems }
}

fn input(shape: Shape, src: PixelType) -> Buffer {
    buffer(Role::Input, src.element(), shape.samples())
}

/// Finds each sample's bin, sums the weights of each 65536 samples by bin, and adds those sums; both in order.
fn in_order(problem: &WeightedBins, _: &Variant, machine: &Machine) -> Result<Steps> {
    let (shape, src, apart) = (problem.shape, problem.src, problem.channels());
    let (pixels, bins) = (shape.pixels(), problem.edges.bins() as u32);
    let samples = shape.samples() / apart as u64;
    let (rows, sums) = (samples.div_ceil(WEIGHTS_SAMPLES as u64), bins as u64 * apart as u64);
    let bytes = (rows as u128 * sums as u128 * 8).min(u64::MAX as u128) as u64;
    if bytes > MAX_SUMS_BYTES {
        let what = format!("{sums} sums for each of {rows} blocks of {WEIGHTS_SAMPLES} samples (at most 1 GiB)");
        return Err(unsupported(WEIGHTED, what, "take fewer bins, or use --device cpu"));
    }
    let (lower, last) = problem.edges.in_f32();
    let params = HistogramBinsParams { pixels, channels: shape.channels, apart, bins, last };
    let finding =
        launch(kernel("histogram-weighted", "bins", src), blocks(pixels, machine), Params::HistogramBinsParams(params));
    let slices = bins.div_ceil(WEIGHTS_BLOCK);
    let channels = shape.channels / apart;
    let params = HistogramWeightsParams { weights: 3, samples, bins, slices, channels, apart };
    let (kernel, weights) = match problem.single {
        false => (Kernel::histogram_weighted_weights_u32_f64, ElementType::F64),
        true => (Kernel::histogram_weighted_f32_weights_u32_f64, ElementType::F32),
    };
    let summing = launch(kernel, 1, Params::HistogramWeightsParams(params));
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials: rows as u32, bins: sums as u32 });
    let adding = launch(Kernel::histogram_weighted_sums_f64_f64, (sums as u32).div_ceil(MERGE_BLOCK), params);
    let launches = vec![
        Launch { taps: lower, ..finding },
        Launch { src: 1, dst: 2, blocks: [rows as u32, apart * slices], ..summing },
        Launch { src: 2, dst: 4, ..adding },
    ];
    let buffers = vec![
        input(shape, src),
        buffer(Role::Scratch, ElementType::U32, shape.samples()),
        buffer(Role::Scratch, ElementType::F64, rows * sums),
        buffer(Role::Beside, weights, pixels),
        buffer(Role::Output, ElementType::F64, sums),
    ];
    Ok((buffers, launches))
}

/// Finds the cell of each pixel, and counts the cells by slices.
fn pairs(problem: &PairHistogram, _: &Variant, machine: &Machine) -> Result<Steps> {
    let (shape, pixels, src) = (problem.shape, problem.shape.pixels(), problem.src);
    let [bins, other_bins] = [0, 1].map(|which| problem.edges[which].bins() as u64);
    let cells = bins * other_bins;
    if cells > MAX_CELLS {
        let what = format!("{bins} x {other_bins} bins (at most {MAX_CELLS} in all)");
        return Err(unsupported(PAIRS, what, "take fewer bins, or use --device cpu"));
    }
    let [(mut taps, last), (other_taps, other_last)] = [0, 1].map(|which| problem.edges[which].in_f32());
    taps.extend(other_taps);
    let [channel, other_channel] = problem.channels;
    let params = Params::HistogramPairsParams(HistogramPairsParams {
        pixels,
        channels: shape.channels,
        channel,
        other_channel,
        bins: bins as u32,
        other_bins: other_bins as u32,
        last,
        other_last,
        reserved: 0,
    });
    let finding = launch(kernel("histogram-pairs", "cells", src), blocks(pixels, machine), params);
    let rows = rows_of(pixels, cells, RESIDENTS, machine);
    check_counters(pixels, rows)?;
    let params = HistogramCellsParams { pixels, bins: cells as u32, channels: 1, apart: 1, ..Default::default() };
    let counting = launch(Kernel::histogram_pairs_counts_u32_u32, 1, Params::HistogramCellsParams(params));
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials: rows, bins: cells as u32 });
    let sums = launch(Kernel::histogram_slices_sums_u32_u64, (cells as u32).div_ceil(MERGE_BLOCK), params);
    let launches = vec![
        Launch { taps, ..finding },
        Launch { src: 1, dst: 2, blocks: [rows, cells.div_ceil(SLICE_CELLS as u64) as u32], ..counting },
        Launch { src: 2, dst: 3, ..sums },
    ];
    let buffers = vec![
        input(shape, src),
        buffer(Role::Scratch, ElementType::U32, pixels),
        buffer(Role::Scratch, ElementType::U32, rows as u64 * cells),
        buffer(Role::Output, ElementType::U64, cells),
    ];
    Ok((buffers, launches))
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant::new(
        "histogram-weighted",
        Family::Histogram,
        "all pixels; up to 2^27 sums in all, of each bin for each 65536 samples",
        &For(in_order),
    ),
    Variant::new("histogram-pairs", Family::Histogram, "all pixels; up to 2^26 pairs of bins", &For(pairs)),
];

#[cfg(test)]
mod tests {
    use crate::{Machine, Recipe, Role, untuned as plan};
    use apron_abi::Params;
    use apron_core::{Edges, PairHistogram, PixelType, Result, Shape, WeightedBins};

    fn edges(bins: usize) -> Edges {
        Edges::new((0..=bins).map(|edge| edge as f64).collect()).unwrap()
    }

    fn weighted(side: u32, bins: usize, per_channel: bool) -> Result<Recipe> {
        let (shape, src) = (Shape::new(side, side, 3).unwrap(), PixelType::I16);
        let problem = WeightedBins { shape, src, edges: edges(bins), per_channel, single: false };
        plan(&problem.into(), None, &Machine::EMULATED)
    }

    #[test]
    fn a_row_of_sums_for_each_65536_samples() {
        let recipe = weighted(300, 300, true).unwrap();
        // 90000 samples per channel, three channels, two slices of bins.
        let blocks: Vec<_> = recipe.launches.iter().map(|launch| launch.blocks).collect();
        assert_eq!(blocks, [[352, 1], [2, 6], [4, 1]]);
        let elems: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        let scratch = [(Role::Scratch, 270_000), (Role::Scratch, 2 * 900)];
        let ends = [(Role::Beside, 90_000), (Role::Output, 900)];
        assert_eq!(elems, [[(Role::Input, 270_000)].as_slice(), &scratch, &ends].concat());
        let Params::HistogramWeightsParams(params) = recipe.launches[1].params_at(&[7, 17, 27, 37, 47]) else {
            panic!()
        };
        assert_eq!((params.weights, params.samples, params.channels), (37, 90_000, 1));
        let together = weighted(300, 300, false).unwrap();
        assert_eq!(together.launches[1].blocks, [5, 2]);
    }

    #[test]
    fn what_would_need_much_memory_is_refused() {
        let error = weighted(8192, 1 << 20, false).unwrap_err();
        assert!(error.to_string().contains("--device cpu"), "{error}");
        let pairs = |bins: usize| {
            let (shape, src) = (Shape::new(20, 10, 2).unwrap(), PixelType::U8);
            let edges = [edges(bins), edges(1 << 13)];
            let problem = PairHistogram { shape, src, channels: [0, 1], edges };
            plan(&problem.into(), None, &Machine::EMULATED)
        };
        assert_eq!(pairs(1 << 13).unwrap().launches[1].blocks, [1, 4096]);
        let error = pairs((1 << 13) + 1).unwrap_err();
        assert!(error.to_string().contains("--device cpu"), "{error}");
    }
}
