//! Box filters of windows of any size, one thread per output, in two launches: sums along rows, and then down
//! columns.
//!
//! The sums along rows have one row more than the image, for the rows outside where the border is constant: their f32
//! sums are not the same in every column, since the order of summation depends on the column.
//!
//! Per output and pass: one global load per sample of the window's side, no shared memory, no barrier.

use super::bytes::scaled;
use crate::device::{Device, Global};
use crate::windows::ordered_sum;
use crate::{div_rem, Body};
use apron_abi::{Accumulator, BorderMode, BoxParams, Element, ElementType, Pixel, Sample, SIMPLE_BLOCK};
use core::marker::PhantomData;

/// The kernel that sums along rows.
///
/// Launch contract: the buffers are as large as the parameters say, the second with one row more than the image.
pub struct SimpleRows<I>(PhantomData<I>);

/// The kernel that sums the sums along rows down columns.
///
/// Launch contract: as of [`SimpleRows`].
pub struct SimpleColumns<I, O>(PhantomData<(I, O)>);

/// Returns this thread's output: sample of the row, column, channel and row; `None` outside the image.
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

/// A type of samples that are summed along rows: f32, or bytes, whose sums are u32.
pub trait BoxSample: Sample {
    /// The type of their sums.
    type Sum: Element;
    /// Returns the sum of `count` numbers from index `first` on.
    fn sum(first: i32, count: u32, at: impl Fn(i32) -> f32) -> Self::Sum;
}

impl BoxSample for f32 {
    type Sum = f32;
    #[inline(always)]
    fn sum(first: i32, count: u32, at: impl Fn(i32) -> f32) -> f32 {
        ordered_sum(first, count, 0.0, |a, b| a + b, at)
    }
}

impl BoxSample for u8 {
    type Sum = u32;
    #[inline(always)]
    fn sum(first: i32, count: u32, at: impl Fn(i32) -> f32) -> u32 {
        let (mut sum, mut i) = (0, first);
        while i < first + count as i32 {
            sum += at(i) as u32;
            i += 1;
        }
        sum
    }
}

impl<I: BoxSample> Body for SimpleRows<I> {
    type Src = I;
    type Dst = I::Sum;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<I::Sum>, p: &BoxParams) {
        let Some((sample, x, channel, y)) = place(d, p, p.height + 1) else { return };
        let border = BorderMode::from_u32(p.border);
        let at = |x: i32| match border.map(x, p.width as i32) {
            Some(x) if y < p.height => {
                let at = y as u64 * p.row_stride as u64 + x as u32 as u64 * p.channels as u64;
                // SAFETY: in the image.
                unsafe { d.load(src, at + channel as u64) }.to_f32()
            }
            _ => p.constant,
        };
        let sum = I::sum(x as i32 + p.origin_x, p.window_x, at);
        // SAFETY: in the sums, and no other thread's.
        unsafe { d.store(dst, y as u64 * (p.out_width * p.channels) as u64 + sample as u64, sum) };
    }
}

impl<I: Element, O: Pixel> Body for SimpleColumns<I, O> {
    type Src = I;
    type Dst = O;
    type Params = BoxParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &BoxParams) {
        let Some((sample, _, _, y)) = place(d, p, p.out_height) else { return };
        let (border, samples) = (BorderMode::from_u32(p.border), (p.out_width * p.channels) as u64);
        let index =
            |y: i32| border.map(y, p.height as i32).map_or(p.height, |y| y as u32) as u64 * samples + sample as u64;
        let first = y as i32 + p.origin_y;
        let value = if I::TYPE == ElementType::F32 {
            // SAFETY: in the sums, of f32.
            let at = |y: i32| unsafe { d.load(Global::<f32>::at(src.address), index(y)) };
            O::Sum::of(ordered_sum(first, p.window_y, 0.0, |a, b| a + b, at) * p.scale)
        } else {
            let (mut sum, mut i) = (0u64, first);
            while i < first + p.window_y as i32 {
                // SAFETY: in the sums, of u32.
                sum += unsafe { d.load(Global::<u32>::at(src.address), index(i)) } as u64;
                i += 1;
            }
            O::Sum::from_f64(scaled(d, sum as f64, [p.factor, p.divisor]))
        };
        // SAFETY: in the output, and no other thread's.
        unsafe { d.store(dst, y as u64 * samples + sample as u64, O::from_sum(value)) };
    }
}
