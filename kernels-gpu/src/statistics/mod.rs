//! Statistics of floats in a fixed order: sums along rows, and the sums of these.

mod fold;
mod rows;
mod totals;

pub use fold::Fold;
pub use rows::Rows;
pub use totals::Totals;
