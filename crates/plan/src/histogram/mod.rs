//! Recipes of histograms: of bytes, between edges, by slices of the cells, weighted; and what they have in common.

pub(crate) mod bytes;
pub(crate) mod edges;
pub(crate) mod slices;
pub(crate) mod weighted;

use crate::recipe::Steps;
use crate::{Buffer, Launch, Role, unsupported};
use apron_abi::{ElementType, MAX_CELLS, Rounds, total_of};
use apron_core::Result;

const OPERATION: &str = "histogram";

/// A block's counters have 32 bits.
fn check_counters(samples: u64, blocks: u32) -> Result<()> {
    if samples / blocks as u64 >= u32::MAX as u64 - (1 << 16) {
        return Err(unsupported(OPERATION, format!("histograms of {samples} samples"), "use --device cpu"));
    }
    Ok(())
}

/// The buffer of the totals in recipes that have them.
const TOTALS: u64 = 1;

/// A launch whose blocks add what they count out of `samples` to the totals of `cells`.
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

/// How the threads of all blocks share `reads` of 16 bytes, in which `samples` are counted.
fn rounds(samples: u64, reads: u64, blocks: u32, threads: u32) -> Result<Rounds> {
    check_counters(samples, blocks)?;
    Ok(Rounds::of(reads, blocks * threads).expect("fewer than a block counts"))
}
