//! Kernels in the emulator: what they give, and what they cost.
#![allow(missing_docs)]

mod additions;
mod boxes;
mod columns;
mod costs;
mod limits;
mod one_launch;
mod pointwise;
