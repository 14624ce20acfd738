//! Outputs of windows of integers: rounding, packing and stores, for any output type.

use super::quads::QUAD;
use crate::device::{Device, Global};
use apron_abi::SlidingParams;

/// At 1.5 * 2^52 the spacing of f64 is 1: the lowest bits are the integer.
pub(crate) const ONES: f64 = 6_755_399_441_055_744.0;

/// Returns the bits of an output: an f32, or an integer rounded half to even and saturated.
#[inline(always)]
pub(crate) fn rounded(value: f64, p: &SlidingParams) -> u32 {
    if p.out_float != 0 {
        return (value as f32).to_bits();
    }
    let inside = if value < p.out_low { p.out_low } else { value };
    let inside = if inside > p.out_high { p.out_high } else { inside };
    (inside + ONES).to_bits() as u32
}

/// Packs outputs into words; integers of 32 bits are saturated.
#[inline(always)]
fn packed<D: Device>(d: D, bits: [u32; QUAD], p: &SlidingParams) -> [u32; QUAD] {
    let of = |k: usize| bits[k] as i32;
    match p.out_bytes {
        1 => [d.word_of_bytes([of(0), of(1), of(2), of(3)]), 0, 0, 0],
        2 => {
            // Numbers of a signed type are raised to unsigned ones for the saturation; flipping the sign bit undoes
            // that.
            let (shift, sign) = if p.out_low < 0.0 { (1 << 15, 0x8000_8000) } else { (0, 0) };
            let word = |k: usize| d.word_of_halves([of(k) + shift, of(k + 1) + shift]) ^ sign;
            [word(0), word(2), 0, 0]
        }
        _ => bits,
    }
}

/// Stores a quad of outputs at an aligned address.
///
/// # Safety
/// The quad is in the output, and no other thread stores its outputs.
#[inline(always)]
pub(super) unsafe fn store<D: Device>(d: D, to: u64, bits: [u32; QUAD], p: &SlidingParams) {
    let words = packed(d, bits, p);
    // SAFETY: the caller's promise.
    unsafe {
        match p.out_bytes {
            1 => d.store(Global::at(to), 0, words[0]),
            2 => d.store2(Global::<u32>::at(to), 0, [words[0], words[1]]),
            _ => d.store4(Global::<u32>::at(to), 0, words),
        }
    }
}

/// Stores outputs `first` to `end - 1` of a quad, as far as the quad has them. Output 0 is at `to`; outputs are `pitch`
/// samples apart.
///
/// # Safety
/// As [`store`].
#[inline(always)]
pub(super) unsafe fn store_some<D: Device>(
    d: D,
    to: u64,
    [first, end]: [u32; 2],
    pitch: u32,
    bits: [u32; QUAD],
    p: &SlidingParams,
) {
    let (size, words) = (p.out_bytes, packed(d, bits, p));
    for k in 0..QUAD as u32 {
        if first <= k && k < end {
            let to = to.wrapping_add((k * pitch * size) as u64);
            // SAFETY: the caller's promise.
            unsafe {
                match size {
                    1 => d.store(Global::at(to), 0, (words[0] >> (8 * k)) as u8),
                    2 => d.store(Global::at(to), 0, (words[k as usize / 2] >> (k % 2 * 16)) as u16),
                    _ => d.store(Global::at(to), 0, words[k as usize]),
                }
            }
        }
    }
}
