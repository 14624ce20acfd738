//! Recipes of separable correlation.

use crate::{Buffer, Launch, Recipe, Role, flat_grid, unsupported};
use apron_abi::{Conv1dParams, ElementType, Kernel, MAX_TAPS, Params, SIMPLE_BLOCK};
use apron_core::{Border, PixelType, Result, Separable, Taps};

const OPERATION: &str = "separable";

/// P2: rows, then columns; the sums between stay on the device.
pub(crate) fn simple(problem: &Separable, variant: &'static str, why: &'static str) -> Result<Recipe> {
    let window = problem.window()?;
    for taps in [&problem.taps_x, &problem.taps_y] {
        if taps.len() as usize > MAX_TAPS {
            let what = format!("filters of over {MAX_TAPS} taps (this one has {})", taps.len());
            return Err(unsupported(OPERATION, what, "use --device cpu"));
        }
    }
    let sums = if problem.dst == PixelType::F32 { ElementType::F32 } else { ElementType::F64 };
    let missing = || unsupported(OPERATION, format!("{} to {} pixels", problem.src, problem.dst), "use --device cpu");
    let rows = Kernel::find("simple-rows", problem.src.element(), sums).ok_or_else(missing)?;
    let columns = Kernel::find("simple-columns", sums, problem.dst.element()).ok_or_else(missing)?;

    let (mode, constant) = problem.border.mode();
    let (shape, out) = (problem.shape, window.out);
    let blocks_x = (out.width * out.channels).div_ceil(SIMPLE_BLOCK[0]);
    let pass = |kernel, taps: &Taps, origin, width, out_height: u32, constant, src, dst| -> Result<Launch> {
        Ok(Launch {
            kernel,
            blocks: flat_grid(OPERATION, blocks_x, out_height.div_ceil(SIMPLE_BLOCK[1]))?,
            shared_bytes: 0,
            src,
            dst,
            params: Params::Conv1dParams(Conv1dParams {
                constant,
                width,
                height: shape.height,
                out_width: out.width,
                out_height,
                channels: out.channels,
                taps: taps.len(),
                blocks_x,
                origin,
                border: mode as u32,
                reserved: 0,
            }),
            taps: taps.taps().to_vec(),
        })
    };
    let outside = if matches!(problem.border, Border::Constant(_)) {
        filtered_constant(&problem.taps_x, constant, problem.dst)
    } else {
        0.0
    };
    Ok(Recipe {
        operation: OPERATION,
        variant,
        why,
        buffers: vec![
            Buffer { role: Role::Input, element: problem.src.element(), elems: shape.samples() },
            Buffer {
                role: Role::Scratch,
                element: sums,
                elems: out.width as u64 * shape.height as u64 * out.channels as u64,
            },
            Buffer { role: Role::Output, element: problem.dst.element(), elems: out.samples() },
        ],
        launches: vec![
            pass(rows, &problem.taps_x, window.origin_x, shape.width, shape.height, constant as f64, 0, 1)?,
            pass(columns, &problem.taps_y, window.origin_y, out.width, out.height, outside, 1, 2)?,
        ],
    })
}

/// What the first pass makes of rows that are all `constant`: the image is meant to be extended
/// before the first pass. Summed as the kernel sums.
fn filtered_constant(taps: &Taps, constant: f32, dst: PixelType) -> f64 {
    match dst {
        PixelType::F32 => taps.taps().iter().fold(0.0f32, |sum, tap| tap.mul_add(constant, sum)) as f64,
        _ => taps.taps().iter().fold(0.0f64, |sum, &tap| (tap as f64).mul_add(constant as f64, sum)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Role, plan};
    use apron_abi::{ElementType, Kernel, Params};
    use apron_core::{Border, PixelType, Problem, Separable, Shape, Taps};

    fn problem(dst: PixelType, border: Border) -> Problem {
        Problem::Separable(Separable {
            shape: Shape::new(40, 20, 3).unwrap(),
            src: PixelType::U8,
            dst,
            taps_x: Taps::new([1.0, 2.0, 3.0]).unwrap(),
            taps_y: Taps::new([1.0; 5]).unwrap(),
            border,
        })
    }

    #[test]
    fn the_sums_between_the_passes_never_leave_the_device() {
        for (dst, sums) in [(PixelType::F32, ElementType::F32), (PixelType::U8, ElementType::F64)] {
            let recipe = plan(&problem(dst, Border::Reflect), None).unwrap();
            let between = recipe.buffers[1];
            assert_eq!((between.role, between.element), (Role::Scratch, sums));
            let chain: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
            assert_eq!(chain, [(0, 1), (1, 2)]);
            assert_eq!(recipe.buffers[0].role, Role::Input);
            assert_eq!(recipe.buffers[2].role, Role::Output);
        }
    }

    #[test]
    fn rows_then_columns_and_the_constant_is_filtered_too() {
        let recipe = plan(&problem(PixelType::U8, Border::Constant(10.0)), Some("simple")).unwrap();
        assert_eq!(recipe.why, "asked for by name");
        assert_eq!(recipe.launches[0].kernel, Kernel::conv1d_simple_rows_u8_f64);
        assert_eq!(recipe.launches[1].kernel, Kernel::conv1d_simple_columns_f64_u8);
        let constants: Vec<f64> = recipe
            .launches
            .iter()
            .map(|launch| match launch.params {
                Params::Conv1dParams(params) => params.constant,
                _ => panic!("{launch:?}"),
            })
            .collect();
        assert_eq!(constants, [10.0, 60.0]);
    }

    #[test]
    fn crop_shrinks_each_axis_in_its_pass() {
        let recipe = plan(&problem(PixelType::F32, Border::Crop), None).unwrap();
        assert_eq!(recipe.buffers[1].elems, 38 * 20 * 3);
        assert_eq!(recipe.buffers[2].elems, 38 * 16 * 3);
    }
}
