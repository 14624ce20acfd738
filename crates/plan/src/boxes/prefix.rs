//! Recipes of means of integers by prefix sums along the rows.

use crate::machine::Tuning;
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::windows::{Kind, Prefix};
use crate::{Buffer, Launch, Machine, Role};
use apron_abi::{ElementType, PREFIX_TOTALS, PREFIX_VECTOR, Params, PrefixParams};
use apron_core::{BoxFilter, PixelType, Result, Scale};

/// Widest window of a block of one warp: half of a strip's columns then have outputs.
const WIDEST: u32 = 255;

/// Most rows of windows with large sums: two vectors of columns, and a unit of the estimate per vector, sum to less
/// than 2^31.
const TALLEST: u32 = 2047;

/// Least height of windows whose first sums come from a launch that sums chunks of rows, in rows: for samples of one
/// byte, and of two. On one H200, windows of 63x63 took 0.073 ms with that launch, by an earlier body of the kernel, and
/// 0.057 ms without it for RGBA bytes; 0.066 and 0.081 ms for u16.
const TALL: [u32; 2] = [96, 48];

/// Bits of large sums beyond 32.
const BEYOND: u32 = 5;

/// Plans blocks of one warp or of several.
pub(super) fn plan(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let window = problem.window()?;
    let shape = problem.shape;
    let window_x = problem.width;
    let large = is_large(problem.samples(), if problem.src == PixelType::U8 { 255 } else { 65_535 });
    let several = match (problem.src, shape.channels) {
        _ if problem.src != problem.dst => None,
        (PixelType::U16 | PixelType::I16, 1) if large && problem.height <= TALLEST => Some(("large", 8)),
        _ if large => None,
        (PixelType::U8 | PixelType::U16 | PixelType::I16, 1) => Some(("wide", 4)),
        (PixelType::U8, 4) => Some(("rgba", 8)),
        _ => None,
    };
    let Some(several) = several else {
        let channels = shape.channels;
        return Err(variant.refused(format!("{} to {} pixels of {channels} channels", problem.src, problem.dst)));
    };
    if !matches!(problem.scale, Scale::Mean) {
        return Err(variant.refused(format!("{} times the sums", problem.scale.factor(problem.samples()))));
    }
    let Some(division) = Division::of(problem.samples(), problem.src.size_bytes() as u32) else {
        return Err(variant.refused(format!("means over {} pixels", problem.samples())));
    };
    let prefix = Prefix::of(shape, problem.src, window, [window_x, problem.height], problem.border)
        .map_err(|windows| variant.refused(windows))?;
    let gray = (problem.src, shape.channels) == (PixelType::U8, 1);
    let Tuning { rows, residents } =
        machine.tuning.unwrap_or(Tuning { rows: 32, residents: if window_x < WIDEST / 2 { 1 } else { 4 } });
    // Gray bytes have both kinds of blocks: the preferred one if rows allow it.
    let one = (gray && window_x <= WIDEST).then_some(Kind { stage: "means", warps: 1, tall: u32::MAX });
    let several = Kind { stage: several.0, warps: several.1, tall: TALL[problem.src.size_bytes() - 1] };
    let kinds = if residents == 1 { [one, Some(several)] } else { [Some(several), one] };
    let (stage, grid) =
        prefix.grid(kinds.into_iter().flatten(), |_, _| rows).map_err(|windows| variant.refused(windows))?;
    let kernel = super::find(problem, variant, stage, problem.src.element(), problem.dst.element())?;
    // Samples of i16 are summed as the u16 that are 32768 larger.
    let constant = grid.params.constant ^ if problem.src == PixelType::I16 { 0x8000_8000 } else { 0 };
    let params = PrefixParams {
        constant,
        count: problem.samples() as u32,
        bias: (problem.samples() / 2) as u32,
        multiplier: division.multiplier,
        bytes: division.bytes,
        corrected: division.corrected as u32,
        shift: division.shift,
        halves: problem.samples().is_multiple_of(2) as u32,
        ..grid.params
    };
    let launch = |kernel: apron_abi::Kernel, blocks, dst| Launch {
        kernel,
        blocks,
        shared_bytes: kernel.facts().shared.bytes(0, 0),
        reserved_bytes: 0,
        src: 0,
        dst,
        params: Params::PrefixParams(params),
        taps: [].into(),
    };
    let (mut buffers, mut launches) = (super::buffers(problem, &window), Vec::new());
    if params.chunks > 0 {
        let totals = super::find(problem, variant, "totals", problem.src.element(), ElementType::U32)?;
        let elems = params.chunks as u64 * params.totals_pitch as u64;
        buffers.push(Buffer { role: Role::Scratch, element: ElementType::U32, elems });
        let vectors = params.totals_pitch / (PREFIX_VECTOR / problem.src.size_bytes() as u32);
        launches.push(launch(totals, [vectors.div_ceil(PREFIX_TOTALS), params.chunks], 2));
    }
    launches.push(launch(kernel, grid.blocks, 1));
    Ok((buffers, launches))
}

/// Returns whether sums of `count` samples up to `most`, and half of `count`, need more than 32 bits.
fn is_large(count: u64, most: u64) -> bool {
    most.saturating_mul(count).saturating_add(count / 2) > u32::MAX as u64
}

/// How sums become means: see [`PrefixParams`].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Division {
    multiplier: u32,
    bytes: u32,
    corrected: bool,
    shift: u32,
}

impl Division {
    /// Returns how the sums of `count` samples of `size` bytes, 1 or 2, become means, if the sums and half of `count`
    /// fit 37 bits.
    ///
    /// For an odd number the rounded mean is the quotient `(sum + count / 2) / count`, rounded down. Times
    /// `2^(32 + 8 byte) / count`, rounded up, the product is too large by less than `2^(8 size) count`, which does not
    /// reach the next multiple of `2^(32 + 8 byte) / count`: so the mean is at byte `byte` of the upper word.
    ///
    /// Otherwise, with a multiplier of 32 bits that is rounded down, the upper word shifted to the right is the quotient
    /// or one less, which the remainder tells. Large sums are shifted to 32 bits first, which lessens the quotient by
    /// less than `32 / count`.
    fn of(count: u64, size: u32) -> Option<Division> {
        let most = (1u64 << (8 * size)) - 1;
        if count < 2 || most.checked_mul(count)? + count / 2 >= 1 << (32 + BEYOND) {
            return None;
        }
        let beyond = if is_large(count, most) { BEYOND } else { 0 };
        let direct = (0..=4 - size).filter(|_| count % 2 == 1 && beyond == 0).find_map(|byte| {
            let unit = 1u64 << (32 + 8 * byte);
            let multiplier = u32::try_from(unit.div_ceil(count)).ok()?;
            let fits = ((most + 1) * count).checked_mul(count)? <= unit;
            fits.then_some(Division { multiplier, bytes: selector(byte, size), corrected: false, shift: 0 })
        });
        let shift = count.ilog2();
        let multiplier = ((1u64 << (32 + shift)) / count).min(u32::MAX as u64) as u32;
        direct.or(Some(Division { multiplier, bytes: selector(0, size), corrected: true, shift: shift - beyond }))
    }
}

/// Returns the selector of `size` bytes from byte `byte` on, in each of two words.
fn selector(byte: u32, size: u32) -> u32 {
    match size {
        1 => byte | (4 + byte) << 4,
        _ => byte | (byte + 1) << 4 | (byte + 4) << 8 | (byte + 5) << 12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use apron_abi::WINDOWS_CHUNK;
    use apron_core::{Border, Extent, Problem, Shape};

    fn planned(shape: Shape, [width, height]: [u32; 2]) -> Result<([u32; 2], PrefixParams)> {
        anchored(shape, PixelType::U8, [width, height], width / 2)
    }

    /// Returns the blocks and parameters of the last launch.
    fn anchored(shape: Shape, src: PixelType, [width, height]: [u32; 2], x: u32) -> Result<([u32; 2], PrefixParams)> {
        let (dst, border, anchor) = (src, Border::Reflect, (x, height / 2));
        let (scale, extent) = (Scale::Mean, Extent::Same);
        let problem = BoxFilter { shape, src, dst, width, height, anchor, border, scale, extent };
        let tuning = Some(Tuning { rows: 24, residents: if width < 128 { 1 } else { 4 } });
        let recipe = plan(&Problem::from(problem), Some("boxes-prefix"), &Machine { tuning, ..Machine::EMULATED })?;
        let launch = recipe.launches.last().unwrap();
        let Params::PrefixParams(params) = launch.params else { panic!("{recipe:?}") };
        assert_eq!(recipe.launches.len(), 1 + usize::from(params.chunks > 0));
        Ok((launch.blocks, params))
    }

    fn gray(width: u32) -> Shape {
        Shape::new(width, 300, 1).unwrap()
    }

    #[test]
    fn windows_end_in_their_strip() {
        let rgba = Shape::new(4096, 300, 4).unwrap();
        for (src, shape, width, height, pixels) in [
            (PixelType::U8, gray(4096), 3, 9, 32 * 16),
            (PixelType::U8, gray(4096), 63, 9, 32 * 16),
            (PixelType::U8, gray(4096), 255, 9, 4 * 32 * 16),
            (PixelType::U8, gray(4096), 1023, 140, 4 * 32 * 16),
            (PixelType::U16, gray(4096), 63, 140, 4 * 32 * 8),
            (PixelType::I16, gray(4096), 599, 3, 4 * 32 * 8),
            (PixelType::U16, gray(4096), 511, 511, 8 * 32 * 8),
            (PixelType::U8, rgba, 255, 99, 8 * 32 * 4),
        ] {
            let (blocks, params) = anchored(shape, src, [width, height], width / 2).unwrap();
            assert!(params.outputs * params.strips >= 4096, "{params:?}");
            // The last lane's last window ends inside the strip, also if the first window does not start at a vector.
            let vector = PREFIX_VECTOR / src.size_bytes() as u32 / shape.channels;
            assert!(params.outputs + vector - 1 + width < pixels, "{params:?}");
            assert_eq!(blocks, [params.strips + params.edges[0] + params.edges[1], 300_u32.div_ceil(params.rows)]);
            // Blocks begin at chunks, which cover the first windows of the last block.
            if params.chunks > 0 {
                assert!(params.rows.is_multiple_of(WINDOWS_CHUNK) && height >= TALL[src.size_bytes() - 1]);
                let last = (blocks[1] - 1) * params.rows / WINDOWS_CHUNK;
                assert_eq!(params.chunks, last + height / WINDOWS_CHUNK);
            }
        }
        let outputs = |width| planned(gray(4096), [width, 9]).map(|(_, params)| params.outputs).ok();
        assert_eq!([3, 63, 255, 1327, 1329].map(outputs), [Some(480), Some(416), Some(1376), Some(704), None]);
    }

    #[test]
    fn two_blocks_share_the_rows_at_the_edges() {
        let edges = |shape, width| planned(shape, [width, 9]).map(|(_, params)| params.edges).ok();
        assert_eq!(edges(gray(4096), 3), Some([1, 1]));
        // Several warps per block. Two strips where the only one would divide a vector.
        assert_eq!(edges(gray(4096), 255), Some([0, 0]));
        let strips = |width| planned(gray(width), [255, 9]).map(|(blocks, _)| blocks[0]).ok();
        assert_eq!([1360, 1366, 290].map(strips), [Some(1), Some(2), None]);
        // One strip; rows that are not aligned take as long everywhere.
        assert_eq!(
            (edges(gray(400), 15), edges(gray(4095), 15), edges(gray(401), 15)),
            (Some([1, 0]), Some([0, 0]), Some([0, 0]))
        );
    }

    #[test]
    fn no_edge_divides_a_vector() {
        // No window begins before the image, but the vectors that end at its right edge do.
        let bytes = |width, x| anchored(gray(width), PixelType::U8, [3, 3], x);
        assert!(bytes(67, 0).is_err() && bytes(80, 0).is_ok());
        for (src, vector) in [(PixelType::U8, 16), (PixelType::U16, 8)] {
            for width in (35..=1200).step_by(7) {
                for x in [0, 1, 2] {
                    let Ok((_, params)) = anchored(gray(width), src, [3, 3], x) else { continue };
                    for strip in 0..params.strips {
                        let first = (strip * params.outputs) as i32 + params.origin_x;
                        let outputs = params.outputs.min(width - strip * params.outputs);
                        // As in the kernel.
                        if first + (outputs + 3) as i32 + vector > width as i32 {
                            let left = width as i32 - (width as i32 - first + vector - 1) / vector * vector;
                            assert!(left >= 0 || width as i32 % vector == 0, "{params:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn other_problems_are_refused() {
        assert!(planned(Shape::new(4096, 300, 3).unwrap(), [9, 9]).is_err());
        assert!(planned(gray(4096), [1, 1]).is_err() && planned(gray(4096), [2, 1]).is_ok());
        // Vectors outside the image are copies of vectors inside.
        assert!(planned(gray(80), [49, 9]).is_err() && planned(gray(80), [47, 9]).is_ok());
        // Sums and half of the number of samples fit 37 bits.
        let u16 = |width, height| anchored(gray(4096), PixelType::U16, [width, height], 128).is_ok();
        assert!(u16(256, 257) && u16(256, 2047) && !u16(256, 2048) && u16(1000, 2047) && !u16(1100, 2047));
    }

    /// As the kernel computes it.
    fn mean(division: Division, count: u64, size: u32, sum: u64) -> u64 {
        let large = is_large(count, (1 << (8 * size)) - 1);
        let upper = ((sum + count / 2) >> if large { BEYOND } else { 0 }) as u32;
        let quotient = ((upper as u64 * division.multiplier as u64) >> 32) as u32;
        if !division.corrected {
            return (quotient >> (8 * (division.bytes & 15))) as u64 & ((1 << (8 * size)) - 1);
        }
        let (mut quotient, count) = (quotient >> division.shift, count as u32);
        let mut rest = ((sum + count as u64 / 2) as u32).wrapping_sub(quotient.wrapping_mul(count));
        if rest >= count {
            (quotient, rest) = (quotient + 1, rest - count);
        }
        (if rest == 0 { quotient & !(count.is_multiple_of(2) as u32) } else { quotient }) as u64
    }

    #[test]
    fn means_are_rounded_quotients() {
        let counts = [2, 3, 4, 9, 64, 225, 255, 256, 257, 3969, 4095, 4096, 4097, 65_025, 65_536];
        let more = [65_537, 104_329, 1_046_529, 1_048_575, 1_048_576, 1_048_577, 16_777_215];
        for (size, count) in [1, 2].into_iter().flat_map(|size| counts.into_iter().chain(more).map(move |n| (size, n)))
        {
            let Some(division) = Division::of(count, size) else {
                assert!(size == 2 && count > 1 << 21);
                continue;
            };
            let most = (1u64 << (8 * size)) - 1;
            // Sums next to half an integer, below and above it, and the ends.
            let halves =
                (0..most).flat_map(|mean| (0..3).map(move |n| (mean * count + count / 2 + n).saturating_sub(1)));
            for sum in halves.chain([0, most * count]).filter(|&sum| sum <= most * count) {
                let down = (2 * sum + count) / (2 * count);
                let is_half = (2 * sum + count) % (2 * count) == 0;
                let expected = if is_half && down % 2 == 1 { down - 1 } else { down };
                assert_eq!(mean(division, count, size, sum), expected, "{sum} / {count} {division:?}");
            }
        }
        // Most means of bytes need no remainder.
        let corrected = |count, size| Division::of(count, size).map(|division| division.corrected);
        assert_eq!([225, 65_025, 64].map(|count| corrected(count, 1)), [Some(false), Some(false), Some(true)]);
        assert_eq!([225, 3969, 65_025].map(|count| corrected(count, 2)), [Some(false), Some(false), Some(true)]);
    }
}
