//! Division of many numbers by the same integer.

/// An integer from 1 to 2^32, by which numbers are divided: without a division, with its bits.
///
/// The product with the reciprocal is within 2 units in the last place of the quotient, so that the remainder is exact;
/// its share corrects the product to within 2^-51 units before the one rounding. A quotient is no midpoint of two f64,
/// which would need 54 bits times the odd part of the integer, and is at least 2^-34 units away from one.
#[derive(Clone, Copy)]
pub(crate) struct Divisor {
    number: f64,
    reciprocal: f64,
}

impl Divisor {
    pub(crate) fn new(number: u64) -> Divisor {
        Divisor { number: number as f64, reciprocal: 1.0 / number as f64 }
    }

    /// Returns the quotient: of 0, of numbers far from the ends of f64's range, and of NaN.
    #[inline(always)]
    pub(crate) fn divide(self, number: f64) -> f64 {
        let near = number * self.reciprocal;
        (-near).mul_add(self.number, number).mul_add(self.reciprocal, near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    #[test]
    fn quotients_have_the_bits_of_division() {
        let rng = &mut StdRng::seed_from_u64(1);
        for divisor in (1..3000).chain((0..3000).map(|_| rng.random_range(1..=1 << 32))).collect::<Vec<u64>>() {
            let of = Divisor::new(divisor);
            let multiple = divisor as f64 * rng.random_range(0..1 << 16) as f64;
            let near = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|more| multiple + more * divisor as f64);
            let whole = (0..50).map(|_| rng.random_range(-(1i64 << 53)..1 << 53) as f64).collect::<Vec<_>>();
            let small = whole.iter().map(|number| number * 1e-60).collect::<Vec<_>>();
            for number in near.into_iter().chain(near.map(f64::next_up)).chain(whole).chain(small) {
                assert_eq!(of.divide(number), number / divisor as f64, "{number} / {divisor}");
            }
        }
        assert!(Divisor::new(3).divide(f64::NAN).is_nan());
    }
}
