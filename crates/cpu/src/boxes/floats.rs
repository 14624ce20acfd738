//! Box sums of floats, in f32 and in the order of `BOX_CHUNK`: along rows with chunks in vector lanes, down columns with columns in
//! lanes.
//!
//! Per chunk all prefix sums (from the first sample up) and all suffix sums (from the last sample down) are kept: they
//! are the tails and heads of all windows that end or begin in the chunk.

use super::Windows;
use crate::rows::Extend;
use crate::simd::{self, Level, Work};
use crate::tiles::{Buffer, Tile};
use crate::weigh::{Fma, LANES, Rows, Weights};
use apron_core::{Accumulator, BOX_CHUNK, Pixel};

const CHUNK: usize = BOX_CHUNK as usize;

/// Buffers that a thread reuses for all its tiles.
#[derive(Default)]
pub(super) struct Scratch {
    samples: Buffer<f32>,
    planes: Buffer<f32>,
    rows: Buffer<f32>,
    sums: Buffer<f32>,
}

pub(super) fn tile<I: Pixel, O: Pixel>(windows: &Windows<'_, I>, scratch: &mut Scratch, mut tile: Tile<'_, O>) {
    let factor = windows.filter.scale.factor(windows.filter.samples());
    let across = Across { windows, x: tile.x as i32 + windows.window.origin_x, count: tile.rows[0].len() };
    let (first, height) = (tile.y as i32 + windows.window.origin_y, windows.filter.height as usize);
    let Scratch { samples, planes, rows, sums } = scratch;
    let length = across.count.next_multiple_of(LANES);
    // Cached row sums of each row of the image, and of the constant row, where rows repeat.
    let mut known: Vec<Option<Vec<f32>>> =
        if windows.repeats() { vec![None; windows.image.height() as usize + 1] } else { Vec::new() };
    let mut row = |y: i32, out: &mut [f32]| {
        let source = windows.source(y).unwrap_or(windows.image.height() as usize);
        match known.get_mut(source) {
            None => across.sums(windows.row(y), samples, planes, out),
            Some(Some(sums)) => out.copy_from_slice(sums),
            Some(unknown) => {
                across.sums(windows.row(y), samples, planes, out);
                *unknown = Some(out.to_vec());
            }
        }
    };
    if height <= CHUNK {
        // A ring of as many rows as the window has.
        let (rows, sums) = (rows.take(height * length), sums.take(length));
        for y in 0..tile.rows.len() + height - 1 {
            row(first + y as i32, &mut rows[y % height * length..][..length]);
            let Some(top) = (y + 1).checked_sub(height) else { continue };
            let slots: Vec<usize> = (top..=y).map(|y| y % height).collect();
            let seen = Rows { data: rows, stride: length, slots: &slots };
            f32::weigh(seen, Weights { taps: &[1.0; CHUNK][..height], width: 1, step: 1, paired: false }, &mut [sums]);
            simd::run(Scaled { sums, factor, out: tile.rows[top] });
        }
        return;
    }
    // A ring of as many chunks as a window touches.
    let chunks = (height + CHUNK - 2) / CHUNK + 1;
    let (rows, sums) = (rows.take(chunks * CHUNK * length), sums.take((chunks + 2) * length));
    let (middle, sums) = sums.split_at_mut(length);
    let (tail, totals) = sums.split_at_mut(length);
    let mut down = Down { rows, length, height, first, middle, between: 0..0, tail, totals };
    for y in first..first + (tile.rows.len() + height - 1) as i32 {
        let slot = down.slot(y);
        row(y, &mut down.rows[slot * length..][..length]);
        let out = usize::try_from(y - first + 1 - height as i32).ok().map(|top| &mut *tile.rows[top]);
        simd::run(Step { down: &mut down, y, factor, out });
    }
}

/// Sums along a row.
struct Across<'a, I: Pixel> {
    windows: &'a Windows<'a, I>,
    /// Column of the first window's first pixel.
    x: i32,
    /// Number of sums, in samples.
    count: usize,
}

impl<I: Pixel> Across<'_, I> {
    /// Computes the sums of a row, or of the constant row.
    fn sums(&self, row: Option<&[I]>, samples: &mut Buffer<f32>, planes: &mut Buffer<f32>, out: &mut [f32]) {
        let (mode, constant) = self.windows.filter.border.mode();
        let (channels, width) = (self.windows.channels(), self.windows.filter.width as usize);
        if width <= CHUNK {
            let halo = (width - 1) * channels;
            let samples = samples.take(out.len() + halo);
            let extended = &mut samples[..self.count + halo];
            simd::run(Extend { row, channels, origin: self.x, mode, constant, zero: 0.0, out: extended });
            let rows = Rows { data: samples, stride: samples.len(), slots: &[0] };
            return f32::weigh(
                rows,
                Weights { taps: &[1.0; CHUNK][..width], width, step: channels, paired: false },
                &mut [out],
            );
        }
        // Whole chunks, from the first chunk of the first window to the last chunk of the last window.
        let lead = self.x.rem_euclid(CHUNK as i32);
        let pixels = (lead as usize + self.count / channels + width - 1).next_multiple_of(CHUNK);
        let samples = samples.take(pixels * channels);
        let origin = self.x - lead;
        simd::run(Extend { row, channels, origin, mode, constant, zero: 0.0, out: samples });
        let planes = planes.take((2 * CHUNK + 1) * pixels / CHUNK * channels);
        match channels {
            1 => simd::run(Chunked::<1> { width, samples, planes }),
            2 => simd::run(Chunked::<2> { width, samples, planes }),
            3 => simd::run(Chunked::<3> { width, samples, planes }),
            _ => simd::run(Chunked::<4> { width, samples, planes }),
        }
        out[..self.count].copy_from_slice(&samples[lead as usize * channels..][..self.count]);
    }
}

/// Replaces samples by the sums of the windows that begin there.
struct Chunked<'a, const CHANNELS: usize> {
    width: usize,
    /// Whole chunks of pixels; where a window exceeds the last chunk, the result is undefined.
    samples: &'a mut [f32],
    /// Scratch: 2 + 1/16 times the length of `samples`.
    planes: &'a mut [f32],
}

impl<const CHANNELS: usize> Work for Chunked<'_, CHANNELS> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Chunked { width, samples, planes } = self;
        let channels = CHANNELS;
        // Plane k holds sample k of every chunk; a lane is a chunk of one channel.
        let lanes = samples.len() / CHUNK;
        let (tails, rest) = planes.split_at_mut(CHUNK * lanes);
        let (heads, middle) = rest.split_at_mut(CHUNK * lanes);
        split::<CHANNELS>(samples, tails, lanes);
        let last = (CHUNK - 1) * lanes;
        heads[last..].copy_from_slice(&tails[last..]);
        for k in (0..CHUNK - 1).rev() {
            let (head, below) = heads[k * lanes..].split_at_mut(lanes);
            for ((head, below), sample) in head.iter_mut().zip(below).zip(&tails[k * lanes..]) {
                *head = *below + sample;
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
        middle.fill(0.0);
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
                *head = (*head + middle) + tail;
            }
        }
        join::<CHANNELS>(heads, samples, lanes);
    }
}

/// Side of the blocks of chunks and samples that are transposed in registers.
const BLOCK: usize = 4;

/// Transposes a block.
#[inline(always)]
fn turned(rows: [[f32; BLOCK]; BLOCK]) -> [[f32; BLOCK]; BLOCK] {
    std::array::from_fn(|column| std::array::from_fn(|row| rows[row][column]))
}

/// Loads the first samples.
#[inline(always)]
fn block(samples: &[f32]) -> [f32; BLOCK] {
    let samples = &samples[..BLOCK];
    std::array::from_fn(|lane| samples[lane])
}

/// Transposes chunks of samples into planes.
#[inline(always)]
fn split<const CHANNELS: usize>(samples: &[f32], planes: &mut [f32], lanes: usize) {
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
fn join<const CHANNELS: usize>(planes: &[f32], samples: &mut [f32], lanes: usize) {
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
fn add(middle: &mut [f32], chunks: &[f32], behind: usize) {
    for (middle, chunk) in middle.iter_mut().zip(&chunks[behind.min(chunks.len())..]) {
        *middle += chunk;
    }
}

/// Running sums down the columns, row by row.
struct Down<'a> {
    /// Ring of the chunks that a window touches: rows, which become heads once their chunk is complete.
    rows: &'a mut [f32],
    /// Samples per row.
    length: usize,
    /// Rows per window.
    height: usize,
    /// First row.
    first: i32,
    middle: &'a mut [f32],
    /// Range of the chunks that `middle` sums.
    between: std::ops::Range<i32>,
    tail: &'a mut [f32],
    /// The total of each complete chunk, in the order of the ring.
    totals: &'a mut [f32],
}

impl Down<'_> {
    /// Returns the slot of a row in the ring.
    fn slot(&self, y: i32) -> usize {
        y.rem_euclid((self.rows.len() / self.length) as i32) as usize
    }
}

/// Processes the next row, which is already in its slot; outputs the sums of the windows that end there.
struct Step<'a, 'b, O> {
    down: &'a mut Down<'b>,
    y: i32,
    factor: f32,
    /// None while no window has ended.
    out: Option<&'a mut [O]>,
}

impl<O: Pixel> Work for Step<'_, '_, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Step { down, y, factor, out } = self;
        let (length, slot, k) = (down.length, down.slot(y), y.rem_euclid(CHUNK as i32) as usize);
        let row = &down.rows[slot * length..][..length];
        if k == 0 || y == down.first {
            down.tail.copy_from_slice(row);
        } else {
            for (tail, sample) in down.tail.iter_mut().zip(row) {
                *tail += sample;
            }
        }
        if let Some(out) = out {
            let top = y + 1 - down.height as i32;
            let between = top.div_euclid(CHUNK as i32) + 1..y.div_euclid(CHUNK as i32);
            if between != down.between {
                down.middle.fill(0.0);
                for chunk in between.clone() {
                    let total = &down.totals[down.slot(chunk * CHUNK as i32) / CHUNK * length..][..length];
                    for (middle, total) in down.middle.iter_mut().zip(total) {
                        *middle += total;
                    }
                }
                down.between = between;
            }
            let head = &down.rows[down.slot(top) * length..][..length];
            for (((out, head), middle), tail) in out.iter_mut().zip(head).zip(&*down.middle).zip(&*down.tail) {
                *out = stored(((head + middle) + tail) * factor);
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

/// Stores sums multiplied by a factor.
struct Scaled<'a, O> {
    sums: &'a [f32],
    factor: f32,
    out: &'a mut [O],
}

impl<O: Pixel> Work for Scaled<'_, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        for (out, sum) in self.out.iter_mut().zip(self.sums) {
            *out = stored(sum * self.factor);
        }
    }
}

/// Rounds a scaled sum to the output's type.
#[inline(always)]
fn stored<O: Pixel>(sum: f32) -> O {
    O::from_sum(O::Sum::of(sum))
}
