//! The kernel table: every kernel once, with all that host and kernels must know of it.

use crate::{BoxSums, BoxTile, ElementType, FEW_TAPS, FEWEST_TAPS, Half, MAX_TAPS, tap_stride};

/// A group of kernels compiled into one PTX file and loaded together: a folder of `kernels-gpu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Passes of separable correlation.
    Conv1d,
    /// Dense correlation.
    Conv2d,
    /// Correlation with small masks, dense or separable, at the speed of memory.
    March,
    /// The same for small images, by threads that share nothing.
    Patch,
    /// Correlation with any masks, dense or separable, over tiles of the image's own words.
    Words,
    /// Box filters: sums over windows, all samples alike.
    Box,
    /// 3x3 masks over RGBA images of 8 bits a channel.
    Rgba,
    /// Histograms.
    Histogram,
    /// No operation's: kernels that measure what the machine can do.
    Limits,
    /// Pointwise operations on one or two images.
    Pointwise,
    /// Statistics of windows: the local standard deviation.
    Local,
    /// Tables for the values of samples.
    Lookup,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 12] = [
        Family::Conv1d,
        Family::Conv2d,
        Family::March,
        Family::Patch,
        Family::Words,
        Family::Box,
        Family::Rgba,
        Family::Histogram,
        Family::Limits,
        Family::Pointwise,
        Family::Local,
        Family::Lookup,
    ];

    /// The oldest GPUs that run it, as compute capability times ten: 75 for sm_75.
    pub const fn lowest_target(self) -> u32 {
        match self {
            // The copy engine that signals its end came with sm_90.
            Family::March => 90,
            // Their code is long, and nobody measured them on older ones.
            Family::Patch | Family::Words => 90,
            Family::Conv1d | Family::Conv2d | Family::Box | Family::Rgba | Family::Histogram | Family::Limits => 75,
            Family::Pointwise | Family::Local | Family::Lookup => 75,
        }
    }

    /// The family's name, as in its PTX files' names.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Conv1d => "conv1d",
            Family::Conv2d => "conv2d",
            Family::March => "march",
            Family::Patch => "patch",
            Family::Words => "words",
            Family::Box => "box",
            Family::Rgba => "rgba",
            Family::Histogram => "histogram",
            Family::Limits => "limits",
            Family::Pointwise => "pointwise",
            Family::Local => "local",
            Family::Lookup => "lookup",
        }
    }

    /// Whether its kernels solve problems, as variants of an operation.
    pub const fn has_variants(self) -> bool {
        !matches!(self, Family::Limits)
    }
}

/// Where a kernel finds the taps of its mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapSpace {
    /// It takes none.
    None,
    /// In constant memory, as a parameter of the launch: its last, [`Taps`](crate::Taps) of
    /// [`FEW_TAPS`].
    SmallParameter,
    /// The same of [`FEWEST_TAPS`].
    FewestParameter,
    /// The same of [`MAX_TAPS`].
    Parameter,
    /// In constant memory, as the module's symbol [`TAPS_SYMBOL`]: one mask at a time.
    Symbol,
    /// In a buffer in global memory, whose address is the launch's last parameter.
    Global,
}

impl TapSpace {
    /// How many taps it holds.
    pub const fn capacity(self) -> usize {
        match self {
            TapSpace::None => 0,
            TapSpace::SmallParameter => FEW_TAPS,
            TapSpace::FewestParameter => FEWEST_TAPS,
            TapSpace::Parameter | TapSpace::Symbol => MAX_TAPS,
            TapSpace::Global => usize::MAX,
        }
    }
}

/// The constant symbol of [`TapSpace::Symbol`], of [`MAX_TAPS`].
pub const TAPS_SYMBOL: &str = "apron_taps";

/// What a kernel reads through the first of its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceSpace {
    /// A buffer in global memory.
    Buffer,
    /// A texture of RGBA pixels of 8 bits a channel; the address is its handle.
    Texture,
}

/// The shared memory of a kernel's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedMemory {
    /// As many bytes, whatever the launch.
    Bytes(u32),
    /// An f32 for each pixel under the mask at any pixel of the block.
    MaskTile,
    /// What [`fused_bytes`] says.
    FusedRows,
    /// An f32 for each pixel under the mask at any pixel of a [`blocked_tile`] of so many outputs across a thread.
    Blocked(u32),
    /// The taps of a dense mask in the type of sums, and the words of the samples of a type, of so many interleaved channels,
    /// under the mask at any pixel of so many rows of [`BLOCKED_COLUMNS`] samples.
    Words(ElementType, u32, u32),
    /// The same of a separable filter, and a sum for each of those samples in all rows.
    WordsAndSums(ElementType, u32, u32),
    /// What [`edges_bytes`] says.
    Edges,
    /// What [`BoxTile`] says.
    BoxTile,
}

impl SharedMemory {
    /// Its size for a mask of this width and height, in bytes; of [`FusedRows`](SharedMemory::FusedRows) for
    /// one channel and sums in f32, of [`Edges`](SharedMemory::Edges) for one channel and 256 bins,
    /// of [`BoxTile`](SharedMemory::BoxTile) for one channel of f32 and 128 columns.
    pub const fn bytes(self, mask_width: u32, mask_height: u32) -> u32 {
        match self {
            SharedMemory::Blocked(across) => {
                blocked_pitch(mask_width) * (blocked_tile(across)[1] + mask_height - 1) * 4
            }
            SharedMemory::Words(src, channels, rows) => {
                let taps = mask_height * tap_stride(mask_width) * words_sum_bytes(src);
                taps + words_pitch(src, mask_width, channels) * (rows + mask_height - 1) * 4
            }
            SharedMemory::WordsAndSums(src, channels, rows) => {
                let (rows, sum) = (rows + mask_height - 1, words_sum_bytes(src));
                let taps = (tap_stride(mask_width) + tap_stride(mask_height)) * sum;
                let tile = words_pitch(src, mask_width, channels) * rows * 4;
                (taps + tile).next_multiple_of(8) + BLOCKED_COLUMNS * rows * sum
            }
            SharedMemory::FusedRows => fused_bytes(1, mask_width, mask_height, 4),
            SharedMemory::Edges => edges_bytes(BYTE_BINS, 1, HISTOGRAM_COLUMNS) as u32,
            SharedMemory::BoxTile => BoxTile::of(BoxSums::Floats, 1, [mask_width, mask_height], 128).bytes,
            SharedMemory::Bytes(bytes) => bytes,
            SharedMemory::MaskTile => (TILE_WIDTH + mask_width - 1) * (TILE_WIDTH + mask_height - 1) * 4,
        }
    }
}

/// What is fixed about a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Entry name in the PTX.
    pub entry: &'static str,
    /// The PTX file that holds it.
    pub family: Family,
    /// Program of the source articles that it implements; `-` for a rung of the ladder between them.
    pub program: &'static str,
    /// The operation's implementation to which it belongs, as `--variant` names it.
    pub variant: &'static str,
    /// Which of the variant's kernels it is; empty where there is one for each pair of types.
    pub stage: &'static str,
    /// What the first address leads to.
    pub source: SourceSpace,
    /// Element type of what is read.
    pub src: ElementType,
    /// Element type of the second buffer, which is written.
    pub dst: ElementType,
    /// Where the taps are.
    pub taps: TapSpace,
    /// Threads of a block, x and y.
    pub block: [u32; 2],
    /// Shared memory of a block.
    pub shared: SharedMemory,
    /// Calls of the barrier in the source, loops of fixed length counted out: as many as in the PTX.
    pub barriers: u32,
    /// Blocks that the assembler must leave registers for on a multiprocessor.
    pub residents: u32,
}

/// Width and height of a tiled kernel's block; of dense ones, also of the output that it computes.
pub const TILE_WIDTH: u32 = 32;
/// Largest side of a mask for the tiled dense kernel.
pub const MAX_MASK_SIDE: u32 = 64;
/// Threads of a block of the kernels without tiles.
pub const SIMPLE_BLOCK: [u32; 2] = [32, 8];
/// Threads of a block of the RGBA kernels, and so the output pixels that it computes.
pub const RGBA_BLOCK: [u32; 2] = [8, 4];
/// Width and height of the RGBA kernels' mask.
pub const RGBA_MASK: u32 = 3;
/// Width and height of the RGBA kernels' shared tile: the block and its halo.
pub const RGBA_TILE: [u32; 2] = [RGBA_BLOCK[0] + RGBA_MASK - 1, RGBA_BLOCK[1] + RGBA_MASK - 1];
/// Shared memory of the RGBA kernels with a tile, in bytes: 4 a pixel.
pub const RGBA_TILE_BYTES: u32 = RGBA_TILE[0] * RGBA_TILE[1] * 4;
/// Largest width and height of a texture on every GPU that the kernels run on.
pub const MAX_TEXTURE: [u32; 2] = [131_072, 65_536];
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

/// Where the total of a cell is, a bin of a channel, of so many. The L2 cache adds to 32 bytes at once: four totals
/// in each of its lines of 128 bytes, so that the blocks, which all add at about the same time, meet in as few lines
/// as may be. Of many cells they meet seldom.
pub const fn total_of(cell: u32, cells: u32) -> u64 {
    if cells <= 4 * BYTE_BINS { (cell / 4 * 16 + cell % 4) as u64 } else { cell as u64 }
}

/// Most cells that have totals: more than the shared memory of an H100 has counters for.
pub const MAX_CELLS: u32 = 48 * 1024;

/// Most zeroed memory that a launch takes, in bytes: for the totals of so many cells.
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

/// Shared memory of those kernels, in bytes: each row's counters, and the edges, of which there are two more than bins.
pub const fn edges_bytes(bins: u32, channels: u32, columns: u32) -> u64 {
    4 * ((channels as u64 * (bins as u64 + 2) + 1) * columns as u64 + bins as u64 + 2)
}

/// Threads of a block of the kernels that count cells by slices.
pub const SLICES_BLOCK: u32 = 1024;
/// Cells of a slice: as many counters as every GPU's shared memory holds.
pub const SLICE_CELLS: u32 = 16 * 1024;
/// Rows of a block of the kernels that sum rows: each lane of a warp has one, and each warp a channel.
pub const SUMMED_ROWS: u32 = 32;
/// Samples of a row that it holds at a time: whole pixels of 1 to 4 channels, and whole fours of each channel.
pub const SUMMED_COLUMNS: u32 = 96;
/// Samples from a row to the next there: lanes that read fours of neighbouring rows meet no bank twice.
pub const SUMMED_PITCH: u32 = SUMMED_COLUMNS + 4;
/// Their shared memory, in bytes: one tile that is summed, and one that is on its way.
pub const SUMMED_BYTES: u32 = 2 * SUMMED_ROWS * SUMMED_PITCH * 4;
/// Numbers for each row and channel that they write: the sum, the least and the largest sample.
pub const SUMMED_PARTS: u32 = 3;
/// Threads of a block of the kernel that sums those of all rows.
pub const FOLD_BLOCK: u32 = 256;
/// Numbers that it writes for each channel: the least and the largest sample, the mean, the sum of squared distances.
pub const FOUND_NUMBERS: u32 = 4;

/// Threads of a block of the kernels that find bins.
pub const BINS_BLOCK: u32 = 256;
/// Threads of a block of the kernel that sums weights, and bins of a slice.
pub const WEIGHTS_BLOCK: u32 = 256;
/// Samples of its blocks: those that are summed from 0.
pub const WEIGHTS_SAMPLES: u32 = 65536;
/// Samples that it holds at a time.
pub const WEIGHTS_BATCH: u32 = 1024;

/// Threads of a block of the kernel that looks bytes up.
pub const LOOKUP_BLOCK: u32 = 256;

/// Values of a 16-bit sample.
pub const WIDE_VALUES: u32 = 65536;
/// Slices of them, whose counters a block holds.
pub const WIDE_SLICES: u32 = WIDE_VALUES / SLICE_CELLS;
/// Threads of a block of the kernel that makes tables for them: as many warps as a warp has lanes.
pub const WIDE_BLOCK: u32 = 1024;

/// Threads of a block of the kernels that measure the machine.
pub const LIMITS_BLOCK: u32 = 256;
/// Words of 32 bits that a thread reads at once, in one access.
pub const WORDS_AT_ONCE: u64 = 4;
/// Such reads that a thread of the read kernel has in flight.
pub const READS_IN_FLIGHT: u64 = 4;
/// Sums that a thread of the FFMA kernel keeps, each waiting for itself alone.
pub const FFMA_CHAINS: usize = 8;
/// FFMA instructions of a thread in a round of the FFMA kernel: many, so that the loop around them is
/// no part of what is measured.
pub const FFMA_A_ROUND: usize = 64 * FFMA_CHAINS;

/// Threads of a block of the dense kernel with several outputs a thread.
pub const BLOCKED_BLOCK: u32 = 256;
/// Output pixels of its blocks across; samples, where the tile has all channels.
pub const BLOCKED_COLUMNS: u32 = 128;

/// Output pixels of its blocks, across and down: four rows a thread, of so many outputs each.
pub const fn blocked_tile(across: u32) -> [u32; 2] {
    [BLOCKED_COLUMNS, BLOCKED_BLOCK * across * 4 / BLOCKED_COLUMNS]
}

/// Samples from one row of its tile to the next.
pub const fn blocked_pitch(mask_width: u32) -> u32 {
    (BLOCKED_COLUMNS + mask_width - 1).next_multiple_of(8)
}

/// Output rows of blocks of as many threads and columns, with so many outputs across and down a thread.
pub const fn words_rows(across: u32, down: u32) -> u32 {
    BLOCKED_BLOCK * across * down / BLOCKED_COLUMNS
}

/// Words from one row of their tile to the next: what windows see, taps counted in fours, and where they may start inside
/// a word, one more.
pub const fn words_pitch(src: ElementType, mask_width: u32, channels: u32) -> u32 {
    let of_word = 4 / src.size_bytes();
    (BLOCKED_COLUMNS + tap_stride(mask_width) * channels) / of_word + (of_word > 1) as u32
}

/// Bytes of their sums: f32, or f64 of integers.
const fn words_sum_bytes(src: ElementType) -> u32 {
    if src.size_bytes() == 4 { 4 } else { 8 }
}

/// Threads of a block of the fused separable kernel, and columns of its strip of all channels, or a few less.
pub const FUSED_BLOCK: u32 = 128;
/// Rows that it takes at a time, and neighbours that a thread sums at once along a row and down a column.
pub const FUSED_ROWS: u32 = 16;

/// Pixels of an output row that a block of the fused kernel computes: whole threads' neighbours.
pub const fn fused_plane(channels: u32) -> u32 {
    match channels {
        1 => 128,
        2 => 64,
        _ => 32,
    }
}

/// Where in a row of its ring the sum of a pixel is: lanes that read all channels of neighbouring pixels meet no bank
/// twice; of three channels, few.
pub const fn fused_ring_place(channels: u32, pixel: u32, channel: u32) -> u32 {
    let apart = if channels == 2 { 16 } else { 8 };
    channel * fused_plane(channels) + (pixel ^ (channel * apart))
}

/// Sums of so many bytes from one row of its ring to the next: lanes on neighbouring rows meet no bank twice.
pub const fn fused_ring_pitch(sum_bytes: u32) -> u32 {
    FUSED_BLOCK + if sum_bytes == 4 { 4 } else { 1 }
}

/// Samples from one channel to the next in its input rows.
pub const fn fused_input_plane(channels: u32, taps_x: u32) -> u32 {
    (fused_plane(channels) + taps_x - 1).next_multiple_of(4)
}

/// Samples from one input row to the next, as for the ring.
pub const fn fused_input_pitch(channels: u32, taps_x: u32) -> u32 {
    (channels * fused_input_plane(channels, taps_x)).next_multiple_of(32) + 4
}

/// Rows of its ring: those under the taps of the first output of a step, and the step's own.
pub const fn fused_ring_rows(taps_y: u32) -> u32 {
    (taps_y - 1).next_multiple_of(FUSED_ROWS) + FUSED_ROWS
}

/// Its shared memory, in bytes, with sums of so many: two steps' input rows, the ring, and the image's columns that
/// stand for those of the strip.
pub const fn fused_bytes(channels: u32, taps_x: u32, taps_y: u32, sum_bytes: u32) -> u32 {
    let input = 2 * FUSED_ROWS * fused_input_pitch(channels, taps_x) * 4;
    let ring = fused_ring_rows(taps_y) * fused_ring_pitch(sum_bytes) * sum_bytes;
    input + ring + fused_input_plane(channels, taps_x) * 4
}

/// Threads of a block of the marching kernels; each computes [a few](march_across) adjacent samples of a row.
pub const MARCH_BLOCK: u32 = 128;
/// Most input rows of a block of the marching kernels.
pub const MARCH_ROWS: u32 = 768;
/// Most words of several samples beside the image that a block of the marching kernels sees of a row.
pub const MARCH_BESIDE: u32 = 64;

/// Threads of a block of the kernels of patches, whose rows are warps.
pub const PATCH_BLOCK: [u32; 2] = [32, 4];
/// Output rows of a thread of theirs.
pub const PATCH_ROWS: u32 = 4;

/// Shared memory of theirs, in bytes: for each thread the columns and the rows of the image that it sees.
pub const fn patch_bytes(side: u32, channels: u32) -> u32 {
    let seen = 4 + (side - 1) * channels + PATCH_ROWS + side - 1;
    seen * PATCH_BLOCK[0] * PATCH_BLOCK[1] * 4
}

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

/// Shared memory of the marching kernels, in bytes: the ring's rows, a signal of 8 bytes for each, the
/// list of all rows, and where a word is several samples also where those beside the image come from.
pub const fn march_bytes(src: ElementType, sums: MarchSums, across: u32, side: u32, channels: u32) -> u32 {
    let row = march_samples(src, across, side, channels) * src.size_bytes();
    let beside = if src.size_bytes() < 4 { MARCH_BESIDE * 16 } else { 0 };
    march_stages(src, sums, side) * (row + 8) + MARCH_ROWS * 4 + beside
}

const BOX: SharedMemory = SharedMemory::BoxTile;
const NONE: SharedMemory = SharedMemory::Bytes(0);
const F32_TILE: SharedMemory = SharedMemory::Bytes(TILE_WIDTH * TILE_WIDTH * 4);
const F64_TILE: SharedMemory = SharedMemory::Bytes(TILE_WIDTH * TILE_WIDTH * 8);
const FUSED: SharedMemory = SharedMemory::FusedRows;
const BLOCKED: SharedMemory = SharedMemory::Blocked(8);
const BLOCKED_WIDE: SharedMemory = SharedMemory::Blocked(16);
/// Words under 4x4 outputs a thread.
const fn words(src: ElementType, channels: u32) -> SharedMemory {
    SharedMemory::Words(src, channels, words_rows(4, 4))
}
/// The same under 4x1.
const fn few_words(src: ElementType, channels: u32) -> SharedMemory {
    SharedMemory::Words(src, channels, words_rows(4, 1))
}
/// The same under 4x2, with sums.
const fn words_and_sums(src: ElementType, channels: u32) -> SharedMemory {
    SharedMemory::WordsAndSums(src, channels, words_rows(4, 2))
}
const MASK_TILE: SharedMemory = SharedMemory::MaskTile;
const PIXELS: SharedMemory = SharedMemory::Bytes(RGBA_TILE_BYTES);
const ROWS: SharedMemory = SharedMemory::Bytes(PARTIAL_ROWS * BYTE_BINS * 4);
/// Columns for so many channels.
const fn columns(channels: u32) -> SharedMemory {
    SharedMemory::Bytes(channels * BYTE_BINS * HISTOGRAM_COLUMNS * 4)
}
const SUMS: SharedMemory = SharedMemory::Bytes(MERGE_BLOCK * 8);
const EDGES: SharedMemory = SharedMemory::Edges;
/// Rows of a dense marching kernel.
const fn dense(src: ElementType, side: u32, channels: u32) -> SharedMemory {
    marching(src, MarchSums::Floats, true, side, channels)
}
/// Rows of one that sums in f64.
const fn dense_f64(src: ElementType, side: u32, channels: u32) -> SharedMemory {
    marching(src, MarchSums::Doubles, true, side, channels)
}
/// Rows of a separable marching kernel.
const fn separable(src: ElementType, side: u32, channels: u32) -> SharedMemory {
    marching(src, MarchSums::Floats, false, side, channels)
}
/// Rows of one that sums in f64.
const fn separable_f64(src: ElementType, side: u32, channels: u32) -> SharedMemory {
    marching(src, MarchSums::Doubles, false, side, channels)
}
const fn marching(src: ElementType, sums: MarchSums, dense: bool, side: u32, channels: u32) -> SharedMemory {
    SharedMemory::Bytes(march_bytes(src, sums, march_across(src, sums, dense, side), side, channels))
}
/// Columns and rows of the threads of patches.
const fn patch(side: u32, channels: u32) -> SharedMemory {
    SharedMemory::Bytes(patch_bytes(side, channels))
}
/// A pair of f32 for each thread.
const PAIRS: SharedMemory = SharedMemory::Bytes(EXTREMES_BLOCK * 8);

/// Bins and weights of a batch.
const BATCH: SharedMemory = SharedMemory::Bytes(WEIGHTS_BATCH * 12);
/// Tiles of rows.
const SUMMED: SharedMemory = SharedMemory::Bytes(SUMMED_BYTES);
/// Sums of rows.
const FOLDED: SharedMemory = SharedMemory::Bytes(FOLD_BLOCK * 8);
/// Counters of a slice.
const SLICE: SharedMemory = SharedMemory::Bytes(SLICE_CELLS * 4);
/// Tables of 4 channels, a word an entry.
const TABLES: SharedMemory = SharedMemory::Bytes(4 * BYTE_BINS * 4);
/// The counts of a tile, a word each.
const WORDS: SharedMemory = SharedMemory::Bytes(4 * BYTE_BINS);
/// Two words for each warp.
const OF_WARPS: SharedMemory = SharedMemory::Bytes(WIDE_BLOCK / 32 * 8);
/// The counts of a channel.
const COUNTS: SharedMemory = SharedMemory::Bytes(8 * BYTE_BINS);

/// Calls `$then!` with every kernel: `entry: family program variant stage, Body<types>,
/// source (src, dst), Params, taps, [block], shared, barriers[, residents];`.
#[macro_export]
macro_rules! for_each_kernel {
    ($then:ident) => {
        $then! {
            conv1d_fused_u8_u8: Conv1d "-" "fused" "", conv1d::Fused<u8, u8>, Buffer (u8, u8), FusedParams, SmallParameter, [128, 1], FUSED, 2, 4;
            conv1d_fused_u8_u16: Conv1d "-" "fused" "", conv1d::Fused<u8, u16>, Buffer (u8, u16), FusedParams, SmallParameter, [128, 1], FUSED, 2, 4;
            conv1d_fused_u8_i16: Conv1d "-" "fused" "", conv1d::Fused<u8, i16>, Buffer (u8, i16), FusedParams, SmallParameter, [128, 1], FUSED, 2, 4;
            conv1d_fused_u8_f32: Conv1d "-" "fused" "", conv1d::Fused<u8, f32>, Buffer (u8, f32), FusedParams, SmallParameter, [128, 1], FUSED, 2, 6;
            conv1d_fused_f32_u8: Conv1d "-" "fused" "", conv1d::Fused<f32, u8>, Buffer (f32, u8), FusedParams, SmallParameter, [128, 1], FUSED, 2, 4;
            conv1d_fused_f32_u16: Conv1d "-" "fused" "", conv1d::Fused<f32, u16>, Buffer (f32, u16), FusedParams, SmallParameter, [128, 1], FUSED, 2, 4;
            conv1d_fused_f32_i16: Conv1d "-" "fused" "", conv1d::Fused<f32, i16>, Buffer (f32, i16), FusedParams, SmallParameter, [128, 1], FUSED, 2, 4;
            conv1d_fused_f32_f32: Conv1d "-" "fused" "", conv1d::Fused<f32, f32>, Buffer (f32, f32), FusedParams, SmallParameter, [128, 1], FUSED, 2, 6;
            conv1d_simple_rows_u8_f32: Conv1d "P2" "simple" "rows", conv1d::Simple<u8, f32, f32, 0>, Buffer (u8, f32), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_rows_u8_f64: Conv1d "P2" "simple" "rows", conv1d::Simple<u8, f64, f64, 0>, Buffer (u8, f64), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_rows_f32_f32: Conv1d "P2" "simple" "rows", conv1d::Simple<f32, f32, f32, 0>, Buffer (f32, f32), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_rows_f32_f64: Conv1d "P2" "simple" "rows", conv1d::Simple<f32, f64, f64, 0>, Buffer (f32, f64), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_columns_f64_u8: Conv1d "P2" "simple" "columns", conv1d::Simple<f64, u8, f64, 1>, Buffer (f64, u8), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_columns_f64_u16: Conv1d "P2" "simple" "columns", conv1d::Simple<f64, u16, f64, 1>, Buffer (f64, u16), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_columns_f64_i16: Conv1d "P2" "simple" "columns", conv1d::Simple<f64, i16, f64, 1>, Buffer (f64, i16), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_columns_f32_f32: Conv1d "P2" "simple" "columns", conv1d::Simple<f32, f32, f32, 1>, Buffer (f32, f32), Conv1dParams, Parameter, [32, 8], NONE, 0;
            conv1d_simple_long_rows_u8_f32: Conv1d "-" "simple" "long-rows", conv1d::Simple<u8, f32, f32, 0>, Buffer (u8, f32), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_rows_u8_f64: Conv1d "-" "simple" "long-rows", conv1d::Simple<u8, f64, f64, 0>, Buffer (u8, f64), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_rows_f32_f32: Conv1d "-" "simple" "long-rows", conv1d::Simple<f32, f32, f32, 0>, Buffer (f32, f32), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_rows_f32_f64: Conv1d "-" "simple" "long-rows", conv1d::Simple<f32, f64, f64, 0>, Buffer (f32, f64), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_columns_f64_u8: Conv1d "-" "simple" "long-columns", conv1d::Simple<f64, u8, f64, 1>, Buffer (f64, u8), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_columns_f64_u16: Conv1d "-" "simple" "long-columns", conv1d::Simple<f64, u16, f64, 1>, Buffer (f64, u16), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_columns_f64_i16: Conv1d "-" "simple" "long-columns", conv1d::Simple<f64, i16, f64, 1>, Buffer (f64, i16), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_simple_long_columns_f32_f32: Conv1d "-" "simple" "long-columns", conv1d::Simple<f32, f32, f32, 1>, Buffer (f32, f32), Conv1dParams, Global, [32, 8], NONE, 0;
            conv1d_tiled_rows_u8_f32: Conv1d "P3" "tiled" "rows", conv1d::Tiled<u8, f32, f32, 0>, Buffer (u8, f32), Conv1dParams, SmallParameter, [32, 32], F32_TILE, 1, 2;
            conv1d_tiled_rows_u8_f64: Conv1d "P3" "tiled" "rows", conv1d::Tiled<u8, f64, f64, 0>, Buffer (u8, f64), Conv1dParams, SmallParameter, [32, 32], F64_TILE, 1;
            conv1d_tiled_rows_f32_f32: Conv1d "P3" "tiled" "rows", conv1d::Tiled<f32, f32, f32, 0>, Buffer (f32, f32), Conv1dParams, SmallParameter, [32, 32], F32_TILE, 1, 2;
            conv1d_tiled_rows_f32_f64: Conv1d "P3" "tiled" "rows", conv1d::Tiled<f32, f64, f64, 0>, Buffer (f32, f64), Conv1dParams, SmallParameter, [32, 32], F64_TILE, 1;
            conv1d_tiled_columns_f64_u8: Conv1d "P3" "tiled" "columns", conv1d::Tiled<f64, u8, f64, 1>, Buffer (f64, u8), Conv1dParams, SmallParameter, [32, 32], F64_TILE, 1;
            conv1d_tiled_columns_f64_u16: Conv1d "P3" "tiled" "columns", conv1d::Tiled<f64, u16, f64, 1>, Buffer (f64, u16), Conv1dParams, SmallParameter, [32, 32], F64_TILE, 1;
            conv1d_tiled_columns_f64_i16: Conv1d "P3" "tiled" "columns", conv1d::Tiled<f64, i16, f64, 1>, Buffer (f64, i16), Conv1dParams, SmallParameter, [32, 32], F64_TILE, 1;
            conv1d_tiled_columns_f32_f32: Conv1d "P3" "tiled" "columns", conv1d::Tiled<f32, f32, f32, 1>, Buffer (f32, f32), Conv1dParams, SmallParameter, [32, 32], F32_TILE, 1, 2;
            conv2d_blocked_small_u8_u8: Conv2d "-" "blocked" "small", conv2d::Blocked<u8, u8, f64, false, 8>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_small_u8_u16: Conv2d "-" "blocked" "small", conv2d::Blocked<u8, u16, f64, false, 8>, Buffer (u8, u16), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_small_u8_i16: Conv2d "-" "blocked" "small", conv2d::Blocked<u8, i16, f64, false, 8>, Buffer (u8, i16), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_small_u8_f32: Conv2d "-" "blocked" "small", conv2d::Blocked<u8, f32, f32, true, 8>, Buffer (u8, f32), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4, 2;
            conv2d_blocked_small_f32_u8: Conv2d "-" "blocked" "small", conv2d::Blocked<f32, u8, f64, false, 8>, Buffer (f32, u8), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_small_f32_u16: Conv2d "-" "blocked" "small", conv2d::Blocked<f32, u16, f64, false, 8>, Buffer (f32, u16), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_small_f32_i16: Conv2d "-" "blocked" "small", conv2d::Blocked<f32, i16, f64, false, 8>, Buffer (f32, i16), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_small_f32_f32: Conv2d "-" "blocked" "small", conv2d::Blocked<f32, f32, f32, true, 8>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4, 2;
            conv2d_blocked_large_u8_u8: Conv2d "-" "blocked" "large", conv2d::Blocked<u8, u8, f64, true, 8>, Buffer (u8, u8), Conv2dParams, Parameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_large_u8_u16: Conv2d "-" "blocked" "large", conv2d::Blocked<u8, u16, f64, true, 8>, Buffer (u8, u16), Conv2dParams, Parameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_large_u8_i16: Conv2d "-" "blocked" "large", conv2d::Blocked<u8, i16, f64, true, 8>, Buffer (u8, i16), Conv2dParams, Parameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_large_u8_f32: Conv2d "-" "blocked" "large", conv2d::Blocked<u8, f32, f32, true, 16>, Buffer (u8, f32), Conv2dParams, Parameter, [256, 1], BLOCKED_WIDE, 4;
            conv2d_blocked_large_f32_u8: Conv2d "-" "blocked" "large", conv2d::Blocked<f32, u8, f64, true, 8>, Buffer (f32, u8), Conv2dParams, Parameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_large_f32_u16: Conv2d "-" "blocked" "large", conv2d::Blocked<f32, u16, f64, true, 8>, Buffer (f32, u16), Conv2dParams, Parameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_large_f32_i16: Conv2d "-" "blocked" "large", conv2d::Blocked<f32, i16, f64, true, 8>, Buffer (f32, i16), Conv2dParams, Parameter, [256, 1], BLOCKED, 4;
            conv2d_blocked_large_f32_f32: Conv2d "-" "blocked" "large", conv2d::Blocked<f32, f32, f32, true, 16>, Buffer (f32, f32), Conv2dParams, Parameter, [256, 1], BLOCKED_WIDE, 4;
            conv2d_blocked_checked_u8_u8: Conv2d "-" "blocked" "checked", conv2d::Blocked<u8, u8, f32, false, 8>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4, 2;
            conv2d_blocked_checked_u8_u16: Conv2d "-" "blocked" "checked", conv2d::Blocked<u8, u16, f32, false, 8>, Buffer (u8, u16), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4, 2;
            conv2d_blocked_checked_u8_i16: Conv2d "-" "blocked" "checked", conv2d::Blocked<u8, i16, f32, false, 8>, Buffer (u8, i16), Conv2dParams, SmallParameter, [256, 1], BLOCKED, 4, 2;
            conv2d_naive_u8_u8: Conv2d "-" "naive" "", conv2d::Naive<u8, u8>, Buffer (u8, u8), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_u8_f32: Conv2d "-" "naive" "", conv2d::Naive<u8, f32>, Buffer (u8, f32), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_u8_u16: Conv2d "-" "naive" "", conv2d::Naive<u8, u16>, Buffer (u8, u16), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_u8_i16: Conv2d "-" "naive" "", conv2d::Naive<u8, i16>, Buffer (u8, i16), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_f32_u8: Conv2d "-" "naive" "", conv2d::Naive<f32, u8>, Buffer (f32, u8), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_f32_u16: Conv2d "-" "naive" "", conv2d::Naive<f32, u16>, Buffer (f32, u16), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_f32_i16: Conv2d "-" "naive" "", conv2d::Naive<f32, i16>, Buffer (f32, i16), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_naive_f32_f32: Conv2d "-" "naive" "", conv2d::Naive<f32, f32>, Buffer (f32, f32), Conv2dParams, Global, [32, 8], NONE, 0;
            conv2d_constant_u8_u8: Conv2d "-" "constant" "", conv2d::Constant<u8, u8>, Buffer (u8, u8), Conv2dParams, Parameter, [32, 8], NONE, 0;
            conv2d_constant_u8_f32: Conv2d "-" "constant" "", conv2d::Constant<u8, f32>, Buffer (u8, f32), Conv2dParams, Parameter, [32, 8], NONE, 0;
            conv2d_constant_f32_f32: Conv2d "-" "constant" "", conv2d::Constant<f32, f32>, Buffer (f32, f32), Conv2dParams, Parameter, [32, 8], NONE, 0;
            conv2d_tiled_symbol_small_u8_u8: Conv2d "P4" "tiled-symbol" "small", conv2d::TiledSymbol<u8, u8, false>, Buffer (u8, u8), Conv2dParams, Symbol, [32, 32], MASK_TILE, 2;
            conv2d_tiled_symbol_small_u8_f32: Conv2d "P4" "tiled-symbol" "small", conv2d::TiledSymbol<u8, f32, false>, Buffer (u8, f32), Conv2dParams, Symbol, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_symbol_small_f32_f32: Conv2d "P4" "tiled-symbol" "small", conv2d::TiledSymbol<f32, f32, false>, Buffer (f32, f32), Conv2dParams, Symbol, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_symbol_large_u8_u8: Conv2d "P4" "tiled-symbol" "large", conv2d::TiledSymbol<u8, u8, true>, Buffer (u8, u8), Conv2dParams, Symbol, [32, 32], MASK_TILE, 2;
            conv2d_tiled_symbol_large_u8_f32: Conv2d "P4" "tiled-symbol" "large", conv2d::TiledSymbol<u8, f32, true>, Buffer (u8, f32), Conv2dParams, Symbol, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_symbol_large_f32_f32: Conv2d "P4" "tiled-symbol" "large", conv2d::TiledSymbol<f32, f32, true>, Buffer (f32, f32), Conv2dParams, Symbol, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_small_u8_u8: Conv2d "P4" "tiled" "small", conv2d::Tiled<u8, u8, false>, Buffer (u8, u8), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_small_u8_u16: Conv2d "P4" "tiled" "small", conv2d::Tiled<u8, u16, false>, Buffer (u8, u16), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_small_u8_i16: Conv2d "P4" "tiled" "small", conv2d::Tiled<u8, i16, false>, Buffer (u8, i16), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_small_u8_f32: Conv2d "P4" "tiled" "small", conv2d::Tiled<u8, f32, false>, Buffer (u8, f32), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_small_f32_u8: Conv2d "P4" "tiled" "small", conv2d::Tiled<f32, u8, false>, Buffer (f32, u8), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_small_f32_u16: Conv2d "P4" "tiled" "small", conv2d::Tiled<f32, u16, false>, Buffer (f32, u16), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_small_f32_i16: Conv2d "P4" "tiled" "small", conv2d::Tiled<f32, i16, false>, Buffer (f32, i16), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_small_f32_f32: Conv2d "P4" "tiled" "small", conv2d::Tiled<f32, f32, false>, Buffer (f32, f32), Conv2dParams, SmallParameter, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_large_u8_u8: Conv2d "P4" "tiled" "large", conv2d::Tiled<u8, u8, true>, Buffer (u8, u8), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_large_u8_u16: Conv2d "P4" "tiled" "large", conv2d::Tiled<u8, u16, true>, Buffer (u8, u16), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_large_u8_i16: Conv2d "P4" "tiled" "large", conv2d::Tiled<u8, i16, true>, Buffer (u8, i16), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_large_u8_f32: Conv2d "P4" "tiled" "large", conv2d::Tiled<u8, f32, true>, Buffer (u8, f32), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2, 2;
            conv2d_tiled_large_f32_u8: Conv2d "P4" "tiled" "large", conv2d::Tiled<f32, u8, true>, Buffer (f32, u8), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_large_f32_u16: Conv2d "P4" "tiled" "large", conv2d::Tiled<f32, u16, true>, Buffer (f32, u16), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_large_f32_i16: Conv2d "P4" "tiled" "large", conv2d::Tiled<f32, i16, true>, Buffer (f32, i16), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2;
            conv2d_tiled_large_f32_f32: Conv2d "P4" "tiled" "large", conv2d::Tiled<f32, f32, true>, Buffer (f32, f32), Conv2dParams, Parameter, [32, 32], MASK_TILE, 2, 2;
            march_separable_3_c1_f32_f32: March "-" "march-separable" "3x1", march::Separable<f32, 4, 3, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 3, 1), 2;
            march_separable_3_c1_any_f32_f32: March "-" "march-separable" "3x1-any", march::Separable<f32, 4, 3, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 3, 1), 2;
            march_separable_5_c1_f32_f32: March "-" "march-separable" "5x1", march::Separable<f32, 4, 5, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 5, 1), 2;
            march_separable_5_c1_any_f32_f32: March "-" "march-separable" "5x1-any", march::Separable<f32, 4, 5, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 5, 1), 2;
            march_separable_7_c1_f32_f32: March "-" "march-separable" "7x1", march::Separable<f32, 4, 7, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 7, 1), 2;
            march_separable_7_c1_any_f32_f32: March "-" "march-separable" "7x1-any", march::Separable<f32, 4, 7, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 7, 1), 2;
            march_separable_9_c1_f32_f32: March "-" "march-separable" "9x1", march::Separable<f32, 4, 9, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 9, 1), 2;
            march_separable_9_c1_any_f32_f32: March "-" "march-separable" "9x1-any", march::Separable<f32, 4, 9, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 9, 1), 2;
            march_separable_11_c1_f32_f32: March "-" "march-separable" "11x1", march::Separable<f32, 4, 11, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 11, 1), 2;
            march_separable_11_c1_any_f32_f32: March "-" "march-separable" "11x1-any", march::Separable<f32, 4, 11, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 11, 1), 2;
            march_separable_13_c1_f32_f32: March "-" "march-separable" "13x1", march::Separable<f32, 4, 13, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 13, 1), 2;
            march_separable_13_c1_any_f32_f32: March "-" "march-separable" "13x1-any", march::Separable<f32, 4, 13, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 13, 1), 2;
            march_separable_15_c1_f32_f32: March "-" "march-separable" "15x1", march::Separable<f32, 4, 15, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 15, 1), 2;
            march_separable_15_c1_any_f32_f32: March "-" "march-separable" "15x1-any", march::Separable<f32, 4, 15, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 15, 1), 2;
            march_separable_17_c1_f32_f32: March "-" "march-separable" "17x1", march::Separable<f32, 4, 17, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 17, 1), 2;
            march_separable_17_c1_any_f32_f32: March "-" "march-separable" "17x1-any", march::Separable<f32, 4, 17, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 17, 1), 2;
            march_separable_19_c1_f32_f32: March "-" "march-separable" "19x1", march::Separable<f32, 4, 19, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 19, 1), 2, 3;
            march_separable_19_c1_any_f32_f32: March "-" "march-separable" "19x1-any", march::Separable<f32, 4, 19, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 19, 1), 2, 3;
            march_separable_21_c1_f32_f32: March "-" "march-separable" "21x1", march::Separable<f32, 4, 21, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 21, 1), 2, 3;
            march_separable_21_c1_any_f32_f32: March "-" "march-separable" "21x1-any", march::Separable<f32, 4, 21, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 21, 1), 2, 3;
            march_separable_23_c1_f32_f32: March "-" "march-separable" "23x1", march::Separable<f32, 4, 23, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 23, 1), 2, 3;
            march_separable_23_c1_any_f32_f32: March "-" "march-separable" "23x1-any", march::Separable<f32, 4, 23, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 23, 1), 2, 3;
            march_separable_25_c1_f32_f32: March "-" "march-separable" "25x1", march::Separable<f32, 4, 25, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 25, 1), 2, 3;
            march_separable_25_c1_any_f32_f32: March "-" "march-separable" "25x1-any", march::Separable<f32, 4, 25, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 25, 1), 2, 3;
            march_separable_27_c1_f32_f32: March "-" "march-separable" "27x1", march::Separable<f32, 4, 27, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 27, 1), 2, 3;
            march_separable_27_c1_any_f32_f32: March "-" "march-separable" "27x1-any", march::Separable<f32, 4, 27, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 27, 1), 2, 3;
            march_separable_29_c1_f32_f32: March "-" "march-separable" "29x1", march::Separable<f32, 4, 29, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 29, 1), 2, 3;
            march_separable_29_c1_any_f32_f32: March "-" "march-separable" "29x1-any", march::Separable<f32, 4, 29, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 29, 1), 2, 3;
            march_separable_31_c1_f32_f32: March "-" "march-separable" "31x1", march::Separable<f32, 4, 31, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 31, 1), 2, 3;
            march_separable_31_c1_any_f32_f32: March "-" "march-separable" "31x1-any", march::Separable<f32, 4, 31, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 31, 1), 2, 3;
            march_separable_33_c1_f32_f32: March "-" "march-separable" "33x1", march::Separable<f32, 4, 33, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 33, 1), 2;
            march_separable_33_c1_any_f32_f32: March "-" "march-separable" "33x1-any", march::Separable<f32, 4, 33, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 33, 1), 2;
            march_separable_35_c1_f32_f32: March "-" "march-separable" "35x1", march::Separable<f32, 2, 35, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 35, 1), 2, 3;
            march_separable_37_c1_f32_f32: March "-" "march-separable" "37x1", march::Separable<f32, 2, 37, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 37, 1), 2, 3;
            march_separable_39_c1_f32_f32: March "-" "march-separable" "39x1", march::Separable<f32, 2, 39, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 39, 1), 2, 3;
            march_separable_41_c1_f32_f32: March "-" "march-separable" "41x1", march::Separable<f32, 2, 41, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 41, 1), 2, 3;
            march_separable_43_c1_f32_f32: March "-" "march-separable" "43x1", march::Separable<f32, 2, 43, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 43, 1), 2, 3;
            march_separable_45_c1_f32_f32: March "-" "march-separable" "45x1", march::Separable<f32, 2, 45, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 45, 1), 2, 3;
            march_separable_47_c1_f32_f32: March "-" "march-separable" "47x1", march::Separable<f32, 2, 47, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 47, 1), 2, 3;
            march_separable_49_c1_f32_f32: March "-" "march-separable" "49x1", march::Separable<f32, 2, 49, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 49, 1), 2, 3;
            march_separable_51_c1_f32_f32: March "-" "march-separable" "51x1", march::Separable<f32, 2, 51, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 51, 1), 2, 3;
            march_separable_53_c1_f32_f32: March "-" "march-separable" "53x1", march::Separable<f32, 2, 53, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 53, 1), 2, 3;
            march_separable_55_c1_f32_f32: March "-" "march-separable" "55x1", march::Separable<f32, 2, 55, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 55, 1), 2, 3;
            march_separable_57_c1_f32_f32: March "-" "march-separable" "57x1", march::Separable<f32, 2, 57, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 57, 1), 2, 3;
            march_separable_59_c1_f32_f32: March "-" "march-separable" "59x1", march::Separable<f32, 2, 59, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 59, 1), 2, 3;
            march_separable_61_c1_f32_f32: March "-" "march-separable" "61x1", march::Separable<f32, 2, 61, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 61, 1), 2, 3;
            march_separable_63_c1_f32_f32: March "-" "march-separable" "63x1", march::Separable<f32, 2, 63, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 63, 1), 2, 2;
            march_separable_65_c1_f32_f32: March "-" "march-separable" "65x1", march::Separable<f32, 2, 65, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 65, 1), 2, 2;
            march_separable_3_c3_f32_f32: March "-" "march-separable" "3x3", march::Separable<f32, 4, 3, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 3, 3), 2;
            march_separable_3_c3_any_f32_f32: March "-" "march-separable" "3x3-any", march::Separable<f32, 4, 3, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 3, 3), 2;
            march_separable_5_c3_f32_f32: March "-" "march-separable" "5x3", march::Separable<f32, 4, 5, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 5, 3), 2;
            march_separable_5_c3_any_f32_f32: March "-" "march-separable" "5x3-any", march::Separable<f32, 4, 5, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 5, 3), 2;
            march_separable_7_c3_f32_f32: March "-" "march-separable" "7x3", march::Separable<f32, 4, 7, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 7, 3), 2;
            march_separable_7_c3_any_f32_f32: March "-" "march-separable" "7x3-any", march::Separable<f32, 4, 7, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 7, 3), 2;
            march_separable_9_c3_f32_f32: March "-" "march-separable" "9x3", march::Separable<f32, 4, 9, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 9, 3), 2;
            march_separable_9_c3_any_f32_f32: March "-" "march-separable" "9x3-any", march::Separable<f32, 4, 9, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 9, 3), 2;
            march_separable_11_c3_f32_f32: March "-" "march-separable" "11x3", march::Separable<f32, 4, 11, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 11, 3), 2;
            march_separable_11_c3_any_f32_f32: March "-" "march-separable" "11x3-any", march::Separable<f32, 4, 11, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 11, 3), 2;
            march_separable_13_c3_f32_f32: March "-" "march-separable" "13x3", march::Separable<f32, 4, 13, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 13, 3), 2;
            march_separable_13_c3_any_f32_f32: March "-" "march-separable" "13x3-any", march::Separable<f32, 4, 13, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 13, 3), 2;
            march_separable_15_c3_f32_f32: March "-" "march-separable" "15x3", march::Separable<f32, 4, 15, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 15, 3), 2;
            march_separable_15_c3_any_f32_f32: March "-" "march-separable" "15x3-any", march::Separable<f32, 4, 15, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 15, 3), 2;
            march_separable_17_c3_f32_f32: March "-" "march-separable" "17x3", march::Separable<f32, 4, 17, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 17, 3), 2;
            march_separable_17_c3_any_f32_f32: March "-" "march-separable" "17x3-any", march::Separable<f32, 4, 17, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 17, 3), 2;
            march_separable_3_c4_f32_f32: March "-" "march-separable" "3x4", march::Separable<f32, 4, 3, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 3, 4), 2;
            march_separable_5_c4_f32_f32: March "-" "march-separable" "5x4", march::Separable<f32, 4, 5, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 5, 4), 2;
            march_separable_7_c4_f32_f32: March "-" "march-separable" "7x4", march::Separable<f32, 4, 7, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 7, 4), 2;
            march_separable_9_c4_f32_f32: March "-" "march-separable" "9x4", march::Separable<f32, 4, 9, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 9, 4), 2;
            march_separable_11_c4_f32_f32: March "-" "march-separable" "11x4", march::Separable<f32, 4, 11, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 11, 4), 2;
            march_separable_13_c4_f32_f32: March "-" "march-separable" "13x4", march::Separable<f32, 4, 13, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 13, 4), 2;
            march_separable_15_c4_f32_f32: March "-" "march-separable" "15x4", march::Separable<f32, 4, 15, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 15, 4), 2;
            march_separable_17_c4_f32_f32: March "-" "march-separable" "17x4", march::Separable<f32, 4, 17, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], separable(ElementType::F32, 17, 4), 2;
            march_dense_3_c1_f32_f32: March "-" "march-dense" "3x1", march::Dense<f32, 4, 3, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 3, 1), 2;
            march_dense_3_c1_any_f32_f32: March "-" "march-dense" "3x1-any", march::Dense<f32, 4, 3, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 3, 1), 2;
            march_dense_5_c1_f32_f32: March "-" "march-dense" "5x1", march::Dense<f32, 4, 5, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 5, 1), 2;
            march_dense_5_c1_any_f32_f32: March "-" "march-dense" "5x1-any", march::Dense<f32, 4, 5, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 5, 1), 2;
            march_dense_7_c1_f32_f32: March "-" "march-dense" "7x1", march::Dense<f32, 4, 7, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 7, 1), 2;
            march_dense_7_c1_any_f32_f32: March "-" "march-dense" "7x1-any", march::Dense<f32, 4, 7, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 7, 1), 2;
            march_dense_9_c1_f32_f32: March "-" "march-dense" "9x1", march::Dense<f32, 4, 9, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 9, 1), 2;
            march_dense_9_c1_any_f32_f32: March "-" "march-dense" "9x1-any", march::Dense<f32, 4, 9, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 9, 1), 2;
            march_dense_11_c1_f32_f32: March "-" "march-dense" "11x1", march::Dense<f32, 4, 11, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 11, 1), 2;
            march_dense_11_c1_any_f32_f32: March "-" "march-dense" "11x1-any", march::Dense<f32, 4, 11, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 11, 1), 2;
            march_dense_13_c1_f32_f32: March "-" "march-dense" "13x1", march::Dense<f32, 4, 13, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 13, 1), 2;
            march_dense_13_c1_any_f32_f32: March "-" "march-dense" "13x1-any", march::Dense<f32, 4, 13, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 13, 1), 2;
            march_dense_15_c1_f32_f32: March "-" "march-dense" "15x1", march::Dense<f32, 4, 15, 1>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 15, 1), 2;
            march_dense_15_c1_any_f32_f32: March "-" "march-dense" "15x1-any", march::Dense<f32, 4, 15, 1, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 15, 1), 2;
            march_dense_3_c3_f32_f32: March "-" "march-dense" "3x3", march::Dense<f32, 4, 3, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 3, 3), 2;
            march_dense_3_c3_any_f32_f32: March "-" "march-dense" "3x3-any", march::Dense<f32, 4, 3, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 3, 3), 2;
            march_dense_5_c3_f32_f32: March "-" "march-dense" "5x3", march::Dense<f32, 4, 5, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 5, 3), 2;
            march_dense_5_c3_any_f32_f32: March "-" "march-dense" "5x3-any", march::Dense<f32, 4, 5, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 5, 3), 2;
            march_dense_7_c3_f32_f32: March "-" "march-dense" "7x3", march::Dense<f32, 4, 7, 3>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 7, 3), 2;
            march_dense_7_c3_any_f32_f32: March "-" "march-dense" "7x3-any", march::Dense<f32, 4, 7, 3, false>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 7, 3), 2;
            march_dense_3_c4_f32_f32: March "-" "march-dense" "3x4", march::Dense<f32, 4, 3, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 3, 4), 2;
            march_dense_5_c4_f32_f32: March "-" "march-dense" "5x4", march::Dense<f32, 4, 5, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 5, 4), 2;
            march_dense_7_c4_f32_f32: March "-" "march-dense" "7x4", march::Dense<f32, 4, 7, 4>, Buffer (f32, f32), MarchParams, SmallParameter, [128, 1], dense(ElementType::F32, 7, 4), 2;
            march_separable_3_c1_u8_u8: March "-" "march-separable" "3x1", march::Separable<u8, 16, 3, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 1), 2, 4;
            march_separable_3_c1_any_u8_u8: March "-" "march-separable" "3x1-any", march::Separable<u8, 16, 3, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 1), 3, 4;
            march_separable_5_c1_u8_u8: March "-" "march-separable" "5x1", march::Separable<u8, 16, 5, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 1), 2, 4;
            march_separable_5_c1_any_u8_u8: March "-" "march-separable" "5x1-any", march::Separable<u8, 16, 5, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 1), 3, 4;
            march_separable_7_c1_u8_u8: March "-" "march-separable" "7x1", march::Separable<u8, 16, 7, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 1), 2, 3;
            march_separable_7_c1_any_u8_u8: March "-" "march-separable" "7x1-any", march::Separable<u8, 16, 7, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 1), 3, 3;
            march_separable_9_c1_u8_u8: March "-" "march-separable" "9x1", march::Separable<u8, 8, 9, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 1), 2, 4;
            march_separable_9_c1_any_u8_u8: March "-" "march-separable" "9x1-any", march::Separable<u8, 8, 9, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 1), 3, 4;
            march_separable_11_c1_u8_u8: March "-" "march-separable" "11x1", march::Separable<u8, 8, 11, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 1), 2, 3;
            march_separable_11_c1_any_u8_u8: March "-" "march-separable" "11x1-any", march::Separable<u8, 8, 11, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 1), 3, 3;
            march_separable_13_c1_u8_u8: March "-" "march-separable" "13x1", march::Separable<u8, 8, 13, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 1), 2, 3;
            march_separable_13_c1_any_u8_u8: March "-" "march-separable" "13x1-any", march::Separable<u8, 8, 13, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 1), 3, 3;
            march_separable_15_c1_u8_u8: March "-" "march-separable" "15x1", march::Separable<u8, 8, 15, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 1), 2, 3;
            march_separable_15_c1_any_u8_u8: March "-" "march-separable" "15x1-any", march::Separable<u8, 8, 15, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 1), 3, 3;
            march_separable_17_c1_u8_u8: March "-" "march-separable" "17x1", march::Separable<u8, 8, 17, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 1), 2, 2;
            march_separable_17_c1_any_u8_u8: March "-" "march-separable" "17x1-any", march::Separable<u8, 8, 17, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 1), 3, 2;
            march_separable_3_c2_u8_u8: March "-" "march-separable" "3x2", march::Separable<u8, 16, 3, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 2), 2, 4;
            march_separable_3_c2_any_u8_u8: March "-" "march-separable" "3x2-any", march::Separable<u8, 16, 3, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 2), 3, 4;
            march_separable_5_c2_u8_u8: March "-" "march-separable" "5x2", march::Separable<u8, 16, 5, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 2), 2, 4;
            march_separable_5_c2_any_u8_u8: March "-" "march-separable" "5x2-any", march::Separable<u8, 16, 5, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 2), 3, 4;
            march_separable_7_c2_u8_u8: March "-" "march-separable" "7x2", march::Separable<u8, 16, 7, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 2), 2, 3;
            march_separable_7_c2_any_u8_u8: March "-" "march-separable" "7x2-any", march::Separable<u8, 16, 7, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 2), 3, 3;
            march_separable_9_c2_u8_u8: March "-" "march-separable" "9x2", march::Separable<u8, 8, 9, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 2), 2, 4;
            march_separable_9_c2_any_u8_u8: March "-" "march-separable" "9x2-any", march::Separable<u8, 8, 9, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 2), 3, 4;
            march_separable_11_c2_u8_u8: March "-" "march-separable" "11x2", march::Separable<u8, 8, 11, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 2), 2, 3;
            march_separable_11_c2_any_u8_u8: March "-" "march-separable" "11x2-any", march::Separable<u8, 8, 11, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 2), 3, 3;
            march_separable_13_c2_u8_u8: March "-" "march-separable" "13x2", march::Separable<u8, 8, 13, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 2), 2, 3;
            march_separable_13_c2_any_u8_u8: March "-" "march-separable" "13x2-any", march::Separable<u8, 8, 13, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 2), 3, 3;
            march_separable_15_c2_u8_u8: March "-" "march-separable" "15x2", march::Separable<u8, 8, 15, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 2), 2, 3;
            march_separable_15_c2_any_u8_u8: March "-" "march-separable" "15x2-any", march::Separable<u8, 8, 15, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 2), 3, 3;
            march_separable_17_c2_u8_u8: March "-" "march-separable" "17x2", march::Separable<u8, 8, 17, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 2), 2, 2;
            march_separable_17_c2_any_u8_u8: March "-" "march-separable" "17x2-any", march::Separable<u8, 8, 17, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 2), 3, 2;
            march_separable_3_c3_u8_u8: March "-" "march-separable" "3x3", march::Separable<u8, 16, 3, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 3), 2, 4;
            march_separable_3_c3_any_u8_u8: March "-" "march-separable" "3x3-any", march::Separable<u8, 16, 3, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 3), 3, 4;
            march_separable_5_c3_u8_u8: March "-" "march-separable" "5x3", march::Separable<u8, 16, 5, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 3), 2, 4;
            march_separable_5_c3_any_u8_u8: March "-" "march-separable" "5x3-any", march::Separable<u8, 16, 5, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 3), 3, 4;
            march_separable_7_c3_u8_u8: March "-" "march-separable" "7x3", march::Separable<u8, 16, 7, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 3), 2, 3;
            march_separable_7_c3_any_u8_u8: March "-" "march-separable" "7x3-any", march::Separable<u8, 16, 7, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 3), 3, 3;
            march_separable_9_c3_u8_u8: March "-" "march-separable" "9x3", march::Separable<u8, 8, 9, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 3), 2, 4;
            march_separable_9_c3_any_u8_u8: March "-" "march-separable" "9x3-any", march::Separable<u8, 8, 9, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 3), 3, 4;
            march_separable_11_c3_u8_u8: March "-" "march-separable" "11x3", march::Separable<u8, 8, 11, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 3), 2, 3;
            march_separable_11_c3_any_u8_u8: March "-" "march-separable" "11x3-any", march::Separable<u8, 8, 11, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 3), 3, 3;
            march_separable_13_c3_u8_u8: March "-" "march-separable" "13x3", march::Separable<u8, 8, 13, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 3), 2, 3;
            march_separable_13_c3_any_u8_u8: March "-" "march-separable" "13x3-any", march::Separable<u8, 8, 13, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 3), 3, 3;
            march_separable_15_c3_u8_u8: March "-" "march-separable" "15x3", march::Separable<u8, 8, 15, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 3), 2, 3;
            march_separable_15_c3_any_u8_u8: March "-" "march-separable" "15x3-any", march::Separable<u8, 8, 15, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 3), 3, 3;
            march_separable_17_c3_u8_u8: March "-" "march-separable" "17x3", march::Separable<u8, 8, 17, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 3), 2, 2;
            march_separable_17_c3_any_u8_u8: March "-" "march-separable" "17x3-any", march::Separable<u8, 8, 17, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 3), 3, 2;
            march_separable_3_c4_u8_u8: March "-" "march-separable" "3x4", march::Separable<u8, 16, 3, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 4), 2, 4;
            march_separable_3_c4_any_u8_u8: March "-" "march-separable" "3x4-any", march::Separable<u8, 16, 3, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 3, 4), 3, 4;
            march_separable_5_c4_u8_u8: March "-" "march-separable" "5x4", march::Separable<u8, 16, 5, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 4), 2, 4;
            march_separable_5_c4_any_u8_u8: March "-" "march-separable" "5x4-any", march::Separable<u8, 16, 5, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 5, 4), 3, 4;
            march_separable_7_c4_u8_u8: March "-" "march-separable" "7x4", march::Separable<u8, 16, 7, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 4), 2, 3;
            march_separable_7_c4_any_u8_u8: March "-" "march-separable" "7x4-any", march::Separable<u8, 16, 7, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 7, 4), 3, 3;
            march_separable_9_c4_u8_u8: March "-" "march-separable" "9x4", march::Separable<u8, 8, 9, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 4), 2, 4;
            march_separable_9_c4_any_u8_u8: March "-" "march-separable" "9x4-any", march::Separable<u8, 8, 9, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 9, 4), 3, 4;
            march_separable_11_c4_u8_u8: March "-" "march-separable" "11x4", march::Separable<u8, 8, 11, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 4), 2, 3;
            march_separable_11_c4_any_u8_u8: March "-" "march-separable" "11x4-any", march::Separable<u8, 8, 11, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 11, 4), 3, 3;
            march_separable_13_c4_u8_u8: March "-" "march-separable" "13x4", march::Separable<u8, 8, 13, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 4), 2, 3;
            march_separable_13_c4_any_u8_u8: March "-" "march-separable" "13x4-any", march::Separable<u8, 8, 13, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 13, 4), 3, 3;
            march_separable_15_c4_u8_u8: March "-" "march-separable" "15x4", march::Separable<u8, 8, 15, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 4), 2, 3;
            march_separable_15_c4_any_u8_u8: March "-" "march-separable" "15x4-any", march::Separable<u8, 8, 15, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 15, 4), 3, 3;
            march_separable_17_c4_u8_u8: March "-" "march-separable" "17x4", march::Separable<u8, 8, 17, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 4), 2, 2;
            march_separable_17_c4_any_u8_u8: March "-" "march-separable" "17x4-any", march::Separable<u8, 8, 17, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable(ElementType::U8, 17, 4), 3, 2;
            march_dense_3_c1_u8_u8: March "-" "march-dense" "3x1", march::Dense<u8, 16, 3, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 1), 2, 4;
            march_dense_3_c1_any_u8_u8: March "-" "march-dense" "3x1-any", march::Dense<u8, 16, 3, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 1), 3, 4;
            march_dense_5_c1_u8_u8: March "-" "march-dense" "5x1", march::Dense<u8, 16, 5, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 1), 2, 3;
            march_dense_5_c1_any_u8_u8: March "-" "march-dense" "5x1-any", march::Dense<u8, 16, 5, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 1), 3, 3;
            march_dense_7_c1_u8_u8: March "-" "march-dense" "7x1", march::Dense<u8, 8, 7, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 1), 2, 4;
            march_dense_7_c1_any_u8_u8: March "-" "march-dense" "7x1-any", march::Dense<u8, 8, 7, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 1), 3, 4;
            march_dense_3_c2_u8_u8: March "-" "march-dense" "3x2", march::Dense<u8, 16, 3, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 2), 2, 4;
            march_dense_3_c2_any_u8_u8: March "-" "march-dense" "3x2-any", march::Dense<u8, 16, 3, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 2), 3, 4;
            march_dense_5_c2_u8_u8: March "-" "march-dense" "5x2", march::Dense<u8, 16, 5, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 2), 2, 3;
            march_dense_5_c2_any_u8_u8: March "-" "march-dense" "5x2-any", march::Dense<u8, 16, 5, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 2), 3, 3;
            march_dense_7_c2_u8_u8: March "-" "march-dense" "7x2", march::Dense<u8, 8, 7, 2>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 2), 2, 4;
            march_dense_7_c2_any_u8_u8: March "-" "march-dense" "7x2-any", march::Dense<u8, 8, 7, 2, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 2), 3, 4;
            march_dense_3_c3_u8_u8: March "-" "march-dense" "3x3", march::Dense<u8, 16, 3, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 3), 2, 4;
            march_dense_3_c3_any_u8_u8: March "-" "march-dense" "3x3-any", march::Dense<u8, 16, 3, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 3), 3, 4;
            march_dense_5_c3_u8_u8: March "-" "march-dense" "5x3", march::Dense<u8, 16, 5, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 3), 2, 3;
            march_dense_5_c3_any_u8_u8: March "-" "march-dense" "5x3-any", march::Dense<u8, 16, 5, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 3), 3, 3;
            march_dense_7_c3_u8_u8: March "-" "march-dense" "7x3", march::Dense<u8, 8, 7, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 3), 2, 4;
            march_dense_7_c3_any_u8_u8: March "-" "march-dense" "7x3-any", march::Dense<u8, 8, 7, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 3), 3, 4;
            march_dense_3_c4_u8_u8: March "-" "march-dense" "3x4", march::Dense<u8, 16, 3, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 4), 2, 4;
            march_dense_3_c4_any_u8_u8: March "-" "march-dense" "3x4-any", march::Dense<u8, 16, 3, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 3, 4), 3, 4;
            march_dense_5_c4_u8_u8: March "-" "march-dense" "5x4", march::Dense<u8, 16, 5, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 4), 2, 3;
            march_dense_5_c4_any_u8_u8: March "-" "march-dense" "5x4-any", march::Dense<u8, 16, 5, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 5, 4), 3, 3;
            march_dense_7_c4_u8_u8: March "-" "march-dense" "7x4", march::Dense<u8, 8, 7, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 4), 2, 4;
            march_dense_7_c4_any_u8_u8: March "-" "march-dense" "7x4-any", march::Dense<u8, 8, 7, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense(ElementType::U8, 7, 4), 3, 4;
            march_separable_f64_3_c1_u8_u8: March "-" "f64-separable" "3x1", march::Separable<march::Doubles<u8>, 8, 3, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 3, 1), 2, 4;
            march_separable_f64_3_c1_any_u8_u8: March "-" "f64-separable" "3x1-any", march::Separable<march::Doubles<u8>, 8, 3, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 3, 1), 3, 4;
            march_separable_f64_3_c3_u8_u8: March "-" "f64-separable" "3x3", march::Separable<march::Doubles<u8>, 8, 3, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 3, 3), 2, 4;
            march_separable_f64_3_c3_any_u8_u8: March "-" "f64-separable" "3x3-any", march::Separable<march::Doubles<u8>, 8, 3, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 3, 3), 3, 4;
            march_separable_f64_3_c4_u8_u8: March "-" "f64-separable" "3x4", march::Separable<march::Doubles<u8>, 8, 3, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 3, 4), 2, 4;
            march_separable_f64_3_c4_any_u8_u8: March "-" "f64-separable" "3x4-any", march::Separable<march::Doubles<u8>, 8, 3, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 3, 4), 3, 4;
            march_separable_f64_5_c1_u8_u8: March "-" "f64-separable" "5x1", march::Separable<march::Doubles<u8>, 8, 5, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 5, 1), 2, 3;
            march_separable_f64_5_c1_any_u8_u8: March "-" "f64-separable" "5x1-any", march::Separable<march::Doubles<u8>, 8, 5, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 5, 1), 3, 3;
            march_separable_f64_5_c3_u8_u8: March "-" "f64-separable" "5x3", march::Separable<march::Doubles<u8>, 8, 5, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 5, 3), 2, 3;
            march_separable_f64_5_c3_any_u8_u8: March "-" "f64-separable" "5x3-any", march::Separable<march::Doubles<u8>, 8, 5, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 5, 3), 3, 3;
            march_separable_f64_5_c4_u8_u8: March "-" "f64-separable" "5x4", march::Separable<march::Doubles<u8>, 8, 5, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 5, 4), 2, 3;
            march_separable_f64_5_c4_any_u8_u8: March "-" "f64-separable" "5x4-any", march::Separable<march::Doubles<u8>, 8, 5, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 5, 4), 3, 3;
            march_separable_f64_7_c1_u8_u8: March "-" "f64-separable" "7x1", march::Separable<march::Doubles<u8>, 8, 7, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 7, 1), 2, 3;
            march_separable_f64_7_c1_any_u8_u8: March "-" "f64-separable" "7x1-any", march::Separable<march::Doubles<u8>, 8, 7, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 7, 1), 3, 3;
            march_separable_f64_7_c3_u8_u8: March "-" "f64-separable" "7x3", march::Separable<march::Doubles<u8>, 8, 7, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 7, 3), 2, 3;
            march_separable_f64_7_c3_any_u8_u8: March "-" "f64-separable" "7x3-any", march::Separable<march::Doubles<u8>, 8, 7, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 7, 3), 3, 3;
            march_separable_f64_7_c4_u8_u8: March "-" "f64-separable" "7x4", march::Separable<march::Doubles<u8>, 8, 7, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 7, 4), 2, 3;
            march_separable_f64_7_c4_any_u8_u8: March "-" "f64-separable" "7x4-any", march::Separable<march::Doubles<u8>, 8, 7, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 7, 4), 3, 3;
            march_separable_f64_9_c1_u8_u8: March "-" "f64-separable" "9x1", march::Separable<march::Doubles<u8>, 4, 9, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 9, 1), 2, 3;
            march_separable_f64_9_c1_any_u8_u8: March "-" "f64-separable" "9x1-any", march::Separable<march::Doubles<u8>, 4, 9, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 9, 1), 3, 3;
            march_separable_f64_9_c3_u8_u8: March "-" "f64-separable" "9x3", march::Separable<march::Doubles<u8>, 4, 9, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 9, 3), 2, 3;
            march_separable_f64_9_c3_any_u8_u8: March "-" "f64-separable" "9x3-any", march::Separable<march::Doubles<u8>, 4, 9, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 9, 3), 3, 3;
            march_separable_f64_9_c4_u8_u8: March "-" "f64-separable" "9x4", march::Separable<march::Doubles<u8>, 4, 9, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 9, 4), 2, 3;
            march_separable_f64_9_c4_any_u8_u8: March "-" "f64-separable" "9x4-any", march::Separable<march::Doubles<u8>, 4, 9, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 9, 4), 3, 3;
            march_separable_f64_11_c1_u8_u8: March "-" "f64-separable" "11x1", march::Separable<march::Doubles<u8>, 4, 11, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 11, 1), 2, 3;
            march_separable_f64_11_c1_any_u8_u8: March "-" "f64-separable" "11x1-any", march::Separable<march::Doubles<u8>, 4, 11, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 11, 1), 3, 3;
            march_separable_f64_11_c3_u8_u8: March "-" "f64-separable" "11x3", march::Separable<march::Doubles<u8>, 4, 11, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 11, 3), 2, 3;
            march_separable_f64_11_c3_any_u8_u8: March "-" "f64-separable" "11x3-any", march::Separable<march::Doubles<u8>, 4, 11, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 11, 3), 3, 3;
            march_separable_f64_11_c4_u8_u8: March "-" "f64-separable" "11x4", march::Separable<march::Doubles<u8>, 4, 11, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 11, 4), 2, 3;
            march_separable_f64_11_c4_any_u8_u8: March "-" "f64-separable" "11x4-any", march::Separable<march::Doubles<u8>, 4, 11, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 11, 4), 3, 3;
            march_separable_f64_13_c1_u8_u8: March "-" "f64-separable" "13x1", march::Separable<march::Doubles<u8>, 4, 13, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 13, 1), 2, 3;
            march_separable_f64_13_c1_any_u8_u8: March "-" "f64-separable" "13x1-any", march::Separable<march::Doubles<u8>, 4, 13, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 13, 1), 3, 3;
            march_separable_f64_13_c3_u8_u8: March "-" "f64-separable" "13x3", march::Separable<march::Doubles<u8>, 4, 13, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 13, 3), 2, 3;
            march_separable_f64_13_c3_any_u8_u8: March "-" "f64-separable" "13x3-any", march::Separable<march::Doubles<u8>, 4, 13, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 13, 3), 3, 3;
            march_separable_f64_13_c4_u8_u8: March "-" "f64-separable" "13x4", march::Separable<march::Doubles<u8>, 4, 13, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 13, 4), 2, 3;
            march_separable_f64_13_c4_any_u8_u8: March "-" "f64-separable" "13x4-any", march::Separable<march::Doubles<u8>, 4, 13, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 13, 4), 3, 3;
            march_separable_f64_15_c1_u8_u8: March "-" "f64-separable" "15x1", march::Separable<march::Doubles<u8>, 4, 15, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 15, 1), 2, 2;
            march_separable_f64_15_c1_any_u8_u8: March "-" "f64-separable" "15x1-any", march::Separable<march::Doubles<u8>, 4, 15, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 15, 1), 3, 2;
            march_separable_f64_15_c3_u8_u8: March "-" "f64-separable" "15x3", march::Separable<march::Doubles<u8>, 4, 15, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 15, 3), 2, 2;
            march_separable_f64_15_c3_any_u8_u8: March "-" "f64-separable" "15x3-any", march::Separable<march::Doubles<u8>, 4, 15, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 15, 3), 3, 2;
            march_separable_f64_15_c4_u8_u8: March "-" "f64-separable" "15x4", march::Separable<march::Doubles<u8>, 4, 15, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 15, 4), 2, 2;
            march_separable_f64_15_c4_any_u8_u8: March "-" "f64-separable" "15x4-any", march::Separable<march::Doubles<u8>, 4, 15, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 15, 4), 3, 2;
            march_separable_f64_17_c1_u8_u8: March "-" "f64-separable" "17x1", march::Separable<march::Doubles<u8>, 4, 17, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 17, 1), 2, 2;
            march_separable_f64_17_c1_any_u8_u8: March "-" "f64-separable" "17x1-any", march::Separable<march::Doubles<u8>, 4, 17, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 17, 1), 3, 2;
            march_separable_f64_17_c3_u8_u8: March "-" "f64-separable" "17x3", march::Separable<march::Doubles<u8>, 4, 17, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 17, 3), 2, 2;
            march_separable_f64_17_c3_any_u8_u8: March "-" "f64-separable" "17x3-any", march::Separable<march::Doubles<u8>, 4, 17, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 17, 3), 3, 2;
            march_separable_f64_17_c4_u8_u8: March "-" "f64-separable" "17x4", march::Separable<march::Doubles<u8>, 4, 17, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 17, 4), 2, 2;
            march_separable_f64_17_c4_any_u8_u8: March "-" "f64-separable" "17x4-any", march::Separable<march::Doubles<u8>, 4, 17, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U8, 17, 4), 3, 2;
            march_dense_f64_3_c1_u8_u8: March "-" "f64-dense" "3x1", march::Dense<march::Doubles<u8>, 8, 3, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 3, 1), 2, 4;
            march_dense_f64_3_c1_any_u8_u8: March "-" "f64-dense" "3x1-any", march::Dense<march::Doubles<u8>, 8, 3, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 3, 1), 3, 4;
            march_dense_f64_3_c3_u8_u8: March "-" "f64-dense" "3x3", march::Dense<march::Doubles<u8>, 8, 3, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 3, 3), 2, 4;
            march_dense_f64_3_c3_any_u8_u8: March "-" "f64-dense" "3x3-any", march::Dense<march::Doubles<u8>, 8, 3, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 3, 3), 3, 4;
            march_dense_f64_3_c4_u8_u8: March "-" "f64-dense" "3x4", march::Dense<march::Doubles<u8>, 8, 3, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 3, 4), 2, 4;
            march_dense_f64_3_c4_any_u8_u8: March "-" "f64-dense" "3x4-any", march::Dense<march::Doubles<u8>, 8, 3, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 3, 4), 3, 4;
            march_dense_f64_5_c1_u8_u8: March "-" "f64-dense" "5x1", march::Dense<march::Doubles<u8>, 8, 5, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 5, 1), 2, 3;
            march_dense_f64_5_c1_any_u8_u8: March "-" "f64-dense" "5x1-any", march::Dense<march::Doubles<u8>, 8, 5, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 5, 1), 3, 3;
            march_dense_f64_5_c3_u8_u8: March "-" "f64-dense" "5x3", march::Dense<march::Doubles<u8>, 8, 5, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 5, 3), 2, 3;
            march_dense_f64_5_c3_any_u8_u8: March "-" "f64-dense" "5x3-any", march::Dense<march::Doubles<u8>, 8, 5, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 5, 3), 3, 3;
            march_dense_f64_5_c4_u8_u8: March "-" "f64-dense" "5x4", march::Dense<march::Doubles<u8>, 8, 5, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 5, 4), 2, 3;
            march_dense_f64_5_c4_any_u8_u8: March "-" "f64-dense" "5x4-any", march::Dense<march::Doubles<u8>, 8, 5, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 5, 4), 3, 3;
            march_dense_f64_7_c1_u8_u8: March "-" "f64-dense" "7x1", march::Dense<march::Doubles<u8>, 8, 7, 1>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 7, 1), 2, 2;
            march_dense_f64_7_c1_any_u8_u8: March "-" "f64-dense" "7x1-any", march::Dense<march::Doubles<u8>, 8, 7, 1, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 7, 1), 3, 2;
            march_dense_f64_7_c3_u8_u8: March "-" "f64-dense" "7x3", march::Dense<march::Doubles<u8>, 8, 7, 3>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 7, 3), 2, 2;
            march_dense_f64_7_c3_any_u8_u8: March "-" "f64-dense" "7x3-any", march::Dense<march::Doubles<u8>, 8, 7, 3, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 7, 3), 3, 2;
            march_dense_f64_7_c4_u8_u8: March "-" "f64-dense" "7x4", march::Dense<march::Doubles<u8>, 8, 7, 4>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 7, 4), 2, 2;
            march_dense_f64_7_c4_any_u8_u8: March "-" "f64-dense" "7x4-any", march::Dense<march::Doubles<u8>, 8, 7, 4, false>, Buffer (u8, u8), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U8, 7, 4), 3, 2;
            march_separable_f64_3_c1_u16_u16: March "-" "f64-separable" "3x1", march::Separable<march::Doubles<u16>, 8, 3, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 3, 1), 2, 4;
            march_separable_f64_3_c1_any_u16_u16: March "-" "f64-separable" "3x1-any", march::Separable<march::Doubles<u16>, 8, 3, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 3, 1), 3, 4;
            march_separable_f64_3_c3_u16_u16: March "-" "f64-separable" "3x3", march::Separable<march::Doubles<u16>, 8, 3, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 3, 3), 2, 4;
            march_separable_f64_3_c3_any_u16_u16: March "-" "f64-separable" "3x3-any", march::Separable<march::Doubles<u16>, 8, 3, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 3, 3), 3, 4;
            march_separable_f64_3_c4_u16_u16: March "-" "f64-separable" "3x4", march::Separable<march::Doubles<u16>, 8, 3, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 3, 4), 2, 4;
            march_separable_f64_3_c4_any_u16_u16: March "-" "f64-separable" "3x4-any", march::Separable<march::Doubles<u16>, 8, 3, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 3, 4), 3, 4;
            march_separable_f64_5_c1_u16_u16: March "-" "f64-separable" "5x1", march::Separable<march::Doubles<u16>, 8, 5, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 5, 1), 2, 3;
            march_separable_f64_5_c1_any_u16_u16: March "-" "f64-separable" "5x1-any", march::Separable<march::Doubles<u16>, 8, 5, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 5, 1), 3, 3;
            march_separable_f64_5_c3_u16_u16: March "-" "f64-separable" "5x3", march::Separable<march::Doubles<u16>, 8, 5, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 5, 3), 2, 3;
            march_separable_f64_5_c3_any_u16_u16: March "-" "f64-separable" "5x3-any", march::Separable<march::Doubles<u16>, 8, 5, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 5, 3), 3, 3;
            march_separable_f64_5_c4_u16_u16: March "-" "f64-separable" "5x4", march::Separable<march::Doubles<u16>, 8, 5, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 5, 4), 2, 3;
            march_separable_f64_5_c4_any_u16_u16: March "-" "f64-separable" "5x4-any", march::Separable<march::Doubles<u16>, 8, 5, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 5, 4), 3, 3;
            march_separable_f64_7_c1_u16_u16: March "-" "f64-separable" "7x1", march::Separable<march::Doubles<u16>, 8, 7, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 7, 1), 2, 3;
            march_separable_f64_7_c1_any_u16_u16: March "-" "f64-separable" "7x1-any", march::Separable<march::Doubles<u16>, 8, 7, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 7, 1), 3, 3;
            march_separable_f64_7_c3_u16_u16: March "-" "f64-separable" "7x3", march::Separable<march::Doubles<u16>, 8, 7, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 7, 3), 2, 3;
            march_separable_f64_7_c3_any_u16_u16: March "-" "f64-separable" "7x3-any", march::Separable<march::Doubles<u16>, 8, 7, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 7, 3), 3, 3;
            march_separable_f64_7_c4_u16_u16: March "-" "f64-separable" "7x4", march::Separable<march::Doubles<u16>, 8, 7, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 7, 4), 2, 3;
            march_separable_f64_7_c4_any_u16_u16: March "-" "f64-separable" "7x4-any", march::Separable<march::Doubles<u16>, 8, 7, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 7, 4), 3, 3;
            march_separable_f64_9_c1_u16_u16: March "-" "f64-separable" "9x1", march::Separable<march::Doubles<u16>, 4, 9, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 9, 1), 2, 3;
            march_separable_f64_9_c1_any_u16_u16: March "-" "f64-separable" "9x1-any", march::Separable<march::Doubles<u16>, 4, 9, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 9, 1), 3, 3;
            march_separable_f64_9_c3_u16_u16: March "-" "f64-separable" "9x3", march::Separable<march::Doubles<u16>, 4, 9, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 9, 3), 2, 3;
            march_separable_f64_9_c3_any_u16_u16: March "-" "f64-separable" "9x3-any", march::Separable<march::Doubles<u16>, 4, 9, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 9, 3), 3, 3;
            march_separable_f64_9_c4_u16_u16: March "-" "f64-separable" "9x4", march::Separable<march::Doubles<u16>, 4, 9, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 9, 4), 2, 3;
            march_separable_f64_9_c4_any_u16_u16: March "-" "f64-separable" "9x4-any", march::Separable<march::Doubles<u16>, 4, 9, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 9, 4), 3, 3;
            march_separable_f64_11_c1_u16_u16: March "-" "f64-separable" "11x1", march::Separable<march::Doubles<u16>, 4, 11, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 11, 1), 2, 3;
            march_separable_f64_11_c1_any_u16_u16: March "-" "f64-separable" "11x1-any", march::Separable<march::Doubles<u16>, 4, 11, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 11, 1), 3, 3;
            march_separable_f64_11_c3_u16_u16: March "-" "f64-separable" "11x3", march::Separable<march::Doubles<u16>, 4, 11, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 11, 3), 2, 3;
            march_separable_f64_11_c3_any_u16_u16: March "-" "f64-separable" "11x3-any", march::Separable<march::Doubles<u16>, 4, 11, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 11, 3), 3, 3;
            march_separable_f64_11_c4_u16_u16: March "-" "f64-separable" "11x4", march::Separable<march::Doubles<u16>, 4, 11, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 11, 4), 2, 3;
            march_separable_f64_11_c4_any_u16_u16: March "-" "f64-separable" "11x4-any", march::Separable<march::Doubles<u16>, 4, 11, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 11, 4), 3, 3;
            march_separable_f64_13_c1_u16_u16: March "-" "f64-separable" "13x1", march::Separable<march::Doubles<u16>, 4, 13, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 13, 1), 2, 3;
            march_separable_f64_13_c1_any_u16_u16: March "-" "f64-separable" "13x1-any", march::Separable<march::Doubles<u16>, 4, 13, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 13, 1), 3, 3;
            march_separable_f64_13_c3_u16_u16: March "-" "f64-separable" "13x3", march::Separable<march::Doubles<u16>, 4, 13, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 13, 3), 2, 3;
            march_separable_f64_13_c3_any_u16_u16: March "-" "f64-separable" "13x3-any", march::Separable<march::Doubles<u16>, 4, 13, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 13, 3), 3, 3;
            march_separable_f64_13_c4_u16_u16: March "-" "f64-separable" "13x4", march::Separable<march::Doubles<u16>, 4, 13, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 13, 4), 2, 3;
            march_separable_f64_13_c4_any_u16_u16: March "-" "f64-separable" "13x4-any", march::Separable<march::Doubles<u16>, 4, 13, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 13, 4), 3, 3;
            march_separable_f64_15_c1_u16_u16: March "-" "f64-separable" "15x1", march::Separable<march::Doubles<u16>, 4, 15, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 15, 1), 2, 2;
            march_separable_f64_15_c1_any_u16_u16: March "-" "f64-separable" "15x1-any", march::Separable<march::Doubles<u16>, 4, 15, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 15, 1), 3, 2;
            march_separable_f64_15_c3_u16_u16: March "-" "f64-separable" "15x3", march::Separable<march::Doubles<u16>, 4, 15, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 15, 3), 2, 2;
            march_separable_f64_15_c3_any_u16_u16: March "-" "f64-separable" "15x3-any", march::Separable<march::Doubles<u16>, 4, 15, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 15, 3), 3, 2;
            march_separable_f64_15_c4_u16_u16: March "-" "f64-separable" "15x4", march::Separable<march::Doubles<u16>, 4, 15, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 15, 4), 2, 2;
            march_separable_f64_15_c4_any_u16_u16: March "-" "f64-separable" "15x4-any", march::Separable<march::Doubles<u16>, 4, 15, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 15, 4), 3, 2;
            march_separable_f64_17_c1_u16_u16: March "-" "f64-separable" "17x1", march::Separable<march::Doubles<u16>, 4, 17, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 17, 1), 2, 2;
            march_separable_f64_17_c1_any_u16_u16: March "-" "f64-separable" "17x1-any", march::Separable<march::Doubles<u16>, 4, 17, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 17, 1), 3, 2;
            march_separable_f64_17_c3_u16_u16: March "-" "f64-separable" "17x3", march::Separable<march::Doubles<u16>, 4, 17, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 17, 3), 2, 2;
            march_separable_f64_17_c3_any_u16_u16: March "-" "f64-separable" "17x3-any", march::Separable<march::Doubles<u16>, 4, 17, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 17, 3), 3, 2;
            march_separable_f64_17_c4_u16_u16: March "-" "f64-separable" "17x4", march::Separable<march::Doubles<u16>, 4, 17, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 17, 4), 2, 2;
            march_separable_f64_17_c4_any_u16_u16: March "-" "f64-separable" "17x4-any", march::Separable<march::Doubles<u16>, 4, 17, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], separable_f64(ElementType::U16, 17, 4), 3, 2;
            march_dense_f64_3_c1_u16_u16: March "-" "f64-dense" "3x1", march::Dense<march::Doubles<u16>, 8, 3, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 3, 1), 2, 4;
            march_dense_f64_3_c1_any_u16_u16: March "-" "f64-dense" "3x1-any", march::Dense<march::Doubles<u16>, 8, 3, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 3, 1), 3, 4;
            march_dense_f64_3_c3_u16_u16: March "-" "f64-dense" "3x3", march::Dense<march::Doubles<u16>, 8, 3, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 3, 3), 2, 4;
            march_dense_f64_3_c3_any_u16_u16: March "-" "f64-dense" "3x3-any", march::Dense<march::Doubles<u16>, 8, 3, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 3, 3), 3, 4;
            march_dense_f64_3_c4_u16_u16: March "-" "f64-dense" "3x4", march::Dense<march::Doubles<u16>, 8, 3, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 3, 4), 2, 4;
            march_dense_f64_3_c4_any_u16_u16: March "-" "f64-dense" "3x4-any", march::Dense<march::Doubles<u16>, 8, 3, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 3, 4), 3, 4;
            march_dense_f64_5_c1_u16_u16: March "-" "f64-dense" "5x1", march::Dense<march::Doubles<u16>, 8, 5, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 5, 1), 2, 3;
            march_dense_f64_5_c1_any_u16_u16: March "-" "f64-dense" "5x1-any", march::Dense<march::Doubles<u16>, 8, 5, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 5, 1), 3, 3;
            march_dense_f64_5_c3_u16_u16: March "-" "f64-dense" "5x3", march::Dense<march::Doubles<u16>, 8, 5, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 5, 3), 2, 3;
            march_dense_f64_5_c3_any_u16_u16: March "-" "f64-dense" "5x3-any", march::Dense<march::Doubles<u16>, 8, 5, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 5, 3), 3, 3;
            march_dense_f64_5_c4_u16_u16: March "-" "f64-dense" "5x4", march::Dense<march::Doubles<u16>, 8, 5, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 5, 4), 2, 3;
            march_dense_f64_5_c4_any_u16_u16: March "-" "f64-dense" "5x4-any", march::Dense<march::Doubles<u16>, 8, 5, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 5, 4), 3, 3;
            march_dense_f64_7_c1_u16_u16: March "-" "f64-dense" "7x1", march::Dense<march::Doubles<u16>, 8, 7, 1>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 7, 1), 2, 2;
            march_dense_f64_7_c1_any_u16_u16: March "-" "f64-dense" "7x1-any", march::Dense<march::Doubles<u16>, 8, 7, 1, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 7, 1), 3, 2;
            march_dense_f64_7_c3_u16_u16: March "-" "f64-dense" "7x3", march::Dense<march::Doubles<u16>, 8, 7, 3>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 7, 3), 2, 2;
            march_dense_f64_7_c3_any_u16_u16: March "-" "f64-dense" "7x3-any", march::Dense<march::Doubles<u16>, 8, 7, 3, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 7, 3), 3, 2;
            march_dense_f64_7_c4_u16_u16: March "-" "f64-dense" "7x4", march::Dense<march::Doubles<u16>, 8, 7, 4>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 7, 4), 2, 2;
            march_dense_f64_7_c4_any_u16_u16: March "-" "f64-dense" "7x4-any", march::Dense<march::Doubles<u16>, 8, 7, 4, false>, Buffer (u16, u16), MarchParams, SmallParameter, [128, 1], dense_f64(ElementType::U16, 7, 4), 3, 2;
            patch_separable_3_c1_f32_f32: Patch "-" "patch-separable" "3x1", patch::Patch<march::Separable<f32, 4, 3, 1>, f32, 3, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(3, 1), 0;
            patch_separable_5_c1_f32_f32: Patch "-" "patch-separable" "5x1", patch::Patch<march::Separable<f32, 4, 5, 1>, f32, 5, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(5, 1), 0;
            patch_separable_7_c1_f32_f32: Patch "-" "patch-separable" "7x1", patch::Patch<march::Separable<f32, 4, 7, 1>, f32, 7, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(7, 1), 0;
            patch_separable_9_c1_f32_f32: Patch "-" "patch-separable" "9x1", patch::Patch<march::Separable<f32, 4, 9, 1>, f32, 9, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(9, 1), 0;
            patch_separable_3_c3_f32_f32: Patch "-" "patch-separable" "3x3", patch::Patch<march::Separable<f32, 4, 3, 3>, f32, 3, 3>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(3, 3), 0;
            patch_separable_5_c3_f32_f32: Patch "-" "patch-separable" "5x3", patch::Patch<march::Separable<f32, 4, 5, 3>, f32, 5, 3>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(5, 3), 0;
            patch_separable_3_c4_f32_f32: Patch "-" "patch-separable" "3x4", patch::Patch<march::Separable<f32, 4, 3, 4>, f32, 3, 4>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(3, 4), 0;
            patch_dense_3_c1_f32_f32: Patch "-" "patch-dense" "3x1", patch::Patch<march::Dense<f32, 4, 3, 1>, f32, 3, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(3, 1), 0;
            patch_dense_5_c1_f32_f32: Patch "-" "patch-dense" "5x1", patch::Patch<march::Dense<f32, 4, 5, 1>, f32, 5, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(5, 1), 0;
            patch_dense_7_c1_f32_f32: Patch "-" "patch-dense" "7x1", patch::Patch<march::Dense<f32, 4, 7, 1>, f32, 7, 1>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(7, 1), 0;
            patch_dense_3_c3_f32_f32: Patch "-" "patch-dense" "3x3", patch::Patch<march::Dense<f32, 4, 3, 3>, f32, 3, 3>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(3, 3), 0;
            patch_dense_5_c3_f32_f32: Patch "-" "patch-dense" "5x3", patch::Patch<march::Dense<f32, 4, 5, 3>, f32, 5, 3>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(5, 3), 0;
            patch_dense_3_c4_f32_f32: Patch "-" "patch-dense" "3x4", patch::Patch<march::Dense<f32, 4, 3, 4>, f32, 3, 4>, Buffer (f32, f32), MarchParams, FewestParameter, [32, 4], patch(3, 4), 0;
            patch_separable_3_c1_u8_u8: Patch "-" "patch-separable" "3x1", patch::Patch<march::Separable<march::Doubles<u8>, 4, 3, 1>, march::Doubles<u8>, 3, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(3, 1), 0;
            patch_separable_5_c1_u8_u8: Patch "-" "patch-separable" "5x1", patch::Patch<march::Separable<march::Doubles<u8>, 4, 5, 1>, march::Doubles<u8>, 5, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(5, 1), 0;
            patch_separable_7_c1_u8_u8: Patch "-" "patch-separable" "7x1", patch::Patch<march::Separable<march::Doubles<u8>, 4, 7, 1>, march::Doubles<u8>, 7, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(7, 1), 0;
            patch_separable_9_c1_u8_u8: Patch "-" "patch-separable" "9x1", patch::Patch<march::Separable<march::Doubles<u8>, 4, 9, 1>, march::Doubles<u8>, 9, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(9, 1), 0;
            patch_separable_3_c3_u8_u8: Patch "-" "patch-separable" "3x3", patch::Patch<march::Separable<march::Doubles<u8>, 4, 3, 3>, march::Doubles<u8>, 3, 3>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(3, 3), 0;
            patch_separable_5_c3_u8_u8: Patch "-" "patch-separable" "5x3", patch::Patch<march::Separable<march::Doubles<u8>, 4, 5, 3>, march::Doubles<u8>, 5, 3>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(5, 3), 0;
            patch_separable_3_c4_u8_u8: Patch "-" "patch-separable" "3x4", patch::Patch<march::Separable<march::Doubles<u8>, 4, 3, 4>, march::Doubles<u8>, 3, 4>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(3, 4), 0;
            patch_dense_3_c1_u8_u8: Patch "-" "patch-dense" "3x1", patch::Patch<march::Dense<march::Doubles<u8>, 4, 3, 1>, march::Doubles<u8>, 3, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(3, 1), 0;
            patch_dense_5_c1_u8_u8: Patch "-" "patch-dense" "5x1", patch::Patch<march::Dense<march::Doubles<u8>, 4, 5, 1>, march::Doubles<u8>, 5, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(5, 1), 0;
            patch_dense_7_c1_u8_u8: Patch "-" "patch-dense" "7x1", patch::Patch<march::Dense<march::Doubles<u8>, 4, 7, 1>, march::Doubles<u8>, 7, 1>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(7, 1), 0;
            patch_dense_3_c3_u8_u8: Patch "-" "patch-dense" "3x3", patch::Patch<march::Dense<march::Doubles<u8>, 4, 3, 3>, march::Doubles<u8>, 3, 3>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(3, 3), 0;
            patch_dense_5_c3_u8_u8: Patch "-" "patch-dense" "5x3", patch::Patch<march::Dense<march::Doubles<u8>, 4, 5, 3>, march::Doubles<u8>, 5, 3>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(5, 3), 0;
            patch_dense_3_c4_u8_u8: Patch "-" "patch-dense" "3x4", patch::Patch<march::Dense<march::Doubles<u8>, 4, 3, 4>, march::Doubles<u8>, 3, 4>, Buffer (u8, u8), MarchParams, FewestParameter, [32, 4], patch(3, 4), 0;
            patch_separable_3_c1_u16_u16: Patch "-" "patch-separable" "3x1", patch::Patch<march::Separable<march::Doubles<u16>, 4, 3, 1>, march::Doubles<u16>, 3, 1>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(3, 1), 0;
            patch_separable_5_c1_u16_u16: Patch "-" "patch-separable" "5x1", patch::Patch<march::Separable<march::Doubles<u16>, 4, 5, 1>, march::Doubles<u16>, 5, 1>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(5, 1), 0;
            patch_separable_7_c1_u16_u16: Patch "-" "patch-separable" "7x1", patch::Patch<march::Separable<march::Doubles<u16>, 4, 7, 1>, march::Doubles<u16>, 7, 1>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(7, 1), 0;
            patch_separable_3_c3_u16_u16: Patch "-" "patch-separable" "3x3", patch::Patch<march::Separable<march::Doubles<u16>, 4, 3, 3>, march::Doubles<u16>, 3, 3>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(3, 3), 0;
            patch_separable_5_c3_u16_u16: Patch "-" "patch-separable" "5x3", patch::Patch<march::Separable<march::Doubles<u16>, 4, 5, 3>, march::Doubles<u16>, 5, 3>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(5, 3), 0;
            patch_separable_3_c4_u16_u16: Patch "-" "patch-separable" "3x4", patch::Patch<march::Separable<march::Doubles<u16>, 4, 3, 4>, march::Doubles<u16>, 3, 4>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(3, 4), 0;
            patch_dense_3_c1_u16_u16: Patch "-" "patch-dense" "3x1", patch::Patch<march::Dense<march::Doubles<u16>, 4, 3, 1>, march::Doubles<u16>, 3, 1>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(3, 1), 0;
            patch_dense_5_c1_u16_u16: Patch "-" "patch-dense" "5x1", patch::Patch<march::Dense<march::Doubles<u16>, 4, 5, 1>, march::Doubles<u16>, 5, 1>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(5, 1), 0;
            patch_dense_7_c1_u16_u16: Patch "-" "patch-dense" "7x1", patch::Patch<march::Dense<march::Doubles<u16>, 4, 7, 1>, march::Doubles<u16>, 7, 1>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(7, 1), 0;
            patch_dense_3_c3_u16_u16: Patch "-" "patch-dense" "3x3", patch::Patch<march::Dense<march::Doubles<u16>, 4, 3, 3>, march::Doubles<u16>, 3, 3>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(3, 3), 0;
            patch_dense_5_c3_u16_u16: Patch "-" "patch-dense" "5x3", patch::Patch<march::Dense<march::Doubles<u16>, 4, 5, 3>, march::Doubles<u16>, 5, 3>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(5, 3), 0;
            patch_dense_3_c4_u16_u16: Patch "-" "patch-dense" "3x4", patch::Patch<march::Dense<march::Doubles<u16>, 4, 3, 4>, march::Doubles<u16>, 3, 4>, Buffer (u16, u16), MarchParams, FewestParameter, [32, 4], patch(3, 4), 0;
            words_dense_1_u8_u8: Words "-" "f64-blocked" "1", words::Dense<march::Doubles<u8>, 4, 4, 1>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U8, 1), 1, 2;
            words_dense_2_u8_u8: Words "-" "f64-blocked" "2", words::Dense<march::Doubles<u8>, 4, 4, 2>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U8, 2), 1, 2;
            words_dense_3_u8_u8: Words "-" "f64-blocked" "3", words::Dense<march::Doubles<u8>, 4, 4, 3>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U8, 3), 1, 2;
            words_dense_4_u8_u8: Words "-" "f64-blocked" "4", words::Dense<march::Doubles<u8>, 4, 4, 4>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U8, 4), 1, 2;
            words_dense_1_u16_u16: Words "-" "f64-blocked" "1", words::Dense<march::Doubles<u16>, 4, 4, 1>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U16, 1), 1, 2;
            words_dense_2_u16_u16: Words "-" "f64-blocked" "2", words::Dense<march::Doubles<u16>, 4, 4, 2>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U16, 2), 1, 2;
            words_dense_3_u16_u16: Words "-" "f64-blocked" "3", words::Dense<march::Doubles<u16>, 4, 4, 3>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U16, 3), 1, 2;
            words_dense_4_u16_u16: Words "-" "f64-blocked" "4", words::Dense<march::Doubles<u16>, 4, 4, 4>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words(ElementType::U16, 4), 1, 2;
            words_small_dense_1_u8_u8: Words "-" "small-blocked" "1", words::Dense<march::Doubles<u8>, 4, 1, 1>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U8, 1), 1;
            words_small_dense_2_u8_u8: Words "-" "small-blocked" "2", words::Dense<march::Doubles<u8>, 4, 1, 2>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U8, 2), 1;
            words_small_dense_3_u8_u8: Words "-" "small-blocked" "3", words::Dense<march::Doubles<u8>, 4, 1, 3>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U8, 3), 1;
            words_small_dense_4_u8_u8: Words "-" "small-blocked" "4", words::Dense<march::Doubles<u8>, 4, 1, 4>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U8, 4), 1;
            words_small_dense_1_u16_u16: Words "-" "small-blocked" "1", words::Dense<march::Doubles<u16>, 4, 1, 1>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U16, 1), 1;
            words_small_dense_2_u16_u16: Words "-" "small-blocked" "2", words::Dense<march::Doubles<u16>, 4, 1, 2>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U16, 2), 1;
            words_small_dense_3_u16_u16: Words "-" "small-blocked" "3", words::Dense<march::Doubles<u16>, 4, 1, 3>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U16, 3), 1;
            words_small_dense_4_u16_u16: Words "-" "small-blocked" "4", words::Dense<march::Doubles<u16>, 4, 1, 4>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::U16, 4), 1;
            words_small_dense_1_f32_f32: Words "-" "small-blocked" "1", words::Dense<f32, 4, 1, 1>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::F32, 1), 1;
            words_small_dense_2_f32_f32: Words "-" "small-blocked" "2", words::Dense<f32, 4, 1, 2>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::F32, 2), 1;
            words_small_dense_3_f32_f32: Words "-" "small-blocked" "3", words::Dense<f32, 4, 1, 3>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::F32, 3), 1;
            words_small_dense_4_f32_f32: Words "-" "small-blocked" "4", words::Dense<f32, 4, 1, 4>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], few_words(ElementType::F32, 4), 1;
            words_separable_1_u8_u8: Words "-" "small-fused" "1", words::Separable<march::Doubles<u8>, 1>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U8, 1), 2;
            words_separable_2_u8_u8: Words "-" "small-fused" "2", words::Separable<march::Doubles<u8>, 2>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U8, 2), 2;
            words_separable_3_u8_u8: Words "-" "small-fused" "3", words::Separable<march::Doubles<u8>, 3>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U8, 3), 2;
            words_separable_4_u8_u8: Words "-" "small-fused" "4", words::Separable<march::Doubles<u8>, 4>, Buffer (u8, u8), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U8, 4), 2;
            words_separable_1_u16_u16: Words "-" "small-fused" "1", words::Separable<march::Doubles<u16>, 1>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U16, 1), 2;
            words_separable_2_u16_u16: Words "-" "small-fused" "2", words::Separable<march::Doubles<u16>, 2>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U16, 2), 2;
            words_separable_3_u16_u16: Words "-" "small-fused" "3", words::Separable<march::Doubles<u16>, 3>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U16, 3), 2;
            words_separable_4_u16_u16: Words "-" "small-fused" "4", words::Separable<march::Doubles<u16>, 4>, Buffer (u16, u16), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::U16, 4), 2;
            words_separable_1_f32_f32: Words "-" "small-fused" "1", words::Separable<f32, 1>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::F32, 1), 2;
            words_separable_2_f32_f32: Words "-" "small-fused" "2", words::Separable<f32, 2>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::F32, 2), 2;
            words_separable_3_f32_f32: Words "-" "small-fused" "3", words::Separable<f32, 3>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::F32, 3), 2;
            words_separable_4_f32_f32: Words "-" "small-fused" "4", words::Separable<f32, 4>, Buffer (f32, f32), Conv2dParams, SmallParameter, [256, 1], words_and_sums(ElementType::F32, 4), 2;
            box_chunks_1_f32_f32: Box "-" "chunks" "1", box_filter::Floats<1, 128>, Buffer (f32, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_2_f32_f32: Box "-" "chunks" "2", box_filter::Floats<2, 64>, Buffer (f32, f32), BoxParams, None, [256, 1], BOX, 4, 2;
            box_chunks_3_f32_f32: Box "-" "chunks" "3", box_filter::Floats<3, 64>, Buffer (f32, f32), BoxParams, None, [256, 1], BOX, 4, 2;
            box_chunks_4_f32_f32: Box "-" "chunks" "4", box_filter::Floats<4, 64>, Buffer (f32, f32), BoxParams, None, [256, 1], BOX, 4, 2;
            box_chunks_small_u8_u8: Box "-" "chunks" "small", box_filter::Bytes<u8, false, false, 128>, Buffer (u8, u8), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_pixels_u8_u8: Box "-" "chunks" "small-rgba", box_filter::Bytes<u8, false, true, 128>, Buffer (u8, u8), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_u8_u16: Box "-" "chunks" "small", box_filter::Bytes<u16, false, false, 128>, Buffer (u8, u16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_pixels_u8_u16: Box "-" "chunks" "small-rgba", box_filter::Bytes<u16, false, true, 128>, Buffer (u8, u16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_u8_i16: Box "-" "chunks" "small", box_filter::Bytes<i16, false, false, 128>, Buffer (u8, i16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_pixels_u8_i16: Box "-" "chunks" "small-rgba", box_filter::Bytes<i16, false, true, 128>, Buffer (u8, i16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_u8_f32: Box "-" "chunks" "small", box_filter::Bytes<f32, false, false, 128>, Buffer (u8, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_small_pixels_u8_f32: Box "-" "chunks" "small-rgba", box_filter::Bytes<f32, false, true, 128>, Buffer (u8, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_u8_u8: Box "-" "chunks" "large", box_filter::Bytes<u8, true, false, 128>, Buffer (u8, u8), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_pixels_u8_u8: Box "-" "chunks" "large-rgba", box_filter::Bytes<u8, true, true, 128>, Buffer (u8, u8), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_u8_u8: Box "-" "chunks" "narrow", box_filter::Bytes<u8, true, false, 64>, Buffer (u8, u8), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_pixels_u8_u8: Box "-" "chunks" "narrow-rgba", box_filter::Bytes<u8, true, true, 64>, Buffer (u8, u8), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_u8_u16: Box "-" "chunks" "large", box_filter::Bytes<u16, true, false, 128>, Buffer (u8, u16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_pixels_u8_u16: Box "-" "chunks" "large-rgba", box_filter::Bytes<u16, true, true, 128>, Buffer (u8, u16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_u8_u16: Box "-" "chunks" "narrow", box_filter::Bytes<u16, true, false, 64>, Buffer (u8, u16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_pixels_u8_u16: Box "-" "chunks" "narrow-rgba", box_filter::Bytes<u16, true, true, 64>, Buffer (u8, u16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_u8_i16: Box "-" "chunks" "large", box_filter::Bytes<i16, true, false, 128>, Buffer (u8, i16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_pixels_u8_i16: Box "-" "chunks" "large-rgba", box_filter::Bytes<i16, true, true, 128>, Buffer (u8, i16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_u8_i16: Box "-" "chunks" "narrow", box_filter::Bytes<i16, true, false, 64>, Buffer (u8, i16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_pixels_u8_i16: Box "-" "chunks" "narrow-rgba", box_filter::Bytes<i16, true, true, 64>, Buffer (u8, i16), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_u8_f32: Box "-" "chunks" "large", box_filter::Bytes<f32, true, false, 128>, Buffer (u8, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_large_pixels_u8_f32: Box "-" "chunks" "large-rgba", box_filter::Bytes<f32, true, true, 128>, Buffer (u8, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_u8_f32: Box "-" "chunks" "narrow", box_filter::Bytes<f32, true, false, 64>, Buffer (u8, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_chunks_narrow_pixels_u8_f32: Box "-" "chunks" "narrow-rgba", box_filter::Bytes<f32, true, true, 64>, Buffer (u8, f32), BoxParams, None, [256, 1], BOX, 4, 3;
            box_strips_small_u8_u8: Box "-" "strips" "small", box_filter::Strips<false>, Buffer (u8, u8), BoxParams, None, [32, 1], BOX, 4, 16;
            box_strips_large_u8_u8: Box "-" "strips" "large", box_filter::Strips<true>, Buffer (u8, u8), BoxParams, None, [32, 1], BOX, 4, 16;
            box_simple_rows_f32_f32: Box "-" "simple" "rows", box_filter::SimpleRows<f32>, Buffer (f32, f32), BoxParams, None, [32, 8], NONE, 0;
            box_simple_rows_u8_u32: Box "-" "simple" "rows", box_filter::SimpleRows<u8>, Buffer (u8, u32), BoxParams, None, [32, 8], NONE, 0;
            box_simple_columns_f32_f32: Box "-" "simple" "columns", box_filter::SimpleColumns<f32, f32>, Buffer (f32, f32), BoxParams, None, [32, 8], NONE, 0;
            box_simple_columns_u32_u8: Box "-" "simple" "columns", box_filter::SimpleColumns<u32, u8>, Buffer (u32, u8), BoxParams, None, [32, 8], NONE, 0;
            box_simple_columns_u32_u16: Box "-" "simple" "columns", box_filter::SimpleColumns<u32, u16>, Buffer (u32, u16), BoxParams, None, [32, 8], NONE, 0;
            box_simple_columns_u32_i16: Box "-" "simple" "columns", box_filter::SimpleColumns<u32, i16>, Buffer (u32, i16), BoxParams, None, [32, 8], NONE, 0;
            box_simple_columns_u32_f32: Box "-" "simple" "columns", box_filter::SimpleColumns<u32, f32>, Buffer (u32, f32), BoxParams, None, [32, 8], NONE, 0;
            rgba_naive_u8_u8: Rgba "P10" "rgba-naive" "", rgba::Naive, Buffer (u8, u8), Conv2dParams, SmallParameter, [8, 4], NONE, 0;
            rgba_texture_u8_u8: Rgba "P10" "rgba-texture" "", rgba::Texture, Texture (u8, u8), Conv2dParams, SmallParameter, [8, 4], NONE, 0;
            rgba_one_loader_u8_u8: Rgba "P11" "rgba-one-loader" "", rgba::OneLoader, Buffer (u8, u8), Conv2dParams, SmallParameter, [8, 4], PIXELS, 1, 32;
            rgba_cooperative_u8_u8: Rgba "P12" "rgba-cooperative" "", rgba::Cooperative, Buffer (u8, u8), Conv2dParams, SmallParameter, [8, 4], PIXELS, 1, 32;
            histogram_columns_1_u8_u32: Histogram "-" "columns" "1", histogram::Columns<1>, Buffer (u8, u32), HistogramPartialParams, None, [1024, 1], columns(1), 2, 2;
            histogram_columns_2_u8_u32: Histogram "-" "columns" "2", histogram::Columns<2>, Buffer (u8, u32), HistogramPartialParams, None, [1024, 1], columns(2), 2, 1;
            histogram_columns_3_u8_u32: Histogram "-" "columns" "3", histogram::Columns<3>, Buffer (u8, u32), HistogramPartialParams, None, [1024, 1], columns(3), 2, 1;
            histogram_columns_4_u8_u32: Histogram "-" "columns" "4", histogram::Columns<4>, Buffer (u8, u32), HistogramPartialParams, None, [1024, 1], columns(4), 2, 1;
            histogram_one_launch_1_u8_u64: Histogram "-" "one-launch" "1", histogram::OneLaunch<1>, Buffer (u8, u64), HistogramTotalsParams, None, [1024, 1], columns(1), 2;
            histogram_one_launch_2_u8_u64: Histogram "-" "one-launch" "2", histogram::OneLaunch<2>, Buffer (u8, u64), HistogramTotalsParams, None, [1024, 1], columns(2), 2;
            histogram_one_launch_3_u8_u64: Histogram "-" "one-launch" "3", histogram::OneLaunch<3>, Buffer (u8, u64), HistogramTotalsParams, None, [1024, 1], columns(3), 2;
            histogram_one_launch_4_u8_u64: Histogram "-" "one-launch" "4", histogram::OneLaunch<4>, Buffer (u8, u64), HistogramTotalsParams, None, [1024, 1], columns(4), 2;
            histogram_partial_u8_u32: Histogram "P6" "partials" "partials", histogram::Partial, Buffer (u8, u32), HistogramPartialParams, None, [256, 1], ROWS, 2;
            histogram_merge_u32_u64: Histogram "P7" "partials" "merge", histogram::Merge, Buffer (u32, u64), HistogramMergeParams, None, [256, 1], SUMS, 9;
            histogram_nearest_edge_f32_u64: Histogram "-" "nearest-edge" "count", histogram::Edges<histogram::Nearest, f32>, Buffer (f32, u64), HistogramEdgesParams, Global, [1024, 1], EDGES, 2;
            histogram_nearest_edge_u16_u64: Histogram "-" "nearest-edge" "count", histogram::Edges<histogram::Nearest, u16>, Buffer (u16, u64), HistogramEdgesParams, Global, [1024, 1], EDGES, 2;
            histogram_nearest_edge_i16_u64: Histogram "-" "nearest-edge" "count", histogram::Edges<histogram::Nearest, i16>, Buffer (i16, u64), HistogramEdgesParams, Global, [1024, 1], EDGES, 2;
            histogram_edge_search_f32_u64: Histogram "-" "edge-search" "count", histogram::Edges<histogram::Search, f32>, Buffer (f32, u64), HistogramEdgesParams, Global, [1024, 1], EDGES, 2;
            histogram_extremes_f32_f32: Histogram "-" "nearest-edge" "extremes", histogram::Extremes<false>, Buffer (f32, f32), HistogramExtremesParams, None, [256, 1], PAIRS, 9;
            histogram_masked_extremes_f32_f32: Histogram "-" "slices" "extremes", histogram::Extremes<true>, Buffer (f32, f32), HistogramExtremesParams, None, [256, 1], PAIRS, 9;
            limits_read_u32_u32: Limits "-" "read" "", limits::Read, Buffer (u32, u32), LimitsReadParams, None, [256, 1], NONE, 0;
            limits_ffma_f32_f32: Limits "-" "ffma" "", limits::Ffma, Buffer (f32, f32), LimitsFfmaParams, None, [256, 1], NONE, 0;
            pointwise_weighted_u8_u8_u8: Pointwise "-" "pointwise" "weighted-u8", pointwise::Weighted<u8, u8, u8>, Buffer (u8, u8), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_u8_u8_u16: Pointwise "-" "pointwise" "weighted-u8", pointwise::Weighted<u8, u8, u16>, Buffer (u8, u16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_u8_u8_i16: Pointwise "-" "pointwise" "weighted-u8", pointwise::Weighted<u8, u8, i16>, Buffer (u8, i16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_u8_u8_f32: Pointwise "-" "pointwise" "weighted-u8", pointwise::Weighted<u8, u8, f32>, Buffer (u8, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_u8_u8: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<u8, f32, u8>, Buffer (u8, u8), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_u8_u16: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<u8, f32, u16>, Buffer (u8, u16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_u8_i16: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<u8, f32, i16>, Buffer (u8, i16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_u8_f32: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<u8, f32, f32>, Buffer (u8, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_f32_u8: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<f32, f32, u8>, Buffer (f32, u8), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_f32_u16: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<f32, f32, u16>, Buffer (f32, u16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_f32_i16: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<f32, f32, i16>, Buffer (f32, i16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_weighted_f32_f32_f32: Pointwise "-" "pointwise" "weighted-f32", pointwise::Weighted<f32, f32, f32>, Buffer (f32, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_widened_u16_f32: Pointwise "-" "pointwise" "widened", pointwise::Weighted<u16, u16, f32>, Buffer (u16, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_widened_i16_f32: Pointwise "-" "pointwise" "widened", pointwise::Weighted<i16, i16, f32>, Buffer (i16, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_widened_f16_f32: Pointwise "-" "pointwise" "widened", pointwise::Weighted<Half, Half, f32>, Buffer (Half, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_narrowed_f32_f16: Pointwise "-" "pointwise" "narrowed", pointwise::Weighted<f32, f32, Half>, Buffer (f32, Half), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_magnitude_f32_u8: Pointwise "-" "pointwise" "magnitude", pointwise::Magnitude<u8>, Buffer (f32, u8), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_magnitude_f32_u16: Pointwise "-" "pointwise" "magnitude", pointwise::Magnitude<u16>, Buffer (f32, u16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_magnitude_f32_i16: Pointwise "-" "pointwise" "magnitude", pointwise::Magnitude<i16>, Buffer (f32, i16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_magnitude_f32_f32: Pointwise "-" "pointwise" "magnitude", pointwise::Magnitude<f32>, Buffer (f32, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_direction_f32_f32: Pointwise "-" "pointwise" "direction", pointwise::Direction, Buffer (f32, f32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_alpha_u8_u8: Pointwise "-" "pointwise" "alpha", pointwise::Alpha<u8>, Buffer (u8, u8), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_alpha_u16_u16: Pointwise "-" "pointwise" "alpha", pointwise::Alpha<u16>, Buffer (u16, u16), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_alpha_u32_u32: Pointwise "-" "pointwise" "alpha", pointwise::Alpha<u32>, Buffer (u32, u32), PointwiseParams, None, [256, 1], NONE, 0;
            pointwise_pad_u8_u8: Pointwise "-" "pad" "", pointwise::Pad<u8>, Buffer (u8, u8), PadParams, None, [32, 8], NONE, 0;
            pointwise_pad_u16_u16: Pointwise "-" "pad" "", pointwise::Pad<u16>, Buffer (u16, u16), PadParams, None, [32, 8], NONE, 0;
            pointwise_pad_u32_u32: Pointwise "-" "pad" "", pointwise::Pad<u32>, Buffer (u32, u32), PadParams, None, [32, 8], NONE, 0;
            local_std_rows_u8_f64: Local "-" "sums" "rows", local::Rows<u8>, Buffer (u8, f64), LocalParams, None, [32, 8], NONE, 0;
            local_std_rows_f32_f64: Local "-" "sums" "rows", local::Rows<f32>, Buffer (f32, f64), LocalParams, None, [32, 8], NONE, 0;
            local_std_columns_f64_u8: Local "-" "sums" "columns", local::Columns<u8>, Buffer (f64, u8), LocalParams, None, [32, 8], NONE, 0;
            local_std_columns_f64_u16: Local "-" "sums" "columns", local::Columns<u16>, Buffer (f64, u16), LocalParams, None, [32, 8], NONE, 0;
            local_std_columns_f64_i16: Local "-" "sums" "columns", local::Columns<i16>, Buffer (f64, i16), LocalParams, None, [32, 8], NONE, 0;
            local_std_columns_f64_f32: Local "-" "sums" "columns", local::Columns<f32>, Buffer (f64, f32), LocalParams, None, [32, 8], NONE, 0;
            histogram_slices_u16_u32: Histogram "-" "slices" "all", histogram::Values<u16>, Buffer (u16, u32), HistogramValuesParams, None, [1024, 1], SLICE, 2;
            histogram_slices_i16_u32: Histogram "-" "slices" "all", histogram::Values<i16>, Buffer (i16, u32), HistogramValuesParams, None, [1024, 1], SLICE, 2;
            histogram_slices_f32_u32: Histogram "-" "slices" "all", histogram::Slices<f32, false>, Buffer (f32, u32), HistogramCellsParams, Global, [1024, 1], SLICE, 2;
            histogram_slices_masked_u8_u32: Histogram "-" "slices" "masked", histogram::Slices<u8, true>, Buffer (u8, u32), HistogramCellsParams, None, [1024, 1], SLICE, 2;
            histogram_slices_masked_u16_u32: Histogram "-" "slices" "masked", histogram::Slices<u16, true>, Buffer (u16, u32), HistogramCellsParams, None, [1024, 1], SLICE, 2;
            histogram_slices_masked_i16_u32: Histogram "-" "slices" "masked", histogram::Slices<i16, true>, Buffer (i16, u32), HistogramCellsParams, None, [1024, 1], SLICE, 2;
            histogram_slices_masked_f32_u32: Histogram "-" "slices" "masked", histogram::Slices<f32, true>, Buffer (f32, u32), HistogramCellsParams, Global, [1024, 1], SLICE, 2;
            histogram_slices_sums_u32_u64: Histogram "-" "slices" "sums", histogram::Sums<u32, u64>, Buffer (u32, u64), HistogramMergeParams, None, [256, 1], NONE, 0;
            histogram_row_sums_f32_f64: Histogram "-" "row-sums" "rows", histogram::Rows<f32, false>, Buffer (f32, f64), StatisticsParams, None, [32, 4], SUMMED, 2;
            histogram_row_sums_f16_f64: Histogram "-" "row-sums" "rows", histogram::Rows<Half, false>, Buffer (Half, f64), StatisticsParams, None, [32, 4], SUMMED, 2;
            histogram_row_squares_f32_f64: Histogram "-" "row-sums" "row-squares", histogram::Rows<f32, true>, Buffer (f32, f64), StatisticsParams, None, [32, 4], SUMMED, 2;
            histogram_row_squares_f16_f64: Histogram "-" "row-sums" "row-squares", histogram::Rows<Half, true>, Buffer (Half, f64), StatisticsParams, None, [32, 4], SUMMED, 2;
            histogram_fold_sums_f64_f64: Histogram "-" "row-sums" "means", histogram::Fold<false>, Buffer (f64, f64), StatisticsParams, None, [256, 1], FOLDED, 3;
            histogram_fold_squares_f64_f64: Histogram "-" "row-sums" "squares", histogram::Fold<true>, Buffer (f64, f64), StatisticsParams, None, [256, 1], FOLDED, 2;
            histogram_bins_u8_u32: Histogram "-" "in-order" "bins", histogram::Bins<u8>, Buffer (u8, u32), HistogramBinsParams, Global, [256, 1], NONE, 0;
            histogram_bins_u16_u32: Histogram "-" "in-order" "bins", histogram::Bins<u16>, Buffer (u16, u32), HistogramBinsParams, Global, [256, 1], NONE, 0;
            histogram_bins_i16_u32: Histogram "-" "in-order" "bins", histogram::Bins<i16>, Buffer (i16, u32), HistogramBinsParams, Global, [256, 1], NONE, 0;
            histogram_bins_f16_u32: Histogram "-" "in-order" "bins", histogram::Bins<Half>, Buffer (Half, u32), HistogramBinsParams, Global, [256, 1], NONE, 0;
            histogram_bins_f32_u32: Histogram "-" "in-order" "bins", histogram::Bins<f32>, Buffer (f32, u32), HistogramBinsParams, Global, [256, 1], NONE, 0;
            histogram_weights_u32_f64: Histogram "-" "in-order" "weights", histogram::Weights<f64>, Buffer (u32, f64), HistogramWeightsParams, None, [256, 1], BATCH, 2;
            histogram_float_weights_u32_f64: Histogram "-" "in-order" "f32-weights", histogram::Weights<f32>, Buffer (u32, f64), HistogramWeightsParams, None, [256, 1], BATCH, 2;
            histogram_weights_sums_f64_f64: Histogram "-" "in-order" "sums", histogram::Sums<f64, f64>, Buffer (f64, f64), HistogramMergeParams, None, [256, 1], NONE, 0;
            histogram_pairs_u8_u32: Histogram "-" "pairs" "cells", histogram::Pairs<u8>, Buffer (u8, u32), HistogramPairsParams, Global, [256, 1], NONE, 0;
            histogram_pairs_u16_u32: Histogram "-" "pairs" "cells", histogram::Pairs<u16>, Buffer (u16, u32), HistogramPairsParams, Global, [256, 1], NONE, 0;
            histogram_pairs_i16_u32: Histogram "-" "pairs" "cells", histogram::Pairs<i16>, Buffer (i16, u32), HistogramPairsParams, Global, [256, 1], NONE, 0;
            histogram_pairs_f16_u32: Histogram "-" "pairs" "cells", histogram::Pairs<Half>, Buffer (Half, u32), HistogramPairsParams, Global, [256, 1], NONE, 0;
            histogram_pairs_f32_u32: Histogram "-" "pairs" "cells", histogram::Pairs<f32>, Buffer (f32, u32), HistogramPairsParams, Global, [256, 1], NONE, 0;
            histogram_pairs_counts_u32_u32: Histogram "-" "pairs" "counts", histogram::Slices<u32, false>, Buffer (u32, u32), HistogramCellsParams, None, [1024, 1], SLICE, 2;
            lookup_table_u8_u8: Lookup "-" "table" "", lookup::Table, Buffer (u8, u8), LookupParams, None, [256, 1], TABLES, 1;
            lookup_equalize_u64_u8: Lookup "-" "three-launches" "table", lookup::Equalize, Buffer (u64, u8), EqualizeParams, None, [256, 1], COUNTS, 1;
            lookup_tiles_u8_u8: Lookup "-" "tiles" "tables", lookup::Tiles, Buffer (u8, u8), TilesParams, None, [256, 1], WORDS, 2;
            lookup_blend_u8_u8: Lookup "-" "tiles" "blend", lookup::Blend<u8>, Buffer (u8, u8), TilesParams, None, [32, 8], NONE, 0;
            lookup_tiles_counts_u16_u32: Lookup "-" "tiles" "counts", lookup::Counts, Buffer (u16, u32), TilesParams, None, [1024, 1], SLICE, 2;
            lookup_tiles_wide_u32_u16: Lookup "-" "tiles" "wide-tables", lookup::WideTables, Buffer (u32, u16), TilesParams, None, [1024, 1], OF_WARPS, 2;
            lookup_blend_u16_u16: Lookup "-" "tiles" "blend", lookup::Blend<u16>, Buffer (u16, u16), TilesParams, None, [32, 8], NONE, 0;
        }
    };
}

macro_rules! residents {
    () => {
        1
    };
    ($residents:literal) => {
        $residents
    };
}

macro_rules! define_table {
    ($($entry:ident: $family:ident $program:literal $variant:literal $stage:literal, $body:ty,
       $source:ident ($src:ty, $dst:ty), $params:ident, $taps:ident, [$bx:literal, $by:literal], $shared:expr, $barriers:literal $(, $residents:literal)?;)*) => {
        /// Every kernel, named by its entry.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel {
            $($entry,)*
        }

        impl Kernel {
            /// Every kernel, in the order of the table.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$entry,)*];

            /// What is fixed about the kernel.
            pub const fn facts(self) -> KernelFacts {
                match self {
                    $(Kernel::$entry => KernelFacts {
                        entry: stringify!($entry),
                        family: Family::$family,
                        program: $program,
                        variant: $variant,
                        stage: $stage,
                        source: SourceSpace::$source,
                        src: <$src as $crate::Element>::TYPE,
                        dst: <$dst as $crate::Element>::TYPE,
                        taps: TapSpace::$taps,
                        block: [$bx, $by],
                        shared: $shared,
                        barriers: $barriers,
                        residents: residents!($($residents)?),
                    },)*
                }
            }

            /// The family's kernel of a variant and stage from `src` to `dst`, if there is one.
            pub fn find(family: Family, variant: &str, stage: &str, src: ElementType, dst: ElementType) -> Option<Kernel> {
                Kernel::ALL.iter().copied().find(|kernel| {
                    let facts = kernel.facts();
                    facts.family == family
                        && (facts.variant, facts.stage) == (variant, stage)
                        && (facts.src, facts.dst) == (src, dst)
                })
            }
        }
    };
}
for_each_kernel!(define_table);

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::{BOX_BLOCK, BOX_BYTES, BOX_STRIP, POINTWISE_BLOCK};
    use std::format;

    #[test]
    fn blocks_in_the_table_are_those_of_the_geometry() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let expected = match (facts.family, facts.variant, facts.stage) {
                (Family::Conv1d | Family::Conv2d, "tiled" | "tiled-symbol", _) => [TILE_WIDTH, TILE_WIDTH],
                (Family::Conv2d, "blocked", _) => [BLOCKED_BLOCK, 1],
                (Family::Conv1d, "fused", _) => [FUSED_BLOCK, 1],
                (Family::Conv1d | Family::Conv2d, "simple" | "naive" | "constant", _) => SIMPLE_BLOCK,
                (Family::March, ..) => [MARCH_BLOCK, 1],
                (Family::Patch, ..) => PATCH_BLOCK,
                (Family::Words, ..) => [BLOCKED_BLOCK, 1],
                (Family::Box, "chunks", _) => [BOX_BLOCK, 1],
                (Family::Box, "strips", _) => [BOX_STRIP / BOX_BYTES, 1],
                (Family::Box, "simple", _) => SIMPLE_BLOCK,
                (Family::Rgba, ..) => RGBA_BLOCK,
                (Family::Histogram, "columns" | "one-launch", _) => [COLUMNS_BLOCK, 1],
                (Family::Histogram, _, "count") => [EDGES_BLOCK, 1],
                (Family::Histogram, _, "extremes") => [EXTREMES_BLOCK, 1],
                (Family::Histogram, _, "partials") => [PARTIAL_BLOCK, 1],
                (Family::Histogram, _, "merge") => [MERGE_BLOCK, 1],
                (Family::Limits, ..) => [LIMITS_BLOCK, 1],
                (Family::Pointwise, "pad", _) => SIMPLE_BLOCK,
                (Family::Pointwise, ..) => [POINTWISE_BLOCK, 1],
                (Family::Local, ..) => SIMPLE_BLOCK,
                (Family::Histogram, "in-order", "bins") | (Family::Histogram, _, "cells") => [BINS_BLOCK, 1],
                (Family::Histogram, "in-order", "weights" | "f32-weights") => [WEIGHTS_BLOCK, 1],
                (Family::Histogram, "in-order", "sums") => [MERGE_BLOCK, 1],
                (Family::Histogram, "pairs", "counts") => [SLICES_BLOCK, 1],
                (Family::Histogram, "row-sums", "means" | "squares") => [FOLD_BLOCK, 1],
                (Family::Histogram, "row-sums", _) => [SUMMED_ROWS, 4],
                (Family::Histogram, "slices", "sums") => [MERGE_BLOCK, 1],
                (Family::Histogram, "slices", _) => [SLICES_BLOCK, 1],
                (Family::Lookup, "table", _) => [LOOKUP_BLOCK, 1],
                (Family::Lookup, _, "blend") => SIMPLE_BLOCK,
                (Family::Lookup, _, "counts") => [SLICES_BLOCK, 1],
                (Family::Lookup, _, "wide-tables") => [WIDE_BLOCK, 1],
                (Family::Lookup, ..) => [BYTE_BINS, 1],
                other => panic!("no geometry for {other:?}"),
            };
            assert_eq!(facts.block, expected, "{}", facts.entry);
            // Without a barrier no thread can read what another wrote; those of patches read their own.
            let shares = facts.shared != NONE && facts.family != Family::Patch;
            assert_eq!(shares, facts.barriers > 0, "{}", facts.entry);
        }
    }

    #[test]
    fn entries_name_family_stage_and_types() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let types = format!("{}_{}", facts.src.name(), facts.dst.name());
            assert!(facts.entry.starts_with(facts.family.name()) && facts.entry.ends_with(&types), "{}", facts.entry);
            let found = Kernel::find(facts.family, facts.variant, facts.stage, facts.src, facts.dst);
            assert_eq!(found, Some(*kernel));
        }
        assert_eq!(Kernel::find(Family::Conv2d, "tiled", "", ElementType::F64, ElementType::U8), None);
    }

    #[test]
    fn lanes_at_the_fused_ring_meet_no_bank_twice() {
        use std::vec::Vec;
        let banks =
            |words: Vec<u32>| words.iter().map(|word| word % 32).collect::<std::collections::BTreeSet<_>>().len();
        for channels in [1, 2, 4] {
            // Down the columns: neighbouring samples of a row.
            let places: Vec<u32> =
                (32..64).map(|sample| fused_ring_place(channels, sample / channels, sample % channels)).collect();
            assert_eq!(banks(places), 32, "{channels}");
        }
        for channels in 1..=4 {
            // Along the rows: eight lanes write 16 bytes each, or sixteen 8 bytes each, in neighbouring rows.
            let place = fused_ring_place(channels, 16, channels - 1);
            assert!(place.is_multiple_of(4) && fused_ring_place(channels, 28, channels - 1) + 4 <= FUSED_BLOCK);
            assert_eq!(banks((0..8).map(|lane| place + lane * fused_ring_pitch(4)).collect()), 8);
            assert_eq!(banks((0..16).map(|lane| (place + lane * fused_ring_pitch(8)) * 2).collect()), 16);
            let all: std::collections::BTreeSet<u32> = (0..channels * fused_plane(channels))
                .map(|sample| fused_ring_place(channels, sample / channels, sample % channels))
                .collect();
            assert_eq!(all.last(), Some(&(channels * fused_plane(channels) - 1)));
            assert_eq!(all.len() as u32, channels * fused_plane(channels));
        }
    }

    #[test]
    fn a_mask_tile_is_the_block_and_its_halo() {
        assert_eq!(SharedMemory::MaskTile.bytes(1, 1), 32 * 32 * 4);
        assert_eq!(SharedMemory::MaskTile.bytes(64, 32), 95 * 63 * 4);
        assert_eq!(SharedMemory::Bytes(7).bytes(64, 32), 7);
        assert_eq!(SharedMemory::Edges.bytes(0, 0), (258 + 259 * 32) * 4);
    }
}
