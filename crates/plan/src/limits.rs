//! Recipes that solve no problem: they measure the machine's bandwidth and arithmetic. No operation has them as
//! variants.

use crate::{Buffer, Launch, Recipe, Role};
use apron_abi::{
    ElementType, FFMA_A_ROUND, Kernel, LIMITS_BLOCK, LimitsFfmaParams, LimitsReadParams, Params, READS_IN_FLIGHT,
    WORDS_AT_ONCE,
};

const OPERATION: &str = "limits";

/// Reads `words` words of 32 bits, rounded up to a multiple of one thread's load, with at most `blocks` blocks.
pub fn read(words: u64, blocks: u32) -> Recipe {
    let words = words.next_multiple_of(WORDS_AT_ONCE);
    // Every thread writes its sum. With less than one round of reads per block, a small image would cause more writes
    // than reads.
    let at_once = WORDS_AT_ONCE * READS_IN_FLIGHT * LIMITS_BLOCK as u64;
    let blocks = words.div_ceil(at_once).clamp(1, blocks as u64) as u32;
    let params = Params::LimitsReadParams(LimitsReadParams { words });
    recipe(Kernel::limits_read_u32_u32, words, blocks, params)
}

/// Runs fused multiply-adds, [`ffma_operations`] operations in all. The input is a factor and an addend.
pub fn ffma(rounds: u32, blocks: u32) -> Recipe {
    let params = Params::LimitsFfmaParams(LimitsFfmaParams { rounds });
    recipe(Kernel::limits_ffma_f32_f32, 2, blocks, params)
}

/// Returns the operations of [`ffma`]: two, a product and a sum, per instruction and thread.
pub fn ffma_operations(rounds: u32, blocks: u32) -> u64 {
    2 * FFMA_A_ROUND as u64 * rounds as u64 * blocks as u64 * LIMITS_BLOCK as u64
}

fn recipe(kernel: Kernel, input: u64, blocks: u32, params: Params) -> Recipe {
    let facts = kernel.facts();
    let buffer = |role, element: ElementType, elems| Buffer { role, element, elems };
    let launch = Launch {
        kernel,
        blocks: [blocks, 1],
        shared_bytes: 0,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params,
        taps: [].into(),
    };
    Recipe {
        operation: OPERATION,
        variant: facts.variant,
        why: "measures the machine".into(),
        buffers: vec![
            buffer(Role::Input, facts.src, input),
            buffer(Role::Output, facts.dst, blocks as u64 * LIMITS_BLOCK as u64),
        ],
        launches: vec![launch],
        images: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_one_launch_with_an_output_a_thread() {
        let large = read(40_001, 3);
        assert_eq!((large.variant, large.buffers[0].elems, large.buffers[1].elems), ("limits-read", 40_004, 3 * 256));
        assert_eq!(large.launches[0].params, Params::LimitsReadParams(LimitsReadParams { words: 40_004 }));
        let blocks = |words: u64| read(words, 3).launches[0].blocks;
        assert_eq!([1, 4096, 4097, 8193].map(blocks), [[1, 1], [1, 1], [2, 1], [3, 1]]);
        let ffma = ffma(5, 3);
        assert_eq!((ffma.variant, ffma.buffers[0].elems, ffma.launches[0].blocks), ("limits-ffma", 2, [3, 1]));
        assert_eq!(ffma_operations(5, 3), 2 * 512 * 5 * 3 * 256);
    }
}
