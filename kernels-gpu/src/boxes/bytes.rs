//! Box filters of bytes, four per word: see the [module](super).
//!
//! A word holds the bytes of one pixel of four channels, or of three; of images with two channels or one, the bytes
//! of two or four pixels, from the same place in two or four parts of the strip. Sums along a row take 16 bits each,
//! in two words: the sums of bytes 0 and 2, and of bytes 1 and 3.
//!
//! Sums of bytes are exact in any order, so windows slide, from a chunk's first one along the row, and down the
//! column from one step to the next: they add the word that enters and subtract the word that leaves. A window of up
//! to [`BOX_PACKED`](apron_abi::BOX_PACKED) bytes stays packed down the column; larger windows take four words.
//!
//! Per word: 5 shared accesses of 4 or 8 bytes, and along a row `window / 64` more for the chunks between.

mod scaling;
mod sliding;
mod strips;

pub(super) use scaling::scaled;
pub use sliding::Bytes;
pub use strips::Strips;
