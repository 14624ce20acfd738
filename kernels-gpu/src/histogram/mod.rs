//! Histograms of bytes, of f32 between edges, and of any samples by slices: partial histograms in shared memory, and
//! their sum. Statistics of floats: sums of rows, and of those.

mod columns;
mod edges;
mod extremes;
mod fold;
mod merge;
mod one_launch;
mod partial;
mod reads;
mod rows;
mod slices;
mod sums;
mod totals;

pub use columns::Columns;
pub use edges::{Edges, Nearest, Search};
pub use extremes::Extremes;
pub use fold::Fold;
pub use merge::Merge;
pub use one_launch::OneLaunch;
pub use partial::Partial;
pub use rows::Rows;
pub use slices::{Celled, Slices};
pub use sums::Sums;

/// The channel of a sample.
#[inline(always)]
fn channel_of(sample: u64, channels: u32) -> u32 {
    // A 64-bit division would be a call; the channels are few enough to name.
    match channels {
        1 => 0,
        2 => (sample % 2) as u32,
        3 => (sample % 3) as u32,
        _ => (sample % 4) as u32,
    }
}
