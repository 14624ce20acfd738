//! Recipes of filters of volumes: a launch for each pass.

use crate::recipe::Steps;
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{ElementType, Family, Kernel, Params, VOLUMES_BLOCK, VOLUMES_TILE, VolumesParams};
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

pub(crate) const VARIANTS: &[Variant] =
    &[Variant::new("volumes-dense", Family::Volumes, "f32 or f64 samples, any mask", &For(dense))];
