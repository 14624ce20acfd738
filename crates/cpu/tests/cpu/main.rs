//! The CPU backend against the references.
#![allow(missing_docs)]

mod agreement;
mod histograms;
mod lookup;
mod pointwise;
mod windows;
