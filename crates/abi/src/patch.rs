//! Correlation of small images: what each thread computes.

/// Threads of a block of the kernels of patches, whose rows are warps.
pub const PATCH_BLOCK: [u32; 2] = [32, 4];

/// Output rows of a thread of theirs.
pub const PATCH_ROWS: u32 = 4;

/// Shared memory of theirs, in bytes: for each thread the columns and the rows of the image that it sees.
pub const fn patch_bytes(side: u32, channels: u32) -> u32 {
    let seen = 4 + (side - 1) * channels + PATCH_ROWS + side - 1;
    seen * PATCH_BLOCK[0] * PATCH_BLOCK[1] * 4
}
