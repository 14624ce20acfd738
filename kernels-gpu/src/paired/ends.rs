//! The ends of the paired kernels: the pointwise operation, and its results in the output's type.

use crate::device::Device;
use crate::pointwise::{direction, magnitude};
use crate::samples::{Place, Samples};
use apron_abi::{FromSum, PairedOp, PairedParams, PointwiseParams};

/// A type of results; a thread stores `P` at a time.
pub(super) trait Ends<const P: usize>: Samples {
    /// Stores the results of both parts.
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

/// Returns whether [`sum`] is the operation.
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

/// Calls `each` with the index and the result of every output. In a loop that is not unrolled, since the code is long.
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
        // Opaque, so that no iteration is peeled off for which a comparison would be decided.
        let number = d.anew(k);
        each(number, of(at(x, number) as f64, at(y, number) as f64));
        k += 1;
    }
}

/// Returns number `k`, by comparisons: an index would put the numbers into local memory.
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

/// Where the spacing of f64 is 1, for sums of either sign.
const ONES: f64 = 6755399441055744.0;

/// As [`ONES`], for f32.
const ONES_F32: f32 = 12582912.0;

/// How far a length in f32 may be from an integer, for that to be its rounded value: half, less more than it may be
/// off. Up to 256 that is 256 * 2^-21: the root adds 2^-22, relative to the length, and the two roundings of its square
/// a quarter of that. Larger lengths are 255 in any case.
const CLEAR: f32 = 0.5 - 1.0 / 8192.0;

impl<const P: usize> Ends<P> for u8 {
    #[inline(always)]
    unsafe fn store<D: Device>(d: D, place: Place, p: &PairedParams, x: &[f32; P], y: &[f32; P]) {
        let mut words = [0; 4];
        let (mut clear, is_length) = (true, p.op == PairedOp::Magnitude as u32);
        if is_sum(p) {
            for w in 0..P / 4 {
                // The plan takes no weights with which a sum might pass 2^30.
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
                    // Not true of NaN.
                    clear &= (lengths[k] - ((lengths[k] + ONES_F32) - ONES_F32)).abs() < CLEAR;
                }
            }
        } else {
            clear = false;
        }
        // Of lengths, one thread in 500.
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
