//! Recipes of weighted histograms.

use crate::examples::{limit, valid, whole_edges};
use crate::kernels;
use crate::recipe::{Steps, launch};
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BINS_BLOCK, ElementType, Family, HistogramBinsParams, HistogramMergeParams, HistogramWeightsParams, Kernel,
    MERGE_BLOCK, Params, WEIGHTS_BLOCK, WEIGHTS_SAMPLES,
};
use apron_core::{PixelType, Result, Shape, WeightedBins};

const WEIGHTED: &str = "weighted";

/// Most bytes of the partial sums of all blocks of samples.
const MAX_SUMS_BYTES: u64 = 1 << 30;

/// Returns the number of blocks: as many as are resident at once, or fewer for few pixels.
pub(super) fn blocks(pixels: u64, machine: &Machine) -> u32 {
    let most = machine.multiprocessors as u64 * (2048 / BINS_BLOCK) as u64;
    pixels.div_ceil(BINS_BLOCK as u64).clamp(1, most) as u32
}

pub(super) fn buffer(role: Role, element: ElementType, elems: u64) -> Buffer {
    Buffer { role, element, elems }
}

/// Plans a launch that finds each sample's bin, one that sums the weights of each 65536 samples by bin, and one that
/// adds those sums; both in order.
fn in_order(problem: &WeightedBins, _: &Variant, machine: &Machine) -> Result<Steps> {
    let (shape, src, apart) = (problem.shape, problem.src, problem.channels());
    let (pixels, bins) = (shape.pixels(), problem.edges.bins() as u32);
    let (lower, last) = problem.edges.in_f32();
    let params = HistogramBinsParams { pixels, channels: shape.channels, apart, bins, last };
    let kernel = kernels::find("histogram-weighted", "bins", src.element(), ElementType::U32);
    let kernel = kernel.ok_or_else(|| unsupported(WEIGHTED, format!("{src} pixels"), "use --device cpu"))?;
    let finding = launch(kernel, blocks(pixels, machine), Params::HistogramBinsParams(params));
    let channels = Apart { each: shape.channels / apart, apart };
    let (more, summing) = in_blocks(WEIGHTED, pixels, (bins, channels), problem.single)?;
    let mut buffers = vec![
        buffer(Role::Input, src.element(), shape.samples()),
        buffer(Role::Scratch, ElementType::U32, shape.samples()),
    ];
    buffers.extend(more);
    let mut launches = vec![Launch { taps: lower.into(), ..finding }];
    launches.extend(summing);
    Ok((buffers, launches))
}

/// Channels that are summed separately, and the adjacent channels of each.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) each: u32,
    pub(super) apart: u32,
}

/// Plans two launches that sum weights by bin, in order: for each 65536 samples, then over those sums. Buffer 1 holds
/// the bin of each sample; there is one weight per pixel. Returns the buffers from number 2 on, and the launches.
pub(super) fn in_blocks(
    operation: &'static str,
    pixels: u64,
    (bins, Apart { each: channels, apart }): (u32, Apart),
    single: bool,
) -> Result<Steps> {
    let samples = pixels * channels as u64;
    let (rows, sums) = (samples.div_ceil(WEIGHTS_SAMPLES as u64), bins as u64 * apart as u64);
    let bytes = (rows as u128 * sums as u128 * 8).min(u64::MAX as u128) as u64;
    if bytes > MAX_SUMS_BYTES {
        let what = format!("{sums} sums for each of {rows} blocks of {WEIGHTS_SAMPLES} samples (at most 1 GiB)");
        return Err(unsupported(operation, what, "take fewer bins, or use --device cpu"));
    }
    let slices = bins.div_ceil(WEIGHTS_BLOCK);
    let params = HistogramWeightsParams { weights: 3, samples, bins, slices, channels, apart };
    let (kernel, weights) = match single {
        false => (Kernel::histogram_weighted_weights_u32_f64, ElementType::F64),
        true => (Kernel::histogram_weighted_f32_weights_u32_f64, ElementType::F32),
    };
    let summing = launch(kernel, 1, Params::HistogramWeightsParams(params));
    let params = Params::HistogramMergeParams(HistogramMergeParams { partials: rows as u32, bins: sums as u32 });
    let adding = launch(Kernel::histogram_weighted_sums_f64_f64, (sums as u32).div_ceil(MERGE_BLOCK), params);
    let launches = vec![
        Launch { src: 1, dst: 2, blocks: [rows as u32, apart * slices], ..summing },
        Launch { src: 2, dst: 4, ..adding },
    ];
    let buffers = vec![
        buffer(Role::Scratch, ElementType::F64, rows * sums),
        buffer(Role::Beside, weights, pixels),
        buffer(Role::Output, ElementType::F64, sums),
    ];
    Ok((buffers, launches))
}

/// A histogram of 1024 blocks of samples.
fn of_blocks(bins: u32) -> WeightedBins {
    let (shape, src) = (valid(Shape::new(1 << 13, 1 << 13, 1)), PixelType::U8);
    WeightedBins { shape, src, edges: whole_edges(bins), per_channel: true, single: true }
}

pub(crate) const VARIANTS: &[Variant] = &[Variant::new(
    "histogram-weighted",
    Family::Histogram,
    "all pixels; up to 2^27 sums in all, of each bin for each 65536 samples",
    &For(in_order),
)
.examples(|| vec![limit(of_blocks(1 << 17), of_blocks((1 << 17) + 1))])];

#[cfg(test)]
mod tests {
    use crate::{Machine, Recipe, Role, untuned as plan};
    use apron_abi::Params;
    use apron_core::{Edges, PixelType, Result, Shape, WeightedBins};

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
    }
}
