//! Totals in global memory to which all blocks add; each total also counts the blocks that have added to it, so that
//! the last one is known.

use crate::device::{Device, Global};
use apron_abi::{total_of, TOTAL_BITS};

/// Adds the block's count of a cell, a bin of a channel, to the cell's total, and 1 to the number of finished blocks in
/// the total's upper bits. The thread whose addition is the last one writes the count to the output, and resets the
/// total to 0.
///
/// No thread waits for another block, and only the total must be visible to other threads: the cost is one round trip
/// to the L2 cache.
///
/// # Safety
/// The launch has fewer than 2^16 blocks; each calls this once per cell of the `cells`, and all counts together are
/// below 2^48. The totals, at [`total_of`] each cell, are 0 before the launch, and no other launch that runs at the
/// same time adds to them.
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
    // SAFETY: every cell has a total and a count; only the thread of the last block writes the count.
    unsafe {
        let before = d.atomic_add(totals, total, counted);
        if (before >> TOTAL_BITS) as u32 == d.blocks_x() - 1 {
            let all = before + counted;
            d.store(counts, cell as u64, all & ((1 << TOTAL_BITS) - 1));
            d.atomic_add(totals, total, all.wrapping_neg());
        }
    }
}
