//! One pass of a separable filter, a file a variant.

mod simple;
mod tiled;

pub use simple::Simple;
pub use tiled::Tiled;
