//! Recipes of means of bytes by prefix sums along the rows.

use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Launch, Machine};
use apron_abi::{PREFIX_VECTOR, Params, PrefixParams};
use apron_core::{BoxFilter, PixelType, Result, Scale};

/// Output rows per block where nothing was measured.
const ROWS: u32 = 24;

/// Lanes of a warp, each with a vector of samples.
const LANES: u32 = 32;

/// Samples of a strip that are lost: the first window may start anywhere in a vector.
const LOST: u32 = PREFIX_VECTOR;

/// Widest window: half of a strip's columns then have outputs.
const WIDEST: u32 = 255;

/// Output samples of a strip are a multiple of this number, so that strips begin at sectors of memory.
const SECTOR: u32 = 32;

/// Plans one warp per block.
pub(super) fn plan(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let (out, channels) = (window.out, problem.shape.channels);
    let [width, window_x] = [problem.shape.width, problem.width];
    let types = (problem.src, problem.dst, channels) == (PixelType::U8, PixelType::U8, 1);
    if !types {
        return Err(variant.refused(format!("{} to {} pixels of {channels} channels", problem.src, problem.dst)));
    }
    if !matches!(problem.scale, Scale::Mean) {
        return Err(variant.refused(format!("{} times the sums", problem.scale.factor(problem.samples()))));
    }
    let Some([multiplier, bytes]) = multiplier(problem.samples()) else {
        return Err(variant.refused(format!("means over {} pixels", problem.samples())));
    };
    if width < window_x + LOST + PREFIX_VECTOR {
        return Err(variant.refused(format!("windows of {window_x} pixels in rows of {width}")));
    }
    if window_x > WIDEST {
        return Err(variant.refused(format!("windows of {window_x} pixels")));
    }
    let outputs = (LANES * PREFIX_VECTOR - window_x - LOST) / SECTOR * SECTOR;
    let strips = out.width.div_ceil(outputs);
    // Strips of equal width.
    let outputs = out.width.div_ceil(strips).next_multiple_of(SECTOR);
    let origin_x = window.origin_x;
    let first = |strip: u32| (strip * outputs) as i32 + origin_x;
    // Whether a strip reads columns left of the image, and right of it.
    let beside = |strip: u32| (first(strip) < 0, first(strip) + (outputs + window_x) as i32 > width as i32);
    // Vectors are aligned to the right edge in strips where one could contain it; no vector may then contain the left
    // edge.
    let vector = PREFIX_VECTOR as i32;
    let is_divided = |strip: u32| {
        let (first, width) = (first(strip), width as i32);
        let has_right = first + (outputs + window_x) as i32 + vector > width;
        has_right && width % vector != 0 && (width - first + vector - 1) / vector * vector > width
    };
    if (0..strips).any(is_divided) {
        return Err(variant.refused(format!("rows of {width} pixels, whose both ends a block reads")));
    }
    // If rows are not aligned, no strip is faster than those at the edges.
    let before = (0..strips).take_while(|&strip| beside(strip).0).count() as u32;
    let behind = (before..strips).rev().take_while(|&strip| beside(strip).1).count() as u32;
    let edges = if width.is_multiple_of(PREFIX_VECTOR) { [before, behind] } else { [0; 2] };
    let rows = machine.tuning.map_or(ROWS, |tuning| tuning.rows).min(out.height).max(2).next_multiple_of(2);
    let kernel = super::find(problem, variant, "means", problem.src.element(), problem.dst.element())?;
    let params = PrefixParams {
        row_stride: problem.shape.row_samples() as u32,
        width,
        height: problem.shape.height,
        out_width: out.width,
        out_height: out.height,
        window_x,
        window_y: problem.height,
        origin_x,
        origin_y: window.origin_y,
        outputs,
        strips,
        edges,
        rows,
        border: problem.border.mode_of(problem.src).0 as u32,
        constant: problem.border.mode_of(problem.src).1 as u32,
        bias: (problem.samples() / 2) as u32,
        multiplier,
        bytes,
    };
    let launch = Launch {
        kernel,
        blocks: [strips + edges[0] + edges[1], out.height.div_ceil(rows)],
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst: 1,
        params: Params::PrefixParams(params),
        taps: [].into(),
    };
    Ok((super::buffers(problem, &window), vec![launch]))
}

/// Returns a multiplier, and the byte of the upper word of `(sum + count / 2) * multiplier` that is the rounded mean of
/// `count` bytes, an odd number above 1: as the hexadecimal digits of the byte's number in each of two words.
///
/// The rounded mean is the quotient `(sum + count / 2) / count`, rounded down. Times 2^(32 + 8 byte) / count,
/// rounded up, the product is too large by less than `256 count`, which does not reach the next multiple of
/// 2^(32 + 8 byte) / count.
fn multiplier(count: u64) -> Option<[u32; 2]> {
    (0..3u32).filter(|_| count % 2 == 1 && count > 1).find_map(|byte| {
        let unit = 1u64 << (32 + 8 * byte);
        let multiplier = u32::try_from(unit.div_ceil(count)).ok()?;
        let fits = (256 * count).checked_mul(count)? <= unit;
        fits.then_some([multiplier, byte | (4 + byte) << 4])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_core::{Border, Extent, Problem, Shape};

    fn planned(shape: Shape, [width, height]: [u32; 2]) -> Result<([u32; 2], PrefixParams)> {
        anchored(shape, [width, height], width / 2)
    }

    fn anchored(shape: Shape, [width, height]: [u32; 2], x: u32) -> Result<([u32; 2], PrefixParams)> {
        let (src, dst, border, anchor) = (PixelType::U8, PixelType::U8, Border::Reflect, (x, height / 2));
        let (scale, extent) = (Scale::Mean, Extent::Same);
        let problem = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
        let recipe = plan(&Problem::from(problem), Some("boxes-prefix"), &Machine::EMULATED)?;
        let Params::PrefixParams(params) = recipe.launches[0].params else { panic!("{recipe:?}") };
        Ok((recipe.launches[0].blocks, params))
    }

    fn gray(width: u32) -> Shape {
        Shape::new(width, 300, 1).unwrap()
    }

    #[test]
    fn windows_end_in_their_strip() {
        for width in [3, 15, 63, 255] {
            let (blocks, params) = planned(gray(4096), [width, 9]).unwrap();
            assert!(params.outputs * params.strips >= 4096, "{params:?}");
            // The last lane's last window ends inside the strip, also if the first window does not start at a vector.
            assert!(params.outputs + PREFIX_VECTOR - 1 + width < LANES * PREFIX_VECTOR, "{params:?}");
            assert_eq!(blocks, [params.strips + params.edges[0] + params.edges[1], 300_u32.div_ceil(params.rows)]);
        }
        let outputs = |width| planned(gray(4096), [width, 9]).map(|(_, params)| params.outputs).ok();
        assert_eq!([3, 63, 255, 257].map(outputs), [Some(480), Some(416), Some(224), None]);
    }

    #[test]
    fn two_blocks_share_the_rows_at_the_edges() {
        let edges = |shape, width| planned(shape, [width, 9]).map(|(_, params)| params.edges).ok();
        assert_eq!(edges(gray(4096), 3), Some([1, 1]));
        // 224 outputs per strip; the second one's windows begin inside the image.
        assert_eq!(edges(gray(4096), 255), Some([1, 2]));
        // One strip; rows that are not aligned take as long everywhere, but may not begin and end in one strip.
        assert_eq!(
            (edges(gray(400), 15), edges(gray(4095), 15), edges(gray(401), 15)),
            (Some([1, 0]), Some([0, 0]), None)
        );
    }

    #[test]
    fn no_edge_divides_a_vector() {
        // No window begins before the image, but the vectors that end at its right edge do.
        assert!(anchored(gray(67), [3, 3], 0).is_err() && anchored(gray(80), [3, 3], 0).is_ok());
        for width in (35..=1200).step_by(7) {
            for x in [0, 1, 2] {
                let Ok((_, params)) = anchored(gray(width), [3, 3], x) else { continue };
                for strip in 0..params.strips {
                    let first = (strip * params.outputs) as i32 + params.origin_x;
                    let outputs = params.outputs.min(width - strip * params.outputs);
                    // As in the kernel.
                    if first + (outputs + 3 + 16) as i32 > width as i32 {
                        let left = width as i32 - (width as i32 - first + 15) / 16 * 16;
                        assert!(left >= 0 || width % 16 == 0, "{params:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_problems_are_refused() {
        assert!(planned(Shape::new(4096, 300, 3).unwrap(), [9, 9]).is_err());
        assert!(planned(gray(4096), [2, 9]).is_err() && planned(gray(4096), [1, 1]).is_err());
        // Vectors outside the image are copies of vectors inside.
        assert!(planned(gray(80), [49, 9]).is_err() && planned(gray(80), [47, 9]).is_ok());
    }

    #[test]
    fn a_byte_of_the_product_is_the_rounded_mean() {
        assert_eq!([1, 2, 64].map(multiplier), [None; 3]);
        let counts = [3, 9, 225, 4095, 4097, 65_025, 65_537, 104_329, 1_046_529, 1_048_575];
        for count in counts {
            let [multiplier, bytes] = multiplier(count).unwrap();
            let mean = |sum: u64| ((sum + count / 2) * multiplier as u64) >> 32 >> (8 * (bytes % 16)) & 0xff;
            // Sums next to half an integer, below and above it, and the ends.
            let halves = (0..255).flat_map(|mean| [mean * count + count / 2, mean * count + count / 2 + 1]);
            for sum in halves.chain([0, 255 * count]) {
                assert!(sum + count / 2 <= u32::MAX as u64);
                assert_eq!(mean(sum), (2 * sum + count) / (2 * count), "{sum} / {count}");
            }
        }
        assert_eq!(multiplier(1_048_577), None);
    }
}
