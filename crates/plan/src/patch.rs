//! Recipes of the kernels with register blocking and without shared memory: for images so small that a march would end
//! before its pipeline is full.

use crate::examples::{correlate, limit, mean, separable as equal, shape};
use crate::recipe::Steps;
use crate::summation::{Summation, both_axes, exact_sums, square};
use crate::variant::{For, Variant};
use crate::{Launch, Machine};
use apron_abi::{FEWEST_TAPS, Family, MarchSums, PATCH_BLOCK, PATCH_ROWS, Params};
use apron_core::PixelType::{F32, U8, U16};
use apron_core::{BoxFilter, Correlate, Result, Separable, Window};

/// Plans correlation with a square mask.
fn dense(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (side, window) = (square(problem, variant)?, problem.window()?);
    let of = Summation::of_dense(exact_sums(problem.src), problem, variant);
    steps(&of, variant, machine, side, &window, of.in_units(problem.mask.taps()))
}

/// Plans both passes of a separable filter with equal numbers of taps along rows and columns.
fn separable(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (side, window) = (both_axes(problem, variant)?, problem.window()?);
    let of = Summation::of_separable(exact_sums(problem.src), problem, variant);
    steps(&of, variant, machine, side, &window, of.separable_taps(problem))
}

/// Plans means of bytes by the kernels of separable filters.
fn means(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (of, taps) = Summation::of_means(MarchSums::Doubles, problem, variant)?;
    steps(&of, variant, machine, problem.width, &window, taps)
}

fn steps(
    of: &Summation,
    variant: &Variant,
    machine: &Machine,
    side: u32,
    window: &Window,
    taps: Vec<f32>,
) -> Result<Steps> {
    let (shape, out) = (of.shape, window.out);
    let samples = shape.row_samples();
    let kernel = of.kernel(variant, &format!("{side}-c{}", shape.channels), side)?;
    if samples >= 1 << 30 || !samples.is_multiple_of(4) {
        return Err(variant.refused(format!("rows of {samples} samples")));
    }
    if let Some(what) = of.refusal(machine) {
        return Err(variant.refused(what));
    }
    assert!(taps.len() <= FEWEST_TAPS, "masks of kernels in the table fit");
    let params = of.params(side, window);
    if params.aligned < 4 {
        return Err(variant.refused(format!("rows of {} outputs from {}", params.out_samples, params.first)));
    }
    let across = (params.out_samples as u64 + params.first.unsigned_abs() as u64).div_ceil(4);
    let [width, height] = PATCH_BLOCK;
    let launch = Launch {
        kernel,
        blocks: [across.div_ceil(width as u64) as u32, out.height.div_ceil(height * PATCH_ROWS)],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::MarchParams(params),
        taps: taps.into(),
    };
    Ok((of.buffers(out), vec![launch]))
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 20,
        ..Variant::new(
            "patch-separable",
            Family::Patch,
            "3 to 9 odd taps on both axes (u16: 7, RGB: 5, RGBA: 3); f32, u8, u16; rows in fours; sm_90",
            &For(separable),
        )
        .examples(|| vec![limit(equal((F32, F32), shape(20, 1), 9), equal((F32, F32), shape(20, 1), 11))])
    },
    Variant {
        rank: 20,
        ..Variant::new(
            "patch-dense",
            Family::Patch,
            "squares of 2 to 7 (RGB: 2 to 5, RGBA: 2 and 3); f32, u8, u16; rows in fours; sm_90",
            &For(dense),
        )
        .examples(|| {
            vec![
                limit(correlate(1, F32, (7, 7)), correlate(1, F32, (9, 9))),
                limit(correlate(3, U16, (5, 5)), correlate(3, U16, (7, 7))),
                limit(correlate(1, F32, (6, 6)), correlate(1, F32, (8, 8))),
                limit(correlate(4, U8, (2, 2)), correlate(4, U8, (4, 4))),
            ]
        })
    },
    Variant {
        rank: 40,
        kernels: "patch-separable",
        ..Variant::new(
            "patch-means",
            Family::Patch,
            "means of bytes over squares of odd sides, 3 to 9, by the kernels of patch-separable; sm_90",
            &For(means),
        )
        .examples(|| vec![limit(mean(shape(20, 1), U8, [9; 2]), mean(shape(20, 1), U8, [11; 2]))])
    },
];
