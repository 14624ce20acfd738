//! Histograms: parameters, and where counters are.

mod edges;

pub use edges::nearest_edge;

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
    /// Rounds of `reads` reads by `threads` threads; `None` if they are more than a thread can count.
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

/// Threads of a block of the histogram's first kernel.
pub const PARTIAL_BLOCK: u32 = 256;

/// Threads that share one partial histogram in shared memory.
pub const GROUP_THREADS: u32 = 32;

/// Partial histograms of 256 bins in a block's shared memory, over all groups and channels.
pub const PARTIAL_ROWS: u32 = 8;

/// Threads of a block of the histogram's merge: a power of two.
pub const MERGE_BLOCK: u32 = 256;

/// Threads of a block of the histogram's kernel with a column for each lane.
pub const COLUMNS_BLOCK: u32 = 1024;

/// Counters of a bin in that kernel: as many as a warp has lanes, and shared memory banks.
pub const HISTOGRAM_COLUMNS: u32 = 32;

/// Bins of a byte histogram.
pub const BYTE_BINS: u32 = 256;

/// Lowest bits of a total that all blocks of a launch add to: what was counted. Those above hold how many blocks
/// have added theirs, so that the last one knows.
pub const TOTAL_BITS: u32 = 48;

/// Index of the total of a cell (a bin of a channel) among those of `cells` cells. The L2 cache adds to 32 bytes at once: four totals
/// in each of its lines of 128 bytes, so that the blocks, which all add at about the same time, meet in as few lines
/// as may be. Of many cells they meet seldom.
pub const fn total_of(cell: u32, cells: u32) -> u64 {
    if cells <= 4 * BYTE_BINS { (cell / 4 * 16 + cell % 4) as u64 } else { cell as u64 }
}

/// Most cells that have totals: more than the shared memory of an H100 has counters for.
pub const MAX_CELLS: u32 = 48 * 1024;

/// Most zeroed memory that a launch takes, in bytes: for the totals of [`MAX_CELLS`] cells.
pub const ZEROED_BYTES: u64 = MAX_CELLS as u64 * 8;

/// Threads of a block of the kernels that count samples between edges.
pub const EDGES_BLOCK: u32 = 1024;

/// Threads of a block of the kernel that finds the least and the largest sample: a power of two.
pub const EXTREMES_BLOCK: u32 = 256;

/// The first row of a channel in those kernels: that of samples below its bins, and above those of the channel before.
/// The rows of its bins follow, and one for samples above them.
pub const fn channel_row(bins: u32, channel: u32) -> u32 {
    channel * (bins + 2)
}

/// The rows of all channels.
pub const fn edge_rows(bins: u32, channels: u32) -> u32 {
    channel_row(bins, channels) + 1
}

/// Shared memory of those kernels, in bytes: the counters of each row, and `bins + 2` edges.
pub const fn edges_bytes(bins: u32, channels: u32, columns: u32) -> u64 {
    4 * ((channels as u64 * (bins as u64 + 2) + 1) * columns as u64 + bins as u64 + 2)
}

/// Threads of a block of the kernels that count cells by slices.
pub const SLICES_BLOCK: u32 = 1024;

/// Cells of a slice: as many counters as every GPU's shared memory holds.
pub const SLICE_CELLS: u32 = 16 * 1024;

/// Threads of a block of the kernels that find bins.
pub const BINS_BLOCK: u32 = 256;

/// Threads of a block of the kernel that sums weights, and bins of a slice.
pub const WEIGHTS_BLOCK: u32 = 256;

/// Samples of its blocks: those that are summed from 0.
pub const WEIGHTS_SAMPLES: u32 = 65536;

/// Samples that it holds at a time.
pub const WEIGHTS_BATCH: u32 = 1024;
