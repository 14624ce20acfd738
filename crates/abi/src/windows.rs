//! Sums over windows of any size, which the families `boxes` and `local` share: parameters and shared memory.

/// Threads per block of the kernels that sum windows.
pub const WINDOWS_BLOCK: u32 = 256;

/// Rows per chunk whose column sums are computed once for all blocks.
pub const WINDOWS_CHUNK: u32 = 16;

/// Adjacent pixels whose samples of one channel belong to a thread: a quad.
pub const WINDOWS_QUAD: u32 = 4;

/// Lanes of a warp.
const LANES: u32 = 32;

/// Returns the pixels per warp: each lane has a quad, and lanes of all channels are interleaved. Of three channels, two lanes
/// are idle.
#[inline(always)]
pub const fn windows_pixels(channels: u32) -> u32 {
    LANES / channels * WINDOWS_QUAD
}

/// Shared memory layout of a block that slides: the list of input samples of its quads; the column sums, if a thread has several
/// quads; prefix sums per warp and the warps' totals, both for two rows.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SlidingTile {
    /// Output pixels per block: whole quads.
    pub strip: u32,
    /// Channels per block: all, or one.
    pub channels: u32,
    /// Quads per thread.
    pub quads: u32,
    /// Offset of the column sums, in bytes.
    pub columns_at: u32,
    /// Offset of the prefix sums, in bytes.
    pub prefixes_at: u32,
    /// Offset of the warps' totals, in bytes.
    pub totals_at: u32,
    /// Total size, in bytes.
    pub bytes: u32,
}

impl SlidingTile {
    /// Returns the layout for `quads` quads per thread of blocks of `channels` channels, with windows of `width` pixels: `terms`
    /// sums of `sum_bytes` bytes per sample. The strip is as wide as there is room, which may be 0.
    pub const fn of(quads: u32, width: u32, channels: u32, [terms, sum_bytes]: [u32; 2]) -> SlidingTile {
        let warps = quads * WINDOWS_BLOCK / LANES;
        let pixels = warps * windows_pixels(channels);
        let strip = pixels.saturating_sub(width) / WINDOWS_QUAD * WINDOWS_QUAD;
        let (samples, sums) = (quads * WINDOWS_BLOCK * WINDOWS_QUAD, terms * sum_bytes);
        let columns_at = samples * 4;
        let prefixes_at = columns_at + if quads > 1 { samples * sums } else { 0 };
        let totals_at = prefixes_at + 2 * samples * sums;
        let bytes = totals_at + 2 * warps * 4 * sums;
        SlidingTile { strip, channels, quads, columns_at, prefixes_at, totals_at, bytes }
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
    /// Whether one multiply-add rounds every sum to its output, 0 or 1.
    pub plain: u32,
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
