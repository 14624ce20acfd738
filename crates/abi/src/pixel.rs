//! Samples, the accumulators that sum them, and the one rounding rule.

use crate::integers::Integer;
use crate::{Cast, Element};

/// A type in which weighted samples are summed.
///
/// Results of type f32 are summed in f32. Integer results are summed in f64, so that their rounding is that of the sum,
/// undisturbed by errors of the summation.
pub trait Accumulator: Sample {
    /// The zero with which every sum starts.
    const ZERO: Self;
    /// Converts a sample, exactly; f64 samples are summed in f64 only.
    fn of<S: Sample>(sample: S) -> Self;
    /// Returns the value nearest to `value`.
    fn from_f64(value: f64) -> Self;
}

impl Accumulator for f32 {
    const ZERO: f32 = 0.0;
    #[inline(always)]
    fn of<S: Sample>(sample: S) -> f32 {
        sample.to_f32()
    }
    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl Accumulator for f64 {
    const ZERO: f64 = 0.0;
    #[inline(always)]
    fn of<S: Sample>(sample: S) -> f64 {
        sample.to_f64()
    }
    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }
}

/// A number that is read and weighted: a sample of a pixel, or the sum of a first pass.
pub trait Sample: Element + PartialOrd {
    /// Returns the sample's value; exact except for f64 and for integers beyond 2^24.
    fn to_f32(self) -> f32;
    /// Returns the sample's value; exact except for integers beyond 2^53, for which it is the nearest f64.
    fn to_f64(self) -> f64;
    /// Returns the greatest f64 that is not above the sample; infinity for an integer above `last`, the last of f64
    /// edges. So a 64-bit integer is in the same bin between these edges as its exact value.
    #[inline(always)]
    fn to_f64_below(self, last: f64) -> f64 {
        let _ = last;
        self.to_f64()
    }
}

macro_rules! sample {
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
        }
    )*};
}
sample!(u8, u16, i16, f32, f64);

/// A type in which a finished sum of type `A` is stored.
pub trait FromSum<A: Accumulator>: Element {
    /// Converts a sum: integers round half to even, then saturate; NaN becomes 0.
    fn from_sum(sum: A) -> Self;
}

impl FromSum<f32> for f32 {
    #[inline(always)]
    fn from_sum(sum: f32) -> f32 {
        sum
    }
}

impl FromSum<f64> for f64 {
    #[inline(always)]
    fn from_sum(sum: f64) -> f64 {
        sum
    }
}

/// A sample type of images, and the accumulator of results of this type.
pub trait Pixel: Sample + FromSum<Self::Sum> {
    /// f32 for f16 and f32, f64 for the integers and for f64.
    type Sum: Accumulator;
    /// Converts a number; `cast` selects rounding and overflow of integers.
    #[inline(always)]
    fn cast(value: f64, cast: Cast) -> Self {
        let _ = cast;
        Self::from_sum(Self::Sum::from_f64(value))
    }
}

impl Pixel for f32 {
    type Sum = f32;
}

// For intermediate sums that are scaled before they are rounded.
impl Pixel for f64 {
    type Sum = f64;
}

/// Rounds `$sum` half to even and saturates it, as `$type`; NaN becomes 0. `$magic` is 1.5 times 2 to the bits of the
/// fraction, where the spacing of `$float` is 1; `$cvt` is the instruction of GPUs.
macro_rules! rounded {
    ($sum:ident: $float:ty as $type:ty, $magic:literal, $register:ident, $cvt:literal) => {{
        #[cfg(target_arch = "nvptx64")]
        {
            let number = if $sum.is_nan() { 0.0 } else { $sum };
            let rounded: u16;
            // SAFETY: the instruction only writes a register. It saturates; an 8-bit result is in 16 bits.
            #[allow(unsafe_code)]
            unsafe {
                core::arch::asm!(
                    concat!($cvt, " {}, {};"),
                    out(reg16) rounded,
                    in($register) number,
                    options(pure, nomem, nostack)
                )
            };
            rounded as $type
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            let (low, high) = (<$type>::MIN as $float, <$type>::MAX as $float);
            // Comparisons with NaN are false, so that NaN stays NaN.
            let inside = if $sum < low { low } else if $sum > high { high } else { $sum };
            // The integer is in the low bits: hosts have no vector instruction for the cast.
            let rounded: $float = inside + $magic;
            if rounded.is_nan() { 0 } else { rounded.to_bits() as $type }
        }
    }};
}

macro_rules! integer_pixel {
    ($($type:ty: $of_double:literal, $of_float:literal;)*) => {$(
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
                rounded!(sum: f64 as $type, 6755399441055744.0, reg64, $of_double)
            }
        }

        impl FromSum<f32> for $type {
            #[inline(always)]
            fn from_sum(sum: f32) -> $type {
                rounded!(sum: f32 as $type, 12582912.0, reg32, $of_float)
            }
        }
    )*};
}
integer_pixel! {
    u8: "cvt.rni.u8.f64", "cvt.rni.u8.f32";
    u16: "cvt.rni.u16.f64", "cvt.rni.u16.f32";
    i16: "cvt.rni.s16.f64", "cvt.rni.s16.f32";
}

#[cfg(test)]
mod tests {
    use super::FromSum;

    #[test]
    fn integers_round_half_to_even_and_saturate() {
        for (sum, expected) in
            [(0.5, 0), (1.5, 2), (2.5, 2), (254.5, 254), (255.4, 255), (1e9, 255), (-0.5, 0), (-7.0, 0)]
        {
            assert_eq!(u8::from_sum(sum), expected, "{sum}");
            assert_eq!(u8::from_sum(sum as f32), expected, "{sum}");
        }
        for (sum, expected) in
            [(-0.5, 0), (-1.5, -2), (-2.5, -2), (-4e4, -32768), (4e4, 32767), (f64::NEG_INFINITY, -32768)]
        {
            assert_eq!(i16::from_sum(sum), expected, "{sum}");
            assert_eq!(i16::from_sum(sum as f32), expected, "{sum}");
        }
        assert_eq!(u16::from_sum(65534.5), 65534);
        assert_eq!((u16::from_sum(f64::INFINITY), u16::from_sum(f32::INFINITY)), (65535, 65535));
        assert_eq!((u8::from_sum(f64::NAN), i16::from_sum(f32::NAN)), (0, 0));
    }
}
