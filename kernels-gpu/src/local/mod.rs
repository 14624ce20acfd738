//! The local standard deviation in windows of any size: how the kernels that [slide](crate::windows::Sliding) or sum [in
//! order](crate::windows::OrderedRows) end a window.

use crate::device::Device;
use crate::windows::{Finish, FinishOrdered, Whole};
use apron_abi::{Accumulator, OrderedParams, Pixel, SlidingParams};

/// Takes the deviation of a window's sums of samples and of their squares.
pub struct Deviation;

impl<W: Whole> Finish<W, 2> for Deviation {
    #[inline(always)]
    fn finish<D: Device>(d: D, [sum, squares]: [W; 2], signed: bool, p: &SlidingParams) -> f64 {
        deviation(d, [sum.to_f64(signed), squares.to_f64(false)], [p.window_x, p.window_y])
    }
}

impl<O: Pixel> FinishOrdered<f64, O, 2> for Deviation {
    #[inline(always)]
    fn finish<D: Device>(d: D, sums: [f64; 2], p: &OrderedParams) -> O {
        O::from_sum(O::Sum::from_f64(deviation(d, sums, [p.window_x, p.window_y])))
    }
}

/// Returns the standard deviation of a window with these sums of samples and of their squares.
#[inline(always)]
fn deviation<D: Device>(d: D, [sum, squares]: [f64; 2], [width, height]: [u32; 2]) -> f64 {
    let count = width as f64 * height as f64;
    let variance = d.fma(count, squares, -(sum * sum));
    // Comparisons with NaN are false, so NaN stays.
    let root = d.sqrt(if variance < 0.0 { 0.0 } else { variance });
    root / count
}
