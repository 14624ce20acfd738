//! Rows of input samples: converted to the accumulator's type, and extended by the border.

use crate::simd::{self, Level, Work};
use apron_abi::BorderMode;
use apron_core::{Accumulator, FromSum, Pixel, Sample};
use std::ops::Sub;

/// Converts one row and extends it to the left and right.
pub(crate) struct Extend<'a, I, S> {
    /// The row of the image, or `None` for a row of the border constant.
    pub(crate) row: Option<&'a [I]>,
    /// Interleaved channels.
    pub(crate) channels: usize,
    /// Column of the first pixel of `out`; arbitrarily far outside.
    pub(crate) origin: i32,
    /// Border mode.
    pub(crate) mode: BorderMode,
    /// Border constant.
    pub(crate) constant: S,
    /// Subtracted from each sample.
    pub(crate) zero: S,
    /// Output, of whole pixels.
    pub(crate) out: &'a mut [S],
}

impl<I: Sample, S: Accumulator + Sub<Output = S>> Extend<'_, I, S> {
    /// Writes the output.
    pub(crate) fn run(self) {
        let Extend { row, channels, origin, mode, constant, zero, out } = self;
        let Some(row) = row else {
            return out.fill(constant - zero);
        };
        let start = origin as isize * channels as isize;
        if start >= 0 && start as usize + out.len() <= row.len() {
            // No border, and no divisions.
            return simd::run(Convert { samples: &row[start as usize..], zero, out });
        }
        let width = (row.len() / channels) as i32;
        let end = origin + (out.len() / channels) as i32;
        let (first, last) = (origin.clamp(0, width), end.clamp(0, width));
        // Left of the image, inside, right of it; if the region lies to one side of the image, that part is everything.
        let (left, rest) = out.split_at_mut(channels * (first.min(end) - origin).max(0) as usize);
        let (inside, right) = rest.split_at_mut(channels * (last - first) as usize);
        simd::run(Convert { samples: &row[channels * first as usize..], zero, out: inside });
        let right_origin = origin.max(last);
        for (part, part_origin) in [(left, origin), (right, right_origin)] {
            for (pixel, x) in part.chunks_exact_mut(channels).zip(part_origin..) {
                match mode.map(x, width) {
                    Some(x) => {
                        let from = &row[x as usize * channels..][..channels];
                        pixel.iter_mut().zip(from).for_each(|(sum, &sample)| *sum = S::of(sample) - zero);
                    }
                    None => pixel.fill(constant - zero),
                }
            }
        }
    }
}

/// Converts as many samples as the output has.
struct Convert<'a, I, S> {
    samples: &'a [I],
    zero: S,
    out: &'a mut [S],
}

impl<I: Sample, S: Accumulator + Sub<Output = S>> Work for Convert<'_, I, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for (sum, &sample) in self.out.iter_mut().zip(self.samples) {
            *sum = S::of(sample) - self.zero;
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
                // The comparisons are false for NaN, which stays NaN.
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

/// Stores finished sums, scaled and shifted.
pub(crate) struct StoreScaled<'a, O> {
    pub(crate) sums: &'a [f64],
    pub(crate) factor: f64,
    pub(crate) offset: f64,
    pub(crate) out: &'a mut [O],
}

impl<O: Pixel> Work for StoreScaled<'_, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for (out, &sum) in self.out.iter_mut().zip(self.sums) {
            *out = O::from_sum(O::Sum::from_f64(self.factor.mul_add(sum, self.offset)));
        }
    }
}
