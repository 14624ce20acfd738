//! Recipes of dense and separable masks over f64.

use crate::recipe::Steps;
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{DOUBLES_BLOCK, DOUBLES_TILE, DoublesParams, ElementType, Family, Kernel, Params};
use apron_core::{Border, Correlate, PixelType, Result, Separable};

/// Plans one launch.
fn dense(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let (window, mask) = (problem.window()?, &problem.mask);
    let (mode, constant) = problem.border.mode_of(PixelType::F64);
    let params = DoublesParams {
        constant,
        width: problem.shape.width,
        height: problem.shape.height,
        row_stride: problem.shape.row_samples() as u32,
        out_width: window.out.width,
        out_height: window.out.height,
        channels: problem.shape.channels,
        mask_width: mask.width(),
        mask_height: mask.height(),
        origin_x: window.origin_x,
        origin_y: window.origin_y,
        border: mode as u32,
        clamp: problem.clamp as u32,
    };
    let buffers = vec![buffer(Role::Input, problem.shape.samples()), buffer(Role::Output, window.out.samples())];
    Ok((buffers, vec![launch(params, mask.taps_f64())]))
}

/// Plans two launches: a row of taps, then a mask of one column.
fn separable(problem: &Separable, variant: &Variant, _: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let (window, shape) = (problem.window()?, problem.shape);
    let (mode, constant) = problem.border.mode_of(PixelType::F64);
    let (x, y) = (problem.taps_x.taps_f64(), problem.taps_y.taps_f64());
    let rows = DoublesParams {
        constant,
        width: shape.width,
        height: shape.height,
        row_stride: shape.row_samples() as u32,
        out_width: window.out.width,
        out_height: shape.height,
        channels: shape.channels,
        mask_width: x.len() as u32,
        mask_height: 1,
        origin_x: window.origin_x,
        origin_y: 0,
        border: mode as u32,
        clamp: 0,
    };
    // The border applies to the image, before the first pass.
    let outside = match problem.border {
        Border::Constant(_) => x.iter().fold(0.0, |sum, tap: &f64| tap.mul_add(constant, sum)),
        _ => 0.0,
    };
    let columns = DoublesParams {
        constant: outside,
        width: window.out.width,
        row_stride: window.out.row_samples() as u32,
        out_height: window.out.height,
        mask_width: 1,
        mask_height: y.len() as u32,
        origin_x: 0,
        origin_y: window.origin_y,
        ..rows
    };
    let buffers = vec![
        buffer(Role::Input, shape.samples()),
        buffer(Role::Scratch, window.out.row_samples() as u64 * shape.height as u64),
        buffer(Role::Output, window.out.samples()),
    ];
    Ok((buffers, vec![launch(rows, x), Launch { src: 1, dst: 2, ..launch(columns, y) }]))
}

fn check(types: (PixelType, PixelType), variant: &Variant) -> Result<()> {
    match types {
        (PixelType::F64, PixelType::F64) => Ok(()),
        (src, dst) => Err(variant.refused(format!("{src} to {dst} pixels"))),
    }
}

fn buffer(role: Role, elems: u64) -> Buffer {
    Buffer { role, element: ElementType::F64, elems }
}

fn launch(params: DoublesParams, taps: &[f64]) -> Launch {
    // A single row has nothing to share between rows of outputs.
    let (kernel, rows) = match params.mask_height == 1 && params.clamp == 0 {
        true => (Kernel::doubles_dense_line_f64_f64, DOUBLES_BLOCK[1]),
        false => (Kernel::doubles_dense_f64_f64, DOUBLES_TILE[1]),
    };
    let columns = (params.out_width * params.channels).div_ceil(DOUBLES_TILE[0]);
    Launch {
        kernel,
        blocks: [columns, params.out_height.div_ceil(rows)],
        shared_bytes: 0,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::DoublesParams(params),
        taps: taps.iter().flat_map(|&tap| halves(tap)).collect(),
    }
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant { rank: 110, ..Variant::new("doubles-dense", Family::Doubles, "f64 pixels, any mask", &For(dense)) },
    Variant {
        rank: 110,
        kernels: "doubles-dense",
        ..Variant::new("doubles-separable", Family::Doubles, "f64 pixels, any number of taps", &For(separable))
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_core::{Extent, Problem, Shape, Taps};

    #[test]
    fn the_second_pass_sees_the_first_ones_result_outside() {
        let (taps_x, taps_y) = (Taps::from_f64([0.1, 0.2]).unwrap(), Taps::from_f64([1.0; 3]).unwrap());
        let (shape, src, dst) = (Shape::new(100, 70, 3).unwrap(), PixelType::F64, PixelType::F64);
        let (border, extent) = (Border::Constant(0.7), Extent::Same);
        let problem = Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent });
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        let [rows, columns] = &recipe.launches[..] else { panic!("{recipe:?}") };
        let params = |launch: &Launch| match launch.params {
            Params::DoublesParams(params) => params,
            other => panic!("{other:?}"),
        };
        assert_eq!(params(rows).constant, 0.7);
        assert_eq!(params(columns).constant, 0.2f64.mul_add(0.7, 0.1 * 0.7));
        // 300 samples in tiles of 128; 70 rows by 4, and in tiles of 32; two words per tap.
        assert_eq!((rows.blocks, rows.taps.len()), ([3, 18], 4));
        assert_eq!((columns.blocks, columns.taps.len()), ([3, 3], 6));
    }

    #[test]
    fn other_types_are_refused() {
        let taps = Taps::new([1.0]).unwrap();
        let (shape, src, dst) = (Shape::new(10, 7, 1).unwrap(), PixelType::F32, PixelType::F32);
        let (border, extent, taps_x, taps_y) = (Border::Wrap, Extent::Same, taps.clone(), taps);
        let problem = Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent });
        let error = plan(&problem, Some("doubles-separable"), &Machine::EMULATED).unwrap_err();
        assert!(error.to_string().contains("f32 to f32 pixels"), "{error}");
    }
}
