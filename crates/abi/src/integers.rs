//! Integers and bool: conversion to f64 and back.

use crate::{Cast, Element, ElementType, FromSum, Overflow, Pixel, Rounding, Sample};

/// A truth value in a byte, as in NumPy's arrays of bool: 0, or 1 for true. Any other byte is read as true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Bool(
    /// 0 or 1.
    pub u8,
);

// SAFETY: the type is one byte, and every value of the byte is valid.
#[cfg(feature = "host")]
#[allow(unsafe_code)]
unsafe impl bytemuck::Zeroable for Bool {}
// SAFETY: as above; it has no padding, and copies are the same.
#[cfg(feature = "host")]
#[allow(unsafe_code)]
unsafe impl bytemuck::Pod for Bool {}

impl From<bool> for Bool {
    fn from(value: bool) -> Bool {
        Bool(value.into())
    }
}

impl From<Bool> for bool {
    fn from(value: Bool) -> bool {
        value.0 != 0
    }
}

impl Element for Bool {
    const TYPE: ElementType = ElementType::Bool;
    #[inline(always)]
    fn read(bytes: &[u8]) -> Bool {
        Bool(bytes[0])
    }
    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        bytes[0] = self.0;
    }
}

impl Sample for Bool {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        (self.0 != 0) as u8 as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        (self.0 != 0) as u8 as f64
    }
}

/// Integers of 32 and 64 bits, mapped to unsigned integers in the same order.
pub trait Ordered {
    /// Returns the integer minus the least of its type.
    fn order(self) -> u64;
}

impl Ordered for u32 {
    #[inline(always)]
    fn order(self) -> u64 {
        self as u64
    }
}

impl Ordered for i32 {
    #[inline(always)]
    fn order(self) -> u64 {
        (self as u32 ^ 1 << 31) as u64
    }
}

impl Ordered for u64 {
    #[inline(always)]
    fn order(self) -> u64 {
        self
    }
}

impl Ordered for i64 {
    #[inline(always)]
    fn order(self) -> u64 {
        self as u64 ^ 1 << 63
    }
}

/// Rounds half to even.
#[inline(always)]
fn half_even(value: f64) -> f64 {
    // At 2^52 the spacing of f64 is 1.
    const WHOLE: f64 = 4503599627370496.0;
    if value.abs() < WHOLE {
        let rounded = (value.abs() + WHOLE) - WHOLE;
        if value < 0.0 { -rounded } else { rounded }
    } else {
        value
    }
}

/// 2^63.
const MIDDLE: f64 = 9223372036854775808.0;

/// Returns the integer part of a number, modulo 2^64.
#[inline(always)]
fn modulo(value: f64) -> u64 {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    let digits = bits & ((1 << 52) - 1) | 1 << 52;
    // Numbers below 1 have the integer part 0; those from 2^117 on are multiples of 2^64; infinities and NaN give 0,
    // too.
    let whole = match exponent {
        0..64 => digits << exponent,
        -52..0 => digits >> -exponent,
        _ => 0,
    };
    if value < 0.0 { whole.wrapping_neg() } else { whole }
}

/// Converts a number to an integer type.
pub(crate) trait Integer: Sized {
    fn of(value: f64, cast: Cast) -> Self;
    /// As [`Sample::to_f64_below`].
    fn below(self, last: f64) -> f64;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn of(value: f64, cast: Cast) -> $type {
                let whole = if cast.rounding == Rounding::HalfEven { half_even(value) } else { value };
                match cast.overflow {
                    // Rust's cast truncates, saturates, and makes NaN 0.
                    Overflow::Saturate => whole as $type,
                    // One instruction where 64 bits hold the number.
                    Overflow::Wrap if whole.abs() < MIDDLE => whole as i64 as $type,
                    Overflow::Wrap => modulo(whole) as $type,
                }
            }

            #[inline(always)]
            fn below(self, last: f64) -> f64 {
                let nearest = self as f64;
                // A cast back of 2 to the power of the bits would saturate.
                let above = nearest >= 2.0 * (<$type>::MAX / 2 + 1) as f64 || nearest as $type > self;
                let below = if above { nearest.next_down() } else { nearest };
                let exact = !above && nearest as $type == self;
                if below > last || (below == last && !exact) { f64::INFINITY } else { below }
            }
        }
    )*};
}
integer!(u8, i8, u16, i16, u32, i32, u64, i64);

macro_rules! pixel {
    ($($type:ty),*) => {$(
        impl Sample for $type {
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_f64_below(self, last: f64) -> f64 {
                self.below(last)
            }
        }

        impl Pixel for $type {
            type Sum = f64;
            #[inline(always)]
            fn cast(value: f64, cast: Cast) -> $type {
                <$type>::of(value, cast)
            }
        }

        impl FromSum<f64> for $type {
            #[inline(always)]
            fn from_sum(sum: f64) -> $type {
                <$type>::of(sum, Cast::default())
            }
        }
    )*};
}
pixel!(i8, u32, i32, u64, i64);

impl Pixel for Bool {
    type Sum = f64;
    #[inline(always)]
    fn cast(value: f64, cast: Cast) -> Bool {
        let whole = if cast.rounding == Rounding::HalfEven { half_even(value) } else { value };
        Bool((whole.abs() >= 1.0) as u8)
    }
}

impl FromSum<f64> for Bool {
    #[inline(always)]
    fn from_sum(sum: f64) -> Bool {
        Bool::cast(sum, Cast::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: Cast = Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap };

    #[test]
    fn the_default_rounds_half_to_even_and_saturates() {
        for (sum, expected) in
            [(0.5, 0), (1.5, 2), (-2.5, -2), (-3.5, -4), (3e9, i32::MAX), (-3e9, i32::MIN), (f64::NAN, 0)]
        {
            assert_eq!(i32::from_sum(sum), expected, "{sum}");
        }
        assert_eq!((i8::from_sum(127.5), i8::from_sum(-128.5), i8::from_sum(-0.4)), (127, -128, 0));
        assert_eq!((u32::from_sum(4294967294.5), u32::from_sum(-1.0)), (4294967294, 0));
        assert_eq!((u64::from_sum(1e300), u64::from_sum(f64::INFINITY)), (u64::MAX, u64::MAX));
        assert_eq!((i64::from_sum(-1e300), i64::from_sum(9007199254740993.0)), (i64::MIN, 9007199254740992));
        assert_eq!([0.5, 0.75, -3.0, f64::NAN].map(|sum| Bool::from_sum(sum).0), [0, 1, 1, 0]);
    }

    #[test]
    fn casts_of_c_truncate_and_wrap() {
        assert_eq!([255.9, 256.0, -1.0, -0.9, -256.5].map(|sum| u8::cast(sum, C)), [255, 0, 255, 0, 0]);
        assert_eq!([127.5, 128.5, -129.9].map(|sum| i8::cast(sum, C)), [127, -128, 127]);
        assert_eq!([4294967295.5, 4294967296.5, -2147483649.0].map(|sum| i32::cast(sum, C)), [-1, 0, i32::MAX]);
        // 2^64 + 2^12, and 2^63 + 2^11, whose spacing is 2^12 and 2^11.
        assert_eq!(
            (u64::cast(18446744073709555712.0, C), i64::cast(9223372036854777856.0, C)),
            (4096, i64::MIN + 2048)
        );
        assert_eq!((u64::cast(-1.0, C), i64::cast(-9223372036854775808.0, C)), (u64::MAX, i64::MIN));
        for sum in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300, 0.99, -0.99, 5e-324] {
            assert_eq!((i64::cast(sum, C), u8::cast(sum, C), i16::cast(sum, C)), (0, 0, 0), "{sum}");
        }
        assert_eq!([0.99, 1.0, -1.5].map(|sum| Bool::cast(sum, C).0), [0, 1, 1]);
        // Every pair of choices differs somewhere.
        let all = [0, 1, 2, 3].map(|code| [2.5, 300.75].map(|sum| u8::cast(sum, Cast::of_code(code))));
        assert_eq!(all, [[2, 255], [2, 255], [2, 45], [2, 44]]);
        assert!((0..4).all(|code| Cast::of_code(code).code() == code));
    }

    #[test]
    fn integers_beyond_2_to_53_are_in_the_bin_of_their_exact_value() {
        const TWO53: i64 = 1 << 53;
        assert_eq!((TWO53 + 3).to_f64_below(f64::INFINITY), 9007199254740994.0);
        assert_eq!((-TWO53 - 1).to_f64_below(f64::INFINITY), -9007199254740994.0);
        assert_eq!(u64::MAX.to_f64_below(f64::INFINITY), 18446744073709549568.0);
        assert_eq!(i64::MAX.to_f64_below(f64::INFINITY), 9223372036854774784.0);
        assert_eq!(i64::MIN.to_f64_below(0.0), -9223372036854775808.0);
        // The last edge belongs to the last bin, and what is above it to none.
        assert_eq!(
            (TWO53.to_f64_below(TWO53 as f64), (TWO53 + 1).to_f64_below(TWO53 as f64)),
            (TWO53 as f64, f64::INFINITY)
        );
        assert_eq!(
            (7u32.to_f64_below(6.5), 6u32.to_f64_below(6.5), (-1i32).to_f64_below(0.0)),
            (f64::INFINITY, 6.0, -1.0)
        );
        for n in 0..5000u64 {
            let sample = u64::MAX - n;
            let below = sample.to_f64_below(f64::INFINITY);
            assert!(below as u128 <= sample as u128 && below.next_up() as u128 > sample as u128, "{sample}");
        }
    }
}
