//! Recipes of separable correlation.

use crate::examples::{correlate, limit, separable as equal, shape};
use crate::kernels;
use crate::recipe::Steps;
use crate::variant::{For, Grids, Variant};
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BLOCKED_COLUMNS_TILE, BLOCKED_ROWS_TILE, Conv1dParams, ElementType, FEW_TAPS, FUSED_ROWS, Family, FusedParams,
    Kernel, MAX_TAPS, Params, SIMPLE_BLOCK, TILE_WIDTH, fused_bytes, fused_input_pitch, fused_input_plane, fused_plane,
    fused_ring_rows, reciprocal, tap_stride,
};
use apron_core::PixelType::{self, F32, U8, U16};
use apron_core::{Border, Correlate, Result, Separable, Shape, Taps, Window};

const OPERATION: &str = "separable";

/// Plans both passes in one launch.
fn fused(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (taps_x, taps_y) = (&problem.taps_x, &problem.taps_y);
    let mut taps = padded(taps_x.taps());
    taps.extend(padded(taps_y.taps()));
    if taps.len() > FEW_TAPS {
        let what = format!("filters of over {FEW_TAPS} taps, both axes together (this one has {})", taps.len());
        return Err(unsupported(OPERATION, what, "use --variant conv1d-simple"));
    }
    let (src, dst) = (problem.src.element(), problem.dst.element());
    let kernel = kernels::find(variant.name, "", src, dst).ok_or_else(|| {
        unsupported(OPERATION, format!("{} to {} pixels", problem.src, problem.dst), "use --device cpu")
    })?;
    let (mode, constant) = problem.border.mode();
    let (shape, out) = (problem.shape, window.out);
    let sum_bytes = if problem.dst == PixelType::F32 { 4 } else { 8 };
    let shared_bytes = fused_bytes(shape.channels, taps_x.len(), taps_y.len(), sum_bytes);
    let strips = out.width.div_ceil(fused_plane(shape.channels));
    // As many blocks as can be resident at once. Each computes whole steps, and at least `taps_y` rows, since it
    // recomputes the halo rows.
    let most = machine.tuning.map_or(4, |tuning| tuning.residents);
    let residents = (machine.shared_bytes / shared_bytes.max(1)).clamp(1, most);
    let segments = (residents * machine.multiprocessors / strips).max(1);
    let rows = out.height.div_ceil(segments).max(taps_y.len()).next_multiple_of(FUSED_ROWS);
    let ring_rows = fused_ring_rows(taps_y.len());
    let launch = Launch {
        kernel,
        blocks: [strips, out.height.div_ceil(rows)],
        shared_bytes,
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::FusedParams(FusedParams {
            width: shape.width,
            height: shape.height,
            row_stride: shape.row_samples() as u32,
            out_width: out.width,
            out_height: out.height,
            channels: shape.channels,
            taps_x: taps_x.len(),
            taps_y: taps_y.len(),
            origin_x: window.origin_x,
            origin_y: window.origin_y,
            border: mode as u32,
            constant,
            rows,
            input_plane: fused_input_plane(shape.channels, taps_x.len()),
            input_pitch: fused_input_pitch(shape.channels, taps_x.len()),
            ring_rows,
            skipped: ring_rows - FUSED_ROWS - (taps_y.len() - 1),
            channel_reciprocal: reciprocal::of(shape.channels),
        }),
        taps: taps.into(),
    };
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: shape.samples() },
        Buffer { role: Role::Output, element: dst, elems: out.samples() },
    ];
    Ok((buffers, vec![launch]))
}

/// Plans P2: one thread per output sample.
fn simple(problem: &Separable, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    // Taps that do not fit constant memory are read from a buffer.
    let stage = |taps: &Taps, short, long| if taps.len() as usize > MAX_TAPS { long } else { short };
    let stages = [stage(&problem.taps_x, "rows", "long-rows"), stage(&problem.taps_y, "columns", "long-columns")];
    two_passes(problem, variant, &window, stages, simple_blocks(problem, &window))
}

/// Returns the grid of each pass, in columns and rows of blocks, with one thread per output sample.
pub(crate) fn simple_blocks(problem: &Separable, window: &Window) -> [[u32; 2]; 2] {
    let out = window.out;
    let blocks_x = (out.width * out.channels).div_ceil(SIMPLE_BLOCK[0]);
    [problem.shape.height, out.height].map(|height| [blocks_x, height.div_ceil(SIMPLE_BLOCK[1])])
}

/// Plans two launches with 16 adjacent outputs per thread; shared memory holds the taps in pieces.
fn blocked(problem: &Separable, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    two_passes(problem, variant, &window, STAGES, blocked_grids(window.out, problem.shape.height))
}

/// Returns the blocks of the pass along `height` rows, and of the pass along columns, with 16 outputs per thread.
fn blocked_grids(out: Shape, height: u32) -> [[u32; 2]; 2] {
    let blocks = |[width, height]: [u32; 2], tile: [u32; 2]| [width.div_ceil(tile[0]), height.div_ceil(tile[1])];
    // In the pass along rows every channel has its own blocks.
    let [strips, rows] = blocks([out.width, height], BLOCKED_ROWS_TILE);
    [[strips * out.channels, rows], blocks([out.width * out.channels, out.height], BLOCKED_COLUMNS_TILE)]
}

/// Fewest taps at which a mask of one row with integer output is faster as a pass along rows than in the kernels of
/// dense masks: on an H100 15x1 over u8 4096x4096 takes 0.120 ms as a pass, 31x1 0.134 (`words-dense` on an H200 0.104
/// and 0.144).
const LEAST_INTEGER_LINE: u32 = 25;

/// Returns the axis of a mask of one row (0) or one column (1). Across that axis output `i` must be computed from input
/// `i`: regions that start elsewhere or extend beyond the image are refused.
pub(crate) fn along_one_axis(problem: &Correlate, window: &Window, variant: &Variant) -> Result<usize> {
    let (mask, shape, out) = (&problem.mask, problem.shape, window.out);
    let (axis, across, beside) = match (mask.width(), mask.height()) {
        (_, 1) => (0, window.origin_y, out.height > shape.height),
        (1, _) => (1, window.origin_x, out.width > shape.width),
        (width, height) => return Err(variant.refused(format!("{width}x{height} masks"))),
    };
    if problem.clamp {
        return Err(variant.refused("clamped sums".into()));
    }
    if across != 0 || beside {
        return Err(variant.refused("regions beside the image".into()));
    }
    Ok(axis)
}

/// Plans a mask of one row or one column as a single pass of the kernels of [`blocked`].
fn line(problem: &Correlate, variant: &Variant, _: &Machine) -> Result<Steps> {
    let (window, mask, shape) = (problem.window()?, &problem.mask, problem.shape);
    let axis = along_one_axis(problem, &window, variant)?;
    if axis == 0 && mask.width() < LEAST_INTEGER_LINE && !problem.dst.is_float() {
        return Err(variant.refused(format!("rows of {} taps to integers", mask.width())));
    }
    let (out, stage) = (window.out, STAGES[axis]);
    let origin = [window.origin_x, window.origin_y][axis];
    let (src, dst) = (problem.src.element(), problem.dst.element());
    let kernel = kernels::find(variant.kernels, stage, src, dst)
        .ok_or_else(|| variant.refused(format!("{} to {} pixels", problem.src, problem.dst)))?;
    let (_, constant) = problem.border.mode();
    let (width, height, out_height) = (shape.width, shape.height, out.height);
    let params = Conv1dParams { constant: constant as f64, width, height, out_height, origin, ..Default::default() };
    let blocks = blocked_grids(out, out.height)[axis];
    let launch = pass(kernel, mask.taps(), blocks, (problem.border, out), params);
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: shape.samples() },
        Buffer { role: Role::Output, element: dst, elems: out.samples() },
    ];
    Ok((buffers, vec![launch]))
}

/// Plans P3: one thread per input sample; a tile yields fewer outputs than it has threads.
fn tiled(problem: &Separable, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    limit_taps(problem, TILE_WIDTH)?;
    let out = window.out;
    let outputs = |taps: &Taps| TILE_WIDTH + 1 - taps.len();
    // In the pass along rows every channel has its own tiles.
    let rows = [out.width.div_ceil(outputs(&problem.taps_x)) * out.channels, problem.shape.height.div_ceil(TILE_WIDTH)];
    let columns = [(out.width * out.channels).div_ceil(TILE_WIDTH), out.height.div_ceil(outputs(&problem.taps_y))];
    two_passes(problem, variant, &window, STAGES, [rows, columns])
}

fn limit_taps(problem: &Separable, limit: u32) -> Result<()> {
    match [&problem.taps_x, &problem.taps_y].into_iter().find(|taps| taps.len() > limit) {
        Some(taps) => {
            let what = format!("filters of over {limit} taps (this one has {})", taps.len());
            Err(unsupported(OPERATION, what, "use --variant conv1d-simple"))
        }
        None => Ok(()),
    }
}

/// Stages of the passes.
const STAGES: [&str; 2] = ["rows", "columns"];

/// Plans a pass along rows, then one along columns. `stages` names the kernel stage of each pass, and `blocks` its
/// grid; the intermediate sums stay on the device.
fn two_passes(
    problem: &Separable,
    variant: &Variant,
    window: &Window,
    stages: [&str; 2],
    blocks: [[u32; 2]; 2],
) -> Result<Steps> {
    let sums = if problem.dst == PixelType::F32 { ElementType::F32 } else { ElementType::F64 };
    let missing = || unsupported(OPERATION, format!("{} to {} pixels", problem.src, problem.dst), "use --device cpu");
    let find = |stage, src, dst| kernels::find(variant.name, stage, src, dst).ok_or_else(missing);
    let rows = find(stages[0], problem.src.element(), sums)?;
    let columns = find(stages[1], sums, problem.dst.element())?;

    let between = window.out.width as u64 * problem.shape.height as u64 * window.out.channels as u64;
    let buffers = vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: problem.shape.samples() },
        Buffer { role: Role::Scratch, element: sums, elems: between },
        Buffer { role: Role::Output, element: problem.dst.element(), elems: window.out.samples() },
    ];
    let launches = passes(problem, window, [rows, columns], blocks);
    Ok((buffers, launches.into()))
}

/// Returns the launches of both passes: from buffer 0 to scratch buffer 1, and from there to buffer 2.
pub(crate) fn passes(
    problem: &Separable,
    window: &Window,
    kernels: [Kernel; 2],
    [row_blocks, column_blocks]: [[u32; 2]; 2],
) -> [Launch; 2] {
    let (_, constant) = problem.border.mode();
    let (shape, out) = (problem.shape, window.out);
    let first = Conv1dParams {
        constant: constant as f64,
        width: shape.width,
        height: shape.height,
        out_height: shape.height,
        origin: window.origin_x,
        ..Default::default()
    };
    let outside = match problem.border {
        Border::Constant(_) => filtered_constant(&problem.taps_x, constant, problem.dst),
        _ => 0.0,
    };
    let second = Conv1dParams {
        constant: outside,
        width: out.width,
        height: shape.height,
        out_height: out.height,
        origin: window.origin_y,
        ..Default::default()
    };
    let filter = (problem.border, out);
    let columns = pass(kernels[1], problem.taps_y.taps(), column_blocks, filter, second);
    [pass(kernels[0], problem.taps_x.taps(), row_blocks, filter, first), Launch { src: 1, dst: 2, ..columns }]
}

/// Returns the launch of one pass, from buffer 0 to buffer 1. The caller sets the `params` that depend on the axis,
/// such as the size of the input along it; this function fills in the others.
fn pass(
    kernel: Kernel,
    taps: &[f32],
    blocks: [u32; 2],
    (border, out): (Border, Shape),
    params: Conv1dParams,
) -> Launch {
    let (mode, _) = border.mode();
    Launch {
        kernel,
        blocks,
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::Conv1dParams(Conv1dParams {
            row_stride: params.width * out.channels,
            out_width: out.width,
            channels: out.channels,
            taps: taps.len() as u32,
            border: mode as u32,
            ..params
        }),
        taps: padded(taps).into(),
    }
}

/// Returns the taps, zero-padded to a multiple of the number that kernels load at once.
fn padded(taps: &[f32]) -> Vec<f32> {
    let mut padded = taps.to_vec();
    padded.resize(tap_stride(taps.len() as u32) as usize, 0.0);
    padded
}

/// Returns the result of the first pass on rows of `constant`, which the second pass takes as its border value: the
/// border belongs to the image, before the first pass. The sum is in the kernel's order.
fn filtered_constant(taps: &Taps, constant: f32, dst: PixelType) -> f64 {
    match dst {
        PixelType::F32 => taps.taps().iter().fold(0.0f32, |sum, tap| tap.mul_add(constant, sum)) as f64,
        _ => taps.taps().iter().fold(0.0f64, |sum, &tap| (tap as f64).mul_add(constant as f64, sum)),
    }
}

/// A separable filter with `count` taps along both axes, from bytes to f32.
fn taps(count: usize) -> Separable {
    equal((U8, F32), shape(20, 1), count)
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 30,
        grids: Grids::of_residents(&[1, 2, 3, 4, 6, 8]),
        ..Variant::new(
            "conv1d-fused",
            Family::Conv1d,
            "up to 1024 taps on both axes together, whose input rows fit shared memory",
            &For(fused),
        )
        .examples(|| vec![limit(taps(305), taps(306))])
    },
    Variant {
        rank: 50,
        by_name: true,
        ..Variant::new(
            "conv1d-simple",
            Family::Conv1d,
            "any number of taps, over 4096 an axis from a buffer; by name, if another takes it",
            &For(simple),
        )
    },
    Variant { rank: 45, ..Variant::new("conv1d-blocked", Family::Conv1d, "any number of taps", &For(blocked)) },
    // Ranked before the variants of square masks: where nothing was measured, a kernel of lines is the fastest.
    Variant {
        rank: 5,
        kernels: "conv1d-blocked",
        ..Variant::new(
            "conv1d-line",
            Family::Conv1d,
            "a row or a column (to integers, rows of 25 taps or more); u8, f32; u16, i16 to themselves",
            &For(line),
        )
        .examples(|| vec![limit(correlate(2, U16, (1, 5001)), correlate(2, U16, (2, 5001)))])
    },
    Variant {
        rank: 60,
        ..Variant::new("conv1d-tiled", Family::Conv1d, "up to 32 taps an axis", &For(tiled))
            .examples(|| vec![limit(taps(32), taps(33))])
    },
];

#[cfg(test)]
mod tests {
    use crate::{Machine, Role, untuned as plan};
    use apron_abi::{ElementType, Kernel, Params};
    use apron_core::{Border, Correlate, Extent, Mask, PixelType, Problem, Region, Separable, Shape, Taps};

    fn noun(dst: PixelType, border: Border) -> Separable {
        Separable {
            shape: Shape::new(40, 20, 3).unwrap(),
            src: PixelType::U8,
            dst,
            taps_x: Taps::new([1.0, 2.0, 3.0]).unwrap(),
            taps_y: Taps::new([1.0; 5]).unwrap(),
            border,
            extent: Extent::Same,
        }
    }

    fn problem(dst: PixelType, border: Border) -> Problem {
        noun(dst, border).into()
    }

    #[test]
    fn the_sums_between_the_passes_never_leave_the_device() {
        let types = [(PixelType::F32, ElementType::F32), (PixelType::U8, ElementType::F64)];
        for ((dst, sums), variant) in types.into_iter().flat_map(|t| [(t, "conv1d-simple"), (t, "conv1d-tiled")]) {
            let recipe = plan(&problem(dst, Border::Reflect), Some(variant), &Machine::EMULATED).unwrap();
            let between = recipe.buffers[1];
            assert_eq!((between.role, between.element), (Role::Scratch, sums));
            let chain: Vec<_> = recipe.launches.iter().map(|launch| (launch.src, launch.dst)).collect();
            assert_eq!(chain, [(0, 1), (1, 2)]);
            assert_eq!(recipe.buffers[0].role, Role::Input);
            assert_eq!(recipe.buffers[2].role, Role::Output);
        }
    }

    #[test]
    fn rows_then_columns_and_the_constant_is_filtered_too() {
        let recipe =
            plan(&problem(PixelType::U8, Border::Constant(10.0)), Some("conv1d-simple"), &Machine::EMULATED).unwrap();
        assert_eq!(recipe.why, "asked for by name");
        assert_eq!(recipe.launches[0].kernel, Kernel::conv1d_simple_rows_u8_f64);
        assert_eq!(recipe.launches[1].kernel, Kernel::conv1d_simple_columns_f64_u8);
        let constants: Vec<f64> = recipe
            .launches
            .iter()
            .map(|launch| match launch.params {
                Params::Conv1dParams(params) => params.constant,
                _ => panic!("{launch:?}"),
            })
            .collect();
        assert_eq!(constants, [10.0, 60.0]);
    }

    #[test]
    fn the_filtered_constant_is_summed_as_the_kernel_sums() {
        let taps = [0.1f32, 0.7, 0.3];
        let outside = |dst| {
            let problem = Separable { taps_x: Taps::new(taps).unwrap(), ..noun(dst, Border::Constant(300.7)) };
            let recipe = plan(&problem.into(), Some("conv1d-simple"), &Machine::EMULATED).unwrap();
            let Params::Conv1dParams(params) = recipe.launches[1].params else { panic!("{recipe:?}") };
            params.constant
        };
        let in_f32 = taps.iter().fold(0.0f32, |sum, tap| tap.mul_add(300.7, sum)) as f64;
        let in_f64 = taps.iter().fold(0.0f64, |sum, &tap| (tap as f64).mul_add(300.7f32 as f64, sum));
        assert_ne!(in_f32, in_f64);
        assert_eq!((outside(PixelType::F32), outside(PixelType::U8)), (in_f32, in_f64));
    }

    #[test]
    fn tiles_give_as_many_outputs_as_their_halo_leaves() {
        // 3 taps leave 30 of 32 outputs, 5 leave 28: 40 columns of 3 channels, 20 rows.
        let recipe = plan(&problem(PixelType::F32, Border::Reflect), Some("conv1d-tiled"), &Machine::EMULATED).unwrap();
        let blocks: Vec<[u32; 2]> = recipe.launches.iter().map(|launch| launch.blocks).collect();
        assert_eq!(blocks, [[2 * 3, 1], [4, 1]]);
        let wide = Separable { taps_y: Taps::new([1.0; 33]).unwrap(), ..noun(PixelType::F32, Border::Reflect) };
        let error = plan(&wide.into(), Some("conv1d-tiled"), &Machine::EMULATED).unwrap_err().to_string();
        assert!(error.contains("32") && error.contains("33") && error.contains("conv1d-simple"), "{error}");
    }

    #[test]
    fn filters_of_any_length_have_a_blocked_pass_per_axis() {
        let taps = Taps::new(vec![1.0; 5001]).unwrap();
        let (taps_x, taps_y) = (taps.clone(), taps);
        let shape = Shape::new(300, 200, 3).unwrap();
        let long = Separable { shape, taps_x, taps_y, ..noun(PixelType::U8, Border::Wrap) };
        let recipe = plan(&long.into(), None, &Machine::EMULATED).unwrap();
        assert_eq!(recipe.variant, "conv1d-blocked");
        let launches: Vec<_> = recipe.launches.iter().map(|launch| (launch.kernel, launch.blocks)).collect();
        let [rows, columns] = [Kernel::conv1d_blocked_rows_u8_f64, Kernel::conv1d_blocked_columns_f64_u8];
        // 256 x 16 samples of one channel per block, then 32 x 128 samples of all channels.
        assert_eq!(launches, [(rows, [2 * 3, 13]), (columns, [29, 2])]);
    }

    #[test]
    fn masks_of_a_row_or_a_column_are_one_pass() {
        let shape = Shape::new(300, 200, 3).unwrap();
        let of = |(width, height), src, dst, extent, clamp| {
            let mask = Mask::new(width, height, vec![0.5; (width * height) as usize]).unwrap();
            let problem = Correlate { shape, src, dst, mask, border: Border::Constant(7.0), clamp, extent };
            plan(&problem.into(), None, &Machine::EMULATED)
        };
        let line = |mask, src, dst, extent| {
            let recipe = of(mask, src, dst, extent, false).unwrap();
            let [launch] = &recipe.launches[..] else { return None };
            let Params::Conv1dParams(params) = launch.params else { return None };
            assert_eq!((recipe.variant, params.constant, params.row_stride), ("conv1d-line", 7.0, 900));
            Some((launch.kernel, launch.blocks, params.taps, params.origin))
        };
        use PixelType::{F32, I16, U8};
        // 256 x 16 samples of one channel per block, or 32 x 128 samples of all channels.
        let rows = (Kernel::conv1d_blocked_rows_f32_f32, [2 * 3, 13], 301, -150);
        assert_eq!(line((301, 1), F32, F32, Extent::Same), Some(rows));
        let columns = (Kernel::conv1d_blocked_columns_u8_i16, [29, 2], 5, -2);
        assert_eq!(line((1, 5), U8, I16, Extent::Same), Some(columns));
        let full = (Kernel::conv1d_blocked_columns_f32_i16, [29, 2], 5, -4);
        assert_eq!(line((1, 5), F32, I16, Extent::Full), Some(full));
        // Across the mask's axis there is no border.
        let region = |x, y| Extent::Region(Region { x, y, width: 9, height: 9 });
        assert!(line((1, 5), F32, F32, region(0, -30)).is_some_and(|(.., origin)| origin == -32));
        assert_eq!(line((1, 5), F32, F32, region(1, 0)), None);
        assert_eq!(line((5, 1), F32, F32, region(0, 1)), None);
        assert_eq!(line((5, 2), F32, F32, Extent::Same), None);
        let high = Extent::Region(Region { x: 0, y: 0, width: 9, height: 201 });
        assert_eq!((line((5, 1), F32, F32, high), line((1, 5), F32, F32, high).is_some()), (None, true));
        assert_ne!(of((5, 1), F32, F32, Extent::Same, true).unwrap().variant, "conv1d-line");
    }

    #[test]
    fn crop_shrinks_each_axis_in_its_pass() {
        let recipe = plan(&problem(PixelType::F32, Border::Crop), Some("conv1d-simple"), &Machine::EMULATED).unwrap();
        assert_eq!(recipe.buffers[1].elems, 38 * 20 * 3);
        assert_eq!(recipe.buffers[2].elems, 38 * 16 * 3);
    }
}
