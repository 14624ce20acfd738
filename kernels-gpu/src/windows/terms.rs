//! Sums of integers that wrap around, of one or two terms per sample.

use crate::device::{Device, Shared};
use apron_abi::{Element, ElementType, Sample};

/// An unsigned type of sums, modulo 2^32 or 2^64; negative sums wrap around.
pub trait Whole: Element {
    /// Converts an integer.
    fn of(value: i32) -> Self;
    /// Returns the square of an integer of 16 bits.
    fn square(value: i32) -> Self;
    /// Returns the product of two integers of up to 18 bits, such as the factors of a difference of squares.
    fn product(a: i32, b: i32) -> Self;
    /// Returns the lowest 32 bits.
    fn low(self) -> u32;
    /// Adds, wrapping around.
    fn plus(self, other: Self) -> Self;
    /// Subtracts, wrapping around.
    fn minus(self, other: Self) -> Self;
    /// Multiplies, wrapping around.
    fn times(self, count: u32) -> Self;
    /// Returns the sum of the lane `lanes` below, as [`Device::shuffle_up`].
    fn shuffle_up<D: Device>(self, d: D, lanes: u32) -> Self;
    /// Returns the sum of lane `lane`, as [`Device::shuffle`].
    fn shuffle<D: Device>(self, d: D, lane: u32) -> Self;
    /// Reads four sums of shared memory, the first at `offset` bytes.
    ///
    /// # Safety
    /// As [`Device::shared_load4`].
    unsafe fn load4<D: Device>(d: D, offset: u32) -> [Self; 4];
    /// Writes four sums to shared memory, the first at `offset` bytes.
    ///
    /// # Safety
    /// As [`Device::shared_store4`].
    unsafe fn store4<D: Device>(d: D, offset: u32, sums: [Self; 4]);
    /// Converts the sum to f64; a sum of `signed` samples may be negative.
    fn to_f64(self, signed: bool) -> f64;
}

/// The bits of 2^52, where the spacing of f64 is 1: with an integer as the low word, the bits of 2^52 plus the integer.
const ONES: u64 = 0x4330_0000_0000_0000;
/// The bits of 2^84, where the spacing of f64 is 2^32.
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
                // The squares of -32768 to 65535 fit into 32 unsigned bits.
                (value as u32).wrapping_mul(value as u32) as $type
            }
            #[inline(always)]
            fn low(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn times(self, count: u32) -> Self {
                self.wrapping_mul(count as $type)
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
    fn shuffle<D: Device>(self, d: D, lane: u32) -> u32 {
        d.shuffle(self, lane)
    }
    #[inline(always)]
    unsafe fn load4<D: Device>(d: D, offset: u32) -> [u32; 4] {
        // SAFETY: the caller's promise.
        unsafe { d.shared_load4(Shared::at(offset), 0) }
    }
    #[inline(always)]
    unsafe fn store4<D: Device>(d: D, offset: u32, sums: [u32; 4]) {
        // SAFETY: the caller's promise.
        unsafe { d.shared_store4(Shared::at(offset), 0, sums) }
    }
    #[inline(always)]
    fn to_f64(self, signed: bool) -> f64 {
        // An exclusive or and a subtraction are faster than a conversion.
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
    fn shuffle<D: Device>(self, d: D, lane: u32) -> u64 {
        let (low, high) = (d.shuffle(self as u32, lane), d.shuffle((self >> 32) as u32, lane));
        low as u64 | (high as u64) << 32
    }
    #[inline(always)]
    unsafe fn load4<D: Device>(d: D, offset: u32) -> [u64; 4] {
        // SAFETY: the caller's promise.
        let [a, b, c, e]: [u32; 4] = unsafe { d.shared_load4(Shared::at(offset), 0) };
        // SAFETY: the caller's promise.
        let [f, g, h, i]: [u32; 4] = unsafe { d.shared_load4(Shared::at(offset), 4) };
        let sum = |low: u32, high: u32| low as u64 | (high as u64) << 32;
        [sum(a, b), sum(c, e), sum(f, g), sum(h, i)]
    }
    #[inline(always)]
    unsafe fn store4<D: Device>(d: D, offset: u32, sums: [u64; 4]) {
        let word = |k: usize| (sums[k / 2] >> (32 * (k as u32 % 2))) as u32;
        let words = |k: usize| [word(k), word(k + 1), word(k + 2), word(k + 3)];
        // SAFETY: the caller's promise.
        unsafe {
            d.shared_store4(Shared::at(offset), 0, words(0));
            d.shared_store4(Shared::at(offset), 4, words(4));
        }
    }
    #[inline(always)]
    fn to_f64(self, signed: bool) -> f64 {
        let sign = if signed { 1 << 31 } else { 0 };
        // The difference of the high words and 2^52 is exact: the sum is rounded once.
        let high = f64::from_bits(HIGHER_ONES | ((self >> 32) ^ sign)) - f64::from_bits(HIGHER_ONES | sign);
        (high - f64::from_bits(ONES)) + f64::from_bits(ONES | (self & u32::MAX as u64))
    }
}

/// The offset that is subtracted from each sample: 128 for bytes whose squares are summed in 32 bits, which then
/// suffice for windows of four times as many samples. The deviation does not change, not even in its last bit, since
/// the plan keeps all numbers below 2^53.
#[inline(always)]
pub(super) const fn centre<I: Sample, W: Whole, const TERMS: usize>() -> i32 {
    match (TERMS, I::TYPE, W::TYPE) {
        (2, ElementType::U8, ElementType::U32) => 128,
        _ => 0,
    }
}

/// Returns the terms of an integer: its value, and if there are two, its square.
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
