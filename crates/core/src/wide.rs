//! Whole numbers of 256 bits, for differences of sums of squares.

/// A whole number, in words from the lowest. Operations stay below 2^256.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide([u64; 4]);

impl Wide {
    pub(crate) fn of(number: u128) -> Wide {
        Wide([number as u64, (number >> 64) as u64, 0, 0])
    }

    /// Returns the product of two numbers.
    pub(crate) fn product(a: u128, b: u128) -> Wide {
        Wide::of(a).times(b as u64).plus(Wide::of(a).times((b >> 64) as u64).shifted(64))
    }

    /// Returns the number times 2^bits, for up to 64 bits.
    pub(crate) fn shifted(self, bits: u32) -> Wide {
        if bits == 64 {
            let Wide([a, b, c, _]) = self;
            return Wide([0, a, b, c]);
        }
        self.times(1 << bits)
    }

    pub(crate) fn times(self, factor: u64) -> Wide {
        let mut carry = 0;
        Wide(self.0.map(|word| {
            let product = word as u128 * factor as u128 + carry;
            carry = product >> 64;
            product as u64
        }))
    }

    pub(crate) fn plus(self, other: Wide) -> Wide {
        let mut carry = false;
        let mut sum = self.0;
        for (word, other) in sum.iter_mut().zip(other.0) {
            let (partial, over) = word.overflowing_add(other);
            let (whole, again) = partial.overflowing_add(carry.into());
            (*word, carry) = (whole, over || again);
        }
        Wide(sum)
    }

    /// Subtracts a number that is not greater.
    pub(crate) fn less(self, other: Wide) -> Wide {
        let mut borrow = false;
        let mut rest = self.0;
        for (word, other) in rest.iter_mut().zip(other.0) {
            let (partial, under) = word.overflowing_sub(other);
            let (whole, again) = partial.overflowing_sub(borrow.into());
            (*word, borrow) = (whole, under || again);
        }
        Wide(rest)
    }

    /// Returns a near f64, within 2^-52 of the number.
    pub(crate) fn to_f64(self) -> f64 {
        // The words below the two highest that are not 0 are less than a part in 2^64.
        let top = (0..4).rev().find(|&at| self.0[at] != 0).unwrap_or(0);
        let below = if top > 0 { self.0[top - 1] } else { 0 };
        let two = (self.0[top] as u128) << 64 | below as u128;
        two as f64 * 2f64.powi(64 * (top as i32 - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carries_and_borrows_by_hand() {
        let most = u128::MAX;
        // (2^128 - 1)^2 = 2^256 - 2^129 + 1.
        let square = Wide::product(most, most);
        assert_eq!(square, Wide([1, 0, u64::MAX - 1, u64::MAX]));
        assert_eq!(square.less(Wide::of(2)), Wide([u64::MAX, u64::MAX, u64::MAX - 2, u64::MAX]));
        assert_eq!(Wide::of(most).plus(Wide::of(1)), Wide([0, 0, 1, 0]));
        assert_eq!(Wide::of(3).shifted(64).shifted(33), Wide([0, 3 << 33, 0, 0]));
        assert_eq!((square.to_f64(), Wide::of(0).to_f64(), Wide::of(77).to_f64()), (2f64.powi(256), 0.0, 77.0));
    }
}
