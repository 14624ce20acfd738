//! Integers in the order of f32 and f64 samples: a radix select by their digits finds samples of given ranks.

/// Maps f32 to integers in the same order: both zeros to one integer, and every NaN to the greatest.
///
/// ```
/// use apron_abi::{order_of, sample_of_order};
///
/// assert!(order_of(-1.0) < order_of(-0.0) && order_of(-0.0) == order_of(0.0) && order_of(0.0) < order_of(1e-45));
/// assert_eq!(sample_of_order(order_of(-2.5)), -2.5);
/// ```
#[inline(always)]
pub fn order_of(sample: f32) -> u32 {
    let bits = (sample + 0.0).to_bits();
    if sample.is_nan() {
        u32::MAX
    } else if bits >> 31 == 1 {
        !bits
    } else {
        bits | 1 << 31
    }
}

/// As [`order_of`], for f64.
#[inline(always)]
pub fn order_of_f64(sample: f64) -> u64 {
    let bits = (sample + 0.0).to_bits();
    if sample.is_nan() {
        u64::MAX
    } else if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// Returns the f64 of this integer: the inverse of [`order_of_f64`].
pub fn f64_of_order(order: u64) -> f64 {
    f64::from_bits(if order >> 63 == 1 { order & !(1 << 63) } else { !order })
}

/// Returns the f32 of this integer: the inverse of [`order_of`].
pub fn sample_of_order(order: u32) -> f32 {
    f32::from_bits(if order >> 31 == 1 { order & !(1 << 31) } else { !order })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_those_of_the_samples() {
        let rising = [f32::NEG_INFINITY, f32::MIN, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY, f32::NAN];
        assert!(rising.windows(2).all(|pair| order_of(pair[0]) < order_of(pair[1])));
        assert!(rising[..9].iter().all(|&sample| sample_of_order(order_of(sample)) == sample));
        assert_eq!((order_of(-0.0), order_of(-f32::NAN)), (order_of(0.0), order_of(f32::NAN)));
    }
}
