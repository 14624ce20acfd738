//! Recipes of masks over planes: of dense and separable masks over images of f64, which are volumes of one plane, and of
//! masks of one plane over volumes.

use super::{MOST_COLUMNS, cuts, dense_kernels, is_summed_once, launch, planes_per_block};
use crate::examples::{correlate, cube, limit, separable as equal, shape, valid};
use crate::recipe::Steps;
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{
    ElementType, FEWEST_TAPS, Family, Kernel, Params, VOLUMES_PLANE_COLUMNS, VOLUMES_PLANE_HALO, VOLUMES_PLANE_SIDES,
    VOLUMES_PLANE_TAPS, VolumesParams,
};
use apron_core::{
    Border, Cast, Correlate, Error, Pass, PixelType, Result, Separable, Shape, Taps, VolumeFilter, VolumeShape, Window,
};

/// Plans one launch.
fn dense(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let (window, mask) = (problem.window()?, &problem.mask);
    let size = [mask.width(), mask.height(), 1];
    let pass = of_image(problem.shape, window, problem.border, (size, mask.taps_f64().to_vec()))?;
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

/// Plans one launch for taps along both axes.
fn taps(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let (x, y) = (problem.taps_x.taps_f64(), problem.taps_y.taps_f64());
    let size = [x.len() as u32, y.len() as u32, 1];
    let kernels = [
        Kernel::volumes_plane_taps_5_f64_f64,
        Kernel::volumes_plane_taps_9_f64_f64,
        Kernel::volumes_plane_taps_17_f64_f64,
    ];
    let kernel = VOLUMES_PLANE_TAPS.into_iter().zip(kernels).find(|&(places, _)| size[1] <= places);
    let (places, kernel) = kernel.ok_or_else(|| variant.refused(format!("{} taps along y", size[1])))?;
    let taps = std::iter::repeat_n(0.0, places as usize - y.len()).chain(y.iter().copied()).chain(x.iter().copied());
    let pass = of_image(problem.shape, problem.window()?, problem.border, (size, taps.collect()))?;
    in_bands(&pass, (kernel, Cast::default(), false), (variant, machine))
}

/// Plans one launch for a mask.
fn mask(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    check((problem.src, problem.dst), variant)?;
    let mask = &problem.mask;
    let size = [mask.width(), mask.height(), 1];
    let (_, kernel) = of_side(PixelType::F64, (size, 1)).ok_or_else(|| refused(size, variant))?;
    let pass = of_image(problem.shape, problem.window()?, problem.border, (size, mask.taps_f64().to_vec()))?;
    in_bands(&pass, (kernel, Cast::default(), problem.clamp), (variant, machine))
}

/// Plans one launch for a mask of one plane over all planes of a volume.
fn stack(problem: &VolumeFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    is_summed_once(problem, variant)?;
    let (src, dst, window) = (problem.src, problem.dst, problem.window()?);
    let [pass @ Pass { axis: None, .. }] = &problem.passes()?[..] else {
        return Err(variant.refused("taps along axes".into()));
    };
    let (side, kernel) = of_side(src, (pass.size, pass.input.channels)).ok_or_else(|| refused(pass.size, variant))?;
    if src != dst || pass.divisor != 1.0 {
        return Err(variant.refused(format!("{src} to {dst} samples, divided by {}", pass.divisor)));
    }
    let planes = window.origin[2]..window.origin[2] + window.out.depth as i32;
    if planes.start < 0 || planes.end > problem.depth as i32 {
        return Err(variant.refused(format!("planes {planes:?} of {}", problem.depth)));
    }
    let mut pass = pass.clone();
    if pass.size != [side, side, 1] {
        // A tap of 0 adds nothing to the sum if what it weighs is finite.
        if let Some(constant) = pass.constants.iter().find(|constant| !constant.is_finite()) {
            return Err(variant.refused(format!("the border's constant {constant} and {:?} taps", pass.size)));
        }
        let mut taps = vec![0.0; (side * side) as usize];
        for (to, of_row) in taps.chunks_mut(side as usize).zip(pass.taps.chunks(pass.size[0] as usize)) {
            to[..of_row.len()].copy_from_slice(of_row);
        }
        (pass.taps, pass.size) = (taps, [side, side, 1]);
    }
    let cast = if src.is_float() || !cuts(problem, variant)? { Cast::default() } else { problem.cast };
    in_bands(&pass, (kernel, cast, false), (variant, machine))
}

/// Returns the kernel for a mask over samples of a type, and its side. Smaller masks over integers are filled.
fn of_side(src: PixelType, (size, channels): ([u32; 3], u32)) -> Option<(u32, Kernel)> {
    let kernels = match src {
        PixelType::F64 => [
            Kernel::volumes_plane_mask_3_f64_f64,
            Kernel::volumes_plane_mask_5_f64_f64,
            Kernel::volumes_plane_mask_7_f64_f64,
        ],
        PixelType::U8 => {
            [Kernel::volumes_plane_mask_3_u8_u8, Kernel::volumes_plane_mask_5_u8_u8, Kernel::volumes_plane_mask_7_u8_u8]
        }
        PixelType::U16 => [
            Kernel::volumes_plane_mask_3_u16_u16,
            Kernel::volumes_plane_mask_5_u16_u16,
            Kernel::volumes_plane_mask_7_u16_u16,
        ],
        PixelType::I16 => [
            Kernel::volumes_plane_mask_3_i16_i16,
            Kernel::volumes_plane_mask_5_i16_i16,
            Kernel::volumes_plane_mask_7_i16_i16,
        ],
        _ => return None,
    };
    // Of one channel not if most taps would be 0: other kernels are faster.
    let pays = |side: u32| channels > 1 || side * side <= 3 * size[0] * size[1];
    let fills = |side| !src.is_float() && size[0].max(size[1]) <= side && pays(side);
    let takes = |side| size == [side, side, 1] || (size[2] == 1 && fills(side));
    VOLUMES_PLANE_SIDES.into_iter().zip(kernels).find(|&(side, _)| takes(side))
}

fn refused(size: [u32; 3], variant: &Variant) -> Error {
    variant.refused(format!("a mask of {size:?} taps"))
}

/// Returns the pass of a filter over an image of f64.
fn of_image(shape: Shape, window: Window, border: Border, (size, taps): ([u32; 3], Vec<f64>)) -> Result<Pass> {
    let (mode, constant) = border.mode_of(PixelType::F64);
    Ok(Pass {
        axis: None,
        input: plane(shape)?,
        out: plane(window.out)?,
        origin: [window.origin_x, window.origin_y, 0],
        size,
        taps,
        modes: [mode; 3],
        constants: [constant; 3],
        divisor: 1.0,
    })
}

/// Plans the launch of a kernel that goes down the rows of each plane.
fn in_bands(
    pass: &Pass,
    (kernel, cast, clamp): (Kernel, Cast, bool),
    (variant, machine): (&Variant, &Machine),
) -> Result<Steps> {
    let (input, out, mask) = (pass.input, pass.out, pass.size);
    let (channels, most) = (input.channels, input.width.max(out.width) as u64 * input.channels as u64);
    if (mask[0] - 1) * channels > VOLUMES_PLANE_HALO || 2 * pass.taps.len() > FEWEST_TAPS {
        return Err(variant.refused(format!("{} x {} taps over {channels} channels", mask[0], mask[1])));
    }
    if most >= MOST_COLUMNS {
        return Err(variant.refused(format!("rows of {most} samples")));
    }
    let columns = (out.width * channels).div_ceil(VOLUMES_PLANE_COLUMNS);
    let slots = machine.multiprocessors * kernel.facts().residents;
    let rows = planes_per_block((columns as u64 * out.depth as u64, out.height), mask[1], slots as u64);
    let bands = out.height.div_ceil(rows);
    let params = VolumesParams {
        constants: pass.constants,
        divisor: 1.0,
        sides: input.sides(),
        row_stride: input.width * channels,
        out: out.sides(),
        channels,
        mask,
        rows_of_blocks: bands,
        origin: pass.origin,
        borders: pass.modes.map(|mode| mode as u32),
        cast: cast.code(),
        clamp: clamp as u32,
    };
    let buffer = |role, elems| Buffer { role, element: kernel.facts().src, elems };
    let buffers = vec![buffer(Role::Input, input.samples()), buffer(Role::Output, out.samples())];
    let launch = Launch {
        kernel,
        blocks: [columns, bands * out.depth],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::VolumesParams(params),
        taps: pass.taps.iter().copied().flat_map(halves).collect::<Vec<_>>().into(),
    };
    Ok((buffers, vec![launch]))
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
        rank: 105,
        ..Variant::new(
            "volumes-plane-taps",
            Family::Volumes,
            "f64 pixels, up to 17 taps along y, and along x as many as reach over 64 samples, up to 47",
            &For(taps),
        )
        .examples(|| {
            let axes = |x, y, channels| {
                let taps = |count| valid(Taps::new(vec![0.5; count]));
                let of = equal((PixelType::F64, PixelType::F64), shape(20, channels), 1);
                Separable { taps_x: taps(x), taps_y: taps(y), ..of }
            };
            vec![
                limit(axes(47, 17, 1), axes(48, 17, 1)),
                limit(axes(17, 9, 4), axes(18, 9, 4)),
                limit(axes(1, 5, 3), axes(1, 18, 3)),
            ]
        })
        .unswept()
    },
    Variant {
        rank: 105,
        ..Variant::new("volumes-plane-mask", Family::Volumes, "f64 pixels, masks of 3x3, 5x5 and 7x7", &For(mask))
            .examples(|| {
                let mask = |channels, width| correlate(channels, PixelType::F64, (width, width));
                vec![limit(mask(1, 3), mask(1, 4)), limit(mask(3, 5), mask(3, 6)), limit(mask(4, 7), mask(4, 9))]
            })
            .unswept()
    },
    Variant {
        rank: 11,
        kernels: "volumes-plane-mask",
        ..Variant::new(
            "volumes-stack-mask",
            Family::Volumes,
            "u8, u16, i16: masks of one plane up to 7x7 (gray: that fill a third of it); f64: 3x3, 5x5, 7x7",
            &For(stack),
        )
        .examples(|| {
            vec![
                limit(cube(PixelType::U8, [7, 3, 1]), cube(PixelType::U8, [7, 2, 1])),
                limit(cube(PixelType::U16, [3, 5, 1]), cube(PixelType::U16, [3, 3, 2])),
                limit(cube(PixelType::I16, [1, 3, 1]), cube(PixelType::I32, [3, 3, 1])),
                limit(cube(PixelType::F64, [5, 5, 1]), cube(PixelType::F64, [5, 4, 1])),
            ]
        })
        .unswept()
    },
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
        let recipe = plan(&problem, Some("volumes-plane-passes"), &Machine::EMULATED).unwrap();
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
    fn taps_along_y_end_where_those_along_x_start() {
        let (taps_x, taps_y) = (Taps::from_f64([0.5, 0.25]).unwrap(), Taps::from_f64([1.0, 2.0, 3.0]).unwrap());
        let (src, dst, border, extent) = (PixelType::F64, PixelType::F64, Border::Constant(0.7), Extent::Same);
        let shape = Shape::new(100, 70, 3).unwrap();
        let problem = Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent });
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
        assert_eq!(launch.kernel, Kernel::volumes_plane_taps_5_f64_f64);
        let Params::VolumesParams(params) = launch.params else { panic!("{launch:?}") };
        assert_eq!((params.mask, params.origin, params.constants[1]), ([2, 3, 1], [-1, -1, 0], 0.7));
        let taps: Vec<f32> = [0.0, 0.0, 1.0, 2.0, 3.0, 0.5, 0.25].into_iter().flat_map(halves).collect();
        assert_eq!(launch.taps[..], taps);
        // 300 samples by 256.
        assert_eq!((launch.blocks[0], params.rows_of_blocks), (2, launch.blocks[1]));
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
