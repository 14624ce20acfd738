//! Byte histograms: partial histograms in shared memory, then their sum.

mod columns;
mod merge;
mod partial;

pub use columns::Columns;
pub use merge::Merge;
pub use partial::Partial;
