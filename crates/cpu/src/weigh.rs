//! The inner loops: weighted sums of rows, with register blocking.

use crate::simd::{self, Level, Vector, Work};
use apron_core::Accumulator;
use bytemuck::Pod;
use std::ops::{Div, Sub};

/// An accumulator with the host's fused multiply-add: f32 or f64.
pub trait Fma: Accumulator + Sub<Output = Self> + Div<Output = Self> + Pod {
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;

    /// Computes weighted sums of rows. Not generic, so that it is compiled here once instead of by every caller.
    #[doc(hidden)]
    fn weigh(rows: Rows<'_, Self>, weights: Weights<'_, Self>, out: &mut [&mut [Self]]);
}

macro_rules! fma {
    ($($type:ty: $vector:ident),*) => {$(
        impl Fma for $type {
            #[inline(always)]
            fn fma(self, b: $type, c: $type) -> $type {
                self.mul_add(b, c)
            }

            fn weigh(rows: Rows<'_, $type>, weights: Weights<'_, $type>, out: &mut [&mut [$type]]) {
                simd::run(Weigh { rows, weights, out });
            }
        }

        impl Work for Weigh<'_, '_, $type> {
            #[inline(always)]
            fn run<L: Level>(mut self) {
                // Accumulators take half of the registers: `R` rows, which share each loaded sample, of four vectors
                // each, enough to hide the latency of the multiply-add.
                if L::MANY_REGISTERS {
                    self.bands::<L::$vector, 4, 4>();
                } else {
                    self.bands::<L::$vector, 4, 2>();
                }
            }
        }
    )*};
}
fma!(f32: F32, f64: F64);

/// Rows of sums are padded to a multiple of this many samples, which whole vectors of any level fill.
pub(crate) const LANES: usize = 16;

/// Input rows under a mask, with their halo.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, S> {
    /// All rows, `stride` samples each.
    pub data: &'a [S],
    /// Samples between the starts of two rows: an output row and the halo of the mask.
    pub stride: usize,
    /// Index in `data` of each row under the mask: one per output row, and the mask's height less 1. A row may occur
    /// several times.
    pub slots: &'a [usize],
}

/// The taps of a mask.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, S> {
    /// The taps, row by row.
    pub taps: &'a [S],
    /// Taps per row.
    pub width: usize,
    /// Samples between two taps of a row: the number of channels.
    pub step: usize,
    /// Whether, in symmetric rows of taps, the two samples of a pair may be added before they are weighted, from the
    /// outer pair to the inner: for sums whose order is free.
    pub paired: bool,
}

impl<S> Weights<'_, S> {
    /// Halo of a row, in samples.
    #[inline(always)]
    pub(crate) fn halo(&self) -> usize {
        (self.width - 1) * self.step
    }

    /// Returns the number of rows of taps.
    #[inline(always)]
    pub(crate) fn height(&self) -> usize {
        self.taps.len() / self.width
    }
}

/// Weighted sums of the rows under the mask. Each row of `out` is `stride - halo` samples long, a multiple of
/// [`LANES`].
struct Weigh<'a, 'b, S> {
    rows: Rows<'a, S>,
    weights: Weights<'a, S>,
    out: &'a mut [&'b mut [S]],
}

impl<S: Fma> Weigh<'_, '_, S> {
    /// Processes `R` rows at a time, the rest one by one.
    #[inline(always)]
    fn bands<V: Vector<S>, const C: usize, const R: usize>(&mut self) {
        let length = self.rows.stride - self.weights.halo();
        let count = self.out.len();
        let mut y = 0;
        // A mask of one row shares no samples between output rows.
        while self.weights.height() > 1 && y + R <= count {
            self.band::<V, C, R>(y, length);
            y += R;
        }
        while y < count {
            if self.weights.paired && self.weights.height() == 1 {
                self.pairs::<V>(y, length);
            } else {
                self.band::<V, 8, 1>(y, length);
            }
            y += 1;
        }
    }

    /// Processes `C` vectors of each of `R` rows at a time, the rest by single vectors.
    #[inline(always)]
    fn band<V: Vector<S>, const C: usize, const R: usize>(&mut self, y: usize, length: usize) {
        let mut x = 0;
        while x + C * V::LANES <= length {
            self.block::<V, C, R>(x, y);
            x += C * V::LANES;
        }
        while x + V::LANES <= length {
            self.block::<V, 1, R>(x, y);
            x += V::LANES;
        }
    }

    /// Computes a row of sums over pairs of samples.
    #[inline(always)]
    fn pairs<V: Vector<S>>(&mut self, y: usize, length: usize) {
        let mut x = 0;
        while x + 8 * V::LANES <= length {
            self.paired::<V, 8>(x, y);
            x += 8 * V::LANES;
        }
        while x + V::LANES <= length {
            self.paired::<V, 1>(x, y);
            x += V::LANES;
        }
    }

    /// Computes `C` vectors of a row of paired sums.
    #[inline(always)]
    fn paired<V: Vector<S>, const C: usize>(&mut self, x: usize, y: usize) {
        let Weights { taps, width, step, .. } = self.weights;
        let start = self.rows.slots[y] * self.rows.stride + x;
        let samples = &self.rows.data[start..][..self.weights.halo() + C * V::LANES];
        let mut sums = [V::splat(S::ZERO); C];
        for i in 0..width / 2 {
            let (first, last) =
                (load::<S, V, C>(&samples[i * step..]), load::<S, V, C>(&samples[(width - 1 - i) * step..]));
            let tap = V::splat(taps[i]);
            for c in 0..C {
                sums[c] = tap.fma(first[c].add(last[c]), sums[c]);
            }
        }
        if width % 2 == 1 {
            add(&mut sums, taps[width / 2], &load::<S, V, C>(&samples[width / 2 * step..]));
        }
        let out = &mut self.out[y][x..][..C * V::LANES];
        for (c, sum) in sums.iter().enumerate() {
            sum.store(&mut out[c * V::LANES..]);
        }
    }

    /// Computes `C` vectors of each of `R` rows of sums. Each sum takes its taps in order; a loaded sample serves all
    /// rows of sums whose masks cover it.
    #[inline(always)]
    fn block<V: Vector<S>, const C: usize, const R: usize>(&mut self, x: usize, y: usize) {
        let Weights { taps, width, step, .. } = self.weights;
        let height = self.weights.height();
        let mut sums = [[V::splat(S::ZERO); C]; R];
        for j in 0..height + R - 1 {
            let start = self.rows.slots[y + j] * self.rows.stride + x;
            let samples = &self.rows.data[start..][..self.weights.halo() + C * V::LANES];
            if j + 1 >= R && j < height {
                let tap_rows: [&[S]; R] = std::array::from_fn(|r| &taps[(j - r) * width..][..width]);
                for i in 0..width {
                    let samples = load::<S, V, C>(&samples[i * step..]);
                    for r in 0..R {
                        add(&mut sums[r], tap_rows[r][i], &samples);
                    }
                }
            } else {
                // The first and last input rows are not under the masks of all output rows.
                for i in 0..width {
                    let samples = load::<S, V, C>(&samples[i * step..]);
                    for r in 0..R {
                        if j >= r && j - r < height {
                            add(&mut sums[r], taps[(j - r) * width + i], &samples);
                        }
                    }
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            let out = &mut self.out[y + r][x..][..C * V::LANES];
            for (c, sum) in sums.iter().enumerate() {
                sum.store(&mut out[c * V::LANES..]);
            }
        }
    }
}

#[inline(always)]
fn load<S, V: Vector<S>, const C: usize>(samples: &[S]) -> [V; C] {
    let samples = &samples[..C * V::LANES];
    std::array::from_fn(|c| V::load(&samples[c * V::LANES..]))
}

/// Adds weighted samples to the sums.
#[inline(always)]
fn add<S, V: Vector<S>, const C: usize>(sums: &mut [V; C], tap: S, samples: &[V; C]) {
    let tap = V::splat(tap);
    for (sum, &sample) in sums.iter_mut().zip(samples) {
        *sum = tap.fma(sample, *sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Runs at one instruction level and checks.
    struct Check<'a, S> {
        rows: Rows<'a, S>,
        weights: Weights<'a, S>,
        expected: &'a [S],
        runs: &'a Cell<u32>,
    }

    impl<S: Fma> Work for Check<'_, S>
    where
        for<'a, 'b> Weigh<'a, 'b, S>: Work,
    {
        #[inline(always)]
        fn run<L: Level>(self) {
            let Check { rows, weights, expected, runs } = self;
            let mut out = vec![S::ZERO; expected.len()];
            let mut out_rows: Vec<_> = out.chunks_mut(rows.stride - weights.halo()).collect();
            Weigh { rows, weights, out: &mut out_rows }.run::<L>();
            assert_eq!(out, expected, "{}", std::any::type_name::<L>());
            runs.update(|runs| runs + 1);
        }
    }

    fn every_level_agrees<S: Fma>()
    where
        for<'a, 'b> Weigh<'a, 'b, S>: Work,
    {
        for (length, count, width, height, step) in [
            (16, 1, 1, 1, 1),
            (80, 3, 3, 1, 4),
            (160, 2, 6, 1, 3),
            (144, 1, 65, 1, 1),
            (144, 9, 4, 7, 3),
            (208, 6, 1, 2, 1),
            (64, 5, 17, 3, 2),
        ] {
            let stride = length + (width - 1) * step;
            let numbers = |n: usize| -> Vec<S> { (0..n).map(|i| S::of((i * 37 % 101) as f32 / 7.0)).collect() };
            let (data, taps) = (numbers(stride * (count + height - 1)), numbers(width * height));
            let slots: Vec<usize> = (0..count + height - 1).rev().collect();
            let mut expected = Vec::new();
            for y in 0..count {
                for x in 0..length {
                    expected.push((0..width * height).fold(S::ZERO, |sum, tap| {
                        let at = slots[y + tap / width] * stride + x + tap % width * step;
                        taps[tap].fma(data[at], sum)
                    }));
                }
            }
            let runs = Cell::new(0);
            let rows = Rows { data: &data, stride, slots: &slots };
            let weights = Weights { taps: &taps, width, step, paired: false };
            simd::run_at_all(|| Check { rows, weights, expected: &expected, runs: &runs });
            assert!(runs.get() > 0);
            if height > 1 {
                continue;
            }
            // Small integers, whose sums are exact in any order.
            let (data, taps) = (numbers(data.len()), numbers(width));
            let data: Vec<S> =
                data.iter().map(|_| S::ZERO).zip(0..).map(|(_, i)| S::of((i * 29 % 251) as f32)).collect();
            let even: Vec<S> = (0..taps.len()).map(|i| S::of((i.min(width - 1 - i) * 5 % 7) as f32)).collect();
            let expected = (0..count * length).map(|place| {
                let start = slots[place / length] * stride + place % length;
                (0..width).fold(S::ZERO, |sum, tap| even[tap].fma(data[start + tap * step], sum))
            });
            let expected: Vec<S> = expected.collect();
            let rows = Rows { data: &data, stride, slots: &slots };
            let weights = Weights { taps: &even, width, step, paired: true };
            simd::run_at_all(|| Check { rows, weights, expected: &expected, runs: &runs });
        }
    }

    #[test]
    fn every_level_agrees_with_plain_loops() {
        every_level_agrees::<f32>();
        every_level_agrees::<f64>();
    }
}
