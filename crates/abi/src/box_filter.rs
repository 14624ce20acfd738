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

/// What such a block sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxSums {
    /// f32 samples of so many interleaved channels.
    Floats(u32),
    /// Bytes, four at once.
    Bytes,
}

/// The shared memory of such a block: the input rows of two steps, sums along them, a ring of rows of sums
/// of windows, and the sums of chunks of it.
///
/// A step has [`BOX_CHUNK`] rows. Threads of a warp work on that many rows at once, and a pitch is so that they
/// meet no bank twice.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BoxTile {
    /// Chunks of an input row, for each channel.
    pub chunks: u32,
    /// Words from one input row to the next.
    pub input_pitch: u32,
    /// Pairs of words from one row of sums along the input to the next. For f32 they take the input's place.
    pub prefix_pitch: u32,
    /// Sums, f32 or pairs of words, from one row of the ring to the next.
    pub ring_pitch: u32,
    /// Chunks of rows in the ring.
    pub slots: u32,
    /// Where the ring starts, in bytes.
    pub ring_at: u32,
    /// Where the chunks' sums start, in bytes.
    pub totals_at: u32,
    /// The size of all, in bytes.
    pub bytes: u32,
}

impl BoxTile {
    /// For windows of this width and height, and strips of so many columns.
    pub const fn of(sums: BoxSums, [width, height]: [u32; 2], strip: u32) -> BoxTile {
        let chunks = (strip + width - 1).div_ceil(BOX_CHUNK);
        let columns = chunks * BOX_CHUNK;
        match sums {
            BoxSums::Floats(channels) => {
                // Two of a warp's halves are on chunks side by side, or on channels.
                let past = if channels == 1 { 1 } else { 2 };
                let (input_pitch, ring_pitch) =
                    (pitch(columns * channels, past, 32), pitch(strip * channels, past, 32));
                let between = (height - 1) / BOX_CHUNK;
                let slots = between + 2;
                let ring_at = 2 * BOX_CHUNK * input_pitch * 4;
                let totals_at = ring_at + slots * BOX_CHUNK * ring_pitch * 4;
                let bytes = totals_at + 2 * between * strip * channels * 4;
                BoxTile { chunks, input_pitch, prefix_pitch: 0, ring_pitch, slots, ring_at, totals_at, bytes }
            }
            BoxSums::Bytes => {
                let (input_pitch, prefix_pitch) = (pitch(columns, 1, 32), pitch(columns, 1, 16));
                let (ring_pitch, slots) = (pitch(strip, 1, 16), height / BOX_CHUNK + 2);
                let ring_at = 2 * BOX_CHUNK * input_pitch * 4 + BOX_CHUNK * prefix_pitch * 8;
                let bytes = ring_at + slots * BOX_CHUNK * ring_pitch * 8;
                BoxTile { chunks, input_pitch, prefix_pitch, ring_pitch, slots, ring_at, totals_at: bytes, bytes }
            }
        }
    }
}

/// The least pitch of so many elements that leaves a remainder of `past`.
const fn pitch(elements: u32, past: u32, banks: u32) -> u32 {
    (elements - past).next_multiple_of(banks) + past
}
