//! Runs recipes on the host with the GPU's own kernels, and reports every violation: [`apron_simt`] finds those within
//! a launch, this crate those between the launches and blocks of a recipe.
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

use apron_core::{Error, Result};
use apron_plan::{Recipe, Role};
use apron_simt::{Costs, Geometry, Memory, launch_kernel};

/// Runs a recipe on `input` and returns the bytes of its output.
///
/// Recipes whose blocks share zeroed memory run again with the blocks in reverse order, and must give the same output:
/// otherwise a dependence on the order of blocks would go unnoticed. Of all others, launches of several rows
/// of blocks have one more than they need, as grids of over 65,535 rows may have on a GPU: it must do nothing.
///
/// # Errors
/// [`Error::Fault`] for the first violation of a kernel, and [`Error::Shape`] if there is no memory for the stacks of a
/// block's threads.
///
/// # Panics
/// If the size of `input` differs from the recipe's input, or the recipe has no output.
pub fn execute(recipe: &Recipe, input: &[u8]) -> Result<Vec<u8>> {
    execute_beside(recipe, input, &[])
}

/// As [`execute`], with a second input, which is empty for recipes that take none.
///
/// # Errors
/// As [`execute`].
///
/// # Panics
/// As [`execute`], and if the size of `beside` differs from the recipe's.
pub fn execute_beside(recipe: &Recipe, input: &[u8], beside: &[u8]) -> Result<Vec<u8>> {
    let meet = recipe.buffers.iter().any(|buffer| buffer.role == Role::Zeroed);
    let (output, _) = run(recipe, input, beside, (false, u32::from(!meet)))?;
    if meet && run(recipe, input, beside, (true, 0))?.0 != output {
        return Err(fault(recipe, "the output depends on the order of the blocks"));
    }
    Ok(output)
}

/// Runs a recipe on `input` once, and returns the cost of each launch.
///
/// # Errors
/// # Panics
/// As [`execute`].
pub fn costs(recipe: &Recipe, input: &[u8]) -> Result<Vec<Costs>> {
    run(recipe, input, &[], (false, 0)).map(|(_, costs)| costs)
}

/// Runs the blocks in order or backwards, with `surplus` rows of blocks more.
fn run(
    recipe: &Recipe,
    input: &[u8],
    beside: &[u8],
    (backwards, surplus): (bool, u32),
) -> Result<(Vec<u8>, Vec<Costs>)> {
    let mut costs = Vec::new();
    let mut memory = Memory::new();
    let addresses: Vec<u64> = recipe
        .buffers
        .iter()
        .map(|buffer| match buffer.role {
            Role::Input | Role::Beside => {
                let given = if buffer.role == Role::Beside { beside } else { input };
                assert_eq!(given.len() as u64, buffer.size_bytes(), "size of the input, in bytes");
                memory.add_written(buffer.element, given)
            }
            Role::Texture { width, height } => memory.add_texture(width, height, input),
            Role::Scratch | Role::Output => memory.add_unwritten(buffer.element, buffer.elems),
            Role::Zeroed => memory.add_written(buffer.element, &vec![0; buffer.size_bytes() as usize]),
        })
        .collect();
    for step in &recipe.launches {
        let facts = step.kernel.facts();
        let geometry = Geometry {
            kernel: facts.entry,
            // A single row of blocks is never one of too many.
            blocks: [step.blocks[0], step.blocks[1] + if step.blocks[1] > 1 { surplus } else { 0 }],
            block: facts.block,
            shared_bytes: step.shared_bytes,
            barriers: facts.barriers[0] > 0,
            backwards,
        };
        geometry.reserve_stacks().map_err(|error| no_stacks(&geometry, &error))?;
        let (src, dst, params) = (addresses[step.src], addresses[step.dst], step.params_at(&addresses));
        let ended = launch_kernel(&mut memory, &geometry, &step.taps, step.kernel, [src, dst], &params);
        costs.push(ended.map_err(|fault| Error::Fault { fault: fault.to_string() })?);
    }
    for (buffer, &address) in recipe.buffers.iter().zip(&addresses) {
        let left = if buffer.role == Role::Zeroed { memory.first_not_zero(address) } else { None };
        if let Some(element) = left {
            return Err(fault(recipe, &format!("element {element} of the zeroed memory is not 0 again")));
        }
    }
    let output = recipe.buffers.iter().position(|buffer| buffer.role == Role::Output).expect("a recipe has an output");
    let output = memory.take(addresses[output]).map_err(|what| fault(recipe, &what))?;
    Ok((output, costs))
}

/// Returns the error for exhausted memory, in the words of [`apron_core::check_memory`].
fn no_stacks(geometry: &Geometry, error: &std::io::Error) -> Error {
    let [width, height] = geometry.block;
    let (threads, bytes) = (width * height, geometry.stack_bytes());
    let value = format!("{bytes} bytes (stacks of {threads} emulated threads)");
    Error::Shape { what: "size", value, limit: format!("what memory there is ({error}); --device cpu needs no stacks") }
}

fn fault(recipe: &Recipe, what: &str) -> Error {
    Error::Fault { fault: format!("{}: {what}", recipe.operation) }
}
