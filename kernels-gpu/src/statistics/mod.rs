//! Statistics of floats in a fixed order: sums along rows, and the sums of these.

mod fold;
mod rows;

pub use fold::Fold;
pub use rows::Rows;
