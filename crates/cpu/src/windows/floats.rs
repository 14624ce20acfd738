//! Sums of floats in the order of `BOX_CHUNK`: along rows with chunks in vector lanes, down columns with columns in
//! lanes.
//!
//! Per chunk all prefix sums (from the first sample up) and all suffix sums (from the last sample down) are kept: they
//! are the tails and heads of all windows that end or begin in the chunk.

use super::Windows;
use crate::rows::Extend;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use crate::weigh::{Fma, LANES, Rows, Weights};
use apron_core::{BOX_CHUNK, Pixel};
use std::ops::{Add, AddAssign, Mul};

const CHUNK: usize = BOX_CHUNK as usize;

/// An accumulator: f32 or f64.
pub(crate) trait Float: Fma + Default + Add<Output = Self> + AddAssign + Mul<Output = Self> {}
impl Float for f32 {}
impl Float for f64 {}

/// What becomes of a sum.
pub(crate) trait Finish<S, O>: Copy {
    /// Must be `#[inline(always)]`.
    fn of(self, sum: S) -> O;
}

/// Buffers that a thread reuses for all its tiles.
#[derive(Default)]
pub(crate) struct Scratch<S> {
    samples: Buffer<S>,
    planes: Buffer<S>,
    rows: Buffer<S>,
    sums: Buffer<S>,
}

/// Sums of a tile's windows, row by row.
pub(crate) struct Sums<'a, I: Pixel, S> {
    across: Across<'a, I>,
    samples: &'a mut Buffer<S>,
    planes: &'a mut Buffer<S>,
    down: Down<'a, S>,
    /// Next row of the extended image.
    y: i32,
    /// Cached row sums of each row of the image, and of the constant row, where rows repeat.
    known: Vec<Option<Vec<S>>>,
}

impl<'a, I: Pixel, S: Float> Sums<'a, I, S> {
    /// Starts with the first row under a tile; sums samples, or their squares.
    pub(crate) fn new<O>(
        windows: &'a Windows<'a, I>,
        squared: bool,
        scratch: &'a mut Scratch<S>,
        tile: &Tile<'_, O>,
    ) -> Self {
        let Scratch { samples, planes, rows, sums } = scratch;
        let across = Across { windows, squared, x: tile.x as i32 + windows.window.origin_x, count: tile.rows[0].len() };
        let y = tile.y as i32 + windows.window.origin_y;
        let down = Down::new(rows, sums, across.count.next_multiple_of(LANES), windows.height, y);
        let known = if windows.repeats() { vec![None; windows.image.height() as usize + 1] } else { Vec::new() };
        Sums { across, samples, planes, down, y, known }
    }

    /// Takes the next row; outputs the sums of the windows that end there. `out` is `None` while no window has ended.
    pub(crate) fn next<O>(&mut self, finish: impl Finish<S, O>, out: Option<&mut [O]>) {
        let (y, windows) = (self.y, self.across.windows);
        self.y += 1;
        let row = self.down.row(y);
        let source = windows.source(y).unwrap_or(windows.image.height() as usize);
        match self.known.get_mut(source) {
            None => self.across.sums(windows.row(y), self.samples, self.planes, row),
            Some(Some(sums)) => row.copy_from_slice(sums),
            Some(unknown) => {
                self.across.sums(windows.row(y), self.samples, self.planes, row);
                *unknown = Some(row.to_vec());
            }
        }
        if self.down.height > CHUNK {
            simd::run(Step { down: &mut self.down, y, finish, out });
        } else if let Some(out) = out {
            self.down.weigh(y);
            simd::run(Store { sums: self.down.tail, finish, out });
        }
    }
}

/// Sums along a row.
struct Across<'a, I: Pixel> {
    windows: &'a Windows<'a, I>,
    /// Whether the squares of the samples are summed.
    squared: bool,
    /// Column of the first window's first pixel.
    x: i32,
    /// Number of sums, in samples.
    count: usize,
}

impl<I: Pixel> Across<'_, I> {
    /// Computes the sums of a row, or of the constant row.
    fn sums<S: Float>(&self, row: Option<&[I]>, samples: &mut Buffer<S>, planes: &mut Buffer<S>, out: &mut [S]) {
        let (channels, width) = (self.windows.channels(), self.windows.width);
        if width <= CHUNK {
            let halo = (width - 1) * channels;
            let samples = samples.take(out.len() + halo);
            self.extend(row, self.x, &mut samples[..self.count + halo]);
            let rows = Rows { data: samples, stride: samples.len(), slots: &[0] };
            let taps = &[S::of(1.0f32); CHUNK][..width];
            return S::weigh(rows, Weights { taps, width, step: channels, paired: false }, &mut [out]);
        }
        // Whole chunks, from the first chunk of the first window to the last chunk of the last window.
        let lead = self.x.rem_euclid(CHUNK as i32);
        let pixels = (lead as usize + self.count / channels + width - 1).next_multiple_of(CHUNK);
        let samples = samples.take(pixels * channels);
        self.extend(row, self.x - lead, samples);
        let planes = planes.take((2 * CHUNK + 1) * pixels / CHUNK * channels);
        match channels {
            1 => simd::run(Chunked::<_, 1> { width, samples, planes }),
            2 => simd::run(Chunked::<_, 2> { width, samples, planes }),
            3 => simd::run(Chunked::<_, 3> { width, samples, planes }),
            _ => simd::run(Chunked::<_, 4> { width, samples, planes }),
        }
        out[..self.count].copy_from_slice(&samples[lead as usize * channels..][..self.count]);
    }

    /// Loads samples of the extended row, or their squares, from column `origin` on.
    fn extend<S: Float>(&self, row: Option<&[I]>, origin: i32, out: &mut [S]) {
        let &Windows { mode, constant, .. } = self.windows;
        let channels = self.windows.channels();
        simd::run(Extend { row, channels, origin, mode, constant: S::of(constant), zero: S::ZERO, out });
        if self.squared {
            simd::run(Square { samples: out });
        }
    }
}

/// Squares samples; in f64 the square of an f32 is exact.
struct Square<'a, S> {
    samples: &'a mut [S],
}

impl<S: Float> Work for Square<'_, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        self.samples.iter_mut().for_each(|sample| *sample = *sample * *sample);
    }
}

/// Replaces samples by the sums of the windows that begin there.
struct Chunked<'a, S, const CHANNELS: usize> {
    width: usize,
    /// Whole chunks of pixels; where a window exceeds the last chunk, the result is undefined.
    samples: &'a mut [S],
    /// Scratch: 2 + 1/16 times the length of `samples`.
    planes: &'a mut [S],
}

impl<S: Float, const CHANNELS: usize> Work for Chunked<'_, S, CHANNELS> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Chunked { width, samples, planes } = self;
        let channels = CHANNELS;
        // Plane k holds sample k of every chunk; a lane is a chunk of one channel.
        let lanes = samples.len() / CHUNK;
        let (tails, rest) = planes.split_at_mut(CHUNK * lanes);
        let (heads, middle) = rest.split_at_mut(CHUNK * lanes);
        split::<_, CHANNELS>(samples, tails, lanes);
        let last = (CHUNK - 1) * lanes;
        heads[last..].copy_from_slice(&tails[last..]);
        for k in (0..CHUNK - 1).rev() {
            let (head, below) = heads[k * lanes..].split_at_mut(lanes);
            for ((head, below), sample) in head.iter_mut().zip(below).zip(&tails[k * lanes..]) {
                *head = *below + *sample;
            }
        }
        for k in 1..CHUNK {
            let (above, tail) = tails[(k - 1) * lanes..].split_at_mut(lanes);
            for (tail, above) in tail.iter_mut().zip(above) {
                *tail += *above;
            }
        }
        // A window ends `distance` chunks after the chunk in which it begins, or one more.
        let mut distance = (width - 1) / CHUNK;
        middle.fill(S::ZERO);
        for between in 1..distance {
            add(middle, &tails[last..], between * channels);
        }
        for k in 0..CHUNK {
            let end = (k + width - 1) / CHUNK;
            if end > distance {
                add(middle, &tails[last..], distance * channels);
                distance = end;
            }
            let tails = &tails[(k + width - 1) % CHUNK * lanes..][..lanes];
            let tails = &tails[(distance * channels).min(lanes)..];
            for ((head, middle), tail) in heads[k * lanes..].iter_mut().zip(&*middle).zip(tails) {
                *head = (*head + *middle) + *tail;
            }
        }
        join::<_, CHANNELS>(heads, samples, lanes);
    }
}

/// Side of the blocks of chunks and samples that are transposed in registers.
const BLOCK: usize = 4;

/// Transposes a block.
#[inline(always)]
fn turned<S: Float>(rows: [[S; BLOCK]; BLOCK]) -> [[S; BLOCK]; BLOCK] {
    std::array::from_fn(|column| std::array::from_fn(|row| rows[row][column]))
}

/// Loads the first samples.
#[inline(always)]
fn block<S: Float>(samples: &[S]) -> [S; BLOCK] {
    let samples = &samples[..BLOCK];
    std::array::from_fn(|lane| samples[lane])
}

/// Transposes chunks of samples into planes.
#[inline(always)]
fn split<S: Float, const CHANNELS: usize>(samples: &[S], planes: &mut [S], lanes: usize) {
    let blocked = if CHANNELS == 1 { lanes / BLOCK * BLOCK } else { 0 };
    for (chunk, k) in blocks(blocked) {
        let rows = std::array::from_fn(|row| block(&samples[(chunk + row) * CHUNK + k..]));
        for (column, samples) in turned(rows).iter().enumerate() {
            planes[(k + column) * lanes + chunk..][..BLOCK].copy_from_slice(samples);
        }
    }
    for (chunk, samples) in samples.chunks_exact(CHUNK * CHANNELS).enumerate().skip(blocked) {
        let (pixels, _) = samples.as_chunks::<CHANNELS>();
        for (k, pixel) in pixels.iter().enumerate() {
            planes[k * lanes + chunk * CHANNELS..][..CHANNELS].copy_from_slice(pixel);
        }
    }
}

/// Transposes planes back into chunks of samples.
#[inline(always)]
fn join<S: Float, const CHANNELS: usize>(planes: &[S], samples: &mut [S], lanes: usize) {
    let blocked = if CHANNELS == 1 { lanes / BLOCK * BLOCK } else { 0 };
    for (chunk, k) in blocks(blocked) {
        let columns = std::array::from_fn(|column| block(&planes[(k + column) * lanes + chunk..]));
        for (row, plane) in turned(columns).iter().enumerate() {
            samples[(chunk + row) * CHUNK + k..][..BLOCK].copy_from_slice(plane);
        }
    }
    for (chunk, samples) in samples.chunks_exact_mut(CHUNK * CHANNELS).enumerate().skip(blocked) {
        let (pixels, _) = samples.as_chunks_mut::<CHANNELS>();
        for (k, pixel) in pixels.iter_mut().enumerate() {
            pixel.copy_from_slice(&planes[k * lanes + chunk * CHANNELS..][..CHANNELS]);
        }
    }
}

/// Iterates over the blocks: the first chunk and the first sample of each.
#[inline(always)]
fn blocks(chunks: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..chunks).step_by(BLOCK).flat_map(|chunk| (0..CHUNK).step_by(BLOCK).map(move |k| (chunk, k)))
}

/// Adds to each lane the chunk `behind` lanes after it.
#[inline(always)]
fn add<S: Float>(middle: &mut [S], chunks: &[S], behind: usize) {
    for (middle, chunk) in middle.iter_mut().zip(&chunks[behind.min(chunks.len())..]) {
        *middle += *chunk;
    }
}

/// Sums down the columns, row by row.
struct Down<'a, S> {
    /// Ring of the rows of a window of up to [`CHUNK`] rows; of a higher one, of the chunks that it touches: rows, which
    /// become heads once their chunk is complete.
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
        let chunks = if height > CHUNK { (height + CHUNK - 2) / CHUNK + 1 } else { 0 };
        let rows = rows.take((chunks * CHUNK).max(height) * length);
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

    /// Returns the place of a row in the ring.
    fn row(&mut self, y: i32) -> &mut [S] {
        let slot = self.slot(y);
        &mut self.rows[slot * self.length..][..self.length]
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

/// Processes the next row, which is already in its slot, of windows of over [`CHUNK`] rows; outputs the sums of those that
/// end there.
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
