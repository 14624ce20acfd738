//! Taps along the columns of a plane, with eight outputs of each of two columns per thread in registers.
//!
//! ```text
//! each thread: samples of two columns, a block's width apart
//!     for each tap: load the two samples that enter the windows of fifteen rows, and the tap; add eight products to each
//! ```
//!
//! Per sixteen multiply-adds: two loads of samples, adjacent along a warp, and one of a tap from constant memory. No shared memory and
//! no barrier.

use super::{tap, Extended};
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{Accumulator, Pixel, Sample, VolumesParams, VOLUMES_BLOCK, VOLUMES_COLUMNS_TILE, VOLUMES_RUN};
use core::marker::PhantomData;
use core::ops::Div;

/// The kernel: samples of type `X` are summed in `S`, and become `O`.
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
        // The sums of a second column that is outside are not stored.
        let second = if sample + VOLUMES_BLOCK[0] < row_samples { sample + VOLUMES_BLOCK[0] } else { sample };
        let under = Under {
            d,
            extended: Extended::of(d, src, p),
            places: [sample, second],
            y: first as i32 + p.origin[1],
            z: plane as i32,
        };
        let mut sums = [[S::ZERO; RUN]; 2];
        // SAFETY: the taps are in the mask; each output is one thread's.
        unsafe {
            under.add(p.mask[1], &mut sums);
            for r in 0..RUN {
                let row = first + r as u32;
                if row < p.out[1] {
                    let at = (plane as u64 * p.out[1] as u64 + row as u64) * row_samples as u64;
                    under.extended.store(dst, at + sample as u64, sums[0][r]);
                    if second != sample {
                        under.extended.store(dst, at + second as u64, sums[1][r]);
                    }
                }
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
}

impl<D: Device, X: Sample, S: Accumulator + Div<Output = S>> Under<'_, D, X, S> {
    /// Returns the samples of both columns in the row that is `row` below the first.
    #[inline(always)]
    unsafe fn row(&self, row: u32) -> [S; 2] {
        let line = self.extended.row(self.y + row as i32, self.z);
        // SAFETY: the columns are in the volume.
        self.places.map(|sample| unsafe { self.extended.sample(line, 0, sample, true) })
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
            for r in 0..RUN - 1 {
                [window[0][r], window[1][r]] = self.row(r as u32);
            }
            let mut done = 0;
            while count - done >= RUN as u32 {
                self.step::<RUN>(done, &mut window, sums);
                done += RUN as u32;
            }
            match count - done {
                1 => self.step::<1>(done, &mut window, sums),
                2 => self.step::<2>(done, &mut window, sums),
                3 => self.step::<3>(done, &mut window, sums),
                4 => self.step::<4>(done, &mut window, sums),
                5 => self.step::<5>(done, &mut window, sums),
                6 => self.step::<6>(done, &mut window, sums),
                7 => self.step::<7>(done, &mut window, sums),
                _ => {}
            }
        }
    }

    /// As [`add`](Self::add), of `N` taps from `first` on, with the windows of the first; moves the windows on.
    ///
    /// # Safety
    /// As [`add`](Self::add).
    #[inline(always)]
    unsafe fn step<const N: usize>(&self, first: u32, window: &mut [[S; WINDOW]; 2], sums: &mut [[S; RUN]; 2]) {
        for n in 0..N {
            let entering = RUN - 1 + n;
            // SAFETY: the caller's promise.
            [window[0][entering], window[1][entering]] = unsafe { self.row(first + entering as u32) };
        }
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
                window[column][r] = window[column][r + RUN];
            }
        }
    }
}
