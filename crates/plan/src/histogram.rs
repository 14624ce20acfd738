//! Recipes of the byte histogram.

use crate::recipe::Steps;
use crate::{Buffer, Launch, Role, unsupported};
use apron_abi::{BYTE_BINS, ElementType, HistogramMergeParams, HistogramPartialParams, Kernel, PARTIAL_BLOCK, Params};
use apron_core::{ByteHistogram, Result};

pub(crate) const OPERATION: &str = "histogram";

/// Most partial histograms: enough blocks to fill the largest GPUs, few enough to merge quickly.
const MAX_PARTIALS: u64 = 1024;
/// Words that a thread should have to count before another block is worth its merge.
const WORDS_PER_THREAD: u64 = 16;

/// P6 and P7: partial histograms by blocks, then one block a bin sums them.
pub(crate) fn partials(problem: &ByteHistogram) -> Result<Steps> {
    let bytes = problem.shape.samples();
    let channels = problem.channels();
    let partials = (bytes / 4).div_ceil(PARTIAL_BLOCK as u64 * WORDS_PER_THREAD).clamp(1, MAX_PARTIALS);
    // The kernel's threads then meet one channel in each byte of their words.
    let partials = partials.next_multiple_of(channels as u64);
    if bytes / partials >= u32::MAX as u64 - PARTIAL_BLOCK as u64 * 4 {
        // A partial counter has 32 bits.
        return Err(unsupported(OPERATION, format!("histograms of {bytes} bytes"), "use --device cpu"));
    }
    let bins = BYTE_BINS * channels;
    let launch = |kernel: Kernel, blocks, src, dst, params| Launch {
        kernel,
        blocks: [blocks, 1],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src,
        dst,
        params,
        taps: Vec::new(),
    };
    let counting = Params::HistogramPartialParams(HistogramPartialParams { bytes, channels, reserved: 0 });
    let merging = Params::HistogramMergeParams(HistogramMergeParams { partials: partials as u32, bins });
    Ok((
        vec![
            Buffer { role: Role::Input, element: ElementType::U8, elems: bytes },
            Buffer { role: Role::Scratch, element: ElementType::U32, elems: partials * bins as u64 },
            Buffer { role: Role::Output, element: ElementType::U64, elems: bins as u64 },
        ],
        vec![
            launch(Kernel::histogram_partial_u8_u32, partials as u32, 0, 1, counting),
            launch(Kernel::histogram_merge_u32_u64, bins, 1, 2, merging),
        ],
    ))
}

#[cfg(test)]
mod tests {
    use crate::{Machine, plan};
    use apron_core::{ByteHistogram, Problem, Shape};

    fn launches(width: u32, height: u32, channels: u32, per_channel: bool) -> Vec<u32> {
        let shape = Shape::new(width, height, channels).unwrap();
        let recipe =
            plan(&Problem::ByteHistogram(ByteHistogram { shape, per_channel }), None, &Machine::EMULATED).unwrap();
        recipe.launches.iter().map(|launch| launch.blocks[0]).collect()
    }

    #[test]
    fn blocks_grow_with_the_image_up_to_a_limit() {
        assert_eq!(launches(1, 1, 1, false), [1, 256]);
        assert_eq!(launches(16384, 2, 1, false), [2, 256]);
        assert_eq!(launches(1 << 15, 1 << 15, 3, true), [1026, 768]);
    }
}
