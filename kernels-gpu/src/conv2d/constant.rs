//! Dense, the mask in constant memory: [`Naive`](super::Naive), but for the place of its taps.
//!
//! All threads of a warp need the same tap at the same time, which suits constant memory: one read serves 32 threads.
//! Four taps are read at once, at an address that the compiler cannot prove uniform. With single reads at a uniform
//! address, masks of 64x64 taps are slower here than in the naive kernel (docs/decisions/mask-reads.md).
//!
//! Per output sample: `w * h` global loads of the image, each after the border's index map, and `ceil(w / 4) * h`
//! constant reads per warp; no shared memory, no barrier.

use crate::conv2d::{sample, store};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{tap_stride, Accumulator, BorderMode, Conv2dParams, Pixel, SIMPLE_BLOCK, TAPS_AT_ONCE};
use core::marker::PhantomData;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, and the taps' rows are [`apron_abi::tap_stride`]
/// taps apart.
pub struct Constant<I, O>(PhantomData<(I, O)>);

impl<I: Pixel, O: Pixel> Body for Constant<I, O> {
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
        // Always 0, which the compiler cannot know: thread_x is below 32.
        let first_tap = d.thread_x() / SIMPLE_BLOCK[0] * TAPS_AT_ONCE;
        for channel in 0..p.channels {
            let mut sum = O::Sum::ZERO;
            for j in 0..p.mask_height {
                let row = border.map((y + j) as i32 + p.origin_y, p.height as i32);
                let add = |tap: f32, i: u32, sum: O::Sum| {
                    let column = border.map((x + i) as i32 + p.origin_x, p.width as i32);
                    // SAFETY: the border mapped row and column into the image.
                    d.fma(O::Sum::of(tap), unsafe { sample(d, src, p, (row, column), channel) }, sum)
                };
                let mut i = 0;
                while i < p.mask_width {
                    // SAFETY: the taps are in the mask, whose rows are padded.
                    let [a, b, c, e] = unsafe { d.taps4(first_tap + j * tap_stride(p.mask_width) + i) };
                    sum = add(a, i, sum);
                    // Padding is skipped: 0 times infinity is not 0.
                    if i + 1 < p.mask_width {
                        sum = add(b, i + 1, sum);
                    }
                    if i + 2 < p.mask_width {
                        sum = add(c, i + 2, sum);
                    }
                    if i + 3 < p.mask_width {
                        sum = add(e, i + 3, sum);
                    }
                    i += TAPS_AT_ONCE;
                }
            }
            // SAFETY: (x, y) is in the output and no other thread's.
            unsafe { store(d, dst, p, (x, y), channel, sum) };
        }
    }
}
