//! 16-bit floats, converted by integer operations on their bits, so that all devices return the same bits, for NaN,
//! too.

use crate::{Element, ElementType, FromSum, Pixel, Sample};
use core::cmp::Ordering;

/// A float of 16 bits (IEEE 754 binary16), as buffers and kernels hold it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Half(
    /// Its bits: 1 of the sign, 5 of the exponent, 10 of the fraction.
    pub u16,
);

impl Half {
    /// Returns the f16 nearest to `value`, ties to even; infinity from 65520 on.
    #[inline(always)]
    pub fn from_f32(value: f32) -> Half {
        /// Bits, as f32, of the least normal f16, 2^-14, and of 2^16; numbers from 2^16 on become infinity.
        const NORMAL: u32 = 0x3880_0000;
        const BEYOND: u32 = 0x4780_0000;
        let (sign, size) = ((value.to_bits() >> 16) & 0x8000, value.to_bits() & 0x7fff_ffff);
        // Rounds off the lowest 13 bits of the fraction; a carry correctly increments the exponent.
        let normal = (size.wrapping_add(0xfff + ((size >> 13) & 1)) >> 13).wrapping_sub((127 - 15) << 10);
        // From 0.5 on, the spacing of f32 is 2^-24, that of subnormal f16.
        let small = (f32::from_bits(size) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
        let finite = if size < NORMAL { small } else { normal };
        let limited = if size < BEYOND { finite } else { 0x7c00 };
        let number = if size > f32::INFINITY.to_bits() { 0x7e00 } else { limited };
        Half((sign | number) as u16)
    }
}

/// Implements the sample traits for a type that holds the bits of an f16.
macro_rules! half {
    ($type:ty: $bits:expr, $of:expr) => {
        impl Element for $type {
            const TYPE: ElementType = ElementType::F16;
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                ($of)(u16::read(bytes))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                ($bits)(self).write(bytes);
            }
        }

        impl Sample for $type {
            #[inline(always)]
            fn to_f32(self) -> f32 {
                let bits = ($bits)(self) as u32;
                let (sign, size) = ((bits & 0x8000) << 16, bits & 0x7fff);
                // Subnormal numbers are integers in units of 2^-24.
                let small = (size as f32 * (1.0 / 16777216.0)).to_bits();
                let normal = (size << 13) + ((127 - 15) << 23);
                let number = if size < 0x400 { small } else { normal };
                let beyond = (size << 13) | f32::INFINITY.to_bits();
                f32::from_bits(sign | if size < 0x7c00 { number } else { beyond })
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.to_f32() as f64
            }
        }

        /// Sums in f32, and rounds the result once more, to f16.
        impl Pixel for $type {
            type Sum = f32;
        }

        impl FromSum<f32> for $type {
            #[inline(always)]
            fn from_sum(sum: f32) -> Self {
                ($of)(Half::from_f32(sum).0)
            }
        }
    };
}
half!(Half: |half: Half| half.0, Half);
#[cfg(feature = "host")]
half!(half::f16: half::f16::to_bits, half::f16::from_bits);

impl PartialEq for Half {
    fn eq(&self, other: &Half) -> bool {
        self.to_f32() == other.to_f32()
    }
}

impl PartialOrd for Half {
    fn partial_cmp(&self, other: &Half) -> Option<Ordering> {
        self.to_f32().partial_cmp(&other.to_f32())
    }
}

#[cfg(test)]
#[allow(clippy::excessive_precision)] // all digits of the values of the bits
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0400, 0.00006103515625),
            (0x0001, 5.9604644775390625e-8),
            (0x83ff, -0.000060975551605224609375),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ] {
            assert_eq!(Half(bits).to_f32(), value, "{bits:04x}");
            assert_eq!(Half::from_f32(value).0, bits, "{value}");
        }
        assert_eq!((Half::from_f32(-0.0).0, Half(0x8000).to_f32().to_bits()), (0x8000, (-0.0f32).to_bits()));
        // Ties to even, at both ends of the range, too.
        for (value, bits) in [
            (2049.0, 0x6800),
            (2051.0, 0x6802),
            (65519.996, 0x7bff),
            (65520.0, 0x7c00),
            (1e30, 0x7c00),
            (2.9802322387695312e-8, 0),
            (2.98023241640522e-8, 1),
            (8.940696716308594e-8, 2),
            (1e-40, 0),
        ] {
            assert_eq!(Half::from_f32(value).0, bits, "{value}");
            assert_eq!(Half::from_f32(-value).0, bits | 0x8000, "{value}");
        }
        assert!(Half::from_f32(f32::NAN).to_f32().is_nan() && Half(0x7c01).to_f32().is_nan());
        assert!(Half(0x3c00) > Half(0xbc00) && Half(0) == Half(0x8000) && Half(0x7e00) != Half(0x7e00));
    }

    /// Checks every finite value, and all f32 next to the midpoints between them.
    #[test]
    fn every_one_and_its_neighbours() {
        for bits in 0..0x7c00u16 {
            let (value, above) = (Half(bits).to_f32(), Half(bits + 1).to_f32());
            assert!(value < above, "{bits:04x}");
            assert_eq!(Half::from_f32(value).0, bits);
            // The value after the largest would be 65536.
            let above = if bits == 0x7bff { 65536.0 } else { above };
            let middle = (value + above) / 2.0;
            let even = bits + (bits & 1);
            let around = [(middle.next_down(), bits), (middle, even), (middle.next_up(), bits + 1)];
            for (near, expected) in around {
                assert_eq!(Half::from_f32(near).0, expected, "{near:e}");
                assert_eq!(Half::from_f32(-near).0, expected | 0x8000, "{near:e}");
            }
        }
    }

    #[cfg(feature = "host")]
    #[test]
    fn they_are_those_of_the_crate_half() {
        for bits in 0..=u16::MAX {
            let (own, other) = (Half(bits).to_f32(), half::f16::from_bits(bits).to_f32());
            assert!(
                own == other && own.is_sign_negative() == other.is_sign_negative() || own.is_nan() && other.is_nan()
            );
        }
    }
}
