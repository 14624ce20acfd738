//! Sums over windows of any size, for a few operations per sample: what the families `boxes` and `local` share.

mod ordered;
mod outputs;
mod quads;
mod sliding;
mod terms;
mod totals;

pub use ordered::{FinishOrdered, OrderedColumns, OrderedRows};
pub(crate) use outputs::{rounded, ONES};
pub use quads::{Sums, QUAD};
pub use sliding::{Finish, Sliding};
pub use terms::Whole;
pub use totals::Totals;
