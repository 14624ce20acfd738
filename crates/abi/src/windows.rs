//! Sums over windows of any size, which the families `boxes` and `local` share: parameters and shared memory.

/// Threads per block of the kernels that sum windows.
pub const WINDOWS_BLOCK: u32 = 256;

/// Rows per chunk whose column sums are computed once for all blocks; and pixels per chunk of a row whose prefix sums one
/// thread computes.
pub const WINDOWS_CHUNK: u32 = 16;

/// Returns the place of sample `index` of a row, padded by one sample per chunk against bank conflicts.
#[inline(always)]
pub const fn windows_place(index: u32) -> u32 {
    index + index / WINDOWS_CHUNK
}

/// Shared memory layout of a block that slides: the list of input samples of its columns, the columns' sums, the rows of a
/// step (which become prefix sums by chunk), and the rows of outputs, a word per sample.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SlidingTile {
    /// Output pixels per block: whole chunks.
    pub strip: u32,
    /// Input pixels per block: whole chunks.
    pub pixels: u32,
    /// Offset of the columns' sums, in bytes.
    pub columns_at: u32,
    /// Offset of the rows of a step, in bytes.
    pub rows_at: u32,
    /// Elements per row of a step.
    pub row_pitch: u32,
    /// Offset of the rows of outputs, in bytes.
    pub staged_at: u32,
    /// Words per row of outputs.
    pub staged_pitch: u32,
    /// Total size, in bytes.
    pub bytes: u32,
}

impl SlidingTile {
    /// Returns the layout for strips of `strip` output pixels, whole chunks, and windows of `width` pixels: `terms` sums of
    /// `sum_bytes` bytes per sample, `rows` rows per step.
    pub const fn of(strip: u32, width: u32, channels: u32, [terms, sum_bytes]: [u32; 2], rows: u32) -> SlidingTile {
        let pixels = (strip + width - 1).next_multiple_of(WINDOWS_CHUNK);
        let samples = pixels * channels;
        let columns_at = (samples * 4).next_multiple_of(8);
        let rows_at = columns_at + samples * terms * sum_bytes;
        let row_pitch = windows_place(samples);
        let staged_at = rows_at + rows * terms * row_pitch * sum_bytes;
        let staged_pitch = windows_place(strip * channels);
        let bytes = staged_at + rows * staged_pitch * 4;
        SlidingTile { strip, pixels, columns_at, rows_at, row_pitch, staged_at, staged_pitch, bytes }
    }
}

/// Parameters of the kernels that sum windows of integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SlidingParams {
    /// Input row stride, in samples.
    pub row_stride: u32,
    /// Factor of a window's sum.
    pub factor: f64,
    /// Divisor of a window's sum, where the factor is its reciprocal; else 0.
    pub divisor: f64,
    /// The buffer of column sums of chunks of rows: its number in the recipe, then its address.
    pub totals: u64,
    /// Stride between the images of a batch in that buffer, in units of [`IMAGE_ALIGNMENT`](crate::IMAGE_ALIGNMENT) bytes.
    pub totals_step: u32,
    /// Chunks of rows in that buffer; 0 where blocks sum all rows of their first windows themselves.
    pub chunks: u32,
    /// Value outside the image, where the border is constant.
    pub constant: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Width of the window, in pixels.
    pub window_x: u32,
    /// Height of the window, in pixels.
    pub window_y: u32,
    /// Input column of the first window's first pixel.
    pub origin_x: i32,
    /// Input row of the first window's first pixel.
    pub origin_y: i32,
    /// Output rows per block: whole chunks.
    pub rows: u32,
    /// Bytes per output sample.
    pub out_bytes: u32,
    /// Whether outputs are f32, 0 or 1; if not, they are integers from `out_low` to `out_high`.
    pub out_float: u32,
    /// Least output, if it is an integer.
    pub out_low: f64,
    /// Largest output, if it is an integer.
    pub out_high: f64,
    /// Layout of the block's shared memory.
    pub tile: SlidingTile,
}
