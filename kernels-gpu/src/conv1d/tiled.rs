//! P3: one thread per *loaded* pixel; a shared tile along the filtered axis.
//!
//! A tile has 32 threads along the filtered axis, which load 32 samples and compute `32 - (taps - 1)` outputs; adjacent
//! tiles overlap by the halo:
//!
//! ```text
//! thread: load the input pixel tile * outputs + local + origin (border by index map) -> shared
//! barrier
//! threads with local < outputs: sum of tap * tile element local + i
//! ```
//!
//! Per output sample and pass: `32 / (33 - taps)` global loads instead of P2's one per tap, equally many shared
//! stores, one shared load per tap, taps four at a time, one barrier; 4 KiB of shared memory (8 KiB where the sums
//! are f64). The cost is idle threads: of 32, `taps - 1` compute nothing.
//!
//! Departures from the article: 32 tiles per block, side by side along the other axis; a thread computes the output
//! whose window *starts* at its pixel, not the one in the middle of the window, which takes equally many threads and
//! suits every anchor and border crop; interleaved channels, one tile per channel; all borders.

use crate::device::{Device, Global, Shared};
use crate::taps::add_row;
use crate::{div_rem, Body};
use apron_abi::{Accumulator, BorderMode, Conv1dParams, FromSum, Sample, TILE_WIDTH};
use core::marker::PhantomData;

/// The kernel. `AXIS` 0 filters along rows, 1 along columns.
///
/// Launch contract: the buffers are as large as the parameters say, and there are 1 to 32 taps, padded to a multiple
/// of 4. A row of the grid has one block per tile; along rows, one per tile and channel.
pub struct Tiled<I, O, A, const AXIS: u32>(PhantomData<(I, O, A)>);

impl<I: Sample, O: FromSum<A>, A: Accumulator, const AXIS: u32> Body for Tiled<I, O, A, AXIS> {
    type Src = I;
    type Dst = O;
    type Params = Conv1dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv1dParams) {
        let tile = Shared::<A>::at(0);
        let outputs = TILE_WIDTH + 1 - p.taps;
        let border = BorderMode::from_u32(p.border);
        let (thread_x, thread_y) = (d.thread_x(), d.thread_y());
        let in_row = p.row_stride as u64;
        // `at` is the index, along the filtered axis, of the output whose window starts at the thread's pixel. The
        // output is sample `sample` of row `y`; input sample `i` of the axis is element `base + i * step`.
        let (local, at, in_length, out_length, sample, y, other_inside, base, step);
        if AXIS == 0 {
            // SAFETY: an image has at least one channel.
            let (tile_column, channel) = unsafe { div_rem(d.block_x(), p.channels) };
            (local, at) = (thread_x, tile_column * outputs + thread_x);
            (in_length, out_length) = (p.width, p.out_width);
            (sample, y) = (at * p.channels + channel, d.block_y() * TILE_WIDTH + thread_y);
            other_inside = y < p.out_height;
            (base, step) = (y as u64 * in_row + channel as u64, p.channels as u64);
        } else {
            (local, at) = (thread_y, d.block_y() * outputs + thread_y);
            (in_length, out_length) = (p.height, p.out_height);
            (sample, y) = (d.block_x() * TILE_WIDTH + thread_x, at);
            other_inside = sample < p.out_width * p.channels;
            (base, step) = (sample as u64, in_row);
        }

        let element = thread_y * TILE_WIDTH + thread_x;
        let mut value = A::ZERO;
        if other_inside {
            value = match border.map(at as i32 + p.origin, in_length as i32) {
                // SAFETY: the border mapped the filtered axis into the image; the other is inside.
                Some(index) => A::of(unsafe { d.load(src, base + index as u64 * step) }),
                None => A::from_f64(p.constant),
            };
        }
        // SAFETY: one element per thread.
        unsafe { d.shared_store(tile, element, value) };
        d.barrier();

        if other_inside && local < outputs && at < out_length {
            let step = if AXIS == 0 { 1 } else { TILE_WIDTH };
            // SAFETY: local + taps - 1 is below 32; the taps are padded.
            let sum: A = unsafe { add_row(d, 0, p.taps, tile, element, step, A::ZERO) };
            // SAFETY: (sample, y) is in the output and no other thread's.
            unsafe { d.store(dst, y as u64 * (p.out_width * p.channels) as u64 + sample as u64, O::from_sum(sum)) };
        }
    }
}
