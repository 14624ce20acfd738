//! Conversion of sums to integers: rounding and overflow.

/// Rounding to a whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest whole number, halves to the even one.
    #[default]
    HalfEven,
    /// To the next whole number toward zero, as a cast in C does.
    TowardZero,
}

/// Conversion of a whole number outside the type's range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The type's least or greatest number.
    #[default]
    Saturate,
    /// The number modulo 2 to the power of the type's bits, as a cast between integers in C does; 0 for infinities.
    Wrap,
}

/// Conversion of a sum to an integer; NaN becomes 0. A bool is true if the whole number is not 0.
///
/// ```
/// use apron_abi::{Cast, Overflow, Pixel, Rounding};
///
/// let c = Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap };
/// assert_eq!((u8::cast(-1.5, c), i32::cast(-1.5, c), u8::cast(-1.5, Cast::default())), (255, -1, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cast {
    /// Rounding to a whole number.
    pub rounding: Rounding,
    /// Conversion of a whole number outside the type's range.
    pub overflow: Overflow,
}

impl Cast {
    /// Returns the number of this cast in the parameters of kernels; 0 for the default.
    pub fn code(self) -> u32 {
        let truncates = (self.rounding == Rounding::TowardZero) as u32;
        truncates | ((self.overflow == Overflow::Wrap) as u32) << 1
    }

    /// Returns the cast of this number: the inverse of [`code`](Cast::code).
    #[inline(always)]
    pub fn of_code(code: u32) -> Cast {
        let rounding = if code & 1 == 0 { Rounding::HalfEven } else { Rounding::TowardZero };
        let overflow = if code & 2 == 0 { Overflow::Saturate } else { Overflow::Wrap };
        Cast { rounding, overflow }
    }
}
