//! The CPU against the references.
#![allow(missing_docs)]

mod agreement;
mod pointwise;
mod tone;
