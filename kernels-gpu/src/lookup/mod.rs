//! Tables for bytes: samples replaced by what a table has for them, and the table that equalises a histogram.

mod equalize;
mod table;

pub use equalize::Equalize;
pub use table::Table;
