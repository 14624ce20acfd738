//! Taps along the columns of a plane, with eight adjacent outputs of each of two columns per thread in registers.
//!
//! ```text
//! each thread: two columns, a block's width apart, each with a window of fifteen samples in registers
//!     for each tap: load the sample that enters each window, and the tap; add the products to the sums of the eight
//!         outputs of each column
//! ```
//!
//! Per sixteen multiply-adds: two loads of samples, adjacent along a warp, and one of a tap from constant memory. No
//! shared memory and no barrier.

use super::{tap, Extended, Line};
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, Pixel, Sample, VolumesParams, VOLUMES_BLOCK, VOLUMES_COLUMNS_TILE, VOLUMES_RUN};
use core::marker::PhantomData;
use core::ops::Div;

/// The kernel: samples of type `X` are summed in `S`, and stored as `O`.
///
/// Launch contract: the buffers are as large as the parameters say, and there are `mask[1]` taps along y alone.
pub struct Columns<X, S, O>(PhantomData<(X, S, O)>);

const RUN: usize = VOLUMES_RUN as usize;
const WINDOW: usize = 2 * RUN - 1;

impl<X: Sample, S: Accumulator + Div<Output = S>, O: Pixel> Body for Columns<X, S, O> {
    type Src = X;
    type Dst = O;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &VolumesParams) {
        let sample = d.block_x() * VOLUMES_COLUMNS_TILE[0] + d.thread_x();
        // SAFETY: a plane has rows.
        let (plane, band) = unsafe { div_rem(d.block_y(), p.rows_of_blocks) };
        let first = band * VOLUMES_COLUMNS_TILE[1] + d.thread_y() * VOLUMES_RUN;
        let row_samples = p.out[0] * p.channels;
        if sample >= row_samples || first >= p.out[1] || plane >= p.out[2] {
            return;
        }
        // If the second column is outside, the first takes its place, and its sums are not stored.
        let second = if sample + VOLUMES_BLOCK[0] < row_samples { sample + VOLUMES_BLOCK[0] } else { sample };
        let (extended, y) = (Extended::of(d, src, p), first as i32 + p.origin[1]);
        let inside = y >= 0 && y + (p.mask[1] + VOLUMES_RUN - 1) as i32 <= p.sides[1] as i32;
        let start = (plane as i64 * p.sides[1] as i64 + y as i64) * p.row_stride as i64;
        let under = Under { d, extended, places: [sample, second], y, z: plane as i32, inside, start };
        let mut sums = [[S::ZERO; RUN]; 2];
        // SAFETY: the launch has `mask[1]` taps; row and column are in the output, and belong to one thread.
        unsafe {
            under.add(p.mask[1], &mut sums);
            under.extended.divide(&mut sums[0]);
            under.extended.divide(&mut sums[1]);
            let mut at = (plane as u64 * p.out[1] as u64 + first as u64) * row_samples as u64;
            for r in 0..RUN {
                if first + (r as u32) < p.out[1] {
                    under.extended.store(dst, at + sample as u64, sums[0][r]);
                    if second != sample {
                        under.extended.store(dst, at + second as u64, sums[1][r]);
                    }
                }
                at += row_samples as u64;
            }
        }
    }
}

/// The input under a thread's outputs.
struct Under<'p, D, X, S> {
    d: D,
    extended: Extended<'p, D, X, S>,
    /// The two columns, in samples.
    places: [u32; 2],
    /// The row under the first output's first tap, and the plane.
    y: i32,
    z: i32,
    /// Whether all rows under the outputs are in the volume, and the index of the first sample of the first of these
    /// rows.
    inside: bool,
    start: i64,
}

impl<D: Device, X: Sample, S: Accumulator + Div<Output = S>> Under<'_, D, X, S> {
    /// Returns the index of the first sample of the row `row` rows below the first, and whether the row is outside, in
    /// which case the index is arbitrary.
    #[inline(always)]
    fn at(&self, row: u32) -> (u64, bool) {
        let p = self.extended.p;
        if self.inside {
            return ((self.start + row as i64 * p.row_stride as i64) as u64, false);
        }
        match self.extended.row(self.y + row as i32, self.z) {
            Line::From(start) => (start, false),
            // An arbitrary row: the loaded samples are not used.
            Line::Outside(_) => (0, true),
        }
    }

    /// Loads the samples of `N` rows, from `first` on, into the windows, from place `to` on. All loads are issued
    /// before the first use.
    ///
    /// # Safety
    /// The volume has these columns.
    #[inline(always)]
    unsafe fn load<const N: usize>(&self, first: u32, to: usize, window: &mut [[S; WINDOW]; 2]) {
        let (mut rows, mut samples) = ([(0, false); N], [[X::default(); 2]; N]);
        for n in 0..N {
            rows[n] = self.at(first + n as u32);
        }
        for n in 0..N {
            for column in 0..2 {
                let at = rows[n].0 + self.places[column] as u64;
                // SAFETY: the caller's promise.
                samples[n][column] = unsafe { self.d.load(self.extended.src, at) };
            }
        }
        for n in 0..N {
            for column in 0..2 {
                let outside = self.extended.constants[1];
                window[column][to + n] = if rows[n].1 { outside } else { S::of(samples[n][column]) };
            }
        }
    }

    /// Adds the products of `count` taps and the samples under them to the sums.
    ///
    /// # Safety
    /// The taps are in the mask.
    #[inline(always)]
    unsafe fn add(&self, count: u32, sums: &mut [[S; RUN]; 2]) {
        let mut window = [[S::ZERO; WINDOW]; 2];
        // SAFETY: the caller's promise.
        unsafe {
            self.load::<{ RUN - 1 }>(0, 0, &mut window);
            let mut done = 0;
            while count - done >= RUN as u32 {
                self.step::<RUN>(done, &mut window, sums);
                done += RUN as u32;
            }
            // Four taps, then up to three: a copy of the code for each number below eight would be twice as long.
            if count - done >= 4 {
                self.step::<4>(done, &mut window, sums);
                done += 4;
            }
            match count - done {
                1 => self.step::<1>(done, &mut window, sums),
                2 => self.step::<2>(done, &mut window, sums),
                3 => self.step::<3>(done, &mut window, sums),
                _ => {}
            }
        }
    }

    /// As [`add`](Self::add), for `N` taps from `first` on; the windows are those of tap `first`, and are moved on by
    /// `N` samples.
    ///
    /// # Safety
    /// As [`add`](Self::add).
    #[inline(always)]
    unsafe fn step<const N: usize>(&self, first: u32, window: &mut [[S; WINDOW]; 2], sums: &mut [[S; RUN]; 2]) {
        // SAFETY: the caller's promise.
        unsafe { self.load::<N>(first + VOLUMES_RUN - 1, RUN - 1, window) };
        for n in 0..N {
            // SAFETY: the caller's promise.
            let tap: S = unsafe { tap(self.d, first + n as u32) };
            for column in 0..2 {
                for r in 0..RUN {
                    sums[column][r] = self.d.fma(tap, window[column][n + r], sums[column][r]);
                }
            }
        }
        for column in 0..2 {
            for r in 0..RUN - 1 {
                window[column][r] = window[column][r + N];
            }
        }
    }
}
