//! Bytes from f32 sums, exact by an error bound.
//!
//! Integer results are defined by their f64 sum. An f32 sum, which is computed twice as fast, has the same nearest
//! integer unless a rounding boundary lies between the two sums, that is, within the error bound; only such sums must
//! be computed again in f64.

use crate::simd::{Level, Work};
use crate::weigh::LANES;

/// Rounding of f32 sums of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounding {
    /// Correction of the sum, because samples were taken minus [`ZERO`](Rounding::ZERO).
    shift: f32,
    /// A sum farther than this from its nearest integer is undecided.
    limit: f32,
    /// The correction in f64, for f64 sums over the first pass's f32 results, and the error bound of such sums.
    pub(crate) lacks: f64,
    pub(crate) off: f64,
}

/// Largest error bound: at most one sum in 200 is then undecided. On two cores, dense masks of 25x25 taps over bytes
/// are faster with f32 sums; masks of 31x31, with one undecided sum in 140, are faster in f64.
const MOST: f64 = 1.0 / 400.0;
/// Largest sum of |tap| for which nothing overflows.
const MOST_TOTAL: f64 = 1e30;
/// Largest number of taps for which [`SLACK`] suffices.
const MOST_TAPS: usize = 4096;
/// Safety factor for second-order errors: rounded partial sums may exceed the true ones by a factor of (1 +
/// 2^-24)^8192, and f64 sums have errors of their own, 2^-28 times as large.
const SLACK: f64 = 1.001;

impl Rounding {
    /// Subtracted from each sample, which halves the magnitude of sums of positive taps, and their errors.
    pub(crate) const ZERO: f32 = 128.0;

    /// Creates the rounding of sums along `taps_x` and, of these sums, along `taps_y`. `None` if a sum could be too far
    /// from its f64 value.
    ///
    /// With u = 2^-24, each multiply-add rounds a partial sum, with an error of at most u times its magnitude, or
    /// 2^-150 where it is denormal. Samples are -128 to 127, so the partial sums along `taps_x` are at most 128 A(1),
    /// 128 A(2), ..., with A(k) the sum of the first k |tap|. The error of a whole sum is at most 128 u (A(1) + ... +
    /// A(n)); it is weighted by `taps_y`, whose partial sums add errors of their own: they are at most 128 A(n) B(1),
    /// 128 A(n) B(2), ... The shift is added last: it is rounded once, at most 128 A(n) B(m), and the final sum once,
    /// at most 255 A(n) B(m).
    ///
    /// Symmetric taps along x are [paired](Rounding::is_paired): sums of two samples are exact, and A(k) is the sum
    /// over the first k pairs. The outer, mostly smaller taps come first.
    pub(crate) fn new(taps_x: &[f32], taps_y: &[f32]) -> Option<Rounding> {
        let pairs = taps_x.len().div_ceil(2);
        let x = match Rounding::is_paired(taps_x) {
            true => Sizes::of(
                taps_x
                    .iter()
                    .take(pairs)
                    .enumerate()
                    .map(|(i, &tap)| (tap, if i == taps_x.len() - 1 - i { 1.0 } else { 2.0 })),
            ),
            false => Sizes::of(taps_x.iter().map(|&tap| (tap, 1.0))),
        };
        let y = Sizes::of(taps_y.iter().map(|&tap| (tap, 1.0)));
        let lacks = Rounding::ZERO as f64 * x.sum * y.sum;
        let shift = lacks as f32;
        let total = x.total * y.total;
        if x.total.max(total) > MOST_TOTAL {
            return None;
        }
        // Multiples of a power of two are exact up to 2^24 times that power.
        let exact = |most: f64, grid: f64| 256.0 * most <= 2f64.powi(24) * grid;
        if exact(x.total, x.grid) && exact(total, x.grid * y.grid) {
            return Some(Rounding { shift, limit: 0.5, lacks, off: 0.0 });
        }
        let relative = 128.0 * (x.partial * y.total + x.total * y.partial) + 512.0 * total;
        let denormal = taps_x.len() as f64 * y.total + taps_y.len() as f64;
        let error = SLACK * (relative * 2f64.powi(-24) + denormal * 2f64.powi(-150));
        let few = taps_x.len().max(taps_y.len()) <= MOST_TAPS;
        // The limit is rounded down, so that it stays a bound. The second pass in f64 has errors, too, 2^-28 times as
        // large.
        let off = SLACK * ((128.0 * x.partial * y.total + total) * 2f64.powi(-24) + denormal * 2f64.powi(-150));
        (few && error <= MOST).then(|| Rounding { shift, limit: ((0.5 - error) as f32).next_down(), lacks, off })
    }

    /// Returns whether taps are symmetric, so that two samples can be added before they are weighted.
    pub(crate) fn is_paired(taps: &[f32]) -> bool {
        taps.iter().eq(taps.iter().rev())
    }

    /// Returns whether an f64 sum, in any order, is farther from a rounding boundary than from the f64 sum in the
    /// reference's order: the error of each is at most 2^-28 of [`MOST`].
    pub(crate) fn is_decided(sum: f64) -> bool {
        Rounding::is_beyond(sum, MOST * 2f64.powi(-26))
    }

    /// Returns whether a sum is farther from a rounding boundary than its error bound `off`.
    pub(crate) fn is_beyond(sum: f64, off: f64) -> bool {
        ((sum - sum.floor()) - 0.5).abs() > off
    }
}

/// Properties of taps that the bound depends on.
struct Sizes {
    sum: f64,
    /// The sum of |tap|.
    total: f64,
    /// The sum of all partial sums of |tap|.
    partial: f64,
    /// The largest power of two that divides all taps; infinite if all are 0.
    grid: f64,
}

impl Sizes {
    /// Returns the properties of taps, each with its number of samples.
    fn of(taps: impl Iterator<Item = (f32, f64)>) -> Sizes {
        let mut sizes = Sizes { sum: 0.0, total: 0.0, partial: 0.0, grid: f64::INFINITY };
        for (tap, samples) in taps.map(|(tap, samples)| (tap as f64, samples)) {
            sizes.sum += tap * samples;
            sizes.total += tap.abs() * samples;
            sizes.partial += sizes.total;
            sizes.grid = sizes.grid.min(lowest_bit(tap));
        }
        sizes
    }
}

/// Returns the largest power of two that divides a number; infinite for 0. No f32 is a denormal f64.
pub(crate) fn lowest_bit(number: f64) -> f64 {
    if number == 0.0 {
        return f64::INFINITY;
    }
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
    2f64.powi(exponent + (bits | 1 << 52).trailing_zeros() as i32)
}

/// Rounds a row of sums half to even, with saturation, and lists the undecided ones.
pub(crate) struct Round<'a> {
    pub(crate) rounding: Rounding,
    /// Sums, padded to whole vectors.
    pub(crate) sums: &'a [f32],
    pub(crate) out: &'a mut [u8],
    /// Indices of undecided sums.
    pub(crate) open: &'a mut Vec<usize>,
}

/// Sums rounded at a time.
const PIECE: usize = 4 * LANES;

impl Work for Round<'_> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Round { rounding, sums, out, open } = self;
        for (n, (sums, out)) in sums.chunks(PIECE).zip(out.chunks_mut(PIECE)).enumerate() {
            // Arrays, so that the loop has a constant length and needs no remainder.
            let is_open = match (<&[f32; PIECE]>::try_from(sums), <&mut [u8; PIECE]>::try_from(&mut *out)) {
                (Ok(sums), Ok(out)) => rounding.round(sums, out),
                _ => rounding.round(sums, out),
            };
            if is_open {
                let lanes = sums.iter().take(out.len()).enumerate().filter(|(_, sum)| rounding.rounded(**sum).1);
                open.extend(lanes.map(|(lane, _)| n * PIECE + lane));
            }
        }
    }
}

impl Rounding {
    /// Rounds sums; returns whether one is undecided.
    #[inline(always)]
    fn round(self, sums: &[f32], out: &mut [u8]) -> bool {
        let mut any = 0;
        for (out, &sum) in out.iter_mut().zip(sums) {
            let (byte, is_open) = self.rounded(sum);
            *out = byte;
            any |= is_open as u32;
        }
        any != 0
    }

    /// Returns the byte of a sum, and whether it is undecided.
    #[inline(always)]
    fn rounded(self, sum: f32) -> (u8, bool) {
        // At 1.5 * 2^23 the spacing of f32 is 1: the addition rounds half to even, and leaves the
        // integer in the low bits.
        const MAGIC: f32 = 12582912.0;
        let sum = sum + self.shift;
        // A sum outside a byte's range saturates in either case: the error bound is below one half.
        let sum = if sum > 0.0 { sum } else { 0.0 };
        let sum = if sum < 255.0 { sum } else { 255.0 };
        let rounded = sum + MAGIC;
        (rounded.to_bits() as u8, ((rounded - MAGIC) - sum).abs() > self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    fn sum<T: Copy, S: Copy>(taps: &[T], samples: &[S], zero: S, fma: impl Fn(T, S, S) -> S) -> S {
        taps.iter().zip(samples).fold(zero, |sum, (&tap, &sample)| fma(tap, sample, sum))
    }

    #[test]
    fn no_sum_is_beyond_the_bound() {
        let rng = &mut StdRng::seed_from_u64(1);
        let (mut rounded, mut largest) = (0, 0.0f64);
        for _ in 0..400 {
            let (width, height) = (rng.random_range(1..30), rng.random_range(1..30));
            let low = [-1.0, 0.0, 0.9][rng.random_range(0..3)];
            let scale = rng.random_range(0.0f32..2.0);
            let mut axis = |count: usize| -> Vec<f32> {
                let taps: Vec<f32> = (0..count).map(|_| rng.random_range(low..1.0)).collect();
                let total: f32 = taps.iter().map(|tap| tap.abs()).sum();
                taps.iter().map(|tap| tap / total * scale).collect()
            };
            let (mut x, y) = (axis(width), axis(height));
            let paired = width > 1 && rng.random();
            if paired {
                (0..width / 2).for_each(|i| x[width - 1 - i] = x[i]);
            }
            let Some(Rounding { shift, limit, lacks, off }) = Rounding::new(&x, &y) else { continue };
            rounded += 1;
            // Bytes of 0 and 255 have the largest errors.
            let bytes: Vec<u8> = (0..width * height).map(|_| if rng.random() { 255 } else { rng.random() }).collect();
            let near: Vec<f32> = bytes.iter().map(|&byte| byte as f32 - Rounding::ZERO).collect();
            let of_pairs = |line: &[f32]| {
                let pairs: Vec<f32> = (0..width / 2).map(|i| line[i] + line[width - 1 - i]).collect();
                let outer = sum(&x[..width / 2], &pairs, 0.0, f32::mul_add);
                if width % 2 == 1 { x[width / 2].mul_add(line[width / 2], outer) } else { outer }
            };
            let of_line = |line: &[f32]| if paired { of_pairs(line) } else { sum(&x, line, 0.0, f32::mul_add) };
            let near: Vec<f32> = near.chunks(width).map(of_line).collect();
            let of_lines = |sum: f64, (&tap, &line): (&f32, &f32)| (tap as f64).mul_add(line as f64, sum);
            let nearer = y.iter().zip(&near).fold(lacks, of_lines);
            let near = sum(&y, &near, 0.0, f32::mul_add) + shift;
            let exact: Vec<f64> = bytes.iter().map(|&byte| byte as f64).collect();
            let fma = |tap: f32, sample: f64, sum: f64| (tap as f64).mul_add(sample, sum);
            let exact: Vec<f64> = exact.chunks(width).map(|line| sum(&x, line, 0.0, fma)).collect();
            let exact = sum(&y, &exact, 0.0, fma);
            assert!((nearer - exact).abs() <= off || limit == 0.5, "{nearer} beyond {off} of {exact}: {x:?} {y:?}");
            let distance = (near as f64 - exact).abs();
            let bound = 0.5 - limit as f64;
            assert!(distance <= bound, "{distance} beyond {bound}: {x:?} {y:?}");
            largest = largest.max(distance / bound);
        }
        assert!(rounded > 300, "{rounded}");
        // A bound far above all errors would recompute too many sums.
        assert!(largest > 0.02, "{largest}");
    }

    #[test]
    fn sums_without_errors_are_never_open() {
        let exact: [(&[f32], &[f32]); 4] = [
            (&[0.25, 0.5, 0.25], &[0.25, 0.5, 0.25]),
            (&[1.0], &[-1.0, 8.0, -1.0]),
            (&[4096.0], &[-2.5]),
            (&[0.0], &[1e9]),
        ];
        for (x, y) in exact {
            assert_eq!(Rounding::new(x, y).unwrap().limit, 0.5, "{x:?} {y:?}");
        }
        for (x, y) in [([0.1f32, 0.2], [0.3f32, 0.4]), ([0.5 + 2f32.powi(-20), 0.25], [0.5, 0.5])] {
            assert!(Rounding::new(&x, &y).unwrap().limit < 0.5);
        }
        assert_eq!([1.0, 0.75, -6.0, 1e-40f32 as f64].map(lowest_bit)[..3], [1.0, 0.25, 2.0]);
        assert_eq!(lowest_bit(f32::from_bits(2) as f64), 2f64.powi(-148));
    }

    #[test]
    fn sums_that_could_be_far_off_are_refused() {
        assert!(Rounding::new(&[1e6, -1e6 + 0.4], &[1.0]).is_none());
        assert!(Rounding::new(&[1e38, 1e38], &[1e-38]).is_none());
        let large = 2f32.powi(70);
        assert!(Rounding::new(&[2f32.powi(60)], &[large, -large]).is_none());
        assert!(Rounding::new(&[1e-45; 5000], &[0.1]).is_none());
        assert!(Rounding::new(&[1e-45; 3], &[1e38, 3e38]).is_none_or(|rounding| rounding.limit < 0.5));
    }

    /// Rounds at one instruction level and checks.
    struct Check;

    impl Work for Check {
        #[inline(always)]
        fn run<L: Level>(self) {
            let sums =
                [-3.0, -0.4, 0.5, 1.5, 2.49, 2.51, 254.5, 254.6, 300.0, 7.0, 99.48, 99.52, 1e9, -1e9, 128.5, 0.0];
            let (mut out, mut open) = ([9; 15], Vec::new());
            let rounding = Rounding { shift: 0.0, limit: 0.4875, lacks: 0.0, off: 0.0 };
            Round { rounding, sums: &sums, out: &mut out, open: &mut open }.run::<L>();
            assert_eq!(out, [0, 0, 0, 2, 2, 3, 254, 255, 255, 7, 99, 100, 255, 0, 128]);
            assert_eq!(open, [2, 3, 4, 5, 6, 14]);
        }
    }

    #[test]
    fn rounds_half_to_even_and_says_what_is_open() {
        crate::simd::run_at_all(|| Check);
    }
}
