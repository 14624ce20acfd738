//! The library's promises, on every available device. One test program, because each one embeds all kernels.
#![allow(missing_docs)]

mod batches;
mod chain;
mod edge_cases;
mod joint;
mod library;
mod limits;
mod march;
mod named;
mod paired;
mod pixels;
mod promises;
mod properties;
mod regions;
mod repeats;
mod rows;
mod streams;
mod strips;
mod targets;
mod team;
mod threads;
mod volumes;
mod words;
