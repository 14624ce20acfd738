//! Separable correlation: parameters, and the tiles of the fused kernel.

/// Parameters of one pass of a separable filter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Conv1dParams {
    /// Value outside the image, where the border is constant; in the second pass, the result of the first pass for this
    /// value.
    pub constant: f64,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Input row stride, in samples.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Number of taps of the filter.
    pub taps: u32,
    /// Input index, along the filtered axis, under the first tap at output index 0.
    pub origin: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the fused separable kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FusedParams {
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Input row stride, in samples.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Number of taps along the rows.
    pub taps_x: u32,
    /// Number of taps along the columns.
    pub taps_y: u32,
    /// Input column under the first tap at output column 0.
    pub origin_x: i32,
    /// Input row under the first tap at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Value outside the image, where the border is constant.
    pub constant: f32,
    /// Output rows per block.
    pub rows: u32,
    /// Samples between channel planes of an input row: [`fused_input_plane`](crate::fused_input_plane).
    pub input_plane: u32,
    /// Pitch of the input rows, in samples: [`fused_input_pitch`](crate::fused_input_pitch).
    pub input_pitch: u32,
    /// Rows of the ring: [`fused_ring_rows`](crate::fused_ring_rows).
    pub ring_rows: u32,
    /// Rows of the first step that no output depends on.
    pub skipped: u32,
    /// Reciprocal of the number of channels, for [`reciprocal`](crate::reciprocal).
    pub channel_reciprocal: u32,
}

/// Threads per block of the fused separable kernel, and most samples per row of its strip, over all channels.
pub const FUSED_BLOCK: u32 = 128;

/// Rows per step of the fused kernel, and adjacent outputs that a thread sums at once along a row or down a column.
pub const FUSED_ROWS: u32 = 16;

/// Returns the output pixels per row of the fused kernel's strip: a multiple of 16.
pub const fn fused_plane(channels: u32) -> u32 {
    match channels {
        1 => 128,
        2 => 64,
        _ => 32,
    }
}

/// Returns the swizzled index of a pixel's sum in a row of the fused kernel's ring: lanes that read all channels of
/// adjacent pixels have no bank conflicts; with three channels, few.
pub const fn fused_ring_place(channels: u32, pixel: u32, channel: u32) -> u32 {
    let apart = if channels == 2 { 16 } else { 8 };
    channel * fused_plane(channels) + (pixel ^ (channel * apart))
}

/// Returns the pitch of the ring, in accumulators of `sum_bytes` bytes, padded so that lanes on adjacent rows have no
/// bank conflicts.
pub const fn fused_ring_pitch(sum_bytes: u32) -> u32 {
    FUSED_BLOCK + if sum_bytes == 4 { 4 } else { 1 }
}

/// Returns the samples between channel planes of an input row in shared memory.
pub const fn fused_input_plane(channels: u32, taps_x: u32) -> u32 {
    (fused_plane(channels) + taps_x - 1).next_multiple_of(4)
}

/// Returns the pitch of the input rows in shared memory, in samples, padded against bank conflicts.
pub const fn fused_input_pitch(channels: u32, taps_x: u32) -> u32 {
    (channels * fused_input_plane(channels, taps_x)).next_multiple_of(32) + 4
}

/// Returns the rows of the ring: the halo above a step's first output, in whole steps, and the step's own rows.
pub const fn fused_ring_rows(taps_y: u32) -> u32 {
    (taps_y - 1).next_multiple_of(FUSED_ROWS) + FUSED_ROWS
}

/// Returns the shared memory per block of the fused kernel, in bytes, with accumulators of `sum_bytes` bytes: the
/// input rows of two steps, the ring, and the border map of the strip's input columns.
pub const fn fused_bytes(channels: u32, taps_x: u32, taps_y: u32, sum_bytes: u32) -> u32 {
    let input = 2 * FUSED_ROWS * fused_input_pitch(channels, taps_x) * 4;
    let ring = fused_ring_rows(taps_y) * fused_ring_pitch(sum_bytes) * sum_bytes;
    input + ring + fused_input_plane(channels, taps_x) * 4
}

/// Threads per block of the blocked separable kernels.
pub const BLOCKED_LINE_BLOCK: u32 = 256;

/// Output samples of one channel per block of the blocked pass along rows, across and down.
pub const BLOCKED_ROWS_TILE: [u32; 2] = [256, 16];

/// Taps per piece of that pass.
pub const BLOCKED_ROWS_TAPS: u32 = 256;

/// Pitch of the input tile of the pass along rows, in samples, padded so that eight lanes that read 16 bytes each in
/// adjacent rows have no bank conflicts.
pub const BLOCKED_ROWS_PITCH: u32 = (BLOCKED_ROWS_TILE[0] + BLOCKED_ROWS_TAPS).next_multiple_of(32) + 4;

/// Output samples per block of the blocked pass along columns, across and down.
pub const BLOCKED_COLUMNS_TILE: [u32; 2] = [32, 128];

/// Taps per piece of that pass.
pub const BLOCKED_COLUMNS_TAPS: u32 = 128;

/// Pitch of the rows of sums that threads of the blocked pass along rows exchange, in accumulators: odd, so that lanes
/// in adjacent rows have no bank conflicts.
pub const BLOCKED_SUMS_PITCH: u32 = BLOCKED_ROWS_TILE[0] + 1;

/// Returns the shared memory per block of the blocked pass along rows, in bytes: the input tile and the taps, which the
/// sums later overwrite.
pub const fn blocked_rows_bytes(sum_bytes: u32) -> u32 {
    let input = BLOCKED_ROWS_TILE[1] * BLOCKED_ROWS_PITCH * 4 + BLOCKED_ROWS_TAPS * sum_bytes;
    let sums = BLOCKED_ROWS_TILE[1] * BLOCKED_SUMS_PITCH * sum_bytes;
    if input > sums { input } else { sums }
}

/// Returns the shared memory per block of the blocked pass along columns, in bytes: the input tile and the taps.
pub const fn blocked_columns_bytes(sum_bytes: u32) -> u32 {
    let [columns, rows] = BLOCKED_COLUMNS_TILE;
    ((rows + BLOCKED_COLUMNS_TAPS) * columns + BLOCKED_COLUMNS_TAPS) * sum_bytes
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn lanes_at_the_fused_ring_meet_no_bank_twice() {
        use std::vec::Vec;
        let banks =
            |words: Vec<u32>| words.iter().map(|word| word % 32).collect::<std::collections::BTreeSet<_>>().len();
        for channels in [1, 2, 4] {
            // Down the columns: neighbouring samples of a row.
            let places: Vec<u32> =
                (32..64).map(|sample| fused_ring_place(channels, sample / channels, sample % channels)).collect();
            assert_eq!(banks(places), 32, "{channels}");
        }
        for channels in 1..=4 {
            // Along the rows: eight lanes write 16 bytes each, or sixteen 8 bytes each, in neighbouring rows.
            let place = fused_ring_place(channels, 16, channels - 1);
            assert!(place.is_multiple_of(4) && fused_ring_place(channels, 28, channels - 1) + 4 <= FUSED_BLOCK);
            assert_eq!(banks((0..8).map(|lane| place + lane * fused_ring_pitch(4)).collect()), 8);
            assert_eq!(banks((0..16).map(|lane| (place + lane * fused_ring_pitch(8)) * 2).collect()), 16);
            let all: std::collections::BTreeSet<u32> = (0..channels * fused_plane(channels))
                .map(|sample| fused_ring_place(channels, sample / channels, sample % channels))
                .collect();
            assert_eq!(all.last(), Some(&(channels * fused_plane(channels) - 1)));
            assert_eq!(all.len() as u32, channels * fused_plane(channels));
        }
    }
}
