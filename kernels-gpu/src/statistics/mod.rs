//! Statistics: of floats, sums in a fixed order, along rows and then of the rows; of integers, exact sums.

mod fold;
mod rows;
mod totals;

pub use fold::Fold;
pub use rows::Rows;
pub use totals::Totals;
