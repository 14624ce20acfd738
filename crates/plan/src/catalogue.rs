//! The variants of all families.

use crate::machine::Tuning;
use crate::variant::Variant;
use crate::{
    boxes, conv1d, conv2d, fft, histogram, local, lookup, march, paired, patch, pointwise, rgba, statistics, volumes,
    words,
};
use std::sync::LazyLock;

/// The variants of each family that solves problems.
const FAMILIES: &[&[Variant]] = &[
    march::VARIANTS,
    paired::VARIANTS,
    patch::VARIANTS,
    words::VARIANTS,
    conv1d::VARIANTS,
    conv2d::VARIANTS,
    conv2d::scaled::VARIANTS,
    boxes::VARIANTS,
    rgba::VARIANTS,
    histogram::bytes::VARIANTS,
    histogram::edges::VARIANTS,
    histogram::slices::VARIANTS,
    histogram::weighted::VARIANTS,
    histogram::joint::VARIANTS,
    local::VARIANTS,
    fft::VARIANTS,
    pointwise::VARIANTS,
    pointwise::pad::VARIANTS,
    lookup::VARIANTS,
    statistics::VARIANTS,
    volumes::VARIANTS,
    volumes::planes::VARIANTS,
];

/// All variants, grouped by operation; within an operation in the order of their ranks, which holds where nothing was
/// [measured](crate::tuning).
pub static VARIANTS: LazyLock<Vec<&'static Variant>> = LazyLock::new(|| {
    let mut all: Vec<&Variant> = FAMILIES.iter().copied().flatten().collect();
    let mut operations: Vec<&str> = Vec::new();
    for variant in &all {
        if !operations.contains(&variant.operation) {
            operations.push(variant.operation);
        }
    }
    all.sort_by_key(|variant| (operations.iter().position(|known| *known == variant.operation), variant.rank));
    all
});

/// The variants of an operation, in the order of [`VARIANTS`].
pub fn variants(operation: &str) -> impl Iterator<Item = &'static Variant> {
    VARIANTS.iter().copied().filter(move |variant| variant.operation == operation)
}

/// Returns the grids that a sweep tries for the variant of this name; empty where the grid follows from the problem.
pub fn candidates(variant: &str) -> Vec<Tuning> {
    let known = VARIANTS.iter().find(|known| known.name == variant);
    known.map_or(Vec::new(), |variant| variant.grids.all().collect())
}

impl Variant {
    /// Returns whether no other variant solves problems of its kind, so that there is nothing to choose or measure.
    pub fn is_alone(&self) -> bool {
        VARIANTS.iter().filter(|other| other.planner.kind() == self.planner.kind()).count() == 1
    }

    /// Returns whether a sweep times it.
    pub fn is_swept(&self) -> bool {
        self.swept && !self.is_alone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;
    use apron_abi::Kernel;
    use apron_core::PixelType::{self, F32, F64, I16, I32, U8, U16};
    use apron_core::{
        Bins, Border, BoxFilter, Cast, CellHistogram, Clahe, Columns, Correlate, EdgeHistogram, Edges, Error, Extent,
        Fft, JointHistogram, LocalStd, Mask, Paired, Part, PointOp, Pointwise, Problem, Scale, Separable, Shape, Taps,
        VolumeExtent, VolumeFilter, VolumeMask, VolumeWeights, WeightedBins,
    };
    use std::collections::BTreeSet;

    #[test]
    fn every_variant_takes_what_its_limits_say_and_no_more() {
        let dense = |channels, pixel, mask: (u32, u32), tap| {
            let taps = vec![tap; (mask.0 * mask.1) as usize];
            Problem::from(Correlate {
                shape: Shape::new(20, 10, channels).unwrap(),
                src: pixel,
                dst: pixel,
                mask: Mask::new(mask.0, mask.1, taps).unwrap(),
                border: Border::Replicate,
                clamp: false,
                extent: Extent::Same,
            })
        };
        let correlate = |channels, pixel, mask| dense(channels, pixel, mask, 0.5);
        let thirds = |channels, mask| dense(channels, U16, mask, 1.0 / 3.0);
        let noun = |taps: usize| {
            let taps = Taps::new(vec![0.5; taps]).unwrap();
            let (taps_x, taps_y) = (taps.clone(), taps);
            let (shape, border) = (Shape::new(20, 10, 1).unwrap(), Border::Replicate);
            Separable { shape, src: U8, dst: F32, taps_x, taps_y, border, extent: Extent::Same }
        };
        let separable = |taps| Problem::from(noun(taps));
        let march = |taps| Problem::from(Separable { src: F32, ..noun(taps) });
        let bytes = |taps| Problem::from(Separable { dst: U8, shape: Shape::new(20, 10, 4).unwrap(), ..noun(taps) });
        let words = |taps| Problem::from(Separable { src: U16, dst: U16, ..noun(taps) });
        // Rows of 19 samples are not a multiple of 16 bytes.
        let narrower =
            |taps| Problem::from(Separable { src: F32, shape: Shape::new(19, 10, 1).unwrap(), ..noun(taps) });
        let mut last = vec![
            (correlate(1, F32, (64, 64)), "conv2d-tiled", correlate(1, F32, (65, 1))),
            (correlate(1, F32, (64, 64)), "conv2d-tiled-symbol", correlate(1, F32, (1, 65))),
            (correlate(1, F32, (64, 64)), "conv2d-constant", correlate(1, F32, (4097, 1))),
            (separable(32), "conv1d-tiled", separable(33)),
            (correlate(3, F32, (7, 7)), "march-dense", correlate(3, F32, (9, 9))),
            (march(65), "march-separable", march(67)),
            (narrower(33), "march-separable", narrower(35)),
            (correlate(4, U8, (7, 7)), "march-dense", correlate(4, U8, (9, 9))),
            (correlate(1, F32, (8, 8)), "march-dense", correlate(3, F32, (8, 8))),
            (correlate(4, U8, (8, 8)), "march-dense-f64", correlate(3, U8, (8, 8))),
            (bytes(17), "march-separable", bytes(19)),
            (correlate(1, U16, (7, 7)), "march-dense-f64", correlate(1, U16, (9, 9))),
            (words(17), "march-separable-f64", words(19)),
            (correlate(1, I16, (7, 7)), "march-dense-f64", correlate(3, I16, (7, 7))),
            (correlate(1, F32, (7, 7)), "patch-dense", correlate(1, F32, (9, 9))),
            (correlate(3, U16, (5, 5)), "patch-dense", correlate(3, U16, (7, 7))),
            (correlate(1, F32, (6, 6)), "patch-dense", correlate(1, F32, (8, 8))),
            (correlate(4, U8, (2, 2)), "patch-dense", correlate(4, U8, (4, 4))),
            (march(9), "patch-separable", march(11)),
            (separable(305), "conv1d-fused", separable(306)),
            (correlate(2, U16, (1, 5001)), "conv1d-line", correlate(2, U16, (2, 5001))),
            (correlate(3, U8, (48, 1)), "words-line", correlate(3, U8, (49, 1))),
            (correlate(2, I16, (1, 48)), "words-line", correlate(2, I16, (2, 1))),
            (correlate(1, U8, (49, 1)), "words-tensor", correlate(1, U8, (50, 1))),
            (correlate(4, U8, (11, 5)), "words-tensor", correlate(4, U8, (14, 1))),
            (thirds(1, (49, 3)), "words-tensor", thirds(1, (50, 3))),
            (correlate(1, U8, (9, 9)), "words-tensor-pairs", correlate(1, U8, (9, 10))),
            (correlate(4, U8, (3, 8)), "words-tensor-pairs", correlate(4, U8, (4, 8))),
            (correlate(1, U16, (21, 21)), "words-dense", correlate(1, U16, (21, 22))),
            (correlate(1, F32, (32, 32)), "words-dense-small", correlate(1, F32, (33, 32))),
            (march(132), "words-separable", march(133)),
        ];
        let edges = |count, range, channels| {
            let (shape, bins) = (Shape::new(20, 10, channels).unwrap(), Bins { count, range: Some(range) });
            Problem::from(EdgeHistogram { shape, src: PixelType::F32, bins, extremes: None, per_channel: true })
        };
        let box_of = |columns, pixel, channels, width, height| {
            let (scale, border) = (Scale::Mean, Border::Replicate);
            Problem::from(BoxFilter {
                shape: Shape::new(columns, 10, channels).unwrap(),
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
        let boxes = |pixel, channels, width, height| box_of(20, pixel, channels, width, height);
        last.push((boxes(F32, 1, 287, 287), "boxes-chunks", boxes(F32, 1, 65536, 3)));
        last.push((boxes(U8, 1, 257, 351), "boxes-chunks", boxes(U8, 1, 258, 1)));
        let gray = |columns, width, height| box_of(columns, U8, 1, width, height);
        last.push((gray(1000, 255, 4111), "boxes-prefix", gray(1000, 257, 3)));
        last.push((gray(272, 239, 3), "boxes-prefix", gray(272, 243, 3)));
        last.push((gray(416, 3, 3), "boxes-prefix", gray(416, 3, 4)));
        last.push((boxes(U8, 4, 129, 253), "boxes-strips", boxes(U8, 4, 131, 3)));
        last.push((boxes(U8, 4, 3, 257), "boxes-strips", boxes(U8, 4, 3, 259)));
        last.push((boxes(U8, 4, 3, 3), "boxes-strips", boxes(U8, 4, 2, 3)));
        last.push((boxes(U16, 1, 300, 300), "boxes-sliding", boxes(F32, 1, 30, 30)));
        last.push((boxes(F32, 4, 65536, 65536), "boxes-ordered", boxes(U8, 1, 3, 3)));
        last.push((boxes(U8, 4, 65536, 65536), "boxes-simple", boxes(F32, 1, 3, 3)));
        let deviation = |src| {
            let (shape, border, extent) = (Shape::new(20, 10, 3).unwrap(), Border::Wrap, Extent::Same);
            Problem::from(LocalStd { shape, src, dst: F32, width: 300, height: 3, border, extent })
        };
        last.push((deviation(I16), "local-sliding", deviation(F32)));
        last.push((boxes(U8, 1, 17, 17), "march-means", boxes(U8, 1, 19, 19)));
        last.push((boxes(U8, 1, 3, 3), "march-means", boxes(U8, 1, 3, 5)));
        last.push((boxes(U8, 1, 49, 49), "words-tensor-means", boxes(U8, 1, 3, 51)));
        last.push((boxes(U8, 4, 15, 15), "words-tensor-means", boxes(U8, 4, 16, 15)));
        let blur = |channels, taps: (u32, u32)| {
            let axis = |taps: u32| Taps::new(vec![1.0 / taps as f32; taps as usize]).unwrap();
            let (shape, taps_x, taps_y) = (Shape::new(20, 10, channels).unwrap(), axis(taps.0), axis(taps.1));
            Problem::from(Separable { shape, dst: U8, taps_x, taps_y, ..noun(1) })
        };
        last.push((blur(1, (81, 49)), "words-tensor-axes", blur(1, (81, 50))));
        last.push((blur(4, (51, 3)), "words-tensor-axes", blur(4, (54, 3))));
        last.push((boxes(U8, 1, 9, 9), "patch-means", boxes(U8, 1, 11, 11)));
        last.push((edges(29053, (-1.0, 1.0), 1), "histogram-nearest-edge", edges(29054, (-1.0, 1.0), 1)));
        last.push((edges(4, (1.0, 1.0000005), 1), "histogram-nearest-edge", edges(4, (-1e-39, 1e-39), 1)));
        last.push((edges(11620, (1.0, 1.0), 4), "histogram-edge-search", edges(11621, (1.0, 1.0), 4)));
        let singles = |taps| Problem::from(Separable { src: F32, ..noun(taps) });
        let of_volume = |pixel, weights| {
            let (shape, borders, extent) = (Shape::new(20, 10, 1).unwrap(), Border::Wrap.into(), VolumeExtent::Same);
            let (src, dst, divisor, cast) = (pixel, pixel, 1.0, Cast::default());
            Problem::from(VolumeFilter { shape, depth: 5, src, dst, weights, divisor, cast, borders, extent })
        };
        let volume = |pixel, taps: usize| {
            let taps = Taps::new(vec![0.5; taps]).unwrap();
            of_volume(pixel, VolumeWeights::Separable([taps.clone(), taps.clone(), taps]))
        };
        let cube = |side: u32| {
            let mask = VolumeMask::new(side, 5, 5, vec![0.5; 25 * side as usize]).unwrap();
            of_volume(F32, VolumeWeights::Dense(mask))
        };
        last.push((cube(5), "volumes-cube", cube(6)));
        last.push((volume(U8, 17), "volumes-march", volume(U8, 18)));
        last.push((volume(U16, 3), "volumes-march", volume(I32, 3)));
        last.push((volume(I16, 17), "volumes-march", volume(I16, 18)));
        last.push((volume(F32, 17), "volumes-march", volume(F32, 18)));
        last.push((volume(F32, 3), "volumes-march", volume(F64, 3)));
        last.push((volume(F64, 5000), "volumes-dense", volume(U8, 3)));
        let doubles = |taps| Problem::from(Separable { src: F64, dst: F64, ..noun(taps) });
        last.push((correlate(3, F64, (200, 3)), "volumes-plane-dense", correlate(3, F32, (1, 1))));
        last.push((doubles(5000), "volumes-plane-passes", singles(3)));
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
            Problem::from(Clahe { shape, src, clip: 2.0, tiles })
        };
        let rising = |bins: u32| Edges::new((0..=bins).map(f64::from).collect()).unwrap();
        let weighted = |bins| {
            // Sums of 1024 blocks of samples.
            let (shape, src, edges) = (Shape::new(1 << 13, 1 << 13, 1).unwrap(), U8, rising(bins));
            Problem::from(WeightedBins { shape, src, edges, per_channel: true, single: true })
        };
        last.push((weighted(1 << 17), "histogram-weighted", weighted((1 << 17) + 1)));
        let joint = |src, bins: [u32; 2]| {
            let (shape, columns) = (Shape::new(20, 10, 2).unwrap(), Columns::all(2).unwrap());
            let edges = bins.map(rising).to_vec();
            Problem::from(JointHistogram { shape, src, columns, edges, weights: None })
        };
        last.push((joint(F32, [1 << 13; 2]), "histogram-joint", joint(F32, [1 << 13, (1 << 13) + 1])));
        let cells = |src, edges| {
            let (shape, per_channel, masked) = (Shape::new(20, 10, 1).unwrap(), false, false);
            Problem::from(CellHistogram { shape, src, edges, per_channel, masked })
        };
        last.push((cells(F32, Some(rising(1 << 20))), "histogram-scattered", cells(U16, None)));
        last.push((tiled((2730, 1)), "lookup-tiles", tiled((2731, 1))));
        let sum = |src, second| {
            let (shape, op) = (Shape::new(20, 10, 1).unwrap(), PointOp::weighted(1.0, 1.0, 0.0));
            Problem::from(Pointwise { shape, src, second: Some(second), dst: F32, op })
        };
        last.push((sum(U8, U8), "pointwise", sum(F32, U8)));
        let transformed = |side| {
            let (shape, border, extent) = (Shape::new(20, 10, 1).unwrap(), Border::Wrap, Extent::Same);
            let mask = Mask::new(side, 3, vec![0.5; 3 * side as usize]).unwrap();
            Problem::from(Fft { shape, src: F32, mask, border, extent })
        };
        last.push((transformed(65), "fft-tile", transformed(66)));
        let pair = |taps, channels| {
            let part = |count| Part::Separable(Taps::new(vec![0.5; count]).unwrap(), Taps::new([1.0]).unwrap());
            let (shape, src, op) = (Shape::new(16, 10, channels).unwrap(), U8, PointOp::Magnitude);
            let (x, y, border, extent) = (part(3), Some(part(taps)), Border::Wrap, Extent::Same);
            Problem::from(Paired { shape, src, dst: src, op, x, y, border, extent })
        };
        last.push((pair(17, 1), "paired", pair(18, 1)));
        last.push((pair(9, 3), "paired", pair(10, 3)));
        let tried: BTreeSet<_> = last.iter().map(|(within, name, _)| (within.operation(), *name)).collect();
        let all = VARIANTS.iter().map(|variant| (variant.operation, variant.name));
        // Variants that take all problems of their kind.
        let unlimited = [
            ("separable", "conv1d-simple"),
            ("separable", "conv1d-blocked"),
            ("correlate", "conv2d-blocked"),
            ("correlate", "conv2d-naive"),
            ("scaled", "conv2d-scaled"),
            ("histogram", "histogram-one-launch"),
            ("histogram", "histogram-columns"),
            ("histogram", "histogram-partials"),
            ("histogram", "histogram-slices"),
            ("local-std", "local-ordered"),
            ("pad", "pointwise-pad"),
            ("lookup", "lookup-table"),
            ("equalize", "lookup-equalize"),
            ("stats", "statistics-row-sums"),
            ("fft", "fft-passes"),
        ];
        assert_eq!(all.filter(|variant| !tried.contains(variant)).collect::<BTreeSet<_>>(), BTreeSet::from(unlimited));
    }

    #[test]
    fn every_kernel_belongs_to_a_variant_and_every_variant_has_kernels() {
        let known = |family, name| VARIANTS.iter().filter(|v| (v.family, v.name) == (family, name)).count();
        for kernel in Kernel::ALL {
            let facts = kernel.facts();
            let expected = usize::from(facts.family.has_variants());
            assert_eq!(known(facts.family, facts.variant), expected, "{}", facts.entry);
        }
        for variant in VARIANTS.iter() {
            let mut facts = Kernel::ALL.iter().map(|kernel| kernel.facts());
            let own = (variant.family, variant.kernels);
            assert!(facts.any(|facts| (facts.family, facts.variant) == own), "{variant:?}");
            let same = VARIANTS.iter().filter(|v| (v.operation, v.name) == (variant.operation, variant.name));
            assert_eq!(same.count(), 1, "{variant:?}");
            let same = VARIANTS
                .iter()
                .filter(|other| (other.planner.kind(), other.rank) == (variant.planner.kind(), variant.rank));
            assert_eq!(same.count(), 1, "of one rank: {variant:?}");
        }
    }
}
