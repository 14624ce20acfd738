//! The final step of the paired kernels: the pointwise operation, and its results in the output's type.

use crate::device::Device;
use crate::pointwise::{direction, magnitude};
use crate::samples::{Place, Samples};
use apron_abi::{FromSum, PairedOp, PairedParams, PointwiseParams};

/// An output type; a thread stores `P` results at a time.
pub(super) trait Ends<const P: usize>: Samples {
    /// Computes the operation on the sums of both parts, and stores its results.
    ///
    /// # Safety
    /// The place is correct, and all threads of the warp are here.
    unsafe fn store<D: Device>(d: D, place: Place, p: &PairedParams, x: &[f32; P], y: &[f32; P]);
}

/// Returns the weighted sum of both parts, without a threshold.
#[inline(always)]
fn sum<D: Device>(d: D, p: &PointwiseParams, x: f64, y: f64) -> f64 {
    let rest = if p.two != 0 { d.fma(p.b, y, p.c) } else { p.c };
    d.fma(p.a, x, rest)
}

/// Returns whether the operation is a weighted sum without threshold, which [`sum`] computes.
#[inline(always)]
fn is_sum(p: &PairedParams) -> bool {
    p.op == PairedOp::Weighted as u32 && p.point.threshold <= 0.0
}

/// Returns the weighted sum of both parts, or the first where the two differ by less than the threshold.
#[inline(always)]
fn sum_or_first<D: Device>(d: D, p: &PointwiseParams, x: f64, y: f64) -> f64 {
    let difference = if x > y { x - y } else { y - x };
    if p.two != 0 && difference < p.threshold {
        x
    } else {
        sum(d, p, x, y)
    }
}

/// Calls `each` with the index and the result of every output. The loop is not unrolled, since the code is long.
#[inline(always)]
fn results<D: Device, const P: usize>(
    d: D,
    p: &PairedParams,
    x: &[f32; P],
    y: &[f32; P],
    of: impl Fn(f64, f64) -> f64,
    mut each: impl FnMut(u32, f64),
) {
    let mut k = 0;
    while k < p.across {
        // Opaque, so that the compiler does not peel off iterations in which comparisons with `k` are constant.
        let number = d.anew(k);
        each(number, of(at(x, number) as f64, at(y, number) as f64));
        k += 1;
    }
}

/// Returns number `k`, selected by comparisons: an index would put the array into local memory.
#[inline(always)]
fn at<const P: usize>(numbers: &[f32; P], k: u32) -> f32 {
    let mut found = numbers[0];
    for n in 1..P {
        found = if n as u32 == k { numbers[n] } else { found };
    }
    found
}

impl Ends<4> for f32 {
    #[inline(always)]
    unsafe fn store<D: Device>(d: D, place: Place, p: &PairedParams, x: &[f32; 4], y: &[f32; 4]) {
        let mut words = [0; 4];
        if is_sum(p) {
            for k in 0..4 {
                words[k] = (sum(d, &p.point, x[k] as f64, y[k] as f64) as f32).to_bits();
            }
        } else if p.op == PairedOp::Magnitude as u32 {
            for k in 0..4 {
                words[k] = (magnitude(d, x[k] as f64, y[k] as f64) as f32).to_bits();
            }
        } else {
            let is_angle = p.op == PairedOp::Direction as u32;
            let of = |x, y| if is_angle { direction(d, x, y) } else { sum_or_first(d, &p.point, x, y) };
            results(d, p, x, y, of, |k, result| {
                for n in 0..4 {
                    words[n] = if n as u32 == k { (result as f32).to_bits() } else { words[n] };
                }
            });
        }
        // SAFETY: the caller's promise.
        unsafe { place.store::<D, f32>(d, 4, words) };
    }
}

/// 1.5 * 2^52: near it the spacing of f64 is 1, for sums of either sign.
const ONES: f64 = 6755399441055744.0;

/// 1.5 * 2^23: as [`ONES`], for f32.
const ONES_F32: f32 = 12582912.0;

/// Largest distance of an f32 length from an integer at which that integer is certainly the rounded result: one half,
/// less a bound on the length's error. For lengths up to 256 the error is below 256 * 2^-21: relative to the length,
/// the root adds 2^-22, and the two roundings of the square together a quarter of that. Larger lengths give 255 in any
/// case.
const CLEAR: f32 = 0.5 - 1.0 / 8192.0;

impl<const P: usize> Ends<P> for u8 {
    #[inline(always)]
    unsafe fn store<D: Device>(d: D, place: Place, p: &PairedParams, x: &[f32; P], y: &[f32; P]) {
        let mut words = [0; 4];
        let (mut clear, is_length) = (true, p.op == PairedOp::Magnitude as u32);
        if is_sum(p) {
            for w in 0..P / 4 {
                // The plan excludes weights with which a sum could exceed 2^30.
                let byte =
                    |k: usize| (sum(d, &p.point, x[4 * w + k] as f64, y[4 * w + k] as f64) + ONES).to_bits() as i32;
                words[w] = d.word_of_bytes([byte(0), byte(1), byte(2), byte(3)]);
            }
        } else if is_length {
            for w in 0..P / 4 {
                let length = |k: usize| {
                    let (x, y) = (x[4 * w + k], y[4 * w + k]);
                    d.near_sqrt(d.fma(x, x, y * y))
                };
                let lengths = [length(0), length(1), length(2), length(3)];
                words[w] = d.word_of(lengths);
                for k in 0..4 {
                    // False for NaN.
                    clear &= (lengths[k] - ((lengths[k] + ONES_F32) - ONES_F32)).abs() < CLEAR;
                }
            }
        } else {
            clear = false;
        }
        // Taken for lengths by one thread in 500.
        if !clear {
            results(
                d,
                p,
                x,
                y,
                |x, y| if is_length { magnitude(d, x, y) } else { sum_or_first(d, &p.point, x, y) },
                |k, result| {
                    let byte = u8::from_sum(result) as u32;
                    for w in 0..P as u32 / 4 {
                        let shift = k % 4 * 8;
                        let word = words[w as usize] & !(0xff << shift) | byte << shift;
                        words[w as usize] = if k / 4 == w { word } else { words[w as usize] };
                    }
                },
            );
        }
        // SAFETY: the caller's promise.
        unsafe { place.store_aligned::<D, u8>(d, p.march.aligned, P / 4, words) };
    }
}
