//! P2: one thread per output sample, no tile; the axis is a compile-time parameter.
//!
//! Two launches filter an image, along rows and then along columns. The first stores its sums without rounding, as f32,
//! or as f64 for integer results, in a buffer on the device.
//!
//! Per output sample and pass: one global load per tap (adjacent threads hit the same cache lines), no shared memory,
//! no barrier.
//!
//! Departures from the article: interleaved channels (a thread computes a sample, and its neighbours along the row
//! are `channels` samples apart), all borders, output windows that need not start at the image's corner (crop), taps
//! in constant memory.

use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, BorderMode, Conv1dParams, FromSum, Sample, SIMPLE_BLOCK};
use core::marker::PhantomData;

/// The kernel. `AXIS` 0 filters along rows, 1 along columns.
///
/// Launch contract: the buffers are as large as the parameters say, and there are `taps` taps.
pub struct Simple<I, O, A, const AXIS: u32>(PhantomData<(I, O, A)>);

impl<I: Sample, O: FromSum<A>, A: Accumulator, const AXIS: u32> Body for Simple<I, O, A, AXIS> {
    type Src = I;
    type Dst = O;
    type Params = Conv1dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv1dParams) {
        let row_samples = p.out_width * p.channels;
        let sample = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
        let y = d.block_y() * SIMPLE_BLOCK[1] + d.thread_y();
        if sample >= row_samples || y >= p.out_height {
            return;
        }
        // SAFETY: an image has at least one channel.
        let (x, channel) = unsafe { div_rem(sample, p.channels) };
        let border = BorderMode::from_u32(p.border);
        let (at, length) = if AXIS == 0 { (x, p.width) } else { (y, p.height) };
        let first = at as i32 + p.origin;

        let mut sum = A::ZERO;
        for i in 0..p.taps {
            let value = match border.map(first + i as i32, length as i32) {
                Some(index) => {
                    let (x, y) = if AXIS == 0 { (index as u32, y) } else { (x, index as u32) };
                    let at = y as u64 * p.row_stride as u64 + x as u64 * p.channels as u64;
                    // SAFETY: the border mapped the filtered axis into the image; the other is inside.
                    A::of(unsafe { d.load(src, at + channel as u64) })
                }
                None => A::from_f64(p.constant),
            };
            // SAFETY: i is below the number of taps.
            sum = d.fma(A::of(unsafe { d.tap(i) }), value, sum);
        }
        // SAFETY: (sample, y) is in the output and no other thread's.
        unsafe { d.store(dst, y as u64 * row_samples as u64 + sample as u64, O::from_sum(sum)) };
    }
}
