//! Box filters of bytes, four per word: see the [module](super).
//!
//! A 32-bit word holds one pixel of three or four channels. With two channels or one it holds two or four pixels, one
//! from each of the strip's two or four parts, at the same column of the part. Sums along a row take 16 bits each, in
//! two words: the sums of bytes 0 and 2, and of bytes 1 and 3.
//!
//! Sums of bytes are exact in any order, so windows slide, along a row from the first window of a chunk, and down a
//! column from step to step: a window adds the word that enters and subtracts the word that leaves. Down the column,
//! sums of windows of up to [`BOX_PACKED`](apron_abi::BOX_PACKED) bytes stay packed; those of larger windows take four
//! words.
//!
//! Per word: 5 shared accesses of 4 or 8 bytes, and along a row `width / 64` more for the chunks between the first and
//! the last chunk of a window.

mod scaling;
mod sliding;
mod strips;

pub(super) use scaling::scaled;
pub use sliding::Bytes;
pub use strips::Strips;
