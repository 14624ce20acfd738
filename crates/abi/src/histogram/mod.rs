//! Histograms: parameters, and the layout of counters.

mod edges;
mod order;

pub use edges::{Between, Spacing, nearest_edge};
pub use order::{f64_of_order, order_of, order_of_f64, sample_of_order};

/// Parameters of the byte histogram's first kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramPartialParams {
    /// Number of samples to count, one byte each.
    pub bytes: u64,
    /// Channels counted separately: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Number of vector loads per thread, of [`WORDS_AT_ONCE`](crate::WORDS_AT_ONCE) words each. Each thread strides by the
/// whole grid.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rounds {
    /// Loads per thread.
    pub whole: u32,
    /// Number of threads with one load more: the first ones.
    pub rest: u32,
}

impl Rounds {
    /// Distributes `reads` loads over `threads` threads; `None` for 2^32 loads per thread or more.
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
    /// Number of samples to count, one byte each.
    pub bytes: u64,
    /// Address of the totals over all blocks, all 0 before the launch; in a recipe, the number of their buffer.
    pub totals: u64,
    /// Loads per thread.
    pub rounds: Rounds,
}

/// Parameters of the kernels that count samples between edges.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramEdgesParams {
    /// Number of samples to count.
    pub samples: u64,
    /// Address of the totals over all blocks, all 0 before the launch; in a recipe, the number of their buffer.
    pub totals: u64,
    /// Loads per thread.
    pub rounds: Rounds,
    /// The first edge.
    pub low: f32,
    /// Edges per unit, for [`nearest_edge`](crate::nearest_edge).
    pub per_unit: f32,
    /// Bins per channel: one fewer than there are edges.
    pub bins: u32,
    /// Channels counted separately: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Counters per bin in shared memory: a power of two, up to [`HISTOGRAM_COLUMNS`](crate::HISTOGRAM_COLUMNS).
    pub columns: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that find the least and the largest sample.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramExtremesParams {
    /// Number of samples.
    pub samples: u64,
    /// Address of the mask, one byte per pixel; in a recipe, the number of its buffer. 0 without a mask.
    pub beside: u64,
    /// Interleaved channels.
    pub channels: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that merge partial histograms.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramMergeParams {
    /// Number of partial histograms to sum.
    pub partials: u32,
    /// Bins of each partial histogram, over all channels.
    pub bins: u32,
}

/// Parameters of the kernels that count samples in cells (bins of a channel).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramCellsParams {
    /// Number of pixels to count.
    pub pixels: u64,
    /// Address of the mask, one byte per pixel; in a recipe, the number of its buffer. 0 without a mask.
    pub beside: u64,
    /// Value of the first cell, for integer samples.
    pub low: i32,
    /// Cells per channel.
    pub bins: u32,
    /// Interleaved channels.
    pub channels: u32,
    /// Channels counted separately: all of them, or 1.
    pub apart: u32,
    /// Largest sample of the last bin, for f32 samples.
    pub last: f32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// Parameters of the kernels that add to totals in global memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramScatterParams {
    /// Number of samples to count.
    pub samples: u64,
    /// Address of the mask, one byte per pixel; in a recipe, the number of its buffer. 0 without a mask.
    pub beside: u64,
    /// Samples per thread, at most.
    pub rounds: u32,
    /// Bins per channel.
    pub bins: u32,
    /// Channels counted separately: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Samples per pixel.
    pub step: u32,
    /// The bins, if they have equal width.
    pub spacing: Spacing,
}

/// Threads per block of these kernels.
pub const SCATTER_BLOCK: u32 = 256;

/// Bins that a block of these kernels counts in shared memory: a power of two.
pub const SCATTER_KEPT: u32 = 2048;

/// Parameters of the kernels that compute the cell of a sample and count by slices.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramValuesParams {
    /// Number of samples to count.
    pub samples: u64,
    /// Loads per thread, of one row of blocks.
    pub rounds: Rounds,
    /// Channels counted separately: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Cells per channel.
    pub cells: u32,
    /// Cells per slice.
    pub slice: u32,
    /// Bins of equal width: the cells of f32 samples.
    pub spacing: Spacing,
    /// The integer of the first cell, as u32, for samples of 32 bits.
    pub low: u32,
}

/// Parameters of the kernel that counts the digits of the samples under given prefixes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramDigitsParams {
    /// Number of samples to count.
    pub samples: u64,
    /// Address of the totals over all blocks, all 0 before the launch; in a recipe, the number of their buffer.
    pub totals: u64,
    /// Address of the sets of prefixes, which the kernel of [`HistogramRanksParams`] writes; in a recipe, the number of
    /// their buffer.
    pub sets: u64,
    /// Loads per thread.
    pub rounds: Rounds,
    /// Channels whose prefixes differ: sample `i` belongs to channel `i % channels`.
    pub channels: u32,
    /// Most upper halves, over all channels, that each have a set of next digits; 0 if an upper half is the whole
    /// prefix.
    pub halves: u32,
    /// Most whole prefixes, each with [`DIGITS`] counters.
    pub slots: u32,
    /// Bits below the digit that is counted.
    pub shift: u32,
    /// Word of shared memory at which the sets of digits start, behind those of the upper halves.
    pub digits: u32,
    /// Byte of shared memory at which the counters start, behind the sets.
    pub counters: u32,
}

/// Threads of the one block that finds the digits of ranks, and most ranks.
pub const RANKS_BLOCK: u32 = 1024;

/// Byte of its shared memory at which the sums of counts by warp start.
pub const RANKS_SUMS: u32 = 0;

/// Byte of its shared memory at which the numbers of the next pass's set start, one per rank.
pub const RANKS_FOUND: u32 = RANKS_SUMS + RANKS_BLOCK / 32 * 8;

/// Byte of its shared memory at which the prefixes of the ranks' samples start.
pub const RANKS_PREFIXES: u32 = RANKS_FOUND + RANKS_BLOCK * 4;

/// Byte of its shared memory at which the ranks among the samples with these prefixes start.
pub const RANKS_WITHIN: u32 = RANKS_PREFIXES + RANKS_BLOCK * 4;

/// Size of its shared memory, in bytes.
pub const RANKS_BYTES: u32 = RANKS_WITHIN + RANKS_BLOCK * 8;

/// Parameters of the kernel that finds the digits of ranks from the counts of a pass.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramRanksParams {
    /// Address of two numbers of 64 bits per rank, which the kernel keeps for the next pass, behind those of the pass
    /// before; in a recipe, the number of their buffer.
    pub state: u64,
    /// Ranks per channel, ascending.
    pub ranks: u32,
    /// Channels with ranks of their own.
    pub channels: u32,
    /// Number of the pass whose counts are the input: 0 to 2.
    pub pass: u32,
    /// Word of the output at which the set of the prefixes starts.
    pub set: u32,
}

/// Values of a digit: 8 bits.
pub const DIGITS: u32 = 256;

/// Values of the upper half of an [order](order_of).
pub const UPPER_HALVES: u32 = 65536;

/// Returns the words of a [set](HistogramDigitsParams) of numbers below `range`, a multiple of 32: for every 32
/// numbers, a word with one bit per number, and a word with the count of members below them.
pub const fn set_words(range: u32) -> u32 {
    range / 32 * 2
}

/// Parameters of the kernels that write the bin of each sample.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramBinsParams {
    /// Number of pixels of the image.
    pub pixels: u64,
    /// Interleaved channels.
    pub channels: u32,
    /// Channels whose bins are written separately: all of them, or 1.
    pub apart: u32,
    /// Number of bins.
    pub bins: u32,
    /// Largest sample of the last bin.
    pub last: f32,
}

/// Parameters of the kernel that writes the number of each f64 sample's bin.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramPlacesParams {
    /// Number of samples.
    pub samples: u64,
    /// Bins per unit of sample value; 0 if the bins do not have equal width.
    pub per_width: f64,
    /// Number of bins.
    pub bins: u32,
    /// Keeps the size a multiple of 8 bytes; 0.
    pub reserved: u32,
}

/// A column of a histogram of many dimensions. The launch's taps begin with the columns, followed by the edges.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct JointColumn {
    /// Bins of equal width; other bins, and those of f64 samples, are searched.
    pub spacing: Spacing,
    /// Index of the column's sample in its row.
    pub column: u32,
    /// Number of bins.
    pub bins: u32,
    /// Index of the tap of the first bin's lower edge; for f64, in pairs of taps.
    pub first: u32,
}

/// Taps of a [`JointColumn`].
pub const JOINT_TAPS: u32 = 8;

impl JointColumn {
    /// Returns the column as taps: some are the bits of integers.
    ///
    /// ```
    /// use apron_abi::{JointColumn, Spacing};
    ///
    /// let spacing = Spacing { low: -1.0, last: 3.5, per_unit: 2.0, margin: 0.0 };
    /// let column = JointColumn { spacing, column: 2, bins: 9, first: 16 };
    /// let [spacing, rest] = column.taps();
    /// assert_eq!(JointColumn::of_taps(spacing, rest), column);
    /// ```
    pub const fn taps(&self) -> [[f32; 4]; 2] {
        let Spacing { low, last, per_unit, margin } = self.spacing;
        let [column, bins, first] =
            [f32::from_bits(self.column), f32::from_bits(self.bins), f32::from_bits(self.first)];
        [[low, last, per_unit, margin], [column, bins, first, 0.0]]
    }

    /// Returns the column of these taps.
    #[inline(always)]
    pub const fn of_taps([low, last, per_unit, margin]: [f32; 4], [column, bins, first, _]: [f32; 4]) -> JointColumn {
        let spacing = Spacing { low, last, per_unit, margin };
        JointColumn { spacing, column: column.to_bits(), bins: bins.to_bits(), first: first.to_bits() }
    }
}

/// Parameters of the kernels that find the cell of each row of samples: a bin of each column.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramJointParams {
    /// Number of rows.
    pub rows: u64,
    /// Samples of a row.
    pub row: u32,
    /// Number of columns, at least one.
    pub columns: u32,
    /// Number of cells.
    pub cells: u32,
    /// Cells per slice, in the kernel that counts by slices.
    pub slice: u32,
}

/// Parameters of the kernel that sums weights by bin.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HistogramWeightsParams {
    /// Address of the weights, one per pixel; in a recipe, the number of their buffer.
    pub weights: u64,
    /// Samples per separate channel.
    pub samples: u64,
    /// Bins per separate channel.
    pub bins: u32,
    /// Slices of these bins, [`WEIGHTS_BLOCK`](crate::WEIGHTS_BLOCK) bins each.
    pub slices: u32,
    /// Adjacent samples per pixel; 1 if channels are summed separately.
    pub channels: u32,
    /// Channels that are summed separately: all of them, or 1.
    pub apart: u32,
}

/// Threads per block of the first kernel of the histogram by partials.
pub const PARTIAL_BLOCK: u32 = 256;

/// Threads that share one partial histogram in shared memory.
pub const GROUP_THREADS: u32 = 32;

/// Partial histograms of 256 bins in a block's shared memory, over all groups and channels.
pub const PARTIAL_ROWS: u32 = 8;

/// Threads per block of the merge of partial histograms: a power of two.
pub const MERGE_BLOCK: u32 = 256;

/// Threads per block of the byte histograms with a column of counters per lane.
pub const COLUMNS_BLOCK: u32 = 1024;

/// Counters per bin in those kernels: one per lane of a warp, and so one per shared memory bank.
pub const HISTOGRAM_COLUMNS: u32 = 32;

/// Bins of a byte histogram.
pub const BYTE_BINS: u32 = 256;

/// Number of low bits of a total that hold its count. The bits above are the number of blocks that have added to the
/// total, from which the last block knows that it is the last.
pub const TOTAL_BITS: u32 = 48;

/// Returns the index of the total of a cell (a bin of a channel) among the totals of `cells` cells. The L2 cache adds
/// to 32 bytes at once. For up to 1024 cells, each cache line of 128 bytes holds only four totals, so that the blocks,
/// which all add at about the same time, rarely contend for a line. With more cells contention is rare anyway.
pub const fn total_of(cell: u32, cells: u32) -> u64 {
    if cells <= 4 * BYTE_BINS { (cell / 4 * 16 + cell % 4) as u64 } else { cell as u64 }
}

/// Most cells with totals: more than an H100's shared memory holds counters and edges for.
pub const MAX_CELLS: u32 = 48 * 1024;

/// Largest zeroed workspace of a launch, in bytes: for the totals of [`MAX_CELLS`] cells.
pub const ZEROED_BYTES: u64 = MAX_CELLS as u64 * 8;

/// Threads per block of the kernels that count samples between edges.
pub const EDGES_BLOCK: u32 = 1024;

/// Threads per block of the kernel that finds the least and the largest sample: a power of two.
pub const EXTREMES_BLOCK: u32 = 256;

/// Returns the first row of counters of a channel in the kernels that count between edges: the row for samples below
/// the bins. The rows of the bins follow, then two for other samples outside the range, the second of which is also the
/// first row of the next channel.
pub const fn channel_row(bins: u32, channel: u32) -> u32 {
    channel * (bins + 2)
}

/// Returns the rows of counters of all channels.
pub const fn edge_rows(bins: u32, channels: u32) -> u32 {
    channel_row(bins, channels) + 1
}

/// Returns the shared memory per block of those kernels, in bytes: `columns` counters per row, and `bins + 2` edges.
pub const fn edges_bytes(bins: u32, channels: u32, columns: u32) -> u64 {
    4 * ((channels as u64 * (bins as u64 + 2) + 1) * columns as u64 + bins as u64 + 2)
}

/// Threads per block of the kernels that count cells by slices.
pub const SLICES_BLOCK: u32 = 1024;

/// Cells per slice: their counters, 64 KiB, fit into the shared memory of every GPU.
pub const SLICE_CELLS: u32 = 16 * 1024;

/// Most slices, for f32 samples, of the kernels that compute a sample's cell: with more, reading the image once per
/// slice takes longer than adding to totals in global memory.
pub const MOST_SLICES: u32 = 4;

/// Threads per block of the kernels that write bins.
pub const BINS_BLOCK: u32 = 256;

/// Threads per block of the kernel that sums weights, and bins per slice.
pub const WEIGHTS_BLOCK: u32 = 256;

/// Samples per block of that kernel, which sums them from 0.
pub const WEIGHTS_SAMPLES: u32 = 65536;

/// Samples that a block of that kernel holds in shared memory at a time.
pub const WEIGHTS_BATCH: u32 = 1024;
