//! Sums over windows of any size, for a few operations per sample: what the families `boxes` and `local` share.

mod ordered;
mod sliding;
mod terms;

pub(crate) use ordered::ordered_sum;
pub use sliding::{Finish, Sliding, Totals};
pub use terms::Whole;
