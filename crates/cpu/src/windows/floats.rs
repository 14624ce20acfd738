//! Sums of floats in the order of `BOX_CHUNK`: along rows with rows in vector lanes, down columns
//! with columns in lanes.
//!
//! Per chunk there are all prefix sums (from the first sample up) and all suffix sums (from the last sample down): they
//! are the tails and heads of all windows that end or begin in the chunk.

use super::Windows;
use super::along::{self, Along};
use crate::simd::{self, Block, Level, Work};
use crate::tiles::{Buffer, Tile};
use crate::weigh::{Fma, LANES, Rows, Weights};
use apron_core::{BOX_CHUNK, Pixel};
use std::ops::{Add, AddAssign, Mul};

pub(super) const CHUNK: usize = BOX_CHUNK as usize;

/// An accumulator: f32 or f64.
pub(crate) trait Float: Fma + Default + Add<Output = Self> + AddAssign + Mul<Output = Self> {
    /// Transposes a block.
    fn turned<L: Level>(rows: Block<Self>) -> Block<Self>;
}

macro_rules! float {
    ($($type:ty: $turned:ident),*) => {$(
        impl Float for $type {
            #[inline(always)]
            fn turned<L: Level>(rows: Block<$type>) -> Block<$type> {
                L::$turned(rows)
            }
        }
    )*};
}
float!(f32: turned_f32, f64: turned_f64);

/// The conversion of a finished sum.
pub(crate) trait Finish<S, O>: Copy {
    /// Must be `#[inline(always)]`.
    fn of(self, sum: S) -> O;
}

/// Buffers that a thread reuses for all its tiles.
#[derive(Default)]
pub(crate) struct Scratch<S> {
    along: along::Scratch<S>,
    rows: Buffer<S>,
    sums: Buffer<S>,
}

/// Sums of a tile's windows, row by row.
pub(crate) struct Sums<'a, I: Pixel, S> {
    along: Along<'a, I, S>,
    down: Down<'a, S>,
    /// Next row of the extended image.
    y: i32,
    /// Sums along the rows are known up to the row `known`; the tile ends at the row `end`.
    known: i32,
    end: i32,
    /// Sums along each row of the image, and along the constant row, where rows repeat.
    repeated: Vec<S>,
}

impl<'a, I: Pixel, S: Float> Sums<'a, I, S> {
    /// Starts with the first row under a tile; sums samples, or their squares.
    pub(crate) fn new<O>(
        windows: &'a Windows<'a, I>,
        squared: bool,
        scratch: &'a mut Scratch<S>,
        tile: &Tile<'_, O>,
    ) -> Self {
        let Scratch { along, rows, sums } = scratch;
        let count = tile.rows[0].len();
        let mut along = Along::new(windows, squared, along, tile.x as i32 + windows.window.origin_x, count);
        let y = tile.y as i32 + windows.window.origin_y;
        // Rows are an odd number of vectors apart: powers of two would share a few lines of the cache.
        let down = Down::new(rows, sums, (count.div_ceil(LANES) | 1) * LANES, windows.height, y);
        let mut repeated = Vec::new();
        if windows.repeats() {
            let height = windows.image.height() as usize;
            repeated = vec![S::ZERO; (height + 1) * down.length];
            let rows: Vec<_> = (0..height as u32).map(|y| Some(windows.image.row(y))).chain([None]).collect();
            for (n, rows) in rows.chunks(LANES).enumerate() {
                let starts: Vec<usize> = (n * LANES..).take(rows.len()).map(|row| row * down.length).collect();
                along.sums(rows, &mut repeated, &starts);
            }
        }
        let end = y + (windows.height - 1 + tile.rows.len()) as i32;
        Sums { along, down, y, known: y, end, repeated }
    }

    /// Takes the next row; outputs the sums of the windows that end there. `out` is `None` while no window has ended.
    pub(crate) fn next<O>(&mut self, finish: impl Finish<S, O>, out: Option<&mut [O]>) {
        let (y, windows) = (self.y, self.along.windows);
        self.y += 1;
        if !self.repeated.is_empty() {
            let (row, length) = (windows.source(y).unwrap_or(windows.image.height() as usize), self.down.length);
            let slot = self.down.slot(y);
            self.down.rows[slot * length..][..length].copy_from_slice(&self.repeated[row * length..][..length]);
        } else if y == self.known {
            let next = y..self.end.min(y + LANES as i32);
            let rows: Vec<_> = next.clone().map(|y| windows.row(y)).collect();
            let starts: Vec<usize> = next.clone().map(|y| self.down.slot(y) * self.down.length).collect();
            self.along.sums(&rows, self.down.rows, &starts);
            self.known = next.end;
        }
        if self.down.height > CHUNK {
            simd::run(Step { down: &mut self.down, y, finish, out });
        } else if let Some(out) = out {
            self.down.weigh(y);
            simd::run(Store { sums: self.down.tail, finish, out });
        }
    }
}

/// Sums down the columns, row by row.
struct Down<'a, S> {
    /// Ring of the rows of the chunks that a window touches: of windows of over [`CHUNK`] rows they become heads once
    /// their chunk is complete.
    rows: &'a mut [S],
    /// Samples per row.
    length: usize,
    /// Rows per window.
    height: usize,
    /// First row.
    first: i32,
    middle: &'a mut [S],
    /// Range of the chunks that `middle` sums.
    between: std::ops::Range<i32>,
    tail: &'a mut [S],
    /// The total of each complete chunk, in the order of the ring.
    totals: &'a mut [S],
}

impl<'a, S: Float> Down<'a, S> {
    fn new(rows: &'a mut Buffer<S>, sums: &'a mut Buffer<S>, length: usize, height: usize, first: i32) -> Self {
        let chunks = if height > CHUNK { (height + CHUNK - 2) / CHUNK + 1 } else { 1 };
        // One chunk more, for the rows that are summed ahead.
        let rows = rows.take(((chunks + 1) * CHUNK) * length);
        let chunks = rows.len() / length / CHUNK;
        let (middle, sums) = sums.take((chunks + 2) * length).split_at_mut(length);
        let (tail, totals) = sums.split_at_mut(length);
        let down = Down { rows, length, height, first, middle, between: 0..0, tail, totals };
        down.middle.fill(S::ZERO);
        down
    }

    /// Returns the slot of a row in the ring.
    #[inline(always)]
    fn slot(&self, y: i32) -> usize {
        y.rem_euclid((self.rows.len() / self.length) as i32) as usize
    }

    /// Sums the windows of up to [`CHUNK`] rows that end with a row, into `tail`.
    fn weigh(&mut self, y: i32) {
        let mut slots = [0; CHUNK];
        let slots = &mut slots[..self.height];
        for (slot, y) in slots.iter_mut().zip(y + 1 - self.height as i32..) {
            *slot = self.slot(y);
        }
        let rows = Rows { data: self.rows, stride: self.length, slots };
        let taps = &[S::of(1.0f32); CHUNK][..self.height];
        S::weigh(rows, Weights { taps, width: 1, step: 1, paired: false }, &mut [self.tail]);
    }
}

/// Processes the next row, which is already in its slot, of windows of over [`CHUNK`] rows; outputs the sums of
/// those that end there.
struct Step<'a, 'b, S, F, O> {
    down: &'a mut Down<'b, S>,
    y: i32,
    finish: F,
    /// None while no window has ended.
    out: Option<&'a mut [O]>,
}

impl<S: Float, F: Finish<S, O>, O> Work for Step<'_, '_, S, F, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Step { down, y, finish, out } = self;
        let (length, slot, k) = (down.length, down.slot(y), y.rem_euclid(CHUNK as i32) as usize);
        let row = &down.rows[slot * length..][..length];
        if k == 0 || y == down.first {
            down.tail.copy_from_slice(row);
        } else {
            for (tail, sample) in down.tail.iter_mut().zip(row) {
                *tail += *sample;
            }
        }
        if let Some(out) = out {
            let top = y + 1 - down.height as i32;
            let between = top.div_euclid(CHUNK as i32) + 1..y.div_euclid(CHUNK as i32);
            if between != down.between {
                down.middle.fill(S::ZERO);
                for chunk in between.clone() {
                    let total = &down.totals[down.slot(chunk * CHUNK as i32) / CHUNK * length..][..length];
                    for (middle, total) in down.middle.iter_mut().zip(total) {
                        *middle += *total;
                    }
                }
                down.between = between;
            }
            let head = &down.rows[down.slot(top) * length..][..length];
            for (((out, head), middle), tail) in out.iter_mut().zip(head).zip(&*down.middle).zip(&*down.tail) {
                *out = finish.of((*head + *middle) + *tail);
            }
        }
        if k == CHUNK - 1 {
            let place = slot / CHUNK;
            down.totals[place * length..][..length].copy_from_slice(down.tail);
            // The first chunk may start in its middle.
            let from = k - (y - down.first).min(k as i32) as usize;
            for row in (place * CHUNK + from..slot).rev() {
                let (head, below) = down.rows[row * length..].split_at_mut(length);
                for (head, below) in head.iter_mut().zip(below) {
                    *head += *below;
                }
            }
        }
    }
}

/// Outputs sums.
struct Store<'a, S, F, O> {
    sums: &'a [S],
    finish: F,
    out: &'a mut [O],
}

impl<S: Float, F: Finish<S, O>, O> Work for Store<'_, S, F, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for (out, sum) in self.out.iter_mut().zip(self.sums) {
            *out = self.finish.of(*sum);
        }
    }
}
