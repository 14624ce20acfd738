//! Facts about every kernel, for choosing a variant and estimating its cost.

use apron_abi::{Kernel, SharedMemory, SourceSpace, TapSpace};
use apron_plan::{RESOURCES, VARIANTS, Variant};
use std::fmt;

/// Static facts about a kernel and about the variant that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelInfo {
    /// The operation, such as `correlate`: one of those that [`Report::operation`](crate::Report::operation) names.
    pub operation: &'static str,
    /// The implementation, by the name that [`FilterBuilder::variant`](crate::FilterBuilder::variant) takes.
    pub variant: &'static str,
    /// Which of the variant's kernels it is; empty if the variant has one kernel per pair of types.
    pub stage: &'static str,
    /// Program of the source articles that it implements; `-` for an intermediate rung of the ladder.
    pub program: &'static str,
    /// Entry name in the PTX.
    pub entry: &'static str,
    /// Element type of the input, such as `u8`.
    pub src: &'static str,
    /// Element type of the output.
    pub dst: &'static str,
    /// Memory of the taps: `parameter` or `symbol` in constant memory, `global`, or `none`.
    pub taps: &'static str,
    /// Whether it reads its input through a texture.
    pub texture: bool,
    /// Threads per block in x and y.
    pub block: [u32; 2],
    /// Shared memory per block.
    pub shared: SharedSize,
    /// Barriers per thread, in the PTX for the oldest targets.
    pub barriers: u32,
    /// Limits of the variant, besides the element types of its kernels.
    pub limits: &'static str,
    /// Registers per thread by architecture, such as `sm_90`, from the oldest. They are ptxas's for the committed PTX;
    /// a driver that compiles the PTX itself may allocate others.
    pub registers: Vec<(&'static str, u32)>,
}

/// Shared memory per block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedSize {
    /// A fixed size.
    Bytes(u32),
    /// A size that depends on the mask or the bins, as a formula.
    Formula(&'static str),
}

impl fmt::Display for SharedSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SharedSize::Bytes(bytes) => bytes.fmt(f),
            SharedSize::Formula(formula) => f.pad(formula),
        }
    }
}

/// [`SharedMemory::MaskTile`] as text.
const MASK_TILE: &str = "(31 + mask width) x (31 + mask height) x 4";

/// [`SharedMemory::Blocked`] as text, for 8 and for 16 output columns per thread.
const BLOCKED: &str = "(127 + mask width, up to a multiple of 8) x (63 + mask height) x 4";
const BLOCKED_WIDE: &str = "(127 + mask width, up to a multiple of 8) x (127 + mask height) x 4";

/// [`SharedMemory::BlockedPieces`] as text.
const PIECES: &str = "as many bytes as the plan's pieces of the mask take, up to all that a block may have";

/// [`SharedMemory::Tensor`] as text, for masks of up to 17 columns.
const TENSOR: &str = "288 x (95 + mask height) + 560 x mask height x digits per tap";

/// [`SharedMemory::TensorPairs`] as text, for masks of an odd number of rows.
const TENSOR_PAIRS: &str = "544 x (47 + mask height) + (304 x mask height + 256) x digits per tap";

/// [`SharedMemory::TensorAxes`] as text, for one window of 32 bytes and one pair of groups of rows.
const TENSOR_AXES: &str = "304 x (127 + taps y) + 4900";

/// [`SharedMemory::Words`] and [`SharedMemory::WordsAndSums`] as text, for blocks of several output rows.
const WORDS: &str =
    "about mask x bytes per sum + (128 + mask width x channels) x (rows + mask height) x bytes per sample";
const WORDS_AND_SUMS: &str =
    "about (15 + taps y) x ((128 + taps x x channels) x bytes per sample + 128 x bytes per sum)";

/// [`SharedMemory::FusedRows`] as text, for one channel and f32 output.
const FUSED_ROWS: &str = "about (32 x (147 + taps x) + (24 + taps y) x 132) x 4";

/// [`SharedMemory::RowsTile`] as text, for one channel and up to 32 columns of the mask.
const ROWS_TILE: &str = "about 9/8 x (255 + mask width) x (7 + mask height, up to 8) x bytes per sum";

/// [`SharedMemory::SlidingTile`] as text.
const SLIDING_TILE: &str = "the sums of each sample of a strip and one output, for each of eight rows";

/// [`SharedMemory::OrderedTile`] as text.
const ORDERED_TILE: &str = "a tile of input, and the sums of a piece of a row by chunk";

/// [`SharedMemory::BoxTile`] as text, for f32; u8 takes about half.
const BOX_TILE: &str = "about (32 x (strip + width) + (32 + height) x strip) x channels x 4";

/// [`SharedMemory::LocalTile`] as text, for f32; f64 takes twice the first term.
const LOCAL_TILE: &str = "(31 + height) x (64 + (width - 1) x channels) x 4 + (31 + height) x 1040";

/// [`SharedMemory::Edges`] as text, for counters that are privatized per lane.
const EDGES: &str = "(32 x (channels x (bins + 2) + 1) + bins + 2) x 4";

/// Lists the kernels of every variant, grouped by variant. Within an operation, the variants come first that are
/// preferred where no times were measured. A kernel that two variants share is listed for each.
///
/// ```
/// let kernels = apron::kernels();
/// let mut histograms = kernels.iter().filter(|kernel| kernel.operation == "histogram");
/// let partials = histograms.find(|kernel| kernel.stage == "partials").unwrap();
/// assert_eq!((partials.variant, partials.program, partials.block), ("histogram-partials", "P6", [256, 1]));
/// assert_eq!((partials.src, partials.dst, partials.shared.to_string()), ("u8", "u32", "8192".into()));
/// assert!(partials.registers.iter().any(|(arch, _)| *arch == "sm_90"));
/// ```
pub fn kernels() -> Vec<KernelInfo> {
    let resources: Vec<Resources> = resources(RESOURCES).collect();
    let all = VARIANTS.iter().flat_map(|variant| of(variant).map(move |kernel| (variant, kernel)));
    all.map(|(variant, kernel)| info(variant, kernel, &resources)).collect()
}

/// Returns the kernels of a variant, which may be another variant's.
fn of(variant: &Variant) -> impl Iterator<Item = Kernel> {
    let known = (variant.family, variant.kernels);
    Kernel::ALL.iter().copied().filter(move |kernel| (kernel.facts().family, kernel.facts().variant) == known)
}

fn info(variant: &Variant, kernel: Kernel, resources: &[Resources<'static>]) -> KernelInfo {
    let facts = kernel.facts();
    let own = resources.iter().filter(|row| row.entry == facts.entry);
    let mut registers: Vec<_> = own.map(|row| (row.arch, row.registers)).collect();
    registers.sort_by_key(|(arch, _)| age(arch));
    KernelInfo {
        operation: variant.operation,
        variant: variant.name,
        stage: facts.stage,
        program: facts.program,
        entry: facts.entry,
        src: facts.src.name(),
        dst: facts.dst.name(),
        taps: match facts.taps {
            TapSpace::None => "none",
            TapSpace::FewestParameter | TapSpace::SmallParameter | TapSpace::Parameter => "parameter",
            TapSpace::Symbol => "symbol",
            TapSpace::Global => "global",
        },
        texture: facts.source == SourceSpace::Texture,
        block: facts.block,
        shared: match facts.shared {
            SharedMemory::Bytes(bytes) => SharedSize::Bytes(bytes),
            SharedMemory::Blocked(8) => SharedSize::Formula(BLOCKED),
            SharedMemory::Blocked(_) => SharedSize::Formula(BLOCKED_WIDE),
            SharedMemory::BlockedPieces(..) => SharedSize::Formula(PIECES),
            SharedMemory::Words(..) => SharedSize::Formula(WORDS),
            SharedMemory::WordsAndSums(..) => SharedSize::Formula(WORDS_AND_SUMS),
            SharedMemory::Tensor(..) => SharedSize::Formula(TENSOR),
            SharedMemory::TensorPairs(..) => SharedSize::Formula(TENSOR_PAIRS),
            SharedMemory::TensorAxes(..) => SharedSize::Formula(TENSOR_AXES),
            SharedMemory::FusedRows => SharedSize::Formula(FUSED_ROWS),
            SharedMemory::MaskTile => SharedSize::Formula(MASK_TILE),
            SharedMemory::BoxTile => SharedSize::Formula(BOX_TILE),
            SharedMemory::RowsTile(_) => SharedSize::Formula(ROWS_TILE),
            SharedMemory::SlidingTile(..) => SharedSize::Formula(SLIDING_TILE),
            SharedMemory::OrderedTile(_) => SharedSize::Formula(ORDERED_TILE),
            SharedMemory::Edges => SharedSize::Formula(EDGES),
            SharedMemory::LocalTile(_) => SharedSize::Formula(LOCAL_TILE),
        },
        barriers: facts.barriers[0],
        limits: variant.limits,
        registers,
    }
}

/// Returns the sort key of architectures by age: sm_90 before sm_100.
fn age(arch: &str) -> (usize, &str) {
    (arch.len(), arch)
}

/// A row of the table of kernel resources.
#[derive(Debug, PartialEq)]
struct Resources<'a> {
    entry: &'a str,
    arch: &'a str,
    registers: u32,
}

/// Parses the rows of the table; skips its two header lines and malformed lines.
fn resources(table: &str) -> impl Iterator<Item = Resources<'_>> {
    table.lines().skip(2).filter_map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        let [entry, _target, arch, registers, _spill_bytes, _static_shared_bytes] = cells[..] else { return None };
        Some(Resources { entry, arch, registers: registers.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_abi::ElementType;
    use std::collections::HashSet;

    #[test]
    fn every_kernel_and_every_variant_is_there_once() {
        let kernels = kernels();
        let of_variants = Kernel::ALL.iter().map(|kernel| kernel.facts()).filter(|facts| facts.family.has_variants());
        let entries: HashSet<_> = kernels.iter().map(|kernel| kernel.entry).collect();
        assert_eq!(entries, of_variants.map(|facts| facts.entry).collect());
        let by_variant: HashSet<_> =
            kernels.iter().map(|kernel| (kernel.operation, kernel.variant, kernel.entry)).collect();
        assert_eq!(by_variant.len(), kernels.len());
        let mut variants: Vec<_> = kernels.iter().map(|kernel| (kernel.operation, kernel.variant)).collect();
        variants.dedup();
        assert_eq!(variants, VARIANTS.iter().map(|variant| (variant.operation, variant.name)).collect::<Vec<_>>());
    }

    #[test]
    fn every_kernel_has_registers() {
        for kernel in kernels() {
            let family = Kernel::ALL.iter().find(|known| known.facts().entry == kernel.entry).unwrap().facts().family;
            for arch in ["sm_75", "sm_90"].iter().skip((family.lowest_target() > 75) as usize) {
                let of_arch = kernel.registers.iter().filter(|(known, _)| known == arch);
                let registers: Vec<_> = of_arch.map(|(_, registers)| *registers).collect();
                assert!(matches!(registers[..], [1..=255]), "{} {arch}: {registers:?}", kernel.entry);
            }
        }
    }

    #[test]
    fn every_row_is_of_a_kernel() {
        let rows: Vec<_> = resources(RESOURCES).collect();
        assert_eq!(rows.len(), RESOURCES.lines().count() - 2, "a malformed row");
        for row in rows {
            assert!(Kernel::ALL.iter().any(|kernel| kernel.facts().entry == row.entry), "{row:?}");
        }
    }

    #[test]
    fn malformed_rows_are_left_out() {
        let table = "# ptxas\nentry,target,arch,registers,spill_bytes,static_shared_bytes\n\
                     a,sm_75,sm_80,23,0,0\na,sm_75,sm_80,many,0,0\na,sm_75,sm_80,23\n\na,sm_75,sm_80,23,0,0,0\n";
        let row = Resources { entry: "a", arch: "sm_80", registers: 23 };
        assert_eq!(resources(table).collect::<Vec<_>>(), [row]);
        assert_eq!(resources("").count(), 0);
    }

    #[test]
    fn architectures_are_sorted_by_age() {
        let mut known = ["sm_120", "sm_90", "sm_100", "sm_75"];
        known.sort_by_key(|arch| age(arch));
        assert_eq!(known, ["sm_75", "sm_90", "sm_100", "sm_120"]);
    }

    #[test]
    fn formulas_are_those_of_the_kernel_table() {
        let halo = apron_abi::TILE_WIDTH - 1;
        assert_eq!(MASK_TILE, format!("({halo} + mask width) x ({halo} + mask height) x 4"));
        assert_eq!(SharedMemory::MaskTile.bytes(5, 3), (halo + 5) * (halo + 3) * 4);
        for (across, formula) in [(8, BLOCKED), (16, BLOCKED_WIDE)] {
            let [columns, rows] = apron_abi::blocked_tile(across).map(|side| side - 1);
            assert_eq!(
                formula,
                format!("({columns} + mask width, up to a multiple of 8) x ({rows} + mask height) x 4")
            );
            assert_eq!(SharedMemory::Blocked(across).bytes(5, 3), 136 * (rows + 3) * 4);
        }
        for src in [ElementType::U8, ElementType::U16, ElementType::F32] {
            let (sample, sum) = (src.size_bytes(), if src == ElementType::F32 { 4 } else { 8 });
            let about = |formula: u32, memory: SharedMemory| {
                let bytes = memory.bytes(17, 15);
                assert!(formula.abs_diff(bytes) < bytes / 8, "{src:?}: {formula}, but {bytes}");
            };
            about(17 * 15 * sum + (128 + 17 * 3) * (8 + 15) * sample, SharedMemory::Words(src, 3, 8));
            about((15 + 15) * ((128 + 17 * 3) * sample + 128 * sum), SharedMemory::WordsAndSums(src, 3, 16));
        }
        assert!(FUSED_ROWS.contains("32 x (147 + taps x) + (24 + taps y) x 132"));
        for (taps_x, taps_y) in [(1, 1), (5, 18), (33, 33), (65, 255)] {
            let about = (32 * (147 + taps_x) + (24 + taps_y) * 132) * 4;
            let bytes = SharedMemory::FusedRows.bytes(taps_x, taps_y);
            assert!(about.abs_diff(bytes) < bytes / 4, "{taps_x}, {taps_y}: {about}, but {bytes}");
        }
        let columns = apron_abi::HISTOGRAM_COLUMNS;
        assert_eq!(EDGES, format!("({columns} x (channels x (bins + 2) + 1) + bins + 2) x 4"));
        assert_eq!(SharedMemory::Edges.bytes(5, 3), (columns * (258 + 1) + 258) * 4);
    }
}
