//! Recipes of the kernels over tiles of the image's own words.

use crate::march::{Image, patch_sums, refused};
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Launch, Machine, conv2d};
use apron_abi::{BLOCKED_COLUMNS, Conv2dParams, FEW_TAPS, Kernel, Params, SharedMemory, tap_stride};
use apron_core::{Correlate, Result, Separable, Window};

/// Correlation with any mask, as large as constant memory holds for small launches.
pub(crate) fn dense(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (mask, window) = (&problem.mask, problem.window()?);
    if problem.clamp {
        return Err(refused(variant, "clamped sums".into()));
    }
    let image = Image::of_dense(patch_sums(problem.src), problem, variant);
    let taps = image.in_units(&conv2d::padded_rows(mask));
    steps(&image, variant, machine, [mask.width(), mask.height()], &window, taps)
}

/// Both passes of a separable filter.
pub(crate) fn separable(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (sides, window) = ([problem.taps_x.len(), problem.taps_y.len()], problem.window()?);
    let image = Image::of_separable(patch_sums(problem.src), problem, variant);
    let mut taps = image.separable_taps(problem);
    taps.resize((tap_stride(sides[0]) + tap_stride(sides[1])) as usize * image.words(), 0.0);
    steps(&image, variant, machine, sides, &window, taps)
}

/// The launch of the variant's kernel for the image.
fn steps(
    image: &Image,
    variant: &Variant,
    machine: &Machine,
    [mask_width, mask_height]: [u32; 2],
    window: &Window,
    taps: Vec<f32>,
) -> Result<Steps> {
    let (shape, out) = (image.shape, window.out);
    let (channels, samples) = (shape.channels, shape.row_samples());
    let (src, dst) = (image.src.element(), image.dst.element());
    let Some(kernel) = Kernel::find(variant.name, &format!("c{channels}"), src, dst) else {
        return Err(refused(variant, format!("{} to {} pixels", image.src, image.dst)));
    };
    let (most, count) = (FEW_TAPS / image.words(), taps.len() / image.words());
    if count > most {
        return Err(refused(variant, format!("over {most} taps, rows counted in fours (these are {count}),")));
    }
    if samples.max(out.row_samples()) >= 1 << 30 {
        return Err(refused(variant, format!("rows of {samples} samples")));
    }
    if let Some(what) = image.refusal(machine) {
        return Err(refused(variant, what));
    }
    let shared = kernel.facts().shared;
    let (SharedMemory::Words(_, _, rows) | SharedMemory::WordsAndSums(_, _, rows)) = shared else {
        unreachable!("kernels of this family have tiles of words")
    };
    let (mode, constant) = image.border.mode();
    let launch = Launch {
        kernel,
        blocks: [out.row_samples().div_ceil(BLOCKED_COLUMNS as usize) as u32, out.height.div_ceil(rows)],
        shared_bytes: shared.bytes(mask_width, mask_height),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::Conv2dParams(Conv2dParams {
            width: shape.width,
            height: shape.height,
            row_stride: samples as u32,
            out_width: out.width,
            out_height: out.height,
            channels,
            mask_width,
            mask_height,
            origin_x: window.origin_x,
            origin_y: window.origin_y,
            border: mode as u32,
            constant,
            ..Conv2dParams::default()
        }),
        taps,
    };
    Ok((image.buffers(out), vec![launch]))
}
