//! The kernel table: every kernel once, with all that host and kernels must know of it.

use crate::ElementType;

/// A group of kernels compiled into one PTX file and loaded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Dense and separable correlation.
    Convolution,
    /// Histograms.
    Histogram,
}

impl Family {
    /// Every family.
    pub const ALL: [Family; 2] = [Family::Convolution, Family::Histogram];

    /// The family's name, as in its PTX files' names.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Convolution => "convolution",
            Family::Histogram => "histogram",
        }
    }
}

/// What is fixed about a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFacts {
    /// Entry name in the PTX.
    pub entry: &'static str,
    /// The PTX file that holds it.
    pub family: Family,
    /// Program of the source articles that it implements.
    pub program: &'static str,
    /// The operation's implementation to which it belongs, as `--variant` names it.
    pub variant: &'static str,
    /// Element type of the first buffer, which is read.
    pub src: ElementType,
    /// Element type of the second buffer, which is written.
    pub dst: ElementType,
    /// Threads of a block, x and y.
    pub block: [u32; 2],
    /// Calls of the barrier in the source, loops of fixed length counted out: as many as in the PTX.
    pub barriers: u32,
    /// Whether it takes a mask as its last parameter.
    pub taps: bool,
}

/// Width and height of a dense kernel's block, and of the part of the output that it computes.
pub const TILE_WIDTH: u32 = 32;
/// Largest side of a mask for the tiled dense kernel.
pub const MAX_MASK_SIDE: u32 = 64;
/// Threads of a block of the separable kernels, along the row.
pub const SIMPLE_BLOCK: [u32; 2] = [32, 8];
/// Threads of a block of the histogram's first kernel.
pub const PARTIAL_BLOCK: u32 = 256;
/// Threads that share one partial histogram in shared memory.
pub const GROUP_THREADS: u32 = 32;
/// Partial histograms of 256 bins in a block's shared memory, over all groups and channels.
pub const PARTIAL_ROWS: u32 = 8;
/// Threads of a block of the histogram's merge: a power of two.
pub const MERGE_BLOCK: u32 = 256;
/// Bins of a byte histogram.
pub const BYTE_BINS: u32 = 256;

/// Shared memory of the tiled dense kernel, in bytes: the output tile and the mask's halo, as f32.
pub const fn tiled_shared_bytes(mask_width: u32, mask_height: u32) -> u32 {
    (TILE_WIDTH + mask_width - 1) * (TILE_WIDTH + mask_height - 1) * 4
}

/// Shared memory of the histogram's first kernel, in bytes.
pub const PARTIAL_SHARED_BYTES: u32 = PARTIAL_ROWS * BYTE_BINS * 4;
/// Shared memory of the histogram's merge, in bytes.
pub const MERGE_SHARED_BYTES: u32 = MERGE_BLOCK * 8;

/// Calls `$then!` with every kernel: `entry: family, program, variant, Body<types>,
/// (src, dst), Params, taps or no_taps, [block], barriers;`.
#[macro_export]
macro_rules! for_each_kernel {
    ($then:ident) => {
        $then! {
            conv2d_tiled_u8_u8: Convolution, "P4", "tiled", conv2d::Tiled<u8, u8, false>, (u8, u8), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_u8_u16: Convolution, "P4", "tiled", conv2d::Tiled<u8, u16, false>, (u8, u16), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_u8_i16: Convolution, "P4", "tiled", conv2d::Tiled<u8, i16, false>, (u8, i16), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_u8_f32: Convolution, "P4", "tiled", conv2d::Tiled<u8, f32, false>, (u8, f32), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_f32_u8: Convolution, "P4", "tiled", conv2d::Tiled<f32, u8, false>, (f32, u8), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_f32_u16: Convolution, "P4", "tiled", conv2d::Tiled<f32, u16, false>, (f32, u16), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_f32_i16: Convolution, "P4", "tiled", conv2d::Tiled<f32, i16, false>, (f32, i16), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_f32_f32: Convolution, "P4", "tiled", conv2d::Tiled<f32, f32, false>, (f32, f32), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_clamp_u8_f32: Convolution, "P4", "tiled-clamp", conv2d::Tiled<u8, f32, true>, (u8, f32), Conv2dParams, taps, [32, 32], 2;
            conv2d_tiled_clamp_f32_f32: Convolution, "P4", "tiled-clamp", conv2d::Tiled<f32, f32, true>, (f32, f32), Conv2dParams, taps, [32, 32], 2;
            conv1d_simple_rows_u8_f32: Convolution, "P2", "simple-rows", conv1d::Simple<u8, f32, f32, 0>, (u8, f32), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_rows_u8_f64: Convolution, "P2", "simple-rows", conv1d::Simple<u8, f64, f64, 0>, (u8, f64), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_rows_f32_f32: Convolution, "P2", "simple-rows", conv1d::Simple<f32, f32, f32, 0>, (f32, f32), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_rows_f32_f64: Convolution, "P2", "simple-rows", conv1d::Simple<f32, f64, f64, 0>, (f32, f64), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_columns_f64_u8: Convolution, "P2", "simple-columns", conv1d::Simple<f64, u8, f64, 1>, (f64, u8), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_columns_f64_u16: Convolution, "P2", "simple-columns", conv1d::Simple<f64, u16, f64, 1>, (f64, u16), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_columns_f64_i16: Convolution, "P2", "simple-columns", conv1d::Simple<f64, i16, f64, 1>, (f64, i16), Conv1dParams, taps, [32, 8], 0;
            conv1d_simple_columns_f32_f32: Convolution, "P2", "simple-columns", conv1d::Simple<f32, f32, f32, 1>, (f32, f32), Conv1dParams, taps, [32, 8], 0;
            histogram_partial_u8: Histogram, "P6", "partials", histogram::Partial, (u8, u32), HistogramPartialParams, no_taps, [256, 1], 2;
            histogram_merge_u32: Histogram, "P7", "merge", histogram::Merge, (u32, u64), HistogramMergeParams, no_taps, [256, 1], 9;
        }
    };
}

macro_rules! define_table {
    ($($entry:ident: $family:ident, $program:literal, $variant:literal, $body:ty,
       ($src:ty, $dst:ty), $params:ident, $taps:ident, [$bx:literal, $by:literal], $barriers:literal;)*) => {
        /// Every kernel, named by its entry.
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kernel {
            $($entry,)*
        }

        impl Kernel {
            /// Every kernel, in the order of the table.
            pub const ALL: &'static [Kernel] = &[$(Kernel::$entry,)*];

            /// What is fixed about the kernel.
            pub const fn facts(self) -> KernelFacts {
                match self {
                    $(Kernel::$entry => KernelFacts {
                        entry: stringify!($entry),
                        family: Family::$family,
                        program: $program,
                        variant: $variant,
                        src: <$src as $crate::Element>::TYPE,
                        dst: <$dst as $crate::Element>::TYPE,
                        block: [$bx, $by],
                        barriers: $barriers,
                        taps: define_table!(@$taps),
                    },)*
                }
            }

            /// The kernel of `variant` from `src` to `dst`, if there is one.
            pub fn find(variant: &str, src: ElementType, dst: ElementType) -> Option<Kernel> {
                Kernel::ALL.iter().copied().find(|kernel| {
                    let facts = kernel.facts();
                    facts.variant == variant && facts.src == src && facts.dst == dst
                })
            }
        }
    };
    (@taps) => { true };
    (@no_taps) => { false };
}
for_each_kernel!(define_table);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_the_table_are_those_of_the_geometry() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let expected = match facts.variant {
                "tiled" | "tiled-clamp" => [TILE_WIDTH, TILE_WIDTH],
                "simple-rows" | "simple-columns" => SIMPLE_BLOCK,
                "partials" => [PARTIAL_BLOCK, 1],
                "merge" => [MERGE_BLOCK, 1],
                other => panic!("no geometry for {other}"),
            };
            assert_eq!(facts.block, expected, "{}", facts.entry);
        }
    }

    #[test]
    fn entries_name_variant_and_types() {
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            assert!(facts.entry.contains(facts.src.name()), "{}", facts.entry);
            assert_eq!(Kernel::find(facts.variant, facts.src, facts.dst), Some(*kernel));
        }
        assert_eq!(Kernel::find("tiled", ElementType::F64, ElementType::U8), None);
    }
}
