//! Tables for bytes: samples replaced by what a table has for them, the table that equalises a histogram, and those that
//! equalise by tiles; these for 16 bits, too.

mod blend;
mod counts;
mod equalize;
mod table;
mod tiles;
mod wide;

pub use blend::{Blend, Valued};
pub use counts::Counts;
pub use equalize::Equalize;
pub use table::Table;
pub use tiles::Tiles;
pub use wide::WideTables;
