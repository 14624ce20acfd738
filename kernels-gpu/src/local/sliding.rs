//! Local deviations of integers by sliding windows: see [`crate::windows::Sliding`].

use super::{deviation, variance};
use crate::device::Device;
use crate::windows::{rounded, Finish, Sums, Whole, ONES, QUAD};
use apron_abi::SlidingParams;

/// The final step of a local deviation. An estimate decides nearly every output; the others are computed by
/// `deviation`.
pub struct Deviation;

impl<W: Whole> Finish<W, 2> for Deviation {
    #[inline(always)]
    fn finish<D: Device>(d: D, sums: Sums<W, 2>, signed: bool, p: &SlidingParams) -> [u32; QUAD] {
        let numbers = |[sum, squares]: [W; 2]| [sum.to_f64(signed), squares.to_f64(false)];
        let count = p.window_x as f64 * p.window_y as f64;
        let (mut bits, mut clear) = ([0; QUAD], true);
        for k in 0..QUAD {
            let value = estimate(d, variance(d, numbers(sums[k]), count)) * p.factor;
            if p.out_float != 0 {
                bits[k] = (value as f32).to_bits();
                // Whether the 29 bits that an f32 does not have are far from half: by a relative distance of 2^-40.
                let rest = value.to_bits() as u32 & ((1 << 29) - 1);
                clear &= rest.wrapping_sub((1 << 28) - (1 << 12)) > 1 << 13;
            } else {
                let sum = value + ONES;
                bits[k] = sum.to_bits() as u32;
                clear &= (value - (sum - ONES)).abs() < 0.5 - 1.0 / 1_048_576.0;
            }
        }
        let mut k = 0;
        // Taken by one quad in thousands. The loop is not unrolled, since the code is long.
        while !clear && k < QUAD as u32 {
            // Opaque, so that no iteration is peeled off.
            let number = d.anew(k);
            let mut found = sums[0];
            for n in 1..QUAD {
                found = if n as u32 == number { sums[n] } else { found };
            }
            let exact = rounded(deviation(d, numbers(found), [p.window_x, p.window_y]), p);
            for n in 0..QUAD {
                bits[n] = if n as u32 == number { exact } else { bits[n] };
            }
            k += 1;
        }
        bits
    }
}

/// Approximates the square root of a number that is 0 or at least 1, with a relative error below 2^-42: by one step of
/// Newton's method, whose error is 1.5 times the square of the seed's.
#[inline(always)]
pub(super) fn estimate<D: Device>(d: D, number: f64) -> f64 {
    let seed = if number > 0.0 { d.near_reciprocal_sqrt(number as f32) as f64 } else { 0.0 };
    let root = number * seed;
    d.fma(d.fma(-root, root, number), 0.5 * seed, root)
}
