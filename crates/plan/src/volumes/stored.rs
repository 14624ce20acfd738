//! Recipes of taps along y and x, with sums that are stored between them, in one launch; after one along z, if there
//! are taps along it.

use super::{MOST_COLUMNS, dense_kernels, launch};
use crate::examples::{limit, stored as of_taps};
use crate::recipe::Steps;
use crate::summation::halves;
use crate::variant::{For, Variant};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{
    FEW_TAPS, Family, Kernel, Params, VOLUMES_STORED_HALO, VOLUMES_STORED_ROWS, VolumesParams, volumes_stored_bytes,
    volumes_stored_pixels,
};
use apron_core::{PixelType, Result, VolumeFilter};

/// Plans one launch, or two.
fn stored(problem: &VolumeFilter, variant: &Variant, _: &Machine) -> Result<Steps> {
    let (stages, x) = problem.stages()?;
    let (first, y) = match &stages[..] {
        [y] => (None, y),
        [z, y] => (Some(z), y),
        _ => return Err(variant.refused("sums that are not stored between passes".into())),
    };
    let lengths = [x.weights.size()[0], y.weights.size()[1]];
    let (of_x, of_y) = (x.passes()?, y.passes()?);
    let ([across], [down]) = (&of_x[..], &of_y[..]) else {
        return Err(variant.refused("a region along other axes".into()));
    };
    if (across.axis, down.axis) != (Some(0), Some(1)) {
        return Err(variant.refused("other than taps along y and x".into()));
    }
    let kernel = match (problem.src, problem.dst) {
        (PixelType::U8, PixelType::U8) => Kernel::volumes_stored_u8_u8,
        (PixelType::U16, PixelType::U16) => Kernel::volumes_stored_u16_u16,
        (PixelType::I16, PixelType::I16) => Kernel::volumes_stored_i16_i16,
        (PixelType::F64, PixelType::F64) => Kernel::volumes_stored_f64_f64,
        (src, dst) => return Err(variant.refused(format!("{src} to {dst} samples"))),
    };
    let (input, out, window) = (down.input, across.out, x.window()?);
    let reach = (lengths[0] - 1) * input.channels;
    if reach > VOLUMES_STORED_HALO || 2 * (lengths[0] + lengths[1]) as usize > FEW_TAPS {
        let channels = input.channels;
        return Err(variant.refused(format!("{} and {} taps over {channels} channels", lengths[0], lengths[1])));
    }
    // Means, or sums that nothing divides.
    let divisors = [across.divisor, down.divisor];
    if divisors != [1.0; 2] && divisors != lengths.map(f64::from) {
        return Err(variant.refused(format!("the divisor {}", problem.divisor)));
    }
    if input.plane().samples() >= MOST_COLUMNS || out.plane().samples() >= MOST_COLUMNS {
        return Err(variant.refused(format!("planes of {}", out.plane())));
    }
    let element = problem.src.element();
    let buffer = |role, elems| Buffer { role, element, elems };
    let mut buffers = vec![buffer(Role::Input, problem.shape.samples())];
    let mut launches = Vec::new();
    if let Some(z) = first {
        let passes = z.passes()?;
        let kernels = dense_kernels(problem.src);
        let launch = match (&passes[..], kernels) {
            ([pass], Some(kernels)) => launch(pass, kernels, (z.sums(), z.cast)),
            _ => None,
        };
        launches.push(launch.ok_or_else(|| variant.refused(format!("{} taps along z", z.weights.size()[2])))?);
        buffers.push(buffer(Role::Scratch, input.samples()));
    }
    let bands = out.height.div_ceil(VOLUMES_STORED_ROWS);
    let pixels = volumes_stored_pixels(input.channels, lengths[0]);
    let params = VolumesParams {
        constants: [across.constants[0], down.constants[1], 0.0],
        divisor: across.divisor,
        sides: input.sides(),
        row_stride: input.row_samples() as u32,
        out: out.sides(),
        channels: input.channels,
        mask: [lengths[0], lengths[1], 1],
        rows_of_blocks: bands,
        origin: [window.origin[0], down.origin[1], across.origin[2]],
        borders: [across.modes[0] as u32, down.modes[1] as u32, 0],
        cast: problem.cast.code(),
        clamp: 0,
    };
    launches.push(Launch {
        kernel,
        blocks: [out.width.div_ceil(pixels), bands * out.depth],
        shared_bytes: volumes_stored_bytes(lengths[1]),
        reserved_bytes: 0,
        src: buffers.len() - 1,
        dst: buffers.len(),
        params: Params::VolumesParams(params),
        taps: down.taps.iter().chain(&across.taps).flat_map(|&tap| halves(tap)).collect::<Vec<_>>().into(),
    });
    buffers.push(buffer(Role::Output, out.samples()));
    Ok((buffers, launches))
}

// Not swept: that sums are stored decides.
pub(crate) const VARIANTS: &[Variant] = &[Variant {
    rank: 14,
    ..Variant::new(
        "volumes-stored",
        Family::Volumes,
        "u8, u16, i16, f64 sums stored between y and x; x taps over up to 129 samples; up to 512 taps",
        &For(stored),
    )
    .examples(|| {
        let most = VOLUMES_STORED_HALO as usize + 1;
        vec![
            limit(of_taps(PixelType::U8, 1, [most, 3, 1]), of_taps(PixelType::U8, 1, [most + 1, 3, 1])),
            limit(of_taps(PixelType::U16, 4, [33, 5, 2]), of_taps(PixelType::U16, 4, [34, 5, 2])),
            limit(of_taps(PixelType::I16, 3, [12, 500, 1]), of_taps(PixelType::I16, 3, [13, 500, 1])),
            limit(of_taps(PixelType::F64, 1, [9, 9, 600]), of_taps(PixelType::F32, 1, [9, 9, 9])),
            limit(of_taps(PixelType::U8, 2, [1, 2, 2]), of_taps(PixelType::I32, 2, [1, 2, 2])),
        ]
    })
    .unswept()
}];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_core::FilterProblem;

    #[test]
    fn taps_along_z_are_a_launch_before() {
        let problem = FilterProblem::Volume(of_taps(PixelType::U16, 3, [3, 5, 4])).into();
        let recipe = plan(&problem, None, &Machine::EMULATED).unwrap();
        assert_eq!(recipe.variant, "volumes-stored");
        let kernels: Vec<Kernel> = recipe.launches.iter().map(|launch| launch.kernel).collect();
        assert_eq!(kernels, [Kernel::volumes_dense_columns_u16_u16, Kernel::volumes_stored_u16_u16]);
        let Params::VolumesParams(params) = recipe.launches[1].params else { panic!("{recipe:?}") };
        assert_eq!((params.mask, params.origin), ([3, 5, 1], [-1, -2, 0]));
        // Five planes of 20x2 pixels, by 80 pixels and 32 rows.
        assert_eq!(recipe.launches[1].blocks, [1, 5]);
    }
}
