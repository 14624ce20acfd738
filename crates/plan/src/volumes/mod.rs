//! Recipes of filters of volumes: a launch for each pass, or one for several.

pub(crate) mod planes;
pub(crate) mod stored;

use crate::examples::{cube as mask_of, limit, volume};
use crate::recipe::Steps;
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{
    BorderMode, ElementType, FEW_TAPS, Family, Kernel, Params, RowsTile, VOLUMES_COLUMNS_TILE, VOLUMES_CUBE_SIDES,
    VOLUMES_MARCH_COLUMNS, VOLUMES_MARCH_INTEGER_TAPS, VOLUMES_MARCH_TAPS, VOLUMES_ROWS_BLOCK, VOLUMES_TILE,
    VolumesMarchParams, VolumesParams, volumes_march_has_fewer, volumes_march_rows,
};
use apron_core::{Cast, FilterProblem, Overflow, Pass, PixelType, Result, Rounding, VolumeFilter, VolumeWeights};

/// Plans a launch for a mask, or one for each axis.
fn dense(problem: &VolumeFilter, variant: &Variant, _: &Machine) -> Result<Steps> {
    let (src, dst) = (problem.src, problem.dst);
    let Some(kernels) = dense_kernels(src).filter(|_| src == dst) else {
        return Err(variant.refused(format!("{src} to {dst} samples")));
    };
    let (stages, last) = problem.stages()?;
    let (buffer, mut launches) = (|role, elems| Buffer { role, element: src.element(), elems }, Vec::new());
    let mut buffers = vec![buffer(Role::Input, problem.shape.samples())];
    for stage in stages.iter().chain([&last]) {
        let passes = stage.passes()?;
        if passes.len() > 1 && !src.is_float() {
            return Err(variant.refused(format!("{src} samples along {} axes: sums between are f64", passes.len())));
        }
        for pass in &passes {
            let launch = launch(pass, kernels, (stage.sums(), stage.cast));
            let launch =
                launch.ok_or_else(|| variant.refused(format!("{src} samples and {} taps", pass.taps.len())))?;
            launches.push(Launch { src: launches.len(), dst: launches.len() + 1, ..launch });
            buffers.push(buffer(Role::Scratch, pass.out.samples()));
        }
    }
    if let Some(output) = buffers.last_mut() {
        output.role = Role::Output;
    }
    Ok((buffers, launches))
}

/// The kernels of samples of one type.
#[derive(Clone, Copy)]
struct DenseKernels {
    /// Of masks of any size; `None` for integers.
    any: Option<Kernel>,
    /// Of masks of up to [`FEW_TAPS`] taps.
    rows: Kernel,
    /// Of taps along y or z alone.
    columns: Kernel,
}

/// Returns the kernels of masks and of taps along an axis for samples of one type.
fn dense_kernels(pixel: PixelType) -> Option<DenseKernels> {
    let of = |any, rows, columns| Some(DenseKernels { any, rows, columns });
    match pixel {
        PixelType::F32 => {
            let any = Some(Kernel::volumes_dense_f32_f32);
            of(any, Kernel::volumes_dense_rows_f32_f32, Kernel::volumes_dense_columns_f32_f32)
        }
        PixelType::F64 => {
            let any = Some(Kernel::volumes_dense_f64_f64);
            of(any, Kernel::volumes_dense_rows_f64_f64, Kernel::volumes_dense_columns_f64_f64)
        }
        PixelType::U8 => of(None, Kernel::volumes_dense_rows_u8_u8, Kernel::volumes_dense_columns_u8_u8),
        PixelType::U16 => of(None, Kernel::volumes_dense_rows_u16_u16, Kernel::volumes_dense_columns_u16_u16),
        PixelType::I16 => of(None, Kernel::volumes_dense_rows_i16_i16, Kernel::volumes_dense_columns_i16_i16),
        PixelType::I32 => of(None, Kernel::volumes_dense_rows_i32_i32, Kernel::volumes_dense_columns_i32_i32),
        PixelType::I64 => of(None, Kernel::volumes_dense_rows_i64_i64, Kernel::volumes_dense_columns_i64_i64),
        PixelType::Bool | PixelType::F16 | PixelType::I8 | PixelType::U32 | PixelType::U64 => None,
    }
}

/// Names of variants.
const CUBE: &str = "volumes-cube";
const DENSE: &str = "volumes-dense";

/// Returns whether a filter of integers takes less time as one of f64, with a conversion before and one after: where the
/// launch that takes the integers does not march, and the one over f64 does. Sums are f64 in both cases.
pub fn is_faster_in_doubles(problem: &VolumeFilter, machine: &Machine) -> bool {
    let variant = |problem: VolumeFilter| {
        let recipe = crate::plan(&FilterProblem::Volume(problem).into(), None, machine);
        recipe.map_or("none", |recipe| recipe.variant)
    };
    let (src, dst, cast) = (PixelType::F64, PixelType::F64, Cast::default());
    let doubles = VolumeFilter { src, dst, cast, ..problem.clone() };
    !problem.src.is_float() && variant(problem.clone()) == DENSE && variant(doubles) == CUBE
}

/// Plans one launch for taps along all axes.
fn march(problem: &VolumeFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    is_summed_once(problem, variant)?;
    let passes = problem.passes()?;
    let [x, y, z] = &passes[..] else {
        return Err(variant.refused("other than taps along three axes".into()));
    };
    let counts = problem.weights.size();
    let (places, kernel) =
        marches(problem.src, counts).ok_or_else(|| variant.refused(format!("{counts:?} taps along the axes")))?;
    let mut taps = vec![0.0; 3 * places];
    for (pass, at) in [(x, 0), (y, places), (z, 3 * places - counts[2] as usize)] {
        taps[at..at + pass.taps.len()].copy_from_slice(&pass.taps);
    }
    let taps = match problem.src {
        PixelType::F32 => taps.into_iter().map(|tap| tap as f32).collect(),
        _ => taps.into_iter().flat_map(halves).collect(),
    };
    let filled = (problem.src != PixelType::F32).then_some(places as u32);
    marching(problem, variant, machine, (kernel, z.modes, taps, filled))
}

/// Refuses sums that are stored between passes.
fn is_summed_once(problem: &VolumeFilter, variant: &Variant) -> Result<()> {
    match problem.stages()? {
        (stages, _) if stages.is_empty() => Ok(()),
        _ => Err(variant.refused("sums that are stored between passes".into())),
    }
}

/// Returns the kernel for `taps` taps along x, y and z, and the taps per axis that it has places for.
fn marches(src: PixelType, taps: [u32; 3]) -> Option<(usize, Kernel)> {
    let floats = [
        Kernel::volumes_march_3_f32_f32,
        Kernel::volumes_march_5_f32_f32,
        Kernel::volumes_march_7_f32_f32,
        Kernel::volumes_march_9_f32_f32,
        Kernel::volumes_march_11_f32_f32,
        Kernel::volumes_march_13_f32_f32,
        Kernel::volumes_march_15_f32_f32,
        Kernel::volumes_march_17_f32_f32,
    ];
    macro_rules! integers {
        ($($kernel:ident),*) => {
            smallest(taps, VOLUMES_MARCH_INTEGER_TAPS.into_iter().zip([$(Kernel::$kernel),*]))
        };
    }
    match src {
        PixelType::U8 => {
            integers!(volumes_march_5_u8_u8, volumes_march_9_u8_u8, volumes_march_13_u8_u8, volumes_march_17_u8_u8)
        }
        PixelType::U16 => {
            integers!(
                volumes_march_5_u16_u16,
                volumes_march_9_u16_u16,
                volumes_march_13_u16_u16,
                volumes_march_17_u16_u16
            )
        }
        PixelType::I16 => {
            integers!(
                volumes_march_5_i16_i16,
                volumes_march_9_i16_i16,
                volumes_march_13_i16_i16,
                volumes_march_17_i16_i16
            )
        }
        _ => {
            let all = VOLUMES_MARCH_TAPS.into_iter().zip(floats);
            smallest(taps, all.filter(|&(places, _)| volumes_march_has_fewer(places) || taps == [places; 3]))
        }
    }
}

/// Plans one launch for a mask of three dimensions.
fn cube(problem: &VolumeFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    is_summed_once(problem, variant)?;
    let passes = problem.passes()?;
    let [Pass { axis: None, taps: mask, modes, .. }] = &passes[..] else {
        return Err(variant.refused("taps along axes".into()));
    };
    let sides = problem.weights.size();
    let kernels = match problem.src {
        PixelType::F32 => [Kernel::volumes_cube_3_f32_f32, Kernel::volumes_cube_5_f32_f32],
        PixelType::F64 => [Kernel::volumes_cube_3_f64_f64, Kernel::volumes_cube_5_f64_f64],
        PixelType::U8 => [Kernel::volumes_cube_3_u8_u8, Kernel::volumes_cube_5_u8_u8],
        PixelType::U16 => [Kernel::volumes_cube_3_u16_u16, Kernel::volumes_cube_5_u16_u16],
        PixelType::I16 => [Kernel::volumes_cube_3_i16_i16, Kernel::volumes_cube_5_i16_i16],
        other => return Err(variant.refused(format!("{other} samples"))),
    };
    // Of floats, the first one is for masks of its side alone.
    let first = if !problem.src.is_float() || sides == [VOLUMES_CUBE_SIDES[0]; 3] { 0 } else { 1 };
    let (places, kernel) = smallest(sides, VOLUMES_CUBE_SIDES.into_iter().zip(kernels).skip(first))
        .ok_or_else(|| variant.refused(format!("a mask of {sides:?} taps")))?;
    let mut taps = vec![0.0; places.pow(3)];
    let [columns, rows, planes] = sides.map(|side| side as usize);
    for (row, of_row) in mask.chunks(columns).enumerate() {
        let (k, j) = (places - planes + row / rows, row % rows);
        taps[(k * places + j) * places..].iter_mut().zip(of_row).for_each(|(to, &tap)| *to = tap);
    }
    let taps = match problem.src {
        PixelType::F32 => taps.into_iter().map(|tap| tap as f32).collect(),
        _ => taps.into_iter().flat_map(halves).collect(),
    };
    let filled = (!problem.src.is_float()).then_some(places as u32);
    marching(problem, variant, machine, (kernel, *modes, taps, filled))
}

/// Returns the first of `kernels`, with their most taps along an axis, that has places for as many taps.
fn smallest(taps: [u32; 3], mut kernels: impl Iterator<Item = (u32, Kernel)>) -> Option<(usize, Kernel)> {
    let (places, kernel) = kernels.find(|(places, _)| taps.iter().all(|taps| taps <= places))?;
    Some((places as usize, kernel))
}

/// Plans the launch of a kernel that marches through the planes. If `places` is given, taps of zero fill as many along
/// each axis.
fn marching(
    problem: &VolumeFilter,
    variant: &Variant,
    machine: &Machine,
    (kernel, modes, taps, places): (Kernel, [BorderMode; 3], Vec<f32>, Option<u32>),
) -> Result<Steps> {
    let (input, types) = (problem.volume()?, (problem.src, problem.dst));
    let cuts = !problem.dst.is_float() && cuts(problem, variant)?;
    let element = kernel.facts().src;
    let sum = if types == (PixelType::F32, PixelType::F32) { ElementType::F32 } else { ElementType::F64 };
    if types.0 != types.1 || element != types.0.element() || input.channels != 1 {
        let (src, dst, channels) = (problem.src, problem.dst, input.channels);
        return Err(variant.refused(format!("{channels} channels of {src} to {dst} samples")));
    }
    let constants = problem.borders.axes().map(|border| border.mode_of(problem.sums()).1);
    if sum == ElementType::F64 {
        // What lies outside, before the first pass, is in the tile, as an integer; it and the divisor are f32 in the
        // parameters.
        let is_sample = |constant: f64| match problem.src {
            PixelType::I16 => f64::from(constant as i16) == constant,
            PixelType::F64 => f64::from(constant as f32) == constant,
            _ => f64::from(constant as u16) == constant,
        };
        let held = if problem.src == PixelType::F64 { PixelType::F32 } else { problem.src };
        if let Some(constant) = constants.into_iter().find(|&constant| !is_sample(constant)) {
            return Err(variant.refused(format!("the border's constant {constant}, which {held} does not hold")));
        }
        if f64::from(problem.divisor as f32) != problem.divisor {
            return Err(variant.refused(format!("the divisor {}, which f32 does not hold", problem.divisor)));
        }
    }
    let mut window = problem.window()?;
    if input.plane().samples() >= MOST_COLUMNS || window.out.plane().samples() >= MOST_COLUMNS {
        return Err(variant.refused(format!("planes of {}", window.out.plane())));
    }
    let mut counts = problem.weights.size();
    if let Some(places) = places {
        // Before the taps along z, behind those along x and y.
        window.origin[2] -= (places - counts[2]) as i32;
        counts = [places; 3];
    }
    let out = window.out.sides();
    let columns = out[0].div_ceil(VOLUMES_MARCH_COLUMNS);
    let bands = out[1].div_ceil(volumes_march_rows(sum.size_bytes()));
    let slots = machine.multiprocessors * kernel.facts().residents;
    let planes = planes_per_block((columns as u64 * bands as u64, out[2]), counts[2], slots as u64);
    let params = VolumesMarchParams {
        constants: constants.map(|constant| constant as f32),
        divisor: problem.divisor as f32,
        sides: input.sides(),
        out,
        taps: counts,
        origin: window.origin,
        borders: modes.map(|mode| mode as u32),
        bands,
        planes,
        cuts: cuts as u32,
    };
    let buffer = |role, elems| Buffer { role, element, elems };
    let buffers = vec![buffer(Role::Input, input.samples()), buffer(Role::Output, window.out.samples())];
    let launch = Launch {
        kernel,
        blocks: [columns, bands * out[2].div_ceil(planes)],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::VolumesMarchParams(params),
        taps: taps.into(),
    };
    Ok((buffers, vec![launch]))
}

/// Returns whether sums become integers as C casts them: cut toward zero, and without saturation. Refuses other casts than
/// this and the default, and sums to be cut that may have more than 32 bits.
fn cuts(problem: &VolumeFilter, variant: &Variant) -> Result<bool> {
    if problem.cast == Cast::default() {
        return Ok(false);
    }
    let (cast, VolumeWeights::Dense(mask)) = (problem.cast, &problem.weights) else {
        return Err(variant.refused(format!("taps along axes, with sums that are cast by {:?}", problem.cast)));
    };
    let constants = problem.borders.axes().map(|border| border.mode_of(problem.sums()).1.abs());
    let (low, high) = problem.src.limits().unwrap_or_default();
    let largest = constants.into_iter().fold((-low as f64).max(high as f64), f64::max);
    let most =
        mask.taps_for::<f64>(problem.sums()).iter().map(|tap| tap.abs()).sum::<f64>() * largest / problem.divisor.abs();
    match cast {
        // Some room for roundings. NaN is refused.
        Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap } if most < 2f64.powi(31) * 0.999 => Ok(true),
        Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap } => {
            Err(variant.refused(format!("sums up to {most:.3e}, which are cast by way of 32 bits")))
        }
        _ => Err(variant.refused(format!("sums that are cast by {cast:?}"))),
    }
}

/// Returns the output planes per block for which blocks of `tiles` tiles, `slots` at a time, go through the fewest
/// input planes one after the other. A block sees `taps - 1` more planes than it has outputs of.
fn planes_per_block((tiles, depth): (u64, u32), taps: u32, slots: u64) -> u32 {
    let most = MOST_PARTS.min(depth).min((MOST_BLOCKS / tiles.max(1)).max(1) as u32);
    let planes = (1..=most).map(|parts| depth.div_ceil(parts));
    let steps = |planes: u32| {
        let blocks = tiles * depth.div_ceil(planes) as u64;
        blocks.div_ceil(slots.max(1)) * (planes + taps - 1) as u64
    };
    planes.min_by_key(|&planes| steps(planes)).unwrap_or(depth)
}

/// Most parts of the planes. Small volumes have few tiles.
const MOST_PARTS: u32 = 64;

/// Most blocks of a launch whose planes are in parts: with more tiles than this there are enough of them.
const MOST_BLOCKS: u64 = 1 << 20;

/// Most samples per row, so that a kernel's numbers of columns fit 32 bits.
const MOST_COLUMNS: u64 = 1 << 30;

/// Returns the launch of a pass. A pass along x goes over the rows of all planes as those of one; a pass along z over
/// planes as rows, unless they are too long, so that outputs share the samples under their masks as rows do. `None` if
/// no kernel has room for the taps.
fn launch(pass: &Pass, kernels: DenseKernels, (sums, cast): (PixelType, Cast)) -> Option<Launch> {
    let Pass { input, out, origin: [left, top, front], size, modes, .. } = *pass;
    let [_, height, depth] = out.sides();
    let axis = pass.axis.filter(|&axis| axis != 2 || input.plane().samples() < MOST_COLUMNS);
    let plane = if axis == Some(2) { input.width * input.height } else { 0 };
    let (sides, to, mask, origin) = match axis {
        Some(0) => ([input.width, height * depth, 1], [out.width, height * depth, 1], size, pass.origin),
        Some(2) => ([plane, input.depth, 1], [plane, out.depth, 1], [1, size[2], 1], [left, front, top]),
        _ => (input.sides(), out.sides(), size, [left, top, front]),
    };
    let (borders, constants) = match axis {
        Some(2) => ([0, 2, 1].map(|axis| modes[axis] as u32), [0, 2, 1].map(|axis| pass.constants[axis])),
        _ => (modes.map(|mode| mode as u32), pass.constants),
    };
    let taps: Vec<f32> = match sums {
        PixelType::F64 => pass.taps.iter().flat_map(|&tap| halves(tap)).collect(),
        _ => pass.taps.iter().map(|&tap| tap as f32).collect(),
    };
    let row = to[0] * input.channels;
    let tile = RowsTile::of(input.channels, [mask[0], mask[1]], sums.element().size_bytes());
    let (kernel, [columns, rows], shared_bytes) = if taps.len() > FEW_TAPS {
        (kernels.any?, [row.div_ceil(VOLUMES_TILE[0]), to[1].div_ceil(VOLUMES_TILE[1])], 0)
    } else if mask[0] == 1 && mask[2] == 1 && origin[0] == 0 && origin[2] == 0 {
        (kernels.columns, [row.div_ceil(VOLUMES_COLUMNS_TILE[0]), to[1].div_ceil(VOLUMES_COLUMNS_TILE[1])], 0)
    } else {
        (kernels.rows, [to[0].div_ceil(tile.pixels), to[1].div_ceil(VOLUMES_ROWS_BLOCK[1])], tile.bytes)
    };
    let params = VolumesParams {
        constants,
        divisor: pass.divisor,
        sides,
        row_stride: sides[0] * input.channels,
        out: to,
        channels: input.channels,
        mask,
        rows_of_blocks: rows,
        origin,
        borders,
        cast: cast.code(),
        clamp: 0,
    };
    Some(Launch {
        kernel,
        blocks: [columns, rows * to[2]],
        shared_bytes,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::VolumesParams(params),
        taps: taps.into(),
    })
}

// Not swept: rows of the tuning table have two sides.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 10,
        ..Variant::new(
            "volumes-march",
            Family::Volumes,
            "u8, u16, i16 or f32 samples of one channel, 2 to 17 taps an axis",
            &For(march),
        )
        .examples(|| {
            vec![
                limit(volume(PixelType::U8, 17), volume(PixelType::U8, 18)),
                limit(volume(PixelType::U16, 3), volume(PixelType::I32, 3)),
                limit(volume(PixelType::I16, 17), volume(PixelType::I16, 18)),
                limit(volume(PixelType::F32, 17), volume(PixelType::F32, 18)),
                limit(volume(PixelType::F32, 3), volume(PixelType::F64, 3)),
            ]
        })
        .unswept()
    },
    Variant {
        rank: 12,
        ..Variant::new(
            CUBE,
            Family::Volumes,
            "u8, u16, i16, f32 or f64 samples of one channel, masks of up to 5x5x5",
            &For(cube),
        )
        .examples(|| {
            vec![
                limit(mask_of(PixelType::F32, [5; 3]), mask_of(PixelType::F32, [6, 5, 5])),
                limit(mask_of(PixelType::F64, [3; 3]), mask_of(PixelType::I32, [3; 3])),
                limit(mask_of(PixelType::F64, [5, 4, 3]), mask_of(PixelType::I8, [3; 3])),
                limit(mask_of(PixelType::U8, [3; 3]), mask_of(PixelType::U8, [1, 1, 6])),
                limit(mask_of(PixelType::U16, [2, 3, 1]), mask_of(PixelType::U64, [3; 3])),
                limit(mask_of(PixelType::I16, [5; 3]), mask_of(PixelType::I64, [3; 3])),
            ]
        })
        .unswept()
    },
    Variant {
        rank: 20,
        ..Variant::new(
            DENSE,
            Family::Volumes,
            "f32, f64; u8, u16, i16, i32, i64: masks of up to 512 taps, one axis, or stored between axes",
            &For(dense),
        )
        .examples(|| {
            vec![
                limit(volume(PixelType::F64, 5000), volume(PixelType::U8, 3)),
                limit(mask_of(PixelType::I32, [8; 3]), mask_of(PixelType::I32, [9, 8, 8])),
                limit(mask_of(PixelType::F32, [9, 8, 8]), mask_of(PixelType::U32, [1; 3])),
            ]
        })
        .unswept()
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_core::{Border, Problem, Shape, Taps, VolumeExtent, VolumeWeights};

    fn of_words(taps: f64, counts: [usize; 3]) -> Problem {
        let weights = VolumeWeights::Separable(counts.map(|count| Taps::from_f64(vec![taps; count]).unwrap()));
        let (shape, borders, extent) = (Shape::new(20, 50, 1).unwrap(), Border::Wrap.into(), VolumeExtent::Same);
        let (src, dst, divisor, cast, stored) = (PixelType::I16, PixelType::I16, 1.0, Cast::default(), false);
        Problem::from(VolumeFilter { shape, depth: 5, src, dst, weights, divisor, cast, stored, borders, extent })
    }

    #[test]
    fn taps_of_zero_fill_the_places_of_integers() {
        let recipe = plan(&of_words(0.5, [11, 2, 3]), Some("volumes-march"), &Machine::EMULATED).unwrap();
        let [launch] = &recipe.launches[..] else { panic!("{recipe:?}") };
        let Params::VolumesMarchParams(params) = launch.params else { panic!("{launch:?}") };
        assert_eq!(launch.kernel, Kernel::volumes_march_13_i16_i16);
        // The windows start five columns, one row and one plane before the output, and the ten planes
        // before have taps of zero.
        assert_eq!((params.taps, params.origin), ([13; 3], [-5, -1, -1 - 10]));
        let words = launch.taps.chunks(2).map(|halves| (halves[1].to_bits() as u64) << 32 | halves[0].to_bits() as u64);
        let taps: Vec<f64> = words.map(f64::from_bits).collect();
        assert_eq!(taps, [vec![0.5; 11], vec![0.0; 2], vec![0.5; 2], vec![0.0; 21], vec![0.5; 3]].concat());
    }
}
