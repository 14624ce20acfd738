//! Separable correlation: parameters, and the tiles of the fused kernel.

/// Parameters of one pass of a separable filter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Conv1dParams {
    /// The value outside the image, where the border is constant; in the second pass, what the
    /// first would have made of it.
    pub constant: f64,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Taps of the filter.
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
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Taps along the rows.
    pub taps_x: u32,
    /// Taps along the columns.
    pub taps_y: u32,
    /// Input column under the first tap at output column 0.
    pub origin_x: i32,
    /// Input row under the first tap at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
    /// Output rows of a block.
    pub rows: u32,
    /// [`fused_input_plane`](crate::fused_input_plane).
    pub input_plane: u32,
    /// [`fused_input_pitch`](crate::fused_input_pitch).
    pub input_pitch: u32,
    /// [`fused_ring_rows`](crate::fused_ring_rows).
    pub ring_rows: u32,
    /// Rows of the first step that no output depends on.
    pub skipped: u32,
    /// By which to divide by the channels, see [`reciprocal`](crate::reciprocal).
    pub channel_reciprocal: u32,
}

/// Threads of a block of the fused separable kernel, and columns of its strip of all channels, or a few less.
pub const FUSED_BLOCK: u32 = 128;

/// Rows that it takes at a time, and neighbours that a thread sums at once along a row and down a column.
pub const FUSED_ROWS: u32 = 16;

/// Pixels of an output row that a block of the fused kernel computes: whole threads' neighbours.
pub const fn fused_plane(channels: u32) -> u32 {
    match channels {
        1 => 128,
        2 => 64,
        _ => 32,
    }
}

/// Where in a row of its ring the sum of a pixel is: lanes that read all channels of neighbouring pixels meet no bank
/// twice; of three channels, few.
pub const fn fused_ring_place(channels: u32, pixel: u32, channel: u32) -> u32 {
    let apart = if channels == 2 { 16 } else { 8 };
    channel * fused_plane(channels) + (pixel ^ (channel * apart))
}

/// Pitch of its ring, in accumulators of `sum_bytes` bytes: lanes on neighbouring rows have no bank conflicts.
pub const fn fused_ring_pitch(sum_bytes: u32) -> u32 {
    FUSED_BLOCK + if sum_bytes == 4 { 4 } else { 1 }
}

/// Samples from one channel to the next in its input rows.
pub const fn fused_input_plane(channels: u32, taps_x: u32) -> u32 {
    (fused_plane(channels) + taps_x - 1).next_multiple_of(4)
}

/// Samples from one input row to the next, as for the ring.
pub const fn fused_input_pitch(channels: u32, taps_x: u32) -> u32 {
    (channels * fused_input_plane(channels, taps_x)).next_multiple_of(32) + 4
}

/// Rows of its ring: those under the taps of the first output of a step, and the step's own.
pub const fn fused_ring_rows(taps_y: u32) -> u32 {
    (taps_y - 1).next_multiple_of(FUSED_ROWS) + FUSED_ROWS
}

/// Its shared memory, in bytes, with accumulators of `sum_bytes` bytes: two steps' input rows, the ring, and the image's columns that
/// stand for those of the strip.
pub const fn fused_bytes(channels: u32, taps_x: u32, taps_y: u32, sum_bytes: u32) -> u32 {
    let input = 2 * FUSED_ROWS * fused_input_pitch(channels, taps_x) * 4;
    let ring = fused_ring_rows(taps_y) * fused_ring_pitch(sum_bytes) * sum_bytes;
    input + ring + fused_input_plane(channels, taps_x) * 4
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
