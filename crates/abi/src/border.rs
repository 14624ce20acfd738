//! The index map of borders: which pixel replaces one outside the image.

/// How coordinates outside an axis of length `n` are mapped back into it.
///
/// ```text
///               outside | inside | outside
/// Constant      v v v v | a b c d | v v v v
/// Replicate     a a a a | a b c d | d d d d
/// Reflect       d c b a | a b c d | d c b a
/// Reflect101    c d c b | a b c d | c b a b
/// Wrap          a b c d | a b c d | a b c d
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BorderMode {
    /// A fixed value outside the image.
    Constant = 0,
    /// The nearest pixel of the image.
    Replicate = 1,
    /// Mirrored, the edge pixel repeated.
    Reflect = 2,
    /// Mirrored about the edge pixel, which is not repeated.
    Reflect101 = 3,
    /// Periodic.
    Wrap = 4,
}

impl BorderMode {
    /// Every mode, ordered by number.
    pub const ALL: [BorderMode; 5] =
        [BorderMode::Constant, BorderMode::Replicate, BorderMode::Reflect, BorderMode::Reflect101, BorderMode::Wrap];

    /// Returns the mode with this number, as kernels receive it. Numbers past the last mean [`BorderMode::Wrap`].
    #[inline(always)]
    pub const fn from_u32(number: u32) -> BorderMode {
        match number {
            0 => BorderMode::Constant,
            1 => BorderMode::Replicate,
            2 => BorderMode::Reflect,
            3 => BorderMode::Reflect101,
            _ => BorderMode::Wrap,
        }
    }

    /// Returns the index in `0..n` that replaces `index`, or `None` where the constant does.
    ///
    /// Correct at any distance from the image. `n` is at least 1 and below 2^30.
    #[inline(always)]
    pub const fn map(self, index: i32, n: i32) -> Option<i32> {
        if index >= 0 && index < n {
            return Some(index);
        }
        // One remainder for all modes: it dominates the cost of the map in a kernel.
        let period = match self {
            // The image and its mirror image.
            BorderMode::Reflect => 2 * n,
            // The two edge pixels appear once.
            BorderMode::Reflect101 if n > 1 => 2 * (n - 1),
            BorderMode::Reflect101 => 1,
            BorderMode::Constant | BorderMode::Replicate | BorderMode::Wrap => n,
        };
        let folded = modulo(index, period);
        match self {
            BorderMode::Constant => None,
            BorderMode::Replicate => Some(if index < 0 { 0 } else { n - 1 }),
            BorderMode::Reflect if folded >= n => Some(2 * n - 1 - folded),
            BorderMode::Reflect101 if folded >= n => Some(period - folded),
            BorderMode::Reflect | BorderMode::Reflect101 | BorderMode::Wrap => Some(folded),
        }
    }
}

/// Returns the remainder in `0..period`. Not `rem_euclid`, whose check for zero would put a panic, and so a call,
/// into every kernel.
#[inline(always)]
const fn modulo(index: i32, period: i32) -> i32 {
    match index.checked_rem(period) {
        Some(remainder) if remainder < 0 => remainder + period,
        Some(remainder) => remainder,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::BorderMode::{self, *};
    use std::{vec, vec::Vec};

    /// Walks outwards one step at a time, by each mode's definition.
    fn walk(mode: BorderMode, index: i32, n: i32) -> Option<i32> {
        let (mut at, mut forward) = (0, true);
        let steps = index.unsigned_abs();
        if mode == Constant && !(0..n).contains(&index) {
            return None;
        }
        if index < 0 {
            forward = false;
        }
        for _ in 0..steps {
            let next = if forward { at + 1 } else { at - 1 };
            at = match (next < 0 || next >= n, mode) {
                (false, _) => next,
                (true, Wrap) => (next + n) % n,
                (true, Reflect) => {
                    forward = !forward;
                    at
                }
                (true, Reflect101) => {
                    forward = !forward;
                    if n == 1 {
                        0
                    } else if forward {
                        at + 1
                    } else {
                        at - 1
                    }
                }
                (true, _) => at,
            };
        }
        Some(at)
    }

    #[test]
    fn every_mode_agrees_with_walking_there() {
        for mode in BorderMode::ALL {
            for n in 1..=9 {
                for index in -70..=70 {
                    assert_eq!(mode.map(index, n), walk(mode, index, n), "{mode:?} index {index} n {n}");
                }
            }
        }
    }

    #[test]
    fn the_drawing_above_is_right() {
        let draw = |mode: BorderMode| -> Vec<Option<i32>> { (-4..8).map(|i| mode.map(i, 4)).collect() };
        let of = |v: [i32; 12]| v.into_iter().map(Some).collect::<Vec<_>>();
        assert_eq!(draw(Replicate), of([0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3]));
        assert_eq!(draw(Reflect), of([3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0]));
        assert_eq!(draw(Reflect101), of([2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]));
        assert_eq!(draw(Wrap), of([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]));
        assert_eq!(draw(Constant)[..5], vec![None, None, None, None, Some(0)]);
    }

    #[test]
    fn numbers_and_modes_agree() {
        for mode in BorderMode::ALL {
            assert_eq!(BorderMode::from_u32(mode as u32), mode);
        }
    }

    #[test]
    fn the_largest_side_does_not_overflow() {
        let n = (1 << 30) - 1;
        for mode in [Reflect, Reflect101, Wrap, Replicate] {
            assert!(mode.map(-(1 << 20), n).is_some_and(|i| (0..n).contains(&i)));
            assert!(mode.map(n + (1 << 20), n).is_some_and(|i| (0..n).contains(&i)));
        }
    }
}
