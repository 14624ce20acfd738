//! Named filters. Each is one entry of one file in this folder; [`definitions`] lists them all.
//!
//! From an entry come its type here, its method on [`Device`](crate::Device) with setters of its options, its
//! verb on the command line with help, manual page and completions, its place in `docs/filters.md`, and its
//! tests on every device.

#[macro_use]
pub(crate) mod definition;

mod bells;
mod derivatives;
mod effects;
mod gradient;
mod values;
mod windows;

pub use apron_core::filters::{gaussian, gaussian_derivative, mask_names, mean, named_mask};
pub use bells::*;
pub use definition::{Allowed, Definition, Parameter, Value};
pub use derivatives::*;
pub use effects::*;
pub use gradient::*;
pub use values::{Orders, Sigma, Size};
pub use windows::*;

/// Lists all named filters.
pub fn definitions() -> impl Iterator<Item = &'static Definition> {
    // A file that is missing here does not compile: its list would be dead code, which the macro denies.
    [derivatives::DEFINITIONS, gradient::DEFINITIONS, bells::DEFINITIONS, effects::DEFINITIONS, windows::DEFINITIONS]
        .into_iter()
        .flatten()
}
