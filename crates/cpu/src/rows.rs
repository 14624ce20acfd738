//! Rows of samples as sums see them: converted, and extended by the border.

use crate::simd::{Level, Work};
use apron_abi::BorderMode;
use apron_core::{Accumulator, FromSum, Sample};
use std::collections::HashMap;

/// Converts one row and extends it to the left and right.
pub(crate) struct Extend<'a, I, S> {
    /// The row of the image, or `None` for a row outside where the border is constant.
    pub(crate) row: Option<&'a [I]>,
    /// Interleaved channels.
    pub(crate) channels: usize,
    /// The column of the first pixel of `out`; any distance outside.
    pub(crate) origin: i32,
    /// What lies outside.
    pub(crate) mode: BorderMode,
    /// The value outside, where the border is constant.
    pub(crate) constant: S,
    /// Whole pixels.
    pub(crate) out: &'a mut [S],
}

impl<I: Sample, S: Accumulator> Work for Extend<'_, I, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Extend { row, channels, origin, mode, constant, out } = self;
        let Some(row) = row else {
            return out.fill(constant);
        };
        let width = (row.len() / channels) as i32;
        let end = origin + (out.len() / channels) as i32;
        let (first, last) = (origin.clamp(0, width), end.clamp(0, width));
        // Left of the image, inside, right of it; where the row lies wholly outside, one part is all.
        let (left, rest) = out.split_at_mut(channels * (first.min(end) - origin).max(0) as usize);
        let (inside, right) = rest.split_at_mut(channels * (last - first) as usize);
        for (sum, &sample) in inside.iter_mut().zip(&row[channels * first as usize..]) {
            *sum = S::of(sample);
        }
        let right_origin = origin.max(last);
        for (part, part_origin) in [(left, origin), (right, right_origin)] {
            for (pixel, x) in part.chunks_exact_mut(channels).zip(part_origin..) {
                match mode.map(x, width) {
                    Some(x) => {
                        let from = &row[x as usize * channels..][..channels];
                        pixel.iter_mut().zip(from).for_each(|(sum, &sample)| *sum = S::of(sample));
                    }
                    None => pixel.fill(constant),
                }
            }
        }
    }
}

/// Stores finished sums.
pub(crate) struct Store<'a, S, O> {
    pub(crate) sums: &'a [S],
    pub(crate) clamp: bool,
    pub(crate) out: &'a mut [O],
}

impl<S: Accumulator, O: FromSum<S>> Work for Store<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        if self.clamp {
            let one = S::of(1.0f32);
            for (out, &sum) in self.out.iter_mut().zip(self.sums) {
                // Comparisons are false for NaN, which so stays NaN.
                let sum = if sum < S::ZERO { S::ZERO } else { sum };
                *out = O::from_sum(if sum > one { one } else { sum });
            }
        } else {
            for (out, &sum) in self.out.iter_mut().zip(self.sums) {
                *out = O::from_sum(sum);
            }
        }
    }
}

/// The distinct rows of an image that a mask sees, each once, however often it is seen: a mask
/// taller than the image needs no more rows than the image has.
pub(crate) struct Seen {
    /// The rows of the image in the order of their slots; `None` is the constant row outside.
    pub(crate) sources: Vec<Option<u32>>,
    /// The slot of each row from the first one seen.
    pub(crate) slots: Vec<usize>,
}

impl Seen {
    /// The `count` rows from `first`, which may lie outside the image of `height` rows.
    pub(crate) fn new(first: i32, count: usize, mode: BorderMode, height: i32) -> Seen {
        let (mut sources, mut slot_of) = (Vec::new(), HashMap::new());
        let slots = (first..).take(count).map(|y| {
            let source = mode.map(y, height).map(|y| y as u32);
            *slot_of.entry(source).or_insert_with(|| {
                sources.push(source);
                sources.len() - 1
            })
        });
        let slots = slots.collect();
        Seen { sources, slots }
    }
}
