//! P11: a shared tile that one thread of the block fills.
//!
//! ```text
//! thread 0: load all 60 pixels of the 10x6 tile (the 8x4 block and its halo)
//! barrier
//! every thread: sum its window in the tile
//! ```
//!
//! Per block: 60 global loads instead of the 288 of P10, but one after another while 31 threads wait; 240 bytes of
//! shared memory, one barrier. Per output pixel: 9 shared loads, 9 constant reads. This rung of the ladder is slower
//! than the rung below.
//!
//! Departures from the article: those of [`Naive`](super::Naive).

use crate::device::{Device, Global, Shared};
use crate::rgba::{block_corner, fill, sum_tile};
use crate::Body;
use apron_abi::{Conv2dParams, RGBA_TILE};

/// The kernel.
///
/// Launch contract: as for [`Naive`](super::Naive), and the shared memory of the kernel table.
pub struct OneLoader;

impl Body for OneLoader {
    type Src = u8;
    type Dst = u8;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &Conv2dParams) {
        let tile = Shared::<u32>::at(0);
        let corner = block_corner(d);
        if d.thread_x() == 0 && d.thread_y() == 0 {
            for index in 0..RGBA_TILE[0] * RGBA_TILE[1] {
                // SAFETY: index is below 60, and only this thread writes the tile.
                unsafe { fill(d, src, p, tile, corner, index) };
            }
        }
        d.barrier();
        // SAFETY: the tile is complete since the barrier.
        unsafe { sum_tile(d, dst, p, tile, corner) };
    }
}
