//! Tables for the values of samples: parameters.

mod equalize;
mod tiles;

pub use equalize::equalized;
pub use tiles::{between_tiles, bilinear};

use crate::SLICE_CELLS;

/// Parameters of the kernel that looks bytes up.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LookupParams {
    /// Samples, in bytes.
    pub samples: u64,
    /// Address of the tables, 256 bytes each; in a recipe, the number of their buffer.
    pub table: u64,
    /// Tables: sample `i` is looked up in table `i % tables`.
    pub tables: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernel that makes the tables by which histograms are equalised.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EqualizeParams {
    /// Channels, with a table each.
    pub channels: u32,
}

/// Parameters of the kernels that equalise by tiles.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TilesParams {
    /// Address of the tiles' tables, an entry for each value of each channel of each tile; in a recipe, the number of
    /// their buffer.
    pub tables: u64,
    /// Width of the image, in pixels.
    pub width: u32,
    /// Height of the image, in pixels.
    pub height: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Tiles across.
    pub across: u32,
    /// Tiles down.
    pub down: u32,
    /// Width of a tile, in pixels; with those beyond the image's end.
    pub tile_width: u32,
    /// Height of a tile, in pixels.
    pub tile_height: u32,
    /// The largest count of a value; `u32::MAX` for any.
    pub limit: u32,
    /// By what sums of counts are multiplied.
    pub scale: f32,
    /// The reciprocal of a tile's width.
    pub inverse_x: f32,
    /// The reciprocal of a tile's height.
    pub inverse_y: f32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Threads of a block of the kernel that looks bytes up.
pub const LOOKUP_BLOCK: u32 = 256;

/// Values of a 16-bit sample.
pub const WIDE_VALUES: u32 = 65536;

/// Slices of them, whose counters a block holds.
pub const WIDE_SLICES: u32 = WIDE_VALUES / SLICE_CELLS;

/// Threads of a block of the kernel that makes tables for them: as many warps as a warp has lanes.
pub const WIDE_BLOCK: u32 = 1024;
