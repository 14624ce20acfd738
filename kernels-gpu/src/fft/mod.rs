//! Correlation by Fourier transforms of tiles: code shared by the kernels.

mod passes;
mod tile;

pub use passes::{Back, Columns, Rows};
pub use tile::Tile;

use crate::device::{Device, Global, Shared};
use apron_abi::{
    fft_join, fft_product, fft_split, BorderMode, Complex, FftParams, Sample, FFT_BLOCK, FFT_FIRST_ROOTS,
    FFT_ROOT_COUNT,
};

/// Complex numbers per thread.
const NUMBERS: usize = 32;

/// The complex numbers of a thread, in registers.
type Numbers = [Complex<f32>; NUMBERS];

/// Returns root of unity `n` from the launch's taps.
///
/// # Safety
/// The taps begin with the roots.
#[inline(always)]
unsafe fn root<D: Device>(d: D, n: u32) -> Complex<f32> {
    // SAFETY: the caller's promise.
    unsafe { [d.tap(2 * n), d.tap(2 * n + 1)] }
}

/// Applies a butterfly to all pairs of a thread's numbers whose indices differ by `HALF`. `butterfly` takes a pair and
/// the index of its polynomial among the thread's, which is a number's index divided by `2 * HALF`.
#[inline(always)]
fn each_pair<const HALF: usize>(
    numbers: &mut Numbers,
    butterfly: impl Fn([Complex<f32>; 2], usize) -> [Complex<f32>; 2],
) {
    for n in 0..NUMBERS / 2 {
        let low = n / HALF * 2 * HALF + n % HALF;
        let pair = butterfly([numbers[low], numbers[low + HALF]], n / HALF);
        numbers[low] = pair[0];
        numbers[low + HALF] = pair[1];
    }
}

/// One stage of the transform: splits each polynomial of `2 * HALF` numbers that a thread holds. `root` returns the
/// root for a polynomial's index, as [`each_pair`] counts them.
#[inline(always)]
fn split<D: Device, const HALF: usize>(d: D, numbers: &mut Numbers, root: impl Fn(usize) -> Complex<f32>) {
    each_pair::<HALF>(numbers, |pair, n| fft_split(|a, b, c| d.fma(a, b, c), pair, root(n)));
}

/// The inverse of [`split`].
#[inline(always)]
fn join<D: Device, const HALF: usize>(d: D, numbers: &mut Numbers, root: impl Fn(usize) -> Complex<f32>) {
    each_pair::<HALF>(numbers, |pair, n| fft_join(|a, b, c| d.fma(a, b, c), pair, root(n)));
}

/// Performs the first five stages on a polynomial of 32 numbers, all of which one thread holds.
#[inline(always)]
fn split_first<D: Device>(d: D, numbers: &mut Numbers) {
    split::<D, 16>(d, numbers, |_| FFT_FIRST_ROOTS[1]);
    split::<D, 8>(d, numbers, |n| FFT_FIRST_ROOTS[2 + n]);
    split::<D, 4>(d, numbers, |n| FFT_FIRST_ROOTS[4 + n]);
    split::<D, 2>(d, numbers, |n| FFT_FIRST_ROOTS[8 + n]);
    split::<D, 1>(d, numbers, |n| FFT_FIRST_ROOTS[16 + n]);
}

/// The inverse of [`split_first`].
#[inline(always)]
fn join_first<D: Device>(d: D, numbers: &mut Numbers) {
    join::<D, 1>(d, numbers, |n| FFT_FIRST_ROOTS[16 + n]);
    join::<D, 2>(d, numbers, |n| FFT_FIRST_ROOTS[8 + n]);
    join::<D, 4>(d, numbers, |n| FFT_FIRST_ROOTS[4 + n]);
    join::<D, 8>(d, numbers, |n| FFT_FIRST_ROOTS[2 + n]);
    join::<D, 16>(d, numbers, |_| FFT_FIRST_ROOTS[1]);
}

/// Returns the root of polynomial `n` of a pair of siblings: `even`, or for odd `n` its sibling, which is `i` times
/// `even`.
#[inline(always)]
fn of_siblings(even: Complex<f32>, n: usize) -> Complex<f32> {
    if n.is_multiple_of(2) {
        even
    } else {
        [-even[1], even[0]]
    }
}

/// A thread's numbers in the first group of stages: rows `y`, `y + step` and so on of column `x` of the tile.
struct Place {
    x: u32,
    y: u32,
    step: u32,
}

/// Loads a thread's numbers: the real parts are samples of column `x` of the tile, the imaginary parts of column `x +
/// p.columns`.
#[inline(always)]
unsafe fn input<D: Device, I: Sample>(
    d: D,
    src: Global<I>,
    p: &FftParams,
    [tile_x, tile_y, channel]: [u32; 3],
    place: &Place,
) -> Numbers {
    let &Place { x, y: first_row, step } = place;
    let (left, top) = (p.left + (tile_x * p.outputs_x) as i32, p.top + (tile_y * p.outputs_y) as i32);
    let column = left + x as i32;
    let mut numbers = [[0.0; 2]; NUMBERS];
    let (right, bottom) = (left + 2 * p.columns as i32, top + NUMBERS as i32 * step as i32);
    if left >= 0 && top >= 0 && right <= p.width as i32 && bottom <= p.height as i32 {
        let first = (top as u32 + first_row) as u64 * p.row_stride as u64 + column as u64 * p.channels as u64;
        let (mut at, down) = (first + channel as u64, step as u64 * p.row_stride as u64);
        for n in 0..NUMBERS {
            // SAFETY: the whole tile is inside the image.
            unsafe {
                numbers[n] = [d.load(src, at).to_f32(), d.load(src, at + (p.columns * p.channels) as u64).to_f32()]
            };
            at += down;
        }
        return numbers;
    }
    const OUTSIDE: u32 = u32::MAX;
    let border = BorderMode::from_u32(p.border);
    let offset = |column| border.map(column, p.width as i32).map_or(OUTSIDE, |x| x as u32 * p.channels + channel);
    let offsets = [offset(column), offset(column + p.columns as i32)];
    for n in 0..NUMBERS {
        let row = border.map(top + (n as u32 * step + first_row) as i32, p.height as i32);
        let row_at = row.unwrap_or(0) as u64 * p.row_stride as u64;
        for part in 0..2 {
            numbers[n][part] = if row.is_none() || offsets[part] == OUTSIDE {
                p.constant
            } else {
                // SAFETY: the border mapped row and column into the image.
                unsafe { d.load(src, row_at + offsets[part] as u64).to_f32() }
            };
        }
    }
    numbers
}

/// Stores the outputs among a thread's numbers, whose parts are samples of the columns that [`input`] loads.
#[inline(always)]
unsafe fn output<D: Device>(
    d: D,
    dst: Global<f32>,
    p: &FftParams,
    [tile_x, tile_y, channel]: [u32; 3],
    place: &Place,
    numbers: &Numbers,
) {
    let &Place { x, y: first_row, step } = place;
    let (left, top) = (p.out_left + (tile_x * p.outputs_x) as i32, p.out_top + (tile_y * p.outputs_y) as i32);
    // Outputs left of the image are negative, so beyond any width as u32.
    let columns = [left + x as i32, left + (x + p.columns) as i32];
    let are_outputs = [
        x < p.outputs_x && (columns[0] as u32) < p.out_width,
        x + p.columns < p.outputs_x && (columns[1] as u32) < p.out_width,
    ];
    for n in 0..NUMBERS {
        let y = n as u32 * step + first_row;
        let row = (top + y as i32) as u32;
        if y < p.outputs_y && row < p.out_height {
            let at = row as u64 * (p.out_width * p.channels) as u64 + channel as u64;
            for part in 0..2 {
                if are_outputs[part] {
                    // SAFETY: row and column are in the output; each output belongs to one thread of one tile.
                    unsafe { d.store(dst, at + columns[part] as u64 * p.channels as u64, numbers[n][part]) };
                }
            }
        }
    }
}

/// Writes the thread's numbers to shared memory.
#[inline(always)]
unsafe fn put<D: Device>(d: D, numbers: &Numbers, place: impl Fn(u32) -> u32) {
    for n in 0..NUMBERS {
        // SAFETY: the caller's promise.
        unsafe { d.shared_store2(Shared::<f32>::at(0), 2 * place(n as u32), numbers[n]) };
    }
}

/// Reads the thread's numbers from shared memory.
#[inline(always)]
unsafe fn get<D: Device>(d: D, place: impl Fn(u32) -> u32) -> Numbers {
    let mut numbers = [[0.0; 2]; NUMBERS];
    for n in 0..NUMBERS {
        // SAFETY: the caller's promise.
        numbers[n] = unsafe { d.shared_load2(Shared::<f32>::at(0), 2 * place(n as u32)) };
    }
    numbers
}

/// Multiplies by the mask's transform, two complex numbers per load. `group` is the index of the block's numbers in the
/// transform, in groups of `32 * FFT_BLOCK` numbers.
///
/// # Safety
/// The taps are the roots and the mask's transform.
#[inline(always)]
unsafe fn multiply<D: Device>(d: D, numbers: &mut Numbers, group: u32) {
    for pair in 0..NUMBERS / 2 {
        let at = (group * NUMBERS as u32 / 2 + pair as u32) * FFT_BLOCK + d.thread_x();
        // SAFETY: the caller's promise.
        let taps = unsafe { d.taps4(2 * FFT_ROOT_COUNT + 4 * at) };
        let fma = |a, b, c| d.fma(a, b, c);
        numbers[2 * pair] = fft_product(fma, numbers[2 * pair], [taps[0], taps[1]]);
        numbers[2 * pair + 1] = fft_product(fma, numbers[2 * pair + 1], [taps[2], taps[3]]);
    }
}
