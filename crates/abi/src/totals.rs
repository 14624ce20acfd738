//! Exact sums of integers of 32 and 64 bits, from which their statistics follow.

/// Threads per block of the kernel that sums integers.
pub const TOTALS_BLOCK: u32 = 256;

/// Most blocks per channel of that kernel.
pub const TOTALS_BLOCKS: u32 = 256;

/// Words of 64 bits in [`IntegerTotals::words`].
pub const TOTALS_WORDS: u32 = 10;

/// Parameters of the kernel that sums integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct TotalsParams {
    /// Pixels of the image, or samples if its channels are summed together.
    pub pixels: u64,
    /// Channels that are summed separately: all of them, or 1.
    pub apart: u32,
    /// Blocks per channel.
    pub blocks: u32,
}

/// The least and the greatest of a set of unsigned integers, and exact sums of the integers and of their squares, by
/// halves of 32 bits: `v = high * 2^32 + low`. The sums of up to 2^60 integers do not overflow.
///
/// ```
/// use apron_abi::IntegerTotals;
///
/// let totals = [3, u64::MAX, 4].into_iter().fold(IntegerTotals::NONE, IntegerTotals::with);
/// assert_eq!((totals.least, totals.greatest, totals.sum), (3, u64::MAX, (1 << 64) + 6));
/// assert_eq!((totals.high_high, totals.high_low), ((u32::MAX as u128).pow(2), (u32::MAX as u128).pow(2)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerTotals {
    /// The least.
    pub least: u64,
    /// The greatest.
    pub greatest: u64,
    /// The sum.
    pub sum: u128,
    /// The sum of the squares of the upper halves.
    pub high_high: u128,
    /// The sum of the products of the halves.
    pub high_low: u128,
    /// The sum of the squares of the lower halves.
    pub low_low: u128,
}

impl IntegerTotals {
    /// The totals of no integers.
    pub const NONE: IntegerTotals =
        IntegerTotals { least: u64::MAX, greatest: 0, sum: 0, high_high: 0, high_low: 0, low_low: 0 };

    /// Adds an integer.
    #[inline(always)]
    pub fn with(self, v: u64) -> IntegerTotals {
        let (high, low) = (v >> 32, v & 0xffff_ffff);
        IntegerTotals {
            least: if v < self.least { v } else { self.least },
            greatest: if v > self.greatest { v } else { self.greatest },
            sum: self.sum + v as u128,
            high_high: self.high_high + (high * high) as u128,
            high_low: self.high_low + (high * low) as u128,
            low_low: self.low_low + (low * low) as u128,
        }
    }

    /// Adds the totals of other integers.
    #[inline(always)]
    pub fn and(self, other: IntegerTotals) -> IntegerTotals {
        IntegerTotals {
            least: if other.least < self.least { other.least } else { self.least },
            greatest: if other.greatest > self.greatest { other.greatest } else { self.greatest },
            sum: self.sum + other.sum,
            high_high: self.high_high + other.high_high,
            high_low: self.high_low + other.high_low,
            low_low: self.low_low + other.low_low,
        }
    }

    /// Returns the totals as words, the lower half of each sum first.
    #[inline(always)]
    pub fn words(self) -> [u64; TOTALS_WORDS as usize] {
        let IntegerTotals { least, greatest, sum, high_high, high_low, low_low } = self;
        let half = |sum: u128| [sum as u64, (sum >> 64) as u64];
        let ([a, b], [c, d], [e, f], [g, h]) = (half(sum), half(high_high), half(high_low), half(low_low));
        [least, greatest, a, b, c, d, e, f, g, h]
    }

    /// Returns the totals of these words: the inverse of [`words`](IntegerTotals::words).
    #[inline(always)]
    pub fn of_words([least, greatest, a, b, c, d, e, f, g, h]: [u64; TOTALS_WORDS as usize]) -> IntegerTotals {
        let whole = |low: u64, high: u64| low as u128 | (high as u128) << 64;
        IntegerTotals {
            least,
            greatest,
            sum: whole(a, b),
            high_high: whole(c, d),
            high_low: whole(e, f),
            low_low: whole(g, h),
        }
    }
}
