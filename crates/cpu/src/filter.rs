//! Dense and separable filters: sums of an image, tile by tile, and their conversion to pixels.

use crate::rounding::{Round, Rounding};
use crate::rows::{Extend, Store, StoreScaled};
use crate::simd::{self, Level, Work};
use crate::tiles::{self, Scratch, Tile};
use crate::weigh::{LANES, Rows, Weights};
use crate::{Fma, pages};
use apron_abi::BorderMode;
use apron_core::{
    Accumulator, Correlate, FromSum, Image, ImageMut, Pixel, PixelType, Result, Scaled, Separable, Weights as Summed,
    Window,
};

/// Rows of sums between the inner loops and the output: few enough to stay in cache.
const GROUP: usize = 8;

/// Position of a tile's first output pixel, and the tile's size.
#[derive(Clone, Copy)]
struct Place {
    x: usize,
    y: usize,
    rows: usize,
    /// Samples per row.
    samples: usize,
}

impl Place {
    fn of<O>(tile: &Tile<'_, O>) -> Place {
        Place { x: tile.x, y: tile.y, rows: tile.rows.len(), samples: tile.rows[0].len() }
    }
}

/// Receives a row of sums: its number, the sums, padded to whole vectors, and the input rows under it.
type Finish<'a, S> = dyn FnMut(usize, &[S], Rows<'_, S>) + 'a;

/// The receiver of a tile's sums. It does not depend on the type of the output, so that sums are compiled once per type
/// of sample and of sum.
enum Sink<'a, 'b, S> {
    /// The rows of the output, for sums that need no conversion.
    Rows(&'a mut [&'b mut [S]]),
    /// Receives each row.
    Finish(&'a mut Finish<'a, S>),
}

/// A filter of an image.
pub(crate) struct Filter<'a, I: Pixel> {
    image: &'a Image<'a, I>,
    window: Window,
    mode: BorderMode,
    constant: f64,
    /// Taps of the pass along the rows, for a separable filter.
    across: Option<&'a [f32]>,
    /// The taps, row by row; of a separable filter, those along the columns.
    taps: &'a [f32],
    /// The taps for images of f64.
    doubles: (Option<&'a [f64]>, &'a [f64]),
    /// Taps per row.
    width: usize,
}

impl<'a, I: Pixel> Filter<'a, I> {
    pub(crate) fn dense(image: &'a Image<'_, I>, problem: &'a Correlate, window: Window) -> Self {
        let (mask, (mode, constant)) = (&problem.mask, problem.border.mode_of(I::PIXEL));
        let (width, doubles) = (mask.width() as usize, (None, mask.taps_f64()));
        Filter { image, window, mode, constant, across: None, taps: mask.taps(), doubles, width }
    }

    pub(crate) fn separable(image: &'a Image<'_, I>, problem: &'a Separable, window: Window) -> Self {
        let (mode, constant) = problem.border.mode_of(I::PIXEL);
        let (across, taps) = (Some(problem.taps_x.taps()), problem.taps_y.taps());
        let doubles = (Some(problem.taps_x.taps_f64()), problem.taps_y.taps_f64());
        Filter { image, window, mode, constant, across, taps, doubles, width: 1 }
    }

    pub(crate) fn scaled(image: &'a Image<'_, I>, problem: &'a Scaled, window: Window) -> Self {
        let (mode, constant) = problem.border.mode_of(I::PIXEL);
        let (across, taps, doubles, width) = match &problem.weights {
            Summed::Dense(mask) => (None, mask.taps(), (None, mask.taps_f64()), mask.width() as usize),
            Summed::Separable(taps_x, taps_y) => {
                (Some(taps_x.taps()), taps_y.taps(), (Some(taps_x.taps_f64()), taps_y.taps_f64()), 1)
            }
        };
        Filter { image, window, mode, constant, across, taps, doubles, width }
    }

    /// Computes the output into a new image.
    pub(crate) fn run<O: Pixel<Sum: Fma>>(&self, clamp: bool) -> Result<Image<'static, O>> {
        pages::filled(self.window.out, |out| self.run_into(clamp, out))
    }

    /// Computes the output into an existing image.
    pub(crate) fn run_into<O: Pixel<Sum: Fma>>(&self, clamp: bool, out: ImageMut<'_, O>) -> Result<()> {
        out.check(self.window.out)?;
        let halo = ((self.columns() - 1) * self.channels(), self.halo_rows());
        let seen = halo.1 + GROUP;
        let bytes = self.is_bytes() && O::PIXEL == PixelType::U8 && !clamp;
        match Rounding::new(self.across.unwrap_or(&[1.0]), self.taps) {
            Some(rounding) if bytes && self.pays(rounding) => {
                let out = u8::from_any_mut(O::into_any_mut(out)).expect("its type was compared");
                tiles::for_each(out, halo, seen, &|scratch, tile| self.bytes(rounding, scratch, tile));
            }
            _ => tiles::for_each(out, halo, seen, &|scratch, mut tile: Tile<'_, O>| {
                let place = Place::of(&tile);
                if matches!(O::PIXEL, PixelType::F32 | PixelType::F64) && !clamp {
                    let mut rows: Vec<_> = tile.rows.iter_mut().map(|row| bytemuck::cast_slice_mut(row)).collect();
                    self.sums::<O::Sum>(scratch, place, 0.0, Sink::Rows(&mut rows));
                } else {
                    let finish: &mut Finish<'_, O::Sum> = &mut |row, sums, _| store(sums, clamp, tile.rows[row]);
                    self.sums(scratch, place, 0.0, Sink::Finish(finish));
                }
            }),
        }
        Ok(())
    }

    /// Computes f64 sums, and scales and shifts each before it is rounded.
    pub(crate) fn scaled_into<O: Pixel>(&self, (factor, offset): (f64, f64), out: ImageMut<'_, O>) -> Result<()> {
        out.check(self.window.out)?;
        let halo = ((self.columns() - 1) * self.channels(), self.halo_rows());
        tiles::for_each(out, halo, halo.1 + GROUP, &|scratch, mut tile: Tile<'_, O>| {
            let place = Place::of(&tile);
            let finish: &mut Finish<'_, f64> = &mut |row, sums, _| store_scaled(sums, (factor, offset), tile.rows[row]);
            self.sums(scratch, place, 0.0, Sink::Finish(finish));
        });
        Ok(())
    }

    fn channels(&self) -> usize {
        self.window.out.channels as usize
    }

    /// Returns the number of input columns per sum.
    fn columns(&self) -> usize {
        self.across.map_or(self.width, <[f32]>::len)
    }

    /// Returns the number of halo rows: input rows per sum, less one.
    fn halo_rows(&self) -> usize {
        self.taps.len() / self.width - 1
    }

    /// Returns the fraction of sums that cost as much to compute again one by one as all sums computed again together.
    /// Assumes that a single sum costs eight times as much per tap, since it does not fill a vector.
    fn affordable(&self) -> f64 {
        let across = self.across.map_or(0, <[f32]>::len);
        let (among, alone) = (across + self.taps.len(), across.max(1) * self.taps.len());
        among as f64 / alone as f64 / 8.0
    }

    /// Returns whether the expected fraction of undecided f32 sums is at most a third of the affordable one. Measured
    /// on two cores, f32 is the faster up to about 100 uniform taps per axis.
    fn pays(&self, rounding: Rounding) -> bool {
        self.across.is_none() || 2.0 * rounding.off <= self.affordable() / 3.0
    }

    /// Returns whether every sample is a byte, border included.
    fn is_bytes(&self) -> bool {
        I::PIXEL == PixelType::U8 && (self.mode != BorderMode::Constant || self.constant as u8 as f64 == self.constant)
    }

    /// Returns the row of the image under mask row `y` of output row 0; `None` for a row of the constant.
    #[inline(always)]
    fn row(&self, y: usize) -> Option<u32> {
        let y = y as i32 + self.window.origin_y;
        self.mode.map(y, self.image.height() as i32).map(|y| y as u32)
    }

    /// Loads samples of a row of the image, minus `zero`, from the first under the mask at output column `x`.
    #[inline(always)]
    fn extend<'b, S: Accumulator>(&'b self, y: Option<u32>, x: usize, zero: f32, out: &'b mut [S]) -> Extend<'b, I, S> {
        Extend {
            row: y.map(|y| self.image.row(y)),
            channels: self.channels(),
            origin: x as i32 + self.window.origin_x,
            mode: self.mode,
            constant: S::from_f64(self.constant),
            zero: S::of(zero),
            out,
        }
    }

    /// Sums a tile of samples minus `zero`. With a `zero` other than 0 the samples are bytes, and sums may
    /// be taken in any order.
    fn sums<S: Fma>(&self, scratch: &mut Scratch<S>, place: Place, zero: f32, mut sink: Sink<'_, '_, S>) {
        let (taps, across) = if I::PIXEL == PixelType::F64 {
            let convert = |taps: &[f64]| -> Vec<S> { taps.iter().map(|&tap| S::from_f64(tap)).collect() };
            (convert(self.doubles.1), self.doubles.0.map(convert))
        } else {
            let convert = |taps: &[f32]| -> Vec<S> { taps.iter().map(|&tap| S::of(tap)).collect() };
            (convert(self.taps), self.across.map(convert))
        };
        let step = self.channels();
        let weights = Weights { taps: &taps, width: self.width, step, paired: false };
        let paired = zero != 0.0 && self.across.is_some_and(Rounding::is_paired);

        let samples = place.samples;
        let length = samples.next_multiple_of(LANES);
        let halo = (self.columns() - 1) * step;
        let extended = scratch.samples.take(length + halo);
        let sums = scratch.sums.take(GROUP * length);

        // Lines are the mask's input: rows of samples, or of sums along the rows. They are kept in a ring; if the
        // image has fewer rows than the ring, each row of the image has its own slot.
        let stride = length + weights.halo();
        let image_rows = self.image.height() as usize;
        let mut held = vec![None; (GROUP + self.halo_rows()).min(image_rows + 1)];
        let lines = scratch.lines.take(held.len() * stride);
        let mut slots = Vec::with_capacity(place.rows + self.halo_rows());
        for first in (0..place.rows).step_by(GROUP) {
            let end = (first + GROUP).min(place.rows);
            while slots.len() < end + self.halo_rows() {
                let y = self.row(place.y + slots.len());
                let slot = match y {
                    _ if held.len() <= image_rows => slots.len() % held.len(),
                    Some(y) => y as usize,
                    None => image_rows,
                };
                slots.push(slot);
                if held[slot] == Some(y) {
                    continue;
                }
                held[slot] = Some(y);
                let line = &mut lines[slot * stride..][..stride];
                let Some(across) = &across else {
                    self.extend(y, place.x, zero, &mut line[..samples + halo]).run();
                    continue;
                };
                // For a row of the constant this gives the first pass's result on the constant.
                self.extend(y, place.x, zero, &mut extended[..samples + halo]).run();
                let rows = Rows { data: extended, stride: length + halo, slots: &[0] };
                S::weigh(rows, Weights { taps: across, width: across.len(), step, paired }, &mut [line]);
            }
            let rows = Rows { data: lines, stride, slots: &slots[first..] };
            match &mut sink {
                Sink::Rows(out) if length == samples => {
                    let mut out: Vec<&mut [S]> = out[first..end].iter_mut().map(|row| &mut **row).collect();
                    S::weigh(rows, weights, &mut out);
                }
                sink => {
                    let mut sums: Vec<&mut [S]> = sums.chunks_mut(length).take(end - first).collect();
                    S::weigh(rows, weights, &mut sums);
                    for (row, sums) in sums.into_iter().enumerate() {
                        match sink {
                            Sink::Rows(out) => out[first + row].copy_from_slice(&sums[..samples]),
                            Sink::Finish(finish) => {
                                finish(first + row, sums, Rows { slots: &rows.slots[row..], ..rows });
                            }
                        }
                    }
                }
            }
        }
    }

    /// Computes a tile of bytes, rounded from f32 sums. Undecided sums are computed again in f64: sample by sample, or
    /// for the whole tile if that is less work, as in a uniform image.
    fn bytes(
        &self,
        rounding: Rounding,
        (scratch, scratch_f64): &mut (Scratch<f32>, Scratch<f64>),
        mut tile: Tile<'_, u8>,
    ) {
        let samples = tile.rows.len() * tile.rows[0].len();
        let most = (samples as f64 * self.affordable()) as usize;
        let (mut seen, mut count, mut open) = (0, 0, Vec::new());
        let place @ Place { x, y, .. } = Place::of(&tile);
        let finish: &mut Finish<'_, f32> = &mut |row, sums, lines| {
            let out = &mut *tile.rows[row];
            simd::run(Round { rounding, sums, out, open: &mut open });
            seen += open.len();
            if seen > samples / 32 {
                count = most + 1;
            } else if self.across.is_some() {
                open.retain(|&sample| !self.settled(rounding, lines, sample, out));
            }
            count += open.len();
            if count <= most && !open.is_empty() {
                simd::run(Again { filter: self, x, y: y + row, open: &open, scratch: scratch_f64, out });
            }
            open.clear();
        };
        self.sums(scratch, place, Rounding::ZERO, Sink::Finish(finish));
        if count > most {
            let finish: &mut Finish<'_, f64> = &mut |row, sums, _| store(sums, false, tile.rows[row]);
            self.sums(scratch_f64, place, 0.0, Sink::Finish(finish));
        }
    }
}

/// Converts a row of sums to pixels.
fn store<S: Fma, O: Pixel + FromSum<S>>(sums: &[S], clamp: bool, out: &mut [O]) {
    simd::run(Store { sums, clamp, out });
}

/// Scales and shifts a row of sums, and converts them to pixels.
fn store_scaled<O: Pixel>(sums: &[f64], (factor, offset): (f64, f64), out: &mut [O]) {
    simd::run(StoreScaled { sums, factor, offset, out });
}

impl<I: Pixel> Filter<'_, I> {
    /// Sums the first pass's f32 results of one sample in f64, which decides most of the undecided sums.
    #[inline(always)]
    fn settled(&self, rounding: Rounding, lines: Rows<'_, f32>, sample: usize, out: &mut [u8]) -> bool {
        let lines = lines.slots.iter().map(|slot| lines.data[slot * lines.stride + sample]);
        let sum = self
            .taps
            .iter()
            .zip(lines)
            .fold(rounding.lacks, |sum, (&tap, line)| (tap as f64).mul_add(line as f64, sum));
        let settled = Rounding::is_beyond(sum, rounding.off);
        if settled {
            out[sample] = u8::from_sum(sum);
        }
        settled
    }
}

/// Sums some samples of a row again, in f64.
struct Again<'a, I: Pixel> {
    filter: &'a Filter<'a, I>,
    /// Column of the first sample of `out`, and its row.
    x: usize,
    y: usize,
    /// Indices of the samples.
    open: &'a [usize],
    scratch: &'a mut Scratch<f64>,
    out: &'a mut [u8],
}

impl<I: Pixel> Work for Again<'_, I> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Again { filter, x, y, open, scratch, out } = self;
        let channels = filter.channels();
        let seen = filter.columns() * channels;
        let stride = seen.next_multiple_of(LANES);
        let height = filter.halo_rows() + 1;
        let pixels = scratch.samples.take(stride * height);
        let columns = scratch.sums.take(seen);
        for &sample in open {
            for (y, pixels) in (y..).zip(pixels.chunks_exact_mut(stride)) {
                filter.extend(filter.row(y), x + sample / channels, 0.0, &mut pixels[..seen]).run();
            }
            let channel = sample % channels;
            let sum = match filter.across {
                None => {
                    let lines = filter.taps.chunks(filter.width).zip(pixels.chunks(stride));
                    lines.fold(0.0, |start, (taps, line)| sum(start, taps, &line[channel..], channels))
                }
                Some(across) => {
                    // Down the columns first, many side by side: another order than the reference's, which matters for
                    // about one sum in 10^9.
                    columns.fill(0.0);
                    for (&tap, line) in filter.taps.iter().zip(pixels.chunks(stride)) {
                        columns.iter_mut().zip(line).for_each(|(sum, &pixel)| *sum = (tap as f64).mul_add(pixel, *sum));
                    }
                    let near = sum(0.0, across, &columns[channel..], channels);
                    if Rounding::is_decided(near) {
                        near
                    } else {
                        let lines = pixels.chunks(stride).map(|line| sum(0.0, across, &line[channel..], channels));
                        filter.taps.iter().zip(lines).fold(0.0, |sum, (&tap, line)| (tap as f64).mul_add(line, sum))
                    }
                }
            };
            out[sample] = u8::from_sum(sum);
        }
    }
}

/// Adds the sum of weighted samples, `step` apart, to `start`.
#[inline(always)]
fn sum(start: f64, taps: &[f32], samples: &[f64], step: usize) -> f64 {
    let samples = samples.iter().step_by(step);
    taps.iter().zip(samples).fold(start, |sum, (&tap, &sample)| (tap as f64).mul_add(sample, sum))
}
