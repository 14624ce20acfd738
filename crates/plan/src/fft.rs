//! Recipes of correlation by Fourier transforms of tiles.

use crate::examples::{correlate, limit};
use crate::recipe::{Buffer, Launch, Role, Steps};
use crate::variant::{For, Variant};
use crate::{Machine, kernels};
use apron_abi::{
    ElementType, FFT_BLOCK_NUMBERS, FFT_ROOT_COUNT, FFT_ROOTS, FFT_SIDES, Family, FftParams, Kernel, Params, fft_place,
    fft_rows_place,
};
use apron_core::{Border, Correlate, Extent, Fft, PixelType, Result, Tiling};
use std::sync::Arc;

const F32: ElementType = ElementType::F32;

/// Most complex numbers per group of tiles: 256 MiB. On an H100 a mask of 129x129 over 4096x4096 samples takes 0.48 ms
/// with one group of tiles, 0.52 with two, and 0.68 with 16, the size at which a group would stay in the second-level
/// cache.
const NUMBERS: u32 = 1 << 25;

/// Whether the kernel of one launch takes the problem's tiles.
pub(crate) fn takes_one_launch(problem: &Fft) -> bool {
    problem.tile_sides() == [FFT_SIDES[0]; 2]
}

/// Plans one launch, with a block per tile and channel.
fn tile(problem: &Fft, variant: &Variant, _: &Machine) -> Result<Steps> {
    let tiling = problem.tiling()?;
    if !takes_one_launch(problem) {
        let (width, height) = (problem.mask.width(), problem.mask.height());
        return Err(variant.refused(format!("a mask of {width}x{height} taps")));
    }
    let Some(kernel) = kernels::find(variant.kernels, "", problem.src.element(), F32) else {
        return Err(variant.refused(format!("samples of {}", problem.src)));
    };
    let blocks = [tiling.tiles[0] * problem.shape.channels, tiling.tiles[1]];
    let taps = taps(problem, fft_place);
    let launch = launch(kernel, blocks, [0, 1], params(problem, &tiling)?, taps.into());
    Ok((buffers(problem)?, vec![launch]))
}

/// Plans three launches for each group of tiles; two scratch buffers hold the complex numbers between them.
fn passes(problem: &Fft, variant: &Variant, _: &Machine) -> Result<Steps> {
    let tiling = problem.tiling()?;
    let whole = params(problem, &tiling)?;
    let stages = [tiling.sides[0].trailing_zeros() - 1, tiling.sides[1].trailing_zeros()];
    let find = |stage: &str, stages: u32| {
        kernels::find(variant.kernels, &format!("{stage}-{}", 1 << stages), problem.src.element(), F32)
            .ok_or_else(|| variant.refused(format!("samples of {}", problem.src)))
    };
    let (columns, rows, back) = (find("columns", stages[1])?, find("rows", stages[0])?, find("back", stages[1])?);
    let numbers = 1 << (stages[0] + stages[1]);
    let all = tiling.tiles[0] * tiling.tiles[1] * problem.shape.channels;
    let some = (NUMBERS / numbers).min(all);
    let mut buffers = buffers(problem)?;
    let between = Buffer { role: Role::Scratch, element: F32, elems: 2 * (numbers as u64) * some as u64 };
    buffers.extend([between; 2]);
    let taps: Arc<[f32]> = taps(problem, |x, y| fft_rows_place(stages[0], x, y)).into();
    let mut launches = Vec::new();
    for first_tile in (0..all).step_by(some as usize) {
        let tiles = some.min(all - first_tile);
        let (params, blocks) = (FftParams { first_tile, tiles, ..whole }, [numbers / FFT_BLOCK_NUMBERS, tiles]);
        launches.push(launch(columns, blocks, [0, 2], params, taps.clone()));
        launches.push(launch(rows, blocks, [2, 3], params, taps.clone()));
        launches.push(launch(back, blocks, [3, 1], params, taps.clone()));
    }
    Ok((buffers, launches))
}

fn params(problem: &Fft, tiling: &Tiling) -> Result<FftParams> {
    let (shape, out) = (problem.shape, problem.window()?.out);
    let (mode, constant) = problem.border.mode_of(problem.src);
    Ok(FftParams {
        row_stride: shape.row_samples() as u32,
        constant: constant as f32,
        border: mode as u32,
        width: shape.width,
        height: shape.height,
        out_width: out.width,
        out_height: out.height,
        channels: shape.channels,
        left: tiling.first[0],
        top: tiling.first[1],
        out_left: tiling.out_first[0],
        out_top: tiling.out_first[1],
        outputs_x: tiling.outputs[0],
        outputs_y: tiling.outputs[1],
        tiles_x: tiling.tiles[0],
        tiles_y: tiling.tiles[1],
        columns: tiling.sides[0] / 2,
        first_tile: 0,
        tiles: 0,
    })
}

fn buffers(problem: &Fft) -> Result<Vec<Buffer>> {
    Ok(vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: problem.shape.samples() },
        Buffer { role: Role::Output, element: F32, elems: problem.window()?.out.samples() },
    ])
}

fn launch(kernel: Kernel, blocks: [u32; 2], [src, dst]: [usize; 2], params: FftParams, taps: Arc<[f32]>) -> Launch {
    let shared_bytes = kernel.facts().shared.bytes(0, 0);
    Launch { kernel, blocks, shared_bytes, reserved_bytes: 0, src, dst, params: Params::FftParams(params), taps }
}

/// Returns the roots of unity, followed by the mask's spectrum, in the order that `place` gives.
fn taps(problem: &Fft, place: impl Fn(u32, u32) -> u32) -> Vec<f32> {
    let (spectrum, columns) = (problem.spectrum(), problem.tile_sides()[0] / 2);
    let mut taps = FFT_ROOTS.as_flattened().to_vec();
    let first = 2 * FFT_ROOT_COUNT as usize;
    taps.resize(first + 2 * spectrum.len(), 0.0);
    for (n, number) in (0..).zip(spectrum) {
        let at = first + 2 * place(n % columns, n / columns) as usize;
        taps[at..at + 2].copy_from_slice(&number);
    }
    taps
}

/// Correlation with a mask of three rows of `columns` taps.
fn of_rows(columns: u32) -> Fft {
    let Correlate { shape, mask, .. } = correlate(1, PixelType::F32, (columns, 3));
    Fft { shape, src: PixelType::F32, mask, border: Border::Wrap, extent: Extent::Same }
}

// Not swept: whether one launch suffices follows from the size of the mask.
pub(crate) const VARIANTS: &[Variant] = &[
    Variant::new("fft-tile", Family::Fft, "masks of up to 65 taps per axis; all but f64", &For(tile))
        .examples(|| vec![limit(of_rows(65), of_rows(66))])
        .unswept(),
    Variant {
        rank: 10,
        ..Variant::new("fft-passes", Family::Fft, "masks of up to 513 taps per axis; all but f64", &For(passes))
            .unswept()
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, Mask, PixelType, Problem, Shape};

    fn problem(size: u32, src: PixelType, side: u32) -> Problem {
        let mask = Mask::new(side, side, vec![0.5; (side * side) as usize]).unwrap();
        let (shape, border, extent) = (Shape::new(size, size, 1).unwrap(), Border::Wrap, Extent::Same);
        Fft { shape, src, mask, border, extent }.into()
    }

    #[test]
    fn a_large_image_is_transformed_group_by_group_with_one_copy_of_the_taps() {
        let recipe = crate::plan(&problem(8192, PixelType::F32, 129), None, &Machine::EMULATED).unwrap();
        assert_eq!((recipe.variant, recipe.launches.len()), ("fft-passes", 12));
        let first = &recipe.launches[0];
        assert!(recipe.launches.iter().all(|launch| Arc::ptr_eq(&launch.taps, &first.taps)));
        // 64x64 tiles of 256x256 samples: 1024 per launch, of four groups of columns.
        assert!(recipe.launches.iter().all(|launch| launch.blocks == [4, 1024]));
        assert_eq!(recipe.buffers[2].size_bytes(), 1 << 28);
    }

    #[test]
    fn bytes_have_a_kernel_for_small_masks_and_are_converted_for_others() {
        for (src, side, launches) in
            [(PixelType::U8, 65, 1), (PixelType::U16, 65, 2), (PixelType::F32, 66, 3), (PixelType::U8, 66, 4)]
        {
            let recipe = crate::plan(&problem(100, src, side), None, &Machine::EMULATED).unwrap();
            assert_eq!(recipe.launches.len(), launches, "{src} {side}");
        }
    }
}
