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
    /// Where the chunks' sums start.
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
