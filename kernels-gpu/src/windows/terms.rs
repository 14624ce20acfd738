//! Sums of integers that wrap around, of one or two terms per sample.

use crate::device::Device;
use apron_abi::{Element, ElementType, Sample};

/// An unsigned type of sums modulo its size; sums of negative samples wrap around.
pub trait Whole: Element {
    /// Converts an integer.
    fn of(value: i32) -> Self;
    /// Returns the square of an integer of 16 bits.
    fn square(value: i32) -> Self;
    /// Returns the product of two integers of 18 bits, as a difference of squares has.
    fn product(a: i32, b: i32) -> Self;
    /// Adds, wrapping around.
    fn plus(self, other: Self) -> Self;
    /// Subtracts, wrapping around.
    fn minus(self, other: Self) -> Self;
    /// Returns the sum of the lane `lanes` below, as [`Device::shuffle_up`].
    fn shuffle_up<D: Device>(self, d: D, lanes: u32) -> Self;
    /// Returns the sum as f64, for a sum of samples that are `signed` or not.
    fn to_f64(self, signed: bool) -> f64;
}

/// At 2^52 the spacing of f64 is 1: the low word of its bits is an integer above 2^52.
const ONES: u64 = 0x4330_0000_0000_0000;
/// At 2^84 the spacing of f64 is 2^32.
const HIGHER_ONES: u64 = 0x4530_0000_0000_0000;

macro_rules! whole {
    ($type:ty, $($other:tt)*) => {
        impl Whole for $type {
            #[inline(always)]
            fn of(value: i32) -> Self {
                value as $type
            }
            #[inline(always)]
            fn square(value: i32) -> Self {
                // The square of -32768 to 65535 fits 32 bits without a sign.
                (value as u32).wrapping_mul(value as u32) as $type
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            $($other)*
        }
    };
}
whole! {
    u32,
    #[inline(always)]
    fn product(a: i32, b: i32) -> u32 {
        a.wrapping_mul(b) as u32
    }
    #[inline(always)]
    fn shuffle_up<D: Device>(self, d: D, lanes: u32) -> u32 {
        d.shuffle_up(self, lanes)
    }
    #[inline(always)]
    fn to_f64(self, signed: bool) -> f64 {
        // Conversions by instruction are slower than additions.
        let sign = if signed { 1 << 31 } else { 0 };
        f64::from_bits(ONES | (self ^ sign) as u64) - f64::from_bits(ONES | sign as u64)
    }
}
whole! {
    u64,
    #[inline(always)]
    fn product(a: i32, b: i32) -> u64 {
        (a as i64).wrapping_mul(b as i64) as u64
    }
    #[inline(always)]
    fn shuffle_up<D: Device>(self, d: D, lanes: u32) -> u64 {
        let (low, high) = (d.shuffle_up(self as u32, lanes), d.shuffle_up((self >> 32) as u32, lanes));
        low as u64 | (high as u64) << 32
    }
    #[inline(always)]
    fn to_f64(self, signed: bool) -> f64 {
        let sign = if signed { 1 << 31 } else { 0 };
        // The difference of the high words and 2^52 is exact: the sum is rounded once.
        let high = f64::from_bits(HIGHER_ONES | ((self >> 32) ^ sign)) - f64::from_bits(HIGHER_ONES | sign);
        (high - f64::from_bits(ONES)) + f64::from_bits(ONES | (self & u32::MAX as u64))
    }
}

/// What is subtracted from each sample: half the range of bytes whose squares are summed in 32 bits, which then suffice for windows
/// of four times as many. A deviation stays the same, to the last bit as long as the plan keeps all numbers below 2^53.
#[inline(always)]
pub(super) const fn centre<I: Sample, W: Whole, const TERMS: usize>() -> i32 {
    match (TERMS, I::TYPE, W::TYPE) {
        (2, ElementType::U8, ElementType::U32) => 128,
        _ => 0,
    }
}

/// Returns the terms of an integer.
#[inline(always)]
pub(super) fn terms<W: Whole, const TERMS: usize>(value: i32) -> [W; TERMS] {
    let mut terms = [W::of(value); TERMS];
    if TERMS == 2 {
        terms[1] = W::square(value);
    }
    terms
}

#[inline(always)]
pub(super) fn added<W: Whole, const TERMS: usize>(mut sums: [W; TERMS], more: [W; TERMS]) -> [W; TERMS] {
    for t in 0..TERMS {
        sums[t] = sums[t].plus(more[t]);
    }
    sums
}
