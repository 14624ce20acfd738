//! Low-rank masks: a column of taps times a row of taps, or a sum of few such products.

use crate::Mask;

/// Unit roundoff of f32: the largest relative rounding error.
const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// Largest relative deviation of a product of taps from the mask's tap.
///
/// A mask that was computed as a product of two sets of numbers and rounded to f32 is within this tolerance: its tap,
/// the two taps and the pivot from which [`factors`] computes the product were rounded once each, and their quotient
/// once more.
const TOLERANCE: f64 = 5.0 * ROUNDING;

/// Taps along x and y whose products are the taps of a mask, exactly or approximately.
#[derive(Debug, PartialEq)]
pub(crate) struct Factors {
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    /// Whether the products equal the taps, not just within [`TOLERANCE`].
    pub(crate) exact: bool,
}

/// Factorizes a mask; `None` if it has no factors, or all taps are 0.
///
/// Taps along `y` are below 2, so that sums along x overflow hardly sooner than the mask's own sums.
pub(crate) fn factors(mask: &Mask) -> Option<Factors> {
    let (width, taps) = (mask.width() as usize, mask.taps());
    let pivot = (0..taps.len()).max_by(|&a, &b| taps[a].abs().total_cmp(&taps[b].abs()))?;
    let row = &taps[pivot / width * width..][..width];
    let column = || taps.iter().skip(pivot % width).step_by(width).map(|&tap| tap as f64);
    let largest = taps[pivot] as f64;

    // Products of two taps are exact in f64. For a mask without factors the first taps usually fail.
    let near = |(n, &tap): (usize, &f32)| {
        let (whole, product) =
            (tap as f64 * largest, row[n % width] as f64 * taps[n / width * width + pivot % width] as f64);
        (whole - product).abs() <= 4.0 * TOLERANCE * whole.abs()
    };
    if largest == 0.0 || !taps.iter().enumerate().all(near) {
        return None;
    }

    // The row divided by its greatest common divisor consists of integers without a common factor: exact factors of the
    // mask, if there are any, are these up to a power of two.
    let unit = row.iter().fold(0.0, |unit, &tap| common(tap.abs() as f64, unit));
    let power = power_of_two(unit);
    let x = row.iter().map(|&tap| (tap as f64 / unit * power) as f32).collect();
    let y = column().map(|tap| (tap / (largest / unit) / power) as f32).collect();
    let exact = Factors { x, y, exact: true };
    if exact.are_within(0.0, taps) {
        return Some(exact);
    }
    let y = column().map(|tap| (tap / largest) as f32).collect();
    Some(Factors { x: row.to_vec(), y, exact: false }).filter(|factors| factors.are_within(TOLERANCE, taps))
}

impl Factors {
    /// Returns whether every product is within the relative tolerance of its tap.
    fn are_within(&self, tolerance: f64, taps: &[f32]) -> bool {
        let products = self.y.iter().flat_map(|&y| self.x.iter().map(move |&x| x as f64 * y as f64));
        products.zip(taps).all(|(product, &tap)| (product - tap as f64).abs() <= tolerance * tap.abs() as f64)
    }

    /// Returns whether all sums of the products with samples up to `most`, multiples of `unit`, are exact in f64 in any
    /// order: each is a multiple of some power of two, and at most 2^53 times it.
    pub(crate) fn sum_exactly(&self, most: f64, unit: f64) -> bool {
        let size = |taps: &[f32]| taps.iter().map(|tap| tap.abs() as f64).sum::<f64>();
        let lowest = |taps: &[f32]| taps.iter().map(|&tap| lowest_bit(tap as f64)).fold(f64::INFINITY, f64::min);
        // Sums along x, before they are weighted by y, are bounded by the same multiple of their own unit.
        let (sum, unit) = (size(&self.x) * size(&self.y) * most, lowest(&self.x) * lowest(&self.y) * unit);
        sum <= unit * (1u64 << 53) as f64
    }
}

/// Largest number of terms that [`terms`] tries.
pub(crate) const MOST_TERMS: usize = 4;

/// Approximates a mask by a sum of at most `most` terms, each of taps along x and y, such that the error of the
/// computed sum is within the error bound of the mask's own sum. `None` if that fails.
///
/// Cross approximation: each term is the row and the column through the largest tap of the residual. The residual is
/// taken with the terms' taps as rounded to f32, so that each term corrects the rounding errors of those before. Taps
/// along `y` are at most 1.
pub(crate) fn terms(mask: &Mask, most: usize) -> Option<Vec<(Vec<f32>, Vec<f32>)>> {
    let (width, taps) = (mask.width() as usize, mask.taps());
    // The residual of each tap, and the sum of the magnitudes of its products.
    let mut left: Vec<(f64, f64)> = taps.iter().map(|&tap| (tap as f64, 0.0)).collect();
    let mut terms = Vec::new();
    while terms.len() < most {
        let pivot = (0..taps.len()).max_by(|&a, &b| left[a].0.abs().total_cmp(&left[b].0.abs()))?;
        let (row, column, largest) = (pivot / width * width, pivot % width, left[pivot].0);
        let x: Vec<f32> = left[row..][..width].iter().map(|(tap, _)| *tap as f32).collect();
        let y: Vec<f32> = left[column..].iter().step_by(width).map(|(tap, _)| (tap / largest) as f32).collect();
        let products = y.iter().flat_map(|&y| x.iter().map(move |&x| x as f64 * y as f64));
        for ((left, size), product) in left.iter_mut().zip(products) {
            *left -= product;
            *size += product.abs();
        }
        terms.push((x, y));
        if are_within_bound(mask, terms.len(), &left) {
            return Some(terms);
        }
    }
    None
}

/// Returns whether the sum of `terms` terms keeps the error bound of the mask's own sum, which
/// docs/decisions/methods.md derives. `left` holds, per tap, the residual and the sum of the magnitudes of its
/// products.
fn are_within_bound(mask: &Mask, terms: usize, left: &[(f64, f64)]) -> bool {
    let (width, height) = (mask.width() as f64, mask.height() as f64);
    // `terms - 1` additions; one more for the roundings of this check.
    let roundings = (width + height + terms as f64) * ROUNDING;
    let (share, most) = (roundings / (1.0 - roundings), (width * height + 3.0) * ROUNDING);
    let is_within = |((left, size), tap): (&(f64, f64), &f32)| share * size + left.abs() <= most * tap.abs() as f64;
    left.iter().zip(mask.taps()).all(is_within)
}

/// Greatest common divisor of two numbers that are 0 or more; remainders of f64 are exact.
fn common(a: f64, b: f64) -> f64 {
    if b == 0.0 { a } else { common(b, a % b) }
}

/// Returns the largest power of two that is not above a positive normal number.
fn power_of_two(number: f64) -> f64 {
    f64::from_bits(number.to_bits() & 0x7ff << 52)
}

/// Returns the largest power of two that divides a number; infinite for 0. No f32 is a denormal f64.
pub(crate) fn lowest_bit(number: f64) -> f64 {
    if number == 0.0 {
        return f64::INFINITY;
    }
    let ulp = f64::from_bits(number.to_bits() & 0x7ff << 52) / (1u64 << 52) as f64;
    ulp * 2f64.powi((number.to_bits() | 1 << 52).trailing_zeros() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(x: &[f64], y: &[f64]) -> Mask {
        let taps: Vec<f32> = y.iter().flat_map(|y| x.iter().map(move |x| (x * y) as f32)).collect();
        Mask::new(x.len() as u32, y.len() as u32, taps).unwrap()
    }

    fn named(name: &str) -> Mask {
        crate::filters::named_mask(name).unwrap()
    }

    #[test]
    fn exact_factors_are_found() {
        let sobel = factors(&named("sobel-x")).unwrap();
        assert_eq!(sobel, Factors { x: vec![-2.0, 0.0, 2.0], y: vec![0.5, 1.0, 0.5], exact: true });
        // Integers without a common power of two: quotients by the largest would not be exact.
        for (x, y) in [
            (&[3.0, 5.0, 3.0][..], &[7.0, 11.0, 7.0, 0.0][..]),
            (&[1.0, 4.0, 6.0, 4.0, 1.0], &[1.0 / 256.0, 4.0 / 256.0, 6.0 / 256.0, 4.0 / 256.0, 1.0 / 256.0]),
            (&[0.0, -0.1f32 as f64, 0.0], &[1.0, 0.0, 3.0]),
        ] {
            let mask = mask(x, y);
            let found = factors(&mask).unwrap();
            assert!(found.exact && found.are_within(0.0, mask.taps()), "{found:?}");
            assert!(found.y.iter().all(|tap| tap.abs() <= 2.0), "{found:?}");
        }
    }

    #[test]
    fn every_rounded_product_has_factors() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        let mut inexact = 0;
        for n in 0..2000 {
            let mut axis = |count: u32| -> Vec<f64> { (0..count).map(|_| random()).collect() };
            let mask = mask(&axis(3 + n % 7), &axis(3 + n % 11));
            let found = factors(&mask).unwrap_or_else(|| panic!("{mask:?}"));
            assert!(found.are_within(TOLERANCE, mask.taps()));
            inexact += !found.exact as u32;
        }
        assert!(inexact > 1500, "{inexact}");
    }

    /// Returns the sum of these f64 terms, rounded to f32.
    fn sum(terms: &[(Vec<f64>, Vec<f64>)]) -> Mask {
        let (width, height) = (terms[0].0.len(), terms[0].1.len());
        let tap = |n: usize| terms.iter().map(|(x, y)| x[n % width] * y[n / width]).sum::<f64>() as f32;
        Mask::new(width as u32, height as u32, (0..width * height).map(tap).collect::<Vec<_>>()).unwrap()
    }

    /// Returns a Gaussian of width `sigma`, times `weight`, at `count` taps around its middle.
    fn bell(sigma: f64, weight: f64, count: usize) -> Vec<f64> {
        let from_middle = |n: usize| n as f64 - (count as f64 - 1.0) / 2.0;
        (0..count).map(|n| weight * (-(from_middle(n) / sigma).powi(2) / 2.0).exp()).collect()
    }

    #[test]
    fn sums_of_bells_are_found() {
        for (side, narrow, wide, weight) in [(17, 1.0, 3.0, 0.3), (16, 2.0, 2.5, 1.0), (33, 1.5, 9.0, 7.0)] {
            let two =
                [(bell(narrow, 1.0, side), bell(narrow, 1.0, side)), (bell(wide, weight, side), bell(wide, 1.0, side))];
            let mask = sum(&two);
            assert_eq!(factors(&mask), None, "{side}");
            assert_eq!(terms(&mask, 1), None, "{side}");
            let found = terms(&mask, MOST_TERMS).unwrap();
            assert_eq!(found.len(), 2, "{side}");
            assert!(found.iter().flat_map(|(_, y)| y).all(|tap| tap.abs() <= 1.0), "{side}");
        }
        let bells = [0.8, 2.0, 5.0].map(|sigma| (bell(sigma, 1.0 / sigma, 25), bell(sigma, 1.0 / sigma, 25)));
        assert_eq!(terms(&sum(&bells), MOST_TERMS).unwrap().len(), 3);
        // One term that is within the error bound, but not within the tolerance of factors.
        let mut near = sum(&[(bell(3.0, 1.0, 17), bell(2.0, 1.0, 17))]);
        let mut taps = near.taps().to_vec();
        taps[40] = f32::from_bits(taps[40].to_bits() + 40);
        near = Mask::new(17, 17, taps).unwrap();
        assert_eq!((factors(&near), terms(&near, MOST_TERMS).unwrap().len()), (None, 1));
    }

    #[test]
    fn the_bound_of_the_mask_is_that_of_its_terms() {
        // 17 + 17 + 2 roundings of products as large as the taps leave 292 - 36 of the bound of 17 * 17 + 3.
        let mask = Mask::new(17, 17, [1.0; 289]).unwrap();
        let within = |off: f64, size: f64| {
            let mut left = vec![(0.0, 1.0); 289];
            left[100] = (off * ROUNDING, size);
            are_within_bound(&mask, 2, &left)
        };
        assert!(within(255.9, 1.0) && within(-255.9, 1.0) && within(0.0, 292.0 / 36.0 - 1e-4));
        assert!(!within(256.1, 1.0) && !within(-256.1, 1.0) && !within(0.0, 292.0 / 36.0) && !within(0.0, f64::NAN));
        // A tap of 0 must have no residual.
        let mut taps = vec![1.0; 289];
        taps[100] = 0.0;
        let mask = Mask::new(17, 17, taps).unwrap();
        let mut left = vec![(0.0, 1.0); 289];
        assert!(!are_within_bound(&mask, 2, &left));
        left[100] = (0.0, 0.0);
        assert!(are_within_bound(&mask, 2, &left));
    }

    #[test]
    fn what_is_no_sum_of_few_terms_has_none() {
        let bells = [(bell(1.0, 1.0, 17), bell(1.0, 1.0, 17)), (bell(3.0, 0.3, 17), bell(3.0, 1.0, 17))];
        let good = sum(&bells);
        let changed = |n: usize, tap: f32| {
            let mut taps = good.taps().to_vec();
            taps[n] = tap;
            Mask::new(17, 17, taps).unwrap()
        };
        let tap = good.taps()[60];
        assert!(terms(&changed(60, tap * (1.0 + 200.0 / (1 << 24) as f32)), 2).is_some());
        assert_eq!(terms(&changed(60, tap * (1.0 + 300.0 / (1 << 24) as f32)), 2), None);
        assert_eq!(terms(&changed(60, 0.0), MOST_TERMS), None);
        // A difference of Gaussians has two terms, but where they cancel the products exceed the error bound.
        let less = |weight: f64| {
            sum(&[(bell(1.0, 1.0, 17), bell(1.0, 1.0, 17)), (bell(2.0, -weight, 17), bell(2.0, 1.0, 17))])
        };
        assert_eq!(terms(&less(0.25), MOST_TERMS).unwrap().len(), 2);
        assert_eq!(terms(&less((-0.375f64).exp()), MOST_TERMS), None);
        let mut state = 7u64;
        let random: Vec<f32> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1 << 24) as f32 + 0.5
        })
        .take(32 * 32)
        .collect();
        assert_eq!(terms(&Mask::new(32, 32, random).unwrap(), MOST_TERMS), None);
        assert_eq!(terms(&Mask::new(16, 16, [0.0; 256]).unwrap(), MOST_TERMS), None);
    }

    #[test]
    fn what_has_no_factors_has_none() {
        for name in ["laplacian", "sharpen", "edge", "emboss"] {
            assert_eq!(factors(&named(name)), None, "{name}");
        }
        assert_eq!(factors(&Mask::new(3, 3, [0.0; 9]).unwrap()), None);
        // One tap off by a little more than roundings explain; a wrong zero; a missing zero.
        let gauss = crate::filters::gaussian(1.0, 2.0).unwrap();
        let axis: Vec<f64> = gauss.taps().iter().map(|&tap| tap as f64).collect();
        let good = mask(&axis, &axis);
        assert!(factors(&good).is_some());
        for (at, to) in [(6, f32::from_bits(good.taps()[6].to_bits() + 12)), (6, 0.0), (24, 0.0)] {
            let mut taps = good.taps().to_vec();
            taps[at] = to;
            assert_eq!(factors(&Mask::new(5, 5, taps).unwrap()), None, "{at}");
        }
    }

    #[test]
    fn sums_of_few_bits_are_exact() {
        let binomial = factors(&mask(&[1.0, 4.0, 6.0, 4.0, 1.0], &[0.25, 0.5, 0.25])).unwrap();
        assert!(binomial.sum_exactly(255.0, 1.0) && binomial.sum_exactly(255.0, 2f64.powi(-20)));
        assert!(!binomial.sum_exactly(255.0, 2f64.powi(-45)) && !binomial.sum_exactly(f64::INFINITY, 1.0));
        let wide = Factors { x: vec![1.0, 2f32.powi(-44)], y: vec![1.0], exact: true };
        assert!(wide.sum_exactly(255.0, 1.0) && !wide.sum_exactly(65535.0, 1.0));
        assert_eq!([0.75, -6.0, 1.0, 0.0].map(lowest_bit), [0.25, 2.0, 1.0, f64::INFINITY]);
        assert_eq!(lowest_bit(f32::from_bits(3) as f64), 2f64.powi(-149));
    }
}
