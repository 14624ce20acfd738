//! Sums of integers that wrap around, of one or two terms per sample.

use apron_abi::{Element, Sample};

/// An unsigned type of sums modulo its size; sums of negative samples wrap around.
pub trait Whole: Element {
    /// Converts an integer.
    fn of(value: i32) -> Self;
    /// Returns the square of an integer of 16 bits.
    fn square(value: i32) -> Self;
    /// Adds, wrapping around.
    fn plus(self, other: Self) -> Self;
    /// Subtracts, wrapping around.
    fn minus(self, other: Self) -> Self;
    /// Returns the sum as f64, for a sum of samples that are `signed` or not.
    fn to_f64(self, signed: bool) -> f64;
}

macro_rules! whole {
    ($type:ty, $signed:ty) => {
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
            #[inline(always)]
            fn to_f64(self, signed: bool) -> f64 {
                if signed {
                    self as $signed as f64
                } else {
                    self as f64
                }
            }
        }
    };
}
whole!(u32, i32);
whole!(u64, i64);

/// Returns the terms of a sample.
#[inline(always)]
pub(super) fn terms<W: Whole, const TERMS: usize>(value: i32) -> [W; TERMS] {
    let mut terms = [W::of(value); TERMS];
    if TERMS == 2 {
        terms[1] = W::square(value);
    }
    terms
}

#[inline(always)]
pub(super) fn whole<I: Sample>(sample: I) -> i32 {
    sample.to_f32() as i32
}

#[inline(always)]
pub(super) fn added<W: Whole, const TERMS: usize>(mut sums: [W; TERMS], more: [W; TERMS]) -> [W; TERMS] {
    for t in 0..TERMS {
        sums[t] = sums[t].plus(more[t]);
    }
    sums
}

/// Adds the terms of items `first` to `end - 1` to sums; four are loaded before any is added.
#[inline(always)]
pub(super) fn add_up<W: Whole, const TERMS: usize>(
    mut sums: [W; TERMS],
    mut first: u32,
    end: u32,
    of: impl Fn(u32) -> [W; TERMS],
) -> [W; TERMS] {
    while first + 4 <= end {
        let (a, b, c, d) = (of(first), of(first + 1), of(first + 2), of(first + 3));
        sums = added(added(added(sums, a), added(b, c)), d);
        first += 4;
    }
    while first < end {
        sums = added(sums, of(first));
        first += 1;
    }
    sums
}
