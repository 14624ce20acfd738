//! Dense, naive: one thread per output pixel, image and mask from global memory.
//!
//! The loops of the host reference P5, whose two outer loops the grid replaces; the first rung of the ladder in
//! `docs/ladder.md`.
//!
//! Per output sample: `w * h` global loads of the image and `w * h` of the mask, through the caches only; no shared
//! memory, no barrier. Every image load applies the border's index map first.

use crate::conv2d::{sample, store};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Accumulator, BorderMode, Conv2dParams, Pixel, SIMPLE_BLOCK};
use core::marker::PhantomData;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, and the rows of taps follow each other without
/// padding.
pub struct Naive<I, O>(PhantomData<(I, O)>);

impl<I: Pixel, O: Pixel> Body for Naive<I, O> {
    type Src = I;
    type Dst = O;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv2dParams) {
        let x = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
        let y = d.block_y() * SIMPLE_BLOCK[1] + d.thread_y();
        if x >= p.out_width || y >= p.out_height {
            return;
        }
        let border = BorderMode::from_u32(p.border);
        for channel in 0..p.channels {
            let mut sum = O::Sum::ZERO;
            for j in 0..p.mask_height {
                let row = border.map((y + j) as i32 + p.origin_y, p.height as i32);
                for i in 0..p.mask_width {
                    let column = border.map((x + i) as i32 + p.origin_x, p.width as i32);
                    // SAFETY: the border mapped row and column into the image; the tap is in the mask.
                    sum = unsafe {
                        let tap = d.tap(j * p.mask_width + i);
                        d.fma(O::Sum::of(tap), sample(d, src, p, (row, column), channel), sum)
                    };
                }
            }
            // SAFETY: (x, y) is in the output and no other thread's.
            unsafe { store(d, dst, p, (x, y), channel, sum) };
        }
    }
}
