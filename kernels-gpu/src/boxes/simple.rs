//! Box filters of bytes in windows of any size, one thread per output, in two launches: sums along rows, and then down
//! columns.
//!
//! The buffer of row sums has one row more than the image: the sums of a row of the constant, for windows that reach
//! above or below the image.
//!
//! Per output and pass: one global load per sample of the window along the pass's axis, no shared memory, no barrier.

use super::bytes::scaled;
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, BorderMode, BoxParams, Pixel, SIMPLE_BLOCK};
use core::marker::PhantomData;

/// The pass along rows.
///
/// Launch contract: the buffers are as large as the parameters say; the destination has one row more than the image.
pub struct SimpleRows;

/// The pass down columns, over the sums of [`SimpleRows`].
///
/// Launch contract: as for [`SimpleRows`], whose destination is the source here.
pub struct SimpleColumns<O>(PhantomData<O>);

/// Returns this thread's output as (sample in the row, column, channel, row); `None` outside the output.
#[inline(always)]
fn place<D: Device>(d: D, p: &BoxParams, rows: u32) -> Option<(u32, u32, u32, u32)> {
    let sample = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
    let y = d.block_y() * SIMPLE_BLOCK[1] + d.thread_y();
    if sample >= p.out_width * p.channels || y >= rows {
        return None;
    }
    // SAFETY: an image has at least one channel.
    let (x, channel) = unsafe { div_rem(sample, p.channels) };
    Some((sample, x, channel, y))
}

impl Body for SimpleRows {
    type Src = u8;
    type Dst = u32;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u32>, p: &BoxParams) {
        let Some((sample, x, channel, y)) = place(d, p, p.height + 1) else { return };
        let border = BorderMode::from_u32(p.border);
        let at = |x: i32| match border.map(x, p.width as i32) {
            Some(x) if y < p.height => {
                let at = y as u64 * p.row_stride as u64 + x as u32 as u64 * p.channels as u64;
                // SAFETY: the border mapped the column into the image, and the row is below its height.
                unsafe { d.load(src, at + channel as u64) as u32 }
            }
            _ => p.constant as u32,
        };
        let (mut sum, mut i) = (0, x as i32 + p.origin_x);
        while i < x as i32 + p.origin_x + p.window_x as i32 {
            sum += at(i);
            i += 1;
        }
        // SAFETY: (sample, y) is in the buffer of sums, and no other thread's.
        unsafe { d.store(dst, y as u64 * (p.out_width * p.channels) as u64 + sample as u64, sum) };
    }
}

impl<O: Pixel> Body for SimpleColumns<O> {
    type Src = u32;
    type Dst = O;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u32>, dst: Global<O>, p: &BoxParams) {
        let Some((sample, _, _, y)) = place(d, p, p.out_height) else { return };
        let (border, samples) = (BorderMode::from_u32(p.border), (p.out_width * p.channels) as u64);
        let (mut sum, mut i) = (0u64, y as i32 + p.origin_y);
        while i < y as i32 + p.origin_y + p.window_y as i32 {
            let row = border.map(i, p.height as i32).map_or(p.height, |row| row as u32);
            // SAFETY: the border mapped the row into the image, or it is the additional row of sums.
            sum += unsafe { d.load(src, row as u64 * samples + sample as u64) } as u64;
            i += 1;
        }
        let value = O::Sum::from_f64(scaled(d, sum as f64, [p.factor, p.divisor]));
        // SAFETY: (sample, y) is in the output, and no other thread's.
        unsafe { d.store(dst, y as u64 * samples + sample as u64, O::from_sum(value)) };
    }
}
