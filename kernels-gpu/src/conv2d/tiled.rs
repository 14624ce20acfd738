//! P4: a dense mask in constant memory over a shared tile that is filled in several batches.
//!
//! A block of 32x32 threads computes 32x32 output pixels. It needs the input under them and a
//! halo (the apron) of `mask - 1` pixels, more elements than it has threads:
//!
//! ```text
//! for each channel:
//!     batch i: thread t loads tile element t + i * 1024       (coalesced; border by index map)
//!     barrier                                                 (the tile is complete)
//!     thread (x, y): sum over the mask of tap * tile element
//!     barrier                                                 (nobody reads the tile any more)
//! ```
//!
//! Per output and channel: (32 + w - 1)(32 + h - 1) / 1024 global loads, w * h shared loads and
//! as many taps, four at a time, which every thread of a warp reads at the same address: one
//! constant-cache read.
//!
//! Departures from the article: the grid is flat, so images of any height launch; the tile holds
//! f32 whatever the pixels are, so a byte is converted once and not once a tap, and the border's
//! constant may be any number; all borders, not only zero; the mask is a kernel parameter (see
//! [`Taps`](apron_abi::Taps)), so launches in flight cannot disturb each other.

use crate::conv2d::clamped;
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{tap_stride, Accumulator, BorderMode, Conv2dParams, Pixel, TAPS_AT_ONCE, TILE_WIDTH};
use core::marker::PhantomData;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, the shared memory is
/// [`apron_abi::SharedMemory::MaskTile`], and the taps' rows are [`apron_abi::tap_stride`] apart.
pub struct Tiled<I, O>(PhantomData<(I, O)>);

impl<I: Pixel, O: Pixel> Body for Tiled<I, O> {
    type Src = I;
    type Dst = O;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv2dParams) {
        const THREADS: u32 = TILE_WIDTH * TILE_WIDTH;
        let tile = Shared::<f32>::at(0);
        let tile_width = TILE_WIDTH + p.mask_width - 1;
        let tile_elems = tile_width * (TILE_WIDTH + p.mask_height - 1);
        // SAFETY: an output has at least one block a row.
        let (block_row, block_column) = unsafe { div_rem(d.block(), p.blocks_x) };
        let (block_x, block_y) = (block_column * TILE_WIDTH, block_row * TILE_WIDTH);
        let (x, y) = (block_x + d.thread_x(), block_y + d.thread_y());
        let thread = d.thread_y() * TILE_WIDTH + d.thread_x();
        let (left, top) = (block_x as i32 + p.origin_x, block_y as i32 + p.origin_y);
        let border = BorderMode::from_u32(p.border);

        for channel in 0..p.channels {
            let mut element = thread;
            while element < tile_elems {
                // SAFETY: a tile is at least 32 wide.
                let (tile_row, tile_column) = unsafe { div_rem(element, tile_width) };
                let column = border.map(left + tile_column as i32, p.width as i32);
                let row = border.map(top + tile_row as i32, p.height as i32);
                let value = match (row, column) {
                    (Some(row), Some(column)) => {
                        let pixel = row as u64 * p.width as u64 + column as u64;
                        // SAFETY: the border mapped row and column into the image.
                        unsafe { d.load(src, pixel * p.channels as u64 + channel as u64) }.to_f32()
                    }
                    _ => p.constant,
                };
                // SAFETY: element < tile_elems; every element is written by one thread.
                unsafe { d.shared_store(tile, element, value) };
                element += THREADS;
            }
            d.barrier();

            if x < p.out_width && y < p.out_height {
                let mut sum = O::Sum::ZERO;
                let stride = tap_stride(p.mask_width);
                for j in 0..p.mask_height {
                    let row = (d.thread_y() + j) * tile_width + d.thread_x();
                    let mut i = 0;
                    while i + TAPS_AT_ONCE <= p.mask_width {
                        // SAFETY: the taps are in the mask; the window of an inner thread is in the tile.
                        sum = unsafe { add_taps::<D, O::Sum>(d, j * stride + i, TAPS_AT_ONCE, tile, row + i, sum) };
                        i += TAPS_AT_ONCE;
                    }
                    if i < p.mask_width {
                        // SAFETY: as above, and rows of taps are padded to a multiple of 4.
                        sum = unsafe { add_taps::<D, O::Sum>(d, j * stride + i, p.mask_width - i, tile, row + i, sum) };
                    }
                }
                if p.clamp != 0 {
                    sum = clamped(sum);
                }
                let pixel = y as u64 * p.out_width as u64 + x as u64;
                // SAFETY: (x, y) is in the output and no other thread's.
                unsafe { d.store(dst, pixel * p.channels as u64 + channel as u64, O::from_sum(sum)) };
            }
            d.barrier();
        }
    }
}

/// Adds the first `count` of the four taps at `tap`, times the samples at `sample` and behind.
/// Padding is left out: 0 times infinity is no 0.
#[inline(always)]
unsafe fn add_taps<D: Device, A: Accumulator>(
    d: D,
    tap: u32,
    count: u32,
    tile: Shared<f32>,
    sample: u32,
    mut sum: A,
) -> A {
    // SAFETY: the caller's promise.
    let [a, b, c, e] = unsafe { d.taps4(tap) };
    // Not a loop: an array indexed at run time would be in local memory.
    let mut add = |k: u32, tap: f32| {
        if k < count {
            // SAFETY: the caller's promise.
            let sample = unsafe { d.shared_load(tile, sample + k) };
            sum = d.fma(A::of(tap), A::of(sample), sum);
        }
    };
    add(0, a);
    add(1, b);
    add(2, c);
    add(3, e);
    sum
}
