//! Parameters that a launch passes to its kernel besides the buffer addresses.

use crate::*;
use core::ffi::c_void;

/// Most taps that a launch passes as a kernel parameter. A parameter lives in the GPU's constant memory like a
/// `__constant__` symbol, but belongs to its launch: launches in flight on several streams cannot overwrite each
/// other's mask.
pub const MAX_TAPS: usize = 64 * 64;

/// Capacity, in taps, of the parameter for small masks.
pub const FEW_TAPS: usize = 1024;

/// Capacity, in taps, of the parameter of kernels that must launch as fast as possible.
pub const FEWEST_TAPS: usize = 128;

/// Taps that kernels of dense masks read at once; rows of taps start at multiples of this.
pub const TAPS_AT_ONCE: u32 = 4;

/// Returns the distance between the starts of two rows of a dense mask, in taps.
pub const fn tap_stride(mask_width: u32) -> u32 {
    mask_width.next_multiple_of(TAPS_AT_ONCE)
}

/// Unpacked bytes are scaled by this; their taps are scaled by its inverse. A GPU reads a byte, zero-extended to 16
/// bits, as a subnormal f16, and converts that to f32 at the rate of additions.
pub const BYTE_UNIT: f32 = 1.0 / (1 << 24) as f32;

/// Factor of the taps of the marching kernels that sum in f64. Their samples are integers in the upper half of an
/// f64, subnormal numbers in units of 2^-1042. The inverse, 2^1042, exceeds f64, so [`DOUBLE_REST`] remains.
pub const DOUBLE_SCALE: f64 = f64::from_bits((1023 + 1010) << 52);

/// Factor of the sums of those kernels, applied when a sum is rounded.
pub const DOUBLE_REST: f64 = (1u64 << 32) as f64;

/// The taps of one launch; elements past the mask's own taps are not read. A launch takes longer for large
/// parameters, 0.17 us per KiB on an H100, so kernels of small masks take [`FEW_TAPS`].
#[repr(C, align(16))]
#[derive(Clone, Copy)]
pub struct Taps<const N: usize>(pub [f32; N]);

/// Meaning of a grid's layers (blocks with equal z): further rows of blocks of one image, or the images of a batch.
/// Every kernel takes this struct after its own parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Layers {
    /// Rows of blocks per layer; 0 if layers are images.
    pub rows: u32,
    /// Source stride between layers, in units of [`IMAGE_ALIGNMENT`] bytes; 0 if layers are rows of blocks.
    pub src_step: u32,
    /// Destination stride between layers, in the same unit; 0 if layers are rows of blocks.
    pub dst_step: u32,
}

/// Alignment of the images of a batch, in bytes: strides between them are multiples of this, as allocations are.
pub const IMAGE_ALIGNMENT: u64 = 256;

/// Defines [`Params`] of the structs of parameters: first those with a row stride of the input, then the others.
macro_rules! params {
    ([$($Strided:ident),* $(,)?] [$($Other:ident),* $(,)?]) => {
        /// Parameters of a launch of any kernel.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs)] // each variant holds the struct of its name
        pub enum Params {
            $($Strided($Strided),)*
            $($Other($Other),)*
        }

        impl Params {
            /// Returns the address of the struct, as a launch takes it.
            pub fn address(&mut self) -> *mut c_void {
                match self {
                    $(Params::$Strided(p) => (&raw mut *p).cast(),)*
                    $(Params::$Other(p) => (&raw mut *p).cast(),)*
                }
            }

            /// Returns the parameters with another row stride of the input, in samples; `None` for kernels without one.
            pub fn with_row_stride(self, row_stride: u32) -> Option<Params> {
                Some(match self {
                    Params::PiecesParams(p) => {
                        Params::PiecesParams(PiecesParams { whole: Conv2dParams { row_stride, ..p.whole }, ..p })
                    }
                    Params::TensorParams(p) => {
                        Params::TensorParams(TensorParams { whole: Conv2dParams { row_stride, ..p.whole }, ..p })
                    }
                    Params::PairedParams(p) => {
                        Params::PairedParams(PairedParams { march: MarchParams { row_stride, ..p.march }, ..p })
                    }
                    $(Params::$Strided(p) => Params::$Strided($Strided { row_stride, ..p }),)*
                    _ => return None,
                })
            }
        }
    };
}

params! {
    [
        Conv2dParams,
        Conv1dParams,
        VolumesParams,
        FusedParams,
        MarchParams,
        BoxParams,
        PrefixParams,
        SlidingParams,
        OrderedParams,
        PadParams,
        FftParams,
        StatisticsParams,
    ]
    [
        PiecesParams,
        TensorParams,
        VolumesMarchParams,
        PairedParams,
        HistogramPartialParams,
        HistogramTotalsParams,
        HistogramEdgesParams,
        HistogramExtremesParams,
        HistogramMergeParams,
        LimitsReadParams,
        LimitsFfmaParams,
        PointwiseParams,
        HistogramCellsParams,
        HistogramValuesParams,
        HistogramScatterParams,
        HistogramDigitsParams,
        HistogramRanksParams,
        LookupParams,
        EqualizeParams,
        TilesParams,
        TotalsParams,
        HistogramBinsParams,
        HistogramPlacesParams,
        HistogramJointParams,
        HistogramWeightsParams,
    ]
}

impl Params {
    /// Returns the parameters for a batch. `of` maps the number of a buffer that holds one part per image to the stride
    /// between these parts, in units of [`IMAGE_ALIGNMENT`] bytes. Parameters without such a buffer do not change.
    pub fn with_steps(self, of: impl Fn(usize) -> u32) -> Params {
        match self {
            Params::PointwiseParams(p) => {
                Params::PointwiseParams(PointwiseParams { second_step: of(p.second as usize), ..p })
            }
            Params::SlidingParams(p) => {
                Params::SlidingParams(SlidingParams { totals_step: of(p.totals as usize), ..p })
            }
            Params::PrefixParams(p) => Params::PrefixParams(PrefixParams { totals_step: of(p.totals as usize), ..p }),
            Params::OrderedParams(p) => {
                Params::OrderedParams(OrderedParams { totals_step: of(p.totals as usize), ..p })
            }
            others => others,
        }
    }

    /// Returns the parameters with the numbers of buffers replaced by their addresses, if they contain any.
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
            Params::HistogramScatterParams(p) => {
                Params::HistogramScatterParams(HistogramScatterParams { beside: of(p.beside as usize), ..p })
            }
            Params::SlidingParams(p) => Params::SlidingParams(SlidingParams { totals: of(p.totals as usize), ..p }),
            Params::PrefixParams(p) => Params::PrefixParams(PrefixParams { totals: of(p.totals as usize), ..p }),
            Params::OrderedParams(p) => Params::OrderedParams(OrderedParams { totals: of(p.totals as usize), ..p }),
            Params::HistogramDigitsParams(p) => Params::HistogramDigitsParams(HistogramDigitsParams {
                totals: of(p.totals as usize),
                sets: of(p.sets as usize),
                ..p
            }),
            Params::HistogramRanksParams(p) => {
                Params::HistogramRanksParams(HistogramRanksParams { state: of(p.state as usize), ..p })
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
