//! Separable correlation, a pass at a time or both at once, a file a variant.

mod fused;
mod simple;
mod tiled;

pub use fused::Fused;
pub use simple::Simple;
pub use tiled::Tiled;
