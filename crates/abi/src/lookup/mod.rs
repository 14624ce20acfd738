//! Lookup tables for samples: parameters.

mod equalize;
mod tiles;

pub use equalize::equalized;
pub use tiles::{between_tiles, bilinear};

use crate::SLICE_CELLS;

/// Parameters of the lookup kernel for bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LookupParams {
    /// Number of samples, one byte each.
    pub samples: u64,
    /// Address of the tables, 256 bytes each; in a recipe, the number of their buffer.
    pub table: u64,
    /// Number of tables: sample `i` is looked up in table `i % tables`.
    pub tables: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernel that computes the equalisation tables of histograms.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EqualizeParams {
    /// Number of channels, one table each.
    pub channels: u32,
}

/// Parameters of the kernels that equalise by tiles (CLAHE).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TilesParams {
    /// Address of the tiles' tables, one entry per value, channel and tile; in a recipe, the number of their buffer.
    pub tables: u64,
    /// Width of the image, in pixels.
    pub width: u32,
    /// Height of the image, in pixels.
    pub height: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Number of tiles across.
    pub across: u32,
    /// Number of tiles down.
    pub down: u32,
    /// Width of a tile, in pixels; the last tiles may reach past the image's end.
    pub tile_width: u32,
    /// Height of a tile, in pixels.
    pub tile_height: u32,
    /// Clip limit: the largest count of a value; `u32::MAX` for none.
    pub limit: u32,
    /// Factor of the cumulative counts.
    pub scale: f32,
    /// Reciprocal of a tile's width.
    pub inverse_x: f32,
    /// Reciprocal of a tile's height.
    pub inverse_y: f32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Threads per block of the lookup kernel for bytes.
pub const LOOKUP_BLOCK: u32 = 256;

/// Number of values of a 16-bit sample.
pub const WIDE_VALUES: u32 = 65536;

/// Slices of the values of a 16-bit sample: a block holds the counters of one slice.
pub const WIDE_SLICES: u32 = WIDE_VALUES / SLICE_CELLS;

/// Threads per block of the kernel that computes tables of 16-bit samples: 32 warps, as many as a warp has lanes.
pub const WIDE_BLOCK: u32 = 1024;
