//! Sums over windows of any size, for a few operations per sample: what the families `boxes` and `local` share.

mod ordered;
mod sliding;
mod terms;

pub use ordered::{FinishOrdered, OrderedColumns, OrderedRows};
pub use sliding::{Finish, Sliding, Totals};
pub use terms::Whole;
