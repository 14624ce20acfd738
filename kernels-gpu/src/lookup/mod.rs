//! Lookup tables: the replacement of bytes by their entries; the table that equalises a histogram of bytes; the tables
//! that equalise by tiles (CLAHE), for bytes and 16-bit samples.

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
