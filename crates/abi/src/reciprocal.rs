//! Division by a small number that a whole launch shares, as a multiplication.
//!
//! A GPU has no instruction for integer division; by a divisor known only at launch it takes some
//! twenty others.

const BITS: u32 = 20;

/// The factor that stands for division by `divisor`, which is not 0.
pub const fn of(divisor: u32) -> u32 {
    (1 << BITS) / divisor + 1
}

/// `value / divisor`, for the factor `of(divisor)`: right as long as `value * divisor` is below
/// 2^20 and `value` below 2^11 times the divisor.
#[inline(always)]
pub const fn divide(value: u32, factor: u32) -> u32 {
    (value * factor) >> BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MAX_MASK_SIDE, TILE_WIDTH};

    #[test]
    fn right_for_every_element_of_every_tile() {
        let most = TILE_WIDTH + MAX_MASK_SIDE - 1;
        for width in TILE_WIDTH..=most {
            for element in 0..width * most {
                assert_eq!(divide(element, of(width)), element / width, "{element} / {width}");
            }
        }
    }
}
