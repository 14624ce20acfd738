//! Correlation over tiles of packed samples (32-bit words): sizes of the tiles.

use crate::{BLOCKED_BLOCK, BLOCKED_COLUMNS, ElementType, tap_stride};

/// Output rows per block when each thread computes `across` x `down` outputs.
pub const fn words_rows(across: u32, down: u32) -> u32 {
    BLOCKED_BLOCK * across * down / BLOCKED_COLUMNS
}

/// Returns the pitch of a tile, in words: a block's samples with the mask's width rounded up to multiples of 4 taps,
/// and one word more where windows may start inside a word.
pub const fn words_pitch(src: ElementType, mask_width: u32, channels: u32) -> u32 {
    let of_word = 4 / src.size_bytes();
    (BLOCKED_COLUMNS + tap_stride(mask_width) * channels) / of_word + (of_word > 1) as u32
}

/// Returns the size of an accumulator, in bytes: f32, or f64 for integers.
pub(crate) const fn words_sum_bytes(src: ElementType) -> u32 {
    if src.size_bytes() == 4 { 4 } else { 8 }
}

/// Threads per block of the kernels of masks of one row or column, across and down; a row of threads is a warp.
pub const LINE_BLOCK: [u32; 2] = [32, 8];

/// Most taps of these masks.
pub const LINE_TAPS: u32 = 48;

/// Returns their output rows per thread, by channels: more would take too many registers.
pub const fn line_rows(channels: u32) -> u32 {
    if channels == 1 { 4 } else { 2 }
}

/// Returns the shared memory per block, in bytes: the taps as f64, and the border map of the samples of a row, or of the
/// rows, under the block.
pub const fn line_bytes(channels: u32) -> u32 {
    LINE_TAPS * 8 + (BLOCKED_COLUMNS + LINE_TAPS * channels) * 4
}
