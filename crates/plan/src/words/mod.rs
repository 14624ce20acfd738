//! Recipes of the kernels whose shared tile holds packed samples.

mod tensor;

use crate::examples::{blur, correlate, dense as equal_mask, limit, mean, separable as equal, shape};
use crate::kernels;
use crate::recipe::Steps;
use crate::summation::{Summation, exact_sums};
use crate::variant::{For, Variant};
use crate::{Launch, Machine, conv1d, conv2d};
use apron_abi::{
    BLOCKED_COLUMNS, Conv2dParams, FEW_TAPS, Family, LINE_BLOCK, LINE_TAPS, Params, SharedMemory, line_rows, tap_stride,
};
use apron_core::PixelType::{F32, I16, U8, U16};
use apron_core::{Correlate, Result, Separable, Shape, Window};

/// Plans correlation with any mask that fits the constant memory of small launches.
fn dense(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (mask, window) = (&problem.mask, problem.window()?);
    if problem.clamp {
        return Err(variant.refused("clamped sums".into()));
    }
    let of = Summation::of_dense(exact_sums(problem.src), problem, variant);
    let taps = of.in_units(&conv2d::padded_rows(mask));
    steps(&of, variant, machine, &stage_of(problem.shape), [mask.width(), mask.height()], &window, taps)
}

/// Plans both passes of a separable filter in one launch.
fn separable(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (sides, window) = ([problem.taps_x.len(), problem.taps_y.len()], problem.window()?);
    let of = Summation::of_separable(exact_sums(problem.src), problem, variant);
    let mut taps = of.separable_taps(problem);
    taps.resize((tap_stride(sides[0]) + tap_stride(sides[1])) as usize * of.words(), 0.0);
    steps(&of, variant, machine, &stage_of(problem.shape), sides, &window, taps)
}

/// Returns the stage of the kernels with a tile.
fn stage_of(shape: Shape) -> String {
    format!("c{}", shape.channels)
}

/// Plans a mask of a single row or column.
fn line(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (mask, window) = (&problem.mask, problem.window()?);
    let axis = conv1d::along_one_axis(problem, &window, variant)?;
    let count = mask.taps().len() as u32;
    if count > LINE_TAPS {
        return Err(variant.refused(format!("over {LINE_TAPS} taps (these are {count})")));
    }
    // Down a column all channels are alike.
    let stage = if axis == 1 { "columns".into() } else { format!("rows-c{}", problem.shape.channels) };
    let of = Summation::of_dense(exact_sums(problem.src), problem, variant);
    let mut taps = of.in_units(mask.taps());
    taps.resize(tap_stride(count) as usize * of.words(), 0.0);
    steps(&of, variant, machine, &stage, [mask.width(), mask.height()], &window, taps)
}

/// Plans the launch of the variant's kernel for a filter.
fn steps(
    of: &Summation,
    variant: &Variant,
    machine: &Machine,
    stage: &str,
    [mask_width, mask_height]: [u32; 2],
    window: &Window,
    taps: Vec<f32>,
) -> Result<Steps> {
    let (shape, out) = (of.shape, window.out);
    let (channels, samples) = (shape.channels, shape.row_samples());
    let (src, dst) = (of.src.element(), of.dst.element());
    let Some(kernel) = kernels::find(variant.name, stage, src, dst) else {
        return Err(variant.refused(format!("{channels} channels of {} to {} pixels", of.src, of.dst)));
    };
    let (most, count) = (FEW_TAPS / of.words(), taps.len() / of.words());
    if count > most {
        return Err(variant.refused(format!("over {most} taps, rows counted in fours (these are {count}),")));
    }
    if samples.max(out.row_samples()) >= 1 << 30 {
        return Err(variant.refused(format!("rows of {samples} samples")));
    }
    if let Some(what) = of.refusal(machine) {
        return Err(variant.refused(what));
    }
    let shared = kernel.facts().shared;
    let rows = match shared {
        SharedMemory::Words(_, _, rows) | SharedMemory::WordsAndSums(_, _, rows) => rows,
        _ => LINE_BLOCK[1] * line_rows(if mask_height > 1 { 1 } else { channels }),
    };
    let (mode, constant) = of.border.mode();
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
        taps: taps.into(),
    };
    Ok((of.buffers(out), vec![launch]))
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 25,
        ..Variant::new(
            "words-tensor",
            Family::Words,
            "u8, and u16 of inexact taps; mask rows of up to 49 samples, 4096 taps and words of digits; sm_90",
            &For(tensor::rows),
        )
        .examples(|| {
            vec![
                limit(correlate(1, U8, (49, 1)), correlate(1, U8, (50, 1))),
                limit(correlate(4, U8, (11, 5)), correlate(4, U8, (14, 1))),
                limit(equal_mask(1, U16, (49, 3), 1.0 / 3.0), equal_mask(1, U16, (50, 3), 1.0 / 3.0)),
            ]
        })
    },
    Variant {
        rank: 26,
        ..Variant::new(
            "words-tensor-pairs",
            Family::Words,
            "u8, and u16 of inexact taps; masks of up to 9 rows of 9 samples; sm_90",
            &For(tensor::pairs),
        )
        .examples(|| {
            vec![
                limit(correlate(1, U8, (9, 9)), correlate(1, U8, (9, 10))),
                limit(correlate(4, U8, (3, 8)), correlate(4, U8, (4, 8))),
            ]
        })
    },
    Variant {
        rank: 47,
        ..Variant::new(
            "words-tensor-axes",
            Family::Words,
            "u8; up to 49 vertical taps and 205 samples per row of taps, which are >= 0; inexact in f32; sm_90",
            &For(tensor::axes),
        )
        .examples(|| vec![limit(blur(1, [81, 49]), blur(1, [81, 50])), limit(blur(4, [51, 3]), blur(4, [54, 3]))])
    },
    Variant {
        rank: 57,
        kernels: "words-tensor-axes",
        ..Variant::new(
            "words-tensor-means",
            Family::Words,
            "means of u8; an odd number of samples, at most 1000 (some larger), in up to 49 rows; sm_90",
            &For(tensor::means),
        )
        .examples(|| {
            vec![
                limit(mean(shape(20, 1), U8, [49; 2]), mean(shape(20, 1), U8, [3, 51])),
                limit(mean(shape(20, 4), U8, [15; 2]), mean(shape(20, 4), U8, [16, 15])),
            ]
        })
    },
    // Ranked before `conv1d-line`, for the same reason as that.
    Variant {
        rank: 4,
        ..Variant::new(
            "words-line",
            Family::Words,
            "a row (not of 2 channels, u16 and i16 gray) or a column of up to 48 taps; u8, u16, i16; sm_90",
            &For(line),
        )
        .examples(|| {
            vec![
                limit(correlate(3, U8, (48, 1)), correlate(3, U8, (49, 1))),
                limit(correlate(2, I16, (1, 48)), correlate(2, I16, (2, 1))),
            ]
        })
    },
    Variant {
        rank: 40,
        ..Variant::new(
            "words-separable",
            Family::Words,
            "u16, i16, u8 where f64 is half as fast, f32; taps as shared memory holds rows: of f32 132; sm_90",
            &For(separable),
        )
        .examples(|| vec![limit(equal((F32, F32), shape(20, 1), 132), equal((F32, F32), shape(20, 1), 133))])
    },
    Variant {
        rank: 30,
        ..Variant::new(
            "words-dense",
            Family::Words,
            "masks up to 512 taps, rows counted in fours; u16, i16, and u8 where f64 is half as fast; sm_90",
            &For(dense),
        )
        .examples(|| vec![limit(correlate(1, U16, (21, 21)), correlate(1, U16, (21, 22)))])
    },
    Variant {
        rank: 60,
        ..Variant::new("words-dense-small", Family::Words, "as words-dense, and f32 up to 1024 taps", &For(dense))
            .examples(|| vec![limit(correlate(1, F32, (32, 32)), correlate(1, F32, (33, 32)))])
    },
];
