//! What the library promises, on every device that is there. One program: each test program holds all kernels.
#![allow(missing_docs)]

mod batches;
mod chain;
mod edge_cases;
mod library;
mod limits;
mod march;
mod named;
mod pixels;
mod promises;
mod properties;
mod regions;
mod repeats;
mod streams;
mod targets;
mod threads;
mod words;
