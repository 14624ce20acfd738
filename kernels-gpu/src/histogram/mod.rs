//! Byte histograms: partial histograms in shared memory, then their sum.

mod merge;
mod partial;

pub use merge::Merge;
pub use partial::Partial;
