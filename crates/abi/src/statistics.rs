//! Statistics of samples: parameters, and the tile of rows.

/// Parameters of the kernels that take statistics of floats.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StatisticsParams {
    /// Address of what was found, [`FOUND_NUMBERS`](crate::FOUND_NUMBERS) a channel; in a recipe, the number of its
    /// buffer.
    pub found: u64,
    /// Samples of a channel in the whole image.
    pub count: f64,
    /// Height of the image, in pixels.
    pub height: u32,
    /// Samples of a row.
    pub samples: u32,
    /// Samples from the start of a row to the start of the next.
    pub row_stride: u32,
    /// Channels that are summed apart: all of them, or 1.
    pub apart: u32,
}

/// Rows of a block of the kernels that sum rows: each lane of a warp has one, and each warp a channel.
pub const SUMMED_ROWS: u32 = 32;

/// Samples of a row that it holds at a time: whole pixels of 1 to 4 channels, and whole fours of each channel.
pub const SUMMED_COLUMNS: u32 = 96;

/// Samples from a row to the next there: lanes that read fours of neighbouring rows meet no bank twice.
pub const SUMMED_PITCH: u32 = SUMMED_COLUMNS + 4;

/// Their shared memory, in bytes: one tile that is summed, and one that is on its way.
pub const SUMMED_BYTES: u32 = 2 * SUMMED_ROWS * SUMMED_PITCH * 4;

/// Numbers for each row and channel that they write: the sum, the least and the largest sample.
pub const SUMMED_PARTS: u32 = 3;

/// Threads of a block of the kernel that sums those of all rows.
pub const FOLD_BLOCK: u32 = 256;

/// Numbers that it writes for each channel: the least and the largest sample, the mean, the sum of squared distances.
pub const FOUND_NUMBERS: u32 = 4;
