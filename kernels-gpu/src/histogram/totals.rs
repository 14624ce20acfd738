//! Totals in global memory to which all blocks add, and by which the last one finds the result.

use crate::device::{Device, Global};
use apron_abi::{total_of, TOTAL_BITS};

/// Adds what the block counted for a cell, a bin of a channel, and that it has, to the cell's total. Who is the last
/// to do so writes the total to the output, and takes it away again.
///
/// A total tells by itself how many blocks have added to it, so no thread waits for another block, and nothing but
/// the total must be visible to anyone: one addition's way to the L2 cache and back is waited for.
///
/// # Safety
/// Every block of the launch, of which there are less than 2^16, calls this once for every one of the `cells`, and
/// they count less than 2^48 in all. The totals, at [`total_of`] each cell, are 0 before the launch, and no other
/// launch that runs adds to them.
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
    // SAFETY: the total is inside the totals, and the count, a thread's of all, inside the output.
    unsafe {
        let before = d.atomic_add(totals, total, counted);
        if (before >> TOTAL_BITS) as u32 == d.blocks_x() - 1 {
            let all = before + counted;
            d.store(counts, cell as u64, all & ((1 << TOTAL_BITS) - 1));
            d.atomic_add(totals, total, all.wrapping_neg());
        }
    }
}
