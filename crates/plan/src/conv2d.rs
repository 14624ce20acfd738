//! Recipes of dense correlation.

use crate::{Buffer, Launch, Recipe, Role, flat_grid, unsupported};
use apron_abi::{Conv2dParams, Kernel, MAX_MASK_SIDE, Params, TILE_WIDTH, tap_stride, tiled_shared_bytes};
use apron_core::{Correlate, Mask, PixelType, Result};

const OPERATION: &str = "correlate";

/// P4: one launch, 32x32 output pixels a block.
pub(crate) fn tiled(problem: &Correlate, variant: &'static str, why: &'static str) -> Result<Recipe> {
    let window = problem.window()?;
    let mask = &problem.mask;
    if mask.width() > MAX_MASK_SIDE || mask.height() > MAX_MASK_SIDE {
        let what =
            format!("masks over {MAX_MASK_SIDE}x{MAX_MASK_SIDE} (this one is {}x{})", mask.width(), mask.height());
        return Err(unsupported(OPERATION, what, "use --device cpu, or `separable` if the mask is a product"));
    }
    if problem.clamp && problem.dst != PixelType::F32 {
        return Err(unsupported(OPERATION, format!("clamped sums for {} output", problem.dst), "use --out-type f32"));
    }
    let name = if problem.clamp { "tiled-clamp" } else { "tiled" };
    let kernel = Kernel::find(name, problem.src.element(), problem.dst.element()).ok_or_else(|| {
        unsupported(OPERATION, format!("{} to {} pixels", problem.src, problem.dst), "use --device cpu")
    })?;
    let (mode, constant) = problem.border.mode();
    let blocks_x = window.out.width.div_ceil(TILE_WIDTH);
    let launch = Launch {
        kernel,
        blocks: flat_grid(OPERATION, blocks_x, window.out.height.div_ceil(TILE_WIDTH))?,
        shared_bytes: tiled_shared_bytes(mask.width(), mask.height()),
        src: 0,
        dst: 1,
        params: Params::Conv2dParams(Conv2dParams {
            width: problem.shape.width,
            height: problem.shape.height,
            out_width: window.out.width,
            out_height: window.out.height,
            channels: problem.shape.channels,
            mask_width: mask.width(),
            mask_height: mask.height(),
            blocks_x,
            origin_x: window.origin_x,
            origin_y: window.origin_y,
            border: mode as u32,
            constant,
        }),
        taps: padded_rows(mask),
    };
    Ok(Recipe {
        operation: OPERATION,
        variant,
        why,
        buffers: vec![
            Buffer { role: Role::Input, element: problem.src.element(), elems: problem.shape.samples() },
            Buffer { role: Role::Output, element: problem.dst.element(), elems: window.out.samples() },
        ],
        launches: vec![launch],
    })
}

/// The mask's taps with each row padded to the kernel's stride.
fn padded_rows(mask: &Mask) -> Vec<f32> {
    let stride = tap_stride(mask.width()) as usize;
    let mut padded = vec![0.0; stride * mask.height() as usize];
    for (to, from) in padded.chunks_mut(stride).zip(mask.taps().chunks(mask.width() as usize)) {
        to[..from.len()].copy_from_slice(from);
    }
    padded
}

#[cfg(test)]
mod tests {
    use crate::{Role, plan};
    use apron_abi::{ElementType, Kernel, Params};
    use apron_core::{Border, Correlate, Error, Mask, PixelType, Problem, Shape};

    fn problem() -> Correlate {
        Correlate {
            shape: Shape::new(33, 65, 3).unwrap(),
            src: PixelType::U8,
            dst: PixelType::F32,
            mask: Mask::new(4, 3, [0.5; 12]).unwrap().with_anchor(0, 2).unwrap(),
            border: Border::Constant(7.0),
            clamp: false,
        }
    }

    #[test]
    fn one_launch_covers_the_output() {
        let recipe = plan(&Problem::Correlate(problem()), None).unwrap();
        assert_eq!(recipe.variant, "tiled");
        let roles: Vec<_> = recipe.buffers.iter().map(|b| (b.role, b.element, b.elems)).collect();
        let samples = 33 * 65 * 3;
        assert_eq!(roles, [(Role::Input, ElementType::U8, samples), (Role::Output, ElementType::F32, samples)]);
        let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
        assert_eq!((launch.kernel, launch.blocks), (Kernel::conv2d_tiled_u8_f32, 2 * 3));
        assert_eq!(launch.shared_bytes, 35 * 34 * 4);
        assert_eq!(launch.taps.len(), 12);
        let Params::Conv2dParams(params) = launch.params else { panic!("{recipe:?}") };
        assert_eq!((params.origin_x, params.origin_y, params.border, params.constant), (0, -2, 0, 7.0));
    }

    #[test]
    fn rows_of_taps_are_padded_to_what_the_kernel_reads_at_once() {
        let mask = Mask::new(3, 2, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        let recipe = plan(&Problem::Correlate(Correlate { mask, ..problem() }), None).unwrap();
        assert_eq!(recipe.launches[0].taps, [1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0]);
    }

    #[test]
    fn crop_shrinks_the_output_and_keeps_the_corner() {
        let recipe = plan(&Problem::Correlate(Correlate { border: Border::Crop, ..problem() }), None).unwrap();
        let Params::Conv2dParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        assert_eq!((params.out_width, params.out_height, params.origin_x, params.origin_y), (30, 63, 0, 0));
    }

    #[test]
    fn what_the_kernels_cannot_do_is_refused() {
        let wide = Correlate { mask: Mask::new(65, 1, [1.0; 65]).unwrap(), ..problem() };
        let clamped = Correlate { clamp: true, dst: PixelType::U8, ..problem() };
        let sixteen = Correlate { src: PixelType::U16, ..problem() };
        for problem in [wide, clamped, sixteen] {
            let error = plan(&Problem::Correlate(problem), None).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        }
        let large = Correlate { mask: Mask::new(34, 1, [1.0; 34]).unwrap(), border: Border::Crop, ..problem() };
        assert!(matches!(plan(&Problem::Correlate(large), None), Err(Error::NoWindow { .. })));
        let unknown = plan(&Problem::Correlate(problem()), Some("fft")).unwrap_err().to_string();
        assert!(unknown.contains("'fft'") && unknown.contains("tiled"), "{unknown}");
    }
}
