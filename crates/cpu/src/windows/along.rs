//! Sums of floats along rows, several rows side by side.

use super::Windows;
use super::floats::{CHUNK, Float};
use crate::simd::{self, BLOCK, Level, Work};
use crate::tiles::Buffer;
use crate::weigh::{LANES, Rows, Weights};
use apron_core::{Pixel, Sample};
use std::ops::Range;

/// Buffers that a thread reuses for all its tiles.
#[derive(Default)]
pub(crate) struct Scratch<S> {
    samples: Buffer<S>,
    heads: Buffer<S>,
}

/// Sums along rows.
pub(crate) struct Along<'a, I: Pixel, S> {
    pub(crate) windows: &'a Windows<'a, I>,
    /// Whether the squares of the samples are summed.
    squared: bool,
    scratch: &'a mut Scratch<S>,
    /// Number of sums, in samples.
    count: usize,
    /// Number of pixels from the start of a chunk to the first window; 0 for windows of up to a chunk.
    lead: usize,
    /// Number of pixels under the windows, from there on; whole chunks.
    pixels: usize,
    under: Under,
}

/// Where the samples of an extended row come from.
struct Under {
    /// Samples of the image's row, and the place of the first one.
    inside: Range<usize>,
    place: usize,
    /// Samples of the border: their places, and the sample of the image's row that each repeats.
    border: Vec<(usize, Option<usize>)>,
}

impl<'a, I: Pixel, S: Float> Along<'a, I, S> {
    /// `x` is the column of the first window's first pixel.
    pub(crate) fn new(
        windows: &'a Windows<'a, I>,
        squared: bool,
        scratch: &'a mut Scratch<S>,
        x: i32,
        count: usize,
    ) -> Self {
        let (channels, width) = (windows.channels(), windows.width);
        let (mut lead, mut pixels) = (0, count / channels + width - 1);
        if width > CHUNK {
            // From the first chunk of the first window to the last chunk of the last window.
            lead = x.rem_euclid(CHUNK as i32) as usize;
            pixels = (lead + pixels).next_multiple_of(CHUNK);
        }
        let (first, columns) = (x - lead as i32, windows.image.width() as i32);
        let last = first + pixels as i32;
        let inside = first.clamp(0, columns)..last.clamp(0, columns);
        let sample = |x: i32| x as usize * channels;
        let mut border = Vec::new();
        for x in (first..last).filter(|x| !inside.contains(x)) {
            let from = windows.mode.map(x, columns);
            border
                .extend((0..channels).map(|channel| (sample(x - first) + channel, from.map(|x| sample(x) + channel))));
        }
        let place = sample((inside.start - first).clamp(0, pixels as i32));
        let under = Under { inside: sample(inside.start)..sample(inside.end), place, border };
        Along { windows, squared, scratch, count, lead, pixels, under }
    }

    /// Computes the sums of up to [`LANES`] rows, `None` for the constant row; those of each go to
    /// `out` from its start on.
    pub(crate) fn sums(&mut self, rows: &[Option<&[I]>], out: &mut [S], starts: &[usize]) {
        let &mut Along { windows, squared, ref mut scratch, count, lead, pixels, ref under } = self;
        let Scratch { samples, heads } = &mut **scratch;
        let (channels, width, constant) = (windows.channels(), windows.width, S::from_f64(windows.constant));
        // An odd number of vectors: powers of two would share a few lines of the cache.
        let (length, halo) = (count.next_multiple_of(LANES), (width - 1) * channels);
        let stride = (pixels * channels).max(length + halo).next_multiple_of(LANES) | LANES;
        let samples = samples.take(LANES * stride);
        for (row, out) in rows.iter().zip(samples.chunks_mut(stride)) {
            simd::run(Load { row: *row, under, constant, squared, out: &mut out[..pixels * channels] });
        }
        if width <= CHUNK {
            let taps = &[S::of(1.0f32); CHUNK][..width];
            for (samples, &start) in samples.chunks(stride).zip(starts) {
                let rows = Rows { data: samples, stride: length + halo, slots: &[0] };
                let weights = Weights { taps, width, step: channels, paired: false };
                S::weigh(rows, weights, &mut [&mut out[start..][..length]]);
            }
            return;
        }
        let heads = heads.take((width / CHUNK + 2) * (CHUNK + 1) * channels * LANES);
        let chunked = Chunked { width, before: lead + width - 1, samples, pixels, heads, out, starts, count };
        match channels {
            1 => chunked.run::<1>(),
            2 => chunked.run::<2>(),
            3 => chunked.run::<3>(),
            _ => chunked.run::<4>(),
        }
    }
}

/// Loads samples of the extended row, or their squares; in f64 the square of an f32 is exact.
struct Load<'a, I, S> {
    /// The row of the image, or `None` for the constant row.
    row: Option<&'a [I]>,
    under: &'a Under,
    constant: S,
    squared: bool,
    out: &'a mut [S],
}

impl<I: Sample, S: Float> Work for Load<'_, I, S> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Load { row, under, constant, squared, out } = self;
        match row {
            None => out.fill(constant),
            Some(row) => {
                let inside = &row[under.inside.clone()];
                out[under.place..].iter_mut().zip(inside).for_each(|(out, &sample)| *out = S::of(sample));
                for &(place, from) in &under.border {
                    out[place] = from.map_or(constant, |from| S::of(row[from]));
                }
            }
        }
        if squared {
            out.iter_mut().for_each(|sample| *sample = *sample * *sample);
        }
    }
}

/// A sample of each row, and those of a chunk.
type Lanes<S> = [S; LANES];
type Chunk<S, const CHANNELS: usize> = [[Lanes<S>; CHANNELS]; CHUNK];

/// Sums windows of over [`CHUNK`] pixels along rows, a row per lane.
struct Chunked<'a, S> {
    width: usize,
    /// Number of pixels before the last pixel of the first window.
    before: usize,
    /// Rows of samples, for all lanes.
    samples: &'a [S],
    /// Pixels per row: whole chunks.
    pixels: usize,
    /// Scratch: the heads of all chunks that a window touches, and one chunk more, and their totals.
    heads: &'a mut [S],
    out: &'a mut [S],
    /// Where the sums of each row begin in `out`.
    starts: &'a [usize],
    /// Number of sums of a row.
    count: usize,
}

impl<S: Float> Chunked<'_, S> {
    // Compiled once for all types of samples.
    #[inline(never)]
    fn run<const CHANNELS: usize>(self) {
        simd::run(OfChannels::<S, CHANNELS>(self));
    }
}

struct OfChannels<'a, S, const CHANNELS: usize>(Chunked<'a, S>);

impl<S: Float, const CHANNELS: usize> Work for OfChannels<'_, S, CHANNELS> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Chunked { width, before, samples, pixels, heads, out, starts, count } = self.0;
        // A window ends `distance` chunks after the chunk in which it begins, or one more.
        let (distance, offset) = ((width - 1) / CHUNK, (width - 1) % CHUNK);
        let ring = distance + 2;
        let (lanes, _) = heads.as_chunks_mut::<LANES>();
        let (pixel_lanes, _) = lanes.as_chunks_mut::<CHANNELS>();
        let (totals, heads) = pixel_lanes.split_at_mut(ring);
        let (heads, _) = heads.as_chunks_mut::<CHUNK>();
        let stride = samples.len() / LANES;
        let zero = [[S::ZERO; LANES]; CHANNELS];
        let (mut chunk, mut sums) = ([zero; CHUNK], [zero; CHUNK]);
        let mut middle = zero;
        for n in 0..pixels / CHUNK {
            turn::<L, _, _>(&samples[n * CHUNK * CHANNELS..], stride, &mut chunk);
            let mut tail = zero;
            if n < distance {
                chunk.iter().enumerate().for_each(|(k, sample)| next(&mut tail, k, sample));
            } else {
                // Of windows that began a chunk earlier, and of the others.
                let earlier = plus(middle, &totals[(n + ring - 1) % ring]);
                middle = zero;
                for between in n + 1 - distance..n {
                    middle = plus(middle, &totals[between % ring]);
                }
                let (far, near) = (&heads[(n + 1) % ring], &heads[(n - distance) % ring]);
                for k in 0..CHUNK {
                    next(&mut tail, k, &chunk[k]);
                    let begun = if k < offset {
                        plus(far[k + CHUNK - offset], &earlier)
                    } else {
                        plus(near[k - offset], &middle)
                    };
                    sums[k] = plus(begun, &tail);
                }
                // In samples, and below 0 where a window would begin before the first.
                let at = (n * CHUNK * CHANNELS) as isize - (before * CHANNELS) as isize;
                turn_back::<L, _, _>(&sums, at, out, starts, count);
            }
            totals[n % ring] = tail;
            let heads = &mut heads[n % ring];
            heads[CHUNK - 1] = chunk[CHUNK - 1];
            for k in (0..CHUNK - 1).rev() {
                heads[k] = plus(heads[k + 1], &chunk[k]);
            }
        }
    }
}

/// Adds sample `k` of a chunk to the sum of those before it.
#[inline(always)]
fn next<S: Float, const CHANNELS: usize>(tail: &mut [Lanes<S>; CHANNELS], k: usize, sample: &[Lanes<S>; CHANNELS]) {
    *tail = if k == 0 { *sample } else { plus(*tail, sample) };
}

#[inline(always)]
fn plus<S: Float, const CHANNELS: usize>(
    mut sums: [Lanes<S>; CHANNELS],
    others: &[Lanes<S>; CHANNELS],
) -> [Lanes<S>; CHANNELS] {
    for (sums, others) in sums.iter_mut().zip(others) {
        for lane in 0..LANES {
            sums[lane] += others[lane];
        }
    }
    sums
}

/// Loads the first samples.
#[inline(always)]
fn block<S: Float>(samples: &[S]) -> [S; BLOCK] {
    let samples = &samples[..BLOCK];
    std::array::from_fn(|lane| samples[lane])
}

/// Loads a chunk of all rows.
#[inline(always)]
fn turn<L: Level, S: Float, const CHANNELS: usize>(samples: &[S], stride: usize, chunk: &mut Chunk<S, CHANNELS>) {
    let chunk = chunk.as_flattened_mut();
    for row in (0..LANES).step_by(BLOCK) {
        for (n, chunk) in chunk.chunks_exact_mut(BLOCK).enumerate() {
            let rows = std::array::from_fn(|i| block(&samples[(row + i) * stride + n * BLOCK..]));
            for (to, lanes) in chunk.iter_mut().zip(S::turned::<L>(rows)) {
                to[row..][..BLOCK].copy_from_slice(&lanes);
            }
        }
    }
}

/// Stores the sums of a chunk from sample `at` of each row on, those that are among its `count`.
#[inline(always)]
fn turn_back<L: Level, S: Float, const CHANNELS: usize>(
    sums: &Chunk<S, CHANNELS>,
    at: isize,
    out: &mut [S],
    starts: &[usize],
    count: usize,
) {
    let sums = sums.as_flattened();
    for (row, starts) in starts.chunks(BLOCK).enumerate() {
        for (n, sums) in sums.chunks_exact(BLOCK).enumerate() {
            let rows = S::turned::<L>(std::array::from_fn(|i| block(&sums[i][row * BLOCK..])));
            let at = at + (n * BLOCK) as isize;
            if at >= 0 && at as usize + BLOCK <= count {
                for (row, &start) in rows.iter().zip(starts) {
                    out[start + at as usize..][..BLOCK].copy_from_slice(row);
                }
            } else {
                for (row, &start) in rows.iter().zip(starts) {
                    let inside = (at..).zip(row).filter(|(at, _)| (0..count as isize).contains(at));
                    inside.for_each(|(at, sum)| out[start + at as usize] = *sum);
                }
            }
        }
    }
}
