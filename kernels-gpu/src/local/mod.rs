//! The local standard deviation in windows of any size: the final step on the sums of a window, for the kernels that
//! [slide](crate::windows::Sliding) and for those that sum [in order](crate::windows::OrderedRows); and the kernel of
//! small windows of floats.

mod prefix;
mod sliding;
mod tiled;

pub use prefix::Deviations;
pub use sliding::Deviation;
pub use tiled::Tiled;

use crate::device::Device;
use crate::windows::FinishOrdered;
use apron_abi::{Accumulator, OrderedParams, Pixel};

impl<O: Pixel> FinishOrdered<f64, O, 2> for Deviation {
    #[inline(always)]
    fn finish<D: Device>(d: D, sums: [f64; 2], p: &OrderedParams) -> O {
        O::from_sum(O::Sum::from_f64(deviation(d, sums, [p.window_x, p.window_y])))
    }
}

/// Returns the standard deviation of a window from the sums of its samples and of their squares.
#[inline(always)]
fn deviation<D: Device>(d: D, sums: [f64; 2], [width, height]: [u32; 2]) -> f64 {
    let count = width as f64 * height as f64;
    d.sqrt(variance(d, sums, count)) / count
}

/// Returns the variance times the square of the count, rounded once if the sums are exact.
#[inline(always)]
fn variance<D: Device>(d: D, [sum, squares]: [f64; 2], count: f64) -> f64 {
    let square = sum * sum;
    let variance = d.fma(count, squares, -square) - d.fma(sum, sum, -square);
    // Comparisons with NaN are false, so NaN stays.
    if variance < 0.0 {
        0.0
    } else {
        variance
    }
}
