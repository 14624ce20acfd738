//! Correlation over tiles of the image's own 32-bit words: the tiles.

use crate::{BLOCKED_BLOCK, BLOCKED_COLUMNS, ElementType, tap_stride};

/// Output rows per block when each thread computes `across` x `down` outputs.
pub const fn words_rows(across: u32, down: u32) -> u32 {
    BLOCKED_BLOCK * across * down / BLOCKED_COLUMNS
}

/// Words from one row of their tile to the next: what windows see, taps counted in fours, and where they may start inside
/// a word, one more.
pub const fn words_pitch(src: ElementType, mask_width: u32, channels: u32) -> u32 {
    let of_word = 4 / src.size_bytes();
    (BLOCKED_COLUMNS + tap_stride(mask_width) * channels) / of_word + (of_word > 1) as u32
}

/// Bytes of their sums: f32, or f64 of integers.
pub(crate) const fn words_sum_bytes(src: ElementType) -> u32 {
    if src.size_bytes() == 4 { 4 } else { 8 }
}
