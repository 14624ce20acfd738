//! Correlation by Fourier transforms of tiles: parts that its kernels share.

mod tile;

pub use tile::Tile;

use crate::device::Device;
use apron_abi::{fft_join, fft_split, Complex, FFT_FIRST_ROOTS};

/// Complex numbers per thread.
const NUMBERS: usize = 32;

/// The numbers of a thread.
type Numbers = [Complex<f32>; NUMBERS];

/// Returns root `n` from the launch's taps.
///
/// # Safety
/// The taps begin with the roots.
#[inline(always)]
unsafe fn root<D: Device>(d: D, n: u32) -> Complex<f32> {
    // SAFETY: the caller's promise.
    unsafe { [d.tap(2 * n), d.tap(2 * n + 1)] }
}

/// Splits polynomials whose numbers a thread holds: those whose indices differ by `HALF`. `root` gives the root for the
/// polynomial's number among the thread's, which is the index without its last bits.
#[inline(always)]
fn split<D: Device, const HALF: usize>(d: D, numbers: &mut Numbers, root: impl Fn(usize) -> Complex<f32>) {
    for n in 0..NUMBERS / 2 {
        let low = n / HALF * 2 * HALF + n % HALF;
        let pair = fft_split(|a, b, c| d.fma(a, b, c), [numbers[low], numbers[low + HALF]], root(n / HALF));
        numbers[low] = pair[0];
        numbers[low + HALF] = pair[1];
    }
}

/// Goes back from [`split`].
#[inline(always)]
fn join<D: Device, const HALF: usize>(d: D, numbers: &mut Numbers, root: impl Fn(usize) -> Complex<f32>) {
    for n in 0..NUMBERS / 2 {
        let low = n / HALF * 2 * HALF + n % HALF;
        let pair = fft_join(|a, b, c| d.fma(a, b, c), [numbers[low], numbers[low + HALF]], root(n / HALF));
        numbers[low] = pair[0];
        numbers[low + HALF] = pair[1];
    }
}

/// Performs the first five stages of a polynomial whose numbers all are the thread's.
#[inline(always)]
fn split_first<D: Device>(d: D, numbers: &mut Numbers) {
    split::<D, 16>(d, numbers, |_| FFT_FIRST_ROOTS[1]);
    split::<D, 8>(d, numbers, |n| FFT_FIRST_ROOTS[2 + n]);
    split::<D, 4>(d, numbers, |n| FFT_FIRST_ROOTS[4 + n]);
    split::<D, 2>(d, numbers, |n| FFT_FIRST_ROOTS[8 + n]);
    split::<D, 1>(d, numbers, |n| FFT_FIRST_ROOTS[16 + n]);
}

/// Goes back from [`split_first`].
#[inline(always)]
fn join_first<D: Device>(d: D, numbers: &mut Numbers) {
    join::<D, 1>(d, numbers, |n| FFT_FIRST_ROOTS[16 + n]);
    join::<D, 2>(d, numbers, |n| FFT_FIRST_ROOTS[8 + n]);
    join::<D, 4>(d, numbers, |n| FFT_FIRST_ROOTS[4 + n]);
    join::<D, 8>(d, numbers, |n| FFT_FIRST_ROOTS[2 + n]);
    join::<D, 16>(d, numbers, |_| FFT_FIRST_ROOTS[1]);
}
