//! A dense mask over rows in shared memory, with eight adjacent outputs per thread in registers.
//!
//! ```text
//! for each plane of the mask, up to eight of its rows and up to 32 of its columns at a time:
//!     the rows under the block's outputs and their halo -> shared memory, in the type of the sums
//!     barrier
//!     for each of these rows of the mask, for each column:
//!         load the one sample that enters the thread's window of fifteen, and the tap; add eight products
//!     barrier
//! sums -> shared memory; barrier; store them, adjacent along a warp
//! ```
//!
//! Per eight multiply-adds: one load from shared memory, and one tap from constant memory, uniform for the warp. Each
//! sample is converted once per tile. Groups of eight pixels are nine places apart, so that lanes use different banks.

use super::{tap, Extended, Line};
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, Pixel, RowsTile, Sample, VolumesParams, VOLUMES_ROWS_BLOCK, VOLUMES_RUN};
use core::marker::PhantomData;
use core::ops::Div;

/// The kernel: samples of type `X` are summed in `S`, and stored as `O`.
///
/// Launch contract: the buffers are as large as the parameters say, the taps are in rows without padding, plane by
/// plane, and the block has the shared memory of the [`RowsTile`].
pub struct Rows<X, S, O>(PhantomData<(X, S, O)>);

const RUN: usize = VOLUMES_RUN as usize;
const WINDOW: usize = 2 * RUN - 1;

/// Samples that a thread loads before it uses the first.
const AT_ONCE: u32 = 4;

impl<X: Sample, S: Accumulator + Div<Output = S>, O: Pixel> Body for Rows<X, S, O> {
    type Src = X;
    type Dst = O;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &VolumesParams) {
        // SAFETY: a plane has rows.
        let (plane, band) = unsafe { div_rem(d.block_y(), p.rows_of_blocks) };
        if plane >= p.out[2] {
            return;
        }
        // SAFETY: a volume has at least one channel.
        unsafe { core::hint::assert_unchecked(p.channels != 0) };
        let tile = RowsTile::of(p.channels, [p.mask[0], p.mask[1]], S::TYPE.size_bytes());
        let block =
            Block { d, p, tile, x: d.block_x() * tile.pixels, y: band * VOLUMES_ROWS_BLOCK[1], held: Shared::at(0) };
        let extended = Extended::of(d, src, p);
        // SAFETY: a volume has at least one channel.
        let (group, channel) = unsafe { div_rem(d.thread_x(), p.channels) };
        let first = (group * (RUN as u32 + 1)) * p.channels + channel;
        let is_summing = group * RUN as u32 + RUN as u32 <= tile.pixels;
        let mut sums = [S::ZERO; RUN];
        for k in 0..p.mask[2] {
            let z = (plane + k) as i32 + p.origin[2];
            let mut j = 0;
            while j < p.mask[1] {
                let rows = least(p.mask[1] - j, tile.mask[1]);
                let mut i = 0;
                while i < p.mask[0] {
                    let columns = least(p.mask[0] - i, tile.mask[0]);
                    // SAFETY: the tile has places for these rows and columns; barriers separate its writes from its
                    // reads.
                    unsafe {
                        d.barrier();
                        block.fill(&extended, [i, j], [columns, rows], z);
                        d.barrier();
                        if is_summing {
                            for row in 0..rows {
                                let at = (d.thread_y() + row) * tile.pitch + first;
                                let taps = ((k * p.mask[1] + j + row) * p.mask[0]) + i;
                                block.add(at, taps, columns, &mut sums);
                            }
                        }
                    }
                    i += tile.mask[0];
                }
                j += tile.mask[1];
            }
        }
        // SAFETY: as above; each output belongs to one thread.
        unsafe {
            d.barrier();
            if is_summing {
                extended.divide(&mut sums);
                for r in 0..RUN {
                    let place = d.thread_y() * tile.pitch + first + r as u32 * p.channels;
                    d.shared_store(block.held, place, sums[r]);
                }
            }
            d.barrier();
            block.store(&extended, dst, plane);
        }
    }
}

/// A block, and its part of the volume.
struct Block<'p, D, S> {
    d: D,
    p: &'p VolumesParams,
    tile: RowsTile,
    /// Column and row of the first output.
    x: u32,
    y: u32,
    held: Shared<S>,
}

impl<D: Device, S: Accumulator + Div<Output = S>> Block<'_, D, S> {
    /// Returns the place, in a row of the tile, of sample `sample` of the row.
    #[inline(always)]
    fn place(&self, sample: u32) -> u32 {
        if self.p.channels == 1 {
            return sample + sample / RUN as u32;
        }
        // SAFETY: a volume has at least one channel.
        let (pixel, channel) = unsafe { div_rem(sample, self.p.channels) };
        (pixel + pixel / RUN as u32) * self.p.channels + channel
    }

    /// Fills the tile with the samples of plane `z` of the extended volume that are under `size` columns and rows of
    /// the mask, from `first` on.
    ///
    /// # Safety
    /// No thread reads the tile.
    #[inline(always)]
    unsafe fn fill<X: Sample>(&self, extended: &Extended<'_, D, X, S>, first: [u32; 2], size: [u32; 2], z: i32) {
        let (d, p) = (self.d, self.p);
        let samples = (self.tile.pixels + size[0] - 1) * p.channels;
        let x = (self.x + first[0]) as i32 + p.origin[0];
        let inside = x >= 0 && x + (self.tile.pixels + size[0] - 1) as i32 <= p.sides[0] as i32;
        let mut row = d.thread_y();
        while row < VOLUMES_ROWS_BLOCK[1] + size[1] - 1 {
            let line = extended.row((self.y + row + first[1]) as i32 + p.origin[1], z);
            // SAFETY: the caller's promise; if `inside`, all samples are in the volume's row.
            unsafe {
                match line {
                    Line::From(start) if inside && p.channels == 1 => {
                        self.fill_inside(extended.src, start + x as u32 as u64, row * self.tile.pitch, samples);
                    }
                    line => self.fill_row(extended, line, (x, inside), row * self.tile.pitch, samples),
                }
            }
            row += VOLUMES_ROWS_BLOCK[1];
        }
    }

    /// Fills a row of the tile, from place `to` on, with the volume's samples from sample `from` on, for one channel:
    /// without a check for each sample, and with places at constant distances.
    ///
    /// # Safety
    /// The volume has these samples; and as [`fill`](Self::fill).
    #[inline(always)]
    unsafe fn fill_inside<X: Sample>(&self, src: Global<X>, from: u64, to: u32, samples: u32) {
        const APART: u32 = VOLUMES_ROWS_BLOCK[0];
        let d = self.d;
        let mut sample = d.thread_x();
        let (mut at, mut place) = (from + sample as u64, to + self.place(sample));
        // SAFETY: the caller's promise.
        unsafe {
            while sample + (AT_ONCE - 1) * APART < samples {
                let mut values = [S::ZERO; AT_ONCE as usize];
                for k in 0..AT_ONCE {
                    values[k as usize] = S::of(d.load(src, at + (k * APART) as u64));
                }
                for k in 0..AT_ONCE {
                    d.shared_store(self.held, place + k * (APART + APART / VOLUMES_RUN), values[k as usize]);
                }
                sample += AT_ONCE * APART;
                at += (AT_ONCE * APART) as u64;
                place += AT_ONCE * (APART + APART / VOLUMES_RUN);
            }
            while sample < samples {
                d.shared_store(self.held, place, S::of(d.load(src, at)));
                sample += APART;
                at += APART as u64;
                place += APART + APART / VOLUMES_RUN;
            }
        }
    }

    /// As [`fill_inside`](Self::fill_inside), from column `x` of the extended row on.
    ///
    /// # Safety
    /// The row has the samples if `inside` is true; and as [`fill`](Self::fill).
    #[inline(always)]
    unsafe fn fill_row<X: Sample>(
        &self,
        extended: &Extended<'_, D, X, S>,
        line: Line<S>,
        (x, inside): (i32, bool),
        to: u32,
        samples: u32,
    ) {
        let d = self.d;
        let mut sample = d.thread_x();
        while sample < samples {
            let mut values = [S::ZERO; AT_ONCE as usize];
            for k in 0..AT_ONCE {
                let sample = sample + k * VOLUMES_ROWS_BLOCK[0];
                if sample < samples {
                    // SAFETY: the caller's promise.
                    values[k as usize] = unsafe { extended.sample(line, x, sample, inside) };
                }
            }
            for k in 0..AT_ONCE {
                let sample = sample + k * VOLUMES_ROWS_BLOCK[0];
                if sample < samples {
                    // SAFETY: the tile's row has the sample's place; one thread writes each.
                    unsafe { d.shared_store(self.held, to + self.place(sample), values[k as usize]) };
                }
            }
            sample += AT_ONCE * VOLUMES_ROWS_BLOCK[0];
        }
    }

    /// Adds the products of `count` taps, from `taps` on, and the samples, from place `at` on, to eight adjacent sums.
    ///
    /// # Safety
    /// The taps are in the mask, and the samples in the tile.
    #[inline(always)]
    unsafe fn add(&self, mut at: u32, mut taps: u32, mut count: u32, sums: &mut [S; RUN]) {
        let mut window = [S::ZERO; WINDOW];
        // SAFETY: the caller's promise.
        unsafe {
            for r in 0..RUN - 1 {
                window[r] = self.d.shared_load(self.held, at + r as u32 * self.p.channels);
            }
            while count >= RUN as u32 {
                self.step::<RUN>(at, taps, &mut window, sums);
                (at, taps, count) = (at + (RUN as u32 + 1) * self.p.channels, taps + RUN as u32, count - RUN as u32);
            }
            match count {
                1 => self.step::<1>(at, taps, &mut window, sums),
                2 => self.step::<2>(at, taps, &mut window, sums),
                3 => self.step::<3>(at, taps, &mut window, sums),
                4 => self.step::<4>(at, taps, &mut window, sums),
                5 => self.step::<5>(at, taps, &mut window, sums),
                6 => self.step::<6>(at, taps, &mut window, sums),
                7 => self.step::<7>(at, taps, &mut window, sums),
                _ => {}
            }
        }
    }

    /// As [`add`](Self::add), for `N` taps; the window is that of the first tap, and is moved on by eight samples.
    ///
    /// # Safety
    /// As [`add`](Self::add).
    #[inline(always)]
    unsafe fn step<const N: usize>(&self, at: u32, taps: u32, window: &mut [S; WINDOW], sums: &mut [S; RUN]) {
        for n in 0..N {
            let pixel = (RUN - 1 + n) as u32;
            let place = at + (pixel + pixel / RUN as u32) * self.p.channels;
            // SAFETY: the caller's promise.
            window[pixel as usize] = unsafe { self.d.shared_load(self.held, place) };
        }
        for n in 0..N {
            // SAFETY: the caller's promise.
            let tap: S = unsafe { tap(self.d, taps + n as u32) };
            for r in 0..RUN {
                sums[r] = self.d.fma(tap, window[n + r], sums[r]);
            }
        }
        for r in 0..RUN - 1 {
            window[r] = window[r + RUN];
        }
    }

    /// Stores the block's sums, which are in the tile, as far as they are in the output.
    ///
    /// # Safety
    /// No other block stores them.
    #[inline(always)]
    unsafe fn store<X: Sample, O: Pixel>(&self, extended: &Extended<'_, D, X, S>, dst: Global<O>, plane: u32) {
        let (d, p) = (self.d, self.p);
        let row = self.y + d.thread_y();
        if row >= p.out[1] {
            return;
        }
        let (row_samples, start) = (p.out[0] * p.channels, self.x * p.channels);
        let mut sample = d.thread_x();
        while sample < self.tile.pixels * p.channels && start + sample < row_samples {
            let line = plane as u64 * p.out[1] as u64 + row as u64;
            // SAFETY: the tile holds the sum since the barrier; row and sample are in the output; the caller's promise.
            unsafe {
                let sum = d.shared_load(self.held, d.thread_y() * self.tile.pitch + self.place(sample));
                extended.store(dst, line * row_samples as u64 + (start + sample) as u64, sum);
            }
            sample += VOLUMES_ROWS_BLOCK[0];
        }
    }
}

#[inline(always)]
fn least(a: u32, b: u32) -> u32 {
    if a < b {
        a
    } else {
        b
    }
}
