//! Box filters of integers by sliding windows: see [`crate::windows::Sliding`].

use super::bytes::scaled;
use crate::device::Device;
use crate::windows::{rounded, Finish, Sums, Whole, ONES, QUAD};
use apron_abi::SlidingParams;

/// The final step of a box filter: scales a window's sum, and for integers rounds it.
pub struct Scaled;

impl<W: Whole> Finish<W, 1> for Scaled {
    #[inline(always)]
    fn finish<D: Device>(d: D, sums: Sums<W, 1>, signed: bool, p: &SlidingParams) -> [u32; QUAD] {
        let mut bits = [0; QUAD];
        if p.plain != 0 {
            for k in 0..QUAD {
                bits[k] = d.fma(sums[k][0].to_f64(signed), p.factor, ONES).to_bits() as u32;
            }
        } else {
            for k in 0..QUAD {
                bits[k] = rounded(scaled(d, sums[k][0].to_f64(signed), [p.factor, p.divisor]), p);
            }
        }
        bits
    }
}
