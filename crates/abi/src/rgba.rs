//! 3x3 masks over RGBA images of 8 bits per channel: the tile.

/// Threads per block of the RGBA kernels, across and down; each computes one output pixel.
pub const RGBA_BLOCK: [u32; 2] = [8, 4];

/// Width and height of the RGBA kernels' mask.
pub const RGBA_MASK: u32 = 3;

/// Width and height of the RGBA kernels' shared tile, in pixels: the block and its halo.
pub const RGBA_TILE: [u32; 2] = [RGBA_BLOCK[0] + RGBA_MASK - 1, RGBA_BLOCK[1] + RGBA_MASK - 1];

/// Shared memory per block of the RGBA kernels with a tile, in bytes: 4 per pixel.
pub const RGBA_TILE_BYTES: u32 = RGBA_TILE[0] * RGBA_TILE[1] * 4;

/// Largest width and height of a texture, in pixels, on every GPU that the kernels run on.
pub const MAX_TEXTURE: [u32; 2] = [131_072, 65_536];
