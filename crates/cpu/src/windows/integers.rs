//! Sums of integers, which may be summed in any order.
//!
//! Column sums are updated per output row: the row that enters the window is added, and the row that leaves it is
//! subtracted. Along the row, sums of few columns are built by doubling their number, many sums side by side; those of
//! many columns are running sums of the differences of the columns that enter and leave.

use super::Windows;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use apron_core::{Accumulator, Pixel};
use std::ops::Range;

/// An integer type of samples.
pub(crate) trait Integer: Pixel {
    /// Converts a sample, exactly.
    fn whole(self) -> i32;
    /// Converts the low bits of a number, which are all if the type holds it.
    fn of_whole(number: i32) -> Self;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn whole(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn of_whole(number: i32) -> Self {
                number as $type
            }
        }
    )*};
}
integers!(u8, u16, i16);

/// An integer type of sums, which wrap around.
pub(crate) trait Whole: Copy + Default + Send {
    /// Converts a sample, or another small number.
    fn of(number: i32) -> Self;
    /// Converts a column sum.
    fn wide<C: Whole>(sum: C) -> Self;
    fn to_i64(self) -> i64;
    /// Converts a sum that is below 2^51.
    fn to_f64(self) -> f64;
    /// Converts a sum of squares.
    fn squares_to_f64(self) -> f64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// Replaces samples by the running sums of every `channels`th.
    fn run<L: Level>(samples: &mut [Self], channels: usize);
}

macro_rules! whole {
    ($($type:ty: $run:path),*) => {$(
        impl Whole for $type {
            #[inline(always)]
            fn of(number: i32) -> Self {
                number as $type
            }
            #[inline(always)]
            fn wide<C: Whole>(sum: C) -> Self {
                sum.to_i64() as $type
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                if size_of::<$type>() < 8 {
                    return self as f64;
                }
                // At 1.5 * 2^52 the spacing of f64 is 1; few processors convert vectors of i64.
                const MAGIC: f64 = 6755399441055744.0;
                f64::from_bits(MAGIC.to_bits().wrapping_add(self as u64)) - MAGIC
            }
            #[inline(always)]
            fn squares_to_f64(self) -> f64 {
                if size_of::<$type>() < 8 { self as f64 } else { self as u64 as f64 }
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn run<L: Level>(samples: &mut [Self], channels: usize) {
                $run(samples, channels);
            }
        }
    )*};
}
whole!(u16: simd::running, i32: L::running_i32, i64: L::running_i64);

/// Buffers that a thread reuses for all its tiles: `C` are sums of columns, `T` of windows.
#[derive(Default)]
pub(crate) struct Scratch<C, T> {
    columns: Buffer<C>,
    sums: Buffer<T>,
}

/// Sums of a tile's windows, row by row.
pub(crate) struct Sums<'a, C, T> {
    /// Whether the squares of the samples are summed.
    squared: bool,
    /// First row under the windows.
    y: i32,
    columns: &'a mut [C],
    sums: &'a mut [T],
}

/// Widest windows whose sums are built by doubling.
pub(crate) const NARROW: usize = 8;

impl<'a, C: Whole, T: Whole> Sums<'a, C, T> {
    /// Sums the columns of the first row of windows.
    pub(crate) fn new<I: Integer>(under: &Under<'_, I>, squared: bool, scratch: &'a mut Scratch<C, T>) -> Self {
        let (windows, y) = (under.windows, under.y);
        let columns = scratch.columns.take(under.length);
        columns.fill(C::default());
        let rows = y..y + windows.height as i32;
        if windows.repeats() {
            for (y, times) in times(windows, rows) {
                simd::run(Add { under, row: windows.row(y), times: times as i32, squared, columns });
            }
        } else {
            for y in rows {
                simd::run(Add { under, row: windows.row(y), times: 1, squared, columns });
            }
        }
        Sums { squared, y, columns, sums: scratch.sums.take(2 * under.length.next_multiple_of(simd::RUN)) }
    }

    /// Returns the sums of a row of windows.
    pub(crate) fn row<I: Integer>(&mut self, under: &Under<'_, I>) -> &[T] {
        let (channels, width) = (under.windows.channels(), under.windows.width);
        let (columns, sums) = (&*self.columns, &mut *self.sums);
        if width <= NARROW || size_of::<T>() == 2 {
            simd::run(Double { columns, channels, width, sums });
        } else {
            simd::run(Run { columns, channels, width, sums });
        }
        &sums[..under.length - (width - 1) * channels]
    }

    /// Moves the windows down by one row.
    pub(crate) fn advance<I: Integer>(&mut self, under: &Under<'_, I>) {
        let &mut Sums { squared, y, ref mut columns, .. } = self;
        self.y += 1;
        match (under.windows.row(y + under.windows.height as i32), under.windows.row(y)) {
            (Some(entering), Some(leaving)) => simd::run(Replace { under, entering, leaving, squared, columns }),
            (entering, leaving) => {
                simd::run(Add { under, row: entering, times: 1, squared, columns });
                simd::run(Add { under, row: leaving, times: -1, squared, columns });
            }
        }
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

/// The input under the windows of a tile.
pub(crate) struct Under<'a, I: Pixel> {
    pub(super) windows: &'a Windows<'a, I>,
    /// First row.
    pub(super) y: i32,
    /// Samples per row.
    pub(super) length: usize,
    /// Range of the image row's samples among them.
    pub(super) inside: Range<usize>,
    /// Number of samples to the left of these.
    before: usize,
    /// Samples of the border that repeat one inside: the places of both.
    repeated: Vec<(usize, usize)>,
    /// Other samples of the border: their place, and that in the image's row.
    pub(super) outside: Vec<(usize, usize)>,
    /// Places of the samples of a constant border.
    pub(super) constant: Vec<usize>,
}

impl<'a, I: Integer> Under<'a, I> {
    pub(crate) fn new<O>(windows: &'a Windows<'a, I>, tile: &Tile<'_, O>) -> Self {
        let (mode, channels) = (windows.mode, windows.channels());
        let (x, y) = (tile.x as i32 + windows.window.origin_x, tile.y as i32 + windows.window.origin_y);
        let length = tile.rows[0].len() + (windows.width - 1) * channels;
        let (width, end) = (windows.image.width() as i32, x + (length / channels) as i32);
        let sample = |x: i32| x as usize * channels;
        let (first, last) = (x.clamp(0, width), end.clamp(0, width));
        let (inside, before) = (sample(first)..sample(last), sample((first - x).clamp(0, end - x)));
        let (mut repeated, mut outside, mut constant) = (Vec::new(), Vec::new(), Vec::new());
        for at in (x..end).filter(|x| !(first..last).contains(x)) {
            let places = sample(at - x)..sample(at - x) + channels;
            match mode.map(at, width) {
                Some(from) if inside.contains(&sample(from)) => {
                    repeated.extend(places.zip(before + sample(from) - inside.start..));
                }
                Some(from) => outside.extend(places.zip(sample(from)..)),
                None => constant.extend(places),
            }
        }
        Under { windows, y, length, inside, before, repeated, outside, constant }
    }

    /// Repeats sums of columns inside in the border.
    #[inline(always)]
    pub(super) fn repeat<C: Copy>(&self, columns: &mut [C]) {
        self.repeated.iter().for_each(|&(place, from)| columns[place] = columns[from]);
    }

    /// Returns the places of the samples inside the image.
    pub(super) fn places(&self) -> Range<usize> {
        self.before..self.before + self.inside.len()
    }
}

/// Adds a multiple of a row to the column sums.
struct Add<'a, I: Pixel, C> {
    under: &'a Under<'a, I>,
    /// The row of the image, or `None` for a row of the constant.
    row: Option<&'a [I]>,
    times: i32,
    squared: bool,
    columns: &'a mut [C],
}

impl<I: Integer, C: Whole> Work for Add<'_, I, C> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Add { under, row, times, squared, columns } = self;
        let times = C::of(times);
        let add = |column: &mut C, sample: i32| {
            let factor = if squared { times.times(C::of(sample)) } else { times };
            *column = column.plus(factor.times(C::of(sample)));
        };
        let constant = I::from_sum(I::Sum::from_f64(under.windows.constant)).whole();
        let Some(row) = row else {
            return columns.iter_mut().for_each(|column| add(column, constant));
        };
        let inside = columns[under.places()].iter_mut().zip(&row[under.inside.clone()]);
        if squared || times.to_i64() != 1 {
            inside.for_each(|(column, sample)| add(column, sample.whole()));
        } else {
            inside.for_each(|(column, sample)| *column = column.plus(C::of(sample.whole())));
        }
        under.outside.iter().for_each(|&(place, from)| add(&mut columns[place], row[from].whole()));
        under.repeat(columns);
        under.constant.iter().for_each(|&place| add(&mut columns[place], constant));
    }
}

/// Adds a row to the column sums, and subtracts one.
struct Replace<'a, I: Pixel, C> {
    under: &'a Under<'a, I>,
    entering: &'a [I],
    leaving: &'a [I],
    squared: bool,
    columns: &'a mut [C],
}

impl<I: Integer, C: Whole> Work for Replace<'_, I, C> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Replace { squared, .. } = self;
        if squared {
            self.by(|column, entering, leaving| {
                column.plus(C::of(entering - leaving).times(C::of(entering + leaving)))
            });
        } else {
            self.by(|column, entering, leaving| column.minus(C::of(leaving)).plus(C::of(entering)));
        }
    }
}

impl<I: Integer, C: Whole> Replace<'_, I, C> {
    #[inline(always)]
    fn by(self, replaced: impl Fn(C, i32, i32) -> C) {
        let Replace { under, entering, leaving, columns, .. } = self;
        let rows = entering[under.inside.clone()].iter().zip(&leaving[under.inside.clone()]);
        for (column, (entering, leaving)) in columns[under.places()].iter_mut().zip(rows) {
            *column = replaced(*column, entering.whole(), leaving.whole());
        }
        for &(place, from) in &under.outside {
            columns[place] = replaced(columns[place], entering[from].whole(), leaving[from].whole());
        }
        under.repeat(columns);
    }
}

/// Computes, for one row, the sum of `width` columns from every column on, by doubling the number of columns.
struct Double<'a, C, T> {
    columns: &'a [C],
    channels: usize,
    width: usize,
    /// Scratch of twice the length of `columns`; the first half receives the sums.
    sums: &'a mut [T],
}

impl<C: Whole, T: Whole> Work for Double<'_, C, T> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Double { columns, channels, width, sums } = self;
        let (mut now, mut next) = sums.split_at_mut(sums.len() / 2);
        let Some(digits) = width.ilog2().checked_sub(1) else {
            return now.iter_mut().zip(columns).for_each(|(to, &one)| *to = T::wide(one));
        };
        // Start such that the final sums end up in the first half.
        if digits % 2 == 1 {
            std::mem::swap(&mut now, &mut next);
        }
        // The binary digits of the width, the highest first: each doubles the number of columns, and a 1 adds one.
        double(columns, columns, channels, width >> digits, now);
        for digit in (0..digits).rev() {
            double(now, columns, channels, width >> digit, next);
            std::mem::swap(&mut now, &mut next);
        }
    }
}

/// Sums `width` columns from sums of half as many.
#[inline(always)]
fn double<C: Whole, S: Whole, T: Whole>(halves: &[S], columns: &[C], channels: usize, width: usize, to: &mut [T]) {
    let pairs = halves.iter().zip(&halves[width / 2 * channels..]);
    if width.is_multiple_of(2) {
        to.iter_mut().zip(pairs).for_each(|(to, (&a, &b))| *to = T::wide(a).plus(T::wide(b)));
    } else {
        let triples = pairs.zip(&columns[(width - 1) * channels..]);
        for (to, ((&a, &b), &one)) in to.iter_mut().zip(triples) {
            *to = T::wide(a).plus(T::wide(b)).plus(T::wide(one));
        }
    }
}

/// Computes, for one row, the sum of `width` columns from every column on, by a running sum along the row.
struct Run<'a, C, T> {
    columns: &'a [C],
    channels: usize,
    width: usize,
    /// Receives the sums; as long as `columns`, and whole vectors.
    sums: &'a mut [T],
}

impl<C: Whole, T: Whole> Work for Run<'_, C, T> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Run { columns, channels, width, sums } = self;
        let window = width * channels;
        let add = |sum: T, column: &C| sum.plus(T::wide(*column));
        if channels == 1 {
            sums[0] = columns[..window].iter().fold(T::default(), add);
        } else {
            for (channel, sum) in sums[..channels].iter_mut().enumerate() {
                *sum = columns[channel..window].iter().step_by(channels).fold(T::default(), add);
            }
        }
        let count = columns.len() - window + channels;
        let steps = columns[window..].iter().zip(columns);
        for (sum, (&enters, &leaves)) in sums[channels..count].iter_mut().zip(steps) {
            *sum = T::wide(enters).minus(T::wide(leaves));
        }
        T::run::<L>(&mut sums[..count.next_multiple_of(simd::RUN)], channels);
    }
}
