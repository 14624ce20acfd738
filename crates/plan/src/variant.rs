//! The implementations of each operation by kernels.

use crate::recipe::Steps;
use crate::{
    Machine, box_filter, conv1d, conv2d, edges, histogram, local, march, pad, pointwise, rgba, statistics, tone,
    weighted, words,
};
use apron_abi::Family;
use apron_core::{
    BoxFilter, ByteHistogram, Correlate, EdgeHistogram, LocalStd, Pad, Pointwise, Problem, Result, Separable, Tone,
};

/// An implementation of an operation by kernels.
#[derive(Debug)]
pub struct Variant {
    /// The operation, as [`Problem::operation`] names it.
    pub operation: &'static str,
    /// Its name, as `--variant` takes it.
    pub name: &'static str,
    /// Its kernels' family; their variant in the kernel table is `name`.
    pub family: Family,
    /// What it takes, beside the types of its kernels.
    pub limits: &'static str,
    planner: Planner,
}

#[derive(Debug)]
enum Planner {
    Correlate(fn(&Correlate, &Variant) -> Result<Steps>),
    Separable(fn(&Separable, &Variant) -> Result<Steps>),
    Histogram(fn(&ByteHistogram, &Machine) -> Result<Steps>),
    EdgeHistogram(fn(&EdgeHistogram, &Machine) -> Result<Steps>),
    /// Those whose grids depend on the machine.
    CorrelateOn(fn(&Correlate, &Variant, &Machine) -> Result<Steps>),
    SeparableOn(fn(&Separable, &Variant, &Machine) -> Result<Steps>),
    Box(fn(&BoxFilter, &Variant) -> Result<Steps>),
    BoxOn(fn(&BoxFilter, &Variant, &Machine) -> Result<Steps>),
    LocalStd(fn(&LocalStd, &Variant) -> Result<Steps>),
    Pointwise(fn(&Pointwise, &Variant) -> Result<Steps>),
    Pad(fn(&Pad, &Variant) -> Result<Steps>),
    Tone(fn(&Tone, &Machine) -> Result<Steps>),
}

impl Variant {
    /// Whether no other variant solves its problems, so that there is nothing to choose and to measure.
    pub fn is_alone(&self) -> bool {
        matches!(self.planner, Planner::Tone(_) | Planner::LocalStd(_) | Planner::Pointwise(_) | Planner::Pad(_))
    }

    /// Whether `problem` is of the kind that it solves. Histograms are of three kinds, of bytes, of f32
    /// in even bins, and of cells, by variants of their own.
    pub(crate) fn solves(&self, problem: &Problem) -> bool {
        match problem {
            Problem::ByteHistogram(_) => matches!(self.planner, Planner::Histogram(_)),
            Problem::EdgeHistogram(_) => matches!(self.planner, Planner::EdgeHistogram(_)),
            Problem::Tone(tone) => matches!(self.planner, Planner::Tone(_)) && self.operation == tone.operation(),
            _ => self.operation == problem.operation(),
        }
    }

    /// The buffers and launches by which it solves `problem`.
    ///
    /// # Panics
    /// For a problem of another kind.
    pub(crate) fn steps(&self, problem: &Problem, machine: &Machine) -> Result<Steps> {
        match (&self.planner, problem) {
            (Planner::Correlate(planner), Problem::Correlate(problem)) => planner(problem, self),
            (Planner::Separable(planner), Problem::Separable(problem)) => planner(problem, self),
            (Planner::CorrelateOn(planner), Problem::Correlate(problem)) => planner(problem, self, machine),
            (Planner::SeparableOn(planner), Problem::Separable(problem)) => planner(problem, self, machine),
            (Planner::Box(planner), Problem::Box(problem)) => planner(problem, self),
            (Planner::BoxOn(planner), Problem::Box(problem)) => planner(problem, self, machine),
            (Planner::Histogram(planner), Problem::ByteHistogram(problem)) => planner(problem, machine),
            (Planner::EdgeHistogram(planner), Problem::EdgeHistogram(problem)) => planner(problem, machine),
            (Planner::LocalStd(planner), Problem::LocalStd(problem)) => planner(problem, self),
            (Planner::Pointwise(planner), Problem::Pointwise(problem)) => planner(problem, self),
            (Planner::Pad(planner), Problem::Pad(problem)) => planner(problem, self),
            (Planner::Tone(planner), Problem::Tone(tone)) => planner(tone, machine),
            _ => panic!("{} is no variant of {}", self.name, problem.operation()),
        }
    }
}

/// The variants of an operation, in the order of [`VARIANTS`].
pub fn variants(operation: &str) -> impl Iterator<Item = &'static Variant> {
    VARIANTS.iter().filter(move |variant| variant.operation == operation)
}

/// Every variant; of an operation those first that should run where nothing was [measured](crate::tuning).
pub static VARIANTS: &[Variant] = &[
    Variant {
        operation: conv1d::OPERATION,
        name: "march-separable",
        family: Family::March,
        limits: "odd taps, as many on both axes: 3 to 17, gray f32 33, or 65 in 16-byte rows; u8 as march-dense; sm_90",
        planner: Planner::SeparableOn(march::separable),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "march-separable-f64",
        family: Family::March,
        limits: "3 to 17 odd taps on both axes; u16, and u8 that f32 does not sum exactly; not 2 channels; sm_90",
        planner: Planner::SeparableOn(march::separable_f64),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "patch-separable",
        family: Family::Patch,
        limits: "3 to 9 odd taps on both axes (u16: 7, RGB: 5, RGBA: 3); f32, u8, u16; rows in fours; sm_90",
        planner: Planner::SeparableOn(march::separable_patch),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "conv1d-fused",
        family: Family::Conv1d,
        limits: "up to 1024 taps on both axes together, as far as shared memory holds the rows under them",
        planner: Planner::SeparableOn(conv1d::fused),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "words-separable",
        family: Family::Words,
        limits: "u16, u8 where f64 is half as fast, f32; taps as shared memory holds rows: 132 an axis of f32; sm_90",
        planner: Planner::SeparableOn(words::separable),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "conv1d-simple",
        family: Family::Conv1d,
        limits: "any number of taps, over 4096 an axis from a buffer",
        planner: Planner::Separable(conv1d::simple),
    },
    Variant {
        operation: conv1d::OPERATION,
        name: "conv1d-tiled",
        family: Family::Conv1d,
        limits: "up to 32 taps an axis",
        planner: Planner::Separable(conv1d::tiled),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "march-dense",
        family: Family::March,
        limits: "odd squares: f32 to 15 (3, 4 channels: 7), u8 to 7 if f32 nearly holds sums; rows from 16 bytes; sm_90",
        planner: Planner::CorrelateOn(march::dense),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "march-dense-f64",
        family: Family::March,
        limits: "odd squares of 3 to 7; u16, and u8 that f32 does not sum exactly; not 2 channels; sm_90",
        planner: Planner::CorrelateOn(march::dense_f64),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "patch-dense",
        family: Family::Patch,
        limits: "odd squares of 3 to 7 (RGB: 5, RGBA: 3); f32, u8, u16; rows in fours; sm_90",
        planner: Planner::CorrelateOn(march::dense_patch),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "words-dense",
        family: Family::Words,
        limits: "masks up to 512 taps, rows counted in fours; u16, and u8 where f64 is half as fast as f32; sm_90",
        planner: Planner::CorrelateOn(words::dense),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "conv2d-blocked",
        family: Family::Conv2d,
        limits: "masks up to 4096 taps, rows counted in fours, as far as shared memory holds the tile",
        planner: Planner::Correlate(conv2d::blocked),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "conv2d-tiled",
        family: Family::Conv2d,
        limits: "masks up to 64x64",
        planner: Planner::Correlate(conv2d::tiled),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "words-dense-small",
        family: Family::Words,
        limits: "as f64-blocked, and f32 up to 1024 taps",
        planner: Planner::CorrelateOn(words::dense),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "conv2d-tiled-symbol",
        family: Family::Conv2d,
        limits: "masks up to 64x64",
        planner: Planner::Correlate(conv2d::tiled),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "conv2d-constant",
        family: Family::Conv2d,
        limits: "masks up to 4096 taps, rows counted in fours",
        planner: Planner::Correlate(conv2d::constant),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "conv2d-naive",
        family: Family::Conv2d,
        limits: "any mask",
        planner: Planner::Correlate(conv2d::naive),
    },
    Variant {
        operation: box_filter::OPERATION,
        name: "boxes-chunks",
        family: Family::Boxes,
        limits: "windows whose rows shared memory holds: on an H100 287x287 of f32, 257x351 of u8 (at most 257 wide)",
        planner: Planner::BoxOn(box_filter::chunks),
    },
    Variant {
        operation: box_filter::OPERATION,
        name: "boxes-strips",
        family: Family::Boxes,
        limits: "means of RGBA bytes, over up to 129x257 pixels, an odd number below 32768",
        planner: Planner::BoxOn(box_filter::strips),
    },
    Variant {
        operation: box_filter::OPERATION,
        name: "march-means",
        family: Family::March,
        limits: "means of bytes over squares of odd sides, 3 to 17, by the kernels of march-separable; sm_90",
        planner: Planner::BoxOn(march::means),
    },
    Variant {
        operation: box_filter::OPERATION,
        name: "patch-means",
        family: Family::Patch,
        limits: "means of bytes over squares of odd sides, 3 to 9, by the kernels of patch-separable; sm_90",
        planner: Planner::BoxOn(march::means),
    },
    Variant {
        operation: box_filter::OPERATION,
        name: "boxes-simple",
        family: Family::Boxes,
        limits: "any window",
        planner: Planner::Box(box_filter::simple),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-naive",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, a constant border of 0 to 255",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-texture",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, border replicate or crop, up to 131072x65536 pixels",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-one-loader",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, a constant border of 0 to 255",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: conv2d::OPERATION,
        name: "rgba-cooperative",
        family: Family::Rgba,
        limits: "4 channels, 3x3 masks, a constant border of 0 to 255",
        planner: Planner::Correlate(rgba::plan),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "histogram-one-launch",
        family: Family::Histogram,
        limits: "u8 pixels; channels together or apart; 32 KiB of shared memory a channel",
        planner: Planner::Histogram(histogram::one_launch),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "histogram-columns",
        family: Family::Histogram,
        limits: "u8 pixels; channels together or apart; 32 KiB of shared memory a channel",
        planner: Planner::Histogram(histogram::columns),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "histogram-partials",
        family: Family::Histogram,
        limits: "u8 pixels; channels together or apart",
        planner: Planner::Histogram(histogram::partials),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "histogram-nearest-edge",
        family: Family::Histogram,
        limits: "f32, u16 and i16 pixels; bins as for edge-search, in a unit as many as f32 holds",
        planner: Planner::EdgeHistogram(edges::nearest),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "histogram-edge-search",
        family: Family::Histogram,
        limits: "f32 pixels; bins whose edges and counters shared memory holds: on an H100 29053, 4 channels apart 11620",
        planner: Planner::EdgeHistogram(edges::search),
    },
    Variant {
        operation: local::OPERATION,
        name: "local-sums",
        family: Family::Local,
        limits: "u8 and f32 pixels, any window",
        planner: Planner::LocalStd(local::plan),
    },
    Variant {
        operation: pointwise::OPERATION,
        name: "pointwise",
        family: Family::Pointwise,
        limits: "u8 and f32 pixels, the second image f32 or as the first",
        planner: Planner::Pointwise(pointwise::plan),
    },
    Variant {
        operation: pad::OPERATION,
        name: "pointwise-pad",
        family: Family::Pointwise,
        limits: "all pixels, any region and borders",
        planner: Planner::Pad(pad::plan),
    },
    Variant {
        operation: histogram::OPERATION,
        name: "histogram-slices",
        family: Family::Histogram,
        limits: "u16, i16; f32 in any bins; u8 with a mask: what the others do not count, masked or not",
        planner: Planner::Tone(tone::slices),
    },
    Variant {
        operation: tone::LOOKUP,
        name: "lookup-table",
        family: Family::Lookup,
        limits: "u8 pixels; a table for all channels or one for each",
        planner: Planner::Tone(tone::table),
    },
    Variant {
        operation: tone::EQUALIZE,
        name: "lookup-equalize",
        family: Family::Lookup,
        limits: "u8 pixels; 32 KiB of shared memory a channel",
        planner: Planner::Tone(tone::equalize),
    },
    Variant {
        operation: tone::CLAHE,
        name: "lookup-tiles",
        family: Family::Lookup,
        limits: "u8 and u16 pixels, tiles below 2^32 pixels; of u16 up to 2730, channels counted apart",
        planner: Planner::Tone(tone::tiles),
    },
    Variant {
        operation: statistics::OPERATION,
        name: "statistics-row-sums",
        family: Family::Statistics,
        limits: "f32 and f16 pixels; channels together or apart",
        planner: Planner::Tone(statistics::row_sums),
    },
    Variant {
        operation: weighted::WEIGHTED,
        name: "histogram-weighted",
        family: Family::Histogram,
        limits: "all pixels; up to 2^27 sums in all, of each bin for each 65536 samples",
        planner: Planner::Tone(weighted::in_order),
    },
    Variant {
        operation: weighted::PAIRS,
        name: "histogram-pairs",
        family: Family::Histogram,
        limits: "all pixels; up to 2^26 pairs of bins",
        planner: Planner::Tone(weighted::pairs),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use apron_abi::Kernel;
    use apron_core::PixelType::{self, F32, U8, U16};
    use apron_core::{
        Bins, Border, Clahe, Edges, Error, Extent, Mask, PairHistogram, PointOp, Scale, Shape, Taps, WeightedBins,
    };
    use std::collections::BTreeSet;

    #[test]
    fn every_variant_takes_what_its_limits_say_and_no_more() {
        let correlate = |channels, pixel, mask: (u32, u32)| {
            let taps = vec![0.5; (mask.0 * mask.1) as usize];
            Problem::Correlate(Correlate {
                shape: Shape::new(20, 10, channels).unwrap(),
                src: pixel,
                dst: pixel,
                mask: Mask::new(mask.0, mask.1, taps).unwrap(),
                border: Border::Replicate,
                clamp: false,
                extent: Extent::Same,
            })
        };
        let separable = |taps: usize| {
            let taps = Taps::new(vec![0.5; taps]).unwrap();
            let (taps_x, taps_y) = (taps.clone(), taps);
            let (shape, border) = (Shape::new(20, 10, 1).unwrap(), Border::Replicate);
            Problem::Separable(Separable { shape, src: U8, dst: F32, taps_x, taps_y, border, extent: Extent::Same })
        };
        let march = |taps| match separable(taps) {
            Problem::Separable(problem) => Problem::Separable(Separable { src: F32, ..problem }),
            other => other,
        };
        let bytes = |taps| match separable(taps) {
            Problem::Separable(problem) => {
                Problem::Separable(Separable { dst: U8, shape: Shape::new(20, 10, 4).unwrap(), ..problem })
            }
            other => other,
        };
        let words = |taps| match separable(taps) {
            Problem::Separable(problem) => Problem::Separable(Separable { src: U16, dst: U16, ..problem }),
            other => other,
        };
        // 19 samples are no whole 16 bytes.
        let narrower = |problem| match problem {
            Problem::Separable(problem) => {
                Problem::Separable(Separable { shape: Shape::new(19, 10, 1).unwrap(), ..problem })
            }
            other => other,
        };
        let mut last = vec![
            (correlate(1, F32, (64, 64)), "conv2d-tiled", correlate(1, F32, (65, 1))),
            (correlate(1, F32, (64, 64)), "conv2d-tiled-symbol", correlate(1, F32, (1, 65))),
            (correlate(1, F32, (64, 64)), "conv2d-constant", correlate(1, F32, (4097, 1))),
            (separable(32), "conv1d-tiled", separable(33)),
            (correlate(3, F32, (7, 7)), "march-dense", correlate(3, F32, (9, 9))),
            (march(65), "march-separable", march(67)),
            (narrower(march(33)), "march-separable", narrower(march(35))),
            (correlate(4, U8, (7, 7)), "march-dense", correlate(4, U8, (9, 9))),
            (bytes(17), "march-separable", bytes(19)),
            (correlate(1, U16, (7, 7)), "march-dense-f64", correlate(1, U16, (9, 9))),
            (words(17), "march-separable-f64", words(19)),
            (correlate(1, F32, (7, 7)), "patch-dense", correlate(1, F32, (9, 9))),
            (correlate(3, U16, (5, 5)), "patch-dense", correlate(3, U16, (7, 7))),
            (march(9), "patch-separable", march(11)),
            (separable(305), "conv1d-fused", separable(306)),
            (correlate(1, U16, (21, 21)), "words-dense", correlate(1, U16, (21, 22))),
            (correlate(1, F32, (32, 32)), "words-dense-small", correlate(1, F32, (33, 32))),
            (march(132), "words-separable", march(133)),
            (correlate(1, F32, (64, 64)), "conv2d-blocked", correlate(1, F32, (4097, 1))),
            (correlate(1, F32, (1, 300)), "conv2d-blocked", correlate(1, F32, (1, 400))),
        ];
        let edges = |count, range, channels| {
            let (shape, bins) = (Shape::new(20, 10, channels).unwrap(), Bins { count, range: Some(range) });
            Problem::EdgeHistogram(EdgeHistogram {
                shape,
                src: PixelType::F32,
                bins,
                extremes: None,
                per_channel: true,
            })
        };
        let boxes = |pixel, channels, width, height| {
            let (scale, border) = (Scale::Mean, Border::Replicate);
            Problem::Box(BoxFilter {
                shape: Shape::new(20, 10, channels).unwrap(),
                src: pixel,
                dst: pixel,
                width,
                height,
                anchor: (0, 0),
                border,
                scale,
                extent: Extent::Same,
            })
        };
        last.push((boxes(F32, 1, 287, 287), "boxes-chunks", boxes(F32, 1, 65536, 3)));
        last.push((boxes(U8, 1, 257, 351), "boxes-chunks", boxes(U8, 1, 258, 1)));
        last.push((boxes(U8, 4, 129, 253), "boxes-strips", boxes(U8, 4, 131, 3)));
        last.push((boxes(U8, 4, 3, 257), "boxes-strips", boxes(U8, 4, 3, 259)));
        last.push((boxes(U8, 4, 3, 3), "boxes-strips", boxes(U8, 4, 2, 3)));
        last.push((boxes(U8, 1, 17, 17), "march-means", boxes(U8, 1, 19, 19)));
        last.push((boxes(U8, 1, 3, 3), "march-means", boxes(U8, 1, 3, 5)));
        last.push((boxes(U8, 1, 9, 9), "patch-means", boxes(U8, 1, 11, 11)));
        last.push((edges(29053, (-1.0, 1.0), 1), "histogram-nearest-edge", edges(29054, (-1.0, 1.0), 1)));
        last.push((edges(4, (1.0, 1.0000005), 1), "histogram-nearest-edge", edges(4, (-1e-39, 1e-39), 1)));
        last.push((edges(11620, (1.0, 1.0), 4), "histogram-edge-search", edges(11621, (1.0, 1.0), 4)));
        for name in ["rgba-naive", "rgba-texture", "rgba-one-loader", "rgba-cooperative"] {
            last.push((correlate(4, U8, (3, 3)), name, correlate(3, U8, (3, 3))));
        }
        for (within, name, beyond) in &last {
            let planned = |problem| crate::plan(problem, Some(name), &Machine::EMULATED);
            assert!(planned(within).is_ok(), "{name}: {:?}", planned(within));
            assert!(matches!(planned(beyond), Err(Error::Unsupported { .. })), "{name}: {:?}", planned(beyond));
        }
        let tiled = |tiles| {
            let (shape, src) = (Shape::new(20, 10, 1).unwrap(), PixelType::U16);
            Problem::Tone(Tone::Clahe(Clahe { shape, src, clip: 2.0, tiles }))
        };
        let rising = |bins: u32| Edges::new((0..=bins).map(f64::from).collect()).unwrap();
        let weighted = |bins| {
            // Sums of 1024 blocks.
            let (shape, src, edges) = (Shape::new(1 << 13, 1 << 13, 1).unwrap(), U8, rising(bins));
            Problem::Tone(Tone::Weighted(WeightedBins { shape, src, edges, per_channel: true, single: true }))
        };
        last.push((weighted(1 << 17), "histogram-weighted", weighted((1 << 17) + 1)));
        let pairs = |bins| {
            let (shape, edges) = (Shape::new(20, 10, 2).unwrap(), [rising(bins), rising(1 << 13)]);
            Problem::Tone(Tone::Pairs(PairHistogram { shape, src: F32, channels: [0, 1], edges }))
        };
        last.push((pairs(1 << 13), "histogram-pairs", pairs((1 << 13) + 1)));
        last.push((tiled((2730, 1)), "lookup-tiles", tiled((2731, 1))));
        let sum = |src, second| {
            let (shape, op) = (Shape::new(20, 10, 1).unwrap(), PointOp::weighted(1.0, 1.0, 0.0));
            Problem::Pointwise(Pointwise { shape, src, second: Some(second), dst: F32, op })
        };
        last.push((sum(U8, U8), "pointwise", sum(F32, U8)));
        // The simple separable filter, the histograms of bytes and of cells, the simple box filter, the naive mask, the local deviation, padding, tables,
        // what is equalised and statistics take all of their kind.
        let tried: BTreeSet<_> = last.iter().map(|(within, name, _)| (within.operation(), name)).collect();
        assert_eq!(tried.len() + 12, VARIANTS.len());
    }

    #[test]
    fn every_kernel_belongs_to_a_variant_and_every_variant_has_kernels() {
        let known = |family, name| VARIANTS.iter().filter(|v| (v.family, v.name) == (family, name)).count();
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let expected = usize::from(facts.family.has_variants());
            assert_eq!(known(facts.family, facts.variant), expected, "{}", facts.entry);
        }
        for variant in VARIANTS {
            let mut facts = Kernel::ALL.iter().map(|kernel| kernel.facts());
            // Means are by the kernels of separable filters.
            let name = variant.name.replace("means", "separable");
            assert!(facts.any(|facts| (facts.family, facts.variant) == (variant.family, &name)), "{variant:?}");
            let rivals = variants(variant.operation).filter(|other| other.is_alone());
            assert!(!variant.is_alone() || rivals.count() == 1, "{variant:?}");
            let same = VARIANTS.iter().filter(|v| (v.operation, v.name) == (variant.operation, variant.name));
            assert_eq!(same.count(), 1, "{variant:?}");
        }
    }
}
