//! Sums over windows of any size, at a cost of a few operations per sample: code shared by the families `boxes` and
//! `local`.

mod ordered;
mod outputs;
mod prefix;
mod quads;
mod sliding;
mod terms;
mod totals;

pub use ordered::{FinishOrdered, OrderedColumns, OrderedRows};
pub(crate) use outputs::{rounded, ONES};
pub(crate) use prefix::{Image, Loaded, Vector, BYTES, TOGETHER, WORDS};
pub use prefix::{Prefix, Strip, WindowSums};
pub use quads::{Sums, QUAD};
pub use sliding::{Finish, Sliding};
pub use terms::Whole;
pub use totals::Totals;
