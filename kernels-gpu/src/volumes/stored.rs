//! Taps along y, then taps along x over these sums as the output's type stores them, in one launch.
//!
//! ```text
//! each block: 256 columns of a band of 32 output rows
//!     list the image's rows that the block reads, by the border -> shared memory; barrier
//!     for eight output rows at a time:
//!         a column per thread: sums along y of eight rows, from a window of fifteen samples in registers;
//!             cast them -> shared memory; barrier
//!         a row per warp: sums along x of eight adjacent pixels per lane, from a window of fifteen samples;
//!             cast them -> shared memory; barrier; store them, adjacent along a warp
//! ```
//!
//! The columns are those of the output and their halo along x. Per eight multiply-adds: one load, from global or from
//! shared memory, and one tap from constant memory. Rows are the same for all threads of a block, and so are their
//! addresses but for the column.

use super::cut::{cut, cuts, narrowed};
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{
    volumes_stored_pixels, BorderMode, Cast, ElementType, Pixel, Sample, VolumesParams, VOLUMES_ROWS_BLOCK,
    VOLUMES_RUN, VOLUMES_STORED_PITCH, VOLUMES_STORED_ROWS, VOLUMES_STORED_SUMS,
};
use core::marker::PhantomData;

/// The kernel: samples of type `X` are summed in f64, and so are the results of the first pass, which are `X`, too.
///
/// Launch contract: the buffers are as large as the parameters say, a plane has fewer than 2^32 samples, the taps along
/// y lie before those along x, and those reach over at most
/// [`VOLUMES_STORED_HALO`](apron_abi::VOLUMES_STORED_HALO) samples beside the first. A divisor other than 1 stands for
/// means: each sum is divided by the number of its taps.
pub struct Stored<X>(PhantomData<X>);

const RUN: usize = VOLUMES_RUN as usize;

/// Samples of a window that the next step sees again.
const KEPT: usize = RUN - 1;

/// Steps of a warp over a row of its block.
const STEPS: u32 = 8;

const THREADS: u32 = VOLUMES_ROWS_BLOCK[0] * VOLUMES_ROWS_BLOCK[1];

/// Stands for a row outside, where the border is constant.
const OUTSIDE: u32 = u32::MAX;

/// Sums along y, as they are stored. Places of eight pixels are nine apart, so that lanes use different banks.
const DOWN: Shared<f64> = Shared::at(0);

/// Sums along x that are not cast yet, in the same places; those that are cast are at the start of their row.
const ACROSS: Shared<f64> = Shared::at(VOLUMES_STORED_SUMS);

/// The image's rows for those that the block reads, from the top, or [`OUTSIDE`].
const ROWS: Shared<u32> = Shared::at(2 * VOLUMES_STORED_SUMS);

impl<X: Pixel + Sample> Body for Stored<X> {
    type Src = X;
    type Dst = X;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<X>, p: &VolumesParams) {
        // SAFETY: a volume has channels.
        unsafe { core::hint::assert_unchecked(p.channels != 0) };
        // SAFETY: a plane has rows.
        let (plane, band) = unsafe { div_rem(d.block_y(), p.rows_of_blocks) };
        // A grid may have more rows of blocks than its launch needs.
        if plane >= p.out[2] {
            return;
        }
        let (lane, warp) = (d.thread_x(), d.thread_y());
        let thread = warp * VOLUMES_ROWS_BLOCK[0] + lane;
        let pixels = volumes_stored_pixels(p.channels, p.mask[0]);
        let left = d.block_x() * pixels;
        // SAFETY: a volume has channels.
        let (pixel, channel) = unsafe { div_rem(thread, p.channels) };
        let column = BorderMode::from_u32(p.borders[0]).map((left + pixel) as i32 + p.origin[0], p.sides[0] as i32);
        let place = thread + pixel / VOLUMES_RUN * p.channels;
        // Outside, any column will do: its sums are not used.
        let sample = column.map_or(channel, |column| column as u32 * p.channels + channel);
        let first = (plane as i32 + p.origin[2]) as u64 * p.sides[1] as u64 * p.row_stride as u64 + sample as u64;
        let top = (band * VOLUMES_STORED_ROWS) as i32 + p.origin[1];
        let down = Down { d, p, column: Global::<X>::at(src.address + first * size_of::<X>() as u64), top };
        let (cast, row_samples) = (Cast::of_code(p.cast), p.out[0] * p.channels);
        let start = left * p.channels;
        let samples = if row_samples - start < pixels * p.channels { row_samples - start } else { pixels * p.channels };
        let (border, mut row) = (BorderMode::from_u32(p.borders[1]), thread);
        while row < VOLUMES_STORED_ROWS + p.mask[1] - 1 {
            let seen = border.map(top + row as i32, p.sides[1] as i32);
            // SAFETY: shared memory has the rows, and each is one thread's.
            unsafe { d.shared_store(ROWS, row, seen.map_or(OUTSIDE, |row| row as u32)) };
            row += THREADS;
        }
        d.barrier();
        let mut batch = 0;
        while batch < VOLUMES_STORED_ROWS {
            let y = band * VOLUMES_STORED_ROWS + batch;
            if y >= p.out[1] {
                return;
            }
            // SAFETY: the taps and the rows are there; barriers lie between writes and reads of shared memory by other
            // warps; each output is one thread's.
            unsafe {
                let mut sums = [0.0; RUN];
                down.add(y as i32 + p.origin[1], &mut sums);
                divide(p.divisor, p.mask[1], &mut sums);
                down.keep(&sums, (place, column.is_some()), cast);
                d.barrier();
                // Anew, so that sums along y have the registers.
                let (group, of_group) = div_rem(d.anew(lane), p.channels);
                let is_summing = group * VOLUMES_RUN < pixels;
                let group_at = group * (VOLUMES_RUN + 1) * p.channels + of_group;
                let mut sums = [0.0; RUN];
                if is_summing {
                    across(d, p, warp * VOLUMES_STORED_PITCH + group_at, &mut sums);
                    divide(p.divisor, p.mask[0], &mut sums);
                }
                // For the whole warp, which stores the row.
                let is_cast = is_integer::<X>() && d.ballot(!(cuts(cast) && are_small(&sums))) == 0;
                let row = warp * VOLUMES_STORED_PITCH;
                let results = Shared::<u32>::at(ACROSS.offset + row * 8);
                if is_summing {
                    for r in 0..RUN {
                        let place = group_at + r as u32 * p.channels;
                        if is_cast {
                            d.shared_store(results, place, cut(sums[r]));
                        } else {
                            d.shared_store(ACROSS, row + place, sums[r]);
                        }
                    }
                }
                d.barrier();
                if y + warp < p.out[1] {
                    let line = (plane as u64 * p.out[1] as u64 + (y + warp) as u64) * row_samples as u64;
                    let to = Global::<X>::at(dst.address + (line + start as u64) * size_of::<X>() as u64);
                    // A quotient of less than 2^8 by the number of channels is this product, without its low 16 bits.
                    let reciprocal = div_rem(0xffff + p.channels, p.channels).0;
                    // A loop: the code of a cast is long.
                    for k in 0..d.anew(STEPS) {
                        let sample = k * VOLUMES_ROWS_BLOCK[0] + lane;
                        if sample < samples {
                            let place = sample + ((sample * reciprocal) >> 16) / VOLUMES_RUN * p.channels;
                            let result = match is_cast {
                                true => narrowed(d.shared_load(results, place)),
                                false => X::cast(d.shared_load(ACROSS, row + place), cast),
                            };
                            d.store(to, sample as u64, result);
                        }
                    }
                }
            }
            batch += VOLUMES_RUN;
        }
    }
}

/// Divides the sums of a mean, all at once: of one alone, the compiler would compute the quotient also where it is not
/// needed.
#[inline(always)]
fn divide(divisor: f64, taps: u32, sums: &mut [f64; RUN]) {
    if divisor != 1.0 {
        for r in 0..RUN {
            sums[r] /= taps as f64;
        }
    }
}

#[inline(always)]
fn is_integer<X: Pixel>() -> bool {
    X::TYPE != ElementType::F64
}

/// Whether 32 bits hold the integer parts of all sums.
#[inline(always)]
fn are_small(sums: &[f64; RUN]) -> bool {
    let mut are = true;
    for r in 0..RUN {
        are &= sums[r].abs() < 2147483648.0;
    }
    are
}

/// The input of a thread: a column of a plane.
struct Down<'p, D, X> {
    d: D,
    p: &'p VolumesParams,
    /// The column's first sample.
    column: Global<X>,
    /// The first row that the block reads.
    top: i32,
}

impl<D: Device, X: Pixel + Sample> Down<'_, D, X> {
    /// Adds the products of the taps along y and the samples under them, for eight rows, whose first window starts at
    /// row `y`.
    ///
    /// # Safety
    /// The volume has the column, the list the rows, and the launch the taps.
    #[inline(always)]
    unsafe fn add(&self, y: i32, sums: &mut [f64; RUN]) {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut kept, count) = (self.load::<KEPT>(y), self.p.mask[1]);
            let (mut y, mut done) = (y + KEPT as i32, 0);
            while count - done >= VOLUMES_RUN {
                products(self.d, done, &mut kept, self.load::<RUN>(y), sums);
                (y, done) = (y + RUN as i32, done + VOLUMES_RUN);
            }
            if count - done >= 4 {
                products(self.d, done, &mut kept, self.load::<4>(y), sums);
                (y, done) = (y + 4, done + 4);
            }
            match count - done {
                1 => products(self.d, done, &mut kept, self.load::<1>(y), sums),
                2 => products(self.d, done, &mut kept, self.load::<2>(y), sums),
                3 => products(self.d, done, &mut kept, self.load::<3>(y), sums),
                _ => {}
            }
        }
    }

    /// Loads the samples of `N` rows from `y` on. All loads come before the first use.
    ///
    /// # Safety
    /// The volume has the column, and the list the rows.
    #[inline(always)]
    unsafe fn load<const N: usize>(&self, y: i32) -> [f64; N] {
        let (p, mut samples, mut loaded) = (self.p, [X::default(); N], [0.0; N]);
        if y >= 0 && y + N as i32 <= p.sides[1] as i32 {
            let at = y as u32 * p.row_stride;
            for n in 0..N {
                // SAFETY: the plane has the row; the caller's promise.
                samples[n] = unsafe { self.d.load(self.column, (at + n as u32 * p.row_stride) as u64) };
            }
            for n in 0..N {
                loaded[n] = samples[n].to_f64();
            }
            return loaded;
        }
        let first = (y - self.top) as u32;
        for n in 0..N {
            // SAFETY: the plane has the rows of the list; the caller's promise.
            loaded[n] = unsafe {
                match self.d.shared_load(ROWS, first + n as u32) {
                    OUTSIDE => p.constants[1],
                    row => self.d.load(self.column, (row * p.row_stride) as u64).to_f64(),
                }
            };
        }
        loaded
    }

    /// Stores the sums of eight rows in shared memory as the output's type has them; the border's constant, if the column
    /// is outside.
    ///
    /// # Safety
    /// No other thread uses the place.
    #[inline(always)]
    unsafe fn keep(&self, sums: &[f64; RUN], (place, is_inside): (u32, bool), cast: Cast) {
        let is_cast = is_integer::<X>() && is_inside && cuts(cast) && are_small(sums);
        for r in 0..RUN {
            let sum = if is_inside { sums[r] } else { self.p.constants[0] };
            // SAFETY: the sums are small; the caller's promise.
            unsafe {
                let stored = if is_cast { narrowed::<X>(cut(sum)).to_f64() } else { sum };
                self.d.shared_store(DOWN, r as u32 * VOLUMES_STORED_PITCH + place, stored);
            }
        }
        if is_integer::<X>() && is_inside && !is_cast {
            // A loop: the code of a cast is long.
            for r in 0..self.d.anew(VOLUMES_RUN) {
                let at = r * VOLUMES_STORED_PITCH + place;
                // SAFETY: the caller's promise.
                unsafe {
                    let stored = X::cast(self.d.shared_load(DOWN, at), cast);
                    self.d.shared_store(DOWN, at, stored.to_f64());
                }
            }
        }
    }
}

/// Adds the products of the taps along x and of the sums along y from place `at` on, for eight adjacent pixels.
///
/// # Safety
/// The launch has the taps, and shared memory the sums.
#[inline(always)]
unsafe fn across<D: Device>(d: D, p: &VolumesParams, at: u32, sums: &mut [f64; RUN]) {
    let (channels, mut at, mut tap, mut count) = (p.channels, at, p.mask[1], p.mask[0]);
    // SAFETY: the caller's promise.
    unsafe {
        let mut kept = enter::<D, KEPT>(d, channels, at, 0);
        while count >= VOLUMES_RUN {
            products(d, tap, &mut kept, enter::<D, RUN>(d, channels, at, KEPT as u32), sums);
            (at, tap, count) = (at + (VOLUMES_RUN + 1) * channels, tap + VOLUMES_RUN, count - VOLUMES_RUN);
        }
        let mut pixel = KEPT as u32;
        // By fours, as along y: a copy for each number of taps below eight would be twice the code.
        if count >= 4 {
            products(d, tap, &mut kept, enter::<D, 4>(d, channels, at, pixel), sums);
            (pixel, tap, count) = (pixel + 4, tap + 4, count - 4);
        }
        match count {
            1 => products(d, tap, &mut kept, enter::<D, 1>(d, channels, at, pixel), sums),
            2 => products(d, tap, &mut kept, enter::<D, 2>(d, channels, at, pixel), sums),
            3 => products(d, tap, &mut kept, enter::<D, 3>(d, channels, at, pixel), sums),
            _ => {}
        }
    }
}

/// Loads the sums along y of `N` pixels, from `pixel` behind the one at place `at` on, which is a multiple of eight.
///
/// # Safety
/// They are in shared memory.
#[inline(always)]
unsafe fn enter<D: Device, const N: usize>(d: D, channels: u32, at: u32, pixel: u32) -> [f64; N] {
    let mut entering = [0.0; N];
    for n in 0..N {
        let pixel = pixel + n as u32;
        // SAFETY: the caller's promise.
        entering[n] = unsafe { d.shared_load(DOWN, at + (pixel + pixel / VOLUMES_RUN) * channels) };
    }
    entering
}

/// Adds the products of `N` taps from `first` on to eight sums. The windows are what was kept and what enters; then they
/// move on.
///
/// # Safety
/// The launch has the taps.
#[inline(always)]
unsafe fn products<D: Device, const N: usize>(
    d: D,
    first: u32,
    kept: &mut [f64; KEPT],
    entering: [f64; N],
    sums: &mut [f64; RUN],
) {
    let of = |kept: &[f64; KEPT], at: usize| if at < KEPT { kept[at] } else { entering[at - KEPT] };
    for n in 0..N {
        // SAFETY: the caller's promise.
        let tap = unsafe { d.tap_f64(first + n as u32) };
        for r in 0..RUN {
            sums[r] = d.fma(tap, of(kept, n + r), sums[r]);
        }
    }
    for r in 0..KEPT {
        kept[r] = of(kept, r + N);
    }
}
