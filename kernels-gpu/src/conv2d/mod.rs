//! Dense 2-D correlation, one file per variant.

mod blocked;
mod constant;
mod naive;
mod pieces;
mod tiled;
mod tiled_symbol;

pub use blocked::Blocked;
pub use constant::Constant;
pub use naive::Naive;
pub use pieces::Pieces;
pub use tiled::Tiled;
pub use tiled_symbol::TiledSymbol;

use crate::device::{Device, Global};
use apron_abi::{Accumulator, Conv2dParams, Pixel};

/// Returns the sample at a mapped row and column; the constant if the border mapped either to `None`.
///
/// # Safety
/// Row and column, if any, are in the image, and the source is as large as the parameters say.
#[inline(always)]
unsafe fn sample<D: Device, I: Pixel, A: Accumulator>(
    d: D,
    src: Global<I>,
    p: &Conv2dParams,
    (row, column): (Option<i32>, Option<i32>),
    channel: u32,
) -> A {
    match (row, column) {
        (Some(row), Some(column)) => {
            let at = row as u32 as u64 * p.row_stride as u64 + column as u32 as u64 * p.channels as u64;
            // SAFETY: the caller's promise.
            A::of(unsafe { d.load(src, at + channel as u64) })
        }
        _ => A::of(p.constant),
    }
}

/// Stores the output sample of a sum, clamped to the range 0 to 1 if the parameters say so.
///
/// # Safety
/// (x, y) is in the output, which is as large as the parameters say, and no other thread's.
#[inline(always)]
unsafe fn store<D: Device, O: Pixel>(
    d: D,
    dst: Global<O>,
    p: &Conv2dParams,
    (x, y): (u32, u32),
    channel: u32,
    sum: O::Sum,
) {
    let sum = if p.clamp != 0 { clamped(sum) } else { sum };
    let pixel = y as u64 * p.out_width as u64 + x as u64;
    // SAFETY: the caller's promise.
    unsafe { d.store(dst, pixel * p.channels as u64 + channel as u64, O::from_sum(sum)) };
}

/// Clamps a sum to the range 0 to 1. Comparisons, not min and max, so that NaN stays NaN.
#[inline(always)]
pub(crate) fn clamped<A: Accumulator>(sum: A) -> A {
    let one = A::of(1.0f32);
    if sum < A::ZERO {
        A::ZERO
    } else if sum > one {
        one
    } else {
        sum
    }
}
