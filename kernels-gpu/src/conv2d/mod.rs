//! Dense 2-D correlation, a file a variant.

mod tiled;

pub use tiled::Tiled;
