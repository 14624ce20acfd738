//! Box filters: the order in which f32 samples are summed, shared memory layouts, and parameters.

/// Samples per chunk: longer windows are summed by chunks of their axis.
///
/// Chunk `c` of an axis is its samples `16 c` to `16 c + 15`; index 0 is the image's first sample, and chunks
/// continue outside, where the border supplies the samples. A window of more than 16 samples begins in one chunk and
/// ends in another; its sum is `(head + middle) + tail`:
///
/// - `head`, the window's samples in its first chunk, summed from the chunk's last sample down to the window's first;
/// - `middle`, the sums of the chunks between, added up from 0 from the left, each summed from its first sample up;
/// - `tail`, the window's samples in its last chunk, summed from the chunk's first sample up to the window's last.
///
/// A window of up to 16 samples is summed from 0, from its first sample to its last.
///
/// Windows share heads, tails and chunks, so that a sum costs about three additions, however long the window is; no
/// sample outside a window affects its sum; and no chain of dependent additions is longer than the number of samples.
pub const BOX_CHUNK: u32 = 16;

/// Threads per block of the box filters that sum by chunks.
pub const BOX_BLOCK: u32 = 256;

/// Widest window whose sums of bytes along a row fit into 16 bits: `257 * 255` is 65535.
pub const BOX_PACKED: u32 = 257;

/// Rows per step, and samples per chunk, for bytes, whose sums do not depend on the order.
pub const BOX_BYTES: u32 = 8;

/// Input pixels per strip of the kernel for RGBA bytes in strips: [`BOX_BYTES`] per thread of its block, a warp.
pub const BOX_STRIP: u32 = 256;
/// Input rows that are prefetched per strip.
pub const BOX_STRIP_AHEAD: u32 = 3;
/// Largest window, in pixels, whose mean of bytes is the highest byte of `sum * round(2^24 / pixels) + 2^23`.
pub const BOX_STRIP_SMALL: u32 = 255;

/// Returns the factor `round(2^24 / pixels)` of [`BOX_STRIP_SMALL`] from the reciprocal of the number of pixels,
/// rounded to f32.
#[inline(always)]
pub fn box_factor(reciprocal: f32) -> u32 {
    (reciprocal * (1 << 24) as f32 + 0.5) as u32
}

/// Sample types of the box filters by chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxSums {
    /// f32 samples.
    Floats,
    /// Bytes, four per word.
    Bytes,
}

impl BoxSums {
    /// Returns the rows per step, which are also the samples per chunk.
    pub const fn chunk(self) -> u32 {
        match self {
            BoxSums::Floats => BOX_CHUNK,
            BoxSums::Bytes => BOX_BYTES,
        }
    }
}

/// Shared memory layout of a block that sums by chunks: the border map of its input columns, the input rows of two
/// steps, sums along them, a ring of rows of window sums, and the sums of the ring's chunks.
///
/// Threads of a warp work on all rows of a step at once, so row pitches are padded against bank conflicts: by one
/// bank, or with an even number of channels by two, since the threads then work on two channels, too.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BoxTile {
    /// Chunks per input row and channel.
    pub chunks: u32,
    /// Pitch of the input rows, in words of 32 bits.
    pub input_pitch: u32,
    /// Chunks of rows in the ring.
    pub slots: u32,
    /// Offset of the input rows, in bytes.
    pub input_at: u32,
    /// Offset of the chunk sums of bytes along the input rows, in bytes; prefix sums of f32 overwrite the input.
    pub sums_at: u32,
    /// Offset of the ring, in bytes.
    pub ring_at: u32,
    /// Offset of the ring's chunk sums, in bytes. For strips, offset of the rows that are copied again when they leave
    /// the window; 0 if rows stay in the ring until then.
    pub totals_at: u32,
    /// Total size, in bytes.
    pub bytes: u32,
}

impl BoxTile {
    /// Returns the layout for windows of this width and height, and strips of `strip` pixels (f32) or words (bytes).
    pub const fn of(sums: BoxSums, channels: u32, [width, height]: [u32; 2], strip: u32) -> BoxTile {
        let chunk = sums.chunk();
        let chunks = (strip + width - 1).div_ceil(chunk);
        let columns = match sums {
            BoxSums::Floats => chunks * chunk,
            BoxSums::Bytes => (box_pixels(channels) - 1) * strip + chunks * chunk,
        };
        let input_at = (columns * 4).next_multiple_of(8);
        match sums {
            BoxSums::Floats => {
                let input_pitch = box_pitch(chunks * chunk * channels, channels);
                let slots = (height - 1) / chunk + 2;
                let ring_at = input_at + 2 * chunk * input_pitch * 4;
                let totals_at = ring_at + slots * chunk * box_pitch(strip * channels, channels) * 4;
                let bytes = totals_at + 2 * slots * strip * channels * 4;
                BoxTile { chunks, input_pitch, slots, input_at, sums_at: input_at, ring_at, totals_at, bytes }
            }
            BoxSums::Bytes => {
                let input_pitch = box_pitch(chunks * chunk, 1);
                let slots = height / chunk + 2;
                let sums_at = input_at + 2 * chunk * input_pitch * 4;
                let ring_at = sums_at + 2 * chunk * box_sums_pitch(chunks) * 8;
                let bytes = ring_at + slots * chunk * box_pitch(strip, 1) * 8;
                BoxTile { chunks, input_pitch, slots, input_at, sums_at, ring_at, totals_at: bytes, bytes }
            }
        }
    }
}

impl BoxTile {
    /// Returns the layout of the kernel in strips: the border map of the columns, the ring of input rows, and the
    /// prefix sums along two rows. A strip's input starts `lead` pixels before its first window; the layout's `chunks`
    /// is the number of chunks of outputs, 0 if windows are too wide. Input rows stay in the ring until they leave the
    /// window, or if `again`, are copied a second time when they leave.
    pub const fn of_strip([width, height]: [u32; 2], lead: u32, again: bool) -> BoxTile {
        let chunks = (BOX_STRIP + 1).saturating_sub(lead + width) / BOX_BYTES;
        let slots = BOX_STRIP_AHEAD + 1 + if again { 0 } else { height };
        let ring_at = BOX_STRIP * 4;
        let ring_end = ring_at + slots * BOX_STRIP * 4;
        let (totals_at, sums_at) = if again { (ring_end, 2 * ring_end - ring_at) } else { (0, ring_end) };
        let sum = if width * height > BOX_STRIP_SMALL { 16 } else { 8 };
        let bytes = sums_at + 2 * (BOX_BYTES + 1) * (BOX_STRIP / BOX_BYTES + 1) * sum;
        BoxTile { chunks, input_pitch: BOX_STRIP, slots, input_at: 0, sums_at, ring_at, totals_at, bytes }
    }
}

/// Returns the pitch of rows of `elements` elements, padded against bank conflicts.
pub const fn box_pitch(elements: u32, channels: u32) -> u32 {
    elements + if channels.is_multiple_of(2) { 2 } else { 1 }
}

/// Returns the pitch of a row of chunk sums of bytes, padded against bank conflicts.
pub const fn box_sums_pitch(chunks: u32) -> u32 {
    (chunks + 1) / 4 * 4 + 2
}

/// Returns the pixels per word of four bytes; each pixel of a word belongs to a different part of the strip.
pub const fn box_pixels(channels: u32) -> u32 {
    match channels {
        1 => 4,
        2 => 2,
        _ => 1,
    }
}

/// Parameters of the box filters.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct BoxParams {
    /// Input row stride, in samples. First field: elsewhere ptxas spills registers for sm_120.
    pub row_stride: u32,
    /// Factor from a sum to its output, in f64.
    pub factor: f64,
    /// Divisor from a sum to its output, if `factor` is its reciprocal; otherwise 0.
    pub divisor: f64,
    /// `factor`, rounded to f32, for scaling in f32.
    pub scale: f32,
    /// Whether scaling in f32 rounds every sum of bytes to the correct integer: 0 or 1.
    pub plain: u32,
    /// Value outside the image, where the border is constant.
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
    /// Input row of the first window's first pixel.
    pub origin_y: i32,
    /// Input column at which the first strip starts: up to 15 columns before the first window.
    pub left: i32,
    /// Input row at which the first block starts: up to 15 rows before the first window.
    pub top: i32,
    /// Output rows per block, a multiple of the rows per step.
    pub rows: u32,
    /// Number of the first step, 0: as a parameter, so that the compiler does not peel the first iteration.
    pub first_step: u32,
    /// The increment 1: as a parameter, so that the compiler does not unroll loops that step by it.
    pub one: u32,
    /// Layout of the block's shared memory.
    pub tile: BoxTile,
}

/// Bytes of a vector: what a lane of the means by prefix sums loads at once.
pub const PREFIX_VECTOR: u32 = 16;

/// Threads per block of the kernel that sums columns of vectors by chunks of rows.
pub const PREFIX_TOTALS: u32 = 128;

/// Returns offsets in the shared memory of means by prefix sums, and its size, in bytes. The prefix sums of a row, each
/// vector's padded by one, are at its start. The offsets are those of the totals of each warp, per channel, and of the
/// means, with a vector before them and one after them. A block has `warps` warps, samples `sample_bytes` bytes.
pub const fn prefix_layout(warps: u32, channels: u32, sample_bytes: u32) -> [u32; 3] {
    let totals = warps * 32 * (PREFIX_VECTOR / sample_bytes + 1) * 4;
    // One number more per warp than channels: an estimate of large sums.
    let means = totals + (warps * (channels + 1) * 4).next_multiple_of(PREFIX_VECTOR) + PREFIX_VECTOR;
    [totals, means, means + (warps * 32 + 1) * PREFIX_VECTOR]
}

/// Returns offsets in the shared memory of deviations by prefix sums, and its size, as [`prefix_layout`] does. The
/// prefix sums are pairs: of samples and of squares, of two words for bytes and of four for 16 bits.
pub const fn deviations_layout(warps: u32, sample_bytes: u32) -> [u32; 3] {
    let pair = 8 * sample_bytes;
    let totals = warps * 32 * (PREFIX_VECTOR / sample_bytes + 1) * pair;
    let outputs = totals + (warps * pair).next_multiple_of(PREFIX_VECTOR) + PREFIX_VECTOR;
    [totals, outputs, outputs + (warps * 32 + 1) * PREFIX_VECTOR]
}

/// Parameters of the means and of the deviations by prefix sums.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PrefixParams {
    /// Of deviations: the reciprocal of `count`.
    pub factor: f64,
    /// The buffer of column sums of chunks of rows: its number in the recipe, then its address.
    pub totals: u64,
    /// Stride between the images of a batch in that buffer, in units of
    /// [`IMAGE_ALIGNMENT`](crate::IMAGE_ALIGNMENT) bytes.
    pub totals_step: u32,
    /// Pitch of the rows of that buffer, in sums: whole vectors.
    pub totals_pitch: u32,
    /// Number of chunks of rows in that buffer; 0 if blocks sum all rows of their first windows.
    pub chunks: u32,
    /// Input row stride, in samples.
    pub row_stride: u32,
    /// Samples in an input row.
    pub row_samples: u32,
    /// Input width, in pixels.
    pub width: u32,
    /// Input height, in pixels.
    pub height: u32,
    /// Output width, in pixels.
    pub out_width: u32,
    /// Output height, in pixels.
    pub out_height: u32,
    /// Width of the window, in pixels.
    pub window_x: u32,
    /// Height of the window, in pixels.
    pub window_y: u32,
    /// Input column of the first window's first pixel.
    pub origin_x: i32,
    /// Input row of the first window's first pixel.
    pub origin_y: i32,
    /// Output pixels per row of a block.
    pub outputs: u32,
    /// Number of strips (groups of columns).
    pub strips: u32,
    /// Number of strips at the left and at the right edge whose rows two blocks share.
    pub edges: [u32; 2],
    /// Output rows per block: an even number; with chunks, whole chunks.
    pub rows: u32,
    /// Number of the [`BorderMode`](crate::BorderMode).
    pub border: u32,
    /// Value outside the image, where the border is constant: the sample's bits as often as a word has room. For means,
    /// those of i16 have the opposite sign bit.
    pub constant: u32,
    /// Number of pixels of a window.
    pub count: u32,
    /// Half that number, rounded down.
    pub bias: u32,
    /// The mean is in the upper 32 bits of `(sum + bias) * multiplier`, or if `corrected`, near them.
    pub multiplier: u32,
    /// Selector of two means in two words, hexadecimal digits as of PTX's `prmt`: of a byte each, or of two bytes each.
    pub bytes: u32,
    /// Whether the upper 32 bits, shifted to the right by `shift`, are the quotient or one less: 0 or 1. Of sums of up
    /// to 37 bits, the multiplication takes all but the lowest five.
    pub corrected: u32,
    /// See `corrected`. Of deviations of bytes: the shift that lets the variance times the square of the count fit 32
    /// bits, an even number.
    pub shift: u32,
    /// Whether a mean may be halfway between two integers: 0 or 1.
    pub halves: u32,
    /// Of deviations of bytes: the root of `2^shift`, divided by `count`.
    pub root: f32,
    /// Of deviations: whether sums of samples may be negative, 0 or 1.
    pub signed: u32,
}
