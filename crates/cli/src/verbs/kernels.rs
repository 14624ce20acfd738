//! `apron kernels`: lists the kernels.

use crate::error::Result;
use crate::report::{aligned, print};
use apron::{KernelInfo, SharedSize};
use serde_json::{Value, json};

#[derive(clap::Args)]
#[command(after_help = "\
A line for each kernel: program of the articles that it implements, operation, variant as --variant
takes it, which of the variant's kernels it is, element types, where the taps are, threads per block,
shared memory per block in bytes, and registers per thread by architecture. Then what each variant
takes.

Example:
  apron kernels --arch sm_90")]
pub(crate) struct Args {
    /// Registers for this architecture alone, such as sm_90
    #[arg(long, value_parser = arch)]
    arch: Option<String>,
    /// Report as one JSON object on stdout
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let mut kernels = apron::kernels();
    if let Some(arch) = &args.arch {
        kernels.iter_mut().for_each(|kernel| kernel.registers.retain(|(known, _)| known == arch));
    }
    if args.json {
        let kernels: Vec<Value> = kernels.iter().map(object).collect();
        return print(&format!("{}\n", json!({ "kernels": kernels })));
    }
    let architectures = architectures(&kernels);
    let formulas = formulas(&kernels);
    let notes: String = formulas
        .iter()
        .map(|formula| format!("{BY_PROBLEM}, in bytes ({}):\n    {formula}\n", variants(&kernels, formula)))
        .collect();
    print(&format!(
        "{}{notes}{}: registers per thread on {}\n\n{}",
        aligned(&table(&kernels, &architectures)),
        architectures.iter().map(number).collect::<Vec<_>>().join(", "),
        architectures.join(", "),
        aligned(&limits(&kernels)),
    ))
}

/// Parses an architecture whose register counts are known.
fn arch(text: &str) -> Result<String, String> {
    let known = architectures(&apron::kernels());
    match known.contains(&text) {
        true => Ok(text.into()),
        false => Err(format!("must be one of {}", known.join(", "))),
    }
}

/// Lists all architectures of all kernels, from the oldest.
fn architectures(kernels: &[KernelInfo]) -> Vec<&'static str> {
    let mut known = Vec::new();
    for (arch, _) in kernels.iter().flat_map(|kernel| &kernel.registers) {
        if !known.contains(arch) {
            known.push(*arch);
        }
    }
    // sm_90 before sm_100.
    known.sort_by_key(|arch| (arch.len(), *arch));
    known
}

/// Returns `75` for `sm_75`.
fn number<'a>(arch: &&'a str) -> &'a str {
    arch.strip_prefix("sm_").unwrap_or(arch)
}

/// Table entry for a size that depends on the problem; its formula is below the table.
const BY_PROBLEM: &str = "by problem";

/// Names the variants whose kernels have shared memory by a formula.
fn variants(kernels: &[KernelInfo], formula: &str) -> String {
    let of = |kernel: &&KernelInfo| matches!(kernel.shared, SharedSize::Formula(known) if known == formula);
    let mut names: Vec<&str> = kernels.iter().filter(of).map(|kernel| kernel.variant).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// Lists the formulas of shared memory.
fn formulas(kernels: &[KernelInfo]) -> Vec<&'static str> {
    let mut known = Vec::new();
    for kernel in kernels {
        if let SharedSize::Formula(formula) = kernel.shared
            && !known.contains(&formula)
        {
            known.push(formula);
        }
    }
    known
}

/// Makes the table of kernels, with headings.
fn table(kernels: &[KernelInfo], architectures: &[&str]) -> Vec<Vec<String>> {
    let headings = ["program", "operation", "variant", "stage", "types", "taps", "block", "shared"];
    // 75 for sm_75: the columns hold numbers of two or three digits.
    let architectures_by_number = architectures.iter().map(number);
    let headings = headings.into_iter().chain(architectures_by_number).map(String::from).collect();
    let rows = kernels.iter().map(|kernel| {
        let [x, y] = kernel.block;
        let facts = [
            kernel.program.into(),
            kernel.operation.into(),
            kernel.variant.into(),
            kernel.stage.into(),
            format!("{} -> {}", kernel.src, kernel.dst),
            kernel.taps.into(),
            format!("{x}x{y}"),
            match kernel.shared {
                SharedSize::Bytes(bytes) => bytes.to_string(),
                SharedSize::Formula(_) => BY_PROBLEM.into(),
            },
        ];
        let registers = architectures.iter().map(|arch| {
            let of_arch = kernel.registers.iter().find(|(known, _)| known == arch);
            of_arch.map_or("-".into(), |(_, registers)| registers.to_string())
        });
        facts.into_iter().chain(registers).collect()
    });
    std::iter::once(headings).chain(rows).collect()
}

/// Makes the table of the variants' limits, with headings.
fn limits(kernels: &[KernelInfo]) -> Vec<Vec<String>> {
    let row = |cells: [&str; 3]| cells.map(String::from).to_vec();
    let mut rows = vec![row(["operation", "variant", "limits"])];
    rows.extend(kernels.iter().map(|kernel| row([kernel.operation, kernel.variant, kernel.limits])));
    // The kernels of a variant are adjacent.
    rows.dedup();
    rows
}

fn object(kernel: &KernelInfo) -> Value {
    let registers = kernel.registers.iter().map(|(arch, registers)| (arch.to_string(), Value::from(*registers)));
    json!({
        "operation": kernel.operation,
        "variant": kernel.variant,
        "stage": kernel.stage,
        "program": kernel.program,
        "entry": kernel.entry,
        "src": kernel.src,
        "dst": kernel.dst,
        "taps": kernel.taps,
        "texture": kernel.texture,
        "block": kernel.block,
        "shared": match kernel.shared {
            SharedSize::Bytes(bytes) => Value::from(bytes),
            SharedSize::Formula(formula) => Value::from(formula),
        },
        "barriers": kernel.barriers,
        "limits": kernel.limits,
        "registers": Value::Object(registers.collect()),
    })
}
