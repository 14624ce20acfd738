//! Tables for bytes: samples replaced by what a table has for them, the table that equalises a histogram, and those that
//! equalise by tiles.

mod blend;
mod equalize;
mod table;
mod tiles;

pub use blend::Blend;
pub use equalize::Equalize;
pub use table::Table;
pub use tiles::Tiles;
