//! Images of other crates as Apron's, and back: without a copy wherever the samples lie in rows already.

#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(feature = "image")]
mod pictures;
