//! Recipes of filters of volumes: a launch for each pass.

use crate::recipe::Steps;
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, MAX_GRID_ROWS, Machine, Role};
use apron_abi::{
    ElementType, Family, Kernel, Params, VOLUMES_BLOCK, VOLUMES_MARCH_TAPS, VOLUMES_MARCH_TILE, VOLUMES_TILE,
    VolumesMarchParams, VolumesParams,
};
use apron_core::{Pass, PixelType, Result, VolumeFilter};

/// Plans a launch for a mask, or one for each axis.
fn dense(problem: &VolumeFilter, variant: &Variant, _: &Machine) -> Result<Steps> {
    let element = match (problem.src, problem.dst) {
        (PixelType::F32, PixelType::F32) => ElementType::F32,
        (PixelType::F64, PixelType::F64) => ElementType::F64,
        (src, dst) => return Err(variant.refused(format!("{src} to {dst} samples"))),
    };
    let passes = problem.passes()?;
    let buffer = |role, elems| Buffer { role, element, elems };
    let mut buffers = vec![buffer(Role::Input, problem.shape.samples())];
    let mut launches = Vec::new();
    for (index, pass) in passes.iter().enumerate() {
        let role = if index + 1 == passes.len() { Role::Output } else { Role::Scratch };
        buffers.push(buffer(role, pass.out.samples()));
        launches.push(Launch { src: index, dst: index + 1, ..launch(pass, element) });
    }
    Ok((buffers, launches))
}

/// Plans one launch for taps along all axes.
fn march(problem: &VolumeFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let passes = problem.passes()?;
    let [x, y, z] = &passes[..] else {
        return Err(variant.refused("other than taps along three axes".into()));
    };
    if (problem.src, problem.dst) != (PixelType::F32, PixelType::F32) || x.input.channels != 1 {
        let (src, dst, channels) = (problem.src, problem.dst, x.input.channels);
        return Err(variant.refused(format!("{channels} channels of {src} to {dst} samples")));
    }
    let counts = problem.weights.size();
    let most = counts.into_iter().max().unwrap_or(1);
    let fitting = VOLUMES_MARCH_TAPS.into_iter().zip([
        Kernel::volumes_march_3_f32_f32,
        Kernel::volumes_march_5_f32_f32,
        Kernel::volumes_march_9_f32_f32,
        Kernel::volumes_march_17_f32_f32,
    ]);
    let Some((places, kernel)) = fitting.into_iter().find(|(places, _)| *places >= most) else {
        return Err(variant.refused(format!("{most} taps along an axis")));
    };
    let window = problem.window()?;
    if x.input.plane().samples() >= MOST_COLUMNS || window.out.plane().samples() >= MOST_COLUMNS {
        return Err(variant.refused(format!("planes of {}", window.out.plane())));
    }
    let out = window.out.sides();
    let [columns, bands] = [0, 1].map(|axis| out[axis].div_ceil(VOLUMES_MARCH_TILE[axis]));
    // Enough blocks for all multiprocessors, of planes enough that those that are read twice are few.
    let tiles = columns as u64 * bands as u64;
    let parts = (MARCH_BLOCKS * machine.multiprocessors as u64).div_ceil(tiles).clamp(1, MAX_GRID_ROWS as u64);
    let planes = out[2].div_ceil(parts as u32).max(MARCH_HALOS * counts[2]).min(out[2]);
    let params = VolumesMarchParams {
        // What lies outside, before the first pass.
        constants: problem.borders.axes().map(|border| border.mode_of(PixelType::F32).1 as f32),
        divisor: problem.divisor as f32,
        sides: x.input.sides(),
        out,
        taps: counts,
        origin: window.origin,
        borders: z.modes.map(|mode| mode as u32),
        bands,
        planes,
    };
    let mut taps = vec![0.0; 3 * places as usize];
    let places = places as usize;
    for (pass, at) in [(x, 0), (y, places), (z, 3 * places - counts[2] as usize)] {
        taps[at..at + pass.taps.len()].iter_mut().zip(&pass.taps).for_each(|(to, &tap)| *to = tap as f32);
    }
    let buffer = |role, elems| Buffer { role, element: ElementType::F32, elems };
    let buffers = vec![buffer(Role::Input, problem.shape.samples()), buffer(Role::Output, window.out.samples())];
    let launch = Launch {
        kernel,
        blocks: [columns, bands * out[2].div_ceil(planes)],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::VolumesMarchParams(params),
        taps,
    };
    Ok((buffers, vec![launch]))
}

/// Blocks per multiprocessor of a march: not measured yet.
const MARCH_BLOCKS: u64 = 2;

/// Least planes of a block, in multiples of the taps along z.
const MARCH_HALOS: u32 = 4;

/// Most samples per row, so that a kernel's numbers of columns fit 32 bits.
const MOST_COLUMNS: u64 = 1 << 30;

/// Returns the launch of a pass. A pass along x goes over the rows of all planes as those of one; a pass along z over planes as
/// rows, unless they are too long, so that outputs share the samples under their masks as rows do.
fn launch(pass: &Pass, element: ElementType) -> Launch {
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
    let is_line = axis == Some(0);
    let rows = to[1].div_ceil(if is_line { VOLUMES_BLOCK[1] } else { VOLUMES_TILE[1] });
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
    };
    let (kernel, taps) = match (element, is_line) {
        (ElementType::F32, true) => (Kernel::volumes_dense_line_f32_f32, false),
        (ElementType::F32, false) => (Kernel::volumes_dense_f32_f32, false),
        (_, true) => (Kernel::volumes_dense_line_f64_f64, true),
        (_, false) => (Kernel::volumes_dense_f64_f64, true),
    };
    Launch {
        kernel,
        blocks: [(to[0] * input.channels).div_ceil(VOLUMES_TILE[0]), rows * to[2]],
        shared_bytes: 0,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::VolumesParams(params),
        taps: match taps {
            true => pass.taps.iter().flat_map(|&tap| halves(tap)).collect(),
            false => pass.taps.iter().map(|&tap| tap as f32).collect(),
        },
    }
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 10,
        ..Variant::new(
            "volumes-march",
            Family::Volumes,
            "f32 samples of one channel, 2 to 17 taps an axis",
            &For(march),
        )
    },
    Variant {
        rank: 20,
        ..Variant::new("volumes-dense", Family::Volumes, "f32 or f64 samples, any mask or number of taps", &For(dense))
    },
];
