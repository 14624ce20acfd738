//! Box filters of integers by sliding windows: see [`crate::windows::Sliding`].

use super::bytes::scaled;
use crate::device::Device;
use crate::windows::{Finish, Whole};
use apron_abi::SlidingParams;

/// Scales a window's sum.
pub struct Scaled;

impl<W: Whole> Finish<W, 1> for Scaled {
    #[inline(always)]
    fn finish<D: Device>(d: D, [sum]: [W; 1], signed: bool, p: &SlidingParams) -> f64 {
        scaled(d, sum.to_f64(signed), [p.factor, p.divisor])
    }
}
