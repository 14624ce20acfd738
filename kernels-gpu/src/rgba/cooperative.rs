//! P12: a shared tile that the threads of the block fill together.
//!
//! ```text
//! thread t of 32, numbered along the block's rows; the first 30:
//!     load pixel t of the 10x6 tile (rows 0 to 2), then pixel t + 30 (rows 3 to 5)
//! barrier
//! every thread: sum its window in the tile
//! ```
//!
//! Per block: 60 global loads, two per thread and 30 at once; 240 bytes of shared memory, one barrier. Per output
//! pixel: just under 2 global loads, 9 shared loads, 9 constant reads.
//!
//! Departures from the article: those of [`Naive`](super::Naive).

use crate::device::{Device, Global, Shared};
use crate::rgba::{block_corner, fill, sum_tile};
use crate::Body;
use apron_abi::{Conv2dParams, RGBA_BLOCK, RGBA_TILE};

/// The kernel.
///
/// Launch contract: as for [`OneLoader`](super::OneLoader).
pub struct Cooperative;

impl Body for Cooperative {
    type Src = u8;
    type Dst = u8;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &Conv2dParams) {
        const LOADERS: u32 = RGBA_TILE[0] * RGBA_TILE[1] / 2;
        let tile = Shared::<u32>::at(0);
        let corner = block_corner(d);
        let thread = d.thread_y() * RGBA_BLOCK[0] + d.thread_x();
        if thread < LOADERS {
            // SAFETY: both indices are below 60, and no other thread writes them.
            unsafe {
                fill(d, src, p, tile, corner, thread);
                fill(d, src, p, tile, corner, thread + LOADERS);
            }
        }
        d.barrier();
        // SAFETY: the tile is complete since the barrier.
        unsafe { sum_tile(d, dst, p, tile, corner) };
    }
}
