//! Statistics of floats in a fixed order: sums of rows, and of those.

mod fold;
mod rows;

pub use fold::Fold;
pub use rows::Rows;
