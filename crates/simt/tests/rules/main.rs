//! A planted bug of each kind, and that it is found.
#![allow(missing_docs)]

mod copies;
mod planted;
