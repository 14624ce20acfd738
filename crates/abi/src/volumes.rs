//! Filters of volumes: parameters, and the tile of a block.

/// Threads per block of the kernels of volumes.
pub const VOLUMES_BLOCK: [u32; 2] = [32, 4];

/// Samples per thread and row, a block's width apart.
pub const VOLUMES_ACROSS: u32 = 4;

/// Rows per thread of the kernel of dense masks.
pub const VOLUMES_DOWN: u32 = 8;

/// Output samples per row of a block, and rows per block of dense masks.
pub const VOLUMES_TILE: [u32; 2] = [VOLUMES_BLOCK[0] * VOLUMES_ACROSS, VOLUMES_BLOCK[1] * VOLUMES_DOWN];

/// Parameters of correlation of a volume with a mask of three dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct VolumesParams {
    /// Values outside the volume along x, y and z, where the border is constant.
    pub constants: [f64; 3],
    /// Sums are divided by this, if it is not 1.
    pub divisor: f64,
    /// Width, height and depth of the input, in voxels.
    pub sides: [u32; 3],
    /// Samples between the starts of two rows of the input.
    pub row_stride: u32,
    /// Width, height and depth of the output, in voxels.
    pub out: [u32; 3],
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Mask width, height and depth, in taps.
    pub mask: [u32; 3],
    /// Rows of blocks per plane of the output.
    pub rows_of_blocks: u32,
    /// Column, row and plane of the input under the mask's first tap at the first output.
    pub origin: [i32; 3],
    /// Numbers of the [`BorderMode`](crate::BorderMode)s along x, y and z.
    pub borders: [u32; 3],
}
