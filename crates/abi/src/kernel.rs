//! The kernel table: every kernel once, with all facts that the host and the kernels share. Its rows are generated
//! from the families' axes, in the folder `kernels` of this crate.

use crate::*;

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

impl Family {
    /// Whether its kernels are variants of an operation.
    pub const fn has_variants(self) -> bool {
        !matches!(self, Family::Limits)
    }
}

/// Location of the taps of a kernel's mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TapSpace {
    /// The kernel takes no taps.
    None,
    /// In constant memory, as the launch's last parameter: [`Taps`](crate::Taps) of [`FEW_TAPS`].
    SmallParameter,
    /// As [`SmallParameter`](TapSpace::SmallParameter), but of [`FEWEST_TAPS`].
    FewestParameter,
    /// As [`SmallParameter`](TapSpace::SmallParameter), but of [`MAX_TAPS`].
    Parameter,
    /// In constant memory, as the module's symbol [`TAPS_SYMBOL`]: one mask at a time.
    Symbol,
    /// In a buffer in global memory, whose address is the launch's last parameter.
    Global,
}

impl TapSpace {
    /// Returns the capacity, in taps.
    pub const fn capacity(self) -> usize {
        match self {
            TapSpace::None => 0,
            TapSpace::SmallParameter => FEW_TAPS,
            TapSpace::FewestParameter => FEWEST_TAPS,
            TapSpace::Parameter | TapSpace::Symbol => MAX_TAPS,
            TapSpace::Global => usize::MAX,
        }
    }
}

/// Name of the constant symbol of [`TapSpace::Symbol`], which holds [`MAX_TAPS`] taps.
pub const TAPS_SYMBOL: &str = "apron_taps";

/// Kind of the source that a kernel's first address argument refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceSpace {
    /// A buffer in global memory.
    Buffer,
    /// A texture of RGBA pixels, 8 bits per channel; the address is its handle.
    Texture,
}

/// Shared memory per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedMemory {
    /// Bytes, the same for every launch.
    Bytes(u32),
    /// An f32 per pixel of the block's tile with the mask's halo.
    MaskTile,
    /// As [`fused_bytes`] computes it.
    FusedRows,
    /// An f32 per pixel of a [`blocked_tile`] with the mask's halo. Field: output columns per thread.
    Blocked(u32),
    /// As [`Blocked`](SharedMemory::Blocked), then the mask's taps as accumulators. Fields: output columns per thread,
    /// accumulator type.
    BlockedPieces(u32, ElementType),
    /// Mask taps (accumulator type), then the packed input tile with its halo, [`BLOCKED_COLUMNS`] samples wide.
    /// Fields: sample type, channels, output rows.
    Words(ElementType, u32, u32),
    /// Taps of both axes (accumulator type), the packed input tile, then [`BLOCKED_COLUMNS`] accumulators per row of
    /// the tile. Fields as of [`Words`](SharedMemory::Words).
    WordsAndSums(ElementType, u32, u32),
    /// As [`tensor_bytes`] computes it. Fields: sample type, pairs of 16 samples, digits per tap.
    Tensor(ElementType, u32, u32),
    /// As [`tensor_pairs_bytes`] computes it. Fields: sample type, pairs of rows, digits per tap.
    TensorPairs(ElementType, u32, u32),
    /// As [`tensor_axes_bytes`] computes it. Fields: windows of 32 bytes, pairs of groups of rows.
    TensorAxes(u32, u32),
    /// As [`edges_bytes`] computes it.
    Edges,
    /// As [`BoxTile`] lays it out.
    BoxTile,
    /// As [`RowsTile`] lays it out. Field: bytes per sum.
    RowsTile(u32),
    /// As [`SlidingTile`] lays it out. Fields: sums per sample, bytes per sum.
    SlidingTile([u32; 2]),
    /// As [`OrderedTile`] lays it out. Field: sums per sample, bytes per sum, and bytes per sample.
    OrderedTile([u32; 3]),
    /// As [`LocalTile`] lays it out. Field: bytes per sample.
    LocalTile(u32),
}

impl SharedMemory {
    /// Returns the bytes per block for a mask of this width and height. If they also depend on other parameters, these
    /// are assumed: one channel and f32 accumulators ([`FusedRows`](SharedMemory::FusedRows)), one channel and 256 bins
    /// ([`Edges`](SharedMemory::Edges)), one channel of f32 and strips of 128 pixels
    /// ([`BoxTile`](SharedMemory::BoxTile)), one quad per thread if windows fit into it
    /// ([`SlidingTile`](SharedMemory::SlidingTile)), one channel ([`RowsTile`](SharedMemory::RowsTile),
    /// [`LocalTile`](SharedMemory::LocalTile)), and one channel and the longest pieces
    /// ([`OrderedTile`](SharedMemory::OrderedTile)).
    pub const fn bytes(self, mask_width: u32, mask_height: u32) -> u32 {
        match self {
            SharedMemory::Blocked(across) => {
                blocked_pitch(mask_width) * (blocked_tile(across)[1] + mask_height - 1) * 4
            }
            SharedMemory::BlockedPieces(across, sum) => {
                let taps = tap_stride(mask_width) * mask_height * sum.size_bytes();
                SharedMemory::Blocked(across).bytes(mask_width, mask_height) + taps
            }
            SharedMemory::Words(src, channels, rows) => {
                let taps = mask_height * tap_stride(mask_width) * words_sum_bytes(src);
                taps + words_pitch(src, mask_width, channels) * (rows + mask_height - 1) * 4
            }
            SharedMemory::WordsAndSums(src, channels, rows) => {
                let (rows, sum) = (rows + mask_height - 1, words_sum_bytes(src));
                let taps = (tap_stride(mask_width) + tap_stride(mask_height)) * sum;
                let tile = words_pitch(src, mask_width, channels) * rows * 4;
                (taps + tile).next_multiple_of(8) + BLOCKED_COLUMNS * rows * sum
            }
            SharedMemory::Tensor(src, pairs, digits) => {
                tensor_bytes(src, pairs, digits, mask_height, tensor_height(src, pairs))
            }
            SharedMemory::TensorPairs(src, pairs, digits) => {
                tensor_pairs_bytes(src, pairs, digits, mask_height, tensor_pairs_height(src))
            }
            SharedMemory::TensorAxes(windows, pairs) => {
                tensor_axes_bytes(windows, pairs, mask_height, TENSOR_AXES_HEIGHT)
            }
            SharedMemory::FusedRows => fused_bytes(1, mask_width, mask_height, 4),
            SharedMemory::Edges => edges_bytes(BYTE_BINS, 1, HISTOGRAM_COLUMNS) as u32,
            SharedMemory::SlidingTile(sums) => SlidingTile::of([WINDOWS_ROWS, 1], mask_width, 1, sums).bytes,
            SharedMemory::OrderedTile(sums) => {
                let chunks = ordered_piece(sums[0]) / BOX_CHUNK;
                OrderedTile::of([chunks, 1, chunks + mask_width.div_ceil(BOX_CHUNK)], 1, sums).bytes
            }
            SharedMemory::LocalTile(input) => LocalTile::of(1, [mask_width, mask_height], input).bytes,
            SharedMemory::RowsTile(sum) => RowsTile::of(1, [mask_width, mask_height], sum).bytes,
            SharedMemory::BoxTile => BoxTile::of(BoxSums::Floats, 1, [mask_width, mask_height], 128).bytes,
            SharedMemory::Bytes(bytes) => bytes,
            SharedMemory::MaskTile => (TILE_WIDTH + mask_width - 1) * (TILE_WIDTH + mask_height - 1) * 4,
        }
    }
}

/// Properties of a kernel that are the same for every launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Entry name in the PTX.
    pub entry: &'static str,
    /// Family: the folder of its body in `kernels-gpu`, and of its PTX.
    pub family: Family,
    /// Program of the source articles that it implements; `-` for a rung of the ladder between them.
    pub program: &'static str,
    /// Variant to which it belongs, as `--variant` names it.
    pub variant: &'static str,
    /// Stage of the variant; empty if the variant has one kernel per pair of types.
    pub stage: &'static str,
    /// Kind of its source.
    pub source: SourceSpace,
    /// Element type of the source.
    pub src: ElementType,
    /// Element type of the destination.
    pub dst: ElementType,
    /// Location of its taps.
    pub taps: TapSpace,
    /// Threads per block, x and y.
    pub block: [u32; 2],
    /// Shared memory per block.
    pub shared: SharedMemory,
    /// Number of barriers in the PTX, in which loops of fixed length are unrolled: for the oldest target, and for
    /// sm_90.
    pub barriers: [u32; 2],
    /// Minimum resident blocks per multiprocessor (`.minnctapersm`), for which the assembler limits registers.
    pub residents: u32,
}

/// Threads per block of the kernels without tiles, x and y.
pub const SIMPLE_BLOCK: [u32; 2] = [32, 8];

macro_rules! define_table {
    ($($entry:ident: $family:ident $feature:literal $program:literal $variant:literal $stage:literal, $body:ty,
       $source:ident ($src:ty, $dst:ty), $params:ident, $taps:ident, $block:expr, $shared:expr, $barriers:expr,
       $residents:literal;)*) => {
        /// Every kernel, named by its entry.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel {
            $($entry,)*
        }

        /// The facts of each kernel, in the order of [`Kernel`].
        static FACTS: &[KernelFacts] = &[$(KernelFacts {
            entry: stringify!($entry),
            family: Family::$family,
            program: $program,
            variant: $variant,
            stage: $stage,
            source: SourceSpace::$source,
            src: <$src as Element>::TYPE,
            dst: <$dst as Element>::TYPE,
            taps: TapSpace::$taps,
            block: $block,
            shared: $shared,
            barriers: $barriers,
            residents: $residents,
        },)*];

        impl Kernel {
            /// Every kernel, in the order of the table; the kernels of a variant are adjacent.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$entry,)*];
        }
    };
}
for_each_kernel!(define_table);

impl Kernel {
    /// Returns the kernel's properties.
    pub fn facts(self) -> &'static KernelFacts {
        &FACTS[self as usize]
    }

    /// Returns the kernel of a variant and stage from `src` to `dst`, if there is one.
    pub fn find(variant: &str, stage: &str, src: ElementType, dst: ElementType) -> Option<Kernel> {
        // Variant names share prefixes but mostly differ in length, so few are compared character by character.
        let of = |facts: &KernelFacts| {
            (facts.src, facts.dst) == (src, dst) && facts.variant == variant && facts.stage == stage
        };
        FACTS.iter().position(of).map(|index| Kernel::ALL[index])
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::format;

    #[test]
    fn names_lead_from_entry_to_variant_to_family() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let (family, variant) = (facts.family.name(), facts.variant);
            assert!(variant == family || variant.starts_with(&format!("{family}-")), "{variant}");
            let types = format!("{}_{}", facts.src.name(), facts.dst.name());
            let stage = if facts.stage.is_empty() { "".into() } else { format!("_{}", facts.stage) };
            assert_eq!(facts.entry, format!("{variant}{stage}_{types}").replace('-', "_"));
            assert_eq!(Kernel::find(variant, facts.stage, facts.src, facts.dst), Some(*kernel));
        }
        assert_eq!(Kernel::find("conv2d-tiled", "", ElementType::F64, ElementType::U8), None);
    }

    #[test]
    fn kernels_that_share_memory_have_barriers() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            // Shared memory without barriers holds data of a single thread: the patch kernels' index maps.
            let shares = facts.shared != SharedMemory::Bytes(0) && facts.family != Family::Patch;
            assert_eq!(shares, facts.barriers[0] > 0, "{}", facts.entry);
        }
    }

    #[test]
    fn a_mask_tile_is_the_block_and_its_halo() {
        assert_eq!(SharedMemory::MaskTile.bytes(1, 1), 32 * 32 * 4);
        assert_eq!(SharedMemory::MaskTile.bytes(64, 32), 95 * 63 * 4);
        assert_eq!(SharedMemory::Bytes(7).bytes(64, 32), 7);
        assert_eq!(SharedMemory::Edges.bytes(0, 0), (258 + 259 * 32) * 4);
    }
}
