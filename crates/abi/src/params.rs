//! What a launch hands its kernel, beside the addresses of its buffers.

use crate::*;

/// Taps that travel with a launch as a kernel parameter. A parameter lives in the GPU's constant
/// memory like a `__constant__` symbol, but belongs to its launch: launches in flight on several
/// streams cannot overwrite each other's mask.
pub const MAX_TAPS: usize = 64 * 64;

/// Taps of a parameter for small masks.
pub const FEW_TAPS: usize = 1024;

/// Taps of kernels whose launches are to take as little time as can be.
pub const FEWEST_TAPS: usize = 128;

/// Taps that kernels of dense masks read at once: their rows start at multiples of this.
pub const TAPS_AT_ONCE: u32 = 4;

/// Taps from the start of one row of a dense mask to the start of the next.
pub const fn tap_stride(mask_width: u32) -> u32 {
    mask_width.next_multiple_of(TAPS_AT_ONCE)
}

/// What one is worth in the bytes that a device unpacks, and so the inverse of what taps for them are times: a
/// GPU takes bytes for numbers of 16 bits below all normal ones, which it widens as fast as it adds.
pub const BYTE_UNIT: f32 = 1.0 / (1 << 24) as f32;

/// What taps are times for the marching kernels that sum in f64. They have the bits of an integer in the upper half of
/// an f64, below all normal numbers, where 1 is worth 2^-1042; 2^1042 would leave f64, and so [`DOUBLE_REST`] is left.
pub const DOUBLE_SCALE: f64 = f64::from_bits((1023 + 1010) << 52);

/// What their sums are times in the end.
pub const DOUBLE_REST: f64 = (1u64 << 32) as f64;

/// The taps of one launch; those beyond the mask's own are not read. A launch takes longer for large
/// parameters, 0.17 us a KiB on an H100, so kernels of small masks take [`FEW_TAPS`].
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct Taps<const N: usize>(pub [f32; N]);

/// What the layers of a grid are, the blocks of one z: further rows of one image's blocks, or the images of a batch. Every
/// kernel takes them behind its parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Layers {
    /// Rows of blocks from one layer to the next: 0 where layers are images.
    pub rows: u32,
    /// From what one layer reads to what the next one does, in [`IMAGE_ALIGNMENT`]s: 0 where layers are rows.
    pub src_step: u32,
    /// The same of what is written.
    pub dst_step: u32,
}

/// Multiples of what lies from one image of a batch to the next, in bytes: as memory comes from the driver.
pub const IMAGE_ALIGNMENT: u64 = 256;

/// The parameters of any launch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)] // each holds the parameters of its name
pub enum Params {
    Conv2dParams(Conv2dParams),
    Conv1dParams(Conv1dParams),
    FusedParams(FusedParams),
    MarchParams(MarchParams),
    BoxParams(BoxParams),
    HistogramPartialParams(HistogramPartialParams),
    HistogramTotalsParams(HistogramTotalsParams),
    HistogramEdgesParams(HistogramEdgesParams),
    HistogramExtremesParams(HistogramExtremesParams),
    HistogramMergeParams(HistogramMergeParams),
    LimitsReadParams(LimitsReadParams),
    LimitsFfmaParams(LimitsFfmaParams),
    PointwiseParams(PointwiseParams),
    PadParams(PadParams),
    LocalParams(LocalParams),
    HistogramCellsParams(HistogramCellsParams),
    HistogramValuesParams(HistogramValuesParams),
    LookupParams(LookupParams),
    EqualizeParams(EqualizeParams),
    TilesParams(TilesParams),
    StatisticsParams(StatisticsParams),
    HistogramBinsParams(HistogramBinsParams),
    HistogramPairsParams(HistogramPairsParams),
    HistogramWeightsParams(HistogramWeightsParams),
}

impl Params {
    /// With another row stride of the input, in samples; `None` for kernels that take no rows.
    pub fn with_row_stride(self, row_stride: u32) -> Option<Params> {
        Some(match self {
            Params::Conv2dParams(p) => Params::Conv2dParams(Conv2dParams { row_stride, ..p }),
            Params::Conv1dParams(p) => Params::Conv1dParams(Conv1dParams { row_stride, ..p }),
            Params::FusedParams(p) => Params::FusedParams(FusedParams { row_stride, ..p }),
            Params::MarchParams(p) => Params::MarchParams(MarchParams { row_stride, ..p }),
            Params::BoxParams(p) => Params::BoxParams(BoxParams { row_stride, ..p }),
            Params::PadParams(p) => Params::PadParams(PadParams { row_stride, ..p }),
            Params::StatisticsParams(p) => Params::StatisticsParams(StatisticsParams { row_stride, ..p }),
            _ => return None,
        })
    }

    /// Of a batch: with what lies from one image to the next in the buffer of a number, in [`IMAGE_ALIGNMENT`]s, where they
    /// have one in which each image has its part.
    pub fn with_steps(self, of: impl Fn(usize) -> u32) -> Params {
        match self {
            Params::PointwiseParams(p) => {
                Params::PointwiseParams(PointwiseParams { second_step: of(p.second as usize), ..p })
            }
            others => others,
        }
    }

    /// With the address of a buffer in place of its number, where they have one.
    pub fn with_addresses(self, of: impl Fn(usize) -> u64) -> Params {
        match self {
            Params::HistogramTotalsParams(p) => {
                Params::HistogramTotalsParams(HistogramTotalsParams { totals: of(p.totals as usize), ..p })
            }
            Params::HistogramEdgesParams(p) => {
                Params::HistogramEdgesParams(HistogramEdgesParams { totals: of(p.totals as usize), ..p })
            }
            Params::PointwiseParams(p) => {
                Params::PointwiseParams(PointwiseParams { second: of(p.second as usize), ..p })
            }
            Params::HistogramExtremesParams(p) => {
                Params::HistogramExtremesParams(HistogramExtremesParams { beside: of(p.beside as usize), ..p })
            }
            Params::HistogramCellsParams(p) => {
                Params::HistogramCellsParams(HistogramCellsParams { beside: of(p.beside as usize), ..p })
            }
            Params::LookupParams(p) => Params::LookupParams(LookupParams { table: of(p.table as usize), ..p }),
            Params::TilesParams(p) => Params::TilesParams(TilesParams { tables: of(p.tables as usize), ..p }),
            Params::StatisticsParams(p) => {
                Params::StatisticsParams(StatisticsParams { found: of(p.found as usize), ..p })
            }
            Params::HistogramWeightsParams(p) => {
                Params::HistogramWeightsParams(HistogramWeightsParams { weights: of(p.weights as usize), ..p })
            }
            others => others,
        }
    }
}
