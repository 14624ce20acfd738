//! Conversions between Apron's images and images of other crates: without a copy wherever the layout allows it.

#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(feature = "image")]
mod pictures;
