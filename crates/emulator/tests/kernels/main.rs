//! Kernels in the emulator: their results and their costs.
#![allow(missing_docs)]

mod additions;
mod boxes;
mod columns;
mod costs;
mod deviations;
mod halves;
mod limits;
mod lines;
mod means;
mod numbers;
mod one_launch;
mod ordered;
mod pointwise;
mod ranks;
