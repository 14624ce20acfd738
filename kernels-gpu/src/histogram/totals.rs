//! Totals in global memory to which all blocks add, and by which the last block recognizes itself.

use crate::device::{Device, Global};
use apron_abi::{total_of, TOTAL_BITS};

/// Adds the block's count of a cell, a bin of a channel, to the cell's total, and 1 to the number of finished blocks
/// there. The last thread to do so writes the total to the output, and resets it to 0.
///
/// A total contains the number of blocks that have added to it, so no thread waits for another block, and nothing but
/// the total must be visible to other threads: the cost is one round trip to the L2 cache.
///
/// # Safety
/// Every block of the launch, of fewer than 2^16 blocks, calls this once per cell of the `cells`, and they count less
/// than 2^48 in all. The totals, at [`total_of`] each cell, are 0 before the launch, and no other launch that runs at
/// the same time adds to them.
#[inline(always)]
pub(super) unsafe fn add<D: Device>(
    d: D,
    totals: Global<u64>,
    counts: Global<u64>,
    cell: u32,
    cells: u32,
    counted: u32,
) {
    let (counted, total) = ((1 << TOTAL_BITS) + counted as u64, total_of(cell, cells));
    // SAFETY: the total is inside the totals, and the count inside the output, where only one thread writes it.
    unsafe {
        let before = d.atomic_add(totals, total, counted);
        if (before >> TOTAL_BITS) as u32 == d.blocks_x() - 1 {
            let all = before + counted;
            d.store(counts, cell as u64, all & ((1 << TOTAL_BITS) - 1));
            d.atomic_add(totals, total, all.wrapping_neg());
        }
    }
}
