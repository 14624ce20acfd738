//! Histograms of bytes, of other samples between edges, and of any samples by slices: partial histograms in shared
//! memory, and their sums; sums of weights by bin; histograms of many dimensions.

mod bins;
mod columns;
mod digits;
mod edges;
mod extremes;
mod joint;
mod merge;
mod one_launch;
mod partial;
mod places;
mod ranks;
mod reads;
mod scattered;
mod slices;
mod sums;
mod totals;
mod values;
mod weights;

pub use bins::Bins;
pub use columns::Columns;
pub use digits::Digits;
pub use edges::{Edges, Nearest, Search};
pub use extremes::Extremes;
pub use joint::{Cells, Columned, Joint};
pub use merge::Merge;
pub use one_launch::OneLaunch;
pub use partial::Partial;
pub use places::Places;
pub use ranks::Ranks;
pub use reads::Numbered;
pub use scattered::{Scattered, Totalled};
pub use slices::{Celled, Slices};
pub use sums::Sums;
pub use values::{ByPlace, ByUpperHalf, ByValue, InRange, Placed, Values};
pub use weights::Weights;

/// Returns the pixel of a sample.
#[inline(always)]
fn pixel_of(sample: u64, channels: u32) -> u64 {
    // A 64-bit division by a variable would be a call; by a constant it is not.
    match channels {
        1 => sample,
        2 => sample / 2,
        3 => sample / 3,
        _ => sample / 4,
    }
}

/// Returns the channel of a sample.
#[inline(always)]
fn channel_of(sample: u64, channels: u32) -> u32 {
    match channels {
        1 => 0,
        2 => (sample % 2) as u32,
        3 => (sample % 3) as u32,
        _ => (sample % 4) as u32,
    }
}
