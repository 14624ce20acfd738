//! P10 through the texture unit, which clamps the coordinates to the edge and converts bytes to floats.
//!
//! Blocks of 8x4 threads. Per output pixel: 9 texture reads (`tex.2d`, normalised float, a whole pixel each), 9
//! constant reads, no index arithmetic for the border, no shared memory, no barrier. Before the launch the image is
//! copied into a texture, whose layout is local in two dimensions rather than row by row.
//!
//! The unit returns a byte as `byte / 255` in f32. Multiplied by 255 and rounded, this is the byte again, so sums and
//! results equal those of the other variants to the bit.
//!
//! Departures from the article: crop, which never reaches outside; sums in f64.

use crate::device::{Device, Global, TextureHandle};
use crate::rgba::{block_corner, store_pixel, Sums, TAPS};
use crate::Body;
use apron_abi::{Conv2dParams, RGBA_MASK};

/// The kernel.
///
/// Launch contract: as for [`Naive`](super::Naive), but the source is the handle of a texture of the image's size, and
/// the border is replicate or crop.
pub struct Texture;

impl Body for Texture {
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
        let texture = TextureHandle(src.address);
        let (column, row) = (x as i32 + p.origin_x, y as i32 + p.origin_y);
        // At 2^23 the spacing of f32 is 1: the addition rounds to the byte.
        const MAGIC: f32 = 8388608.0;
        let byte = |unit: f32| (unit * 255.0 + MAGIC) - MAGIC;
        let mut sums = Sums::ZERO;
        for tap in 0..TAPS {
            let (i, j) = ((tap % RGBA_MASK) as i32, (tap / RGBA_MASK) as i32);
            // SAFETY: the launch contract; `tap` is below 9.
            sums = unsafe {
                let [r, g, b, a] = d.texel(texture, column + i, row + j);
                sums.add(d, tap, [byte(r), byte(g), byte(b), byte(a)])
            };
        }
        // SAFETY: checked above; one pixel per thread.
        unsafe { store_pixel(d, dst, p, x, y, sums) };
    }
}
