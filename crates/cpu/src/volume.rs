//! Filters of volumes, a band of rows at a time.
//!
//! A task owns some rows of the output, in some planes, and walks through the planes from front to back. Of each plane
//! it keeps the rows that the mask sees: converted, extended along x and, for separable taps, already filtered along x
//! and y. They lie in a ring of as many planes as the mask is deep, which stays in the cache; so the sums along z read
//! nothing from far away.
//!
//! ```text
//! for each plane of the input:
//!     for each of the band's rows: extend along x; separable: sums along x, then along y; into the ring
//!     if the ring has all planes under the mask: for each row of the output: sums over the ring's rows
//! ```

use crate::rows::Extend;
use crate::simd::{self, Level, Work};
use crate::tiles::Buffer;
use crate::weigh::{LANES, Rows, Weights};
use crate::{Fma, pages, parallel};
use apron_abi::BorderMode;
use apron_core::{
    Accumulator, AnyImage, Cast, Error, Image, ImageMut, Overflow, Pixel, PixelType, Result, Rounding, VolumeFilter,
    VolumeShape, each_type,
};

/// Approximate number of bytes of a ring: half of a core's second-level cache.
const RING_BYTES: usize = 1 << 19;

/// Filters a volume, whose planes lie one below the other, in parallel: bit for bit what
/// `apron_reference::volume` computes.
///
/// # Errors
/// As [`VolumeFilter::window`]; [`Error::PixelType`] and [`Error::Shape`] if the volume or the output does
/// not match the problem.
pub fn volume<O: Pixel<Sum: Fma>>(stack: &AnyImage<'_>, problem: &VolumeFilter) -> Result<Image<'static, O>> {
    pages::filled(problem.window()?.out.stacked(), |out| volume_into(stack, problem, out))
}

/// As [`volume`], into an existing image.
///
/// # Errors
/// As [`volume`], and [`Error::Parameter`] if `out` has another shape.
pub fn volume_into<O: Pixel<Sum: Fma>>(
    stack: &AnyImage<'_>,
    problem: &VolumeFilter,
    out: ImageMut<'_, O>,
) -> Result<()> {
    let operation = "volume";
    for (found, expected) in [(stack.pixel_type(), problem.src), (O::PIXEL, problem.dst)] {
        if found != expected {
            return Err(Error::PixelType { operation, found, expected: expected.to_string() });
        }
    }
    if stack.shape() != problem.shape {
        let (value, limit) = (stack.shape().to_string(), problem.shape.to_string());
        return Err(Error::Shape { what: "shape", value, limit });
    }
    out.check(problem.window()?.out.stacked())?;
    let (stages, last) = problem.stages()?;
    let between = stored(stack, stages)?;
    once(between.as_ref().unwrap_or(stack), &last, out)
}

/// Solves the stages before the last one; `None` if there are none.
fn stored(stack: &AnyImage<'_>, stages: Vec<VolumeFilter>) -> Result<Option<AnyImage<'static>>> {
    let mut between = None;
    for stage in stages {
        between = Some(crate::any::filter(&stage.into(), between.as_ref().unwrap_or(stack), None)?);
    }
    Ok(between)
}

/// Filters a volume by sums that are converted once.
fn once<O: Pixel<Sum: Fma>>(stack: &AnyImage<'_>, problem: &VolumeFilter, out: ImageMut<'_, O>) -> Result<()> {
    match problem.sums() {
        PixelType::F64 => run::<f64, O>(stack, problem, out),
        // Of floats to floats of at most 32 bits: f32.
        _ => run::<O::Sum, O>(stack, problem, out),
    }
}

/// Output planes whose sums along z are taken together, so that a loaded sample serves several.
const GROUP: usize = 4;

/// Least number of planes of a task, in multiples of the planes that it reads beside its own.
const HALOS: usize = 4;

/// Tasks per thread, for load balance.
const TASKS: usize = 4;

/// The taps of one axis, and what they see outside.
struct Along<S> {
    taps: Vec<S>,
    outside: S,
}

/// A filter as stages: along x and along y within each plane, where taps are separable, and over the ring of planes.
struct Stages<'a, S> {
    stack: &'a AnyImage<'a>,
    input: VolumeShape,
    out: VolumeShape,
    origin: [i32; 3],
    modes: [BorderMode; 3],
    across: Option<Along<S>>,
    down: Option<Along<S>>,
    /// Taps over the ring; none if the ring's rows are the sums.
    last: Option<Vec<S>>,
    /// Columns, rows and planes that the last stage sees.
    seen: [usize; 3],
    /// Samples of the ring outside the volume along x, y and z.
    outside: [S; 3],
    divisor: S,
    cast: Cast,
}

impl<'a, S: Fma> Stages<'a, S> {
    fn of(stack: &'a AnyImage<'_>, problem: &VolumeFilter) -> Result<Stages<'a, S>> {
        let (passes, window, input) = (problem.passes()?, problem.window()?, problem.volume()?);
        let mut stages = Stages {
            stack,
            input,
            out: window.out,
            origin: window.origin,
            modes: passes[0].modes,
            across: None,
            down: None,
            last: None,
            seen: [1; 3],
            outside: [S::ZERO; 3],
            divisor: S::from_f64(problem.divisor),
            cast: problem.cast,
        };
        for pass in &passes {
            let taps: Vec<S> = pass.taps.iter().map(|&tap| S::from_f64(tap)).collect();
            let outside = pass.constants.map(S::from_f64);
            match pass.axis {
                Some(0) => stages.across = Some(Along { taps, outside: outside[0] }),
                Some(1) => stages.down = Some(Along { taps, outside: outside[1] }),
                _ => {
                    (stages.seen, stages.outside) = (pass.size.map(|side| side as usize), outside);
                    stages.last = Some(taps);
                }
            }
        }
        Ok(stages)
    }

    fn channels(&self) -> usize {
        self.input.channels as usize
    }

    /// Returns the number of taps along x and y that rows of the ring are made of.
    fn within(&self) -> [usize; 2] {
        [&self.across, &self.down].map(|along| along.as_ref().map_or(1, |along| along.taps.len()))
    }

    /// Writes a row of the input, extended along x, from output column `x` on. Outside along y it is `outside`.
    fn extend(&self, z: u32, y: Option<u32>, x: usize, outside: [S; 2], out: &mut [S]) {
        let (channels, mode, zero) = (self.channels(), self.modes[0], S::ZERO);
        let origin = x as i32 + self.origin[0];
        let constant = if y.is_some() { outside[0] } else { outside[1] };
        let row = y.map(|y| z * self.input.height + y);
        each_type!(self.stack, stack => {
            let row = row.map(|row| stack.row(row));
            Extend { row, channels, origin, mode, constant, zero, out }.run();
        });
    }

    /// Returns the row of the input under row `y` of a task's, counted from its first output row `first`.
    fn row(&self, first: usize, y: usize) -> Option<u32> {
        self.modes[1].map((first + y) as i32 + self.origin[1], self.input.height as i32).map(|y| y as u32)
    }

    /// Fills the rows of a ring's plane, `stride` samples each, with what the last stage sees of plane `z`.
    fn plane(&self, z: i32, tile: (usize, usize), stride: usize, scratch: &mut Lines<S>, ring: &mut [S]) {
        let (x, first) = tile;
        let Some(z) = self.modes[2].map(z, self.input.depth as i32).map(|z| z as u32) else {
            return ring.fill(self.outside[2]);
        };
        let step = self.channels();
        if self.across.is_none() && self.down.is_none() {
            for (y, row) in ring.chunks_exact_mut(stride).enumerate() {
                let outside = [self.outside[0], self.outside[1]];
                self.extend(z, self.row(first, y), x, outside, &mut row[..stride / step * step]);
            }
            return;
        }
        let [width, height] = self.within();
        let halo = (width - 1) * step;
        let extended = scratch.extended.take(stride + halo);
        let rows = ring.len() / stride;
        let lines = scratch.lines.take((rows + height - 1) * stride);
        // Without taps along y, rows along x are the ring's own.
        let to = if self.down.is_some() { &mut *lines } else { &mut *ring };
        for (y, line) in to.chunks_exact_mut(stride).enumerate() {
            let y = self.row(first, y);
            match (&self.across, y) {
                (_, None) => line.fill(self.down.as_ref().map_or(S::ZERO, |down| down.outside)),
                (Some(across), y) => {
                    let length = (stride + halo) / step * step;
                    self.extend(z, y, x, [across.outside; 2], &mut extended[..length]);
                    let rows = Rows { data: extended, stride: stride + halo, slots: &[0] };
                    let weights = Weights { taps: &across.taps, width, step, paired: false };
                    S::weigh(rows, weights, &mut [line]);
                }
                (None, y) => self.extend(z, y, x, [S::ZERO; 2], &mut line[..stride / step * step]),
            }
        }
        if let Some(down) = &self.down {
            let slots: Vec<usize> = (0..rows + height - 1).collect();
            let weights = Weights { taps: &down.taps, width: 1, step, paired: false };
            let mut out: Vec<&mut [S]> = ring.chunks_exact_mut(stride).collect();
            S::weigh(Rows { data: lines, stride, slots: &slots }, weights, &mut out);
        }
    }
}

/// Rows between the stages.
#[derive(Default)]
struct Lines<S> {
    extended: Buffer<S>,
    lines: Buffer<S>,
}

/// Buffers that a thread reuses for all its tasks.
#[derive(Default)]
struct Scratch<S> {
    lines: Lines<S>,
    ring: Buffer<S>,
    sums: Buffer<S>,
}

/// A part of the output.
struct Task<'a, O> {
    /// First column, row and plane.
    first: [usize; 3],
    /// Its rows, plane by plane.
    rows: Vec<&'a mut [O]>,
    /// Rows per plane.
    height: usize,
}

fn run<S: Fma, O: Pixel>(stack: &AnyImage<'_>, problem: &VolumeFilter, mut out: ImageMut<'_, O>) -> Result<()> {
    let stages = Stages::<S>::of(stack, problem)?;
    let (row, stride) = (stages.out.row_samples(), out.row_stride());
    let [width, height, depth] = tile(&stages);
    let columns = row.div_ceil(width);
    let bands = (stages.out.height as usize).div_ceil(height);
    let parts = (stages.out.depth as usize).div_ceil(depth);
    let mut tasks: Vec<Task<'_, O>> = Vec::with_capacity(columns * bands * parts);
    for (part, band, column) in (0..parts)
        .flat_map(|part| (0..bands).flat_map(move |band| (0..columns).map(move |column| (part, band, column))))
    {
        let first = [column * width / stages.channels(), band * height, part * depth];
        let height = height.min(stages.out.height as usize - first[1]);
        tasks.push(Task { first, rows: Vec::new(), height });
    }
    for (index, line) in out.spanned_mut().chunks_mut(stride).enumerate() {
        let (z, y) = (index / stages.out.height as usize, index % stages.out.height as usize);
        let at = (z / depth * bands + y / height) * columns;
        for (column, part) in line[..row].chunks_mut(width).enumerate() {
            tasks[at + column].rows.push(part);
        }
    }
    parallel::items(tasks, &|scratch: &mut Scratch<S>, task: Task<'_, O>| stages.run(scratch, task));
    Ok(())
}

/// Returns the samples per row, rows and planes of a task: a ring that stays in the cache, of rows enough that those
/// around them, which are filtered again for the next task, are few.
fn tile<S: Fma>(stages: &Stages<'_, S>) -> [usize; 3] {
    let (row, channels) = (stages.out.row_samples(), stages.channels());
    let (rows, planes) = (stages.out.height as usize, stages.out.depth as usize);
    let held = RING_BYTES / size_of::<S>() / (stages.seen[2] + GROUP);
    let [_, down] = stages.within();
    // Of masks deeper than any cache, the ring is as small as it can be.
    let is_deep = stages.seen[2] > 1024;
    let least = if is_deep { 1 } else { (2 * down.max(stages.seen[1])).clamp(8, 128) };
    let width = (held / least).max(if is_deep { LANES } else { 256 }).next_multiple_of(LANES * channels);
    let width = if width >= row { row } else { row.div_ceil(row.div_ceil(width)).next_multiple_of(channels) };
    let height = (held / width).max(least).min(rows);
    let threads = parallel::threads() as usize;
    let bands = rows.div_ceil(height) * row.div_ceil(width);
    let parts = (TASKS * threads).div_ceil(bands);
    let depth = planes.div_ceil(parts).max(HALOS * stages.seen[2]).min(planes);
    // Bands of nearly equal height.
    [width, rows.div_ceil(rows.div_ceil(height)), depth]
}

impl<S: Fma> Stages<'_, S> {
    fn run<O: Pixel>(&self, scratch: &mut Scratch<S>, mut task: Task<'_, O>) {
        let [columns, rows, planes] = self.seen;
        let (step, [x, y, z]) = (self.channels(), task.first);
        let samples = task.rows[0].len();
        let length = samples.next_multiple_of(LANES);
        let stride = length + (columns - 1) * step;
        // A plane of the ring has the rows of the task and those around them.
        let held_rows = task.height + rows - 1;
        let held = planes + GROUP - 1;
        let plane = held_rows * stride;
        let ring = scratch.ring.take(held * plane);
        let sums = scratch.sums.take(GROUP * length);
        let count = task.rows.len() / task.height;
        let weights = self.last.as_ref().map(|taps| Weights { taps, width: columns, step, paired: false });
        let mut filled = 0;
        for first in (0..count).step_by(GROUP) {
            let group = GROUP.min(count - first);
            while filled < first + group + planes - 1 {
                let at = (z + filled) as i32 + self.origin[2];
                let ring = &mut ring[filled % held * plane..][..plane];
                self.plane(at, (x, y), stride, &mut scratch.lines, ring);
                filled += 1;
            }
            for row in 0..task.height {
                let mut finish = |index: usize, sums: &[S]| {
                    let out = &mut *task.rows[(first + index) * task.height + row];
                    finish_row(&sums[..out.len()], self.divisor, self.cast, out);
                };
                let slot = |plane: usize, row: usize| plane % held * held_rows + row;
                let Some(weights) = weights else {
                    (0..group).for_each(|index| finish(index, &ring[slot(first + index, row) * stride..]));
                    continue;
                };
                if columns * rows == 1 {
                    let slots: Vec<usize> = (first..first + group + planes - 1).map(|plane| slot(plane, row)).collect();
                    let mut out: Vec<&mut [S]> = sums.chunks_exact_mut(length).take(group).collect();
                    S::weigh(Rows { data: ring, stride, slots: &slots }, weights, &mut out);
                } else {
                    for (index, out) in (0..group).zip(sums.chunks_exact_mut(length)) {
                        let seen = (0..planes).flat_map(|k| (0..rows).map(move |j| (first + index + k, row + j)));
                        let slots: Vec<usize> = seen.map(|(plane, row)| slot(plane, row)).collect();
                        S::weigh(Rows { data: ring, stride, slots: &slots }, weights, &mut [out]);
                    }
                }
                sums.chunks_exact(length).take(group).enumerate().for_each(|(index, sums)| finish(index, sums));
            }
        }
    }
}

/// Divides sums, and stores them.
fn finish_row<S: Fma, O: Pixel>(sums: &[S], divisor: S, cast: Cast, out: &mut [O]) {
    let divisor = (divisor != S::of(1.0f32)).then_some(divisor);
    if O::PIXEL.is_float() || cast == Cast::default() {
        return simd::run(Round { sums, divisor, out });
    }
    let truncates = cast == Cast { rounding: Rounding::TowardZero, overflow: Overflow::Wrap };
    let mut is_done = false;
    if const { is_integer_of_32_bits::<O>() } && truncates {
        simd::run(Truncate { sums, divisor, out, is_done: &mut is_done });
    }
    if !is_done {
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = O::cast(quotient(sum, divisor).to_f64(), cast));
    }
}

#[inline(always)]
fn quotient<S: Fma>(sum: S, divisor: Option<S>) -> S {
    match divisor {
        Some(divisor) => sum / divisor,
        None => sum,
    }
}

/// Divides sums, and rounds them half to even.
struct Round<'a, S, O> {
    sums: &'a [S],
    divisor: Option<S>,
    out: &'a mut [O],
}

impl<S: Fma, O: Pixel> Work for Round<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Round { sums, divisor, out } = self;
        out.iter_mut().zip(sums).for_each(|(out, &sum)| *out = O::from_sum(O::Sum::of(quotient(sum, divisor))));
    }
}

/// Divides sums and cuts them to integers of at most 32 bits, if all are small.
struct Truncate<'a, S, O> {
    sums: &'a [S],
    divisor: Option<S>,
    out: &'a mut [O],
    is_done: &'a mut bool,
}

impl<S: Fma, O: Pixel> Work for Truncate<'_, S, O> {
    #[inline(always)]
    fn run<L: Level>(self) {
        let Truncate { sums, divisor, out, is_done } = self;
        let quotient = |sum: S| quotient(sum, divisor).to_f64();
        *is_done = sums.iter().fold(true, |all, &sum| all & (quotient(sum).abs() < SMALL));
        if *is_done {
            // Hosts have no vector instruction for the cast, but the integer is in the low bits.
            out.iter_mut().zip(sums).for_each(|(out, &sum)| {
                *out = O::read(&(quotient(sum).trunc() + MAGIC).to_bits().to_ne_bytes());
            });
        }
    }
}

/// Numbers below it are whole after [`MAGIC`] was added, and their low 32 bits are those of the integer.
const SMALL: f64 = 2251799813685248.0;

/// 1.5 * 2^52, where the spacing of f64 is 1.
const MAGIC: f64 = 6755399441055744.0;

const fn is_integer_of_32_bits<O: Pixel>() -> bool {
    let is_integer = !O::PIXEL.is_float() && !matches!(O::PIXEL, PixelType::Bool);
    cfg!(target_endian = "little") && is_integer && size_of::<O>() <= 4
}
