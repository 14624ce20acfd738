//! P4: a dense mask in constant memory over a shared tile that is filled in several batches.
//!
//! A block of 32x32 threads computes 32x32 output pixels. The tile is the input under them with a halo (the apron) of
//! `mask - 1` pixels along each axis, more elements than the block has threads:
//!
//! ```text
//! for each channel:
//!     batch i: thread t loads tile element t + i * 1024       (coalesced; border by index map)
//!     barrier                                                 (the tile is complete)
//!     thread (x, y): sum over the mask of tap * tile element
//!     barrier                                                 (no thread reads the tile any more)
//! ```
//!
//! Per output and channel: (32 + w - 1)(32 + h - 1) / 1024 global loads, w * h shared loads and w * h taps, four at a
//! time, which all threads of a warp read at the same address: one constant-cache read. Two barriers per channel; 4
//! (31 + w)(31 + h) bytes of shared memory per block.
//!
//! Departures from the article: the tile holds f32 for all pixel types, so a byte is converted once and not once per
//! tap, and the border's constant may be any number; all borders, not only zero, and only blocks at the border map
//! indices; the division by the tile's width is a multiplication ([`reciprocal`]); the mask is a kernel parameter
//! (see [`Taps`](apron_abi::Taps)), so launches in flight cannot disturb each other.

use crate::conv2d::{sample, store};
use crate::device::{Device, Global, Shared};
use crate::taps::add_row;
use crate::Body;
use apron_abi::{reciprocal, tap_stride, Accumulator, BorderMode, Conv2dParams, Pixel, TAPS_AT_ONCE, TILE_WIDTH};
use core::marker::PhantomData;

/// The kernel. `LARGE` selects how taps are read: at a uniform address, which is faster as long as the constant cache
/// holds the mask; or at an address that the compiler cannot prove uniform, which is read through a larger cache
/// (docs/decisions/mask-reads.md).
///
/// Launch contract: the buffers are as large as the parameters say, the shared memory is
/// [`apron_abi::SharedMemory::MaskTile`], and the taps' rows are [`apron_abi::tap_stride`] taps apart.
pub struct Tiled<I, O, const LARGE: bool>(PhantomData<(I, O)>);

impl<I: Pixel, O: Pixel, const LARGE: bool> Body for Tiled<I, O, LARGE> {
    type Src = I;
    type Dst = O;
    type Params = Conv2dParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &Conv2dParams) {
        const THREADS: u32 = TILE_WIDTH * TILE_WIDTH;
        let tile = Shared::<f32>::at(0);
        let (tile_width, tile_height) = (TILE_WIDTH + p.mask_width - 1, TILE_WIDTH + p.mask_height - 1);
        let (block_x, block_y) = (d.block_x() * TILE_WIDTH, d.block_y() * TILE_WIDTH);
        let (x, y) = (block_x + d.thread_x(), block_y + d.thread_y());
        let thread = d.thread_y() * TILE_WIDTH + d.thread_x();
        let (left, top) = (block_x as i32 + p.origin_x, block_y as i32 + p.origin_y);
        let border = BorderMode::from_u32(p.border);
        // Only blocks at the border map indices.
        let inside = left >= 0
            && top >= 0
            && left + tile_width as i32 <= p.width as i32
            && top + tile_height as i32 <= p.height as i32;

        for channel in 0..p.channels {
            let mut element = thread;
            while element < tile_width * tile_height {
                let tile_row = reciprocal::divide(element, p.tile_reciprocal);
                let tile_column = element - tile_row * tile_width;
                let (row, column) = (top + tile_row as i32, left + tile_column as i32);
                let mapped = if inside {
                    (Some(row), Some(column))
                } else {
                    (border.map(row, p.height as i32), border.map(column, p.width as i32))
                };
                // SAFETY: the sample is in the image and the element in the tile, which one thread writes.
                unsafe { d.shared_store(tile, element, sample::<D, I, f32>(d, src, p, mapped, channel)) };
                element += THREADS;
            }
            d.barrier();

            if x < p.out_width && y < p.out_height {
                // Always 0, which the compiler cannot know: see `LARGE`.
                let first_tap = if LARGE { d.thread_x() / TILE_WIDTH * TAPS_AT_ONCE } else { 0 };
                // SAFETY: the tile is complete since the barrier, and the launch's taps are in padded rows.
                let sum = unsafe { sum_window::<D, O::Sum>(d, p, tile, tile_width, first_tap) };
                // SAFETY: (x, y) is in the output and no other thread's.
                unsafe { store(d, dst, p, (x, y), channel, sum) };
            }
            d.barrier();
        }
    }
}

/// Returns the sum of a thread's window; the mask starts at tap `tap_row`.
///
/// # Safety
/// The tile and the taps are complete, rows of taps padded to a multiple of 4.
#[inline(always)]
unsafe fn sum_window<D: Device, A: Accumulator>(
    d: D,
    p: &Conv2dParams,
    tile: Shared<f32>,
    tile_width: u32,
    mut tap_row: u32,
) -> A {
    let mut sum = A::ZERO;
    let stride = tap_stride(p.mask_width);
    let end = tap_row + stride * p.mask_height;
    let mut sample_row = d.thread_y() * tile_width + d.thread_x();
    while tap_row < end {
        // SAFETY: the taps are in the mask, and the window of a thread is in the tile.
        sum = unsafe { add_row(d, tap_row, p.mask_width, tile, sample_row, 1, sum) };
        (tap_row, sample_row) = (tap_row + stride, sample_row + tile_width);
    }
    sum
}
