//! The kernels for tiles of any side, in three passes, with the complex numbers of the tiles in global memory between
//! them: columns are split; rows are split, multiplied and joined; columns are joined. A block transforms `8192 /
//! 2^STAGES` lines (rows or columns) of `2^STAGES` numbers, 32 numbers per thread, in two groups of stages:
//!
//! ```text
//! first   a thread holds numbers of one line, 2^(STAGES - 5) apart                       5 stages
//! last    a thread holds adjacent numbers of lines, with the same high bits `h` of       STAGES - 5 stages
//!         their place in the line
//! ```
//!
//! In the last group, the high bits of a register's index `k` are the low bits of the number's place in its line, and
//! the low bits of `k` are those of the line's index: so the distance between two numbers of a butterfly does not
//! depend on the length of lines.

use super::{
    get, input, join, join_first, multiply, of_siblings, output, put, root, split, split_first, Numbers, Place, NUMBERS,
};
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Complex, FftParams, FFT_BLOCK, FFT_BLOCK_NUMBERS};

/// The kernel that loads tiles and splits their columns: block (`x`, `y`) has group `x` of the columns of tile `y` of
/// the launch.
///
/// Launch contract: the taps are the roots, [`apron_abi::FFT_ROOT_COUNT`] complex numbers; the destination has room for
/// the complex numbers of the launch's tiles.
pub struct Columns<const STAGES: u32>;

/// The kernel that splits rows, multiplies them by the mask's transform and joins them.
///
/// Launch contract: as for [`Columns`]; the roots are followed by the mask's transform, in the order of
/// [`apron_abi::fft_rows_place`].
pub struct Rows<const STAGES: u32>;

/// The kernel that joins columns and stores the outputs of tiles, with the grid of [`Columns`].
///
/// Launch contract: as for [`Columns`].
pub struct Back<const STAGES: u32>;

/// Returns column, row and channel of the block's tile; `None` beyond the last tile.
#[inline(always)]
fn tile<D: Device>(d: D, p: &FftParams) -> Option<[u32; 3]> {
    if d.block_y() >= p.tiles {
        return None;
    }
    // SAFETY: an image has at least one channel.
    let (of_channels, channel) = unsafe { div_rem(p.first_tile + d.block_y(), p.channels) };
    // SAFETY: a row of tiles has at least one tile.
    let (tile_y, tile_x) = unsafe { div_rem(of_channels, p.tiles_x) };
    Some([tile_x, tile_y, channel])
}

/// Returns the places of a thread's numbers in the first group of stages of a block of columns.
#[inline(always)]
fn place<D: Device, const STAGES: u32>(d: D) -> Place {
    let (columns, thread) = (FFT_BLOCK_NUMBERS >> STAGES, d.thread_x());
    Place { x: d.block_x() * columns + thread % columns, y: thread / columns, step: FFT_BLOCK / columns }
}

impl<const STAGES: u32> Body for Columns<STAGES> {
    type Src = f32;
    type Dst = f32;
    type Params = FftParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &FftParams) {
        let Some(tile) = tile(d, p) else { return };
        let (place, thread) = (place::<D, STAGES>(d), d.thread_x());
        // SAFETY: each number in shared memory is written by the thread that holds it, and read after a barrier; each
        // number of the destination is stored by one thread.
        unsafe {
            let mut numbers = input(d, src, p, tile, &place);
            split_first(d, &mut numbers);
            put(d, &numbers, first_places::<D, false>(d));
            d.barrier();
            let mut numbers = get(d, last_places::<D, false, STAGES>(d));
            split_last::<D, STAGES>(d, &mut numbers, thread / 8);
            each_last::<D, STAGES>(d, p, |k, at| d.store2(dst, 2 * at, numbers[k]));
        }
    }
}

impl<const STAGES: u32> Body for Back<STAGES> {
    type Src = f32;
    type Dst = f32;
    type Params = FftParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &FftParams) {
        let Some(tile) = tile(d, p) else { return };
        let (place, thread) = (place::<D, STAGES>(d), d.thread_x());
        // SAFETY: as above; each output is stored by one thread.
        unsafe {
            let mut numbers = [[0.0; 2]; NUMBERS];
            each_last::<D, STAGES>(d, p, |k, at| numbers[k] = load(d, src, at));
            join_last::<D, STAGES>(d, &mut numbers, thread / 8);
            put(d, &numbers, last_places::<D, false, STAGES>(d));
            d.barrier();
            let mut numbers = get(d, first_places::<D, false>(d));
            join_first(d, &mut numbers);
            output(d, dst, p, tile, &place, &numbers);
        }
    }
}

impl<const STAGES: u32> Body for Rows<STAGES> {
    type Src = f32;
    type Dst = f32;
    type Params = FftParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &FftParams) {
        let (number, thread) = (d.block_y(), d.thread_x());
        if number >= p.tiles {
            return;
        }
        // The block's rows are adjacent in memory.
        let first = (number * d.blocks_x() + d.block_x()) as u64 * FFT_BLOCK_NUMBERS as u64;
        let apart = 1 << (STAGES - 5);
        let at = |thread: u32| {
            let line = first + (((thread / apart) << STAGES) + thread % apart) as u64;
            move |n: u32| line + (n * apart) as u64
        };
        // SAFETY: as above.
        unsafe {
            let (mut numbers, from) = ([[0.0; 2]; NUMBERS], at(thread));
            for n in 0..NUMBERS {
                numbers[n] = load(d, src, from(n as u32));
            }
            split_first(d, &mut numbers);
            put(d, &numbers, first_places::<D, true>(d));
            d.barrier();
            let mut numbers = get(d, last_places::<D, true, STAGES>(d));
            split_last::<D, STAGES>(d, &mut numbers, thread / 8);
            multiply(d, &mut numbers, d.block_x());
            join_last::<D, STAGES>(d, &mut numbers, d.anew(thread) / 8);
            put(d, &numbers, last_places::<D, true, STAGES>(d));
            d.barrier();
            let mut numbers = get(d, first_places::<D, true>(d));
            join_first(d, &mut numbers);
            let to = at(d.anew(thread));
            for n in 0..NUMBERS as u32 {
                d.store2(dst, 2 * to(n), numbers[n as usize]);
            }
        }
    }
}

/// Calls `each` with the index of each register of the last group, and the index of its number in the buffer of the
/// launch's tiles.
#[inline(always)]
fn each_last<D: Device, const STAGES: u32>(d: D, p: &FftParams, mut each: impl FnMut(usize, u64)) {
    let (thread, pitch, x) = (d.anew(d.thread_x()), p.columns, d.block_x() * (FFT_BLOCK_NUMBERS >> STAGES));
    let tile = ((d.block_y() as u64) << STAGES) * pitch as u64;
    let mut row = tile + (((thread / 8) << (STAGES - 5)) * pitch + x + thread % 8) as u64;
    // The low bits of `k` are the bits of the column above its lowest three.
    let columns = 1 << (10 - STAGES);
    for k in 0..NUMBERS {
        each(k, row + (k % columns * 8) as u64);
        if k % columns == columns - 1 {
            row += pitch as u64;
        }
    }
}

/// Loads a complex number, in one access of 8 bytes.
#[inline(always)]
unsafe fn load<D: Device>(d: D, from: Global<f32>, at: u64) -> Complex<f32> {
    // SAFETY: the caller's promise.
    let bits = unsafe { d.load(Global::<u64>::at(from.address), at) };
    [f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32)]
}

/// Returns the places in shared memory of a thread's numbers in the first group. The high bits `h` of a number's place
/// in its line are also the high bits of its place in shared memory; the other bits are swizzled so that each half warp
/// accesses 16 different pairs of banks. In these bits, the low bits of the place in the line are below the line's
/// index for `ROWS`, above it for columns.
#[inline(always)]
fn first_places<D: Device, const ROWS: bool>(d: D) -> impl Fn(u32) -> u32 {
    let thread = d.anew(d.thread_x());
    let rest = if ROWS { thread ^ thread >> 5 } else { thread };
    let of = [rest, rest ^ 8];
    move |n| of[n as usize % 2] + n * FFT_BLOCK
}

/// As [`first_places`], in the last group: at most 16 computed places, and constant distances from them.
#[inline(always)]
fn last_places<D: Device, const ROWS: bool, const STAGES: u32>(d: D) -> impl Fn(u32) -> u32 {
    let thread = d.anew(d.thread_x());
    let (h, line) = (thread / 8, thread % 8);
    let mut of = [0; 16];
    for low in 0..16 {
        of[low as usize] =
            h * FFT_BLOCK + if ROWS { line << 5 | (low ^ (line | (h & 1) << 3)) } else { line | ((low ^ h) & 1) << 3 };
    }
    move |k| {
        if ROWS {
            let low = 10 - STAGES;
            let rest = (k & ((1 << low) - 1)) << (STAGES - 5) | k >> low;
            of[rest as usize % 16] + rest / 16 * 16
        } else {
            of[k as usize % 2] + k / 2 * 16
        }
    }
}

/// Performs the last `STAGES - 5` stages on numbers whose places in their lines have the high bits `h`.
///
/// # Safety
/// The taps begin with the roots.
#[inline(always)]
unsafe fn split_last<D: Device, const STAGES: u32>(d: D, numbers: &mut Numbers, h: u32) {
    // SAFETY: the caller's promise.
    let of = |n: u32| unsafe { root(d, n) };
    split::<D, 16>(d, numbers, constant(of(32 + h)));
    if STAGES > 6 {
        split::<D, 8>(d, numbers, pairs([of(64 + 2 * h)]));
    }
    if STAGES > 7 {
        split::<D, 4>(d, numbers, pairs([0, 1].map(|k| of(128 + 4 * h + 2 * k))));
    }
    if STAGES > 8 {
        split::<D, 2>(d, numbers, pairs([0, 1, 2, 3].map(|k| of(256 + 8 * h + 2 * k))));
    }
    if STAGES > 9 {
        split::<D, 1>(d, numbers, pairs([0, 1, 2, 3, 4, 5, 6, 7].map(|k| of(512 + 16 * h + 2 * k))));
    }
}

/// The inverse of [`split_last`].
///
/// # Safety
/// As [`split_last`].
#[inline(always)]
unsafe fn join_last<D: Device, const STAGES: u32>(d: D, numbers: &mut Numbers, h: u32) {
    // SAFETY: the caller's promise.
    let of = |n: u32| unsafe { root(d, n) };
    if STAGES > 9 {
        join::<D, 1>(d, numbers, pairs([0, 1, 2, 3, 4, 5, 6, 7].map(|k| of(512 + 16 * h + 2 * k))));
    }
    if STAGES > 8 {
        join::<D, 2>(d, numbers, pairs([0, 1, 2, 3].map(|k| of(256 + 8 * h + 2 * k))));
    }
    if STAGES > 7 {
        join::<D, 4>(d, numbers, pairs([0, 1].map(|k| of(128 + 4 * h + 2 * k))));
    }
    if STAGES > 6 {
        join::<D, 8>(d, numbers, pairs([of(64 + 2 * h)]));
    }
    join::<D, 16>(d, numbers, constant(of(32 + h)));
}

#[inline(always)]
fn constant(root: Complex<f32>) -> impl Fn(usize) -> Complex<f32> {
    move |_| root
}

/// Returns roots by polynomial index: only those of even indices are loaded, the others are their siblings.
#[inline(always)]
fn pairs<const N: usize>(even: [Complex<f32>; N]) -> impl Fn(usize) -> Complex<f32> {
    move |n| of_siblings(even[n / 2], n)
}
