//! Sums as integers the way C casts them: cut toward zero, without saturation.

use apron_abi::{Cast, Element, Overflow, Rounding};

/// Whether a cast is C's.
#[inline(always)]
pub(super) fn cuts(cast: Cast) -> bool {
    matches!(cast, Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap })
}

/// Returns the integer part of a sum.
///
/// # Safety
/// 32 bits hold it.
#[inline(always)]
pub(super) unsafe fn cut(sum: f64) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { sum.to_int_unchecked::<i32>() as u32 }
}

/// Returns the sample in the low bits of an integer.
#[inline(always)]
pub(super) fn narrowed<X: Element>(whole: u32) -> X {
    match X::TYPE.size_bytes() {
        1 => X::read(&[whole as u8]),
        _ => X::read(&(whole as u16).to_ne_bytes()),
    }
}
