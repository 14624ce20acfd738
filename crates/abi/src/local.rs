//! Local deviations of floats in small windows: the shared memory of a block.

use crate::BOX_CHUNK;

/// Threads per block.
pub const LOCAL_BLOCK: u32 = 256;

/// Output rows per block.
pub const LOCAL_ROWS: u32 = 32;

/// Most output samples per row of a block.
pub const LOCAL_COLUMNS: u32 = 64;

/// Pitch of the sums along rows, in sums: odd, against bank conflicts.
pub const LOCAL_PITCH: u32 = LOCAL_COLUMNS + 1;

/// Most pixels per side of a window: longer windows are summed by chunks, in another order.
pub const LOCAL_SIDE: u32 = BOX_CHUNK;

/// Returns the output samples per row of a block: in fours of each channel.
#[inline(always)]
pub const fn local_columns(channels: u32) -> u32 {
    match channels {
        3 => LOCAL_COLUMNS / 12 * 12,
        _ => LOCAL_COLUMNS,
    }
}

/// Shared memory layout of a block: rows of samples, then the sums along them, of one term after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTile {
    /// Rows of samples.
    pub rows: u32,
    /// Pitch of the rows, in samples: odd, against bank conflicts.
    pub pitch: u32,
    /// Offset of the sums, in bytes.
    pub sums_at: u32,
    /// Total size, in bytes.
    pub bytes: u32,
}

impl LocalTile {
    /// Returns the layout for windows of this width and height, and samples of `input_bytes` bytes.
    #[inline(always)]
    pub const fn of(channels: u32, [width, height]: [u32; 2], input_bytes: u32) -> LocalTile {
        let (rows, pitch) = (LOCAL_ROWS + height - 1, (LOCAL_COLUMNS + (width - 1) * channels) | 1);
        let sums_at = (rows * pitch * input_bytes).next_multiple_of(8);
        LocalTile { rows, pitch, sums_at, bytes: sums_at + 2 * rows * LOCAL_PITCH * 8 }
    }
}
