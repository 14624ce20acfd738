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

/// Returns the threads per block of the kernels by matrix products: more if the digits take much of the shared memory.
pub const fn tensor_block(pairs: u32) -> u32 {
    128 * pairs
}

/// Output samples per row of a block of the kernels by matrix products: 16 windows of 16 outputs.
pub const TENSOR_COLUMNS: u32 = 256;

/// Returns the output rows that a warp of these kernels sums at a time: as many as its registers hold sums for.
pub const fn tensor_rows(src: ElementType) -> u32 {
    4 / src.size_bytes()
}

/// Returns the most output rows per block, a multiple of the rows that its warps sum at a time.
pub const fn tensor_height(src: ElementType, pairs: u32) -> u32 {
    (64 + 32 * pairs) / src.size_bytes()
}

/// Returns the pitch of the tile of these kernels, in words: up to 16 bytes before the first window, the windows, and
/// `pairs` times 32 samples from the start of the last window on.
pub const fn tensor_pitch(src: ElementType, pairs: u32) -> u32 {
    (TENSOR_COLUMNS / 4 + 8 * pairs) * src.size_bytes()
}

/// Words of zeros before a row of digits in shared memory.
pub const TENSOR_ZEROS: u32 = 4;

/// Returns the words of one digit of a row of taps in a launch: 32 bytes per pair of 16 samples.
pub const fn tensor_tap_words(pairs: u32) -> u32 {
    8 * pairs
}

/// Returns the words of one digit of a row of taps in shared memory, with the zeros before them.
pub const fn tensor_digit_words(pairs: u32) -> u32 {
    TENSOR_ZEROS + 8 * pairs
}

/// Returns the shared memory per block of `rows` output rows, in bytes: the tile, the digits as fragments of the
/// products, and the digits as in the launch's taps.
pub const fn tensor_bytes(src: ElementType, pairs: u32, digits: u32, mask_height: u32, rows: u32) -> u32 {
    let tile = tensor_pitch(src, pairs) * (rows + mask_height - 1);
    (tile + mask_height * digits * (pairs * 128 + tensor_digit_words(pairs))) * 4
}

/// Threads per block of the kernels whose matrix products take two rows of the mask.
pub const TENSOR_PAIRS_BLOCK: u32 = 128;

/// Output samples per row of a warp of these kernels: 16 windows of 8 outputs.
pub const TENSOR_WARP_COLUMNS: u32 = 128;

/// Output samples per row of a block of these kernels.
pub const TENSOR_PAIRS_COLUMNS: u32 = TENSOR_PAIRS_BLOCK / 32 * TENSOR_WARP_COLUMNS;

/// Returns the pitch of the tile of these kernels, in words: up to 16 bytes before the first window, the windows, and
/// 16 samples from the start of the last window on.
pub const fn tensor_pairs_pitch(src: ElementType) -> u32 {
    (TENSOR_PAIRS_COLUMNS / 4 + 8) * src.size_bytes()
}

/// Returns the most output rows per block, an even number.
pub const fn tensor_pairs_height(src: ElementType) -> u32 {
    48 / src.size_bytes()
}

/// Words of one digit of a row of taps in launches of these kernels: room for the taps and the bytes before the first.
/// In shared memory, zeros follow up to [`tensor_digit_words`] of one pair.
pub const TENSOR_PAIRS_TAP_WORDS: u32 = 3;

/// Returns the words of the digits as fragments of these products: two per lane, for even and odd output rows, by pair
/// of rows and digit.
pub const fn tensor_pairs_words(pairs: u32, digits: u32) -> u32 {
    2 * pairs * digits * 64
}

/// Returns the shared memory per block of `rows` output rows, in bytes: the tile, with `pairs` pairs of rows under the
/// last two output rows; the digits as fragments of the products; and the digits as in the launch's taps.
pub const fn tensor_pairs_bytes(src: ElementType, pairs: u32, digits: u32, mask_height: u32, rows: u32) -> u32 {
    let tile = tensor_pairs_pitch(src) * (rows + 2 * pairs - 2);
    (tile + tensor_pairs_words(pairs, digits) + mask_height * digits * tensor_digit_words(1)) * 4
}

/// Threads per block of the kernels by matrix products along both axes.
pub const TENSOR_AXES_BLOCK: u32 = 256;
/// Output samples per row of a block of these kernels.
pub const TENSOR_AXES_COLUMNS: u32 = 256;

/// Output rows that a warp of these kernels computes at a time, and output samples in each.
pub const TENSOR_AXES_SIDE: u32 = 16;

/// Most output rows per block.
pub const TENSOR_AXES_HEIGHT: u32 = 128;

/// Most windows of 32 bytes along a row, with 16 outputs and the bytes before the first tap.
pub const TENSOR_AXES_WINDOWS: u32 = 7;

/// Returns the most taps along a column, if a warp keeps `pairs` pairs of groups of 16 rows, with 16 output rows.
pub const fn tensor_axes_taps(pairs: u32) -> u32 {
    32 * pairs - TENSOR_AXES_SIDE + 1
}

/// Returns the pitch of the tile of these kernels, in words, for windows of `windows` times 32 bytes: an odd multiple
/// of 16 bytes, so that eight rows are in different banks.
pub const fn tensor_axes_pitch(windows: u32) -> u32 {
    TENSOR_AXES_COLUMNS / 4 + 8 * windows + 4
}

/// Returns the words of the digits as fragments of these products: four per lane, by window and digit along a row, and
/// by pair and digit down a column; a single pair is stored twice.
pub const fn tensor_axes_words(windows: u32) -> u32 {
    3 * (windows + 2) * 128
}

/// Returns the shared memory per block of `rows` output rows, in bytes: the tile, the digits as fragments of the
/// products, and the digits as in the launch's taps, with one word after the last.
pub const fn tensor_axes_bytes(windows: u32, pairs: u32, taps_y: u32, rows: u32) -> u32 {
    let tile = tensor_axes_pitch(windows) * (rows + taps_y - 1);
    let digits = 3 * (tensor_digit_words(windows) + tensor_digit_words(pairs)) + 1;
    (tile + tensor_axes_words(windows) + digits) * 4
}

/// Threads per block of the kernels of masks of one row or column, across and down; a row of threads is a warp.
pub const LINE_BLOCK: [u32; 2] = [32, 8];

/// Most taps of these masks.
pub const LINE_TAPS: u32 = 48;

/// Returns the output rows per thread of these kernels, by channels: more would take too many registers.
pub const fn line_rows(channels: u32) -> u32 {
    if channels == 1 { 4 } else { 2 }
}

/// Returns the shared memory per block of these kernels, in bytes: the taps as f64, and the border map of the samples
/// of a row, or of the rows, under the block.
pub const fn line_bytes(channels: u32) -> u32 {
    LINE_TAPS * 8 + (BLOCKED_COLUMNS + LINE_TAPS * channels) * 4
}
