//! Correlation by blocks that walk down strips of the image: parameters, and the ring of input rows in shared memory.

use crate::{ElementType, SharedMemory};

/// Parameters of the marching kernels, which treat an image's row as samples, whatever the channels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct MarchParams {
    /// Samples of an input row.
    pub samples: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Samples of an output row.
    pub out_samples: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Output rows of a block.
    pub rows: u32,
    /// Input sample at which the first strip starts, a multiple of 16 bytes.
    pub left: i32,
    /// Output sample at which it starts, at most 0.
    pub first: i32,
    /// Input row under the mask's first row at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
    /// Rows that the ring is ahead. Here, as the next one is, lest the compiler unrolls for it.
    pub ahead: u32,
    /// Rows of the mask, but one.
    pub halo_rows: u32,
    /// Bytes at a multiple of which each thread's outputs start and rows of output end: 16 or a power of two below.
    pub aligned: u32,
    /// How far a sum of bytes in f32 may be from the exact one; 0 where it is exact.
    pub slack: f32,
}

/// Threads of a block of the marching kernels; each computes [a few](march_across) adjacent samples of a row.
pub const MARCH_BLOCK: u32 = 128;

/// Most input rows of a block of the marching kernels.
pub const MARCH_ROWS: u32 = 768;

/// Most words of several samples beside the image that a block of the marching kernels sees of a row.
pub const MARCH_BESIDE: u32 = 64;

/// Rows of input of the marching kernels that are on their way while one is used.
pub const MARCH_AHEAD: u32 = 7;

/// Samples of 16 bytes, the pieces in which the marching kernels' rows are copied.
pub const fn march_piece(src: ElementType) -> u32 {
    16 / src.size_bytes()
}

/// What the marching kernels sum samples in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarchSums {
    /// f32: of f32 samples, and of bytes, whose doubtful sums are taken again in f64.
    Floats,
    /// f64: of bytes and samples of 16 bits.
    Doubles,
}

/// Adjacent outputs of a thread of the marching kernels: 16 bytes, or fewer where there would be too many sums.
pub const fn march_across(src: ElementType, sums: MarchSums, dense: bool, side: u32) -> u32 {
    match (sums, src) {
        (MarchSums::Doubles, _) => {
            if side <= 7 {
                8
            } else {
                4
            }
        }
        (_, ElementType::U8) if side <= if dense { 5 } else { 7 } => 16,
        (_, ElementType::U8) => 8,
        _ if side <= 33 => 4,
        _ => 2,
    }
}

/// Rows of input that a block of the marching kernels holds in shared memory, a power of two: those on their
/// way, and over bytes summed in f32 also those under the mask, from which doubtful sums are taken again.
pub const fn march_stages(src: ElementType, sums: MarchSums, side: u32) -> u32 {
    match (sums, src) {
        (MarchSums::Floats, ElementType::U8) => (side + MARCH_AHEAD).next_power_of_two(),
        _ => MARCH_AHEAD + 1,
    }
}

/// Samples between the start of a strip's input and the first that its first output needs, so that
/// both start at pieces of 16 bytes where the mask of `side` columns is anchored at its centre.
pub const fn march_lead(src: ElementType, side: u32, channels: u32) -> u32 {
    side / 2 * channels * (march_piece(src) - 1) % march_piece(src)
}

/// Samples of a row of a strip's input whose threads have `across` outputs: all that they need, in whole pieces.
pub const fn march_samples(src: ElementType, across: u32, side: u32, channels: u32) -> u32 {
    let needed = march_lead(src, side, channels) + MARCH_BLOCK * across + (side - 1) * channels;
    needed.next_multiple_of(march_piece(src)) + march_spare(src)
}

/// Samples that a row has in addition, for where it starts inside a word.
pub const fn march_spare(src: ElementType) -> u32 {
    if src.size_bytes() < 4 { march_piece(src) } else { 0 }
}

/// Shared memory of the marching kernels, in bytes: the ring's rows, an mbarrier of 8 bytes for each, the
/// list of all rows, and where a word is several samples also where those beside the image come from.
pub const fn march_bytes(src: ElementType, sums: MarchSums, across: u32, side: u32, channels: u32) -> u32 {
    let row = march_samples(src, across, side, channels) * src.size_bytes();
    let beside = if src.size_bytes() < 4 { MARCH_BESIDE * 16 } else { 0 };
    march_stages(src, sums, side) * (row + 8) + MARCH_ROWS * 4 + beside
}

pub(crate) const fn marching(src: ElementType, sums: MarchSums, dense: bool, side: u32, channels: u32) -> SharedMemory {
    SharedMemory::Bytes(march_bytes(src, sums, march_across(src, sums, dense, side), side, channels))
}
