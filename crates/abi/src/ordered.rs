//! Sums of floats over windows of any size, in the order of [`BOX_CHUNK`], which the families `boxes` and `local`
//! share: parameters and shared memory.

use crate::{BOX_CHUNK, WINDOWS_BLOCK};

/// Returns the place of sample `index` of a row, padded by one sample per chunk against bank conflicts.
#[inline(always)]
pub const fn ordered_place(index: u32) -> u32 {
    index + index / BOX_CHUNK
}

/// Threads per block of the kernels that sum windows of floats down columns.
pub const ORDERED_BLOCK: u32 = 128;

/// Pitch of the chunks of a row in shared memory, in elements: one more than a chunk, against bank conflicts.
pub const ORDERED_PITCH: u32 = BOX_CHUNK + 1;

/// Most chunks of rows per block of these kernels.
pub const ORDERED_STEPS: u32 = 8;

/// Returns the most samples per piece of a row, for `terms` terms: as many as totals fit into the threads' registers.
pub const fn ordered_piece(terms: u32) -> u32 {
    8 / terms * WINDOWS_BLOCK
}

/// Shared memory layout of a block that sums along rows. Per row of a step and term: heads (suffix sums of chunks in
/// which windows start), tails (prefix sums of chunks in which they end), two middles per chunk of heads, and the
/// totals of a tile's chunks. Then the tile: some of the input chunks under the piece's windows, for all rows of a
/// step, as f32 or f64. Each channel is a separate plane in all of these.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OrderedTile {
    /// Chunks of windows per piece.
    pub chunks: u32,
    /// Rows per step: a divisor of [`BOX_CHUNK`].
    pub rows: u32,
    /// Input chunks per tile.
    pub inputs: u32,
    /// Elements of heads, and of tails.
    pub pitch: u32,
    /// Elements per row and term.
    pub row_pitch: u32,
    /// Offset of the tile, in bytes.
    pub inputs_at: u32,
    /// Samples per row of the tile, padded.
    pub inputs_pitch: u32,
    /// Total size, in bytes.
    pub bytes: u32,
}

impl OrderedTile {
    /// Returns the layout for pieces of `chunks` chunks, `rows` rows per step and tiles of `inputs` chunks: `terms`
    /// sums of `sum_bytes` bytes per sample, and samples of `input_bytes` bytes.
    pub const fn of(
        [chunks, rows, inputs]: [u32; 3],
        channels: u32,
        [terms, sum_bytes, input_bytes]: [u32; 3],
    ) -> OrderedTile {
        let pitch = (chunks + 1) * ORDERED_PITCH * channels;
        let row_pitch = 2 * pitch + (2 * chunks + inputs) * channels;
        let inputs_at = rows * terms * row_pitch * sum_bytes;
        let inputs_pitch = inputs * ORDERED_PITCH * channels;
        let bytes = inputs_at + rows * inputs_pitch * input_bytes;
        OrderedTile { chunks, rows, inputs, pitch, row_pitch, inputs_at, inputs_pitch, bytes }
    }
}

/// Parameters of the kernels that sum windows of floats.
///
/// Chunks of rows are numbered as for [`BOX_CHUNK`]: chunk 0 starts at the image's first row.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct OrderedParams {
    /// Factor of a window's sum.
    pub scale: f64,
    /// Value outside the image, where the border is constant.
    pub constant: f64,
    /// The buffer of totals of chunks of row sums: its number in the recipe, then its address.
    pub totals: u64,
    /// Stride between the images of a batch in that buffer, in units of
    /// [`IMAGE_ALIGNMENT`](crate::IMAGE_ALIGNMENT) bytes.
    pub totals_step: u32,
    /// First chunk of rows in that buffer.
    pub first_chunk: i32,
    /// Number of chunks of rows in that buffer: all that lie between the first and the last chunk of some window.
    pub chunks: u32,
    /// Input row stride, in samples.
    pub row_stride: u32,
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
    /// Chunks of output rows per block that sums down columns.
    pub steps: u32,
    /// Layout of the shared memory of a block that sums along rows.
    pub tile: OrderedTile,
}

/// Shared memory, in bytes, of the lists of a block that sums down columns: the rows from the windows' first chunk on,
/// and those from their last one on. The heads of a chunk of windows per thread follow.
pub const ORDERED_LISTS: u32 = 2 * (ORDERED_STEPS + 1) * BOX_CHUNK * 4;
