//! Cases of pointwise operations on filters of an image.

use crate::case::{Case, Data, random_image};
use crate::extents::Over;
use crate::suite::borders;
use apron::PixelType::{F16, F32, I16, U8, U16};
use apron::{Border, Extent, Mask, PixelType, PointOp, Region, Shape, Taps};
use apron_core::{BoxFilter, Correlate, FilterProblem, LocalStd, LowRank, Paired, Part, Problem, Scale};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::fmt;

/// Taps along the rows and along the columns of a part; none for the image itself.
type Sides = Option<(u32, u32)>;

impl Case {
    /// Makes an operation on a filter of a random image, and on a second one if there are two `parts`, with random
    /// taps, some of them 0; anchors are in the middle.
    pub fn paired(
        seed: u64,
        shape: (u32, u32, u32),
        (src, dst): (PixelType, PixelType),
        op: PointOp,
        parts: (Sides, Option<Sides>),
        border: Border,
        data: Data,
    ) -> Case {
        let rng = &mut StdRng::seed_from_u64(seed);
        let shape = Shape::new(shape.0, shape.1, shape.2).expect("a valid shape");
        let mut axis = |count: u32| {
            let tap = |_| if rng.random_ratio(1, 9) { 0.0 } else { rng.random_range(-1.0f32..1.0) };
            Taps::new((0..count).map(tap).collect::<Vec<_>>()).expect("valid taps")
        };
        let mut part = |sides: Sides| match sides {
            None => Part::Image,
            Some((x, y)) => Part::Separable(axis(x), axis(y)),
        };
        let (x, y) = (part(parts.0), parts.1.map(part));
        let image = random_image(rng, src, shape, data);
        let problem = Paired { shape, src, dst, op, x, y, border, extent: Extent::Same };
        Case { problem: Problem::from(problem), image, second: None, chosen: None }
    }

    /// Makes the lengths of two filters of 3x3 taps.
    pub(crate) fn lengths(seed: u64, shape: (u32, u32, u32), types: (PixelType, PixelType)) -> Case {
        let part = Some((3, 3));
        Case::paired(seed, shape, types, PointOp::Magnitude, (part, Some(part)), Border::Reflect, Data::Uniform)
    }

    /// Moves the anchors of all parts to random taps; all to the same along an axis where the
    /// numbers of taps are equal.
    fn anchored(mut self, seed: u64) -> Case {
        if let Some(apron_core::FilterProblem::Paired(problem)) = self.filter_mut() {
            for part in [Some(&mut problem.x), problem.y.as_mut()].into_iter().flatten() {
                let Part::Separable(x, y) = part else { continue };
                let rng = &mut StdRng::seed_from_u64(seed);
                for taps in [x, y] {
                    *taps = taps.clone().with_anchor(rng.random_range(0..taps.len())).expect("a tap");
                }
            }
        }
        self
    }
}

/// Adds all operations and types, borders, channels and sides, with parts of one size and of two, images narrower than
/// a strip and wider, other extents, NaN and infinities.
pub(crate) fn pairs(next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    const SHARP: PointOp = PointOp::Weighted { a: 2.5, b: -1.5, c: 0.25, threshold: 0.0 };
    const FAR: PointOp = PointOp::Weighted { a: 2.5, b: -1.5, c: 3.0, threshold: 40.0 };
    let types = [(U8, U8), (U8, F32), (F32, F32)];
    // Borders of bytes have constants that are bytes.
    let border = |n: usize, src| match borders()[n % 6] {
        Border::Constant(_) if src == U8 => Border::Constant(77.0),
        border => border,
    };
    let ops = |dst| match dst {
        U8 => vec![PointOp::Magnitude, SHARP, FAR],
        _ => vec![PointOp::Magnitude, SHARP, PointOp::Direction],
    };
    let same = |side| (Some((side, side)), Some(Some((side, side))));
    for (n, types) in types.into_iter().enumerate() {
        // Every kernel: sides, channels, aligned rows and others.
        for (m, side) in [3, 5, 7, 9, 13, 17].into_iter().enumerate() {
            for (k, channels) in [1, 1, 3, 4].into_iter().enumerate() {
                let width = [528, 333, 64, 64][k];
                for (l, op) in ops(types.1).into_iter().enumerate() {
                    let border = border(n + m + k + l, types.0);
                    let border = if l == 2 { Border::Reflect101 } else { border };
                    let size = (if l == 0 { width } else { width / 2 / 16 * 16 + width % 16 }, 19 + side, channels);
                    cases.push(Case::paired(next(), size, types, op, same(side), border, Data::Uniform));
                }
            }
        }
        // Every border, with parts of two sizes, even and odd, one axis only, and the image itself.
        let two = |x, y| (Some(x), Some(Some(y)));
        let parts = [
            (None, Some(Some((5, 5)))),
            (Some((9, 9)), Some(None)),
            (None, Some(Some((3, 7)))),
            (Some((3, 3)), None),
            (Some((11, 6)), None),
            two((9, 9), (13, 13)),
            two((3, 1), (1, 3)),
            two((17, 2), (4, 9)),
            two((1, 1), (8, 15)),
        ];
        for (m, parts) in parts.into_iter().enumerate() {
            for k in 0..6 {
                let op = if parts.1.is_none() {
                    PointOp::weighted(-1.5, 0.0, 100.0)
                } else {
                    let all = ops(types.1);
                    all[(m + k) % all.len()]
                };
                let border = border(k, types.0);
                // Crop leaves parts of two sizes two shapes.
                let alike = parts.1.is_none_or(|y| y == parts.0);
                let border = if border == Border::Crop && !alike { Border::Wrap } else { border };
                let size = ([37, 48, 160][(m + k) % 3], 23, [1, 1, 3, 4][(m + 2 * k) % 4]);
                let size = if size.2 > 1 { (size.0 / 16 * 16, size.1, size.2) } else { size };
                let case = Case::paired(next(), size, types, op, parts, border, Data::Uniform);
                cases.push(if k % 2 == 0 { case } else { case.anchored(next()) });
            }
        }
        // Images smaller than the windows.
        for (m, size) in [(16, 1, 1), (17, 2, 1), (19, 3, 1), (16, 4, 3)].into_iter().enumerate() {
            for side in [3, 9, 17] {
                cases.push(Case::paired(
                    next(),
                    size,
                    types,
                    ops(types.1)[0],
                    same(side),
                    borders()[1 + m],
                    Data::Uniform,
                ));
            }
        }
        // Other extents.
        let region = |x, y, width, height| Extent::Region(Region { x, y, width, height });
        for (m, extent) in
            [Extent::Full, region(1, 0, 47, 20), region(16, 3, 32, 16), region(-1, -7, 64, 40)].into_iter().enumerate()
        {
            for (k, parts) in
                [same(3), same(8), two((9, 9), (5, 7)), (Some((1, 1)), Some(Some((5, 5))))].into_iter().enumerate()
            {
                let two = parts.1 != Some(parts.0);
                if extent == Extent::Full && two {
                    continue;
                }
                let border = border(m + k, types.0);
                let border = if border == Border::Crop { Border::Wrap } else { border };
                let op = ops(types.1)[(m + k) % 2];
                cases.push(Case::paired(next(), (64, 24, 1), types, op, parts, border, Data::Uniform).over(extent));
            }
        }
        cases.push(Case::paired(next(), (64, 24, 1), types, ops(types.1)[0], same(5), Border::Wrap, Data::Constant));
    }
    // Under no tap are NaN and infinities, and zeros keep their signs.
    for (n, op) in ops(F32).into_iter().chain([FAR]).enumerate() {
        for parts in [
            same(3),
            same(11),
            (None, Some(Some((9, 9)))),
            (Some((5, 5)), Some(Some((9, 2)))),
            (Some((7, 7)), Some(None)),
        ] {
            cases.push(Case::paired(next(), (64, 33, 1), (F32, F32), op, parts, borders()[1 + n], Data::Special));
        }
    }
    // Types without kernels of their own, and constants that are no bytes: some run by widening, others by parts.
    for (n, types) in [(U16, F32), (I16, F32), (F16, F32), (F16, F16), (U16, U16), (U8, I16)].into_iter().enumerate() {
        cases.push(Case::paired(next(), (64, 24, 1), types, SHARP, same(5), borders()[n], Data::Uniform));
    }
}

/// Adds operations on parts that no kernel takes: dense masks, means, deviations, terms, and operations on parts again;
/// on images of one band of rows and of several, with windows that are higher than the image.
pub(crate) fn nested(next: &mut impl FnMut() -> u64, cases: &mut Vec<Case>) {
    for (n, types) in [(U8, U8), (F32, F32), (U16, F32), (I16, I16), (F16, F16)].into_iter().enumerate() {
        for (m, size) in [(300, 700, 1), (31, 5, 3), (4, 900, 4)].into_iter().enumerate() {
            let sides = Some((5, 3));
            let op = if m == 1 { PointOp::Magnitude } else { PointOp::weighted(1.5, -0.5, 3.0) };
            // A constant of 77 is a sample of all types.
            let border = [Border::Reflect, Border::Constant(77.0), Border::Wrap][(n + m) % 3];
            let case = Case::paired(next(), size, types, op, (sides, Some(sides)), border, Data::Uniform);
            let Some(FilterProblem::Paired(problem)) = case.filter() else { unreachable!("made above") };
            let Paired { shape, src, extent, .. } = problem.clone();
            let rng = &mut StdRng::seed_from_u64(next());
            let mut taps = |count: u32| (0..count).map(|_| rng.random_range(-1.0f32..1.0)).collect::<Vec<_>>();
            let mut axis = |count| Taps::new(taps(count)).expect("valid taps");
            let terms = vec![(axis(4), axis(4)), (axis(4), axis(4))];
            let mask = Mask::new(3, 4, taps(12)).expect("a valid mask");
            let (dst, clamp, scale) = (F32, false, Scale::Mean);
            let boxed = |width, height| {
                let anchor = (width / 2, height / 2);
                BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent }
            };
            let deviation = |height| LocalStd { shape, src, dst, width: 3, height, border, extent };
            let pair = |x, y| Paired { dst, x, y: Some(y), ..problem.clone() };
            let part = |filter: FilterProblem| Part::Filter(Box::new(filter));
            let correlate = || part(Correlate { shape, src, dst, mask: mask.clone(), border, clamp, extent }.into());
            for (x, y) in [
                (correlate(), Part::Image),
                (part(boxed(5, 5).into()), correlate()),
                (part(boxed(33, 40).into()), part(deviation(7).into())),
                (part(LowRank { shape, src, terms, border, extent }.into()), problem.x.clone()),
                (part(pair(correlate(), problem.x.clone()).into()), part(pair(Part::Image, correlate()).into())),
            ] {
                let problem = Problem::from(Paired { x, y: Some(y), ..problem.clone() });
                cases.push(Case { problem, image: case.image.clone(), second: None, chosen: None });
            }
        }
    }
}

pub(crate) fn describe(p: &Paired, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{} {}->{}", Over(p.extent, p.shape), p.src, p.dst)?;
    for part in p.parts() {
        match part {
            Part::Image => write!(f, " image")?,
            Part::Separable(x, y) => write!(f, " taps {}+{}", x.len(), y.len())?,
            Part::Filter(filter) => write!(f, " {} {:?}", filter.operation(), filter.size())?,
        }
    }
    let op = match p.op {
        PointOp::Weighted { .. } => "weights",
        PointOp::Magnitude => "magnitude",
        PointOp::Direction => "direction",
        PointOp::Product => "product",
        PointOp::Deviation { .. } => "deviation",
        PointOp::Alpha => "alpha",
        PointOp::Cast(_) | PointOp::Below { .. } => "conversion",
    };
    write!(f, " {op} {}", p.border)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_abi::{Family, Kernel};
    use apron_plan::{Machine, plan};
    use std::collections::HashSet;

    #[test]
    fn every_kernel_runs() {
        let (mut cases, mut number) = (Vec::new(), 0);
        pairs(
            &mut || {
                number += 1;
                number
            },
            &mut cases,
        );
        let recipes = cases.iter().filter_map(|case| plan(&case.problem, None, &Machine::EMULATED).ok());
        let run: HashSet<Kernel> = recipes.flat_map(|recipe| recipe.launches).map(|launch| launch.kernel).collect();
        let mut own = Kernel::ALL.iter().filter(|kernel| kernel.facts().family == Family::Paired);
        assert_eq!(own.find(|kernel| !run.contains(kernel)), None);
    }
}
