//! The kernel table, as code that runs when this crate is built: each family states its axes (sides, channels, types,
//! alignment of rows) once, as lists, and derives one row per kernel from them.
//!
//! The rows become the macro `for_each_kernel!` in `kernels.rs` of `OUT_DIR`. Both the host's kernel table and the
//! entries of the PTX are generated from that macro, so neither can have a kernel that the other lacks.

mod boxes;
mod conv1d;
mod conv2d;
mod fft;
mod histogram;
mod limits;
mod local;
mod lookup;
mod march;
mod paired;
mod patch;
mod pointwise;
mod rgba;
mod statistics;
mod volumes;
mod words;

use std::fmt::Write;

/// A group of kernels: a folder or file of this name here, in `src`, in `kernels-gpu/src` and in `crates/plan/src`, and
/// the first part of the names of its kernels and variants.
pub(crate) struct Family {
    name: &'static str,
    /// Description of its kernels, for the generated documentation.
    about: &'static str,
    /// Ten times the compute capability of the oldest GPUs that run its kernels.
    lowest_target: u32,
    /// Returns its kernels; the kernels of a variant are adjacent.
    rows: fn() -> Vec<Row>,
}

/// Every family, in the order of the table.
const FAMILIES: &[Family] = &[
    conv1d::FAMILY,
    conv2d::FAMILY,
    volumes::FAMILY,
    march::FAMILY,
    paired::FAMILY,
    patch::FAMILY,
    words::FAMILY,
    boxes::FAMILY,
    rgba::FAMILY,
    histogram::FAMILY,
    statistics::FAMILY,
    limits::FAMILY,
    pointwise::FAMILY,
    local::FAMILY,
    lookup::FAMILY,
    fft::FAMILY,
];

/// A kernel. Its fields are Rust expressions, for the scope of `src/kernel.rs`, or of `entry.rs` in `kernels-gpu`.
pub(crate) struct Row {
    variant: &'static str,
    stage: String,
    body: String,
    types: [&'static str; 2],
    params: &'static str,
    program: &'static str,
    source: &'static str,
    taps: &'static str,
    block: &'static str,
    shared: String,
    barriers: [u32; 2],
    residents: u32,
}

/// Returns the row of a kernel of `variant` (without the family's name) that reads and writes buffers of `types`,
/// with `params`, and runs `body`, a path in `kernels-gpu`. By default it has no taps, no shared memory, no barriers,
/// and blocks of 32x8 threads.
pub(crate) fn kernel(
    variant: &'static str,
    stage: impl Into<String>,
    types: [&'static str; 2],
    body: impl Into<String>,
    params: &'static str,
) -> Row {
    Row {
        variant,
        stage: stage.into(),
        body: body.into(),
        types,
        params,
        program: "-",
        source: "Buffer",
        taps: "None",
        block: "SIMPLE_BLOCK",
        shared: "SharedMemory::Bytes(0)".into(),
        barriers: [0; 2],
        residents: 1,
    }
}

impl Row {
    /// Sets the program of the source articles that the kernel implements.
    pub(crate) fn program(self, program: &'static str) -> Row {
        Row { program, ..self }
    }

    /// Makes the kernel read a texture instead of a buffer.
    pub(crate) fn texture(self) -> Row {
        Row { source: "Texture", ..self }
    }

    /// Sets the location of the taps, a variant of `TapSpace`.
    pub(crate) fn taps(self, taps: &'static str) -> Row {
        Row { taps, ..self }
    }

    /// Sets the threads per block, x and y.
    pub(crate) fn block(self, block: &'static str) -> Row {
        Row { block, ..self }
    }

    /// Sets the shared memory per block, and the barriers per thread, with loops of fixed length unrolled.
    pub(crate) fn shared(self, shared: impl Into<String>, barriers: u32) -> Row {
        Row { shared: shared.into(), barriers: [barriers; 2], ..self }
    }

    /// Sets the barriers per thread for the oldest targets and for sm_90, where the compiler unrolls a loop
    /// for one of them only.
    pub(crate) fn barriers(self, barriers: [u32; 2]) -> Row {
        Row { barriers, ..self }
    }

    /// Sets the minimum resident blocks per multiprocessor, for which the assembler limits registers.
    pub(crate) fn residents(self, residents: u32) -> Row {
        Row { residents, ..self }
    }
}

/// Adds the kernels that slide windows over integers: for each type of samples and of their sums, the kernel that sums
/// columns by chunks of rows, and the kernel that slides, for outputs of any type. `finish` computes an output from
/// `terms` sums.
pub(crate) fn sliding(rows: &mut Vec<Row>, sums: &[(&'static str, &[&'static str])], (finish, terms): (&str, u32)) {
    let pairs = || sums.iter().flat_map(|&(src, sums)| sums.iter().map(move |&sum| (src, sum)));
    for (stage, (src, sum)) in
        ["totals", "windows"].into_iter().flat_map(|stage| pairs().map(move |pair| (stage, pair)))
    {
        let of = |body: String| kernel("sliding", stage, [src, sum], body, "SlidingParams").block("[WINDOWS_BLOCK, 1]");
        let bytes = if sum == "u32" { 4 } else { 8 };
        if stage == "totals" {
            rows.push(of(format!("windows::Totals<{src}, {sum}, {terms}>")).residents(if terms * bytes > 8 {
                2
            } else {
                3
            }));
            continue;
        }
        let row = of(format!("windows::Sliding<{src}, {sum}, {finish}, {terms}>"));
        // As many blocks as shared memory has room for.
        let row = row.residents(match terms * bytes {
            4 => 3,
            8 => 2,
            _ => 1,
        });
        rows.push(row.shared(format!("SharedMemory::SlidingTile([{terms}, {bytes}])"), 3));
    }
}

/// Adds the kernels that sum windows of floats in order: for each type of samples, the kernel along rows, and for each
/// type of outputs, the kernel down columns. `finish` computes an output from `terms` sums.
pub(crate) fn ordered(
    rows: &mut Vec<Row>,
    srcs: &[&'static str],
    (sum, finish, terms): (&'static str, &str, u32),
    dsts: &[&'static str],
) {
    let bytes = if sum == "f64" { 8 } else { 4 };
    for &src in srcs {
        let body = format!("windows::OrderedRows<{src}, {sum}, {terms}, {}>", 8 / terms);
        let row = kernel("ordered", "rows", [src, sum], body, "OrderedParams").block("[WINDOWS_BLOCK, 1]");
        // Samples of f64 take twice the registers.
        let (input, residents) = if src == "f64" { (8, 4 - terms) } else { (4, 5 - terms) };
        rows.push(
            row.shared(format!("SharedMemory::OrderedTile([{terms}, {bytes}, {input}])"), 3).residents(residents),
        );
    }
    for &dst in dsts {
        // Middles of several steps are computed together: of half as many if there are two terms, which take twice the
        // registers.
        let body = format!("windows::OrderedColumns<{sum}, {dst}, {finish}, {terms}, {}>", 8 / terms);
        let row = kernel("ordered", "columns", [sum, dst], body, "OrderedParams").block("[ORDERED_BLOCK, 1]");
        let shared = format!("SharedMemory::Bytes(ORDERED_LISTS + {} * BOX_CHUNK * ORDERED_BLOCK)", terms * bytes);
        rows.push(row.shared(shared, 1).residents(if terms == 1 { 6 } else { 4 }));
    }
}

/// Returns the type's name as entries contain it: kernels hold the bits of an f16 in a `Half`, and those of a bool in a
/// `Bool`.
fn type_name(rust: &str) -> &str {
    match rust {
        "Half" => "f16",
        "Bool" => "bool",
        rust => rust,
    }
}

/// Returns the odd numbers from `from` to `to`.
fn odd(from: u32, to: u32) -> impl Iterator<Item = u32> {
    (from..=to).step_by(2)
}

/// Returns the tag of a type: `ElementType::F32` for `f32`.
fn element(rust: &str) -> String {
    format!("ElementType::{}", type_name(rust).to_uppercase())
}

fn camel(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the variant's full name: the family's, and the variant's own if it has one.
fn variant_name(family: &Family, row: &Row) -> String {
    if row.variant.is_empty() { family.name.into() } else { format!("{}-{}", family.name, row.variant) }
}

/// Returns the entry's name: variant, stage and types.
fn entry_name(family: &Family, row: &Row) -> String {
    let stage = if row.stage.is_empty() { String::new() } else { format!("_{}", row.stage) };
    let [src, dst] = row.types.map(type_name);
    format!("{}{stage}_{src}_{dst}", variant_name(family, row)).replace('-', "_")
}

/// Returns the text of `kernels.rs`: the families, and the macro of all kernels.
pub(crate) fn generated() -> String {
    let mut text = String::new();
    let names = |of: &dyn Fn(&Family) -> String| FAMILIES.iter().map(of).collect::<Vec<_>>().concat();
    let variants = names(&|f| format!("    /// {}\n    {},\n", f.about, camel(f.name)));
    let all = names(&|f| format!("Family::{}, ", camel(f.name)));
    let lowest = names(&|f| format!("Family::{} => {}, ", camel(f.name), f.lowest_target));
    let named = names(&|f| format!("Family::{} => \"{}\", ", camel(f.name), f.name));
    let count = FAMILIES.len();
    write!(
        text,
        "/// A group of kernels: a folder of `kernels-gpu`, and the first part of its kernels' and variants' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {{\n{variants}}}

impl Family {{
    /// Every family.
    pub const ALL: [Family; {count}] = [{all}];

    /// The oldest GPUs that run it, as compute capability times ten: 75 for sm_75.
    pub const fn lowest_target(self) -> u32 {{
        match self {{ {lowest} }}
    }}

    /// The family's name.
    pub const fn name(self) -> &'static str {{
        match self {{ {named} }}
    }}
}}

/// Calls `$then!` with every kernel: `entry: Family \"family\" \"program\" \"variant\" \"stage\", body, source (src,
/// dst), params, taps, block, shared, barriers, residents;`.
#[macro_export]
macro_rules! for_each_kernel {{
    ($then:ident) => {{ $then! {{\n"
    )
    .expect("a string takes all");
    for family in FAMILIES {
        for row in (family.rows)() {
            let Row { stage, body, params, program, source, taps, block, shared, barriers, residents, .. } = &row;
            let ([src, dst], name, camel) = (row.types, family.name, camel(family.name));
            let (entry, variant) = (entry_name(family, &row), variant_name(family, &row));
            writeln!(
                text,
                "{entry}: {camel} \"{name}\" \"{program}\" \"{variant}\" \"{stage}\", {body}, {source} ({src}, {dst}), \
                 {params}, {taps}, {block}, {shared}, {barriers:?}, {residents};"
            )
            .expect("a string takes all");
        }
    }
    text.push_str("    } };\n}\n");
    text
}
