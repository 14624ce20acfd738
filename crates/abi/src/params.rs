//! What a launch hands its kernel, beside the addresses of its buffers.

use crate::BoxTile;

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

/// Parameters of dense 2-D correlation.
///
/// Output pixel (x, y) is the sum over the mask of
/// `tap[j][i] * image(x + origin_x + i, y + origin_y + j)`, the image extended by `border`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Conv2dParams {
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Mask width, in taps.
    pub mask_width: u32,
    /// Mask height, in taps.
    pub mask_height: u32,
    /// Input column under the mask's first column at output column 0.
    pub origin_x: i32,
    /// Input row under the mask's first row at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
    /// Whether sums are limited to 0 to 1: 0 or 1.
    pub clamp: u32,
    /// How far a sum of bytes in f32 may be from the exact one, where it is rounded to an integer.
    pub slack: f32,
    /// By which to divide by the width of the shared tile, see [`reciprocal`](crate::reciprocal).
    pub tile_reciprocal: u32,
}

/// Parameters of one pass of a separable filter.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Conv1dParams {
    /// The value outside the image, where the border is constant; in the second pass, what the
    /// first would have made of it.
    pub constant: f64,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Taps of the filter.
    pub taps: u32,
    /// Input index, along the filtered axis, under the first tap at output index 0.
    pub origin: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the fused separable kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FusedParams {
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Taps along the rows.
    pub taps_x: u32,
    /// Taps along the columns.
    pub taps_y: u32,
    /// Input column under the first tap at output column 0.
    pub origin_x: i32,
    /// Input row under the first tap at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
    /// Output rows of a block.
    pub rows: u32,
    /// [`fused_input_plane`](crate::fused_input_plane).
    pub input_plane: u32,
    /// [`fused_input_pitch`](crate::fused_input_pitch).
    pub input_pitch: u32,
    /// [`fused_ring_rows`](crate::fused_ring_rows).
    pub ring_rows: u32,
    /// Rows of the first step that no output depends on.
    pub skipped: u32,
    /// By which to divide by the channels, see [`reciprocal`](crate::reciprocal).
    pub channel_reciprocal: u32,
}

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

/// Parameters of the box filters.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct BoxParams {
    /// Samples from the start of an input row to the start of the next. First: elsewhere ptxas spills for sm_120.
    pub row_stride: u32,
    /// By what exact sums are multiplied.
    pub factor: f64,
    /// By what they are divided, where the factor is its reciprocal; else 0.
    pub divisor: f64,
    /// By what sums in f32 are multiplied: the factor, rounded.
    pub scale: f32,
    /// Whether sums of bytes, multiplied in f32, all round to the right integers: 0 or 1.
    pub plain: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Width of the window, in pixels.
    pub window_x: u32,
    /// Height of the window, in pixels.
    pub window_y: u32,
    /// Input column of the first window's first pixel.
    pub origin_x: i32,
    /// Its row.
    pub origin_y: i32,
    /// Input column at which the first strip starts: up to 15 before the first window.
    pub left: i32,
    /// Input row at which the first block starts: as much.
    pub top: i32,
    /// Output rows of a block, a multiple of a step's.
    pub rows: u32,
    /// The first step, 0. Here, as the next one is, lest the compiler peels it off.
    pub first_step: u32,
    /// Rows that are stored at a time, where the compiler should not unroll for it: 1.
    pub one: u32,
    /// The block's shared memory.
    pub tile: BoxTile,
}

/// Parameters of the byte histogram's first kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramPartialParams {
    /// Samples to count, in bytes.
    pub bytes: u64,
    /// Channels counted apart: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// How the threads of a grid share reads of [`WORDS_AT_ONCE`](crate::WORDS_AT_ONCE): each strides by all of them.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rounds {
    /// Reads of every thread.
    pub whole: u32,
    /// Threads that have one more: the first ones.
    pub rest: u32,
}

impl Rounds {
    /// Those of so many reads by so many threads; `None` if they are more than a thread can count.
    pub const fn of(reads: u64, threads: u32) -> Option<Rounds> {
        let whole = reads / threads as u64;
        if whole >= u32::MAX as u64 {
            return None;
        }
        Some(Rounds { whole: whole as u32, rest: (reads % threads as u64) as u32 })
    }
}

/// Parameters of the byte histogram in one launch.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramTotalsParams {
    /// Samples to count, in bytes.
    pub bytes: u64,
    /// Address of the blocks' common totals, all 0; in a recipe, the number of their buffer.
    pub totals: u64,
    /// The threads' reads.
    pub rounds: Rounds,
}

/// Parameters of the kernels that count samples between edges.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramEdgesParams {
    /// Samples to count.
    pub samples: u64,
    /// Address of the blocks' common totals, all 0; in a recipe, the number of their buffer.
    pub totals: u64,
    /// The threads' reads.
    pub rounds: Rounds,
    /// The first edge.
    pub low: f32,
    /// Edges in a unit, for [`nearest_edge`](crate::nearest_edge).
    pub per_unit: f32,
    /// Bins of a channel: one less than there are edges.
    pub bins: u32,
    /// Channels counted apart: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Counters of a bin in shared memory: a power of two, up to
    /// [`HISTOGRAM_COLUMNS`](crate::HISTOGRAM_COLUMNS).
    pub columns: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that find the least and the largest sample.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramExtremesParams {
    /// Samples to look at.
    pub samples: u64,
    /// Address of the mask, a byte a pixel; in a recipe, the number of its buffer. Without a mask 0.
    pub beside: u64,
    /// Interleaved channels.
    pub channels: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the histograms' merge.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramMergeParams {
    /// Partial histograms to sum.
    pub partials: u32,
    /// Bins of each, over all channels.
    pub bins: u32,
}

/// Parameters of the kernel that reads memory as fast as it can.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LimitsReadParams {
    /// Words of 32 bits to read; a multiple of [`WORDS_AT_ONCE`](crate::WORDS_AT_ONCE).
    pub words: u64,
}

/// Parameters of the kernel that multiplies and adds as fast as it can.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LimitsFfmaParams {
    /// Rounds of [`FFMA_A_ROUND`](crate::FFMA_A_ROUND) instructions, for each thread.
    pub rounds: u32,
}

/// Parameters of the pointwise kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PointwiseParams {
    /// Samples of each image.
    pub samples: u64,
    /// Address of the second image; in a recipe, the number of its buffer. Of one image alone, its own.
    pub second: u64,
    /// The weight of the first image.
    pub a: f64,
    /// The weight of the second.
    pub b: f64,
    /// What is added.
    pub c: f64,
    /// The least difference that counts.
    pub threshold: f64,
    /// Whether there is a second image: 0 or 1.
    pub two: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Of a batch: from one second image to the next, in [`IMAGE_ALIGNMENT`]s.
    pub second_step: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that pad.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PadParams {
    /// Samples from the start of an input row to the start of the next.
    pub row_stride: u32,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Input column at output column 0.
    pub origin_x: i32,
    /// Input row at output row 0.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode) left and right.
    pub border_x: u32,
    /// The same above and below.
    pub border_y: u32,
    /// The bits of the samples left and right, by channel, where the border is constant.
    pub constants_x: [u32; 4],
    /// The same above and below.
    pub constants_y: [u32; 4],
}

/// Parameters of the local standard deviation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LocalParams {
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Interleaved channels, of input and output.
    pub channels: u32,
    /// Width of the window, in pixels.
    pub window_x: u32,
    /// Height of the window, in pixels.
    pub window_y: u32,
    /// Input column of the first window's first pixel.
    pub origin_x: i32,
    /// Its row.
    pub origin_y: i32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// The value outside the image, where the border is constant.
    pub constant: f32,
}

/// Parameters of the kernels that count samples in cells.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramCellsParams {
    /// Pixels to count.
    pub pixels: u64,
    /// Address of the mask, a byte a pixel; in a recipe, the number of its buffer. Without a mask 0.
    pub beside: u64,
    /// The value of the first cell, of integers.
    pub low: i32,
    /// Cells of a channel.
    pub bins: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Channels counted apart: all of them, or 1.
    pub apart: u32,
    /// The greatest sample of the last bin, of f32.
    pub last: f32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that count samples of 16 bits by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramValuesParams {
    /// Samples to count.
    pub samples: u64,
    /// The threads' reads, in a row of blocks.
    pub rounds: Rounds,
    /// Channels counted apart: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that find the bins of samples.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramBinsParams {
    /// Pixels of the image.
    pub pixels: u64,
    /// Interleaved channels.
    pub channels: u32,
    /// Channels whose bins are written apart: all of them, or 1.
    pub apart: u32,
    /// Number of bins.
    pub bins: u32,
    /// The greatest sample of the last bin.
    pub last: f32,
}

/// Parameters of the kernels that find the cells of pixels: pairs of bins.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramPairsParams {
    /// Pixels of the image.
    pub pixels: u64,
    /// Interleaved channels.
    pub channels: u32,
    /// The channel whose bins come first.
    pub channel: u32,
    /// The other one.
    pub other_channel: u32,
    /// Number of the first channel's bins.
    pub bins: u32,
    /// Number of the other's.
    pub other_bins: u32,
    /// The greatest sample of the first channel's last bin.
    pub last: f32,
    /// The greatest sample of the other's.
    pub other_last: f32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernel that sums weights by bins.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramWeightsParams {
    /// Address of the weights, one a pixel; in a recipe, the number of their buffer.
    pub weights: u64,
    /// Samples of a channel apart.
    pub samples: u64,
    /// Bins of a channel apart.
    pub bins: u32,
    /// Slices of these, for blocks of [`WEIGHTS_BLOCK`](crate::WEIGHTS_BLOCK).
    pub slices: u32,
    /// Neighbouring samples of a pixel: 1 where channels are apart.
    pub channels: u32,
    /// Channels that are summed apart: all of them, or 1.
    pub apart: u32,
}

/// Parameters of the kernels that take statistics of floats.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct StatisticsParams {
    /// Address of what was found, [`FOUND_NUMBERS`](crate::FOUND_NUMBERS) a channel; in a recipe, the number of its
    /// buffer.
    pub found: u64,
    /// Samples of a channel in the whole image.
    pub count: f64,
    /// Height of the image, in pixels.
    pub height: u32,
    /// Samples of a row.
    pub samples: u32,
    /// Samples from the start of a row to the start of the next.
    pub row_stride: u32,
    /// Channels that are summed apart: all of them, or 1.
    pub apart: u32,
}

/// Parameters of the kernel that looks bytes up.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct LookupParams {
    /// Samples, in bytes.
    pub samples: u64,
    /// Address of the tables, 256 bytes each; in a recipe, the number of their buffer.
    pub table: u64,
    /// Tables: sample `i` is looked up in table `i % tables`.
    pub tables: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernel that makes the tables by which histograms are equalised.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EqualizeParams {
    /// Channels, with a table each.
    pub channels: u32,
}

/// Parameters of the kernels that equalise by tiles.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TilesParams {
    /// Address of the tiles' tables, an entry for each value of each channel of each tile; in a recipe, the number of
    /// their buffer.
    pub tables: u64,
    /// Width of the image, in pixels.
    pub width: u32,
    /// Height of the image, in pixels.
    pub height: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Tiles across.
    pub across: u32,
    /// Tiles down.
    pub down: u32,
    /// Width of a tile, in pixels; with those beyond the image's end.
    pub tile_width: u32,
    /// Height of a tile, in pixels.
    pub tile_height: u32,
    /// The largest count of a value; `u32::MAX` for any.
    pub limit: u32,
    /// By what sums of counts are multiplied.
    pub scale: f32,
    /// The reciprocal of a tile's width.
    pub inverse_x: f32,
    /// The reciprocal of a tile's height.
    pub inverse_y: f32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

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
