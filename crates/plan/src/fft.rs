//! Recipes of correlation by Fourier transforms of tiles.

use crate::recipe::{Buffer, Launch, Role, Steps};
use crate::variant::{For, Variant};
use crate::{Machine, kernels};
use apron_abi::{FFT_ROOTS, FFT_SIDES, FFT_TAPS_ROOTS, Family, FftParams, Params, fft_place};
use apron_core::{Fft, Result};

/// Plans one launch, with a block per tile and channel.
fn tile(problem: &Fft, variant: &Variant, _: &Machine) -> Result<Steps> {
    let (window, tiling, shape) = (problem.window()?, problem.tiling()?, problem.shape);
    if tiling.sides != [FFT_SIDES[0]; 2] {
        let (width, height) = (problem.mask.width(), problem.mask.height());
        return Err(variant.refused(format!("a mask of {width}x{height} taps")));
    }
    let kernel = kernels::find(variant.kernels, "", problem.src.element(), apron_abi::ElementType::F32);
    let Some(kernel) = kernel else { return Err(variant.refused(format!("samples of {}", problem.src))) };
    let (mode, constant) = problem.border.mode_of(problem.src);
    let params = FftParams {
        row_stride: shape.row_samples() as u32,
        constant: constant as f32,
        border: mode as u32,
        width: shape.width,
        height: shape.height,
        out_width: window.out.width,
        out_height: window.out.height,
        channels: shape.channels,
        left: tiling.first[0],
        top: tiling.first[1],
        out_left: tiling.out_first[0],
        out_top: tiling.out_first[1],
        outputs_x: tiling.outputs[0],
        outputs_y: tiling.outputs[1],
        tiles_y: tiling.tiles[1],
    };
    let buffers = vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: shape.samples() },
        Buffer { role: Role::Output, element: apron_abi::ElementType::F32, elems: window.out.samples() },
    ];
    let launch = Launch {
        kernel,
        blocks: [tiling.tiles[0] * shape.channels, tiling.tiles[1]],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::FftParams(params),
        taps: taps(problem, tiling.sides[0] / 2),
    };
    Ok((buffers, vec![launch]))
}

/// Returns the roots, and the mask's transform in the order of the kernel of tiles.
fn taps(problem: &Fft, columns: u32) -> Vec<f32> {
    let spectrum = problem.spectrum();
    let mut taps = FFT_ROOTS[..FFT_TAPS_ROOTS as usize].as_flattened().to_vec();
    let first = taps.len();
    taps.resize(first + 2 * spectrum.len(), 0.0);
    for (n, number) in (0..).zip(spectrum) {
        let at = first + 2 * fft_place(n % columns, n / columns) as usize;
        taps[at..at + 2].copy_from_slice(&number);
    }
    taps
}

pub(crate) const VARIANTS: &[Variant] =
    &[Variant::new("fft-tile", Family::Fft, "masks of up to 65 taps per axis; all but f64", &For(tile))];
