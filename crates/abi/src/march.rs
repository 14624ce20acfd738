//! Correlation by blocks that march down strips of the image: parameters, and the ring of input rows in shared
//! memory.

use crate::{ElementType, SharedMemory};

/// Parameters of the marching kernels, which treat an image row as samples, whatever the number of channels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct MarchParams {
    /// Samples per input row.
    pub samples: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Input row stride, in samples.
    pub row_stride: u32,
    /// Samples per output row.
    pub out_samples: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Output rows per block.
    pub rows: u32,
    /// Input sample at which the first strip starts, at a multiple of 16 bytes.
    pub left: i32,
    /// Output sample at which the first strip starts, at most 0.
    pub first: i32,
    /// Input row under the mask's first row at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Value outside the image, where the border is constant.
    pub constant: f32,
    /// Input rows that the ring prefetches. This and the next field are parameters, so that the compiler does not
    /// unroll the loops over them.
    pub ahead: u32,
    /// Height of the mask minus 1, in rows.
    pub halo_rows: u32,
    /// Alignment, in bytes, of each thread's outputs and of the ends of output rows: 16 or a smaller power of two.
    pub aligned: u32,
    /// Error bound of an f32 sum of bytes; 0 if all such sums are exact.
    pub slack: f32,
}

/// Threads per block of the marching kernels; each computes [a few](march_across) adjacent samples of a row.
pub const MARCH_BLOCK: u32 = 128;

/// Most input rows per block of the marching kernels.
pub const MARCH_ROWS: u32 = 768;

/// Most packed words outside the image per row of a block of the marching kernels.
pub const MARCH_BESIDE: u32 = 64;

/// Input rows that the marching kernels prefetch while they process one.
pub const MARCH_AHEAD: u32 = 7;

/// Returns the samples per 16 bytes, the unit in which the marching kernels copy rows.
pub const fn march_piece(src: ElementType) -> u32 {
    16 / src.size_bytes()
}

/// Accumulator type of the marching kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarchSums {
    /// f32: for f32 samples, and for bytes, whose doubtful sums are computed again in f64.
    Floats,
    /// f64: for bytes and 16-bit samples.
    Doubles,
}

/// Returns the adjacent outputs per thread of the marching kernels: 16 bytes of outputs, or fewer if the accumulators
/// would take too many registers.
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
        (_, ElementType::F16) if side <= 9 => 8,
        _ if side <= 33 => 4,
        _ => 2,
    }
}

/// Returns the number of stages of the marching kernels' ring, one input row each, a power of two: room for the
/// prefetched rows, and for bytes summed in f32 also for the rows under the mask, from which doubtful sums are computed
/// again.
pub const fn march_stages(src: ElementType, sums: MarchSums, side: u32) -> u32 {
    match (sums, src) {
        (MarchSums::Floats, ElementType::U8) => (side + MARCH_AHEAD).next_power_of_two(),
        _ => MARCH_AHEAD + 1,
    }
}

/// Returns the number of samples of a strip's input before the first sample that its first output needs. With it, input
/// and output both start at multiples of 16 bytes if the mask of `side` columns is anchored at its centre.
pub const fn march_lead(src: ElementType, side: u32, channels: u32) -> u32 {
    side / 2 * channels * (march_piece(src) - 1) % march_piece(src)
}

/// Returns the samples per row of a strip's input, a multiple of 16 bytes, if each thread has `across` outputs.
pub const fn march_samples(src: ElementType, across: u32, side: u32, channels: u32) -> u32 {
    let needed = march_lead(src, side, channels) + MARCH_BLOCK * across + (side - 1) * channels;
    needed.next_multiple_of(march_piece(src)) + march_spare(src)
}

/// Returns the additional samples per row for rows that start inside a word.
pub const fn march_spare(src: ElementType) -> u32 {
    if src.size_bytes() < 4 { march_piece(src) } else { 0 }
}

/// Returns the shared memory per block of the marching kernels, in bytes: the ring's rows, an mbarrier of 8 bytes per
/// row, the border map of all rows, and for packed samples also the border map of the samples outside the image.
pub const fn march_bytes(src: ElementType, sums: MarchSums, across: u32, side: u32, channels: u32) -> u32 {
    let row = march_samples(src, across, side, channels) * src.size_bytes();
    let beside = if src.size_bytes() < 4 { MARCH_BESIDE * 16 } else { 0 };
    march_stages(src, sums, side) * (row + 8) + MARCH_ROWS * 4 + beside
}

pub(crate) const fn marching(src: ElementType, sums: MarchSums, dense: bool, side: u32, channels: u32) -> SharedMemory {
    SharedMemory::Bytes(march_bytes(src, sums, march_across(src, sums, dense, side), side, channels))
}
