//! A dense mask of any size, in pieces each of which fits into shared memory together with the tile under it.
//!
//! A block of 256 threads computes 128x64 or 128x128 output pixels, as [`Blocked`](super::Blocked):
//!
//! ```text
//! for each channel:
//!     for each piece of the mask, from the top, then from the left:
//!         copy the input under the outputs and the piece          (border by index map)
//!         copy the piece's taps, as accumulators; barrier
//!         add the piece's contribution to the sums; barrier
//!     write the results to shared memory; barrier; store them, adjacent lanes adjacent results; barrier
//! ```
//!
//! A piece is several whole mask rows, or part of one row, so that every sum adds its products in the mask's order. The
//! sums stay in registers. A piece costs its tile, (128 + columns - 1)(128 + rows - 1) / 16384 global loads per output
//! with 16x4 outputs per thread, and two barriers. Per 256 multiply-adds a thread reads 16 bytes of samples, and four
//! times four taps, which are broadcasts.

use super::blocked::{self, DOWN};
use crate::device::{Device, Global, Shared};
use crate::taps::SharedTaps;
use crate::{div_rem, Body};
use apron_abi::{
    blocked_pitch, blocked_tile, tap_stride, Accumulator, Conv2dParams, PiecesParams, Pixel, BLOCKED_BLOCK,
};
use core::marker::PhantomData;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, the taps are in a buffer, without padding, and the
/// shared memory is [`apron_abi::SharedMemory::BlockedPieces`] for a mask of a piece's size. A piece of several rows
/// has the mask's width.
pub struct Pieces<I, O, const ACROSS: usize>(PhantomData<(I, O)>);

impl<I: Pixel, O: Pixel, const ACROSS: usize> Body for Pieces<I, O, ACROSS> {
    type Src = I;
    type Dst = O;
    type Params = PiecesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &PiecesParams) {
        let (whole, tile) = (&p.whole, blocked_tile(ACROSS as u32));
        let first = (d.block_x() * tile[0], d.block_y() * tile[1]);
        // Threads side by side.
        let threads = tile[0] / ACROSS as u32;
        let own = (d.thread_x() % threads * ACROSS as u32, d.thread_x() / threads * DOWN as u32);
        let taps = SharedTaps(Shared::<O::Sum>::at(blocked_pitch(p.columns) * (tile[1] + p.rows - 1) * 4));
        for channel in 0..whole.channels {
            let mut sums = [[O::Sum::ZERO; ACROSS]; DOWN];
            let mut row = 0;
            while row < whole.mask_height {
                let mut column = 0;
                while column < whole.mask_width {
                    let piece = Conv2dParams {
                        mask_width: p.columns.min(whole.mask_width - column),
                        mask_height: p.rows.min(whole.mask_height - row),
                        origin_x: whole.origin_x + column as i32,
                        origin_y: whole.origin_y + row as i32,
                        ..*whole
                    };
                    // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
                    unsafe {
                        blocked::bring::<D, I, ACROSS>(d, src, &piece, first, channel);
                        copy_taps(d, &piece, row * whole.mask_width + column, whole.mask_width, taps.0);
                        d.end_copies();
                        d.wait_copies::<0>();
                        d.barrier();
                        blocked::sum::<D, O::Sum, _, ACROSS>(d, &piece, taps, own, 0, &mut sums);
                        d.barrier();
                    }
                    column += p.columns;
                }
                row += p.rows;
            }
            // SAFETY: as above; all pieces are added, so that no thread reads the tile any more.
            unsafe {
                let results = blocked::results::<D, O, O::Sum, ACROSS>(d, whole, own, 0, sums);
                blocked::pass_on::<D, ACROSS>(d, own, results);
                d.barrier();
                blocked::store::<D, O, ACROSS>(d, dst, whole, first, channel);
                d.barrier();
            }
        }
    }
}

/// Copies the taps of a piece, from tap `first` on of a mask with `width` taps per row, each row of the piece padded by
/// zeros to a multiple of 4.
#[inline(always)]
unsafe fn copy_taps<D: Device, A: Accumulator>(d: D, piece: &Conv2dParams, first: u32, width: u32, taps: Shared<A>) {
    let stride = tap_stride(piece.mask_width);
    let mut to = d.thread_x();
    while to < stride * piece.mask_height {
        // SAFETY: a mask has columns; the tap is in the mask, and its place is this thread's.
        unsafe {
            let (row, column) = div_rem(to, stride);
            let tap = if column < piece.mask_width { d.tap(first + row * width + column) } else { 0.0 };
            d.shared_store(taps, to, A::of(tap));
        }
        to += BLOCKED_BLOCK;
    }
}
