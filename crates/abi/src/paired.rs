//! Pointwise operations on one or two filters of an image, in one march: parameters, and the kernels' geometry.

use crate::{ElementType, MarchParams, MarchSums, PointwiseParams, SharedMemory, march_bytes, tap_stride};

/// An operand of the paired kernels, a filter of the image or the image itself: one bit for each of the kernel's taps
/// along an axis that the filter has. Without any bit, the operand is the image itself, under the middle taps.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PairedPart {
    /// Taps along the rows.
    pub columns: u32,
    /// Taps along the columns.
    pub rows: u32,
}

/// A pointwise operation, as kernels receive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum PairedOp {
    /// A weighted sum.
    Weighted = 0,
    /// The length of a vector.
    Magnitude = 1,
    /// The angle of a vector.
    Direction = 2,
}

/// Parameters of the paired kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PairedParams {
    /// The weights and the threshold, and whether there is a second part; the other fields are 0.
    pub point: PointwiseParams,
    /// Parameters of the march; `aligned` is the alignment of the outputs, whose type may differ from the input's.
    pub march: MarchParams,
    /// Number of the [`PairedOp`].
    pub op: u32,
    /// The first part.
    pub x: PairedPart,
    /// The second part.
    pub y: PairedPart,
    /// Outputs per thread. A parameter, so that the assembler does not unroll the loop over them.
    pub across: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Sides of the paired kernels' windows; a part may have fewer taps.
pub const PAIRED_SIDES: [u32; 6] = [3, 5, 7, 9, 13, 17];

/// Returns whether a kernel skips the taps that a part does not have. The other kernels multiply by taps of 0, which
/// does not change sums of finite samples; so for f32 they take only parts that have all taps.
pub const fn paired_skips(src: ElementType, side: u32) -> bool {
    matches!(src, ElementType::F32) && side >= 9
}

/// Returns the adjacent outputs per thread of the paired kernels: 16 bytes of outputs, or fewer if the accumulators of
/// both parts would take too many registers.
pub const fn paired_across(dst: ElementType, side: u32) -> u32 {
    if matches!(dst, ElementType::U8) && side <= 7 { 8 } else { 4 }
}

/// Returns the number of taps of a launch, of both parts and axes.
pub const fn paired_taps(side: u32) -> u32 {
    4 * tap_stride(side)
}

/// Returns the shared memory per block: that of a march, and all taps if some may be skipped.
pub(crate) const fn pairing(src: ElementType, dst: ElementType, side: u32, channels: u32) -> SharedMemory {
    let taps = if paired_skips(src, side) { paired_taps(side) * 4 } else { 0 };
    SharedMemory::Bytes(march_bytes(src, MarchSums::Floats, paired_across(dst, side), side, channels) + taps)
}
