//! From a [`Problem`] to a [`Recipe`]: which kernels run, on which buffers, with which arguments.
//!
//! A recipe is a value. It is compared in tests without any device, and the executors (GPU and
//! emulator) only run it: they know no operation.
#![forbid(unsafe_code)]

mod box_filter;
mod conv1d;
mod conv2d;
mod edges;
mod histogram;
pub mod limits;
mod machine;
mod march;
mod recipe;
mod rgba;
mod rounding;
mod variant;

pub use edges::extremes;
pub use machine::Machine;
pub use recipe::{Buffer, Launch, Recipe, Role};
pub use variant::{VARIANTS, Variant, variants};

use apron_core::{Error, Problem, Result};

/// The device that errors name: recipes run on the GPU and in the emulator.
const DEVICE: &str = "gpu";

/// The recipe for `problem` on `machine`: by `variant` if one is named, else by the first in the order of
/// preference within whose limits the problem is.
///
/// # Errors
/// [`Error::Parameter`] for a variant that the operation does not have, [`Error::Unsupported`]
/// for a problem that the variant's kernels (if none is named, all kernels) cannot solve, and what is wrong with the
/// problem itself.
pub fn plan(problem: &Problem, variant: Option<&str>, machine: &Machine) -> Result<Recipe> {
    let operation = problem.operation();
    if let Some(name) = variant {
        return match variants(operation).find(|known| known.name == name) {
            Some(variant) if !variant.solves(problem) => {
                let what = format!("variant {name} for pixels of this type");
                Err(unsupported(operation, what, "leave the variant to the plan"))
            }
            Some(variant) => recipe(problem, variant, machine, "asked for by name"),
            None => {
                let names: Vec<_> = variants(operation).map(|known| known.name).collect();
                let (value, limit) = (format!("'{name}'"), format!("one of {}", names.join(", ")));
                Err(Error::parameter(operation, "variant", value, limit))
            }
        };
    }
    let mut known = variants(operation).filter(|variant| variant.solves(problem));
    let Some(first) = known.next() else {
        return Err(unsupported(operation, "kernels for it".into(), "use --device cpu"));
    };
    let preferred = recipe(problem, first, machine, "the preferred variant");
    if let Err(Error::Unsupported { .. }) = preferred {
        let others = known.map(|variant| recipe(problem, variant, machine, "the preferred variant does not take it"));
        // If none takes it, what the preferred one says is the error to know.
        return others.into_iter().find(Result::is_ok).unwrap_or(preferred);
    }
    preferred
}

fn recipe(problem: &Problem, variant: &Variant, machine: &Machine, why: &'static str) -> Result<Recipe> {
    let lowest = variant.family.lowest_target();
    if machine.target < lowest {
        let what = format!("variant {} below compute capability {}.{}", variant.name, lowest / 10, lowest % 10);
        return Err(unsupported(variant.operation, what, "leave the variant to the plan"));
    }
    let (buffers, launches) = variant.steps(problem, machine)?;
    if let Some(launch) = launches.iter().find(|launch| launch.shared_bytes > machine.shared_bytes) {
        let (needs, has) = (launch.shared_bytes, machine.shared_bytes);
        let what = format!("variant {} with {has} bytes of shared memory a block ({needs} are needed)", variant.name);
        return Err(unsupported(variant.operation, what, "leave the variant to the plan"));
    }
    Ok(Recipe { operation: variant.operation, variant: variant.name, why, buffers, launches })
}

/// A problem beyond a variant's limits.
fn unsupported(operation: &'static str, what: String, hint: &str) -> Error {
    Error::Unsupported { operation, device: DEVICE.into(), what, hint: hint.into() }
}
