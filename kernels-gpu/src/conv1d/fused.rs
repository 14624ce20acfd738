//! Both passes of a separable filter in one launch: the sums of the first pass stay in shared memory.
//!
//! A block marches down a strip of the image, [`FUSED_ROWS`] rows per step:
//!
//! ```text
//! wait for the step's input rows; barrier                     (no thread reads the last step's rows any more)
//! start copying the next step's input rows                   (border by index map)
//! rows:    each thread sums 16 adjacent outputs along a row, into a ring of rows of sums
//! barrier                                                     (the sums are complete)
//! columns: each thread sums 16 adjacent outputs down a column of the ring, and stores them
//! ```
//!
//! Adjacent outputs share their samples, which stay in registers: with `t` taps an output costs `(t + 15) / 64`
//! shared loads of 16 bytes along the row, `(t + 15) / 16` shared loads down the column and, for all 16 outputs
//! together, one read of constant memory per four taps. Each input sample is loaded once per block, halo included; two
//! barriers per step. Any number of taps and channels, rows of any alignment.
//!
//! Shared memory holds the channels in separate planes. In the first pass the threads of a warp work on all rows of a
//! step, so the pitch of the rows is padded against bank conflicts.

use crate::device::{Device, Global, Shared};
use crate::taps::{LaunchTaps, TapSource};
use crate::Body;
use apron_abi::{
    fused_plane, fused_ring_pitch, fused_ring_place, reciprocal, tap_stride, Accumulator, BorderMode, Element,
    ElementType, FusedParams, Pixel, FUSED_BLOCK, FUSED_ROWS,
};
use core::marker::PhantomData;

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, the shared memory is [`apron_abi::fused_bytes`],
/// the parameters are as the plan computes them, and the columns' taps start [`tap_stride`] taps after the rows'.
pub struct Fused<I, O>(PhantomData<(I, O)>);

/// Outputs that a thread sums at once.
pub(super) const SUMS: usize = FUSED_ROWS as usize;
/// Lanes of a warp; each warp copies whole rows.
const LANES: u32 = 32;
const WARPS: u32 = FUSED_BLOCK / LANES;

impl<I: Pixel, O: Pixel> Body for Fused<I, O> {
    type Src = I;
    type Dst = O;
    type Params = FusedParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<O>, p: &FusedParams) {
        let first_row = d.block_y() * p.rows;
        // A grid may have more rows of blocks than its launch needs.
        if first_row >= p.out_height {
            return;
        }
        let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
        let mut strip = Strip::<D, I, O> {
            d,
            src,
            p,
            left: (d.block_x() * fused_plane(p.channels)) as i32 + p.origin_x,
            top: first_row as i32 + p.origin_y - p.skipped as i32,
            slot: 0,
            types: PhantomData,
        };
        // Steps before the first output, which fill the ring.
        let before = p.ring_rows / FUSED_ROWS - 1;
        let steps = before + (last_row - first_row).div_ceil(FUSED_ROWS);
        // SAFETY: the launch keeps the contract; barriers separate all that threads exchange.
        unsafe {
            strip.list();
            let mut step = 0;
            // The rows of a step are copied during the step before; the first iteration only copies.
            while step <= steps {
                d.wait_copies::<0>();
                d.barrier();
                if step < steps {
                    strip.bring(step);
                }
                d.end_copies();
                if step > 0 {
                    strip.sum_rows(step - 1);
                    strip.slot = if strip.slot + FUSED_ROWS < p.ring_rows { strip.slot + FUSED_ROWS } else { 0 };
                }
                d.barrier();
                if step > before {
                    strip.sum_columns(dst, first_row + (step - 1 - before) * FUSED_ROWS, last_row);
                }
                step += 1;
            }
        }
    }
}

/// Stands for no column of the image.
const NONE: u32 = u32::MAX;

/// A block's strip of the image.
struct Strip<'p, D, I, O> {
    d: D,
    src: Global<I>,
    p: &'p FusedParams,
    /// Image column and row of the strip's first input sample.
    left: i32,
    top: i32,
    /// Row of the ring at which the next step starts.
    slot: u32,
    types: PhantomData<O>,
}

impl<D: Device, I: Pixel, O: Pixel> Strip<'_, D, I, O> {
    /// Returns input row `row` of a step; two steps alternate.
    #[inline(always)]
    fn input(&self, step: u32, row: u32) -> Shared<f32> {
        Shared::at((step % 2 * FUSED_ROWS + row) * self.p.input_pitch * 4)
    }

    /// Returns the ring of rows of sums, which follows the input rows.
    #[inline(always)]
    fn ring(&self) -> Shared<O::Sum> {
        Shared::at(2 * FUSED_ROWS * self.p.input_pitch * 4)
    }

    /// Pitch of the ring, in sums.
    const PITCH: u32 = fused_ring_pitch(O::Sum::TYPE.size_bytes());

    /// Returns the list of the image columns that replace the strip's columns, which follows the ring.
    #[inline(always)]
    fn columns(&self) -> Shared<u32> {
        Shared::at(self.ring().offset + self.p.ring_rows * Self::PITCH * O::Sum::TYPE.size_bytes())
    }

    /// Fills the list of columns (border by index map). No thread reads it before the next barrier.
    #[inline(always)]
    unsafe fn list(&self) {
        let (d, p) = (self.d, self.p);
        let border = BorderMode::from_u32(p.border);
        let mut x = d.thread_x();
        while x < p.input_plane {
            let column = border.map(self.left + x as i32, p.width as i32).map_or(NONE, |column| column as u32);
            // SAFETY: `x` is below `input_plane`, the length of the list; only this thread writes element `x`.
            unsafe { d.shared_store(self.columns(), x, column) };
            x += FUSED_BLOCK;
        }
    }

    /// Returns the first row of a step that an output depends on: the rows above are skipped.
    #[inline(always)]
    fn first(&self, step: u32) -> u32 {
        if step == 0 {
            self.p.skipped
        } else {
            0
        }
    }

    /// Starts copying a step's input rows, one row per warp.
    #[inline(always)]
    unsafe fn bring(&self, step: u32) {
        let (d, p) = (self.d, self.p);
        let border = BorderMode::from_u32(p.border);
        let inside = self.left >= 0 && self.left + p.input_plane as i32 <= p.width as i32;
        let mut row = d.thread_x() / LANES;
        while row < FUSED_ROWS {
            if row >= self.first(step) {
                let input = self.input(step, row);
                let y = border.map(self.top + (step * FUSED_ROWS + row) as i32, p.height as i32);
                let start = y.map(|y| y as u32 as u64 * p.row_stride as u64);
                // SAFETY: the row is in the image; its place is this warp's, and no thread reads it before the next
                // step.
                unsafe {
                    match start {
                        Some(start) if inside => {
                            let first = start + self.left as u32 as u64 * p.channels as u64;
                            if p.channels == 1 {
                                self.bring_inside::<true>(input, first);
                            } else {
                                self.bring_inside::<false>(input, first);
                            }
                        }
                        _ => self.bring_any(input, start),
                    }
                }
            }
            row += WARPS;
        }
    }

    /// Starts copying a row whose samples are all in the image, from sample `first` on.
    #[inline(always)]
    unsafe fn bring_inside<const ONE: bool>(&self, input: Shared<f32>, first: u64) {
        let (d, p) = (self.d, self.p);
        let end = p.channels * p.input_plane;
        let place = |index: u32| if ONE { index } else { self.place(index) };
        let mut index = d.thread_x() % LANES;
        // SAFETY: the caller's promise.
        unsafe {
            while index + 3 * LANES < end {
                let at = |k: u32| first + (index + k * LANES) as u64;
                if I::TYPE == ElementType::F32 {
                    for k in 0..4 {
                        d.start_copy_as_f32(input, place(index + k * LANES), self.src, at(k));
                    }
                } else {
                    // All loads are in flight before the first sample is stored.
                    let samples = [0, 1, 2, 3].map(|k| d.load(self.src, at(k)));
                    for k in 0..4 {
                        d.shared_store(input, place(index + k * LANES), samples[k as usize].to_f32());
                    }
                }
                index += 4 * LANES;
            }
            while index < end {
                d.start_copy_as_f32(input, place(index), self.src, first + index as u64);
                index += LANES;
            }
        }
    }

    /// Starts copying the image row that starts at sample `start`, with the border by index map; without `start`,
    /// fills the row with the constant.
    #[inline(always)]
    unsafe fn bring_any(&self, input: Shared<f32>, start: Option<u64>) {
        let (d, p) = (self.d, self.p);
        let end = p.channels * p.input_plane;
        let mut index = d.thread_x() % LANES;
        while index < end {
            let mut columns = [NONE; 4];
            let indices = [index, index + LANES, index + 2 * LANES, index + 3 * LANES];
            for k in 0..4 {
                if indices[k] < end {
                    // SAFETY: the pixel of a sample below `end` is below `input_plane`, the length of the list.
                    columns[k] = unsafe { d.shared_load(self.columns(), self.pixel_of(indices[k])) };
                }
            }
            for k in 0..4 {
                let channel = indices[k] - self.pixel_of(indices[k]) * p.channels;
                // SAFETY: the list's columns are in the image, and the row is by the caller's promise.
                unsafe {
                    match start {
                        Some(start) if columns[k] != NONE => {
                            let at = start + columns[k] as u64 * p.channels as u64 + channel as u64;
                            d.start_copy_as_f32(input, self.place(indices[k]), self.src, at);
                        }
                        _ if indices[k] < end => d.shared_store(input, self.place(indices[k]), p.constant),
                        _ => {}
                    }
                }
            }
            index += 4 * LANES;
        }
    }

    /// Returns the pixel of sample `index` of a row.
    #[inline(always)]
    fn pixel_of(&self, index: u32) -> u32 {
        reciprocal::divide(index, self.p.channel_reciprocal)
    }

    /// Returns the place in an input row of sample `index` of an image row.
    #[inline(always)]
    fn place(&self, index: u32) -> u32 {
        let pixel = self.pixel_of(index);
        (index - pixel * self.p.channels) * self.p.input_plane + pixel
    }

    /// The first pass: each thread computes 16 adjacent sums of a row.
    #[inline(always)]
    unsafe fn sum_rows(&self, step: u32) {
        let (d, p) = (self.d, self.p);
        let (row, part) = (d.thread_x() % FUSED_ROWS, d.thread_x() / FUSED_ROWS);
        let parts = fused_plane(p.channels) / FUSED_ROWS;
        let channel = part / parts;
        let pixel = part % parts * FUSED_ROWS;
        if channel >= p.channels || row < self.first(step) {
            return;
        }
        let input = self.input(step, row);
        let mut at = channel * p.input_plane + pixel;
        let mut next = |_, _| {
            // SAFETY: the samples of all taps are in the row, up to the next multiple of 4.
            let four = unsafe { d.shared_load4(input, at) };
            at += 4;
            [O::Sum::of(four[0]), O::Sum::of(four[1]), O::Sum::of(four[2]), O::Sum::of(four[3])]
        };
        let mut sums = [O::Sum::ZERO; SUMS];
        // SAFETY: there are `taps_x` taps.
        unsafe { add::<D, O::Sum, _, 0>(d, LaunchTaps, 0, p.taps_x, &mut next, &mut sums) };
        let mut slot = self.slot + row + 1 + p.ring_rows - p.skipped;
        slot -= if slot < p.ring_rows { 0 } else { p.ring_rows };
        slot -= if slot < p.ring_rows { 0 } else { p.ring_rows };
        for k in [0, 4, 8, 12] {
            let four = [sums[k], sums[k + 1], sums[k + 2], sums[k + 3]];
            let to = slot * Self::PITCH + fused_ring_place(p.channels, pixel + k as u32, channel);
            // SAFETY: in the ring; this thread's place, which no thread reads before the next barrier.
            unsafe {
                if O::Sum::TYPE == ElementType::F32 {
                    d.shared_store4(self.ring(), to, four);
                } else {
                    for k in 0..4 {
                        d.shared_store(self.ring(), to + k as u32, four[k]);
                    }
                }
            }
        }
    }

    /// The second pass: each thread computes 16 outputs of a column, from output row `first_row` on.
    #[inline(always)]
    unsafe fn sum_columns(&self, dst: Global<O>, first_row: u32, last_row: u32) {
        let (d, p) = (self.d, self.p);
        let thread = d.thread_x();
        let pixel = self.pixel_of(thread);
        let channel = thread - pixel * p.channels;
        let column = d.block_x() * fused_plane(p.channels) + pixel;
        if pixel >= fused_plane(p.channels) || column >= p.out_width {
            return;
        }
        // The first row under the outputs' taps is the second row of a group of four, so that no group crosses the end
        // of the ring.
        let at = fused_ring_place(p.channels, pixel, channel);
        let (mut place, end) = (self.slot * Self::PITCH + at, p.ring_rows * Self::PITCH);
        let mut next = |from: u32, to: u32| {
            let mut four = [O::Sum::ZERO; 4];
            for k in 0..4 {
                if k >= from && k < to {
                    // SAFETY: in the ring, where all rows under the outputs' taps are complete.
                    four[k as usize] = unsafe { d.shared_load(self.ring(), place + k * Self::PITCH) };
                }
            }
            place += 4 * Self::PITCH;
            place = if place >= end { place - end } else { place };
            four
        };
        let mut sums = [O::Sum::ZERO; SUMS];
        // SAFETY: there are `taps_y` taps.
        unsafe { add::<D, O::Sum, _, 1>(d, LaunchTaps, tap_stride(p.taps_x), p.taps_y, &mut next, &mut sums) };
        let samples = p.out_width as u64 * p.channels as u64;
        let mut out = first_row as u64 * samples + column as u64 * p.channels as u64 + channel as u64;
        for k in 0..SUMS {
            if first_row + (k as u32) < last_row {
                // SAFETY: in the output, and no other thread's.
                unsafe { d.store(dst, out, O::from_sum(sums[k])) };
                out += samples;
            }
        }
    }
}

/// Adds the products of `count` taps, from `tap` on, to [`SUMS`] adjacent sums. The samples come in groups of four:
/// `next(from, to)` returns the next group, in which only samples `from` to `to - 1` are used. The first `SKIPPED`
/// samples of the first group are under no tap.
///
/// # Safety
/// The taps exist up to the next multiple of 4.
#[inline(always)]
pub(super) unsafe fn add<D: Device, A: Accumulator, T: TapSource<A>, const SKIPPED: u32>(
    d: D,
    taps: T,
    mut tap: u32,
    mut count: u32,
    next: &mut impl FnMut(u32, u32) -> [A; 4],
    sums: &mut [A; SUMS],
) {
    let mut window = [next(SKIPPED, 4), next(0, 4), next(0, 4), next(0, 4), [A::ZERO; 4]];
    let mut add = |tap, count, window: &[[A; 4]; 5]| {
        // SAFETY: the caller's promise.
        let taps = unsafe { taps.four(d, tap) };
        for i in 0..4 {
            if i < count {
                for k in 0..SUMS {
                    let at = k + i as usize + SKIPPED as usize;
                    sums[k] = d.fma(taps[i as usize], window[at / 4][at % 4], sums[k]);
                }
            }
        }
    };
    let mut add_four = |window: &mut [[A; 4]; 5]| {
        window[4] = next(0, 4);
        add(tap, 4, window);
        let [first, rest @ ..] = *window;
        *window = [rest[0], rest[1], rest[2], rest[3], first];
        tap += 4;
    };
    // Unrolled by five groups, a full rotation of the window, so that no sample moves to another register.
    while count >= 20 {
        for _ in 0..5 {
            add_four(&mut window);
        }
        count -= 20;
    }
    for _ in 0..4 {
        if count < 4 {
            break;
        }
        add_four(&mut window);
        count -= 4;
    }
    if count > 0 {
        let last = count + SKIPPED - 1;
        window[4] = if last > 0 { next(0, last) } else { [A::ZERO; 4] };
        add(tap, count, &window);
    }
}
