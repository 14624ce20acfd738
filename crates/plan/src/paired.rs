//! Recipes of pointwise operations on filters of an image.

use crate::examples::{limit, magnitude};
use crate::march;
use crate::recipe::Steps;
use crate::summation::{march_params, total};
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, Tuning, kernels};
use apron_abi::{
    BYTE_UNIT, ElementType, Family, Kernel, PAIRED_SIDES, PairedOp, PairedParams, PairedPart, Params, PointwiseParams,
    paired_across, paired_skips, tap_stride,
};
use apron_core::{Paired, Part, PixelType, PointOp, Result, Separable, Window};

/// Plans one launch, a march with sums of both parts.
fn plan(problem: &Paired, variant: &Variant, machine: &Machine) -> Result<Steps> {
    if problem.parts().any(|part| matches!(part, Part::Filter(_))) {
        return Err(variant.refused("parts that are not separable".into()));
    }
    let (shape, out) = (problem.shape, problem.window()?.out);
    let (src, dst) = (problem.src.element(), problem.dst.element());
    if problem.src == PixelType::U8 {
        bytes(problem).map_err(|what| variant.refused(what))?;
    }
    let two = problem.y.is_some() as u32;
    let (point, op) = match problem.op {
        PointOp::Weighted { a, b, c, threshold } => {
            (PointwiseParams { a, b, c, threshold, two, ..Default::default() }, PairedOp::Weighted)
        }
        PointOp::Magnitude => (PointwiseParams::default(), PairedOp::Magnitude),
        PointOp::Direction => (PointwiseParams::default(), PairedOp::Direction),
        PointOp::Alpha | PointOp::Product | PointOp::Deviation { .. } | PointOp::Cast(_) | PointOp::Below { .. } => {
            return Err(variant.refused(format!("{:?}", problem.op)));
        }
    };
    let mut fitting = PAIRED_SIDES.iter().filter_map(|side| Some((*side, kernel(problem, variant, *side)?)));
    let Some((side, (kernel, [left, top], parts))) = fitting.next() else {
        let (types, samples) = (format!("{} to {} pixels", problem.src, problem.dst), shape.row_samples());
        let what =
            format!("the taps of the parts, over {} channels of {types}, rows of {samples} samples", shape.channels);
        return Err(variant.refused(what));
    };
    let window = Window { out, origin_x: left, origin_y: top };
    march::check(variant, shape, src, side, &window)?;
    let tuning = machine.tuning.unwrap_or(default_tuning(side));
    let march = march_params(shape, (src, dst), problem.border, side, &window);
    let across = paired_across(dst, side);
    let (march, blocks) = march::strips(march, across, tuning, machine);
    let [x, y] = parts;
    let shared_bytes = kernel.facts().shared.bytes(0, 0);
    let launch = Launch {
        kernel,
        blocks,
        shared_bytes,
        reserved_bytes: machine.reserved(shared_bytes, tuning.residents),
        src: 0,
        dst: 1,
        params: Params::PairedParams(PairedParams {
            point,
            march,
            op: op as u32,
            x: x.part,
            y: y.part,
            across,
            reserved: 0,
        }),
        taps: [x.taps, y.taps].concat().into(),
    };
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: shape.samples() },
        Buffer { role: Role::Output, element: dst, elems: out.samples() },
    ];
    Ok((buffers, vec![launch]))
}

/// Returns the grid for windows of `side`: one wave of as many resident blocks as registers allow; for few taps, more
/// waves.
const fn default_tuning(side: u32) -> Tuning {
    match side {
        3..=7 => Tuning { rows: 32, residents: 4 },
        9 => Tuning { rows: 249, residents: 4 },
        13 => Tuning { rows: 249, residents: 3 },
        _ => Tuning { rows: 249, residents: 2 },
    }
}

/// A part placed in a kernel's window: the positions of its taps, and all taps of the kernel.
#[derive(Clone)]
struct Placed {
    part: PairedPart,
    taps: Vec<f32>,
}

/// Returns the kernel for windows of `side`, the input column and row under its first taps for the first output, and
/// both parts; `None` if there is no such kernel, or it does not take the parts.
fn kernel(problem: &Paired, variant: &Variant, side: u32) -> Option<(Kernel, [i32; 2], [Placed; 2])> {
    let (src, dst) = (problem.src.element(), problem.dst.element());
    // Bulk asynchronous copies need whole pieces of 16 bytes.
    let pieces = (problem.shape.row_samples() * problem.src.size_bytes()).is_multiple_of(16);
    let stage = format!("{side}-c{}{}", problem.shape.channels, if pieces { "" } else { "-any" });
    let kernel = kernels::find(variant.kernels, &stage, src, dst)?;
    let first = first(problem, side)?;
    // A missing second part counts as the image, which the operation then ignores.
    let image = Placed { part: PairedPart::default(), taps: vec![0.0; 2 * tap_stride(side) as usize] };
    let mut parts = [image.clone(), image];
    for (placed, part) in parts.iter_mut().zip(problem.parts()) {
        let Some(filter) = problem.separable(part) else { continue };
        let window = filter.window().ok()?;
        let at = [window.origin_x - first[0], window.origin_y - first[1]].map(|at| at as u32);
        let all = [filter.taps_x.len(), filter.taps_y.len()] == [side; 2];
        if !all && src == ElementType::F32 && !paired_skips(src, side) {
            return None;
        }
        let bits = |at: u32, taps: u32| (((1u64 << taps) - 1) << at) as u32;
        let (columns, rows) = (bits(at[0], filter.taps_x.len()), bits(at[1], filter.taps_y.len()));
        *placed = Placed { part: PairedPart { columns, rows }, taps: taps(&filter, at, side) };
    }
    Some((kernel, first, parts))
}

/// Returns the input column and row under the first taps of a window of `side` x `side` samples, for the first output.
/// The window covers the taps of all parts, and is centred if a part is the image itself; `None` if it is too small.
fn first(problem: &Paired, side: u32) -> Option<[i32; 2]> {
    let side = side as i32;
    let mut spans = [(i32::MAX, i32::MIN); 2];
    for part in problem.parts() {
        let window = problem.part_window(part).ok()?;
        let taps = problem.separable(part).map_or([1; 2], |filter| [filter.taps_x.len(), filter.taps_y.len()]);
        for ((span, from), taps) in spans.iter_mut().zip([window.origin_x, window.origin_y]).zip(taps) {
            *span = (span.0.min(from), span.1.max(from + taps as i32));
        }
    }
    let centred = problem.parts().any(|part| *part == Part::Image);
    let first = spans.map(|(from, to)| {
        let first = if centred { -(side / 2) } else { from - (side - (to - from)).max(0) / 2 };
        (first <= from && to <= first + side).then_some(first)
    });
    Some([first[0]?, first[1]?])
}

/// Returns the kernel's taps along rows and along columns: the filter's taps from the positions `at` on, and 0
/// elsewhere. For bytes, the taps along rows are in the kernels' units.
fn taps(filter: &Separable, at: [u32; 2], side: u32) -> Vec<f32> {
    let stride = tap_stride(side) as usize;
    let scale = if filter.src == PixelType::U8 { 1.0 / BYTE_UNIT } else { 1.0 };
    let mut all = vec![0.0; 2 * stride];
    for (to, tap) in all[at[0] as usize..].iter_mut().zip(filter.taps_x.taps()) {
        *to = tap * scale;
    }
    all[stride + at[1] as usize..][..filter.taps_y.taps().len()].copy_from_slice(filter.taps_y.taps());
    all
}

/// Returns the reason why the kernels of bytes do not take the problem, if so. They multiply by taps of 0 where a part
/// has none, and start sums at 0: neither changes a sum that is finite and never -0. Samples times taps, and so sums
/// along a row, are multiples of the last place of a tap. Products down a column are therefore at least the product of
/// two such places, which does not vanish if the product of both taps is above 2^-100. Bytes are rounded from f64,
/// whose integers are exact, and lengths from f32.
fn bytes(problem: &Paired) -> Result<(), String> {
    let (_, constant) = problem.border.mode();
    if !problem.src.holds(constant) {
        return Err(format!("a constant border of {constant}"));
    }
    let mut most = [255.0, 0.0];
    for (most, part) in most.iter_mut().zip(problem.parts()) {
        *most = 255.0;
        if let Part::Separable(x, y) = part {
            let least = |taps: &[f32]| {
                taps.iter().map(|tap| tap.abs() as f64).filter(|tap| *tap > 0.0).fold(f64::INFINITY, f64::min)
            };
            let (low, high) = (least(x.taps()), total(x.taps()).max(1.0) * total(y.taps()).max(1.0));
            if low.min(1.0) * least(y.taps()).min(1.0) < SMALL || high > LARGE {
                return Err("taps near the ends of the range of f32".into());
            }
            *most = 255.0 * high;
        }
    }
    if let (PointOp::Weighted { a, b, c, .. }, PixelType::U8) = (problem.op, problem.dst) {
        let most = a.abs().max(1.0) * most[0] + b.abs() * most[1] + c.abs();
        if most > MOST_SUM {
            return Err(format!("weighted sums up to {most:.0e}"));
        }
    }
    Ok(())
}

/// Least product of taps of both axes, and largest gain.
const SMALL: f64 = f64::from_bits((1023 - 100) << 52);
const LARGE: f64 = f64::from_bits((1023 + 80) << 52);

/// Largest weighted sum that is rounded to a byte.
const MOST_SUM: f64 = (1u64 << 30) as f64;

pub(crate) const VARIANTS: &[Variant] = &[Variant::new(
    "paired",
    Family::Paired,
    "up to 17 taps an axis (RGB(A): 9); u8 to u8 (gray: f32), f32; RGB(A) in rows of 16 bytes; sm_90",
    &For(plan),
)
.examples(|| vec![limit(magnitude(1, 17), magnitude(1, 18)), limit(magnitude(3, 9), magnitude(3, 10))])];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_core::{Border, Error, Extent, Problem, Region, Shape, Taps};

    fn part(x: &[f32], y: &[f32]) -> Part {
        Part::Separable(Taps::new(x).unwrap(), Taps::new(y).unwrap())
    }

    fn problem(src: PixelType, x: Part, y: Option<Part>) -> Paired {
        let (shape, op) = (Shape::new(64, 20, 1).unwrap(), PointOp::weighted(1.0, -2.0, 3.0));
        Paired { shape, src, dst: src, op, x, y, border: Border::Wrap, extent: Extent::Same }
    }

    /// Returns the kernel's stage, its parameters and its taps, in the filter's units.
    fn planned(problem: Paired) -> Result<(&'static str, PairedParams, Vec<f32>)> {
        let unit = if problem.src == PixelType::U8 { BYTE_UNIT } else { 1.0 };
        let recipe = plan(&Problem::from(problem), None, &Machine::EMULATED)?;
        let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
        let Params::PairedParams(params) = launch.params else { panic!("{recipe:?}") };
        let across = |n: usize| n % (launch.taps.len() / 2) < launch.taps.len() / 4;
        let taps = launch.taps.iter().enumerate().map(|(n, tap)| if across(n) { tap * unit } else { *tap });
        Ok((launch.kernel.facts().stage, params, taps.collect()))
    }

    #[test]
    fn parts_lie_where_their_anchors_are() {
        let (x, y) = (part(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), part(&[7.0], &[8.0, 9.0]));
        let (stage, params, taps) = planned(problem(PixelType::U8, x.clone(), Some(y.clone()))).unwrap();
        let expected =
            [[1.0, 2.0, 3.0, 0.0], [4.0, 5.0, 6.0, 0.0], [0.0, 7.0, 0.0, 0.0], [8.0, 9.0, 0.0, 0.0]].concat();
        assert_eq!((stage, &taps), ("3-c1", &expected));
        assert_eq!((params.x, params.y), (PairedPart { columns: 7, rows: 7 }, PairedPart { columns: 2, rows: 3 }));
        assert_eq!((params.point.b, params.point.two, params.op), (-2.0, 1, PairedOp::Weighted as u32));
        // For f32, a part must have all taps of the kernel, unless the kernel skips the missing ones.
        let (stage, params, _) = planned(problem(PixelType::F32, x.clone(), Some(y))).unwrap();
        assert_eq!((stage, params.march.origin_y), ("9-c1", -4));
        assert_eq!(
            (params.x, params.y),
            (PairedPart { columns: 0x38, rows: 0x38 }, PairedPart { columns: 0x10, rows: 0x18 })
        );
        let (stage, params, _) = planned(problem(PixelType::F32, x.clone(), Some(Part::Image))).unwrap();
        assert_eq!((stage, params.y, params.march.origin_y), ("3-c1", PairedPart::default(), -1));
        // The image is in the middle, wherever the taps are.
        let Part::Separable(across, down) = x else { unreachable!() };
        let aside = Part::Separable(across.with_anchor(0).unwrap(), down);
        let (stage, params, _) = planned(problem(PixelType::U8, Part::Image, Some(aside))).unwrap();
        assert_eq!((stage, params.x), ("5-c1", PairedPart::default()));
        assert_eq!(params.y, PairedPart { columns: 0x1c, rows: 0xe });
    }

    #[test]
    fn what_the_kernels_cannot_do_is_left_to_the_parts() {
        let blur = || part(&[0.25, 0.5, 0.25], &[0.25, 0.5, 0.25]);
        let bytes = || problem(PixelType::U8, blur(), Some(blur()));
        assert!(planned(bytes()).is_ok());
        let region = Extent::Region(Region { x: -9, y: 0, width: 5, height: 5 });
        let many = part(&[0.5; 18], &[1.0]);
        for (n, refused) in [
            Paired { border: Border::Constant(0.5), ..bytes() },
            Paired { op: PointOp::weighted(1e9, 0.0, 0.0), ..bytes() },
            Paired { op: PointOp::weighted(1.0, 0.0, -1e10), ..bytes() },
            Paired { x: part(&[1e-30], &[1e-30]), ..bytes() },
            Paired { x: part(&[1e30], &[1.0]), ..bytes() },
            Paired { x: many.clone(), ..bytes() },
            Paired { dst: PixelType::I16, ..bytes() },
            Paired { extent: region, ..bytes() },
            Paired { shape: Shape::new(15, 20, 1).unwrap(), ..bytes() },
            Paired { shape: Shape::new(20, 20, 3).unwrap(), ..bytes() },
            problem(PixelType::F32, many, None),
        ]
        .into_iter()
        .enumerate()
        {
            let refused =
                if refused.y.is_none() { Paired { op: PointOp::weighted(1.0, 0.0, 0.0), ..refused } } else { refused };
            let error = planned(refused).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{n}: {error}");
        }
    }
}
