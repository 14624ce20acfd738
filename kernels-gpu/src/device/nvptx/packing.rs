//! Unpacking and packing of the samples of a 32-bit word.

use core::arch::asm;

/// Converts the f16 in a word's low half.
#[inline(always)]
fn low_half(word: u32) -> f32 {
    let number: f32;
    // SAFETY: arithmetic.
    unsafe {
        asm!("{{ .reg .b16 low, high; mov.b32 {{low, high}}, {1}; cvt.f32.f16 {0}, low; }}",
            out(reg32) number, in(reg32) word, options(pure, nomem, nostack));
    }
    number
}

/// Converts the f16 in a word's high half.
#[inline(always)]
fn high_half(word: u32) -> f32 {
    let number: f32;
    // SAFETY: arithmetic.
    unsafe {
        asm!("{{ .reg .b16 low, high; mov.b32 {{low, high}}, {1}; cvt.f32.f16 {0}, high; }}",
            out(reg32) number, in(reg32) word, options(pure, nomem, nostack));
    }
    number
}

/// As [`Device::pick`](super::super::Device::pick).
#[inline(always)]
pub(super) fn pick<const BYTES: u32>(low: u32, high: u32) -> u32 {
    let word: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "prmt.b32 {0}, {1}, {2}, {3};",
            out(reg32) word,
            in(reg32) low,
            in(reg32) high,
            const BYTES,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// As [`Device::pick_at`](super::super::Device::pick_at).
#[inline(always)]
pub(super) fn pick_at(low: u32, high: u32, bytes: u32) -> u32 {
    let word: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "prmt.b32 {0}, {1}, {2}, {3};",
            out(reg32) word, in(reg32) low, in(reg32) high, in(reg32) bytes,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// As [`Device::bytes_of`](super::super::Device::bytes_of).
#[inline(always)]
pub(super) fn bytes_of(word: u32) -> [f32; 4] {
    // Zero-extends two bytes at a time to 16 bits: the first and the third, the second and the fourth. Each half is
    // converted by itself, so that conversions whose result is unused are eliminated.
    let (even, odd): (u32, u32);
    // SAFETY: arithmetic.
    unsafe {
        asm!("and.b32 {0}, {1}, 0x00ff00ff;", out(reg32) even, in(reg32) word, options(pure, nomem, nostack));
        asm!("prmt.b32 {0}, {1}, 0, 0x4341;", out(reg32) odd, in(reg32) word, options(pure, nomem, nostack));
        [low_half(even), low_half(odd), high_half(even), high_half(odd)]
    }
}

/// As [`Device::word_of`](super::super::Device::word_of).
#[inline(always)]
pub(super) fn word_of([a, b, c, d]: [f32; 4]) -> u32 {
    // ptxas fuses this into one instruction per two bytes.
    let word: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "{{ .reg .b32 a, b, c, d; cvt.rni.s32.f32 a, {1}; cvt.rni.s32.f32 b, {2}; \
             cvt.rni.s32.f32 c, {3}; cvt.rni.s32.f32 d, {4}; \
             cvt.pack.sat.u8.s32.b32 c, d, c, 0; cvt.pack.sat.u8.s32.b32 {0}, b, a, c; }}",
            out(reg32) word,
            in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// As [`Device::word_of_bytes`](super::super::Device::word_of_bytes).
#[inline(always)]
pub(super) fn word_of_bytes([a, b, c, d]: [i32; 4]) -> u32 {
    let word: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "{{ .reg .b32 high; cvt.pack.sat.u8.s32.b32 high, {4}, {3}, 0; cvt.pack.sat.u8.s32.b32 {0}, {2}, {1}, high; }}",
            out(reg32) word,
            in(reg32) a, in(reg32) b, in(reg32) c, in(reg32) d,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// As [`Device::word_of_halves`](super::super::Device::word_of_halves).
#[inline(always)]
pub(super) fn word_of_halves([low, high]: [i32; 2]) -> u32 {
    let word: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "cvt.pack.sat.u16.s32 {0}, {2}, {1};",
            out(reg32) word, in(reg32) low, in(reg32) high,
            options(pure, nomem, nostack)
        );
    }
    word
}

/// As [`Device::floats_of`](super::super::Device::floats_of).
#[inline(always)]
pub(super) fn floats_of(word: u32) -> [f32; 2] {
    [low_half(word), high_half(word)]
}

/// As [`Device::word_of_floats`](super::super::Device::word_of_floats).
#[inline(always)]
pub(super) fn word_of_floats([low, high]: [f32; 2]) -> u32 {
    let word: u32;
    // SAFETY: arithmetic.
    unsafe {
        asm!(
            "cvt.rn.f16x2.f32 {0}, {2}, {1};",
            out(reg32) word, in(reg32) low, in(reg32) high,
            options(pure, nomem, nostack)
        );
    }
    // NaN has become 0x7fff, which no other number does; `Half::from_f32` makes it 0x7e00.
    let nan = ((word & 0x7fff_7fff) + 0x0001_0001) >> 15 & 0x0001_0001;
    word - nan * 0x1ff
}
