//! Dense 2-D correlation, a file a variant.

mod constant;
mod naive;
mod tiled;
mod tiled_symbol;

pub use constant::Constant;
pub use naive::Naive;
pub use tiled::Tiled;
pub use tiled_symbol::TiledSymbol;

use apron_abi::Accumulator;

/// The sum limited to 0 to 1. Comparisons, not min and max: NaN stays NaN.
#[inline(always)]
fn clamped<A: Accumulator>(sum: A) -> A {
    let one = A::of(1.0f32);
    if sum < A::ZERO {
        A::ZERO
    } else if sum > one {
        one
    } else {
        sum
    }
}
