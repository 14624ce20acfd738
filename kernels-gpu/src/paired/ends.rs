//! The ends of the paired kernels: the pointwise operation, and its results in the output's type.

use crate::device::Device;
use crate::pointwise::{direction, magnitude, weighted};
use crate::samples::{Place, Samples};
use apron_abi::{FromSum, PairedOp, PairedParams};

/// A type of results, of which a thread stores `P` at a time.
pub(super) trait Ends<const P: usize>: Samples {
    /// Stores the results of both parts.
    ///
    /// # Safety
    /// The place is correct, and all threads of the warp are here.
    unsafe fn store<D: Device>(d: D, place: Place, p: &PairedParams, x: &[f32; P], y: &[f32; P]);
}

/// Returns the weighted sum of both parts.
#[inline(always)]
fn sum<D: Device>(d: D, p: &PairedParams, x: f32, y: f32) -> f64 {
    weighted(d, [p.a, p.b, p.c, p.threshold], p.two != 0, x as f64, y as f64)
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
        let mut results = [0; 4];
        if p.op == PairedOp::Weighted as u32 {
            for k in 0..4 {
                results[k] = (sum(d, p, x[k], y[k]) as f32).to_bits();
            }
        } else {
            // A loop that is not unrolled: the code is long.
            let (mut k, end) = (0, d.anew(4));
            while k < end {
                let (x, y) = (at(x, k) as f64, at(y, k) as f64);
                let result = if p.op == PairedOp::Magnitude as u32 { magnitude(d, x, y) } else { direction(d, x, y) };
                for n in 0..4 {
                    results[n] = if n as u32 == k { (result as f32).to_bits() } else { results[n] };
                }
                k += 1;
            }
        }
        // SAFETY: the caller's promise.
        unsafe { place.store::<D, f32>(d, 4, results) };
    }
}

/// Where the spacing of f64 is 1, for sums of either sign.
const ONES: f64 = 6755399441055744.0;

/// As [`ONES`], for f32.
const ONES_F32: f32 = 12582912.0;

/// Half of the spacing of bytes, less what a [`length`] of up to 256 may be off: 256 * 2^-20.
const CLEAR: f32 = 0.5 - 1.0 / 4096.0;

/// Returns the length of a vector, up to 256, with a relative error below 2^-20: the two roundings of the square give
/// half of 2^-23, the root 2^-22. The plan takes no parts whose squares may be infinite together with NaN.
#[inline(always)]
fn length<D: Device>(d: D, x: f32, y: f32) -> f32 {
    let length = d.near_sqrt(d.fma(x, x, y * y));
    if length < 256.0 {
        length
    } else {
        256.0
    }
}

impl<const P: usize> Ends<P> for u8 {
    #[inline(always)]
    unsafe fn store<D: Device>(d: D, place: Place, p: &PairedParams, x: &[f32; P], y: &[f32; P]) {
        let mut words = [0; 4];
        if p.op == PairedOp::Weighted as u32 {
            for w in 0..P / 4 {
                // The plan takes no weights with which a sum might pass 2^30.
                let byte = |k: usize| (sum(d, p, x[4 * w + k], y[4 * w + k]) + ONES).to_bits() as i32;
                words[w] = d.word_of_bytes([byte(0), byte(1), byte(2), byte(3)]);
            }
        } else {
            let mut doubtful = 0;
            for w in 0..P / 4 {
                let of = |k: usize| length(d, x[4 * w + k], y[4 * w + k]);
                let lengths = [of(0), of(1), of(2), of(3)];
                words[w] = d.word_of(lengths);
                for k in 0..4 {
                    let off = lengths[k] - ((lengths[k] + ONES_F32) - ONES_F32);
                    let clear = off < CLEAR && off > -CLEAR;
                    doubtful |= (!clear as u32) << (4 * w + k);
                }
            }
            // One in two thousand.
            while doubtful != 0 {
                let k = doubtful.trailing_zeros();
                let byte = u8::from_sum(magnitude(d, at(x, k) as f64, at(y, k) as f64)) as u32;
                for w in 0..P as u32 / 4 {
                    if k / 4 == w {
                        words[w as usize] = words[w as usize] & !(0xff << (k % 4 * 8)) | byte << (k % 4 * 8);
                    }
                }
                doubtful &= doubtful - 1;
            }
        }
        // SAFETY: the caller's promise.
        unsafe { place.store_aligned::<D, u8>(d, p.march.aligned, P / 4, words) };
    }
}
