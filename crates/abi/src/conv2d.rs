//! Dense correlation: parameters, and the tiles of its kernels.

/// Parameters of dense 2-D correlation.
///
/// Output pixel (x, y) is the sum over the mask of
/// `tap[j][i] * image(x + origin_x + i, y + origin_y + j)`, the image extended by `border`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Conv2dParams {
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
    /// Mask width, in taps.
    pub mask_width: u32,
    /// Mask height, in taps.
    pub mask_height: u32,
    /// Input column under the mask's first column at output column 0.
    pub origin_x: i32,
    /// Input row under the mask's first row at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Value outside the image, where the border is constant.
    pub constant: f32,
    /// Whether sums are clamped to the range 0 to 1: 0 or 1.
    pub clamp: u32,
    /// Error bound of an f32 sum of bytes that is rounded to an integer.
    pub slack: f32,
    /// Reciprocal of the width of the shared tile, for [`reciprocal`](crate::reciprocal).
    pub tile_reciprocal: u32,
}

/// Parameters of dense correlation with a mask in pieces.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PiecesParams {
    /// The whole mask.
    pub whole: Conv2dParams,
    /// Mask rows per piece; 1 if a piece has only some of the mask's columns.
    pub rows: u32,
    /// Mask columns per piece.
    pub columns: u32,
}

/// Parameters of dense correlation of bytes by matrix products.
///
/// A sum is `start` plus the sum of the taps' digits times the samples, in units of `2^-fraction`. Taps of one or
/// two digits are exact: `start` is the largest number below a half. Taps of three digits are truncated: `start` is
/// a half plus a bound of the truncation error of a sum, and a sum is doubtful if its fraction, in units of
/// `2^-32`, is at most `doubt`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TensorParams {
    /// Image, mask and border.
    pub whole: Conv2dParams,
    /// Output rows per block.
    pub rows: u32,
    /// Bits of fraction of a sum.
    pub fraction: u32,
    /// Initial value of the sums.
    pub start: i32,
    /// Whether exact sums have a fraction: 0 or 1.
    pub odd: u32,
    /// Largest doubtful fraction, in units of `2^-32`.
    pub doubt: u32,
    /// Whether doubtful sums are added in the order of the taps, since f64 may round them: 0 or 1.
    pub ordered: u32,
    /// `2^(32 - fraction)` for three digits or more: the product of a sum and this factor has the integer part in its
    /// upper word and the fraction in its lower word.
    pub up: i32,
    /// For separable taps, the initial value of the sums along a row, in place of `start`: it makes them unsigned
    /// numbers of 24 bits.
    pub along: i32,
}

/// Width and height of a tiled kernel's block, in threads; for dense masks also of its output, in pixels.
pub const TILE_WIDTH: u32 = 32;

/// Largest side of a mask for the tiled dense kernel.
pub const MAX_MASK_SIDE: u32 = 64;

/// Threads per block of the dense kernel with register blocking.
pub const BLOCKED_BLOCK: u32 = 256;

/// Output pixels per row of its blocks; output samples, if the tile has interleaved channels.
pub const BLOCKED_COLUMNS: u32 = 128;

/// Output pixels per block, across and down, when each thread computes four rows of `across` outputs.
pub const fn blocked_tile(across: u32) -> [u32; 2] {
    [BLOCKED_COLUMNS, BLOCKED_BLOCK * across * 4 / BLOCKED_COLUMNS]
}

/// Returns the pitch of its tile, in samples.
pub const fn blocked_pitch(mask_width: u32) -> u32 {
    (BLOCKED_COLUMNS + mask_width - 1).next_multiple_of(8)
}
