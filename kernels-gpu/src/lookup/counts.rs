//! Histograms of tiles of 16-bit samples. Shared memory does not hold 65536 counters, so a block counts one slice of
//! the values.
//!
//! ```text
//! zero the block's counters, one per value of one slice; barrier
//! each warp, one row of the tile after another: count the samples in the slice, with reflect101 past the image's end;
//! barrier
//! write the counters
//! ```
//!
//! 64 KiB of shared memory. A tile is read once for each of the four slices: one global load per sample, one shared
//! atomic in one of the slices; two barriers per block.

use super::tiles::reflected;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{TilesParams, SLICES_BLOCK, SLICE_CELLS, WIDE_SLICES, WIDE_VALUES};

/// The kernel: block (`t`, `4 * c + s`) writes slice `s` of the 65536 counts of channel `c` of tile `t`; tiles are
/// numbered row by row.
///
/// Launch contract: the input holds the image, the output 65536 counts per channel and tile; the grid has one column
/// per tile and four rows per channel; a tile has fewer than 2^32 pixels, and the shared memory is as in the kernel
/// table.
pub struct Counts;

impl Body for Counts {
    type Src = u16;
    type Dst = u32;
    type Params = TilesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u16>, counts: Global<u32>, p: &TilesParams) {
        let (counters, thread) = (Shared::<u32>::at(0), d.thread_x());
        // A grid may have more rows of blocks than its launch needs.
        if d.block_y() >= p.channels * WIDE_SLICES {
            return;
        }
        let mut counter = thread;
        while counter < SLICE_CELLS {
            // SAFETY: the counter is below `SLICE_CELLS`, the number of counters; one thread writes each.
            unsafe { d.shared_store(counters, counter, 0) };
            counter += SLICES_BLOCK;
        }
        d.barrier();

        let (tile, channel) = (d.block_x(), d.block_y() / WIDE_SLICES);
        let start = d.block_y() % WIDE_SLICES * SLICE_CELLS;
        // Checked divisions: the compiler's own check would call a panic.
        let (column, row) = (tile.checked_rem(p.across).unwrap_or(0), tile.checked_div(p.across).unwrap_or(0));
        let (left, top) = (column * p.tile_width, row * p.tile_height);
        let mut y = thread / 32;
        while y < p.tile_height {
            let row = reflected(top + y, p.height) as u64 * p.width as u64;
            let mut x = thread % 32;
            while x < p.tile_width {
                let pixel = row + reflected(left + x, p.width) as u64;
                // SAFETY: row and column are reflected into the image; `place` is checked.
                unsafe {
                    let sample = d.load(src, pixel * p.channels as u64 + channel as u64);
                    // Values below the slice wrap to large numbers.
                    let place = (sample as u32).wrapping_sub(start);
                    if place < SLICE_CELLS {
                        d.shared_increment(counters, place);
                    }
                }
                x += 32;
            }
            y += SLICES_BLOCK / 32;
        }
        d.barrier();

        let first = (tile * p.channels + channel) as u64 * WIDE_VALUES as u64 + start as u64;
        let mut counter = thread;
        while counter < SLICE_CELLS {
            // SAFETY: the slice is part of the tile's counts; no thread changes the counters after the barrier.
            unsafe { d.store(counts, first + counter as u64, d.shared_load(counters, counter)) };
            counter += SLICES_BLOCK;
        }
    }
}
