//! Tables of tiles of 16-bit samples (CLAHE), from their histograms: one block per table, 2048 values per warp.
//!
//! ```text
//! each warp sums the excess of its counts over the limit; barrier; the warps' sums are added
//! each warp sums its clipped counts; barrier; the sums of the warps with lower values are added
//! each warp, 32 values at a time: a scan of the clipped counts up to each value, and its entry
//! ```
//!
//! 256 bytes of shared memory. Per value: three global loads and a store, coalesced; two barriers per block.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{FromSum, TilesParams, WIDE_BLOCK, WIDE_VALUES};

/// The kernel: block (`t`, `c`) writes the 65536 entries of channel `c` of tile `t`.
///
/// Launch contract: the input holds 65536 counts per channel and tile, with sums below 2^32, the output equally many
/// entries; the grid has one column per tile and one row per channel, and the shared memory is as in the kernel
/// table.
pub struct WideTables;

/// Values per warp.
const OWN: u32 = WIDE_VALUES / (WIDE_BLOCK / 32);

/// Returns, in every lane, the sum of the numbers of all lanes.
#[inline(always)]
fn of_warp<D: Device>(d: D, lane: u32, number: u32) -> u32 {
    let mut sum = number;
    let mut apart = 16;
    while apart > 0 {
        sum += d.shuffle(sum, lane ^ apart);
        apart /= 2;
    }
    sum
}

impl Body for WideTables {
    type Src = u32;
    type Dst = u16;
    type Params = TilesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, counts: Global<u32>, tables: Global<u16>, p: &TilesParams) {
        let (lane, warp) = (d.thread_x() % 32, d.thread_x() / 32);
        // A grid may have more rows of blocks than its launch needs.
        if d.block_y() >= p.channels {
            return;
        }
        let first = (d.block_x() * p.channels + d.block_y()) as u64 * WIDE_VALUES as u64;
        let (start, end) = (warp * OWN, warp * OWN + OWN);
        // SAFETY: called for values below 65536, which the table's counts have.
        let count = |value: u32| unsafe { d.load(counts, first + value as u64) };

        let (aboves, sums) = (Shared::<u32>::at(0), Shared::<u32>::at(WIDE_BLOCK / 32 * 4));
        let (mut above, mut value) = (0, start + lane);
        while value < end {
            above += count(value).saturating_sub(p.limit);
            value += 32;
        }
        let above = of_warp(d, lane, above);
        if lane == 0 {
            // SAFETY: the array has one place per warp, written by lane 0.
            unsafe { d.shared_store(aboves, warp, above) };
        }
        d.barrier();
        // SAFETY: the block has 32 warps; each lane loads the sum of one, which no thread changes after the barrier.
        let above = of_warp(d, lane, unsafe { d.shared_load(aboves, lane) });
        let (each, rest) = (above / WIDE_VALUES, above % WIDE_VALUES);
        // The remainder of the excess goes to single values, a constant step apart.
        let step = WIDE_VALUES.checked_div(rest).unwrap_or(1);
        let clipped = |value: u32| {
            let place = value.checked_div(step).unwrap_or(0);
            let one = place < rest && place * step == value;
            count(value).min(p.limit) + each + one as u32
        };

        let (mut sum, mut value) = (0, start + lane);
        while value < end {
            sum += clipped(value);
            value += 32;
        }
        let sum = of_warp(d, lane, sum);
        if lane == 0 {
            // SAFETY: the array has one place per warp, written by lane 0.
            unsafe { d.shared_store(sums, warp, sum) };
        }
        d.barrier();
        // SAFETY: as above.
        let before = unsafe { d.shared_load(sums, lane) };
        let mut before = of_warp(d, lane, if lane < warp { before } else { 0 });
        let mut value = start + lane;
        while value < end {
            let mut upto = clipped(value);
            let mut apart = 1;
            while apart < 32 {
                let other = d.shuffle(upto, lane.saturating_sub(apart));
                if lane >= apart {
                    upto += other;
                }
                apart *= 2;
            }
            let entry = u16::from_sum((before + upto) as f32 * p.scale);
            // SAFETY: a value below `end` is one of this warp's 2048, and of one lane.
            unsafe { d.store(tables, first + value as u64, entry) };
            before += d.shuffle(upto, 31);
            value += 32;
        }
    }
}
