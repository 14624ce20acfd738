//! Recipes of the byte histogram.

use crate::{Buffer, Launch, Recipe, Role, unsupported};
use apron_abi::{
    BYTE_BINS, ElementType, HistogramMergeParams, HistogramPartialParams, Kernel, MERGE_SHARED_BYTES, PARTIAL_BLOCK,
    PARTIAL_SHARED_BYTES, Params,
};
use apron_core::{ByteHistogram, Result};

/// Most partial histograms: enough blocks to fill the largest GPUs, few enough to merge quickly.
const MAX_PARTIALS: u64 = 1024;
/// Words that a thread should have to count before another block is worth its merge.
const WORDS_PER_THREAD: u64 = 16;

/// P6 and P7: partial histograms by blocks, then one block a bin sums them.
pub(crate) fn partials(problem: &ByteHistogram, variant: &'static str, why: &'static str) -> Result<Recipe> {
    let bytes = problem.shape.samples();
    let channels = problem.channels();
    let partials = (bytes / 4).div_ceil(PARTIAL_BLOCK as u64 * WORDS_PER_THREAD).clamp(1, MAX_PARTIALS);
    if bytes / partials >= u32::MAX as u64 - PARTIAL_BLOCK as u64 * 4 {
        // A partial counter has 32 bits.
        return Err(unsupported("histogram", format!("histograms of {bytes} bytes"), "use --device cpu"));
    }
    let bins = BYTE_BINS * channels;
    Ok(Recipe {
        operation: "histogram",
        variant,
        why,
        buffers: vec![
            Buffer { role: Role::Input, element: ElementType::U8, elems: bytes },
            Buffer { role: Role::Scratch, element: ElementType::U32, elems: partials * bins as u64 },
            Buffer { role: Role::Output, element: ElementType::U64, elems: bins as u64 },
        ],
        launches: vec![
            Launch {
                kernel: Kernel::histogram_partial_u8,
                blocks: partials as u32,
                shared_bytes: PARTIAL_SHARED_BYTES,
                src: 0,
                dst: 1,
                params: Params::HistogramPartialParams(HistogramPartialParams { bytes, channels, reserved: 0 }),
                taps: Vec::new(),
            },
            Launch {
                kernel: Kernel::histogram_merge_u32,
                blocks: bins,
                shared_bytes: MERGE_SHARED_BYTES,
                src: 1,
                dst: 2,
                params: Params::HistogramMergeParams(HistogramMergeParams { partials: partials as u32, bins }),
                taps: Vec::new(),
            },
        ],
    })
}

#[cfg(test)]
mod tests {
    use crate::plan;
    use apron_core::{ByteHistogram, Problem, Shape};

    fn launches(width: u32, height: u32, channels: u32, per_channel: bool) -> Vec<u32> {
        let shape = Shape::new(width, height, channels).unwrap();
        let recipe = plan(&Problem::ByteHistogram(ByteHistogram { shape, per_channel }), None).unwrap();
        recipe.launches.iter().map(|launch| launch.blocks).collect()
    }

    #[test]
    fn blocks_grow_with_the_image_up_to_a_limit() {
        assert_eq!(launches(1, 1, 1, false), [1, 256]);
        assert_eq!(launches(16384, 2, 1, false), [2, 256]);
        assert_eq!(launches(1 << 15, 1 << 15, 3, true), [1024, 768]);
    }
}
