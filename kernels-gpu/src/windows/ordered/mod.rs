//! Windows of floats of any size, in the order of [`BOX_CHUNK`], in two launches: sums along rows into a buffer,
//! then down its columns.
//!
//! A window's sum is `(head + middle) + tail`. Windows that start in one chunk share its suffix sums, their heads;
//! windows that end in one chunk share its prefix sums, their tails. The 16 windows that start in one chunk end in two
//! adjacent chunks: so there are two middles per chunk of windows, and the second has one chunk more.
//!
//! Per output and axis: four additions, and one more per 256 pixels of the window's side. The first launch reads the
//! image once, the second reads each sum along a row twice.
//!
//! Launch contract: the buffers are as large as the parameters say; the sums along rows are one plane per term, each
//! with one row more than the image, which holds the sums of a row of the constant. The parameters and the shared
//! memory are as the plan computes them.

mod columns;
mod rows;

pub use columns::OrderedColumns;
pub use rows::OrderedRows;

use crate::device::{Device, Global};
use apron_abi::{Accumulator, OrderedParams, BOX_CHUNK};
use core::ops::{Add, Mul};

/// A type of sums of floats.
pub trait Number: Accumulator + Add<Output = Self> + Mul<Output = Self> {}

impl Number for f32 {}
impl Number for f64 {}

/// The final step on a window's sums: the sum of its samples and, if there are two terms, that of their squares.
pub trait FinishOrdered<S, O, const TERMS: usize> {
    /// Returns the output.
    fn finish<D: Device>(d: D, sums: [S; TERMS], p: &OrderedParams) -> O;
}

const CHUNK: i32 = BOX_CHUNK as i32;

/// An axis of the windows, cut into chunks.
#[derive(Clone, Copy)]
struct Axis {
    /// Samples per window.
    window: u32,
    /// The chunk in which the first window starts.
    first: i32,
    /// Place in this chunk of the first window's start.
    lead: u32,
}

impl Axis {
    #[inline(always)]
    fn of(window: u32, origin: i32) -> Self {
        Axis { window, first: origin >> BOX_CHUNK.trailing_zeros(), lead: (origin & (CHUNK - 1)) as u32 }
    }

    /// Returns whether windows are longer than a chunk; shorter ones are summed from their first sample to the last.
    #[inline(always)]
    fn is_long(self) -> bool {
        self.window > BOX_CHUNK
    }

    /// Returns the number of chunks from the chunk in which windows start to the one in which the first of them ends.
    #[inline(always)]
    fn apart(self) -> u32 {
        (self.window - 1) / BOX_CHUNK
    }

    /// Returns the place in its chunk of the last sample of a window that starts at the first sample of a chunk.
    #[inline(always)]
    fn end(self) -> u32 {
        (self.window - 1) % BOX_CHUNK
    }
}

/// Adds sums, term by term.
#[inline(always)]
fn plus<S: Number, const TERMS: usize>(mut sums: [S; TERMS], more: [S; TERMS]) -> [S; TERMS] {
    for t in 0..TERMS {
        sums[t] = sums[t] + more[t];
    }
    sums
}

/// Returns the sums of `RUNS` runs of `count` numbers, each added up in order from zero; run `i` starts at number `i`.
#[inline(always)]
fn runs<S: Number, const TERMS: usize, const RUNS: usize>(
    count: u32,
    at: impl Fn(u32) -> [S; TERMS],
) -> [[S; TERMS]; RUNS] {
    let (mut sums, last) = ([[S::ZERO; TERMS]; RUNS], RUNS as u32 - 1);
    let (mut i, end) = (0, if count > 0 { count + last } else { 0 });
    while i < end {
        if i >= last && i + 4 <= count {
            // All runs have these numbers: four are loaded before the first is added.
            let numbers = [at(i), at(i + 1), at(i + 2), at(i + 3)];
            for number in 0..4 {
                for run in 0..RUNS {
                    sums[run] = plus(sums[run], numbers[number]);
                }
            }
            i += 4;
        } else {
            let number = at(i);
            for run in 0..RUNS {
                if i >= run as u32 && i < run as u32 + count {
                    sums[run] = plus(sums[run], number);
                }
            }
            i += 1;
        }
    }
    sums
}

/// Returns the samples per row, and per plane, of the sums along rows.
#[inline(always)]
fn plane(p: &OrderedParams) -> (u64, u64) {
    let row = (p.out_width * p.channels) as u64;
    (row, row * (p.height as u64 + 1))
}

/// Returns the totals of chunks of rows, for the block's image of a batch.
#[inline(always)]
fn totals<D: Device, S>(d: D, p: &OrderedParams) -> Global<S> {
    Global::at(p.totals).of_image(d.image(), p.totals_step)
}

/// Returns the index of the totals of chunk `chunk` of the buffer, of term `term`, at sample 0 of a row.
#[inline(always)]
fn totals_row(p: &OrderedParams, chunk: u32, term: usize) -> u64 {
    (term as u64 * p.chunks as u64 + chunk as u64) * (p.out_width * p.channels) as u64
}
