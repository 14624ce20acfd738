//! Recipes of the kernels that multiply matrices of bytes along both axes: digits of both axes' taps, and the
//! bound of a sum's error.

use super::{FEWEST_BITS, MOST, digit_words, height_of, lowest_bit, split};
use crate::recipe::Steps;
use crate::variant::Variant;
use crate::{Buffer, Launch, Machine, Role, kernels};
use apron_abi::{
    Conv2dParams, Params, TENSOR_AXES_COLUMNS, TENSOR_AXES_HEIGHT, TENSOR_AXES_SIDE, TENSOR_AXES_WINDOWS, TensorParams,
    tensor_axes_bytes, tensor_axes_taps, tensor_tap_words,
};
use apron_core::{Border, BoxFilter, PixelType, Result, Scale, Separable, Shape, Window};

/// Plans a separable filter of bytes.
pub(in crate::words) fn axes(problem: &Separable, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let axes = [problem.taps_x.taps(), problem.taps_y.taps()];
    let [x, y] = axes.map(|taps| taps.iter().map(|tap| *tap as f64).collect());
    let image = Image { shape: problem.shape, types: [problem.src, problem.dst], border: problem.border };
    let window = problem.window()?;
    image.steps([x, y], &window, variant, machine, Digits::of)
}

/// Plans means of bytes over an odd number of samples: the taps along rows are 1, those down columns the reciprocal of
/// the number.
pub(in crate::words) fn means(problem: &BoxFilter, variant: &Variant, machine: &Machine) -> Result<Steps> {
    let samples = problem.samples();
    if problem.scale != Scale::Mean || samples.is_multiple_of(2) {
        return Err(variant.refused(format!("means of {samples} samples, or other than means")));
    }
    let axes = [vec![1.0; problem.width as usize], vec![1.0 / samples as f64; problem.height as usize]];
    let image = Image { shape: problem.shape, types: [problem.src, problem.dst], border: problem.border };
    image.steps(axes, &problem.window()?, variant, machine, |x, y| Digits::of_means(x, y, samples))
}

/// The input of a filter, and the type of its output.
struct Image {
    shape: Shape,
    types: [PixelType; 2],
    border: Border,
}

impl Image {
    /// Plans the launch of the variant's kernel for these taps along the rows and down the columns.
    fn steps(
        &self,
        [x, y]: [Vec<f64>; 2],
        window: &Window,
        variant: &Variant,
        machine: &Machine,
        digits: impl Fn(&[f64], &[f64]) -> std::result::Result<Digits, String>,
    ) -> Result<Steps> {
        let (shape, channels, [src, dst]) = (self.shape, self.shape.channels, self.types);
        if [src, dst] != [PixelType::U8; 2] {
            return Err(variant.refused(format!("{src} to {dst} pixels")));
        }
        let samples = shape.row_samples();
        if samples.max(window.out.row_samples()) >= 1 << 30 {
            return Err(variant.refused(format!("rows of {samples} samples")));
        }
        let (mode, constant) = self.border.mode();
        if !src.holds(constant) {
            return Err(variant.refused(format!("a constant border of {constant}")));
        }
        let inside = (window.origin_x * channels as i32).rem_euclid(4) as u32;
        let reach = inside as u64 + TENSOR_AXES_SIDE as u64 + (x.len() as u64 - 1) * channels as u64;
        let windows = reach.div_ceil(32).min(u32::MAX as u64) as u32;
        let fits = |pairs: u32| y.len() <= tensor_axes_taps(pairs) as usize && windows <= TENSOR_AXES_WINDOWS;
        // The kernel with the fewest pairs of groups of 16 rows.
        let found = [1, 2].into_iter().filter(|&pairs| fits(pairs)).find_map(|pairs| {
            let stage = if pairs == 1 { format!("w{windows}") } else { format!("p{pairs}") };
            Some((pairs, kernels::find(variant.kernels, &stage, src.element(), dst.element())?))
        });
        let Some((pairs, kernel)) = found else {
            return Err(variant.refused(format!("{}x{} taps over {channels} channels", x.len(), y.len())));
        };
        let digits = digits(&x, &y).map_err(|what| variant.refused(what))?;
        let columns = TENSOR_AXES_COLUMNS;
        let bytes = |rows: u32| tensor_axes_bytes(windows, pairs, y.len() as u32, rows);
        let heights = [TENSOR_AXES_HEIGHT, TENSOR_AXES_HEIGHT / 2, TENSOR_AXES_HEIGHT / 4];
        let resident = if pairs == 1 { 3 } else { 2 };
        let rows = height_of(&heights, (columns, window.out), resident, bytes, machine)
            .map_err(|bytes| variant.refused(format!("{bytes} bytes of shared memory")))?;
        let words = digit_words(&digits.along_rows, 3, channels, (tensor_tap_words(windows), inside))
            .chain(digit_words(&digits.down_columns, 3, 1, (tensor_tap_words(pairs), 0)));
        let launch = Launch {
            kernel,
            blocks: [window.out.row_samples().div_ceil(columns as usize) as u32, window.out.height.div_ceil(rows)],
            shared_bytes: bytes(rows),
            reserved_bytes: 0,
            src: 0,
            dst: 1,
            params: Params::TensorParams(TensorParams {
                whole: Conv2dParams {
                    width: shape.width,
                    height: shape.height,
                    row_stride: samples as u32,
                    out_width: window.out.width,
                    out_height: window.out.height,
                    channels,
                    mask_width: x.len() as u32,
                    mask_height: y.len() as u32,
                    origin_x: window.origin_x,
                    origin_y: window.origin_y,
                    border: mode as u32,
                    constant,
                    ..Conv2dParams::default()
                },
                rows,
                fraction: digits.fraction,
                doubt: digits.doubt,
                up: 1 << (32 - digits.fraction),
                along: digits.along,
                ..TensorParams::default()
            }),
            taps: x.iter().chain(&y).map(|tap| *tap as f32).chain(words.map(f32::from_bits)).collect(),
        };
        let buffers = vec![
            Buffer { role: Role::Input, element: src.element(), elems: shape.samples() },
            Buffer { role: Role::Output, element: dst.element(), elems: window.out.samples() },
        ];
        Ok((buffers, vec![launch]))
    }
}

/// Three signed digits of each tap to the base 256, the lowest first, and the constants that kernels add to the sums.
#[derive(Debug, PartialEq)]
struct Digits {
    along_rows: Vec<[i8; 4]>,
    down_columns: Vec<[i8; 4]>,
    /// The fields of [`TensorParams`] with these names.
    along: i32,
    fraction: u32,
    doubt: u32,
}

/// The taps of an axis, times `2^scale`, as digits.
struct Scaled {
    scale: i32,
    digits: Vec<[i8; 4]>,
    /// The scaled taps, rounded to integers, which the digits represent.
    whole: Vec<i64>,
    /// The scaled taps less their integers.
    rests: Vec<f64>,
}

impl Scaled {
    fn of(taps: &[f64], scale: i32) -> Option<Scaled> {
        let mut scaled = Scaled { scale, digits: Vec::new(), whole: Vec::new(), rests: Vec::with_capacity(taps.len()) };
        for tap in taps {
            let number = tap * 2f64.powi(scale);
            if number.abs() >= 2f64.powi(24) {
                return None;
            }
            let whole = number.round_ties_even();
            scaled.rests.push(number - whole);
            scaled.whole.push(whole as i64);
            scaled.digits.push(split(whole as i64, 3)?);
        }
        Some(scaled)
    }

    /// Returns the fraction bits that the integers use.
    fn bits(&self) -> i32 {
        self.scale - self.whole.iter().fold(0, |all, whole| all | whole).trailing_zeros() as i32
    }
}

/// Returns the sum of the positive numbers, and the sum of the magnitudes of the others.
fn parts(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    numbers.fold((0.0, 0.0), |(up, down), number| if number > 0.0 { (up + number, down) } else { (up, down - number) })
}

impl Digits {
    /// Splits the taps into digits, or returns the reason why this is impossible.
    ///
    /// Along a row, let A be the integers, `a * 2^scale = A + e` the scaled taps, and U the true sum in units of
    /// `2^-F`, with F the scale less 8. The kernel computes `h = floor(sum of A * sample / 256) + along`, so
    /// `U + along - 1 - 255 / 256 * (sum of the positive e) < h <= U + along + 255 / 256 * (sum of the other |e|)`.
    /// h must not be negative or exceed 24 bits; F is the largest that satisfies this.
    ///
    /// Down a column, let B be the integers of the taps b, with remainders r, and V the true sum in units of `2^-f`,
    /// with `f = F + scale - 16`. The kernel computes `S = (sum of B * h) / 2^16`. It omits the products of the lowest
    /// digits and the lowest bytes, and rounds the next ones down. So `S - along * (sum of B) / 2^16 - V` is the sum of
    /// four errors: that of rounding down, above -1 and at most 0; the omitted products, at most 255 per unit of a
    /// lowest digit; `-r * U`; and B times the error of h. The last three are divided by `2^16`. The sum is between
    /// `-low` and `high`, and `along` is the least number that makes S at least V and a half, even if f64, which
    /// defines the result, rounds V up by a unit: V has fewer than 31 bits. This requires that the taps down the
    /// columns have a positive sum.
    ///
    /// The result is the integer part of V and a half. S has the same integer part, unless its fraction is at most
    /// `doubt`, the largest possible excess of S.
    fn of(x: &[f64], y: &[f64]) -> std::result::Result<Digits, String> {
        let [total_x, total_y] = [x, y].map(|taps| taps.iter().map(|tap| tap.abs()).sum::<f64>());
        let bits = -(lowest_bit(x) + lowest_bit(y));
        if !(total_x * total_y).is_finite() {
            return Err(format!("taps whose sums are {total_x} and {total_y}"));
        }
        let refused = || format!("taps of {bits} bits of fraction, {total_x} and {total_y} in all");
        if bits < FEWEST_BITS {
            return Err(refused());
        }
        // Both axes are negated if the sum down a column would be negative.
        let sign = if y.iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        let [x, y] = [x, y].map(|taps| taps.iter().map(|tap| tap * sign).collect::<Vec<_>>());
        let (above, below) = parts(x.iter().copied());
        let along_rows = |scale: i32| {
            let scaled = Scaled::of(&x, scale)?;
            let (up, down) = parts(scaled.rests.iter().copied());
            let unit = MOST * 2f64.powi(scale - 8);
            let (sums, errors) = ((-unit * below, unit * above), (1.0 + up * MOST / 256.0, down * MOST / 256.0));
            (sums.1 - sums.0 < 2f64.powi(24)).then_some((scaled, sums, errors))
        };
        let down_columns = |first: &Scaled, sums: (f64, f64), errors: (f64, f64), scale: i32| {
            let scaled = Scaled::of(&y, scale)?;
            let fraction = first.scale + scale - 24;
            if !(2..=31).contains(&fraction) || first.bits() + scaled.bits() < FEWEST_BITS {
                return None;
            }
            let (up, down) = parts(scaled.rests.iter().copied());
            let (weight_up, weight_down) = parts(scaled.whole.iter().map(|whole| *whole as f64));
            let (left_up, left_down) = parts(scaled.digits.iter().map(|digits| digits[0] as f64));
            let high = down * sums.1 - up * sums.0 + weight_up * errors.1 + weight_down * errors.0 + MOST * left_down;
            let low = up * sums.1 - down * sums.0 + weight_up * errors.0 + weight_down * errors.1 + MOST * left_up;
            let (high, low) = (high / 65536.0, low / 65536.0 + 1.0);
            let (half, weight) = (2f64.powi(fraction - 1), (weight_up - weight_down) / 65536.0);
            let along = ((half + low + 1.0) / weight).max(errors.0 - sums.0).ceil();
            let doubt = (along * weight + high - half).ceil() + 2.0;
            let fits = weight > 0.0 && along + sums.1 + errors.1 + 1.0 < 2f64.powi(24);
            let has_room = (MOST * total_x * total_y + 0.5) * 2.0 * half + doubt < 2f64.powi(31);
            if !fits || !has_room || doubt * 128.0 > 2.0 * half {
                return None;
            }
            let (along, doubt) = (along as i32, (doubt as u32) << (32 - fraction));
            Some((scaled.digits, along, fraction as u32, doubt))
        };
        (8..=39)
            .rev()
            .find_map(|scale| {
                let (first, sums, errors) = along_rows(scale)?;
                let second = (8..=39).rev().find_map(|scale| down_columns(&first, sums, errors, scale));
                let (down_columns, along, fraction, doubt) = second?;
                Some(Digits { along_rows: first.digits, down_columns, along, fraction, doubt })
            })
            .ok_or_else(refused)
    }

    /// As [`of`](Digits::of), for means of an odd number of samples. A mean is at least half of the reciprocal of that
    /// number away from halfway between two integers: if the error is smaller, no sum is doubtful.
    fn of_means(x: &[f64], y: &[f64], samples: u64) -> std::result::Result<Digits, String> {
        let digits = Digits::of(x, y)?;
        if digits.doubt as f64 / 2f64.powi(32) >= 0.5 / samples as f64 {
            return Err(format!("means of {samples} samples"));
        }
        Ok(Digits { doubt: 0, ..digits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds a sum as the kernel does, or returns `None` if it is doubtful; `samples` are rows.
    fn kernels_sum(digits: &Digits, samples: &[Vec<u8>]) -> Option<i32> {
        let mut sums = [0i32; 4];
        for (row, of_row) in samples.iter().enumerate() {
            let mut along = [0, digits.along, 0];
            for (tap, &sample) in digits.along_rows.iter().zip(of_row) {
                (0..3).for_each(|k| along[k] += tap[k] as i32 * sample as i32);
            }
            let h = (along[0] >> 8) + along[1] + (along[2] << 8);
            assert!((0..1 << 24).contains(&h), "{h} of {digits:?}");
            let bytes = h.to_le_bytes();
            for digit in 0..3 {
                for byte in 0..3 {
                    if digit + byte > 0 {
                        sums[digit + byte - 1] += digits.down_columns[row][digit] as i32 * bytes[byte] as i32;
                    }
                }
            }
        }
        let low = (sums[0] >> 8).wrapping_add(sums[1]);
        let sum = low.wrapping_add(sums[2].wrapping_add(sums[3] << 8) << 8);
        let parts = sum as i64 * (1i64 << (32 - digits.fraction));
        (parts as u32 > digits.doubt).then_some((parts >> 32) as i32)
    }

    /// The sum as the reference takes it.
    fn sum(x: &[f32], y: &[f32], samples: &[Vec<u8>]) -> f64 {
        samples.iter().zip(y).fold(0.0, |sum, (row, tap)| {
            let along = row.iter().zip(x).fold(0.0, |sum, (&sample, &tap)| (tap as f64).mul_add(sample as f64, sum));
            (*tap as f64).mul_add(along, sum)
        })
    }

    #[test]
    fn sums_that_are_not_doubtful_round_as_the_true_ones() {
        let mut state = 7u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let (mut certain, mut doubtful, mut refused) = (0, 0, 0);
        for n in 0..20_000 {
            let sign = [1.0, -1.0][n / 8 % 2];
            let mut axis = |is_down: bool| -> Vec<f32> {
                let count = 1 + random(if n % 5 == 0 { 49 } else { 17 }) as usize;
                let sigma = 0.3 + random(1000) as f32 / 200.0;
                let gauss = |i: usize| (-(i as f32 - count as f32 / 2.0).powi(2) / (2.0 * sigma * sigma)).exp();
                let mut taps: Vec<f32> = (0..count).map(gauss).collect();
                let all: f32 = taps.iter().sum();
                match n % 4 {
                    // Gaussian, some with a negative centre, any number, and quarters with a little beside one of them.
                    0 => taps.iter_mut().for_each(|tap| *tap /= all),
                    1 => {
                        taps.iter_mut().for_each(|tap| *tap /= all);
                        taps[count / 2] *= if is_down { -0.25 } else { 1.0 };
                    }
                    2 => taps.iter_mut().for_each(|tap| *tap = random(1 << 20) as f32 / 1_000_000.0),
                    _ => {
                        taps.iter_mut().for_each(|tap| *tap = (random(5) as f32 - is_down as u32 as f32) / 4.0);
                        taps[0] += 1.0 / 1_048_576.0;
                    }
                }
                taps.into_iter().map(|tap| tap * sign).collect()
            };
            let (x, y) = (axis(false), axis(true));
            let [x64, y64] = [&x, &y].map(|taps| taps.iter().map(|tap| *tap as f64).collect::<Vec<_>>());
            let Ok(digits) = Digits::of(&x64, &y64) else {
                refused += 1;
                continue;
            };
            for bright in [256, 2, 200] {
                let sample = |random: &mut dyn FnMut(u64) -> u64| match bright {
                    200 => 255 - random(2) as u8,
                    bright => random(bright) as u8,
                };
                let samples: Vec<Vec<u8>> = y.iter().map(|_| x.iter().map(|_| sample(&mut random)).collect()).collect();
                match kernels_sum(&digits, &samples) {
                    Some(found) => {
                        let sum = sum(&x, &y, &samples);
                        assert_eq!(found as f64, sum.round_ties_even(), "{x:?} {y:?} {samples:?} {digits:?}");
                        certain += 1;
                    }
                    None => doubtful += 1,
                }
            }
        }
        assert!(certain > 45_000 && doubtful > 100 && refused < 5_000, "{certain} {doubtful} {refused}");
    }

    #[test]
    fn a_gaussian_is_rarely_doubtful() {
        let gauss: Vec<f64> = (-8..=8).map(|x: i32| ((-(x * x) as f32 / 14.0).exp() / 6.63) as f64).collect();
        let digits = Digits::of(&gauss, &gauss).unwrap();
        assert!(digits.doubt < (1 << 22) && digits.fraction == 23, "{digits:?}");
        // Sixteenths: many sums are halves.
        assert!(Digits::of(&[0.25, 0.5, 0.25], &[0.25, 0.5, 0.25]).is_err());
        assert!(Digits::of(&[f64::NAN], &[1.0]).is_err() && Digits::of(&[1e30], &[1e30]).is_err());
    }

    #[test]
    fn means_are_never_doubtful() {
        // All windows of up to 1000 samples are taken.
        for (width, height) in
            (1..=205).step_by(2).flat_map(|width| (1..=49).step_by(2).map(move |height| (width, height)))
        {
            let samples: usize = width * height;
            let axes = [vec![1.0; width], vec![1.0 / samples as f64; height]];
            assert!(samples > 1000 || samples == 1 || Digits::of_means(&axes[0], &axes[1], samples as u64).is_ok());
        }
        for (width, height) in [(3, 3), (15, 15), (17, 17), (1, 5), (63, 17), (65, 1), (31, 31), (49, 49)] {
            let samples = width * height;
            let [x, y] = [vec![1.0; width], vec![1.0 / samples as f64; height]];
            let digits = Digits::of_means(&x, &y, samples as u64).unwrap();
            // The sums next to all halves.
            for mean in 0..255 {
                for sum in [mean * samples + samples / 2, mean * samples + samples / 2 + 1] {
                    let mut rest = sum;
                    let mut sample = || {
                        let sample = rest.min(255);
                        rest -= sample;
                        sample as u8
                    };
                    let rows: Vec<Vec<u8>> = (0..height).map(|_| (0..width).map(|_| sample()).collect()).collect();
                    let expected = (sum as f64 / samples as f64).round() as i32;
                    assert_eq!(kernels_sum(&digits, &rows), Some(expected), "{width}x{height} {sum} {digits:?}");
                }
            }
        }
    }
}
