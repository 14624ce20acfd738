//! Recipes of pointwise operations.

pub(crate) mod pad;

use crate::examples::{limit, shape};
use crate::kernels;
use crate::recipe::Steps;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    CONVERT_GROUPS, ElementType, Family, Kernel, POINTWISE_AT_ONCE, POINTWISE_BLOCK, POINTWISE_BLOCKS, Params,
    PointwiseParams,
};
use apron_core::{Cast, Overflow, PixelType, PointOp, Pointwise, Result};

pub(crate) const OPERATION: &str = "pointwise";

/// Plans one launch, four samples per thread and iteration.
fn plan(problem: &Pointwise, variant: &Variant, _: &Machine) -> Result<Steps> {
    problem.check()?;
    let (src, dst) = (problem.src.element(), problem.dst.element());
    // A single image takes the kernel of two images, which then reads only the first.
    let second = problem.second.unwrap_or(problem.src);
    let stage = match (problem.op, second) {
        (PointOp::Alpha, _) => "alpha",
        (PointOp::Cast(_) | PointOp::Below { .. }, _) => "cast",
        (PointOp::Weighted { .. }, _) if widens(problem) => "widened",
        (PointOp::Weighted { .. }, PixelType::F64) => "weighted-f64",
        (PointOp::Weighted { .. }, _) if problem.dst == PixelType::F64 && problem.second.is_none() => "weighted-f64",
        (PointOp::Weighted { .. }, PixelType::U8) => "weighted-u8",
        (PointOp::Weighted { .. }, PixelType::F32) => "weighted-f32",
        (PointOp::Magnitude, PixelType::F32 | PixelType::F64) => "magnitude",
        (PointOp::Direction, PixelType::F32 | PixelType::F64) => "direction",
        (PointOp::Product, PixelType::F64) => "product",
        (PointOp::Deviation { .. }, PixelType::F64) => "deviation",
        _ => "none",
    };
    let moved = match problem.op {
        PointOp::Alpha => (src.bits(), dst.bits()),
        // The lowest bits of an integer are the same with a sign as without.
        PointOp::Cast(Cast { overflow: Overflow::Wrap, .. }) if (src, dst) == (ElementType::I16, ElementType::U8) => {
            (src, ElementType::I8)
        }
        _ => (src, dst),
    };
    let kernel = kernels::find(variant.name, stage, moved.0, moved.1).ok_or_else(|| {
        let types = problem.second.map_or(problem.src.to_string(), |second| format!("{} and {second}", problem.src));
        unsupported(OPERATION, format!("{types} to {} pixels", problem.dst), "use --device cpu")
    })?;
    let samples = problem.shape.samples();
    let mut buffers = vec![Buffer { role: Role::Input, element: src, elems: samples }];
    if let Some(second) = problem.second {
        buffers.push(Buffer { role: Role::Beside, element: second.element(), elems: samples });
    }
    buffers.push(Buffer { role: Role::Output, element: dst, elems: samples });
    let launch = launch(kernel, (samples, problem.shape.channels), problem.op, problem.second.map(|_| 1));
    let dst = buffers.len() - 1;
    Ok((buffers, vec![Launch { dst, ..launch }]))
}

/// Returns whether the operation converts a single 16-bit image to f32.
pub(crate) fn widens(problem: &Pointwise) -> bool {
    let wide = matches!(problem.src, PixelType::U16 | PixelType::I16 | PixelType::F16);
    wide && problem.second.is_none() && problem.dst == PixelType::F32
}

/// Returns whether samples of the images or of the output are f64.
pub(crate) fn is_of_f64(problem: &Pointwise) -> bool {
    [Some(problem.src), problem.second, Some(problem.dst)].contains(&Some(PixelType::F64))
}

/// Returns the launch of a kernel over `samples` samples of `channels` channels of buffer 0, and of a `second` buffer
/// if given.
pub(crate) fn launch(kernel: Kernel, (samples, channels): (u64, u32), op: PointOp, second: Option<u64>) -> Launch {
    let (a, b, c, threshold) = match op {
        PointOp::Weighted { a, b, c, threshold } => (a, b, c, threshold),
        PointOp::Below { last } => (0.0, 0.0, 0.0, last),
        PointOp::Deviation { n } => (n, 0.0, 0.0, 0.0),
        PointOp::Magnitude | PointOp::Direction | PointOp::Product | PointOp::Alpha | PointOp::Cast(_) => {
            (0.0, 0.0, 0.0, 0.0)
        }
    };
    let code = match op {
        // A cast to f64 gives the nearest number, and has no code.
        PointOp::Cast(cast) if kernel.facts().dst != ElementType::F64 => cast.code(),
        PointOp::Below { .. } => 1,
        _ => 0,
    };
    let (two, second) = (second.is_some() as u32, second.unwrap_or(0));
    let at_once = match kernel.facts().stage {
        "widened" | "narrowed" => 4 * CONVERT_GROUPS,
        _ => POINTWISE_AT_ONCE,
    };
    let blocks = samples.div_ceil((POINTWISE_BLOCK * at_once) as u64).min(POINTWISE_BLOCKS);
    Launch {
        kernel,
        blocks: [blocks as u32, 1],
        shared_bytes: 0,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::PointwiseParams(PointwiseParams {
            samples,
            second,
            a,
            b,
            c,
            threshold,
            two,
            channels,
            second_step: 0,
            code,
        }),
        taps: [].into(),
    }
}

fn sum(src: PixelType, second: PixelType) -> Pointwise {
    let op = PointOp::weighted(1.0, 1.0, 0.0);
    Pointwise { shape: shape(20, 1), src, second: Some(second), dst: PixelType::F32, op }
}

pub(crate) const VARIANTS: &[Variant] = &[Variant::new(
    "pointwise",
    Family::Pointwise,
    "u8, f32 and f64, the second image f32 or as the first; one image between f64 and any",
    &For(plan),
)
.examples(|| vec![limit(sum(PixelType::U8, PixelType::U8), sum(PixelType::F32, PixelType::U8))])];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, Recipe};
    use apron_core::{Problem, Shape};

    fn planned(problem: Pointwise) -> Result<Recipe> {
        crate::plan(&Problem::from(problem), None, &Machine::EMULATED)
    }

    fn sum(shape: (u32, u32, u32), second: Option<PixelType>) -> Pointwise {
        let (shape, src) = (Shape::new(shape.0, shape.1, shape.2).unwrap(), PixelType::U8);
        let b = if second.is_some() { -1.0 } else { 0.0 };
        Pointwise { shape, src, second, dst: PixelType::I16, op: PointOp::weighted(2.0, b, 0.5) }
    }

    #[test]
    fn one_launch_reads_one_image_or_two() {
        let recipe = planned(sum((100, 30, 3), Some(PixelType::F32))).unwrap();
        let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
        assert_eq!((launch.kernel, launch.blocks), (Kernel::pointwise_weighted_f32_u8_i16, [9, 1]));
        let roles: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.size_bytes())).collect();
        assert_eq!(roles, [(Role::Input, 9000), (Role::Beside, 36000), (Role::Output, 18000)]);
        let Params::PointwiseParams(params) = launch.params_at(&[7, 8, 9]) else { panic!("{recipe:?}") };
        assert_eq!((params.second, params.two, params.a, params.b, params.c), (8, 1, 2.0, -1.0, 0.5));
        let recipe = planned(sum((1, 1, 1), None)).unwrap();
        assert_eq!((recipe.launches[0].kernel, recipe.buffers.len()), (Kernel::pointwise_weighted_u8_u8_i16, 2));
        let Params::PointwiseParams(params) = recipe.launches[0].params_at(&[7, 9]) else { panic!("{recipe:?}") };
        assert_eq!((params.second, params.two), (7, 0));
    }

    #[test]
    fn alpha_is_moved_by_its_size() {
        let shape = Shape::new(100, 30, 4).unwrap();
        for (pixel, kernel) in [
            (PixelType::U8, Kernel::pointwise_alpha_u8_u8),
            (PixelType::I16, Kernel::pointwise_alpha_u16_u16),
            (PixelType::F16, Kernel::pointwise_alpha_u16_u16),
            (PixelType::F32, Kernel::pointwise_alpha_u32_u32),
        ] {
            let alpha = Pointwise { shape, src: pixel, second: Some(pixel), dst: pixel, op: PointOp::Alpha };
            let recipe = planned(alpha).unwrap();
            let Params::PointwiseParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
            assert_eq!((recipe.launches.len(), recipe.launches[0].kernel), (1, kernel));
            assert_eq!((params.channels, params.second, recipe.buffers.len()), (4, 1, 3));
        }
    }

    #[test]
    fn more_samples_than_blocks_have_make_them_stride() {
        let shape = (1 << 20, 1 << 20, 4);
        let recipe = planned(sum(shape, None)).unwrap();
        assert_eq!(recipe.launches[0].blocks, [1 << 20, 1]);
        let Params::PointwiseParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        assert_eq!(params.samples, 1 << 42);
    }

    #[test]
    fn what_the_kernels_cannot_do_is_refused_with_the_types() {
        let sum = Pointwise { src: PixelType::F32, ..sum((9, 9, 1), Some(PixelType::U8)) };
        assert!(planned(sum.clone()).unwrap_err().to_string().contains("f32 and u8 to i16 pixels"));
        let wrong = Pointwise { op: PointOp::weighted(f64::NAN, 0.0, 0.0), ..sum };
        assert!(planned(wrong).unwrap_err().to_string().contains("a is NaN"));
    }
}
