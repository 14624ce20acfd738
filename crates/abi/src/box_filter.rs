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
