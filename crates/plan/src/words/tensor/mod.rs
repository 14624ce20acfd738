//! Recipes of the kernels that multiply matrices of bytes, planes of samples by digits of taps, and the bounds of
//! what these leave out.

mod axes;

pub(super) use axes::{axes, means};

use crate::recipe::Steps;
use crate::summation::{Summation, exact_sums, total};
use crate::variant::Variant;
use crate::{Launch, Machine, conv2d, kernels};
use apron_abi::{
    Kernel, MAX_TAPS, Params, TENSOR_COLUMNS, TENSOR_PAIRS_COLUMNS, TENSOR_PAIRS_TAP_WORDS, TensorParams, tensor_block,
    tensor_bytes, tensor_height, tensor_pairs_bytes, tensor_pairs_height, tensor_rows, tensor_tap_words,
};
use apron_core::{Correlate, Error, PixelType, Result, Shape, Window};

/// The largest byte.
const MOST: f64 = 255.0;
/// Fewest fraction bits of taps that are split into three or four digits: with fewer, sums are halfway between two
/// integers too often.
const FEWEST_BITS: i32 = 12;

/// A mask that the kernels may take, over rows that they can address.
struct Fitting {
    window: Window,
    digits: Digits,
    /// Samples between the start of a window and its first tap: windows start at every fourth sample of the tile, whose
    /// rows start at words of the image.
    inside: u32,
    /// Samples of a row under `outputs` outputs.
    reach: u64,
}

impl Fitting {
    /// Splits the problem's mask if rows of `room` samples under `outputs` outputs suffice for it.
    fn of(problem: &Correlate, variant: &Variant, (outputs, room): (u64, u64)) -> Result<Fitting> {
        let (mask, window, channels) = (&problem.mask, problem.window()?, problem.shape.channels);
        if problem.clamp || problem.src != problem.dst || ![PixelType::U8, PixelType::U16].contains(&problem.src) {
            let what = format!("clamped sums, or {} to {} pixels", problem.src, problem.dst);
            return Err(variant.refused(what));
        }
        let samples = problem.shape.row_samples();
        if samples.max(window.out.row_samples()) >= 1 << 30 {
            return Err(variant.refused(format!("rows of {samples} samples")));
        }
        let (_, constant) = problem.border.mode();
        if !problem.src.holds(constant) {
            return Err(variant.refused(format!("a constant border of {constant}")));
        }
        let inside = (window.origin_x * channels as i32).rem_euclid(4) as u32;
        let reach = inside as u64 + outputs + (mask.width() as u64 - 1) * channels as u64;
        // Before the digits are computed: masks may be large.
        if reach > room || mask.taps().len() > MAX_TAPS {
            return Err(too_large(problem, variant));
        }
        let digits = Digits::of(mask.taps(), problem.src.size_bytes() as u32).map_err(|what| variant.refused(what))?;
        Ok(Fitting { window, digits, inside, reach })
    }

    /// Plans the launch of a kernel whose blocks compute `rows` rows of `columns` outputs, with `shared_bytes` bytes of
    /// shared memory.
    fn launch(
        &self,
        problem: &Correlate,
        kernel: Kernel,
        [columns, rows]: [u32; 2],
        shared_bytes: u32,
        words: Vec<u32>,
    ) -> Launch {
        let (out, digits) = (self.window.out, &self.digits);
        Launch {
            kernel,
            blocks: [out.row_samples().div_ceil(columns as usize) as u32, out.height.div_ceil(rows)],
            shared_bytes,
            reserved_bytes: 0,
            src: 0,
            dst: 1,
            params: Params::TensorParams(TensorParams {
                whole: conv2d::params(problem, &self.window),
                rows,
                fraction: digits.fraction,
                start: digits.start,
                odd: (digits.fraction > 0) as u32,
                doubt: digits.doubt,
                ordered: digits.ordered as u32,
                up: if digits.count >= 3 { 1 << (32 - digits.fraction) } else { 0 },
                along: 0,
            }),
            taps: problem.mask.taps().iter().copied().chain(words.into_iter().map(f32::from_bits)).collect(),
        }
    }
}

fn too_large(problem: &Correlate, variant: &Variant) -> Error {
    let (width, height, channels) = (problem.mask.width(), problem.mask.height(), problem.shape.channels);
    variant.refused(format!("{width}x{height} taps over {channels} channels"))
}

/// Returns the output rows per block: the first of `heights`, in descending order, whose grid has `resident` blocks per
/// multiprocessor and whose blocks fit shared memory; otherwise the last, if it fits. The error is the shared memory
/// that the last one needs, in bytes.
fn height_of(
    heights: &[u32],
    (columns, out): (u32, Shape),
    resident: u32,
    bytes: impl Fn(u32) -> u32,
    machine: &Machine,
) -> std::result::Result<u32, u32> {
    let strips = out.row_samples().div_ceil(columns as usize) as u64;
    let is_full =
        |rows: u32| strips * out.height.div_ceil(rows) as u64 >= resident as u64 * machine.multiprocessors as u64;
    let fits = |rows: u32| bytes(rows) <= machine.shared_bytes;
    let last = heights[heights.len() - 1];
    let rows = heights.iter().copied().find(|&rows| is_full(rows) && fits(rows)).unwrap_or(last);
    if fits(rows) { Ok(rows) } else { Err(bytes(rows)) }
}

/// Plans correlation of bytes, or of u16, with a mask of any height.
pub(super) fn rows(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (mask, src) = (&problem.mask, problem.src.element());
    let fitting = Fitting::of(problem, variant, (16, 64))?;
    let digits = &fitting.digits;
    let found = (fitting.reach.div_ceil(32) as u32..=2).find_map(|pairs| {
        let stage = format!("p{pairs}-d{}", digits.count);
        let kernel = kernels::find(variant.name, &stage, src, src)?;
        let words = digits.words(mask.width(), problem.shape.channels, (tensor_tap_words(pairs), fitting.inside));
        (mask.taps().len() + words.len() <= kernel.facts().taps.capacity()).then_some((pairs, kernel, words))
    });
    let (pairs, kernel, words) = found.ok_or_else(|| too_large(problem, variant))?;
    let at_once = tensor_block(pairs) / 32 * tensor_rows(src);
    let bytes = |rows: u32| tensor_bytes(src, pairs, digits.count as u32, mask.height(), rows);
    let out = (TENSOR_COLUMNS, fitting.window.out);
    let heights = [tensor_height(src, pairs), 2 * at_once, at_once];
    let rows = height_of(&heights, out, 3, bytes, machine)
        .map_err(|bytes| variant.refused(format!("{bytes} bytes of shared memory")))?;
    let launch = fitting.launch(problem, kernel, [TENSOR_COLUMNS, rows], bytes(rows), words);
    let of = Summation::of_dense(exact_sums(problem.src), problem, variant);
    Ok((of.buffers(fitting.window.out), vec![launch]))
}

/// Plans correlation of bytes, or of u16, with a mask of up to 9 rows.
pub(super) fn pairs(problem: &Correlate, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let (mask, src) = (&problem.mask, problem.src.element());
    let fitting = Fitting::of(problem, variant, (8, 16))?;
    let digits = &fitting.digits;
    // An odd output row takes the digits a row further down.
    let (fewest, most) = ((mask.height() / 2 + 1).max(2), 5);
    let found = (fewest..=most).find_map(|pairs| {
        kernels::find(variant.name, &format!("p{pairs}-d{}", digits.count), src, src).map(|kernel| (pairs, kernel))
    });
    let (pairs, kernel) =
        found.ok_or_else(|| variant.refused(format!("{} digits of {} rows of taps", digits.count, mask.height())))?;
    let words = digits.words(mask.width(), problem.shape.channels, (TENSOR_PAIRS_TAP_WORDS, fitting.inside));
    let bytes = |rows: u32| tensor_pairs_bytes(src, pairs, digits.count as u32, mask.height(), rows);
    let out = (TENSOR_PAIRS_COLUMNS, fitting.window.out);
    let heights = [1, 2, 4].map(|part| tensor_pairs_height(src) / part);
    let rows = height_of(&heights, out, 4, bytes, machine)
        .map_err(|bytes| variant.refused(format!("{bytes} bytes of shared memory")))?;
    let launch = fitting.launch(problem, kernel, [TENSOR_PAIRS_COLUMNS, rows], bytes(rows), words);
    let of = Summation::of_dense(exact_sums(problem.src), problem, variant);
    Ok((of.buffers(fitting.window.out), vec![launch]))
}

/// The taps of a mask as signed digits to the base 256, the lowest first.
#[derive(Debug, PartialEq)]
struct Digits {
    /// Digits per tap: for bytes 1 or 2 if they represent the taps exactly, else 3; for u16 always 4.
    count: usize,
    taps: Vec<[i8; 4]>,
    /// The fields of [`TensorParams`] with these names.
    fraction: u32,
    start: i32,
    doubt: u32,
    ordered: bool,
}

impl Digits {
    /// Splits taps for samples of `planes` bytes into digits, or returns the reason why this is impossible.
    fn of(taps: &[f32], planes: u32) -> std::result::Result<Digits, String> {
        let unit = lowest_bit(&taps.iter().map(|tap| *tap as f64).collect::<Vec<_>>());
        let total = total(taps);
        if !total.is_finite() {
            return Err(format!("taps whose sum is {total}"));
        }
        let bits = (-unit).max(0);
        // Sums below 2^53 units are exact in f64, whatever the order of their terms.
        let ordered = most_of(planes) * total >= 2f64.powi(unit.saturating_add(53));
        let exact = if planes == 1 { Digits::exact(taps, bits, total) } else { None };
        exact
            .or_else(|| Digits::rounded(taps, bits, total, planes).map(|digits| Digits { ordered, ..digits }))
            .ok_or_else(|| format!("taps of {bits} bits of fraction, {total} in all"))
    }

    /// Splits taps with `bits` fraction bits into one or two digits that represent them exactly.
    fn exact(taps: &[f32], bits: i32, total: f64) -> Option<Digits> {
        let scale = 2f64.powi(bits);
        if bits > 30 || (MOST * total + 1.0) * scale >= 2f64.powi(31) {
            return None;
        }
        let whole: Vec<i64> = taps.iter().map(|tap| (*tap as f64 * scale) as i64).collect();
        let count = if whole.iter().all(|tap| i8::try_from(*tap).is_ok()) { 1 } else { 2 };
        let taps = whole.into_iter().map(|tap| split(tap, count)).collect::<Option<_>>()?;
        let start = if bits > 0 { (1 << (bits - 1)) - 1 } else { 0 };
        Some(Digits { count, taps, fraction: bits as u32, start, doubt: 0, ordered: false })
    }

    /// Splits taps that one or two digits do not represent exactly: each tap, times `2^scale`, into three digits for
    /// samples of one plane of bytes, and four for two planes. The scale is the largest at which all digits and
    /// accumulators are in range.
    ///
    /// Let `S` be the computed sum of products, rounded down to a multiple of `256^planes`, and `R` the true sum, both
    /// in units of `256^planes / 2^scale`. Let `e` be the rounding error of a scaled tap, and, for two planes, `d` its
    /// lowest digit: the product of the lower plane and `d` is not computed. With `M` the largest sample, what is
    /// missing from `S` is bounded per sign:
    ///
    /// - `above = 1 + (M * sum of e > 0 + 255 * sum of d > 0) / 256^planes`,
    /// - `below = (M * sum of |e|, e < 0 + 255 * sum of |d|, d < 0) / 256^planes`.
    ///
    /// So `S - below <= R < S + above`. The kernel computes `S + half + most`, with `most` a whole number of at least
    /// `above`. `R` is rounded to the integer part of `R + half`, which is smaller by at most `most + below`. Both have
    /// the same integer part, unless the fraction of the computed sum is at most `doubt = most + below`. The result to
    /// match is the sum in f64 of exact products. Its error is less than `taps * 2^-53` of the largest sum, which has
    /// fewer than 2^39 units, and so less than one unit: `most` and `doubt` have one unit more for it.
    fn rounded(taps: &[f32], bits: i32, total: f64, planes: u32) -> Option<Digits> {
        if bits < FEWEST_BITS {
            return None;
        }
        let (count, base, most_sample) = (2 + planes as usize, 256f64.powi(planes as i32), most_of(planes));
        // Of two planes, sums are computed in two words, of the lower and of the higher powers.
        let (scales, room, apart) = if planes == 1 { (9..=39, 31, 0.0) } else { (26..=47, 39, 2f64.powi(31)) };
        scales.rev().find_map(|scale: i32| {
            let fraction = (scale - 8 * planes as i32) as u32;
            let (mut above, mut below, mut of_all, mut digits) = (0.0, 0.0, 0, Vec::with_capacity(taps.len()));
            for tap in taps {
                let scaled = *tap as f64 * 2f64.powi(scale);
                if scaled.abs() >= 2f64.powi(8 * count as i32) {
                    return None;
                }
                let whole = scaled.round_ties_even();
                let tap = split(whole as i64, count)?;
                let mut left_out = |rest: f64| if rest > 0.0 { above += rest } else { below -= rest };
                left_out((scaled - whole) * most_sample);
                if planes > 1 {
                    left_out(tap[0] as f64 * MOST);
                }
                of_all |= whole as i64;
                digits.push(tap);
            }
            // Other taps may be too small for a digit.
            if scale - (of_all.trailing_zeros() as i32) < FEWEST_BITS {
                return None;
            }
            let most = (1.0 + above / base).ceil() + 2.0;
            let doubt = most + (below / base).ceil() + 2.0;
            let unit = 2f64.powi(fraction as i32);
            if (most_sample * total + 1.0) * unit + most + apart >= 2f64.powi(room) || doubt * 64.0 > unit {
                return None;
            }
            let start = (1i64 << (fraction - 1)) + most as i64;
            let doubt = (doubt as u32) << (32 - fraction);
            Some(Digits { count, taps: digits, fraction, start: start as i32, doubt, ordered: false })
        })
    }

    /// Returns the digits as the words of a launch, row by row, as [`digit_words`].
    fn words(&self, width: u32, channels: u32, (of_row, inside): (u32, u32)) -> Vec<u32> {
        self.taps
            .chunks(width as usize)
            .flat_map(|row| digit_words(row, self.count, channels, (of_row, inside)))
            .collect()
    }
}

/// Returns the largest sample of `planes` bytes.
fn most_of(planes: u32) -> f64 {
    256f64.powi(planes as i32) - 1.0
}

/// Returns the exponent of the lowest bit of all taps; 0 if all taps are 0.
fn lowest_bit(taps: &[f64]) -> i32 {
    let lowest = |tap: &f64| {
        let bits = tap.to_bits();
        let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
        (bits >> 52 & 0x7ff) as i32 - 1075 + mantissa.trailing_zeros() as i32
    };
    taps.iter().filter(|tap| **tap != 0.0).map(lowest).min().unwrap_or(0)
}

/// Returns the digits of a row of taps as words, `of_row` per digit: the digit of tap i is at byte
/// `inside + i * channels`.
fn digit_words(
    row: &[[i8; 4]],
    count: usize,
    channels: u32,
    (of_row, inside): (u32, u32),
) -> impl Iterator<Item = u32> {
    (0..count).flat_map(move |digit| {
        let mut bytes = vec![0; 4 * of_row as usize];
        for (i, tap) in row.iter().enumerate() {
            bytes[inside as usize + i * channels as usize] = tap[digit] as u8;
        }
        let (words, _) = bytes.as_chunks();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<_>>()
    })
}

/// Returns `count` digits of a number, each from -128 to 127, if it has no more.
fn split(number: i64, count: usize) -> Option<[i8; 4]> {
    let (mut rest, mut digits) = (number, [0; 4]);
    for digit in &mut digits[..count] {
        *digit = rest as i8;
        rest = (rest - *digit as i64) >> 8;
    }
    (rest == 0).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number that the digits stand for, in units of the first.
    fn joined(digits: &[i8; 4]) -> i64 {
        digits.iter().rev().fold(0, |joined, digit| 256 * joined + *digit as i64)
    }

    #[test]
    fn digits_are_signed() {
        for number in [0, 1, -1, 127, 128, -128, -129, 255, 32_639, -32_896, 8_355_711, -8_421_504] {
            assert_eq!(split(number, 3).map(|digits| joined(&digits)), Some(number), "{number}");
        }
        assert_eq!((split(127, 1), split(128, 1)), (Some([127, 0, 0, 0]), None));
        assert_eq!((split(32_639, 2), split(32_640, 2)), (Some([127, 127, 0, 0]), None));
        assert_eq!((split(8_355_712, 3), split(8_355_712, 4)), (None, Some([-128, -128, -128, 1])));
    }

    #[test]
    fn few_bits_are_exact() {
        // 1, 2 and 1 quarters.
        let quarters = Digits::of(&[0.25, 0.5, 0.25], 1).unwrap();
        assert_eq!((quarters.count, quarters.fraction, quarters.start), (1, 2, 1));
        assert_eq!(quarters.taps, [[1, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]]);
        let whole = Digits::of(&[-3.0, 1000.0, 0.0], 1).unwrap();
        assert_eq!((whole.count, whole.fraction, whole.start), (2, 0, 0));
        assert_eq!(whole.taps, [[-3, 0, 0, 0], [-24, 4, 0, 0], [0, 0, 0, 0]]);
    }

    #[test]
    fn many_bits_are_bounded() {
        let taps = [0.1f32, -0.3, 0.7];
        for planes in [1, 2] {
            let digits = Digits::of(&taps, planes).unwrap();
            assert_eq!(digits.count, 2 + planes as usize);
            let scale = 2f64.powi(digits.fraction as i32 + 8 * planes as i32);
            for (tap, of) in taps.iter().zip(&digits.taps) {
                assert!((*tap as f64 * scale - joined(of) as f64).abs() <= 0.5, "{tap}: {of:?}");
            }
            // The doubtful share of the fractions is small.
            assert!(digits.doubt < u32::MAX / 64);
            assert!(digits.start > 1 << (digits.fraction - 1));
        }
    }

    /// Computes a sum as the kernel does, or `None` if it is doubtful.
    fn kernels_sum(digits: &Digits, samples: &[u16]) -> Option<i32> {
        let mut sums = [0i32; 4];
        sums[usize::from(digits.count >= 3)] = digits.start;
        let planes = if digits.count == 4 { 2 } else { 1 };
        for (tap, sample) in digits.taps.iter().zip(samples) {
            for (plane, byte) in sample.to_le_bytes().into_iter().enumerate().take(planes) {
                for (digit, number) in tap.iter().enumerate().take(digits.count) {
                    if let Some(power) = (digit + plane + 1).checked_sub(planes) {
                        sums[power] += *number as i32 * byte as i32;
                    }
                }
            }
        }
        let parts = match digits.count {
            4 => {
                let (low, high) = ((sums[0] >> 8) + sums[1], sums[2].wrapping_add(sums[3] << 8));
                (low as i64 + 256 * high as i64) << (32 - digits.fraction)
            }
            3 => (((sums[0] >> 8) + sums[1] + (sums[2] << 8)) as i64) << (32 - digits.fraction),
            _ => {
                let sum = sums[0] + (sums[1] << 8);
                let odd = (sum - digits.start) >> digits.fraction & i32::from(digits.fraction > 0);
                return Some((sum + odd) >> digits.fraction);
            }
        };
        (parts as u32 > digits.doubt).then_some((parts >> 32) as i32)
    }

    #[test]
    fn sums_that_are_not_doubtful_round_as_the_true_ones() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut certain, mut doubtful) = ([0; 2], [0; 2]);
        for n in 0..40_000 {
            let count = 1 + random(40) as usize;
            // Quarters, 16ths of up to 12 bits, quarters with a little beside one of them, and thirds.
            let mut taps: Vec<f32> = (0..count).map(|_| (random(9) as f32 - 3.0) / 4.0).collect();
            match n % 4 {
                1 => taps.iter_mut().for_each(|tap| *tap = (random(4096) as f32 - 1000.0) / 16.0),
                2 => taps[0] += [1.0, -1.0][n / 4 % 2] / 1_048_576.0,
                3 => taps
                    .iter_mut()
                    .for_each(|tap| *tap = (0.125 + tap.abs() + random(1 << 20) as f32 / 16_777_216.0) / 3.0),
                _ => {}
            }
            let planes = 1 + n / 16 % 2;
            // For u16, taps with fewer than 12 fraction bits are refused, and masks whose sums exceed the
            // accumulators' 39 bits.
            let digits = match Digits::of(&taps, planes as u32) {
                Err(_) if planes == 2 && n % 4 < 2 => continue,
                digits => digits.unwrap(),
            };
            let most = [256, 65536][planes - 1];
            let samples: Vec<u16> = (0..count).map(|_| [random(2), random(most)][n / 8 % 2] as u16).collect();
            // Exact: taps have at most 24 bits, 40 of them within a few binades.
            let sum: f64 = taps.iter().zip(&samples).map(|(tap, sample)| *tap as f64 * *sample as f64).sum();
            match kernels_sum(&digits, &samples) {
                Some(found) => {
                    assert_eq!(found as f64, sum.round_ties_even(), "{taps:?} {samples:?} {digits:?}");
                    certain[planes - 1] += 1;
                }
                None => doubtful[planes - 1] += 1,
            }
        }
        assert!(certain[0] > 15_000 && doubtful[0] > 500, "{certain:?} {doubtful:?}");
        assert!(certain[1] > 7_000 && doubtful[1] > 500, "{certain:?} {doubtful:?}");
    }

    #[test]
    fn tails_of_any_size_have_digits() {
        let gauss: Vec<f32> = (-7..=7).map(|x: i32| (-(x * x) as f32 * 1.5).exp()).collect();
        assert_eq!(Digits::of(&gauss, 1).map(|digits| (digits.count, digits.ordered)), Ok((3, true)), "{gauss:?}");
        assert_eq!(Digits::of(&[0.1, 0.7], 1).map(|digits| (digits.count, digits.ordered)), Ok((3, false)));
        // Of quarters, half of the sums would be doubtful, whatever is beside them.
        assert!(Digits::of(&[0.25, 0.5, 2f32.powi(-60)], 1).is_err());
        // 255 * 2^30 in 2^31.
        assert!(Digits::of(&[2f32.powi(30)], 1).is_err());
        assert!(Digits::of(&[f32::NAN], 1).is_err() && Digits::of(&[f32::INFINITY], 1).is_err());
    }
}
