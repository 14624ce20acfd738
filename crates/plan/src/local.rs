//! Recipes of the local standard deviation.

use crate::kernels;
use crate::recipe::Steps;
use crate::variant::{For, Grids, Variant};
use crate::windows::Windows;
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{ElementType, Family, LocalParams, Params, SIMPLE_BLOCK};
use apron_core::{LocalStd, PixelType, Result};

const OPERATION: &str = "local-std";

/// Plans one thread per output sample, a pass along rows and then one along columns, with two planes of f64 sums
/// between.
fn plan(problem: &LocalStd, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (src, dst, shape, out) = (problem.src.element(), problem.dst.element(), problem.shape, window.out);
    let find = |stage, src, dst| {
        kernels::find(variant.name, stage, src, dst).ok_or_else(|| {
            let what = format!("{} to {} pixels", problem.src, problem.dst);
            unsupported(OPERATION, what, "use --device cpu")
        })
    };
    let (mode, constant) = problem.border.mode();
    let params = LocalParams {
        width: shape.width,
        height: shape.height,
        out_width: out.width,
        out_height: out.height,
        channels: shape.channels,
        window_x: problem.width,
        window_y: problem.height,
        origin_x: window.origin_x,
        origin_y: window.origin_y,
        border: mode as u32,
        constant,
    };
    // The extra row holds the sums of rows outside the image, for the constant border.
    let rows = shape.height + 1;
    let launch = |kernel, rows: u32, src| Launch {
        kernel,
        blocks: [(out.width * out.channels).div_ceil(SIMPLE_BLOCK[0]), rows.div_ceil(SIMPLE_BLOCK[1])],
        shared_bytes: 0,
        reserved_bytes: 0,
        src,
        dst: src + 1,
        params: Params::LocalParams(params),
        taps: Vec::new(),
    };
    let launches = vec![
        launch(find("rows", src, ElementType::F64)?, rows, 0),
        launch(find("columns", ElementType::F64, dst)?, out.height, 1),
    ];
    let plane = rows as u64 * out.width as u64 * out.channels as u64;
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: shape.samples() },
        Buffer { role: Role::Scratch, element: ElementType::F64, elems: 2 * plane },
        Buffer { role: Role::Output, element: dst, elems: out.samples() },
    ];
    Ok((buffers, launches))
}

/// Plans windows of integers whose sums slide.
fn sliding(problem: &LocalStd, variant: &Variant, machine: &Machine) -> Result<Steps> {
    if !problem.sums_are_exact() {
        return Err(variant.refused(format!("{} pixels beside {}", problem.src, problem.border)));
    }
    // Where 32 bits suffice, bytes are summed as differences from 128.
    let most = if problem.src == PixelType::U8 { 128.0f64 } else { 65536.0 };
    let count = problem.width as f64 * problem.height as f64;
    let windows = Windows {
        shape: problem.shape,
        src: problem.src,
        dst: problem.dst,
        window: problem.window()?,
        size: [problem.width, problem.height],
        border: problem.border.mode(),
        scale: [1.0 / count, 0.0],
        most: most * most * count,
    };
    windows.slide(variant, machine)
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        grids: Grids { rows: &[0, 32, 64, 128], residents: &[2, 3, 4] },
        ..Variant::new("local-sliding", Family::Local, "integers", &For(sliding))
    },
    Variant { rank: 10, ..Variant::new("local-sums", Family::Local, "any pixels, any window", &For(plan)) },
];

#[cfg(test)]
mod tests {
    use crate::{Machine, Role, plan};
    use apron_abi::Kernel;
    use apron_core::{Border, Extent, LocalStd, PixelType, Problem, Shape};

    #[test]
    fn two_planes_of_sums_have_a_row_of_the_constant() {
        let (shape, border) = (Shape::new(100, 30, 3).unwrap(), Border::Crop);
        let problem = LocalStd {
            shape,
            src: PixelType::U8,
            dst: PixelType::U16,
            width: 5,
            height: 3,
            border,
            extent: Extent::Same,
        };
        let recipe = plan(&Problem::from(problem.clone()), Some("local-sums"), &Machine::EMULATED).unwrap();
        let buffers: Vec<_> = recipe.buffers.iter().map(|buffer| (buffer.role, buffer.elems)).collect();
        assert_eq!(buffers, [(Role::Input, 9000), (Role::Scratch, 2 * 31 * 96 * 3), (Role::Output, 96 * 28 * 3)]);
        let kernels: Vec<_> = recipe.launches.iter().map(|launch| (launch.kernel, launch.blocks)).collect();
        let expected = [(Kernel::local_sums_rows_u8_f64, [9, 4]), (Kernel::local_sums_columns_f64_u16, [9, 4])];
        assert_eq!(kernels, expected);
        let wrong = LocalStd { width: 0, ..problem };
        assert!(plan(&Problem::from(wrong), None, &Machine::EMULATED).is_err());
    }
}
