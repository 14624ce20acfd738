//! Recipes of dense correlation.

pub(crate) mod scaled;

use crate::examples::{correlate, limit};
use crate::kernels;
use crate::recipe::Steps;
use crate::rewrite::rounding;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    Conv2dParams, FEW_TAPS, Family, Kernel, MAX_MASK_SIDE, MAX_TAPS, Params, PiecesParams, SharedMemory, TILE_WIDTH,
    blocked_tile, reciprocal, tap_stride,
};
use apron_core::PixelType::{self, F32};
use apron_core::{Correlate, Mask, Result, Window};

pub(crate) const OPERATION: &str = "correlate";

/// Plans P4: one launch, 32x32 output pixels per block.
fn tiled(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    let mask = &problem.mask;
    if mask.width() > MAX_MASK_SIDE || mask.height() > MAX_MASK_SIDE {
        let what =
            format!("masks over {MAX_MASK_SIDE}x{MAX_MASK_SIDE} (this one is {}x{})", mask.width(), mask.height());
        return Err(unsupported(OPERATION, what, "use --device cpu, or `separable` if the mask is a product"));
    }
    let taps = padded_rows(mask);
    let stage = if taps.len() > FEW_TAPS { "large" } else { "small" };
    one_launch(problem, variant, stage, taps)
}

/// Plans one launch, 8x4 or 16x4 output pixels per thread.
fn blocked(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (taps, mask) = (padded_rows(&problem.mask), &problem.mask);
    let across = if problem.dst == PixelType::F32 && taps.len() > FEW_TAPS { 16 } else { 8 };
    let tile = SharedMemory::Blocked(across).bytes(mask.width(), mask.height());
    let stage = if taps.len() > MAX_TAPS || tile > machine.shared_bytes {
        return in_pieces(problem, variant, machine);
    } else if taps.len() > FEW_TAPS {
        "large"
    } else if problem.dst != PixelType::F32 && rounding::slack(problem) <= rounding::MOST_SLACK {
        "checked"
    } else {
        "small"
    };
    one_launch(problem, variant, stage, taps)
}

/// As [`blocked`], for masks that are read from global memory in pieces.
fn in_pieces(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (buffers, mut launches) = one_launch(problem, variant, "pieces", problem.mask.taps().to_vec())?;
    let launch = &mut launches[0];
    let facts = launch.kernel.facts();
    let bytes = |[columns, rows]: [u32; 2]| facts.shared.bytes(columns, rows);
    let [columns, rows] =
        piece([problem.mask.width(), problem.mask.height()], |piece| bytes(piece) <= machine.shared_bytes);
    launch.shared_bytes = bytes([columns, rows]);
    let whole = params(problem, &problem.window()?);
    launch.params = Params::PiecesParams(PiecesParams { whole, rows, columns });
    Ok((buffers, launches))
}

/// Returns the columns and rows of the largest piece of a mask that fits. A piece is a number of whole mask rows, about
/// the same for all pieces; if fewer than eight rows fit, it is part of one row. The smallest part is returned even if
/// it does not fit.
fn piece([width, height]: [u32; 2], fits: impl Fn([u32; 2]) -> bool) -> [u32; 2] {
    let most = (1..=height).take_while(|&rows| fits([width, rows])).last().unwrap_or(0);
    if most >= height.min(8) {
        return [width, height.div_ceil(height.div_ceil(most))];
    }
    let mut parts = [256, 128, 64].into_iter().filter(|&columns| columns < width);
    let columns = parts.clone().find(|&columns| fits([columns, 1])).or(parts.next_back()).unwrap_or(width);
    [columns, 1]
}

/// Plans one launch, one output pixel per thread, without shared memory; the mask is in constant memory.
fn constant(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    one_launch(problem, variant, "", padded_rows(&problem.mask))
}

/// As [`constant`], with the mask in global memory.
fn naive(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    one_launch(problem, variant, "", problem.mask.taps().to_vec())
}

/// Plans the single launch of the variant's kernel and its buffers.
fn one_launch(problem: &Correlate, variant: &Variant, stage: &str, taps: Vec<f32>) -> Result<Steps> {
    let window = problem.window()?;
    if problem.clamp && problem.dst != PixelType::F32 {
        return Err(unsupported(OPERATION, format!("clamped sums for {} output", problem.dst), "use --out-type f32"));
    }
    let kernel = find(problem, variant, stage)?;
    let most = kernel.facts().taps.capacity();
    if taps.len() > most {
        let what = format!("masks over {most} taps, rows counted in fours (this one has {})", taps.len());
        return Err(unsupported(OPERATION, what, "use --variant naive or --device cpu"));
    }
    let launch = launch(problem, &window, kernel, taps);
    let buffers = vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: problem.shape.samples() },
        Buffer { role: Role::Output, element: problem.dst.element(), elems: window.out.samples() },
    ];
    Ok((buffers, vec![launch]))
}

/// The launch of a kernel from buffer 0 to buffer 1.
pub(crate) fn launch(problem: &Correlate, window: &Window, kernel: Kernel, taps: Vec<f32>) -> Launch {
    let facts = kernel.facts();
    // Output pixels per block: one per thread, or more with register blocking.
    let tile = match facts.shared {
        SharedMemory::Blocked(across) | SharedMemory::BlockedPieces(across, _) => blocked_tile(across),
        _ => facts.block,
    };
    Launch {
        kernel,
        blocks: [window.out.width.div_ceil(tile[0]), window.out.height.div_ceil(tile[1])],
        shared_bytes: facts.shared.bytes(problem.mask.width(), problem.mask.height()),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::Conv2dParams(params(problem, window)),
        taps: taps.into(),
    }
}

/// The variant's kernel for the problem's types.
fn find(problem: &Correlate, variant: &Variant, stage: &str) -> Result<Kernel> {
    let types = (problem.src.element(), problem.dst.element());
    kernels::find(variant.name, stage, types.0, types.1).ok_or_else(|| {
        let what = format!("{} to {} pixels in variant {}", problem.src, problem.dst, variant.name);
        unsupported(OPERATION, what, "leave the variant to the plan, or use --device cpu")
    })
}

/// Parameters common to all dense kernels.
pub(crate) fn params(problem: &Correlate, window: &Window) -> Conv2dParams {
    let (mode, constant) = problem.border.mode();
    Conv2dParams {
        width: problem.shape.width,
        height: problem.shape.height,
        row_stride: problem.shape.row_samples() as u32,
        out_width: window.out.width,
        out_height: window.out.height,
        channels: problem.shape.channels,
        mask_width: problem.mask.width(),
        mask_height: problem.mask.height(),
        origin_x: window.origin_x,
        origin_y: window.origin_y,
        border: mode as u32,
        constant,
        clamp: problem.clamp as u32,
        slack: rounding::slack(problem),
        tile_reciprocal: reciprocal::of(TILE_WIDTH + problem.mask.width() - 1),
    }
}

/// Returns the mask's taps with each row zero-padded to the kernel's stride.
pub(crate) fn padded_rows(mask: &Mask) -> Vec<f32> {
    let stride = tap_stride(mask.width()) as usize;
    let mut padded = vec![0.0; stride * mask.height() as usize];
    for (to, from) in padded.chunks_mut(stride).zip(mask.taps().chunks(mask.width() as usize)) {
        to[..from.len()].copy_from_slice(from);
    }
    padded
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 40,
        ..Variant::new(
            "conv2d-blocked",
            Family::Conv2d,
            "any mask, in pieces if it has over 4096 taps or shared memory does not hold its tile",
            &For(blocked),
        )
    },
    Variant {
        rank: 50,
        ..Variant::new("conv2d-tiled", Family::Conv2d, "masks up to 64x64", &For(tiled))
            .examples(|| vec![limit(correlate(1, F32, (64, 64)), correlate(1, F32, (65, 1)))])
    },
    Variant {
        rank: 70,
        by_name: true,
        ..Variant::new(
            "conv2d-tiled-symbol",
            Family::Conv2d,
            "masks up to 64x64; by name, if another takes it",
            &For(tiled),
        )
        .examples(|| vec![limit(correlate(1, F32, (64, 64)), correlate(1, F32, (1, 65)))])
    },
    // Never the fastest: it stays as the step between the naive kernel and the tiled one.
    Variant {
        rank: 80,
        ..Variant::new(
            "conv2d-constant",
            Family::Conv2d,
            "masks up to 4096 taps, rows counted in fours",
            &For(constant),
        )
        .examples(|| vec![limit(correlate(1, F32, (64, 64)), correlate(1, F32, (4097, 1)))])
    },
    // Hardly ever the fastest: it stays because it takes every mask.
    Variant { rank: 90, ..Variant::new("conv2d-naive", Family::Conv2d, "any mask", &For(naive)) },
];

#[cfg(test)]
mod tests {
    use crate::{Machine, Role, untuned as plan};
    use apron_abi::{ElementType, Kernel, Params};
    use apron_core::{Border, Correlate, Error, Extent, Mask, PixelType, Problem, Shape};

    fn problem() -> Correlate {
        Correlate {
            shape: Shape::new(33, 65, 3).unwrap(),
            src: PixelType::U8,
            dst: PixelType::F32,
            mask: Mask::new(4, 3, [0.5; 12]).unwrap().with_anchor(0, 2).unwrap(),
            border: Border::Constant(7.0),
            clamp: false,
            extent: Extent::Same,
        }
    }

    #[test]
    fn one_launch_covers_the_output() {
        let recipe = plan(&problem().into(), Some("conv2d-tiled"), &Machine::EMULATED).unwrap();
        assert_eq!(recipe.variant, "conv2d-tiled");
        let roles: Vec<_> = recipe.buffers.iter().map(|b| (b.role, b.element, b.elems)).collect();
        let samples = 33 * 65 * 3;
        assert_eq!(roles, [(Role::Input, ElementType::U8, samples), (Role::Output, ElementType::F32, samples)]);
        let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
        assert_eq!((launch.kernel, launch.blocks), (Kernel::conv2d_tiled_small_u8_f32, [2, 3]));
        assert_eq!(launch.shared_bytes, 35 * 34 * 4);
        assert_eq!(launch.taps.len(), 12);
        let Params::Conv2dParams(params) = launch.params else { panic!("{recipe:?}") };
        assert_eq!((params.origin_x, params.origin_y, params.border, params.constant), (0, -2, 0, 7.0));
    }

    #[test]
    fn rows_of_taps_are_padded_to_what_the_kernel_reads_at_once() {
        let mask = Mask::new(3, 2, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let recipe = plan(&Problem::from(Correlate { mask, ..problem() }), None, &Machine::EMULATED).unwrap();
        assert_eq!(recipe.launches[0].taps[..], [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
    }

    #[test]
    fn large_masks_have_kernels_of_their_own() {
        for (size, kernel) in [
            ((32, 32), Kernel::conv2d_tiled_small_u8_f32),
            ((31, 32), Kernel::conv2d_tiled_small_u8_f32),
            ((33, 29), Kernel::conv2d_tiled_large_u8_f32),
        ] {
            let mask = Mask::new(size.0, size.1, vec![1.0; (size.0 * size.1) as usize]).unwrap();
            let problem = Problem::from(Correlate { mask, ..problem() });
            let recipe = plan(&problem, Some("conv2d-tiled"), &Machine::EMULATED).unwrap();
            assert_eq!(recipe.launches[0].kernel, kernel);
        }
    }

    #[test]
    fn masks_beyond_constant_or_shared_memory_come_in_pieces() {
        let machine = Machine { shared_bytes: 100 * 1024, ..Machine::EMULATED };
        for (mask, machine, expected) in [
            // The taps, padded to 68 x 65, fit beside the tile.
            ((65, 65), Machine::EMULATED, Some([65, 65])),
            ((129, 129), Machine::EMULATED, Some([129, 65])),
            ((255, 255), Machine::EMULATED, Some([255, 14])),
            // Fewer than eight rows of taps fit beside their part of the tile: pieces are parts of a row.
            ((2000, 3), Machine::EMULATED, Some([256, 1])),
            ((1, 2000), Machine::EMULATED, Some([1, 286])),
            ((64, 64), machine, Some([64, 1])),
            ((64, 64), Machine::EMULATED, None),
        ] {
            let taps = vec![1.0; (mask.0 * mask.1) as usize];
            let noun = Correlate { mask: Mask::new(mask.0, mask.1, taps).unwrap(), dst: PixelType::F32, ..problem() };
            let recipe = plan(&noun.into(), Some("conv2d-blocked"), &machine).unwrap();
            let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
            assert!(launch.shared_bytes <= machine.shared_bytes, "{mask:?}: {launch:?}");
            let found = match launch.params {
                Params::PiecesParams(params) => {
                    assert_eq!(launch.taps.len(), (mask.0 * mask.1) as usize);
                    Some([params.columns, params.rows])
                }
                _ => None,
            };
            assert_eq!(found, expected, "{mask:?}");
        }
        assert_eq!(super::piece([9, 20], |[columns, rows]| columns == 9 && rows <= 8), [9, 7]);
        assert_eq!(super::piece([100, 20], |[columns, rows]| columns * rows < 70), [64, 1]);
        assert_eq!(super::piece([30, 20], |_| false), [30, 1]);
    }

    #[test]
    fn bytes_are_summed_in_f32_where_few_sums_must_be_done_again() {
        let third = 1.0f32 / 3.0;
        for (taps, dst, kernel) in [
            (vec![third; 9], PixelType::U8, Kernel::conv2d_blocked_checked_u8_u8),
            (vec![third; 9], PixelType::F32, Kernel::conv2d_blocked_small_u8_f32),
            (vec![third * 100.0; 9], PixelType::U8, Kernel::conv2d_blocked_small_u8_u8),
            (vec![1.0; 2025], PixelType::U16, Kernel::conv2d_blocked_large_u8_u16),
        ] {
            let side = taps.len().isqrt() as u32;
            let mask = Mask::new(side, side, taps).unwrap();
            let problem = Problem::from(Correlate { mask, dst, ..problem() });
            assert_eq!(plan(&problem, Some("conv2d-blocked"), &Machine::EMULATED).unwrap().launches[0].kernel, kernel);
        }
    }

    #[test]
    fn crop_shrinks_the_output_and_keeps_the_corner() {
        let recipe =
            plan(&Problem::from(Correlate { border: Border::Crop, ..problem() }), None, &Machine::EMULATED).unwrap();
        let Params::Conv2dParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        assert_eq!((params.out_width, params.out_height, params.origin_x, params.origin_y), (30, 63, 0, 0));
    }

    #[test]
    fn what_the_kernels_cannot_do_is_refused() {
        let wide = Correlate { mask: Mask::new(65, 2, [1.0; 130]).unwrap(), ..problem() };
        let clamped = Correlate { clamp: true, dst: PixelType::U8, ..problem() };
        for problem in [&wide, &clamped] {
            let error = plan(&Problem::from(problem.clone()), Some("conv2d-tiled"), &Machine::EMULATED).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        }
        let error = plan(&Problem::from(clamped), None, &Machine::EMULATED).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        let recipe = plan(&Problem::from(wide.clone()), None, &Machine::EMULATED).unwrap();
        assert_eq!(recipe.variant, "conv2d-blocked");
        for (variant, works) in [("conv2d-naive", true), ("conv2d-constant", true), ("conv2d-tiled-symbol", false)] {
            assert_eq!(
                plan(&Problem::from(wide.clone()), Some(variant), &Machine::EMULATED).is_ok(),
                works,
                "{variant}"
            );
        }
        let many = Correlate { mask: Mask::new(4097, 1, [1.0; 4097]).unwrap(), ..problem() };
        assert!(plan(&Problem::from(many.clone()), Some("conv2d-naive"), &Machine::EMULATED).is_ok());
        let error = plan(&Problem::from(many), Some("conv2d-constant"), &Machine::EMULATED).unwrap_err().to_string();
        assert!(error.contains("4096") && error.contains("4100"), "{error}");
        let large = Correlate { mask: Mask::new(34, 1, [1.0; 34]).unwrap(), border: Border::Crop, ..problem() };
        assert!(matches!(plan(&Problem::from(large), None, &Machine::EMULATED), Err(Error::NoWindow { .. })));
        let unknown = plan(&problem().into(), Some("fft"), &Machine::EMULATED).unwrap_err().to_string();
        assert!(unknown.contains("'fft'") && unknown.contains("conv2d-tiled"), "{unknown}");
    }
}
