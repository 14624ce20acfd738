//! Division by a small divisor that is constant for a launch, as a multiplication.
//!
//! A GPU has no instruction for integer division; division by a value known only at launch takes about twenty
//! instructions.

const BITS: u32 = 20;

/// Returns the factor that replaces division by `divisor`, which is not 0.
pub const fn of(divisor: u32) -> u32 {
    (1 << BITS) / divisor + 1
}

/// Returns `value / divisor`, for the factor `of(divisor)`: correct as long as `value * divisor` is below 2^20 and
/// `value` below 2^11 times the divisor.
#[inline(always)]
pub const fn divide(value: u32, factor: u32) -> u32 {
    (value * factor) >> BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FEW_TAPS, MAX_MASK_SIDE, TILE_WIDTH, fused_input_plane};

    #[test]
    fn right_for_every_sample_of_a_fused_row() {
        for channels in 1..=4 {
            for sample in 0..channels * fused_input_plane(channels, FEW_TAPS as u32) {
                assert_eq!(divide(sample, of(channels)), sample / channels, "{sample} / {channels}");
            }
        }
    }

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
