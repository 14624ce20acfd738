//! The workloads of a sweep: problems, and the images to solve them for.

use crate::verbs::bench::images::{Data, Picture};
use apron::{Bins, Border, Mask, PixelType, Result, Shape, Taps};
use apron_core::{
    BoxFilter, ByteHistogram, Correlate, EdgeHistogram, Extent, FilterProblem, Problem, Scale, Separable,
};
use apron_plan::tuning::Work;
use apron_plan::{Machine, VARIANTS, Variant, plan};

/// Filters for one pair of types and one number of channels.
struct Filters {
    types: (PixelType, PixelType),
    channels: u32,
    /// Widths and heights.
    images: &'static [Size],
    /// Numbers of taps along each axis.
    separable: &'static [u32],
    /// Sides of square masks.
    dense: &'static [u32],
    /// Sides of square windows.
    boxes: &'static [u32],
    /// Taps of masks of one row, and of one column, over images larger than [`SMALL`].
    lines: &'static [u32],
}

/// Width and height.
type Size = (u32, u32);

use PixelType::{F32, U8, U16};

/// From a few blocks over a full HD screen and images that fit into the L2 cache to images that do not.
const TINY: Size = (256, 256);
const SMALL: Size = (512, 512);
const SCREEN: Size = (1920, 1080);
const MIDDLE: Size = (2048, 2048);
const LARGE: Size = (4096, 4096);
const HUGE: Size = (8192, 8192);
/// A screen and a large image whose rows are not multiples of 16 bytes, except for f32 with four channels.
const ODD: &[Size] = &[(1366, 768), (4094, 4094)];

/// Common types, sizes, taps and masks.
const FILTERS: &[Filters] = &[
    Filters {
        types: (F32, F32),
        channels: 1,
        images: &[TINY, SMALL, SCREEN, MIDDLE, LARGE, HUGE],
        separable: &[3, 5, 7, 9, 13, 17, 33, 65, 129, 257],
        dense: &[3, 5, 7, 9, 11, 15, 31, 64],
        boxes: &[19, 63, 255],
        lines: &[],
    },
    Filters {
        types: (F32, F32),
        channels: 3,
        images: &[TINY, SCREEN, LARGE],
        separable: &[3, 7, 9, 17, 65, 129],
        dense: &[3, 5, 7, 15],
        boxes: &[31],
        lines: &[],
    },
    Filters {
        types: (F32, F32),
        channels: 4,
        images: &[TINY, SCREEN, LARGE],
        separable: &[3, 7, 9, 17, 65, 129],
        dense: &[3, 5, 7, 15],
        boxes: &[31],
        lines: &[],
    },
    Filters {
        types: (U8, U8),
        channels: 1,
        images: &[TINY, SMALL, SCREEN, MIDDLE, LARGE, HUGE],
        separable: &[3, 5, 9, 17, 33, 49, 65, 129, 257],
        dense: &[3, 5, 7, 9, 11, 15, 31],
        boxes: &[3, 5, 9, 15, 31, 63, 127, 255, 511],
        lines: &[3, 9, 15, 31],
    },
    Filters {
        types: (U8, U8),
        channels: 3,
        images: &[TINY, SCREEN, LARGE],
        separable: &[3, 5, 9, 17, 33, 49, 65, 129],
        dense: &[3, 5, 7, 9],
        boxes: &[3, 5, 15, 31, 127],
        lines: &[3, 9, 31],
    },
    Filters {
        types: (U8, U8),
        channels: 4,
        images: &[TINY, SCREEN, MIDDLE, HUGE],
        separable: &[3, 5, 9, 17, 33, 49, 65, 129],
        dense: &[3, 5, 7, 15],
        boxes: &[3, 5, 15, 63, 127, 255, 511],
        lines: &[3, 9, 31],
    },
    Filters {
        types: (U16, U16),
        channels: 1,
        images: &[TINY, SMALL, SCREEN, LARGE],
        separable: &[3, 5, 9, 17, 33, 65, 129, 257],
        dense: &[3, 5, 7, 9, 15, 31],
        boxes: &[9, 15, 31, 63, 127, 255, 511],
        lines: &[3, 9, 31],
    },
    Filters {
        types: (U16, U16),
        channels: 3,
        images: &[TINY, SCREEN, LARGE],
        separable: &[5, 17, 65, 129],
        dense: &[3, 5, 7],
        boxes: &[],
        lines: &[],
    },
    Filters {
        types: (U8, F32),
        channels: 1,
        images: &[TINY, LARGE],
        separable: &[5, 17, 65, 257],
        dense: &[3, 7, 15],
        boxes: &[31],
        lines: &[],
    },
    Filters {
        types: (F32, U8),
        channels: 1,
        images: &[TINY, LARGE],
        separable: &[5, 17, 65, 257],
        dense: &[3, 7, 15],
        boxes: &[],
        lines: &[],
    },
];

/// Type, channels that are counted separately, bins, and sizes.
const HISTOGRAMS: &[(PixelType, u32, u32, &[Size])] = &[
    (U8, 1, 256, &[TINY, SMALL, SCREEN, MIDDLE, (16384, 16384)]),
    (U8, 3, 256, &[TINY, SCREEN, LARGE]),
    (U8, 4, 256, &[TINY, SCREEN, MIDDLE, HUGE]),
    (F32, 1, 256, &[TINY, SCREEN, MIDDLE, HUGE]),
    (F32, 1, 4096, &[TINY, HUGE]),
];

/// Number of products above which the slow variants would take seconds.
const MOST_PRODUCTS: u64 = 1 << 37;

/// Returns all workloads, grouped by image; for a quick sweep a few of each kind, of a small image, and examples of
/// variants that take none of them.
pub(super) fn works(quick: bool) -> Result<Vec<(Picture, Problem)>> {
    let mut works = Vec::new();
    let few = |sides: &'static [u32]| if quick { &sides[..sides.len().min(2)] } else { sides };
    let images = |sizes: &'static [Size]| if quick { &[(48, 32)] } else { sizes };
    for filters in FILTERS {
        let odd = if quick { &[] } else { ODD };
        for &size in images(filters.images).iter().chain(odd) {
            let picture = picture(filters.types.0, size, filters.channels);
            if odd.contains(&size) && (shape(&picture)?.row_samples() * picture.pixel.size_bytes()).is_multiple_of(16) {
                continue;
            }
            let (separables, sides, dst) = (few(filters.separable), few(filters.dense), filters.types.1);
            let weighted = |weights: Weights| {
                let separable = separables.iter().map(move |&taps| separable(&picture, dst, weights(taps)));
                separable
                    .chain(sides.iter().map(move |&side| correlate(&picture, dst, [side; 2], weights(side * side))))
            };
            let lines = if quick || size.0 > SMALL.0 { few(filters.lines) } else { &[] };
            let lines = lines.iter().flat_map(|&taps| [[taps, 1], [1, taps]]);
            let lines = lines.map(|size| correlate(&picture, dst, size, uneven(size[0] * size[1])));
            let exact = if filters.types == (U8, U8) { Some(weighted(few_bits)) } else { None };
            // Many taps of few bits are no exact sums any more, and the same workload as other taps.
            let is_exact = |problem: &Result<Problem>| problem.as_ref().map_or(true, |problem| Work::of(problem).exact);
            let boxes = few(filters.boxes).iter().map(|&side| mean(&picture, dst, side));
            let exact = exact.into_iter().flatten().filter(is_exact);
            for problem in weighted(uneven).chain(exact).chain(boxes).chain(lines) {
                let problem = problem?;
                let side = Work::of(&problem).side as u64;
                let products =
                    if let Problem::Filter(FilterProblem::Correlate(_)) = problem { side * side } else { side };
                if picture.samples() * products <= MOST_PRODUCTS {
                    works.push((picture, problem));
                }
            }
        }
    }
    for &(pixel, channels, bins, sizes) in HISTOGRAMS {
        for &size in images(sizes) {
            let picture = picture(pixel, size, channels);
            works.push((picture, histogram(&picture, bins)?));
        }
    }
    if quick {
        let rivals = VARIANTS.iter().filter(|variant| variant.is_swept());
        let missing = rivals.filter(|variant| !works.iter().any(|(_, problem)| is_taken(variant, problem)));
        works.extend(missing.filter_map(example).collect::<Vec<_>>());
    }
    Ok(works)
}

fn is_taken(variant: &Variant, problem: &Problem) -> bool {
    problem.operation() == variant.operation && plan(problem, Some(variant.name), &Machine::EMULATED).is_ok()
}

/// Returns the first example of a variant.
fn example(variant: &&'static Variant) -> Option<(Picture, Problem)> {
    let problem = (variant.examples)().into_iter().next()?.within;
    let (pixel, Shape { width, height, channels }) = (problem.src(), problem.shape());
    Some((Picture { pixel, width, height, planes: 1, channels, gap: 0, data: Data::Uniform }, problem))
}

pub(super) fn picture(pixel: PixelType, (width, height): Size, channels: u32) -> Picture {
    Picture { pixel, width, height, planes: 1, channels, gap: 0, data: Data::Uniform }
}

pub(super) fn shape(picture: &Picture) -> Result<Shape> {
    Shape::new(picture.width, picture.height, picture.channels)
}

/// A generator of weights that do not form a separable mask.
type Weights = fn(u32) -> Vec<f32>;

/// Returns weights that sum to 1 and are not multiples of a power of two.
pub(super) fn uneven(count: u32) -> Vec<f32> {
    let weights = (0..count).map(|i| 1.0 / (3 + i * i % 23) as f32);
    let sum: f32 = weights.clone().sum();
    weights.map(|weight| weight / sum).collect()
}

/// Returns multiples of a power of two, as binomial filters have: their f32 sums of u8 samples are exact.
fn few_bits(count: u32) -> Vec<f32> {
    (0..count).map(|i| (1 + i * i % 23 % 7) as f32 / 64.0).collect()
}

pub(super) fn separable(picture: &Picture, dst: PixelType, weights: Vec<f32>) -> Result<Problem> {
    let taps_x = Taps::new(weights)?;
    let (shape, src, taps_y) = (shape(picture)?, picture.pixel, taps_x.clone());
    Ok(Problem::from(Separable { shape, src, dst, taps_x, taps_y, border: Border::Replicate, extent: Extent::Same }))
}

/// Returns a problem of a mask of this width and height.
pub(super) fn correlate(picture: &Picture, dst: PixelType, size: [u32; 2], weights: Vec<f32>) -> Result<Problem> {
    let mask = Mask::new(size[0], size[1], weights)?;
    let (shape, src, border) = (shape(picture)?, picture.pixel, Border::Replicate);
    Ok(Problem::from(Correlate { shape, src, dst, mask, border, clamp: false, extent: Extent::Same }))
}

pub(super) fn mean(picture: &Picture, dst: PixelType, side: u32) -> Result<Problem> {
    let (shape, src, border) = (shape(picture)?, picture.pixel, Border::Replicate);
    let (anchor, scale) = ((side / 2, side / 2), Scale::Mean);
    Ok(Problem::from(BoxFilter {
        shape,
        src,
        dst,
        width: side,
        height: side,
        anchor,
        border,
        scale,
        extent: Extent::Same,
    }))
}

pub(super) fn histogram(picture: &Picture, bins: u32) -> Result<Problem> {
    let (shape, per_channel) = (shape(picture)?, picture.channels > 1);
    if picture.pixel == U8 {
        return Ok(Problem::from(ByteHistogram { shape, per_channel }));
    }
    let bins = Bins { count: bins as usize, range: Some((0.0, 1.0)) };
    Ok(Problem::from(EdgeHistogram { shape, src: picture.pixel, bins, extremes: None, per_channel }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::tune::sweep::rivals;
    use std::collections::HashSet;

    #[test]
    fn every_variant_is_timed_and_no_workload_twice() {
        for quick in [false, true] {
            let works = works(quick).unwrap();
            let names: HashSet<String> = works.iter().map(|(_, problem)| Work::of(problem).to_string()).collect();
            assert_eq!(names.len(), works.len());
            let timed: HashSet<(&str, &str)> = works
                .iter()
                .flat_map(|(_, problem)| {
                    rivals(problem, &Machine::EMULATED).map(|variant| (problem.operation(), variant))
                })
                .collect();
            let rivals = VARIANTS.iter().filter(|variant| variant.is_swept());
            assert_eq!(timed.len(), rivals.count(), "{timed:?}");
        }
    }

    #[test]
    fn every_kind_of_filter_is_timed_with_unaligned_rows() {
        let works = works(false).unwrap();
        let kinds = |aligned: bool| -> HashSet<_> {
            let of = works.iter().map(|(_, problem)| Work::of(problem)).filter(|work| work.operation != "histogram");
            let of = of.filter(|work| work.aligned == aligned && (work.src, work.channels) != (F32, 4));
            of.map(|work| (work.operation, work.src, work.dst, work.channels, work.exact, work.line, work.side))
                .collect()
        };
        assert_eq!(kinds(true).difference(&kinds(false)).count(), 0);
        assert_eq!(kinds(true).len(), kinds(false).len());
    }

    #[test]
    fn masks_are_no_products() {
        for weights in [uneven(9), few_bits(9)] {
            assert_ne!(weights[0] * weights[4], weights[1] * weights[3]);
        }
    }

    #[test]
    fn bytes_are_filtered_with_both_kinds_of_taps() {
        let works = works(false).unwrap();
        let [exact, any] = [true, false].map(|exact| {
            let of = works.iter().map(|(_, problem)| Work::of(problem));
            // Sums of more taps are not exact.
            let of = of.filter(|work| work.side <= 33);
            of.filter(|work| (work.src, work.dst) == (U8, U8) && work.exact == exact && work.operation != "box")
                .filter(|work| work.operation != "histogram" && work.line.is_none())
                .count()
        });
        assert!(exact == any && exact > 50, "{exact} exact, {any} any");
    }
}
