//! The local standard deviation in windows of any size, one thread per output, in two launches: sums of samples and
//! of their squares along rows, and then down columns, all in f64.
//!
//! The sums along rows are two planes, of the samples and then of the squares, each with one row more than the image,
//! for the rows outside where the border is constant.
//!
//! Per output: one global load per sample of the window's width, two per row of its height, no shared memory, no
//! barrier.

mod sliding;

pub use sliding::Deviation;

use crate::device::{Device, Global};
use crate::windows::ordered_sum;
use crate::{div_rem, Body};
use apron_abi::{Accumulator, BorderMode, LocalParams, Pixel, Sample, SIMPLE_BLOCK};
use core::marker::PhantomData;

/// The kernel that sums along rows.
///
/// Launch contract: the buffers are as large as the parameters say; the second holds two planes of one row more than
/// the image.
pub struct Rows<I>(PhantomData<I>);

/// The kernel that sums the sums along rows down columns, and takes the square root.
///
/// Launch contract: as of [`Rows`].
pub struct Columns<O>(PhantomData<O>);

/// Returns this thread's sample of a row, and the row; `None` outside the image.
#[inline(always)]
fn place<D: Device>(d: D, p: &LocalParams, rows: u32) -> Option<(u32, u32)> {
    let sample = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
    let y = d.block_y() * SIMPLE_BLOCK[1] + d.thread_y();
    if sample >= p.out_width * p.channels || y >= rows {
        return None;
    }
    Some((sample, y))
}

/// Returns the samples per row of the output, and per plane of the sums.
#[inline(always)]
fn sizes(p: &LocalParams) -> (u64, u64) {
    let row = (p.out_width * p.channels) as u64;
    (row, row * (p.height as u64 + 1))
}

impl<I: Sample> Body for Rows<I> {
    type Src = I;
    type Dst = f64;
    type Params = LocalParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<f64>, p: &LocalParams) {
        let Some((sample, y)) = place(d, p, p.height + 1) else { return };
        // SAFETY: an image has at least one channel.
        let (x, channel) = unsafe { div_rem(sample, p.channels) };
        let border = BorderMode::from_u32(p.border);
        let at = |x: i32| match border.map(x, p.width as i32) {
            Some(x) if y < p.height => {
                let pixel = y as u64 * p.width as u64 + x as u32 as u64;
                // SAFETY: in the image.
                unsafe { d.load(src, pixel * p.channels as u64 + channel as u64) }.to_f64()
            }
            _ => p.constant as f64,
        };
        let terms = |x: i32| {
            let value = at(x);
            // The square of an f32 is exact in f64.
            [value, value * value]
        };
        let [sum, squares] = ordered_sum(x as i32 + p.origin_x, p.window_x, [0.0; 2], both, terms);
        let (row, plane) = sizes(p);
        let index = y as u64 * row + sample as u64;
        // SAFETY: in the two planes, and no other thread's.
        unsafe {
            d.store(dst, index, sum);
            d.store(dst, plane + index, squares);
        }
    }
}

impl<O: Pixel> Body for Columns<O> {
    type Src = f64;
    type Dst = O;
    type Params = LocalParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<O>, p: &LocalParams) {
        let Some((sample, y)) = place(d, p, p.out_height) else { return };
        let border = BorderMode::from_u32(p.border);
        let (row, plane) = sizes(p);
        let terms = |y: i32| {
            let index = border.map(y, p.height as i32).map_or(p.height, |y| y as u32) as u64 * row + sample as u64;
            // SAFETY: in the two planes.
            unsafe { [d.load(src, index), d.load(src, plane + index)] }
        };
        let [sum, squares] = ordered_sum(y as i32 + p.origin_y, p.window_y, [0.0; 2], both, terms);
        let value = deviation(d, [sum, squares], [p.window_x, p.window_y]);
        // SAFETY: in the output, and no other thread's.
        unsafe { d.store(dst, y as u64 * row + sample as u64, O::from_sum(O::Sum::from_f64(value))) };
    }
}

/// Adds sums of samples and of their squares.
#[inline(always)]
fn both([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a + c, b + d]
}

/// Returns the standard deviation of a window with these sums of samples and of their squares.
#[inline(always)]
fn deviation<D: Device>(d: D, sums: [f64; 2], [width, height]: [u32; 2]) -> f64 {
    let count = width as f64 * height as f64;
    d.sqrt(variance(d, sums, count)) / count
}

/// Returns the variance times the square of the count.
#[inline(always)]
fn variance<D: Device>(d: D, [sum, squares]: [f64; 2], count: f64) -> f64 {
    let variance = d.fma(count, squares, -(sum * sum));
    // Comparisons with NaN are false, so NaN stays.
    if variance < 0.0 {
        0.0
    } else {
        variance
    }
}
