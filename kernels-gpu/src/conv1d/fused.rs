//! Both passes of a separable filter in one launch: the sums between them stay in shared memory.
//!
//! A block goes down a strip of the image, [`FUSED_ROWS`] rows a step:
//!
//! ```text
//! wait for the step's input rows; barrier                     (nobody reads the last step's rows)
//! start copying the next step's input rows                   (border by index map)
//! rows:    each thread sums 8 neighbours along a row, twice, into a ring of rows of sums
//! barrier                                                     (the sums are there)
//! columns: each thread sums 16 neighbours down a column of the ring, and stores them
//! ```
//!
//! Neighbouring outputs share their samples, which wait in registers: of `t` taps an output costs
//! `(t + 7) / 32` shared loads of 16 bytes along the row, `(t + 15) / 16` shared loads down the column and
//! a quarter of a read of constant memory a tap for all neighbours together. One global load (and the
//! halo's share), two barriers a step. Taps of any number, any channels, rows that start anywhere.
//!
//! Channels lie apart in shared memory. Where a warp reads or writes with a stride, places are
//! exchanged so that it meets no bank twice: [`swizzled`] and [`ring_swizzled`].

use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{
    fused_plane, fused_ring_plane, tap_stride, Accumulator, BorderMode, FusedParams, Pixel, FUSED_BLOCK, FUSED_PITCH,
    FUSED_ROWS,
};
use core::marker::PhantomData;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, the shared memory is
/// [`apron_abi::fused_bytes`], the parameters are those that the plan gives, and the columns' taps start
/// [`tap_stride`] behind the rows'.
pub struct Fused<I, O>(PhantomData<(I, O)>);

/// Outputs that a thread sums at once along a row, and down a column.
const ACROSS: usize = 8;
const DOWN: usize = 16;
/// Lanes of a warp; a warp brings and sums a row at a time.
const LANES: u32 = 32;
const WARPS: u32 = FUSED_BLOCK / LANES;

impl<I: Pixel, O: Pixel> Body for Fused<I, O> {
    type Src = I;
    type Dst = O;
    type Params = FusedParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &FusedParams) {
        let first_row = d.block_y() * p.rows;
        // A grid may have more rows of blocks than were asked for.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
        let strip = Strip::<D, I, O> {
            d,
            src,
            p,
            border: BorderMode::from_u32(p.border),
            left: (d.block_x() * fused_plane(p.channels)) as i32 + p.origin_x,
            top: first_row as i32 + p.origin_y - p.skipped as i32,
            types: PhantomData,
        };
        // Steps before the first output: those that fill the ring.
        let before = p.ring_rows / FUSED_ROWS - 1;
        let steps = before + (last_row - first_row).div_ceil(FUSED_ROWS);
        // SAFETY: the launch keeps the contract; barriers stand between all that threads exchange.
        unsafe {
            strip.bring(0);
            d.end_copies();
            let mut step = 0;
            while step < steps {
                d.wait_copies::<0>();
                d.barrier();
                if step + 1 < steps {
                    strip.bring(step + 1);
                }
                d.end_copies();
                strip.sum_rows(step);
                d.barrier();
                if step >= before {
                    let row = first_row + (step - before) * FUSED_ROWS;
                    strip.sum_columns(dst, step, row, last_row);
                }
                step += 1;
            }
        }
    }
}

/// A block's strip of the image.
struct Strip<'p, D, I, O> {
    d: D,
    src: Global<I>,
    p: &'p FusedParams,
    border: BorderMode,
    /// The image's column and row of the first sample.
    left: i32,
    top: i32,
    types: PhantomData<O>,
}

impl<D: Device, I: Pixel, O: Pixel> Strip<'_, D, I, O> {
    /// Input rows of a step; two steps take turns.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<f32> {
        Shared::at((step % 2 * FUSED_ROWS + row) * self.p.channels * self.p.input_plane * 4)
    }

    /// The ring of rows of sums behind them.
    #[inline(always)]
    fn ring(&self) -> Shared<O::Sum> {
        Shared::at(2 * FUSED_ROWS * self.p.channels * self.p.input_plane * 4)
    }

    /// The first row of a step that anything depends on: those above are skipped.
    #[inline(always)]
    fn first(&self, step: u32) -> u32 {
        if step == 0 {
            self.p.skipped
        } else {
            0
        }
    }

    /// Starts copying a step's input rows, a warp each.
    #[inline(always)]
    unsafe fn bring(&self, step: u32) {
        let (d, p) = (self.d, self.p);
        let samples = p.channels * p.input_plane;
        let inside = self.left >= 0 && self.left + p.input_plane as i32 <= p.width as i32;
        let mut row = d.thread_x() / LANES;
        while row < FUSED_ROWS {
            if row >= self.first(step) {
                let input = self.input(step, row);
                let y = self.border.map(self.top + (step * FUSED_ROWS + row) as i32, p.height as i32);
                let mut index = d.thread_x() % LANES;
                while index < samples {
                    let pixel = divide(index, p.channels);
                    let channel = index - pixel * p.channels;
                    let x = self.left + pixel as i32;
                    let x = if inside { Some(x) } else { self.border.map(x, p.width as i32) };
                    let to = swizzled(channel * p.input_plane + pixel);
                    // SAFETY: the sample is in the image; its place in the row is this thread's, and nobody
                    // reads it before the next step.
                    unsafe {
                        match (y, x) {
                            (Some(y), Some(x)) => {
                                let column = x as u32 as u64 * p.channels as u64 + channel as u64;
                                let at = y as u32 as u64 * p.row_stride as u64 + column;
                                d.start_copy_as_f32(input, to, self.src, at);
                            }
                            _ => d.shared_store(input, to, p.constant),
                        }
                    }
                    index += LANES;
                }
            }
            row += WARPS;
        }
    }

    /// The first pass: a warp a row, eight sums a thread.
    #[inline(always)]
    unsafe fn sum_rows(&self, step: u32) {
        let (d, p) = (self.d, self.p);
        let column = d.thread_x() % LANES * ACROSS as u32;
        // SAFETY: a plane is not empty.
        let (channel, pixel) = unsafe { div_rem(column, fused_plane(p.channels)) };
        if channel >= p.channels {
            return;
        }
        let mut row = d.thread_x() / LANES;
        while row < FUSED_ROWS {
            if row >= self.first(step) {
                let input = self.input(step, row);
                let mut at = channel * p.input_plane + pixel;
                let mut next = || {
                    // SAFETY: the samples of all taps are in the row, up to the next multiple of 8 behind the last.
                    let four = unsafe { d.shared_load4(input, swizzled(at)) };
                    at += 4;
                    [O::Sum::of(four[0]), O::Sum::of(four[1]), O::Sum::of(four[2]), O::Sum::of(four[3])]
                };
                // SAFETY: there are as many taps.
                let sums = unsafe { sum_across(d, 0, p.taps_x, &mut next) };
                // SAFETY: the ring has rows.
                let slot = unsafe { div_rem(step * FUSED_ROWS + row - p.skipped + 1, p.ring_rows) }.1;
                let at = channel * fused_ring_plane(p.channels) + pixel;
                for k in 0..ACROSS {
                    let at = slot * FUSED_PITCH + ring_swizzled::<O::Sum>(at + k as u32);
                    // SAFETY: in the ring; nobody else's, and nobody reads it before the next barrier.
                    unsafe { d.shared_store(self.ring(), at, sums[k]) };
                }
            }
            row += WARPS;
        }
    }

    /// The second pass: a thread a column, sixteen sums.
    #[inline(always)]
    unsafe fn sum_columns(&self, dst: Global<O>, step: u32, first_row: u32, last_row: u32) {
        let (d, p) = (self.d, self.p);
        let thread = d.thread_x();
        let pixel = divide(thread, p.channels);
        let channel = thread - pixel * p.channels;
        let column = d.block_x() * fused_plane(p.channels) + pixel;
        if pixel >= fused_plane(p.channels) || column >= p.out_width {
            return;
        }
        let at = ring_swizzled::<O::Sum>(channel * fused_ring_plane(p.channels) + pixel);
        // The first row under the outputs' taps is the second of four: they turn the ring's end together.
        // SAFETY: the ring has rows.
        let slot = unsafe { div_rem((step + 1) * FUSED_ROWS, p.ring_rows) }.1;
        let (mut place, end) = (slot * FUSED_PITCH + at, p.ring_rows * FUSED_PITCH);
        let mut next = |from: u32, to: u32| {
            let mut four = [O::Sum::ZERO; 4];
            for k in 0..4 {
                if k >= from && k < to {
                    // SAFETY: in the ring, where all rows under the outputs' taps are complete.
                    four[k as usize] = unsafe { d.shared_load(self.ring(), place + k * FUSED_PITCH) };
                }
            }
            place += 4 * FUSED_PITCH;
            place = if place >= end { place - end } else { place };
            four
        };
        // SAFETY: there are as many taps.
        let sums = unsafe { sum_down(d, tap_stride(p.taps_x), p.taps_y, &mut next) };
        let mut out = (first_row as u64 * p.out_width as u64 + column as u64) * p.channels as u64 + channel as u64;
        for k in 0..DOWN {
            if first_row + (k as u32) < last_row {
                // SAFETY: in the output, and no other thread's.
                unsafe { d.store(dst, out, O::from_sum(sums[k])) };
                out += p.out_width as u64 * p.channels as u64;
            }
        }
    }
}

/// Eight neighbouring sums of `count` taps from `tap` on, over samples that come four at a time.
///
/// # Safety
/// The taps are there, up to the next multiple of 4.
#[inline(always)]
unsafe fn sum_across<D: Device, A: Accumulator>(
    d: D,
    mut tap: u32,
    mut count: u32,
    next: &mut impl FnMut() -> [A; 4],
) -> [A; ACROSS] {
    let mut sums = [A::ZERO; ACROSS];
    let (mut a, mut b) = (next(), next());
    let mut add = |tap, count, window: [[A; 4]; 3]| {
        // SAFETY: the caller's promise.
        let taps = unsafe { d.taps4(tap) };
        for i in 0..4 {
            if i < count {
                for k in 0..ACROSS {
                    sums[k] =
                        d.fma(A::of(taps[i as usize]), window[(k + i as usize) / 4][(k + i as usize) % 4], sums[k]);
                }
            }
        }
    };
    // Three at a time, so that no sample changes its register.
    while count >= 12 {
        let c = next();
        add(tap, 4, [a, b, c]);
        a = next();
        add(tap + 4, 4, [b, c, a]);
        b = next();
        add(tap + 8, 4, [c, a, b]);
        (tap, count) = (tap + 12, count - 12);
    }
    while count >= 4 {
        let c = next();
        add(tap, 4, [a, b, c]);
        (a, b) = (b, c);
        (tap, count) = (tap + 4, count - 4);
    }
    if count > 0 {
        let c = if count > 1 { next() } else { [A::ZERO; 4] };
        add(tap, count, [a, b, c]);
    }
    sums
}

/// Sixteen neighbouring sums, over samples that come four at a time, of which `next` gives those from one
/// to another. The first of all is none.
///
/// # Safety
/// As [`sum_across`].
#[inline(always)]
unsafe fn sum_down<D: Device, A: Accumulator>(
    d: D,
    mut tap: u32,
    mut count: u32,
    next: &mut impl FnMut(u32, u32) -> [A; 4],
) -> [A; DOWN] {
    let mut sums = [A::ZERO; DOWN];
    let (mut a, mut b, mut c, mut e) = (next(1, 4), next(0, 4), next(0, 4), next(0, 4));
    let mut add = |tap, count, window: [[A; 4]; 5]| {
        // SAFETY: the caller's promise.
        let taps = unsafe { d.taps4(tap) };
        for i in 0..4 {
            if i < count {
                for k in 0..DOWN {
                    let at = k + i as usize + 1;
                    sums[k] = d.fma(A::of(taps[i as usize]), window[at / 4][at % 4], sums[k]);
                }
            }
        }
    };
    while count >= 20 {
        let f = next(0, 4);
        add(tap, 4, [a, b, c, e, f]);
        a = next(0, 4);
        add(tap + 4, 4, [b, c, e, f, a]);
        b = next(0, 4);
        add(tap + 8, 4, [c, e, f, a, b]);
        c = next(0, 4);
        add(tap + 12, 4, [e, f, a, b, c]);
        e = next(0, 4);
        add(tap + 16, 4, [f, a, b, c, e]);
        (tap, count) = (tap + 20, count - 20);
    }
    while count >= 4 {
        let f = next(0, 4);
        add(tap, 4, [a, b, c, e, f]);
        (a, b, c, e) = (b, c, e, f);
        (tap, count) = (tap + 4, count - 4);
    }
    if count > 0 {
        let f = next(0, count);
        add(tap, count, [a, b, c, e, f]);
    }
    sums
}

/// The quotient by 1 to 4 channels, of a number below 2^15.
#[inline(always)]
fn divide(number: u32, channels: u32) -> u32 {
    match channels {
        1 => number,
        2 => number / 2,
        3 => number / 3,
        _ => number / 4,
    }
}

/// Where an input sample lies: eight lanes that each read 16 bytes, 32 bytes apart, so meet no bank twice.
#[inline(always)]
fn swizzled(index: u32) -> u32 {
    index ^ (index >> 5 & 1) << 2
}

/// Where a sum lies: lanes that write eight sums apart so meet no bank twice.
#[inline(always)]
fn ring_swizzled<A: Accumulator>(index: u32) -> u32 {
    let row = if A::TYPE.size_bytes() == 8 { index >> 4 } else { index >> 5 };
    index ^ row & 7
}
