//! Recipes of box filters.

mod chunks;
mod prefix;

use crate::examples::{limit, mean, shape};
use crate::kernels;
use crate::machine::Tuning;
use crate::recipe::Steps;
use crate::variant::{For, Grids, Variant};
use crate::windows::Windows;
use crate::{Buffer, Launch, Machine, Role, unsupported};
use apron_abi::{
    BOX_BYTES, BOX_PACKED, BOX_STRIP_SMALL, BoxParams, BoxTile, ElementType, Family, Kernel, Params, SIMPLE_BLOCK,
};
use apron_core::PixelType::{self, F32, U8, U16};
use apron_core::{BoxFilter, Result, Scale, Window};

const OPERATION: &str = "box";

/// Widest window of the strip kernel, in pixels: half of a strip's pixels then still yield outputs.
const WIDEST: u32 = 129;

/// Plans one warp per strip of RGBA bytes. The input rows under the window stay in a ring in shared memory if the
/// wanted number of resident blocks then still fits on a multiprocessor; otherwise each row is loaded again when it
/// leaves the window.
fn strips(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let refused = |what: String| unsupported(OPERATION, what, "leave the variant to the plan");
    let is_mean = matches!(problem.scale, Scale::Mean) && is_plain(problem);
    if problem.shape.channels != 4 || problem.src != PixelType::U8 || !is_mean {
        let types = format!("{} to {} pixels of {} channels", problem.src, problem.dst, problem.shape.channels);
        return Err(refused(format!(
            "{} times {} {types}",
            problem.scale.factor(problem.samples()),
            problem.samples()
        )));
    }
    if problem.width > WIDEST || problem.height > BOX_PACKED {
        let what = format!("windows of {}x{} in strips", problem.width, problem.height);
        return Err(refused(format!("{what} (at most {WIDEST}x{BOX_PACKED})")));
    }
    let left = window.origin_x.div_euclid(4) * 4;
    let stage = if problem.samples() <= BOX_STRIP_SMALL as u64 { "small" } else { "large" };
    let kernel = find(problem, variant, stage, problem.src.element(), problem.dst.element())?;
    let tile = |again| BoxTile::of_strip([problem.width, problem.height], (window.origin_x - left) as u32, again);
    let tuning = machine.tuning.unwrap_or(Tuning { rows: 8, residents: 16 });
    let wanted = tuning.residents.min(kernel.facts().residents);
    let tile = Some(tile(false)).filter(|ring| machine.residents(ring.bytes) >= wanted).unwrap_or_else(|| tile(true));
    let strips = window.out.width.div_ceil(tile.chunks * BOX_BYTES);
    let residents = machine.residents(tile.bytes).clamp(1, wanted);
    let all = rows(window.out.height, problem.height - 1, strips, residents * machine.multiprocessors, 1);
    let rows = if tuning.rows == 0 { all } else { tuning.rows.min(all) };
    let launch = Launch {
        kernel,
        blocks: [strips, window.out.height.div_ceil(rows)],
        shared_bytes: tile.bytes,
        reserved_bytes: machine.reserved(tile.bytes, residents),
        src: 0,
        dst: 1,
        params: Params::BoxParams(BoxParams { left, top: window.origin_y, rows, tile, ..params(problem, &window) }),
        taps: [].into(),
    };
    Ok((buffers(problem, &window), vec![launch]))
}

/// Returns the output rows per block such that all blocks are resident at once. A block also reads `before` halo rows;
/// it computes at least that many rows, so that the halo is at most half of its work.
fn rows(height: u32, before: u32, strips: u32, slots: u32, chunk: u32) -> u32 {
    let segments = (slots / strips).max(1);
    height.div_ceil(segments).max(before).next_multiple_of(chunk)
}

/// Plans integer windows with sliding sums.
fn sliding(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let most = match problem.src {
        PixelType::U8 => 255.0,
        PixelType::U16 => 65535.0,
        // Signed sums have one bit less.
        PixelType::I16 => 65536.0,
        _ => return Err(variant.refused(format!("{} pixels", problem.src))),
    };
    windows(problem, most)?.slide(variant, machine)
}

/// Returns the windows of a problem; `most` times the number of samples per window bounds its sums.
fn windows(problem: &BoxFilter, most: f64) -> Result<Windows> {
    Ok(Windows {
        shape: problem.shape,
        src: problem.src,
        dst: problem.dst,
        window: problem.window()?,
        size: [problem.width, problem.height],
        border: problem.border.mode_of(problem.src),
        scale: scale(problem),
        most: most * problem.samples() as f64,
    })
}

/// Returns the factor of exact sums, and for means its reciprocal, the divisor; otherwise 0.
fn scale(problem: &BoxFilter) -> [f64; 2] {
    match problem.scale {
        Scale::Mean => [1.0 / problem.samples() as f64, problem.samples() as f64],
        Scale::Tap(tap) => [tap as f64, 0.0],
    }
}

/// Plans windows of floats of any size, summed in a fixed order.
fn ordered(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (factor, sums) = match problem.src {
        PixelType::F64 => (problem.scale.factor_f64(problem.samples()), ElementType::F64),
        _ => (problem.scale.factor(problem.samples()) as f64, ElementType::F32),
    };
    let windows = Windows { scale: [factor, 0.0], ..windows(problem, 0.0)? };
    windows.ordered(variant, sums, machine)
}

/// Plans one thread per output sample of bytes, a pass along rows and then one along columns.
fn simple(problem: &BoxFilter, variant: &Variant, _: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (src, dst, out) = (problem.src.element(), problem.dst.element(), window.out);
    let sums = ElementType::U32;
    // The extra row holds the sums of rows outside the image, for the constant border.
    let rows = problem.shape.height + 1;
    let launch = |kernel, rows: u32, src| Launch {
        kernel,
        blocks: [(out.width * out.channels).div_ceil(SIMPLE_BLOCK[0]), rows.div_ceil(SIMPLE_BLOCK[1])],
        shared_bytes: 0,
        reserved_bytes: 0,
        src,
        dst: src + 1,
        params: Params::BoxParams(params(problem, &window)),
        taps: [].into(),
    };
    let launches = vec![
        launch(find(problem, variant, "rows", src, sums)?, rows, 0),
        launch(find(problem, variant, "columns", sums, dst)?, out.height, 1),
    ];
    let between = rows as u64 * out.width as u64 * out.channels as u64;
    let buffers = vec![
        Buffer { role: Role::Input, element: src, elems: problem.shape.samples() },
        Buffer { role: Role::Scratch, element: sums, elems: between },
        Buffer { role: Role::Output, element: dst, elems: out.samples() },
    ];
    Ok((buffers, launches))
}

/// Returns the buffers of one launch: the image, and the output.
fn buffers(problem: &BoxFilter, window: &Window) -> Vec<Buffer> {
    vec![
        Buffer { role: Role::Input, element: problem.src.element(), elems: problem.shape.samples() },
        Buffer { role: Role::Output, element: problem.dst.element(), elems: window.out.samples() },
    ]
}

fn find(problem: &BoxFilter, variant: &Variant, stage: &str, src: ElementType, dst: ElementType) -> Result<Kernel> {
    kernels::find(variant.name, stage, src, dst).ok_or_else(|| {
        let what = format!("{} to {} pixels of {} channels", problem.src, problem.dst, problem.shape.channels);
        unsupported(OPERATION, what, "use --device cpu")
    })
}

/// Parameters common to all box kernels.
fn params(problem: &BoxFilter, window: &Window) -> BoxParams {
    let (mode, constant) = problem.border.mode();
    let [factor, divisor] = scale(problem);
    BoxParams {
        factor,
        divisor,
        scale: problem.scale.factor(problem.samples()),
        plain: is_plain(problem) as u32,
        constant,
        border: mode as u32,
        width: problem.shape.width,
        height: problem.shape.height,
        row_stride: problem.shape.row_samples() as u32,
        out_width: window.out.width,
        out_height: window.out.height,
        channels: problem.shape.channels,
        window_x: problem.width,
        window_y: problem.height,
        origin_x: window.origin_x,
        origin_y: window.origin_y,
        first_step: 0,
        one: 1,
        ..BoxParams::default()
    }
}

/// Returns whether an f32 multiply-add onto 2^23, where the spacing of f32 is 1, rounds every sum of bytes to the
/// correct integer, and all results are in the output type's range.
///
/// The sums are integers below 2^23. A product with the tap itself is then exact before it is rounded, in the
/// multiply-add as in f64. A mean is never halfway between two integers where the number of samples, `n`, is odd:
/// it is at least `1 / (2 n)` away, and the product with the rounded reciprocal is off by less.
fn is_plain(problem: &BoxFilter) -> bool {
    let samples = problem.samples();
    if samples >= 1 << 15 {
        return false;
    }
    match problem.scale {
        Scale::Mean => samples % 2 == 1,
        Scale::Tap(tap) => tap >= 0.0 && 255.0 * samples as f64 * (tap as f64) < 255.5,
    }
}

fn gray(width: u32, window: [u32; 2]) -> BoxFilter {
    mean(shape(width, 1), U8, window)
}

fn rgba(window: [u32; 2]) -> BoxFilter {
    mean(shape(20, 4), U8, window)
}

pub(crate) const VARIANTS: &[Variant] = &[
    Variant {
        rank: 10,
        grids: Grids { rows: &[0, 64, 128, 256, 384, 512, 768], residents: &[1] },
        ..Variant::new(
            "boxes-chunks",
            Family::Boxes,
            "windows whose rows shared memory holds: on an H100 287x287 of f32, 257x351 of u8 (257 wide)",
            &For(chunks::plan),
        )
        .examples(|| {
            vec![
                limit(mean(shape(20, 1), F32, [287; 2]), mean(shape(20, 1), F32, [65536, 3])),
                limit(gray(20, [257, 351]), gray(20, [258, 1])),
            ]
        })
    },
    Variant {
        rank: 20,
        grids: Grids { rows: &[0, 8, 16, 32, 64, 128], residents: &[4, 8, 12, 16] },
        ..Variant::new(
            "boxes-strips",
            Family::Boxes,
            "means of RGBA bytes, over up to 129x257 pixels, an odd number below 32768",
            &For(strips),
        )
        .examples(|| {
            vec![
                limit(rgba([129, 253]), rgba([131, 3])),
                limit(rgba([3, 257]), rgba([3, 259])),
                limit(rgba([3, 3]), rgba([2, 3])),
            ]
        })
    },
    Variant {
        rank: 15,
        // Here the second number is not the resident blocks: 1 stands for one warp per block, 4 for several.
        grids: Grids { rows: &[4, 8, 16, 24, 32, 48, 64], residents: &[1, 4] },
        ..Variant::new(
            "boxes-prefix",
            Family::Boxes,
            "means of u8 (up to 1328 wide), RGBA (676), u16, i16 (664; 1352 over 65536 samples), in wider rows",
            &For(prefix::plan),
        )
        .examples(|| {
            vec![
                limit(gray(3000, [1328, 4111]), gray(3000, [1329, 3])),
                limit(mean(shape(3000, 4), U8, [676, 3]), mean(shape(3000, 4), U8, [677, 3])),
                limit(mean(shape(3000, 1), U16, [664, 3]), mean(shape(3000, 1), U16, [665, 3])),
                limit(mean(shape(3000, 1), U16, [1352, 50]), mean(shape(3000, 1), U16, [1353, 50])),
                limit(gray(272, [239, 3]), gray(272, [243, 3])),
                limit(mean(shape(3000, 1), U16, [256, 256]), mean(shape(3000, 1), U16, [256, 2048])),
                limit(
                    mean(shape(3000, 1), PixelType::I16, [257, 257]),
                    mean(shape(3000, 2), PixelType::I16, [257, 257]),
                ),
                limit(mean(shape(200, 4), U8, [130, 100]), mean(shape(200, 3), U8, [130, 100])),
            ]
        })
    },
    Variant {
        rank: 45,
        grids: Grids { rows: &[0, 32, 64, 128], residents: &[2, 3, 4] },
        ..Variant::new("boxes-sliding", Family::Boxes, "integers", &For(sliding))
            .examples(|| vec![limit(mean(shape(20, 1), U16, [300; 2]), mean(shape(20, 1), F32, [30; 2]))])
    },
    Variant {
        rank: 47,
        grids: Grids { rows: &[0, 32, 64, 128], residents: &[1] },
        ..Variant::new("boxes-ordered", Family::Boxes, "floats", &For(ordered))
            .examples(|| vec![limit(mean(shape(20, 4), F32, [65536; 2]), gray(20, [3; 2]))])
    },
    // Takes windows of bytes that are too wide for the shared memory of the others.
    Variant {
        rank: 50,
        ..Variant::new("boxes-simple", Family::Boxes, "bytes", &For(simple))
            .examples(|| vec![limit(rgba([65536; 2]), mean(shape(20, 1), F32, [3; 2]))])
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recipe, plan};
    use apron_abi::box_factor;
    use apron_core::{Border, Extent, Problem, Shape};

    fn mean(src: PixelType, channels: u32, [width, height]: [u32; 2]) -> BoxFilter {
        let (shape, anchor) = (Shape::new(8192, 8192, channels).unwrap(), (width / 2, height / 2));
        BoxFilter {
            shape,
            src,
            dst: src,
            width,
            height,
            anchor,
            border: Border::Replicate,
            scale: Scale::Mean,
            extent: Extent::Same,
        }
    }

    fn planned(problem: &BoxFilter, machine: &Machine) -> (Recipe, BoxParams) {
        let recipe = plan(&Problem::from(problem.clone()), Some("boxes-chunks"), machine).unwrap();
        let Params::BoxParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        (recipe, params)
    }

    #[test]
    fn chunks_are_the_images_and_blocks_whole_chunks() {
        let (recipe, params) = planned(&mean(PixelType::F32, 1, [63, 63]), &Machine::EMULATED);
        assert_eq!((recipe.variant, recipe.launches[0].kernel), ("boxes-chunks", Kernel::boxes_chunks_c1_f32_f32));
        // Windows begin at column -31; the first strip of 128 pixels at -32.
        assert_eq!((params.left, params.top, params.rows % 16), (-32, -32, 0));
        assert_eq!(recipe.launches[0].blocks[0], 8193u32.div_ceil(128));
        // Strips of bytes may start at any column; a word holds 4 pixels of one channel.
        let (recipe, params) = planned(&mean(PixelType::U8, 1, [63, 63]), &Machine::EMULATED);
        assert_eq!((params.left, params.top, params.rows % 8), (-31, -31, 0));
        assert_eq!(recipe.launches[0].blocks[0], 8192 / 4 / 128);
    }

    #[test]
    fn kernels_suit_the_window_and_the_channels() {
        let kernel = |problem: &BoxFilter| {
            plan(&Problem::from(problem.clone()), None, &Machine::EMULATED).unwrap().launches[0].kernel
        };
        let u8 = |channels, size| kernel(&mean(PixelType::U8, channels, size));
        // Order of the tuning table; strips only take means over odd numbers of pixels.
        assert_eq!(u8(4, [15, 15]), Kernel::boxes_strips_small_u8_u8);
        assert_eq!(u8(4, [17, 17]), Kernel::boxes_strips_large_u8_u8);
        assert_eq!(u8(4, [15, 16]), Kernel::boxes_chunks_small_rgba_u8_u8);
        // 257 bytes of 255 are the largest sum that fits 16 bits.
        let chunks = |channels, size| {
            let (recipe, _) = planned(&mean(PixelType::U8, channels, size), &Machine::EMULATED);
            recipe.launches[0].kernel
        };
        assert_eq!(chunks(3, [257, 1]), Kernel::boxes_chunks_small_u8_u8);
        assert_eq!(chunks(2, [129, 2]), Kernel::boxes_chunks_large_u8_u8);
        assert_eq!(chunks(4, [255, 255]), Kernel::boxes_chunks_narrow_rgba_u8_u8);
        assert_eq!(u8(2, [1, 2000]), Kernel::boxes_sliding_totals_u8_u32);
        assert_eq!(kernel(&mean(PixelType::I16, 2, [20, 20])), Kernel::boxes_sliding_windows_i16_u32);
        assert_eq!(kernel(&mean(PixelType::F32, 3, [31, 31])), Kernel::boxes_chunks_c3_f32_f32);
        assert_eq!(kernel(&mean(PixelType::F32, 1, [63, 999])), Kernel::boxes_ordered_rows_f32_f32);
    }

    #[test]
    fn all_blocks_run_at_a_time_if_that_is_worth_it() {
        let machine = |rows| Machine { tuning: Some(Tuning { rows, residents: 1 }), ..Machine::EMULATED };
        for side in [15, 63, 255] {
            let (recipe, params) = planned(&mean(PixelType::F32, 1, [side, side]), &machine(0));
            let [strips, segments] = recipe.launches[0].blocks;
            let residents = (228 * 1024 / (recipe.launches[0].shared_bytes + 1024)).min(3);
            assert!(strips * segments <= residents * 132 && strips * (segments + 1) > residents * 132, "{params:?}");
        }
        // A block computes at least as many rows as its halo has.
        let problem = BoxFilter { shape: Shape::new(128, 300, 1).unwrap(), ..mean(PixelType::F32, 1, [63, 63]) };
        assert_eq!(planned(&problem, &machine(0)).1.rows, 64);
        // With fewer rows per block there are more blocks than can be resident at once.
        let rows = |rows| planned(&mean(PixelType::F32, 1, [63, 63]), &machine(rows)).1.rows;
        assert_eq!([rows(384), rows(500), rows(9), rows(9000)], [384, 512, 64, rows(0)]);
    }

    #[test]
    fn the_sums_between_have_a_row_of_the_constant() {
        let recipe =
            plan(&Problem::from(mean(PixelType::U8, 3, [3, 3])), Some("boxes-simple"), &Machine::EMULATED).unwrap();
        let between = recipe.buffers[1];
        assert_eq!((between.role, between.elems), (Role::Scratch, 8193 * 8192 * 3));
        assert_eq!((recipe.launches[0].blocks[1], recipe.launches[1].blocks[1]), (1025, 1024));
    }

    #[test]
    fn means_of_few_bytes_are_the_highest_byte_of_a_product() {
        for pixels in (1..=BOX_STRIP_SMALL).step_by(2) {
            let factor = box_factor(1.0 / pixels as f32);
            for sum in 0..=255 * pixels {
                let mean = sum.checked_mul(factor).and_then(|product| product.checked_add(1 << 23)).unwrap() >> 24;
                assert_eq!(mean, (2 * sum + pixels) / (2 * pixels), "{sum} / {pixels}");
            }
        }
    }

    #[test]
    fn rows_wait_in_a_ring_where_as_many_blocks_have_room() {
        let tile = |side, residents| {
            let machine = Machine { tuning: Some(Tuning { rows: 8, residents }), ..Machine::EMULATED };
            let recipe =
                plan(&Problem::from(mean(PixelType::U8, 4, [side, side])), Some("boxes-strips"), &machine).unwrap();
            let Params::BoxParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
            params.tile
        };
        assert_eq!((tile(15, 8).slots, tile(15, 8).totals_at), (19, 0));
        assert_eq!((tile(15, 16).slots, tile(15, 16).totals_at), (4, 5 * 1024));
        assert_eq!((tile(3, 16).slots, tile(3, 16).totals_at), (7, 0));
        // A lead of 3 pixels and windows 63 wide leave 192 of 256 outputs.
        assert_eq!(tile(63, 4).chunks * BOX_BYTES, 192);
    }

    /// Testing every sum of every odd window below the limit would take too long: only sums next to halves are tested.
    #[test]
    fn plain_products_round_to_the_nearest_integer() {
        let (mut tried, ones) = (0, 8_388_608f32);
        for samples in (1..1u64 << 15).step_by(2) {
            let problem = mean(PixelType::U8, 1, [samples as u32, 1]);
            assert!(is_plain(&problem));
            let factor = problem.scale.factor(samples);
            for integer in [0, 1, 2, 100, 127, 253, 254] {
                for sum in [integer * samples + samples / 2, integer * samples + samples / 2 + 1] {
                    let plain = (sum as f32).mul_add(factor, ones).to_bits() - ones.to_bits();
                    assert_eq!(plain as u64, (2 * sum + samples) / (2 * samples), "{sum} / {samples}");
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, (1 << 14) * 14);
        // Ties, and results that are not bytes.
        assert!(!is_plain(&mean(PixelType::U8, 1, [4, 1])));
        let tap = |tap| BoxFilter { scale: Scale::Tap(tap), ..mean(PixelType::U8, 1, [3, 3]) };
        assert!(is_plain(&tap(1.0 / 9.0)) && !is_plain(&tap(0.2)) && !is_plain(&tap(-0.1)));
    }
}
