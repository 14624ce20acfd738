//! Sums over windows of any size, which the families `boxes` and `local` share: parameters and shared memory.

/// Threads per block of the kernels that sum windows.
pub const WINDOWS_BLOCK: u32 = 256;

/// Rows per chunk whose column sums are computed once for all blocks.
pub const WINDOWS_CHUNK: u32 = 16;

/// Samples per quad: adjacent samples that a thread loads together.
pub const WINDOWS_QUAD: u32 = 4;

/// Most output rows per step of a block that slides: one per warp.
pub const WINDOWS_ROWS: u32 = WINDOWS_BLOCK / LANES;

/// Most adjacent windows that a lane computes together.
pub const WINDOWS_TOGETHER: u32 = 8;

/// Lanes of a warp.
const LANES: u32 = 32;

/// Shared memory layout of a block that slides: the column sums of each row of a step, one plane per term and channel;
/// then the outputs of each row; then the border map of the quads.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SlidingTile {
    /// Output pixels per block.
    pub strip: u32,
    /// Channels per block: all, or one.
    pub channels: u32,
    /// Quads of samples per thread.
    pub quads: u32,
    /// Output rows per step, a power of two up to [`WINDOWS_ROWS`].
    pub rows: u32,
    /// Pixels per segment: the windows along a row that one lane computes.
    pub segment: u32,
    /// Whole segments that a window spans, and the number of pixels beyond them.
    pub window: [u32; 2],
    /// Sums per plane.
    pub plane: u32,
    /// Offset of the outputs, in bytes.
    pub outputs_at: u32,
    /// Pitch of the rows of outputs, in outputs.
    pub outputs: u32,
    /// Offset of the border map, in bytes: the image's samples that replace those of the quads.
    pub list_at: u32,
    /// Total size, in bytes.
    pub bytes: u32,
}

impl SlidingTile {
    /// Returns the layout for steps of `rows` rows, with `quads` quads per thread, in blocks of `channels` channels,
    /// with windows of `width` pixels: `terms` sums of `sum_bytes` bytes per sample. The strip is as wide as the quads
    /// allow, possibly 0.
    pub const fn of([rows, quads]: [u32; 2], width: u32, channels: u32, [terms, sum_bytes]: [u32; 2]) -> SlidingTile {
        let samples = quads * WINDOWS_BLOCK * WINDOWS_QUAD;
        // The first pixel of a strip may be inside its first quad. The segments of lanes have an odd number of pixels,
        // against bank conflicts; a lane computes whole quads, the last of which has one pixel of the next segment.
        let pixels = (samples - WINDOWS_QUAD) / channels;
        let segment = (pixels / (LANES / channels) + 1) / WINDOWS_TOGETHER * WINDOWS_TOGETHER - 1;
        // Lanes also load the sums under windows after the last one.
        let whole = segment * (LANES / channels);
        let reach = if whole < pixels - WINDOWS_TOGETHER { whole } else { pixels - WINDOWS_TOGETHER };
        // The planes of several channels begin in different parts of the banks.
        let plane = match channels {
            1 => samples,
            _ => (samples / channels).next_multiple_of(LANES) + LANES / channels,
        };
        let outputs_at = rows * plane * channels * terms * sum_bytes;
        let outputs = plane * channels + WINDOWS_QUAD;
        let list_at = outputs_at + rows * outputs * 4;
        SlidingTile {
            strip: reach.saturating_sub(width) / WINDOWS_QUAD * WINDOWS_QUAD,
            channels,
            quads,
            rows,
            segment,
            window: [width / segment, width % segment],
            plane,
            outputs_at,
            outputs,
            list_at,
            bytes: list_at + samples * 4,
        }
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
    /// Divisor of a window's sum, if `factor` is its reciprocal; otherwise 0.
    pub divisor: f64,
    /// The buffer of column sums of chunks of rows: its number in the recipe, then its address.
    pub totals: u64,
    /// Stride between the images of a batch in that buffer, in units of
    /// [`IMAGE_ALIGNMENT`](crate::IMAGE_ALIGNMENT) bytes.
    pub totals_step: u32,
    /// Number of chunks of rows in that buffer; 0 if blocks sum all rows of their first windows.
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
    /// If not 0, the outputs are computed in integers: `((sum + bias) * multiplier) >> (32 + shift)`.
    pub multiplier: u32,
    /// See `multiplier`.
    pub shift: u32,
    /// See `multiplier`; 0 without it.
    pub bias: i32,
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
