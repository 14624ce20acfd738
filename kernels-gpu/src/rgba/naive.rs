//! P10: one thread per output pixel, which reads the nine pixels under the mask from global memory.
//!
//! Blocks of 8x4 threads. Per output pixel: 9 global loads of a whole pixel (288 per block), 9 constant reads, no
//! shared memory, no barrier.
//!
//! Departures from the article: all borders and crop, not only clamp to edge; sums in f64, as for all integer results
//! here.

use crate::device::{Device, Global};
use crate::rgba::{block_corner, load_pixel, store_pixel, widen, Sums, TAPS};
use crate::Body;
use apron_abi::{Conv2dParams, RGBA_MASK};

/// The kernel.
///
/// Launch contract: 4 channels, a mask of 3x3 taps, buffers as large as the parameters say, and a border constant that
/// is a byte.
pub struct Naive;

impl Body for Naive {
    type Src = u8;
    type Dst = u8;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &Conv2dParams) {
        let (left, top) = block_corner(d);
        let (x, y) = (left + d.thread_x(), top + d.thread_y());
        if x >= p.out_width || y >= p.out_height {
            return;
        }
        let (column, row) = (x as i32 + p.origin_x, y as i32 + p.origin_y);
        let mut sums = Sums::ZERO;
        for tap in 0..TAPS {
            let (i, j) = ((tap % RGBA_MASK) as i32, (tap / RGBA_MASK) as i32);
            // SAFETY: the launch contract; `tap` is below 9.
            sums = unsafe { sums.add(d, tap, widen(load_pixel(d, src, p, column + i, row + j))) };
        }
        // SAFETY: checked above; one pixel per thread.
        unsafe { store_pixel(d, dst, p, x, y, sums) };
    }
}
