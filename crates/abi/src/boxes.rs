//! The order in which box filters sum f32 samples.

/// Samples of a chunk: windows of more samples are summed by chunks of their axis.
///
/// Chunk `c` of an axis is its samples `16 c` to `16 c + 15`; index 0 is the image's first sample, and chunks go on
/// outside, where the border gives the samples. A window of more than 16 samples begins in one chunk and ends in
/// another; its sum is `(head + middle) + tail`:
///
/// - `head`, the window's samples in its first chunk, summed from the chunk's last sample down to the window's first;
/// - `middle`, the sums of the chunks between, added up from 0 from the left, each summed from its first sample up;
/// - `tail`, the window's samples in its last chunk, summed from the chunk's first sample up to the window's last.
///
/// A window of up to 16 samples is summed from 0, from its first sample to its last.
///
/// Windows share heads, tails and chunks, so that a sum costs about three additions, however long the window is; no
/// sample outside a window touches its sum; and no sum takes more additions, one after another, than there are samples.
pub const BOX_CHUNK: u32 = 16;

/// Threads of a block of the box filters that sum by chunks.
pub const BOX_BLOCK: u32 = 256;

/// Widest window whose sums of bytes along a row fit into 16 bits: `257 * 255` is 65535.
pub const BOX_PACKED: u32 = 257;

/// Rows of a step for bytes, and samples of a chunk: they are summed in any order.
pub const BOX_BYTES: u32 = 8;

/// Pixels of a strip of the box filter of RGBA bytes in strips: [`BOX_BYTES`] for each thread of its block, a warp.
pub const BOX_STRIP: u32 = 256;
/// Rows of it that are on their way.
pub const BOX_STRIP_AHEAD: u32 = 3;
/// The largest window, in pixels, whose mean of bytes is the highest byte of `sum * round(2^24 / pixels) + 2^23`.
pub const BOX_STRIP_SMALL: u32 = 255;

/// The reciprocal of a number of pixels, rounded to f32, as a factor for [`BOX_STRIP_SMALL`].
#[inline(always)]
pub fn box_factor(reciprocal: f32) -> u32 {
    (reciprocal * (1 << 24) as f32 + 0.5) as u32
}

/// What such a block sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxSums {
    /// f32 samples.
    Floats,
    /// Bytes, four at once.
    Bytes,
}

impl BoxSums {
    /// Rows of a step, and samples of a chunk.
    pub const fn chunk(self) -> u32 {
        match self {
            BoxSums::Floats => BOX_CHUNK,
            BoxSums::Bytes => BOX_BYTES,
        }
    }
}

/// The shared memory of such a block: which columns of the image its input has, the input rows of two steps, sums
/// along them, a ring of rows of sums of windows, and the sums of chunks of it.
///
/// Threads of a warp work on all rows of a step at once, so rows start one bank after another; with an even number of
/// channels two, since they then work on two channels, too.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BoxTile {
    /// Chunks of an input row, for each channel.
    pub chunks: u32,
    /// Words from one input row to the next.
    pub input_pitch: u32,
    /// Chunks of rows in the ring.
    pub slots: u32,
    /// Where the input starts, in bytes.
    pub input_at: u32,
    /// Where sums of chunks of bytes along the input start; prefix sums of f32 take the input's place.
    pub sums_at: u32,
    /// Where the ring starts.
    pub ring_at: u32,
    /// Where the chunks' sums start; of strips, where rows that leave wait, or 0 if they are in the ring.
    pub totals_at: u32,
    /// The size of all.
    pub bytes: u32,
}

impl BoxTile {
    /// For windows of this width and height, and strips of so many pixels, or words of four bytes.
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
    /// Of the kernel in strips: the list of columns, the input rows that wait, and the sums along two. Strips start so
    /// many pixels before their first window; the chunks are those of their outputs, 0 where windows are too wide. Rows
    /// wait in a ring until they leave the window, or are brought `again` then.
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

/// Elements from one row of so many to the next.
pub const fn box_pitch(elements: u32, channels: u32) -> u32 {
    elements + if channels.is_multiple_of(2) { 2 } else { 1 }
}

/// Sums of chunks of bytes from one row of so many to the next: so that threads on all rows of two meet no bank twice.
pub const fn box_sums_pitch(chunks: u32) -> u32 {
    (chunks + 1) / 4 * 4 + 2
}

/// Pixels of a word of four bytes, each in a part of the strip of its own.
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
