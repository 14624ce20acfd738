//! Box sums of integers, which may be summed in any order.
//!
//! Column sums are updated per output row: the row that enters the window is added, and the row that leaves it is
//! subtracted. Sums along the rows are built by doubling the number of columns, many sums side by side.

use super::Windows;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use apron_core::{Accumulator, Pixel, PixelType, Sample, Scale};
use std::ops::{Add, AddAssign, Range, Sub};

/// An integer type of sums.
pub(super) trait Whole: Copy + Default + Send + Add<Output = Self> + Sub<Output = Self> + AddAssign {
    /// Converts an integer, exactly.
    fn of<I: Sample>(sample: I) -> Self;
    /// Returns the value as f64; it is below 2^53.
    fn to_f64(self) -> f64;
    /// Returns the value as i32; it is below 2^31.
    fn to_i32(self) -> i32;
    /// Returns the value times `count`; the product must fit the type.
    fn times(self, count: u32) -> Self;
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Whole for $type {
            #[inline(always)]
            fn of<I: Sample>(sample: I) -> Self {
                sample.to_f32() as i32 as $type
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn times(self, count: u32) -> Self {
                self * count as $type
            }
        }
    )*};
}
whole!(u16, u32, u64, i32, i64);

/// Buffers that a thread reuses for all its tiles.
#[derive(Default)]
pub(super) struct Scratch<I, S> {
    entering: Buffer<I>,
    leaving: Buffer<I>,
    /// Column sums, and sums of them along the row.
    columns: Buffer<S>,
    sums: Buffer<S>,
}

pub(super) fn tile<I: Pixel, S: Whole, O: Pixel>(
    windows: &Windows<'_, I>,
    scratch: &mut Scratch<I, S>,
    mut tile: Tile<'_, O>,
) {
    let channels = windows.channels();
    let (width, height) = (windows.filter.width as usize, windows.filter.height as i32);
    let (scale, samples) = (windows.filter.scale, windows.filter.samples());
    let count = tile.rows[0].len();
    let length = count + (width - 1) * channels;
    let (x, y) = (tile.x as i32 + windows.window.origin_x, tile.y as i32 + windows.window.origin_y);
    let columns = scratch.columns.take(length);
    let sums = scratch.sums.take(2 * length);
    let (entering, leaving) = (scratch.entering.take(length), scratch.leaving.take(length));

    let lines = Lines::new(windows, x, length);
    columns.fill(S::default());
    if windows.repeats() {
        for (y, times) in times(windows, y..y + height) {
            let line = lines.at(y, entering);
            columns.iter_mut().zip(line).for_each(|(sum, &sample)| *sum += S::of(sample).times(times));
        }
    } else {
        for y in y..y + height {
            simd::run(Enter { row: lines.at(y, entering), columns });
        }
    }
    for (y, out) in (y..).zip(&mut tile.rows) {
        simd::run(Slide { columns, channels, width, sums });
        let sums = &sums[..count];
        if (I::PIXEL, O::PIXEL) == (PixelType::U8, PixelType::U8) && scale == Scale::Mean && samples <= MOST_SAMPLES {
            simd::run(Mean { sums, samples: samples as i32, out: bytemuck::cast_slice_mut(out) });
        } else {
            simd::run(Scaled { sums, scale, samples, out });
        }
        let (entering, leaving) = (lines.at(y + height, entering), lines.at(y, leaving));
        simd::run(Replace { entering, leaving, columns });
    }
}

/// Counts how often each row of the image, and the constant row, occurs among rows of the extended image; returns the
/// first occurrence and the count of each.
fn times<I: Pixel>(windows: &Windows<'_, I>, rows: Range<i32>) -> Vec<(i32, u32)> {
    let constant = windows.image.height() as usize;
    let mut found = vec![(0, 0); constant + 1];
    for y in rows {
        let (first, times) = &mut found[windows.source(y).unwrap_or(constant)];
        if *times == 0 {
            *first = y;
        }
        *times += 1;
    }
    found.retain(|(_, times)| *times > 0);
    found
}

/// Rows of the image extended by its border, starting at a given column.
struct Lines<'a, I: Pixel> {
    windows: &'a Windows<'a, I>,
    /// Range of the image row's samples that the line includes.
    inside: Range<usize>,
    /// Samples of the line to the left of these.
    before: usize,
    /// Border pixels: the sample index in the line, and in the image's row unless the border is constant.
    outside: Vec<(usize, Option<usize>)>,
}

impl<I: Pixel> Lines<'_, I> {
    /// Creates lines of `length` samples, starting at column `x`.
    fn new<'a>(windows: &'a Windows<'a, I>, x: i32, length: usize) -> Lines<'a, I> {
        let ((mode, _), channels) = (windows.filter.border.mode(), windows.channels());
        let (width, end) = (windows.image.width() as i32, x + (length / channels) as i32);
        let sample = |x: i32| x as usize * channels;
        let (first, last) = (x.clamp(0, width), end.clamp(0, width));
        let outside = (x..end).filter(|x| !(first..last).contains(x));
        Lines {
            windows,
            inside: sample(first)..sample(last),
            before: sample((first - x).clamp(0, end - x)),
            outside: outside.map(|at| (sample(at - x), mode.map(at, width).map(sample))).collect(),
        }
    }

    /// Returns row `y`; a slice of the image where no border pixel is needed.
    fn at<'b>(&'b self, y: i32, line: &'b mut [I]) -> &'b [I] {
        let constant = I::from_sum(I::Sum::of(self.windows.filter.border.mode().1));
        let Some(row) = self.windows.row(y) else {
            line.fill(constant);
            return line;
        };
        if self.outside.is_empty() {
            return &row[self.inside.clone()];
        }
        line[self.before..][..self.inside.len()].copy_from_slice(&row[self.inside.clone()]);
        let channels = self.windows.channels();
        for &(at, from) in &self.outside {
            let pixel = &mut line[at..][..channels];
            match from {
                Some(from) => pixel.iter_mut().zip(&row[from..]).for_each(|(to, &sample)| *to = sample),
                None => pixel.fill(constant),
            }
        }
        line
    }
}

/// Adds a row to the column sums.
struct Enter<'a, I, S> {
    row: &'a [I],
    columns: &'a mut [S],
}

impl<I: Sample, S: Whole> Work for Enter<'_, I, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for (column, &sample) in self.columns.iter_mut().zip(self.row) {
            *column += S::of(sample);
        }
    }
}

/// Adds a row to the column sums, and subtracts one.
struct Replace<'a, I, S> {
    entering: &'a [I],
    leaving: &'a [I],
    columns: &'a mut [S],
}

impl<I: Sample, S: Whole> Work for Replace<'_, I, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for ((column, &leaving), &entering) in self.columns.iter_mut().zip(self.leaving).zip(self.entering) {
            *column = (*column - S::of(leaving)) + S::of(entering);
        }
    }
}

/// Computes, for one row, the sum of `width` columns from every column on.
struct Slide<'a, S> {
    columns: &'a [S],
    channels: usize,
    width: usize,
    /// Scratch of twice the length of `columns`; the first half receives the sums.
    sums: &'a mut [S],
}

impl<S: Whole> Work for Slide<'_, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Slide { columns, channels, width, sums } = self;
        // The binary digits of the width, the highest first: each doubles the number of columns, and a 1 adds one.
        let double = |sums: &[S], digit: u32, to: &mut [S]| {
            let before = width >> (digit + 1);
            let pairs = sums.iter().zip(&sums[before * channels..]);
            if width >> digit & 1 == 0 {
                to.iter_mut().zip(pairs).for_each(|(to, (&a, &b))| *to = a + b);
            } else {
                let triples = pairs.zip(&columns[2 * before * channels..]);
                to.iter_mut().zip(triples).for_each(|(to, ((&a, &b), &one))| *to = a + b + one);
            }
        };
        let (mut now, mut next) = sums.split_at_mut(columns.len());
        let Some(digits) = width.ilog2().checked_sub(1) else { return now.copy_from_slice(columns) };
        // Start such that the final sums end up in the first half.
        if digits % 2 == 1 {
            std::mem::swap(&mut now, &mut next);
        }
        double(columns, digits, now);
        for digit in (0..digits).rev() {
            double(now, digit, next);
            std::mem::swap(&mut now, &mut next);
        }
    }
}

/// Largest window, in samples, for which [`Mean`] is exact: sums of bytes stay below 2^24.
const MOST_SAMPLES: u64 = (1 << 24) / 256;

/// Divides sums of bytes by the number of samples, rounding half to even.
struct Mean<'a, S> {
    sums: &'a [S],
    samples: i32,
    out: &'a mut [u8],
}

impl<S: Whole> Work for Mean<'_, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Mean { sums, samples, out } = self;
        let reciprocal = 1.0 / samples as f32;
        // At 1.5 * 2^23 the spacing of f32 is 1: the addition leaves the nearest integer in the low bits.
        const MAGIC: f32 = 12582912.0;
        for (out, &sum) in out.iter_mut().zip(sums) {
            // The error of the quotient is below 2^-14, so the integer is off by at most one; the exact remainder
            // decides.
            let sum = sum.to_i32();
            let near = ((sum as f32 * reciprocal + MAGIC).to_bits() & 0xff) as i32;
            let (odd, twice) = (near & 1, 2 * (sum - near * samples));
            let (more, less) = ((twice + odd > samples) as i32, (odd - twice > samples) as i32);
            *out = (near + more - less) as u8;
        }
    }
}

/// Scales sums and stores them.
struct Scaled<'a, S, O> {
    sums: &'a [S],
    scale: Scale,
    samples: u64,
    out: &'a mut [O],
}

impl<S: Whole, O: Pixel> Work for Scaled<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let store = |sum: f64| O::from_sum(O::Sum::from_f64(sum));
        let pairs = self.out.iter_mut().zip(self.sums);
        match self.scale {
            Scale::Mean => {
                let samples = self.samples as f64;
                pairs.for_each(|(out, sum)| *out = store(sum.to_f64() / samples));
            }
            Scale::Tap(tap) => pairs.for_each(|(out, sum)| *out = store(sum.to_f64() * tap as f64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Divides every possible sum of windows of this many samples, at one instruction level.
    struct Check(i32);

    impl Work for Check {
        #[inline(always)]
        fn run<L: Level>(self) {
            let sums: Vec<u32> = (0..=255 * self.0 as u32).collect();
            let mut out = vec![0; sums.len()];
            Mean { sums: &sums, samples: self.0, out: &mut out }.run::<L>();
            let expected = sums.iter().map(|&sum| (sum as f64 / self.0 as f64).round_ties_even() as u8);
            assert!(out.iter().copied().eq(expected), "{}", self.0);
        }
    }

    #[test]
    fn means_are_those_of_division() {
        // The estimate is too low for 82, 94 and 110 samples, and too high for 14, 26 and others.
        for samples in (1..=110).chain([225, 255, 256, 3 * 255, 4096, 4097, 65535, MOST_SAMPLES as i32]) {
            simd::run_at_all(|| Check(samples));
        }
    }
}
