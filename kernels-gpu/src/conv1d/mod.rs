//! Separable correlation, one pass at a time or both at once; one file per variant.

mod blocked;
mod fused;
mod simple;
mod tiled;

pub use blocked::{BlockedColumns, BlockedRows};
pub use fused::Fused;
pub use simple::Simple;
pub use tiled::Tiled;
