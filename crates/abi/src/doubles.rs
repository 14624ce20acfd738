//! Filters of f64: parameters, and the tile of a block.

/// Threads per block of the kernels of masks over f64.
pub const DOUBLES_BLOCK: [u32; 2] = [32, 4];

/// Samples per thread and row, a block's width apart.
pub const DOUBLES_ACROSS: u32 = 4;

/// Rows per thread of the kernel of dense masks.
pub const DOUBLES_DOWN: u32 = 8;

/// Output samples per row of a block, and rows per block of dense masks.
pub const DOUBLES_TILE: [u32; 2] = [DOUBLES_BLOCK[0] * DOUBLES_ACROSS, DOUBLES_BLOCK[1] * DOUBLES_DOWN];

/// Parameters of correlation of f64: as [`Conv2dParams`](crate::Conv2dParams).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct DoublesParams {
    /// Value outside the image, where the border is constant.
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
    /// Whether sums are clamped to the range 0 to 1: 0 or 1.
    pub clamp: u32,
}
