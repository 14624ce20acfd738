//! Filters of volumes: parameters, and the tile of a block.

/// Threads per block of the kernels of volumes.
pub const VOLUMES_BLOCK: [u32; 2] = [32, 4];

/// Samples per thread and row, a block's width apart.
pub const VOLUMES_ACROSS: u32 = 4;

/// Rows per thread of the kernel of dense masks.
pub const VOLUMES_DOWN: u32 = 8;

/// Output samples per row of a block, and rows per block of dense masks.
pub const VOLUMES_TILE: [u32; 2] = [VOLUMES_BLOCK[0] * VOLUMES_ACROSS, VOLUMES_BLOCK[1] * VOLUMES_DOWN];

/// Adjacent outputs per thread of the kernels of rows and of columns.
pub const VOLUMES_RUN: u32 = 8;

/// Output samples per row, and rows, of a block of the kernel of taps along columns: two samples per thread.
pub const VOLUMES_COLUMNS_TILE: [u32; 2] = [VOLUMES_BLOCK[0] * 2, VOLUMES_BLOCK[1] * VOLUMES_RUN];

/// Threads per block of the kernel of rows, and its output rows per block.
pub const VOLUMES_ROWS_BLOCK: [u32; 2] = [32, 8];

/// Most columns and rows of a mask whose samples are in a tile at a time.
pub const VOLUMES_ROWS_MASK: [u32; 2] = [32, 8];

/// The samples that a block of the kernel of rows keeps in shared memory, in the type of their sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsTile {
    /// Output pixels per row.
    pub pixels: u32,
    /// Columns and rows of the mask at a time. With more columns than at a time it is one row, so that
    /// sums take taps in order.
    pub mask: [u32; 2],
    /// Places per row. Every [`VOLUMES_RUN`] pixels one is left free.
    pub pitch: u32,
    /// The tile's size.
    pub bytes: u32,
}

impl RowsTile {
    /// Returns the tile for samples of `channels` channels, a mask of these columns and rows, and sums of `sum` bytes.
    #[inline(always)]
    pub const fn of(channels: u32, mask: [u32; 2], sum: u32) -> RowsTile {
        let pixels = VOLUMES_ROWS_BLOCK[0] / channels * VOLUMES_RUN;
        let [most_columns, most_rows] = VOLUMES_ROWS_MASK;
        let mask = if mask[0] > most_columns {
            [most_columns, 1]
        } else {
            [mask[0], if mask[1] < most_rows { mask[1] } else { most_rows }]
        };
        let seen = pixels + mask[0] - 1;
        let pitch = (seen + seen / VOLUMES_RUN + 1) * channels;
        RowsTile { pixels, mask, pitch, bytes: pitch * (VOLUMES_ROWS_BLOCK[1] + mask[1] - 1) * sum }
    }
}

/// Parameters of correlation of a volume with a mask of three dimensions; an image is a volume of one plane.
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
    /// Number of the [`Cast`](crate::Cast), for outputs of integers.
    pub cast: u32,
    /// Whether sums are clamped to the range 0 to 1: 0 or 1. For outputs of floats.
    pub clamp: u32,
}

/// Threads per block of the kernels that go down the rows of planes, and output samples per row of a block.
pub const VOLUMES_PLANE_COLUMNS: u32 = 256;

/// Most samples from the first to the last under a mask's row.
pub const VOLUMES_PLANE_HALO: u32 = 64;

/// Rows that such a block takes at a time.
pub const VOLUMES_PLANE_ROWS: u32 = 4;

/// Input tiles of such a block: one in use, and those that are filled meanwhile.
pub const VOLUMES_PLANE_STAGES: u32 = 3;

/// Most taps along y of such kernels for separable filters.
pub const VOLUMES_PLANE_TAPS: [u32; 3] = [5, 9, 17];

/// Sides of the masks of such kernels; smaller masks over integers are filled with taps of 0.
pub const VOLUMES_PLANE_SIDES: [u32; 3] = [3, 5, 7];

/// Returns the shared memory of such a block, in bytes.
pub const fn volumes_plane_bytes() -> u32 {
    VOLUMES_PLANE_STAGES * VOLUMES_PLANE_ROWS * (VOLUMES_PLANE_COLUMNS + VOLUMES_PLANE_HALO) * 8
}

/// Columns per block of the kernel of stored passes, in samples: of sums along y, which the sums along x read.
pub const VOLUMES_STORED_COLUMNS: u32 = 256;

/// Output rows per block of this kernel, [`VOLUMES_RUN`] at a time.
pub const VOLUMES_STORED_ROWS: u32 = 32;

/// Most samples from the first to the last under taps along x of this kernel.
pub const VOLUMES_STORED_HALO: u32 = 128;

/// Places per row of its sums along y. Every [`VOLUMES_RUN`] pixels one is left free.
pub const VOLUMES_STORED_PITCH: u32 = VOLUMES_STORED_COLUMNS / VOLUMES_RUN * (VOLUMES_RUN + 1);

/// Returns the output pixels per row of a block of this kernel, for `taps` taps along x.
#[inline(always)]
pub const fn volumes_stored_pixels(channels: u32, taps: u32) -> u32 {
    (VOLUMES_STORED_COLUMNS / channels + 1 - taps) / VOLUMES_RUN * VOLUMES_RUN
}

/// Bytes of the sums along y in the shared memory of such a block, and of those along x, which lie behind. Then come the
/// numbers of the rows that the block reads.
pub const VOLUMES_STORED_SUMS: u32 = VOLUMES_RUN * VOLUMES_STORED_PITCH * 8;

/// Returns the shared memory of such a block for `taps` taps along y, in bytes.
pub const fn volumes_stored_bytes(taps: u32) -> u32 {
    2 * VOLUMES_STORED_SUMS + (VOLUMES_STORED_ROWS + taps - 1) * 4
}

/// Output columns of a block of the kernels that march through the planes.
pub const VOLUMES_MARCH_COLUMNS: u32 = 64;

/// Taps per axis of such kernels over f32.
pub const VOLUMES_MARCH_TAPS: [u32; 8] = [3, 5, 7, 9, 11, 13, 15, 17];

/// Taps per axis of such kernels over integers, whose sums are f64. Fewer are filled up with zeros.
pub const VOLUMES_MARCH_INTEGER_TAPS: [u32; 4] = [5, 9, 13, 17];

/// Most sides of the masks of three dimensions that march.
pub const VOLUMES_CUBE_SIDES: [u32; 2] = [3, 5];

/// Returns whether the kernel for `taps` taps along each axis also takes fewer.
pub const fn volumes_march_has_fewer(taps: u32) -> bool {
    taps % 8 == 1
}

/// Returns the output rows of a block of a kernel whose sums have `sum` bytes.
pub const fn volumes_march_rows(sum: u32) -> u32 {
    128 / sum
}

/// Returns the threads per block of such a kernel with `down` output rows per thread.
pub const fn volumes_march_block(sum: u32, down: u32) -> u32 {
    VOLUMES_MARCH_COLUMNS * volumes_march_rows(sum) / down
}

/// Returns the columns and rows of the input tile of a kernel of up to `taps` taps, whose sums have `sum` bytes: rows
/// are whole groups of four samples.
pub const fn volumes_march_tile(taps: u32, sum: u32) -> [u32; 2] {
    [VOLUMES_MARCH_COLUMNS + (taps - 1).next_multiple_of(4), volumes_march_rows(sum) + taps - 1]
}

/// Returns the input tiles of such a kernel: one in use, and those that are filled meanwhile, as many as fit
/// 64 KiB with the sums.
pub const fn volumes_march_stages(taps: u32) -> u32 {
    if taps > 9 { 2 } else { 3 }
}

/// Returns the places of the sums along a row of the tile. Those of f64 are apart by column modulo four, 20 places
/// each, so that no two lanes of half a warp use the same bank.
pub const fn volumes_march_pitch(sum: u32) -> u32 {
    if sum == 8 { 80 } else { VOLUMES_MARCH_COLUMNS }
}

/// Returns the shared memory of the kernels for taps along each axis, in bytes: the input tiles, and the sums
/// along the rows of two.
pub const fn volumes_march_bytes(taps: u32, sum: u32) -> u32 {
    let [_, rows] = volumes_march_tile(taps, sum);
    volumes_tiles_bytes(taps, sum, 4) + 2 * volumes_march_pitch(sum) * rows * sum
}

/// Returns the bytes of the input tiles, whose samples have `held` bytes: the shared memory of the kernels for masks of
/// three dimensions.
pub const fn volumes_tiles_bytes(taps: u32, sum: u32, held: u32) -> u32 {
    let [columns, rows] = volumes_march_tile(taps, sum);
    volumes_march_stages(taps) * columns * rows * held
}

/// Parameters of the kernels that march through the planes. The taps are those along x and y, and those along z at
/// the end of their places, each with places for as many as the kernel takes; or those of a mask, whose planes are at
/// the end of their places.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct VolumesMarchParams {
    /// Values outside the volume along x, y and z, where the border is constant.
    pub constants: [f32; 3],
    /// Sums are divided by this, if it is not 1.
    pub divisor: f32,
    /// Width, height and depth of the input, in samples.
    pub sides: [u32; 3],
    /// Width, height and depth of the output.
    pub out: [u32; 3],
    /// Taps along x, y and z.
    pub taps: [u32; 3],
    /// Column, row and plane of the input under the first taps at the first output.
    pub origin: [i32; 3],
    /// Numbers of the [`BorderMode`](crate::BorderMode)s along x, y and z.
    pub borders: [u32; 3],
    /// Rows of blocks per part of the planes.
    pub bands: u32,
    /// Output planes per block.
    pub planes: u32,
    /// Whether sums become integers as C casts them, and not by rounding: 0 or 1. For masks over integers.
    pub cuts: u32,
}
