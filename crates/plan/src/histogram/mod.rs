//! Recipes of histograms: of bytes, between edges, by slices of bins, weighted, of many dimensions;
//! and their common parts.

pub(crate) mod bytes;
pub(crate) mod edges;
pub(crate) mod joint;
pub(crate) mod places;
pub(crate) mod slices;
pub(crate) mod values;
pub(crate) mod weighted;

use crate::recipe::Steps;
use crate::{Buffer, Launch, Role, unsupported};
use apron_abi::{ElementType, MAX_CELLS, Rounds, total_of};
use apron_core::Result;

const OPERATION: &str = "histogram";

/// Checks that no block counts more samples than its 32-bit counters hold.
fn check_counters(samples: u64, blocks: u32) -> Result<()> {
    if samples / blocks as u64 >= u32::MAX as u64 - (1 << 16) {
        return Err(unsupported(OPERATION, format!("histograms of {samples} samples"), "use --device cpu"));
    }
    Ok(())
}

/// Index of the buffer of totals, in recipes that have one.
const TOTALS: u64 = 1;

/// Plans a launch whose blocks add their counts of the `samples` to the `cells` totals.
fn with_totals(samples: u64, cells: u32, counting: Launch) -> Result<Steps> {
    if cells > MAX_CELLS {
        return Err(unsupported(OPERATION, format!("{cells} bins in all (at most {MAX_CELLS})"), "use --device cpu"));
    }
    Ok((
        vec![
            Buffer { role: Role::Input, element: counting.kernel.facts().src, elems: samples },
            Buffer { role: Role::Zeroed, element: ElementType::U64, elems: total_of(cells, cells) },
            Buffer { role: Role::Output, element: ElementType::U64, elems: cells as u64 },
        ],
        vec![Launch { dst: 2, ..counting }],
    ))
}

/// Distributes `reads` of 16 bytes over the threads of all blocks; `samples` bounds the counters.
fn rounds(samples: u64, reads: u64, blocks: u32, threads: u32) -> Result<Rounds> {
    check_counters(samples, blocks)?;
    Ok(Rounds::of(reads, blocks * threads).expect("fewer than a block counts"))
}
