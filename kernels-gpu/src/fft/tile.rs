//! The kernel for tiles of 128x128 samples: one block per tile. The tile's 64x128 complex numbers stay in registers, 32
//! per thread; they are exchanged through 64 KiB of shared memory between three groups of stages:
//!
//! ```text
//! columns  a thread has every fourth number of a column          5 stages of the columns
//! middle   8x4 numbers, 8 columns apart                          2 stages of the columns, 3 of the rows
//! rows     8x4 numbers, side by side                             3 stages of the rows, product, 3 inverse stages
//! middle, columns                                                the inverse stages of these groups
//! ```
//!
//! Shared memory is swizzled: column `x` of row `y` is at `x ^ (y2y3 << 3 | y4y5y6)` of the row, where `y2` to `y6` are
//! bits of `y`. So each half warp accesses 16 different pairs of banks in each group.

use super::{get, input, join, join_first, multiply, of_siblings, output, put, root, split, split_first, Place};
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{FftParams, Sample, FFT_BLOCK, FFT_FIRST_ROOTS};
use core::marker::PhantomData;

/// Columns of complex numbers per tile.
const COLUMNS: u32 = 64;

/// The kernel. A row of the grid has one block per tile of a row of tiles and channel; blocks of the channels of a tile
/// are adjacent.
///
/// Launch contract: the taps are the roots, [`apron_abi::FFT_ROOT_COUNT`] complex numbers, and the mask's transform, in
/// the order of [`apron_abi::fft_place`].
pub struct Tile<I>(PhantomData<I>);

impl<I: Sample> Body for Tile<I> {
    type Src = I;
    type Dst = f32;
    type Params = FftParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<f32>, p: &FftParams) {
        let thread = d.thread_x();
        // SAFETY: an image has at least one channel.
        let (tile_x, channel) = unsafe { div_rem(d.block_x(), p.channels) };
        let tile_y = d.block_y();
        if tile_y >= p.tiles_y {
            return;
        }
        let tile = [tile_x, tile_y, channel];
        let place_of_thread = Place { x: thread % COLUMNS, y: thread / COLUMNS, step: FFT_BLOCK / COLUMNS };
        // The bits of the row above its lowest two in the middle group, and the bits of the column above its lowest
        // three in the group of rows.
        let (high_row, high_column) = (thread / 8, thread / 8 % 8);
        // SAFETY: each number in shared memory is written by the thread that holds it, and read after a barrier; the
        // taps begin with the roots.
        unsafe {
            let mut numbers = input(d, src, p, tile, &place_of_thread);
            split_first(d, &mut numbers);
            put(d, &numbers, of_columns(d, thread));
            d.barrier();

            let mut numbers = get(d, middle(d, thread));
            let last = [root(d, 32 + high_row), root(d, 64 + 2 * high_row)];
            split::<D, 16>(d, &mut numbers, |_| last[0]);
            split::<D, 8>(d, &mut numbers, |n| of_siblings(last[1], n));
            split::<D, 4>(d, &mut numbers, |_| FFT_FIRST_ROOTS[1]);
            split::<D, 2>(d, &mut numbers, |n| FFT_FIRST_ROOTS[2 + n % 2]);
            split::<D, 1>(d, &mut numbers, |n| FFT_FIRST_ROOTS[4 + n % 4]);
            put(d, &numbers, middle(d, thread));
            d.barrier();

            let mut numbers = get(d, side_by_side(d, thread));
            let stages = [
                root(d, 8 + high_column),
                root(d, 16 + 2 * high_column),
                root(d, 32 + 4 * high_column),
                root(d, 34 + 4 * high_column),
            ];
            split::<D, 4>(d, &mut numbers, |_| stages[0]);
            split::<D, 2>(d, &mut numbers, |n| of_siblings(stages[1], n));
            split::<D, 1>(d, &mut numbers, |n| of_siblings(stages[2 + n / 2 % 2], n));
            multiply(d, &mut numbers, 0);
            join::<D, 1>(d, &mut numbers, |n| of_siblings(stages[2 + n / 2 % 2], n));
            join::<D, 2>(d, &mut numbers, |n| of_siblings(stages[1], n));
            join::<D, 4>(d, &mut numbers, |_| stages[0]);
            put(d, &numbers, side_by_side(d, thread));
            d.barrier();

            let mut numbers = get(d, middle(d, thread));
            join::<D, 1>(d, &mut numbers, |n| FFT_FIRST_ROOTS[4 + n % 4]);
            join::<D, 2>(d, &mut numbers, |n| FFT_FIRST_ROOTS[2 + n % 2]);
            join::<D, 4>(d, &mut numbers, |_| FFT_FIRST_ROOTS[1]);
            join::<D, 8>(d, &mut numbers, |n| of_siblings(last[1], n));
            join::<D, 16>(d, &mut numbers, |_| last[0]);
            put(d, &numbers, middle(d, thread));
            d.barrier();

            let mut numbers = get(d, of_columns(d, thread));
            join_first(d, &mut numbers);
            output(d, dst, p, tile, &place_of_thread, &numbers);
        }
    }
}

/// Returns the place of a number in shared memory, in complex numbers.
#[inline(always)]
fn place(x: u32, y: u32) -> u32 {
    y * COLUMNS + (x ^ ((y >> 2 & 3) << 3 | (y >> 4 & 7)))
}

/// Returns the places of the thread's numbers in the group of columns. Places are recomputed for each group, to save
/// registers.
#[inline(always)]
fn of_columns<D: Device>(d: D, thread: u32) -> impl Fn(u32) -> u32 {
    let thread = d.anew(thread);
    let (x, first_row) = (thread % COLUMNS, thread / COLUMNS);
    move |n| 4 * n * COLUMNS + (first_row * COLUMNS + (x ^ ((n & 3) << 3 | n >> 2)))
}

/// As [`of_columns`], in the middle group: four places, and constant distances from them.
#[inline(always)]
fn middle<D: Device>(d: D, thread: u32) -> impl Fn(u32) -> u32 {
    let thread = d.anew(thread);
    let (high_row, low_column) = (thread / 8, thread % 8);
    let of = |n: u32| place(n << 3 | low_column, high_row << 2);
    let first = [of(0), of(1), of(2), of(3)];
    move |n| first[n as usize % 4] + n / 4 % 2 * 32 + n / 8 * COLUMNS
}

/// As [`of_columns`], in the group of rows: eight places, and constant distances from them.
#[inline(always)]
fn side_by_side<D: Device>(d: D, thread: u32) -> impl Fn(u32) -> u32 {
    let thread = d.anew(thread);
    let (high_column, row) = (thread / 8 % 8, (thread % 8) << 4 | (thread / 64) << 2);
    let of = |n: u32| place(high_column << 3 | n, row);
    let first = [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)];
    move |n| first[n as usize % 8] + n / 8 * COLUMNS
}
