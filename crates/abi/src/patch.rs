//! Correlation of small images by register blocking: block shape and work per thread.

/// Threads per block of the patch kernels, across and down; a row of threads is a warp.
pub const PATCH_BLOCK: [u32; 2] = [32, 4];

/// Output rows per thread of the patch kernels.
pub const PATCH_ROWS: u32 = 4;

/// Returns the shared memory per block of the patch kernels, in bytes: each thread's map of its input columns and
/// rows.
pub const fn patch_bytes(side: u32, channels: u32) -> u32 {
    let seen = 4 + (side - 1) * channels + PATCH_ROWS + side - 1;
    seen * PATCH_BLOCK[0] * PATCH_BLOCK[1] * 4
}
