//! Tables of tiles of bytes (CLAHE): a tile's table is the cumulative sum of its histogram, clipped at a limit, with
//! the excess spread over all values.
//!
//! ```text
//! zero the counters; barrier
//! each warp, one row of the tile after another: count the bytes, with reflect101 past the image's end; barrier
//! each thread sums the excess of all counts over the limit, then the clipped counts up to its value: its entry
//! ```
//!
//! 1 KiB of shared memory. Per byte of the image: one global load, `channels` bytes apart, and one shared atomic; two
//! barriers per block; up to 512 shared loads per thread, all broadcasts.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{BorderMode, FromSum, TilesParams, BYTE_BINS};

/// The kernel: block (`t`, `c`) writes the 256 entries of channel `c` of tile `t`; tiles are numbered row by row.
///
/// Launch contract: the input holds the image, the output 256 bytes per channel and tile; the grid has one column per
/// tile and one row per channel; a tile has fewer than 2^32 pixels, and the shared memory is as in the kernel table.
pub struct Tiles;

impl Body for Tiles {
    type Src = u8;
    type Dst = u8;
    type Params = TilesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, tables: Global<u8>, p: &TilesParams) {
        let (counters, value) = (Shared::<u32>::at(0), d.thread_x());
        // SAFETY: the block has 256 threads, one per counter.
        unsafe { d.shared_store(counters, value, 0) };
        d.barrier();

        let (tile, channel) = (d.block_x(), d.block_y());
        // A grid may have more rows of blocks than its launch needs.
        if channel >= p.channels {
            return;
        }
        // Checked divisions: the compiler's own check would call a panic.
        let (column, row) = (tile.checked_rem(p.across).unwrap_or(0), tile.checked_div(p.across).unwrap_or(0));
        let (left, top) = (column * p.tile_width, row * p.tile_height);
        let mut y = value / 32;
        while y < p.tile_height {
            let row = reflected(top + y, p.height) as u64 * p.width as u64;
            let mut x = value % 32;
            while x < p.tile_width {
                let pixel = row + reflected(left + x, p.width) as u64;
                // SAFETY: row and column are reflected into the image; every byte has a counter.
                unsafe {
                    let byte = d.load(src, pixel * p.channels as u64 + channel as u64);
                    d.shared_increment(counters, byte as u32);
                }
                x += 32;
            }
            y += BYTE_BINS / 32;
        }
        d.barrier();

        let (mut above, mut other) = (0, 0);
        // Not unrolled, since the unrolled loops would spill registers.
        while other < d.anew(BYTE_BINS) {
            // SAFETY: `other` is below 256; no thread changes the counters after the barrier.
            above += unsafe { d.shared_load(counters, other) }.saturating_sub(p.limit);
            other += 1;
        }
        let (each, rest) = (above / BYTE_BINS, above % BYTE_BINS);
        // The remainder of the excess goes to single values, a constant step apart.
        let step = BYTE_BINS.checked_div(rest).unwrap_or(BYTE_BINS);
        let (mut sum, mut other) = (0, 0);
        let (mut next, mut given) = (0, 0);
        while other <= value {
            // SAFETY: as above.
            sum += unsafe { d.shared_load(counters, other) }.min(p.limit) + each;
            if other == next && given < rest {
                sum += 1;
                given += 1;
                next += step;
            }
            other += 1;
        }
        let entry = u8::from_sum(sum as f32 * p.scale);
        // SAFETY: the output has 256 entries per channel and tile, one per thread of the block.
        unsafe { d.store(tables, ((tile * p.channels + channel) * BYTE_BINS + value) as u64, entry) };
    }
}

/// Returns the position that reflect101 substitutes for a position past the end of an axis.
#[inline(always)]
pub(super) fn reflected(position: u32, length: u32) -> u32 {
    BorderMode::Reflect101.map(position as i32, length as i32).unwrap_or(0) as u32
}
