//! Box filters of bytes, four at a time: see the [module](super).
//!
//! A word has the bytes of a pixel of four channels, or of three; of images with fewer channels, those of two or
//! four pixels that lie in the same place of as many parts of the strip. Sums along a row take 16 bits, in two
//! words: of the bytes 0 and 2, and of 1 and 3.
//!
//! Sums of bytes are exact in any order, so windows slide, from a chunk's first one along the row, and down the column
//! from one step to the next: they take up the word that comes and give up the one that leaves. A window of up to
//! [`BOX_PACKED`](apron_abi::BOX_PACKED) bytes stays packed down the column, larger ones are of four words.
//!
//! Per word 5 shared accesses of 4 or 8 bytes, and along a row `window / 64` for the chunks between.

mod scaling;
mod sliding;
mod strips;

pub(super) use scaling::scaled;
pub use sliding::Bytes;
pub use strips::Strips;
