//! Planning: turns a [`Problem`] into a [`Recipe`]: which kernels run, on which buffers, with which arguments.
//!
//! A recipe is a plain value that tests compare without a device; the executors (GPU and emulator) run it without
//! knowing the operation.
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod boxes;
mod catalogue;
mod choice;
mod conv1d;
mod conv2d;
mod examples;
mod fft;
mod histogram;
mod kernels;
pub mod limits;
mod local;
mod lookup;
mod machine;
mod march;
mod ordered;
mod paired;
mod patch;
mod pointwise;
mod recipe;
mod rewrite;
mod rgba;
mod statistics;
mod summation;
#[cfg(test)]
mod timing;
pub mod tuning;
mod variant;
mod volumes;
mod windows;
mod words;

pub use catalogue::{VARIANTS, variants};
pub use examples::Example;
pub use histogram::edges::extremes;
pub use histogram::places::places;
pub use histogram::values::{most_ranks, ranks};
pub use machine::{Machine, Tuning};
pub use recipe::{Buffer, Launch, MAX_GRID_ROWS, ROW_ALIGNMENT, Recipe, Role, batch_bytes, image_step};
pub use statistics::integer_totals;
pub use variant::Variant;
pub use volumes::is_faster_in_doubles;

use apron_core::{Error, FilterProblem, Problem, Result, check_computed};
use recipe::Steps;
use rewrite::{low_rank, scale, widen};
use tuning::{TABLE, Table, Work};
pub(crate) use variant::unsupported;

/// Registers, spills and static shared memory of each kernel for each architecture, as comma-separated values that
/// `cargo xtask ptx` writes: a line that names the assembler, a line of column names, and the rows.
pub const RESOURCES: &str = include_str!("../resources.csv");

/// Returns the recipe for `problem` on `machine`: with the named `variant`, or with the one that the [tuning
/// table](tuning) ranks first among those that take the problem.
///
/// # Errors
/// [`Error::Parameter`] for a variant that the operation does not have, [`Error::Unsupported`] for a problem that the
/// variant's kernels (if none is named, all kernels) cannot solve, and the errors of invalid problems.
pub fn plan(problem: &Problem, variant: Option<&str>, machine: &Machine) -> Result<Recipe> {
    plan_from(&TABLE, problem, variant, machine)
}

fn plan_from(table: &Table, problem: &Problem, variant: Option<&str>, machine: &Machine) -> Result<Recipe> {
    match problem {
        // Conversions and filters of volumes take more types, and padding only moves samples.
        Problem::Filter(FilterProblem::Pointwise(_) | FilterProblem::Pad(_) | FilterProblem::Volume(_)) => {}
        Problem::Filter(filter) => check_computed(filter.operation(), (filter.src(), filter.dst()))?,
        _ => {}
    }
    if let Some(of_floats) = widen::of_floats(problem) {
        // Kernels of the 16-bit type itself are preferred where they take the problem.
        let own = match problem {
            Problem::Filter(FilterProblem::Correlate(_) | FilterProblem::Separable(_)) => {
                match by_own(table, problem, variant, machine) {
                    Err(refused @ Error::Unsupported { .. }) => Some(refused),
                    planned => return planned,
                }
            }
            _ => None,
        };
        return match (plan_from(table, &of_floats, variant, machine), own) {
            // The error names the type of the given samples, not the one after widening.
            (Err(Error::Unsupported { .. }), Some(refused)) => Err(refused),
            (recipe, _) => Ok(widen::widened(problem, &of_floats, recipe?)),
        };
    }
    if let Problem::Filter(FilterProblem::LowRank(sum)) = problem {
        return low_rank::summed(sum, |term| plan_from(table, term, variant, machine));
    }
    if let (None, Problem::Filter(FilterProblem::Scaled(scaled))) = (variant, problem)
        && let Some(sums) = scale::exact_sums(scaled)
    {
        return scale::scaled(scaled, plan_from(table, &sums, None, machine)?);
    }
    by_own(table, problem, variant, machine)
}

/// Returns the recipe with kernels of the problem's own types, without widening.
fn by_own(table: &Table, problem: &Problem, variant: Option<&str>, machine: &Machine) -> Result<Recipe> {
    match variant {
        Some(name) => by_name(table, problem, name, machine),
        None => choice::by_table(table, problem, machine),
    }
}

/// As [`plan`], with an empty tuning table.
#[cfg(test)]
fn untuned(problem: &Problem, variant: Option<&str>, machine: &Machine) -> Result<Recipe> {
    plan_from(&Table::default(), problem, variant, machine)
}

fn by_name(table: &Table, problem: &Problem, name: &str, machine: &Machine) -> Result<Recipe> {
    let operation = problem.operation();
    let Some(variant) = variants(operation).find(|known| known.name == name) else {
        let names: Vec<_> = variants(operation).map(|known| known.name).collect();
        let (value, limit) = (format!("'{name}'"), format!("one of {}", names.join(", ")));
        return Err(Error::parameter(operation, "variant", value, limit));
    };
    let tuning = table.tuning(variant, &Work::of(problem), machine);
    recipe(problem, variant, tuning, machine).unwrap_or_else(|| {
        let what = format!("variant {name} for pixels of this type");
        Err(unsupported(operation, what, "leave the variant to the plan"))
    })
}

/// Returns the recipe of a variant, with the measured grid unless the machine overrides it; `None` if the problem is
/// not of the variant's kind.
fn recipe(problem: &Problem, variant: &Variant, measured: Option<Tuning>, machine: &Machine) -> Option<Result<Recipe>> {
    let tuning = machine.tuning.or(measured).map(Tuning::possible);
    let steps = variant.planner.steps(problem, variant, &Machine { tuning, ..*machine })?;
    Some(within(variant, steps, machine))
}

/// Returns the recipe of a variant's steps, or an error if the machine cannot run them.
fn within(variant: &Variant, steps: Result<Steps>, machine: &Machine) -> Result<Recipe> {
    let hint = "leave the variant to the plan";
    let lowest = variant.family.lowest_target();
    if machine.target < lowest {
        let what = format!("variant {} below compute capability {}.{}", variant.name, lowest / 10, lowest % 10);
        return Err(unsupported(variant.operation, what, hint));
    }
    let (buffers, launches) = steps?;
    if let Some(launch) = launches.iter().find(|launch| launch.shared_bytes > machine.shared_bytes) {
        let (needs, has) = (launch.shared_bytes, machine.shared_bytes);
        let what = format!("variant {} with {has} bytes of shared memory a block ({needs} are needed)", variant.name);
        return Err(unsupported(variant.operation, what, hint));
    }
    Ok(Recipe {
        operation: variant.operation,
        variant: variant.name,
        why: "asked for by name".into(),
        buffers,
        launches,
        images: 1,
    })
}
