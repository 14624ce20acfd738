//! Scaling of byte sums to outputs.

use crate::device::Device;
use apron_abi::{Accumulator, BoxParams, ElementType, Pixel};

/// Returns `sum * factor`; if `divisor` is not 0, `factor` is its reciprocal, and the result is `sum / divisor`,
/// correctly rounded.
#[inline(always)]
pub(in super::super) fn scaled<D: Device>(d: D, sum: f64, [factor, divisor]: [f64; 2]) -> f64 {
    let value = sum * factor;
    if divisor == 0.0 {
        return value;
    }
    // The remainder of the division is exact, and one multiply-add with it corrects the quotient.
    d.fma(d.fma(-value, divisor, sum), factor, value)
}

/// Scales a sum in f64; integer outputs are rounded half to even and clamped to their range.
#[inline(always)]
pub(super) fn exact<D: Device, O: Pixel>(d: D, sum: u32, p: &BoxParams) -> O {
    let value = scaled(d, sum as f64, [p.factor, p.divisor]);
    let (low, high) = match O::TYPE {
        ElementType::U8 => (0.0, 255.0),
        ElementType::U16 => (0.0, 65535.0),
        ElementType::I16 => (-32768.0, 32767.0),
        _ => return O::from_sum(O::Sum::from_f64(value)),
    };
    let value = if value < low { low } else { value };
    let value = if value > high { high } else { value };
    // At 1.5 * 2^52 the spacing of f64 is 1: the lowest bits are the integer.
    of_bits((value + 6_755_399_441_055_744.0).to_bits() as u32)
}

/// Scales a sum in f32. Returns the bits of 2^23 plus the output, whose lowest bits are the integer output. The plan
/// allows this (`BoxParams::plain`) only where f32 rounds every sum to the exact output.
#[inline(always)]
pub(super) fn plain<D: Device>(d: D, sum: u32, p: &BoxParams) -> u32 {
    let sum = f32::from_bits(ONES.to_bits() | sum) - ONES;
    d.fma(sum, p.scale, ONES).to_bits()
}

/// At 2^23 the spacing of f32 is 1.
pub(super) const ONES: f32 = 8_388_608.0;

/// Returns the integer with these lowest bits.
#[inline(always)]
pub(super) fn of_bits<O: Pixel>(bits: u32) -> O {
    O::read(&bits.to_ne_bytes())
}

/// Packs four bytes into a word.
#[inline(always)]
pub(super) fn word(bytes: [u32; 4]) -> u32 {
    bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24
}

/// Packs the lowest bytes of four [`plain`] numbers into a word: their other bits are shifted out or subtracted.
#[inline(always)]
pub(super) fn word_of_plain(numbers: [u32; 4]) -> u32 {
    let [a, b, c, d] = numbers;
    let sum = a.wrapping_add(b << 8).wrapping_add(c << 16).wrapping_add(d << 24);
    sum.wrapping_sub(ONES.to_bits())
}
