//! Sums over windows of any size, for a few operations per sample: what the families `boxes` and `local` share.

mod sliding;

pub use sliding::{Finish, Sliding, Totals, Whole};
