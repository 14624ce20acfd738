//! Error bounds of f32 sums that are rounded to integers.

use apron_core::{Correlate, PixelType};

/// Largest usable bound: beyond it, too many sums would have to be recomputed in f64.
pub(crate) const MOST_SLACK: f32 = 1.0 / 512.0;

/// Returns a bound on the difference between an f32 sum of the problem's bytes times taps and the f64 sum; infinite for
/// samples other than bytes.
///
/// A sum of `n` fused multiply-adds is off by at most `n * 2^-24 * S / (1 - n * 2^-24)`, with `S` the sum of |tap *
/// sample| (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1); in f64 by 2^-29 of that. Sums are
/// exact if taps and samples are multiples of some unit and every sum is below 2^24 units.
pub(crate) fn slack(problem: &Correlate) -> f32 {
    if problem.src != PixelType::U8 {
        return f32::INFINITY;
    }
    let (_, constant) = problem.border.mode();
    let most = (constant.abs() as f64).max(255.0);
    let taps = problem.mask.taps();
    let sum = taps.iter().map(|tap| tap.abs() as f64).sum::<f64>() * most;
    let unit = taps.iter().map(|&tap| unit(tap)).fold(f64::INFINITY, f64::min);
    if constant.fract() == 0.0 && sum < unit * 2f64.powi(24) {
        return 0.0;
    }
    let count = taps.len() as f64;
    // One more for adding the bound to an f32 sum, and one for the f64 sum and the quotient above.
    ((count + 2.0) * 2f64.powi(-24) * sum) as f32
}

/// As [`slack`], for the marching kernels' sums of bytes, which start at `-slack`: 0 where the sums are exact, infinite
/// where the taps are so large that sums might overflow.
///
/// With u = 2^-24, each multiply-add rounds a partial sum, with an error of at most u times its magnitude, or 2^-150 if
/// it is denormal. Partial sums are at most 255 A(1), 255 A(2), ..., with A(k) the sum of the first k |tap|. Adding
/// twice the slack, as the kernel does, rounds once; sums above 255.5 do not matter.
pub(crate) fn dense_slack(taps: &[f32]) -> f32 {
    let sizes = Sizes::of(taps);
    if sizes.total > MOST_TOTAL {
        return f32::INFINITY;
    }
    if exact(sizes.total, sizes.unit) {
        return 0.0;
    }
    started(MOST_BYTE * sizes.partial, taps.len())
}

/// As [`dense_slack`], for sums along `taps_y` of sums along `taps_x`.
///
/// The errors along the rows, as above, are weighted by `taps_y`; the sums along the columns add the errors of their
/// own partial sums, which are at most 255 A(n) B(1), 255 A(n) B(2), ..., with B(k) the sum of the first k |tap| of
/// `taps_y`.
pub(crate) fn separable_slack(taps_x: &[f32], taps_y: &[f32]) -> f32 {
    let (x, y) = (Sizes::of(taps_x), Sizes::of(taps_y));
    let total = x.total * y.total;
    if x.total.max(y.total).max(total) > MOST_TOTAL {
        return f32::INFINITY;
    }
    if exact(x.total, x.unit) && exact(total, x.unit * y.unit) {
        return 0.0;
    }
    let denormal = (taps_x.len() as f64 * y.total).ceil() as usize + taps_y.len();
    started(MOST_BYTE * (x.partial * y.total + x.total * y.partial), denormal)
}

/// The largest sample.
const MOST_BYTE: f64 = 255.0;
/// Largest sum of |tap| for which no sum overflows.
const MOST_TOTAL: f64 = 1e30;

/// Returns whether all sums of bytes times taps that are multiples of `unit` are exact.
fn exact(total: f64, unit: f64) -> bool {
    MOST_BYTE * total <= unit * 2f64.powi(24)
}

/// Returns the slack of sums that start at `-slack`: `partial` is the sum of the magnitudes of all rounded partial
/// sums, `denormal` the number of them that may be denormal.
fn started(partial: f64, denormal: usize) -> f32 {
    let error = (partial + 256.0) * 2f64.powi(-24) + denormal as f64 * 2f64.powi(-150);
    // A factor of 1.001 covers the start value, which enlarges the partial sums, second-order errors, and the f64 sum,
    // whose errors are 2^-29 times as large.
    ((error * 1.001) as f32).next_up()
}

/// Properties of taps that the bounds depend on.
struct Sizes {
    /// The sum of |tap|.
    total: f64,
    /// The sum of all partial sums of |tap|.
    partial: f64,
    /// The largest power of two that divides all taps; infinite if all are 0.
    unit: f64,
}

impl Sizes {
    fn of(taps: &[f32]) -> Sizes {
        let mut sizes = Sizes { total: 0.0, partial: 0.0, unit: f64::INFINITY };
        for &tap in taps {
            sizes.total += tap.abs() as f64;
            sizes.partial += sizes.total;
            sizes.unit = sizes.unit.min(unit(tap));
        }
        sizes
    }
}

/// Returns the largest power of two that divides a number; infinite for 0.
fn unit(number: f32) -> f64 {
    let bits = number.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xff) as i32, bits & 0x7f_ffff);
    if number == 0.0 {
        return f64::INFINITY;
    }
    let (exponent, fraction) = if exponent == 0 { (1, fraction) } else { (exponent, fraction | 0x80_0000) };
    2f64.powi(exponent - 150 + fraction.trailing_zeros() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::{Border, Extent, Mask, Shape};

    fn slack_of(taps: &[f32], border: Border, src: PixelType) -> f32 {
        let mask = Mask::new(taps.len() as u32, 1, taps.to_vec()).unwrap();
        let shape = Shape::new(9, 9, 1).unwrap();
        slack(&Correlate { shape, src, dst: PixelType::U8, mask, border, clamp: false, extent: Extent::Same })
    }

    #[test]
    fn a_unit_is_the_lowest_bit() {
        for (number, expected) in [(1.0, 1.0), (0.75, 0.25), (-6.0, 2.0), (3.5, 0.5), (0.0, f64::INFINITY)] {
            assert_eq!(unit(number), expected, "{number}");
        }
        assert_eq!(unit(f32::from_bits(3)), 2f64.powi(-149));
        assert_eq!(unit(0.1f32), 2f64.powi(-27));
    }

    #[test]
    fn nothing_is_lost_of_few_bits() {
        let (replicate, u8) = (Border::Replicate, PixelType::U8);
        assert_eq!(slack_of(&[0.0625, 0.25, 0.375, 0.25, 0.0625], replicate, u8), 0.0);
        assert!(slack_of(&[0.0625, 0.25, 0.375, 0.25, 0.0625], Border::Constant(0.1), u8) > 0.0);
        // 2^24 units are not exact: 257 * 255 * 2^8 + 255 is one unit less.
        assert_eq!(slack_of(&[257.0, 2f32.powi(-8)], replicate, u8), 0.0);
        assert!(slack_of(&[257.0, 2f32.powi(-9)], replicate, u8) > 0.0);
    }

    #[test]
    fn other_sums_are_bounded() {
        let third = 1.0f32 / 3.0;
        let bound = slack_of(&[third; 3], Border::Replicate, PixelType::U8);
        assert_eq!(bound, (5.0 * 2f64.powi(-24) * 255.0 * 3.0 * third as f64) as f32);
        assert!(bound < MOST_SLACK);
        assert!(slack_of(&[third; 3], Border::Constant(1e6), PixelType::U8) > MOST_SLACK);
        assert_eq!(slack_of(&[third; 3], Border::Replicate, PixelType::F32), f32::INFINITY);
    }

    /// Returns a sum of bytes as the marching kernels compute it, and the f64 sum from 0.
    fn sums(taps: &[f32], bytes: &[u8], slack: f32) -> (f32, f64) {
        let pairs = || taps.iter().zip(bytes);
        let near = pairs().fold(-slack, |sum, (tap, &byte)| tap.mul_add(byte as f32, sum));
        (near, pairs().fold(0.0, |sum, (&tap, &byte)| (tap as f64).mul_add(byte as f64, sum)))
    }

    #[test]
    fn the_true_sum_is_between_the_sum_and_twice_the_slack_above() {
        // Reproducible pseudo-random numbers.
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 8
        };
        let mut closest = 1.0f64;
        for round in 0..600 {
            let side = 3 + 2 * (round % 8);
            let mut taps = |count: usize| -> Vec<f32> {
                let low = [-1.0, 0.0, 0.9][round % 3];
                let taps: Vec<f32> = (0..count).map(|_| low + (1.0 - low) * next() as f32 / 16_777_216.0).collect();
                let total: f32 = taps.iter().map(|tap| tap.abs()).sum();
                taps.iter().map(|tap| tap / total).collect()
            };
            let (x, y) = (taps(side), taps(side));
            // Bytes of 0 and 255 have the largest errors.
            let mut bytes = |count| -> Vec<u8> { (0..count).map(|_| (next() % 512).min(255) as u8).collect() };
            let (near, exact, slack) = if round % 2 == 0 {
                let bytes = bytes(side);
                let slack = dense_slack(&x);
                let (near, exact) = sums(&x, &bytes, slack);
                (near, exact, slack)
            } else {
                let bytes = bytes(side * side);
                let slack = separable_slack(&x, &y);
                let rows: Vec<(f32, f64)> = bytes.chunks(side).map(|row| sums(&x, row, 0.0)).collect();
                let pairs = || y.iter().zip(&rows);
                let near = pairs().fold(-slack, |sum, (tap, row)| tap.mul_add(row.0, sum));
                (near, pairs().fold(0.0, |sum, (&tap, row)| (tap as f64).mul_add(row.1, sum)), slack)
            };
            assert!(slack > 0.0 && slack < MOST_SLACK, "{slack} for {x:?} {y:?}");
            let (low, high) = (near as f64, (near + (slack + slack)) as f64);
            assert!(low <= exact && exact <= high, "{exact} is not from {low} to {high}: {x:?} {y:?}");
            closest = closest.min((exact - low).min(high - exact) / slack as f64);
        }
        // A bound far above all errors would recompute too many sums.
        assert!(closest < 0.95, "{closest}");
    }

    #[test]
    fn marching_sums_of_few_bits_are_exact() {
        for taps in [&[0.0625, 0.25, 0.375, 0.25, 0.0625], &[-1.0, -1.0, 8.0, -1.0, -1.0], &[0.0f32; 5]] {
            assert_eq!((dense_slack(taps), separable_slack(taps, taps)), (0.0, 0.0), "{taps:?}");
        }
        // Sums along the rows are exact; sums down the columns need 25 bits.
        let (x, y) = ([257.0, 1.0], [2f32.powi(-9), 1.0]);
        assert_eq!((dense_slack(&x), dense_slack(&y)), (0.0, 0.0));
        assert!(separable_slack(&x, &y) > 0.0);
        assert!(dense_slack(&[1e30, 1e30]).is_infinite() && separable_slack(&[1e20], &[1e20]).is_infinite());
    }
}
