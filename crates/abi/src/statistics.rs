//! Statistics of samples: parameters, and the tile of rows.

/// Parameters of the kernels that take statistics of floats.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StatisticsParams {
    /// Address of the results, [`FOUND_NUMBERS`](crate::FOUND_NUMBERS) numbers per channel; in a recipe, the number
    /// of their buffer.
    pub found: u64,
    /// Samples per channel in the whole image.
    pub count: f64,
    /// Height of the image, in pixels.
    pub height: u32,
    /// Samples per row.
    pub samples: u32,
    /// Row stride, in samples.
    pub row_stride: u32,
    /// Channels that are summed separately: all of them, or 1.
    pub apart: u32,
}

/// Rows per block of the kernels that sum rows: each lane of a warp sums one row, and each warp one channel.
pub const SUMMED_ROWS: u32 = 32;

/// Samples of a row in the shared tile: whole pixels of 1 to 4 channels, and a multiple of 4 samples of each channel.
pub const SUMMED_COLUMNS: u32 = 96;

/// Pitch of the tile, in samples, padded: lanes that read 4 samples each of adjacent rows have no bank conflicts.
pub const SUMMED_PITCH: u32 = SUMMED_COLUMNS + 4;

/// Returns the shared memory per block of those kernels, in bytes, for samples of `sample_bytes` bytes: one tile that
/// is summed, and one that is prefetched.
pub const fn summed_bytes(sample_bytes: u32) -> u32 {
    2 * SUMMED_ROWS * SUMMED_PITCH * sample_bytes
}

/// Numbers per row and channel that those kernels write: the sum, the least and the largest sample.
pub const SUMMED_PARTS: u32 = 3;

/// Threads per block of the kernel that adds up the sums of all rows.
pub const FOLD_BLOCK: u32 = 256;

/// Numbers per channel in the results: the least and the largest sample, the mean, the sum of squared deviations.
pub const FOUND_NUMBERS: u32 = 4;
