//! Recipes of the marching kernels.

use crate::examples::{correlate, limit, mean, separable as equal, shape};
use crate::machine::Tuning;
use crate::recipe::Steps;
use crate::summation::{Summation, both_axes, square};
use crate::variant::{For, Grids, Variant};
use crate::{Launch, Machine};
use apron_abi::{
    ElementType, FEW_TAPS, Family, MARCH_BLOCK, MARCH_ROWS, MarchParams, MarchSums, Params, march_across, march_piece,
};
use apron_core::PixelType::{F32, I16, U8, U16};
use apron_core::{BoxFilter, Correlate, Result, Separable, Shape, Window};

/// Plans correlation with a square mask.
fn dense(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    dense_by(MarchSums::Floats, problem, variant, machine)
}

/// As [`dense`], summed in f64.
fn dense_f64(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    dense_by(MarchSums::Doubles, problem, variant, machine)
}

fn dense_by(sums: MarchSums, problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (side, window) = (square(problem, variant)?, problem.window()?);
    let of = Summation::of_dense(sums, problem, variant);
    steps(&of, variant, machine, side, &window, of.in_units(problem.mask.taps()))
}

/// Plans both passes of a separable filter with equal numbers of taps along rows and columns.
fn separable(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    separable_by(MarchSums::Floats, problem, variant, machine)
}

/// As [`separable`], summed in f64.
fn separable_f64(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    separable_by(MarchSums::Doubles, problem, variant, machine)
}

fn separable_by(sums: MarchSums, problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (side, window) = (both_axes(problem, variant)?, problem.window()?);
    let of = Summation::of_separable(sums, problem, variant);
    steps(&of, variant, machine, side, &window, of.separable_taps(problem))
}

/// Plans means of bytes by the kernels of separable filters.
fn means(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (of, taps) = Summation::of_means(MarchSums::Floats, problem, variant)?;
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
    let (shape, src) = (of.shape, of.src.element());
    let channels = shape.channels;
    let samples = shape.row_samples();
    let piece = march_piece(src) as usize;
    // Bulk asynchronous copies need whole pieces of 16 bytes.
    let any = if samples.is_multiple_of(piece) { "" } else { "-any" };
    let kernel = of.kernel(variant, &format!("{side}-c{channels}{any}"), side)?;
    check(variant, shape, src, side, window)?;
    if let Some(what) = of.refusal(machine) {
        return Err(variant.refused(what));
    }
    assert!(taps.len() <= FEW_TAPS, "masks of kernels in the table fit");
    let tuning = machine.tuning.unwrap_or(if side <= 8 { FEW_ROWS } else { MANY_ROWS });
    let across = march_across(src, of.sums, of.dense, side);
    let (params, blocks) = strips(of.params(side, window), across, tuning, machine);
    let shared_bytes = kernel.facts().shared.bytes(0, 0);
    let launch = Launch {
        kernel,
        blocks,
        shared_bytes,
        reserved_bytes: machine.reserved(shared_bytes, tuning.residents),
        src: 0,
        dst: 1,
        params: Params::MarchParams(params),
        taps: taps.into(),
    };
    Ok((of.buffers(window.out), vec![launch]))
}

/// Returns an error for images and windows that a march does not take.
pub(crate) fn check(variant: &Variant, shape: Shape, src: ElementType, side: u32, window: &Window) -> Result<()> {
    let samples = shape.row_samples();
    if samples >= 1 << 30 || samples < march_piece(src) as usize {
        return Err(variant.refused(format!("rows of {samples} samples")));
    }
    // Threads fill the border columns, one piece each: windows may exceed the image by at most `side - 1` columns in
    // all.
    let (first, end) = (window.origin_x as i64, window.origin_x as i64 + window.out.width as i64 + side as i64 - 1);
    if (-first).max(0) + (end - shape.width as i64).max(0) > side as i64 - 1 {
        return Err(variant.refused(format!("columns {first} to {end} of images {} wide", shape.width)));
    }
    Ok(())
}

/// Returns the parameters with the output rows per block, and the grid: one column of blocks per strip, whose threads
/// compute `across` outputs each.
pub(crate) fn strips(params: MarchParams, across: u32, tuning: Tuning, machine: &Machine) -> (MarchParams, [u32; 2]) {
    let strip = MARCH_BLOCK * across;
    let strips = (params.out_samples as u64 + params.first.unsigned_abs() as u64).div_ceil(strip as u64) as u32;
    let rows = rows(tuning, params.halo_rows + 1, strips, params.out_height, machine);
    (MarchParams { rows, ..params }, [strips, params.out_height.div_ceil(rows)])
}

/// Grids without a tuning table, for small masks and for large ones.
pub(crate) const FEW_ROWS: Tuning = Tuning { rows: 16, residents: 4 };
const MANY_ROWS: Tuning = Tuning { rows: 249, residents: 4 };

/// Returns the output rows per block. Each block also reads `side - 1` halo rows; but with fewer rows per block, the
/// rows that all blocks access at a time are closer together. Where the tuning's rows would give fewer blocks than can
/// be resident at once, or up to a quarter more, exactly one wave of blocks covers the output: a few blocks of a second
/// wave take as long as all of the first.
fn rows(tuning: Tuning, side: u32, strips: u32, height: u32, machine: &Machine) -> u32 {
    let blocks = (tuning.residents * machine.multiprocessors / strips).max(1);
    let enough = height.div_ceil(blocks).max(side);
    let wave = blocks.saturating_mul(tuning.rows);
    let rest = height.saturating_sub(wave);
    let most = if tuning.rows == 0 || (1..=wave / 4).contains(&rest) { enough } else { tuning.rows };
    most.min(enough).clamp(1, height.min(MARCH_ROWS + 1 - side))
}

const GRIDS: Grids = Grids { rows: &[8, 16, 32, 64, 125, 249, 342, 683], residents: &[3, 4, 5] };

fn floats(width: u32, taps: usize) -> Separable {
    equal((F32, F32), shape(width, 1), taps)
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 10,
        grids: GRIDS,
        ..Variant::new(
            "march-separable",
            Family::March,
            "odd taps, equal on axes: 3 to 17, gray f32 33, or 65 in 16-byte rows; u8 as march-dense; sm_90",
            &For(separable),
        )
        .examples(|| {
            vec![
                limit(floats(20, 65), floats(20, 67)), // Rows of 19 samples are no multiple of 16 bytes.
                limit(floats(19, 33), floats(19, 35)),
                limit(equal((U8, U8), shape(20, 4), 17), equal((U8, U8), shape(20, 4), 19)),
            ]
        })
    },
    Variant {
        rank: 11,
        grids: GRIDS,
        ..Variant::new(
            "march-separable-f64",
            Family::March,
            "3 to 17 odd taps on axes; u16, gray i16, u8 that f32 does not sum exactly; not 2 channels; sm_90",
            &For(separable_f64),
        )
        .examples(|| vec![limit(equal((U16, U16), shape(20, 1), 17), equal((U16, U16), shape(20, 1), 19))])
    },
    Variant {
        rank: 10,
        grids: GRIDS,
        ..Variant::new(
            "march-dense",
            Family::March,
            "odd squares: f32 to 15 (RGB(A) 7; gray 6, 8), u8 to 7 if f32 nearly holds sums; >= 16 B; sm_90",
            &For(dense),
        )
        .examples(|| {
            vec![
                limit(correlate(3, F32, (7, 7)), correlate(3, F32, (9, 9))),
                limit(correlate(4, U8, (7, 7)), correlate(4, U8, (9, 9))),
                limit(correlate(1, F32, (8, 8)), correlate(3, F32, (8, 8))),
            ]
        })
    },
    Variant {
        rank: 11,
        grids: GRIDS,
        ..Variant::new(
            "march-dense-f64",
            Family::March,
            "squares of 3, 5, 7 (gray, RGBA8: 6, 8); u16, gray i16, u8 not exact in f32; not 2 channels; sm_90",
            &For(dense_f64),
        )
        .examples(|| {
            vec![
                limit(correlate(4, U8, (8, 8)), correlate(3, U8, (8, 8))),
                limit(correlate(1, U16, (7, 7)), correlate(1, U16, (9, 9))),
                limit(correlate(1, I16, (7, 7)), correlate(3, I16, (7, 7))),
            ]
        })
    },
    Variant {
        rank: 30,
        kernels: "march-separable",
        grids: GRIDS,
        ..Variant::new(
            "march-means",
            Family::March,
            "means of bytes over squares of odd sides, 3 to 17, by the kernels of march-separable; sm_90",
            &For(means),
        )
        .examples(|| {
            vec![
                limit(mean(shape(20, 1), U8, [17; 2]), mean(shape(20, 1), U8, [19; 2])),
                limit(mean(shape(20, 1), U8, [3; 2]), mean(shape(20, 1), U8, [3, 5])),
            ]
        })
    },
];

#[cfg(test)]
mod tests {
    use crate::{Launch, Machine, Tuning, plan};
    use apron_abi::{BYTE_UNIT, MarchParams, Params};
    use apron_core::{
        Border, Correlate, Error, Extent, Mask, PixelType, Problem, Region, Result, Separable, Shape, Taps,
    };

    fn problem() -> Correlate {
        Correlate {
            shape: Shape::new(64, 20, 4).unwrap(),
            src: PixelType::U8,
            dst: PixelType::U8,
            mask: Mask::new(3, 3, [0.125; 9]).unwrap(),
            border: Border::Replicate,
            clamp: false,
            extent: Extent::Same,
        }
    }

    #[test]
    fn windows_far_beside_the_image_are_left_to_others() {
        let of = |x, width| {
            let extent = Extent::Region(Region { x, y: -50, width, height: 200 });
            march(Correlate { extent, ..problem() }).is_ok()
        };
        // Windows of 3 columns around the region's columns: at most two border columns in all.
        for (x, width, marches) in [
            (0, 64, true),
            (1, 5, true),
            (10, 55, true),
            (-1, 10, true),
            (-2, 10, false),
            (-1, 65, false),
            (63, 2, true),
            (64, 2, false),
            (-30, 10, false),
            (1000, 10, false),
        ] {
            assert_eq!(of(x, width), marches, "{x} {width}");
        }
    }

    #[test]
    fn even_masks_go_by_the_times_of_odd_ones() {
        for pixel in [PixelType::F32, PixelType::U8, PixelType::U16, PixelType::I16] {
            for side in [6, 8] {
                let (shape, mask) =
                    (Shape::new(4096, 4096, 1).unwrap(), Mask::new(side, side, vec![0.3; (side * side) as usize]));
                let even = Correlate { shape, src: pixel, dst: pixel, mask: mask.unwrap(), ..problem() };
                let recipe = plan(&Problem::from(even), None, &Machine::EMULATED).unwrap();
                assert!(
                    ["march-dense", "march-dense-f64", "patch-dense", "words-tensor-pairs"].contains(&recipe.variant),
                    "{pixel} {side}: {}",
                    recipe.variant
                );
            }
        }
    }

    #[test]
    fn a_few_blocks_more_than_a_wave_are_one_wave_of_taller_blocks() {
        // 132 multiprocessors of 4 blocks; strips of 512 samples.
        let grid = |width, rows| {
            let tuning = Some(Tuning { rows, residents: 4 });
            let mask = Mask::new(5, 5, vec![0.3; 25]).unwrap();
            let (shape, pixel) = (Shape::new(width, 4096, 1).unwrap(), PixelType::F32);
            let problem = Problem::from(Correlate { shape, src: pixel, dst: pixel, mask, ..problem() });
            let recipe = plan(&problem, Some("march-dense"), &Machine { tuning, ..Machine::EMULATED }).unwrap();
            let Params::MarchParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
            (params.rows, recipe.launches[0].blocks)
        };
        assert_eq!(grid(4096, 64), (63, [8, 66]));
        assert_eq!(grid(4097, 64), (71, [9, 58]));
        // 9 x 128 blocks are two waves and part of a third: the rows per block stay as tuned.
        assert_eq!(grid(4097, 32), (32, [9, 128]));
    }

    fn march(problem: Correlate) -> Result<Launch> {
        plan(&Problem::from(problem), Some("march-dense"), &Machine::EMULATED).map(|mut r| r.launches.remove(0))
    }

    fn params(problem: Correlate) -> MarchParams {
        let Params::MarchParams(params) = march(problem).unwrap().params else {
            panic!("parameters of another kernel")
        };
        params
    }

    #[test]
    fn taps_for_bytes_are_in_their_unit_along_the_rows_alone() {
        assert_eq!(march(problem()).unwrap().taps[..], [0.125 / BYTE_UNIT; 9]);
        let Correlate { shape, src, dst, border, .. } = problem();
        let (taps_x, taps_y) = (Taps::new([0.25, 0.5, 0.25]).unwrap(), Taps::new([1.0, 2.0, 3.0]).unwrap());
        let problem = Problem::from(Separable { shape, src, dst, taps_x, taps_y, border, extent: Extent::Same });
        let recipe = plan(&problem, Some("march-separable"), &Machine::EMULATED).unwrap();
        let x = [0.25, 0.5, 0.25].map(|tap| tap / BYTE_UNIT);
        assert_eq!(recipe.launches[0].taps[..], [x[0], x[1], x[2], 0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn outputs_start_where_anchors_and_rows_let_them() {
        let at = |anchor, border, width| {
            let mask = problem().mask.with_anchor(anchor, 1).unwrap();
            let params = params(Correlate { shape: Shape::new(width, 20, 4).unwrap(), mask, border, ..problem() });
            (params.left, params.first, params.aligned)
        };
        // With the anchor in the middle, windows and outputs both start at a piece; a column to either side, one pixel
        // off.
        assert_eq!(at(1, Border::Replicate, 64), (-16, 0, 16));
        assert_eq!(at(0, Border::Replicate, 64), (-16, -4, 4));
        assert_eq!(at(2, Border::Replicate, 64), (-32, -12, 4));
        // Rows of 62 output pixels.
        assert_eq!(at(1, Border::Crop, 64), (-16, -4, 4));
        let one = Correlate { shape: Shape::new(64, 20, 1).unwrap(), border: Border::Crop, ..problem() };
        assert_eq!(params(one).aligned, 1);
    }

    #[test]
    fn bytes_take_what_their_kernels_can_hold() {
        let mask = |tap| Mask::new(3, 3, [tap; 9]).unwrap();
        assert_eq!(params(problem()).slack, 0.0);
        assert!(params(Correlate { mask: mask(1.0 / 9.0), ..problem() }).slack > 0.0);
        assert!(march(Correlate { border: Border::Constant(255.0), ..problem() }).is_ok());
        let refused = [
            Correlate { border: Border::Constant(255.5), ..problem() },
            Correlate { border: Border::Constant(-1.0), ..problem() },
            Correlate { border: Border::Constant(f64::NAN), ..problem() },
            Correlate { mask: mask(100.0 / 9.0), ..problem() },
            Correlate { shape: Shape::new(3, 20, 4).unwrap(), ..problem() },
            Correlate { dst: PixelType::I16, ..problem() },
        ];
        for problem in refused {
            let error = march(problem.clone()).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{problem:?}: {error}");
        }
    }
}
