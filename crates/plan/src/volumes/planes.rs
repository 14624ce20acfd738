//! Recipes of dense and separable masks over images of f64, which are volumes of one plane.

use super::{dense_kernels, launch};
use crate::examples::{correlate, limit, separable as equal, shape};
use crate::recipe::Steps;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{ElementType, Family, Params};
use apron_core::{Border, Cast, Correlate, Pass, PixelType, Result, Separable, Shape, VolumeShape};

/// Plans one launch.
fn dense(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let (window, mask) = (problem.window()?, &problem.mask);
    let (mode, constant) = problem.border.mode_of(PixelType::F64);
    let pass = Pass {
        axis: None,
        input: plane(problem.shape)?,
        out: plane(window.out)?,
        origin: [window.origin_x, window.origin_y, 0],
        size: [mask.width(), mask.height(), 1],
        taps: mask.taps_f64().to_vec(),
        modes: [mode; 3],
        constants: [constant; 3],
        divisor: 1.0,
    };
    let mut launch = of_doubles(&pass);
    if let Params::VolumesParams(params) = &mut launch.params {
        params.clamp = problem.clamp as u32;
    }
    let buffers = vec![buffer(Role::Input, problem.shape.samples()), buffer(Role::Output, window.out.samples())];
    Ok((buffers, vec![launch]))
}

/// Plans two launches: taps along x, then along y.
fn separable(problem: &Separable, variant: &Variant, _: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let (window, shape) = (problem.window()?, problem.shape);
    let (mode, constant) = problem.border.mode_of(PixelType::F64);
    let (x, y) = (problem.taps_x.taps_f64(), problem.taps_y.taps_f64());
    let between = VolumeShape::new(window.out.width, shape.height, 1, shape.channels)?;
    let rows = Pass {
        axis: Some(0),
        input: plane(shape)?,
        out: between,
        origin: [window.origin_x, 0, 0],
        size: [x.len() as u32, 1, 1],
        taps: x.to_vec(),
        modes: [mode; 3],
        constants: [constant; 3],
        divisor: 1.0,
    };
    // The border applies to the image, before the first pass.
    let outside = match problem.border {
        Border::Constant(_) => x.iter().fold(0.0, |sum, tap: &f64| tap.mul_add(constant, sum)),
        _ => 0.0,
    };
    let columns = Pass {
        axis: Some(1),
        input: between,
        out: plane(window.out)?,
        origin: [0, window.origin_y, 0],
        size: [1, y.len() as u32, 1],
        taps: y.to_vec(),
        constants: [outside; 3],
        ..rows.clone()
    };
    let buffers = vec![
        buffer(Role::Input, shape.samples()),
        buffer(Role::Scratch, between.samples()),
        buffer(Role::Output, window.out.samples()),
    ];
    Ok((buffers, vec![of_doubles(&rows), Launch { src: 1, dst: 2, ..of_doubles(&columns) }]))
}

fn check(types: (PixelType, PixelType), variant: &Variant) -> Result<()> {
    match types {
        (PixelType::F64, PixelType::F64) => Ok(()),
        (src, dst) => Err(variant.refused(format!("{src} to {dst} pixels"))),
    }
}

fn plane(shape: Shape) -> Result<VolumeShape> {
    VolumeShape::new(shape.width, shape.height, 1, shape.channels)
}

fn buffer(role: Role, elems: u64) -> Buffer {
    Buffer { role, element: ElementType::F64, elems }
}

fn of_doubles(pass: &Pass) -> Launch {
    let kernels = dense_kernels(PixelType::F64).expect("kernels of f64");
    launch(pass, kernels, (PixelType::F64, Cast::default())).expect("a kernel of any number of taps")
}

// Not swept: the type f64 decides.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 110,
        kernels: "volumes-dense",
        ..Variant::new("volumes-plane-dense", Family::Volumes, "f64 pixels, any mask", &For(dense))
            .examples(|| vec![limit(correlate(3, PixelType::F64, (200, 3)), correlate(3, PixelType::F32, (1, 1)))])
            .unswept()
    },
    Variant {
        rank: 110,
        kernels: "volumes-dense",
        ..Variant::new("volumes-plane-passes", Family::Volumes, "f64 pixels, any number of taps", &For(separable))
            .examples(|| {
                vec![limit(
                    equal((PixelType::F64, PixelType::F64), shape(20, 1), 5000),
                    equal((PixelType::F32, PixelType::F32), shape(20, 1), 3),
                )]
            })
            .unswept()
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_core::{Extent, Problem, Taps};

    #[test]
    fn the_second_pass_sees_the_first_ones_result_outside() {
        let (taps_x, taps_y) = (Taps::from_f64([0.1, 0.2]).unwrap(), Taps::from_f64([1.0; 3]).unwrap());
        let (shape, src, dst) = (Shape::new(100, 70, 3).unwrap(), PixelType::F64, PixelType::F64);
        let (border, extent) = (Border::Constant(0.7), Extent::Same);
        let problem = Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent });
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        let [rows, columns] = &recipe.launches[..] else { panic!("{recipe:?}") };
        let params = |launch: &Launch| match launch.params {
            Params::VolumesParams(params) => params,
            other => panic!("{other:?}"),
        };
        assert_eq!(params(rows).constants[0], 0.7);
        assert_eq!(params(columns).constants[1], 0.2f64.mul_add(0.7, 0.1 * 0.7));
        // 100 pixels in tiles of 80, and 70 rows by 8; 300 samples in tiles of 64, and 70 rows by
        // 32; two words per tap.
        assert_eq!((rows.blocks, rows.taps.len()), ([2, 9], 4));
        assert_eq!((columns.blocks, columns.taps.len()), ([5, 3], 6));
    }

    #[test]
    fn other_types_are_refused() {
        let taps = Taps::new([1.0]).unwrap();
        let (shape, src, dst) = (Shape::new(10, 7, 1).unwrap(), PixelType::F32, PixelType::F32);
        let (border, extent, taps_x, taps_y) = (Border::Wrap, Extent::Same, taps.clone(), taps);
        let problem = Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent });
        let error = plan(&problem, Some("volumes-plane-passes"), &Machine::EMULATED).unwrap_err();
        assert!(error.to_string().contains("f32 to f32 pixels"), "{error}");
    }
}
