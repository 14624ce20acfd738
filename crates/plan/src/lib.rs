//! From a [`Problem`] to a [`Recipe`]: which kernels run, on which buffers, with which arguments.
//!
//! A recipe is a value. It is compared in tests without any device, and the executors (GPU and
//! emulator) only run it: they know no operation.
#![forbid(unsafe_code)]

mod conv1d;
mod conv2d;
mod histogram;
mod recipe;

pub use recipe::{Buffer, Launch, Recipe, Role};

use apron_core::{Error, Problem, Result};

/// The device that errors name: recipes run on the GPU and in the emulator.
const DEVICE: &str = "gpu";

/// The implementations of the problem's operation by kernels, the preferred one first.
pub fn variants(problem: &Problem) -> &'static [&'static str] {
    match problem {
        Problem::Correlate(_) => &["tiled"],
        Problem::Separable(_) => &["simple"],
        Problem::ByteHistogram(_) => &["partials"],
    }
}

/// The recipe for `problem`, by `variant` if one is named and else by the preferred one.
///
/// # Errors
/// [`Error::Parameter`] for a variant that the operation does not have, [`Error::Unsupported`]
/// for a problem that the variant's kernels cannot solve, and what is wrong with the problem itself.
pub fn plan(problem: &Problem, variant: Option<&str>) -> Result<Recipe> {
    let known = variants(problem);
    let (variant, why) = match variant {
        Some(name) => match known.iter().find(|known| **known == name) {
            Some(known) => (*known, "asked for by name"),
            None => {
                let value = format!("'{name}'");
                return Err(Error::parameter(
                    problem.operation(),
                    "variant",
                    value,
                    format!("one of {}", known.join(", ")),
                ));
            }
        },
        None => (known[0], "the preferred variant"),
    };
    match problem {
        Problem::Correlate(problem) => conv2d::tiled(problem, variant, why),
        Problem::Separable(problem) => conv1d::simple(problem, variant, why),
        Problem::ByteHistogram(problem) => histogram::partials(problem, variant, why),
    }
}

/// A problem beyond a variant's limits.
fn unsupported(operation: &'static str, what: String, hint: &str) -> Error {
    Error::Unsupported { operation, device: DEVICE.into(), what, hint: hint.into() }
}

/// Blocks of a flat grid; CUDA allows 2^31 - 1.
fn flat_grid(operation: &'static str, blocks_x: u32, blocks_y: u32) -> Result<u32> {
    let blocks = blocks_x as u64 * blocks_y as u64;
    if blocks > i32::MAX as u64 {
        return Err(unsupported(operation, format!("grids of {blocks} blocks"), "use --device cpu"));
    }
    Ok(blocks as u32)
}
