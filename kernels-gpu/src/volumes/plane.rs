//! Filters of planes with sums in f64, in one launch that marches down the rows: taps along x and y, or a dense mask.
//!
//! ```text
//! each block: 256 adjacent output samples in a band of rows; from the top, four input rows per step and barrier:
//!     start copying later rows into shared memory; integers wait in registers until the end of the step
//!     one column per thread: for each of the four rows, the sum along x, or the products with each row of the mask
//!     add it to the sums of all output rows whose taps cover this row: a ring in registers
//!     store the oldest sum, which is complete
//! ```
//!
//! Each sample is read from global memory once, except for halos, and each result written once. Each multiply-add along
//! x takes a load of 8 bytes from shared memory, which limits filters with many taps.

use super::cut::{cut, cuts, narrowed};
use super::tiles::Marched;
use crate::conv2d::clamped;
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{
    BorderMode, Cast, Pixel, VolumesParams, VOLUMES_PLANE_COLUMNS, VOLUMES_PLANE_HALO, VOLUMES_PLANE_ROWS,
    VOLUMES_PLANE_STAGES,
};
use core::marker::PhantomData;

/// The kernel over samples of type `X` for up to `TAPS` taps along y and any along x; if `DENSE`, for a mask of `TAPS` x
/// `TAPS`.
///
/// Launch contract: the buffers are as large as the parameters say; each output plane is the result of one plane of the
/// volume; a row of the mask covers at most [`VOLUMES_PLANE_HALO`] samples after the first. Taps along y are the last of
/// `TAPS` places, and are followed by the taps along x. Sums that are cut as C casts them have 32 bits.
pub struct Plane<X, const TAPS: usize, const DENSE: bool>(PhantomData<X>);

const COLUMNS: u32 = VOLUMES_PLANE_COLUMNS;
const PITCH: u32 = COLUMNS + VOLUMES_PLANE_HALO;
const ROWS: usize = VOLUMES_PLANE_ROWS as usize;
const AHEAD: u32 = VOLUMES_PLANE_STAGES - 1;
/// Stands for a column outside the image with a constant border.
const OUTSIDE: u32 = u32::MAX;
/// A thread's integers of a step.
#[derive(Clone, Copy)]
struct Waiting {
    /// The bits of two samples per row, 16 each.
    bits: [u32; ROWS],
    /// A bit per sample that is a constant of the border, which is in the stage already.
    written: u32,
}

impl Waiting {
    const NONE: Waiting = Waiting { bits: [0; ROWS], written: 0 };
}

/// A block's band.
struct Band<'p, D, X> {
    d: D,
    p: &'p VolumesParams,
    /// The plane.
    src: Global<X>,
    /// First input row.
    top: i32,
    /// Number of input rows.
    inputs: u32,
    /// The samples of an image row for the thread's two columns of the tile, or [`OUTSIDE`].
    places: [u32; 2],
}

impl<D: Device, X: Marched<Sum = f64>> Band<'_, D, X> {
    /// Starts copying the rows of a step into a stage; integers go to `waiting`, from which [`put`](Band::put) stores them.
    ///
    /// # Safety
    /// The launch contract holds, and no thread reads the stage before the barrier after the wait for it.
    #[inline(always)]
    unsafe fn start(&self, step: u32, waiting: &mut Waiting) {
        let (d, p, thread) = (self.d, self.p, self.d.thread_x());
        let border = BorderMode::from_u32(p.borders[1]);
        for r in 0..ROWS as u32 {
            // The last step may have fewer rows: rows after the last are copies of it.
            let row = step * ROWS as u32 + r;
            let row = if row < self.inputs { row } else { self.inputs - 1 };
            let start = border.map(self.top + row as i32, p.sides[1] as i32).map(|y| y as u64 * p.row_stride as u64);
            for k in 0..2 {
                let column = thread + k * COLUMNS;
                if column < COLUMNS + (p.mask[0] - 1) * p.channels {
                    let place = Self::stage(step) + r * PITCH + column;
                    let mut constant = |constant| {
                        waiting.written |= 1 << (2 * r + k);
                        // SAFETY: one thread writes each place of the stage.
                        unsafe { d.shared_store(tile(), place, constant) };
                    };
                    match (start, self.places[k as usize]) {
                        (None, _) => constant(p.constants[1]),
                        (_, OUTSIDE) => constant(p.constants[0]),
                        // SAFETY: row and column are mapped into the image; one thread writes each place of the stage.
                        (Some(start), x) if X::AS_IT_IS => unsafe {
                            d.start_copy(tile(), place, Global::<f64>::at(self.src.address), start + x as u64);
                        },
                        // SAFETY: as above.
                        (Some(start), x) => unsafe {
                            waiting.bits[r as usize] |= d.load_bits(self.src, start + x as u64) << (16 * k);
                        },
                    }
                }
            }
        }
    }

    /// Completes the copy of a step that [`start`](Band::start) began.
    ///
    /// # Safety
    /// As [`start`](Band::start), for the same step.
    #[inline(always)]
    unsafe fn put(&self, step: u32, waiting: &Waiting) {
        let (d, p, thread) = (self.d, self.p, self.d.thread_x());
        for r in 0..ROWS as u32 {
            for k in 0..2 {
                let column = thread + k * COLUMNS;
                let waits = !X::AS_IT_IS && waiting.written >> (2 * r + k) & 1 == 0;
                if waits && column < COLUMNS + (p.mask[0] - 1) * p.channels {
                    let number = X::number(X::of_bits(waiting.bits[r as usize] >> (16 * k) & 0xffff));
                    // SAFETY: one thread writes each place of the stage.
                    unsafe { d.shared_store(tile(), Self::stage(step) + r * PITCH + column, number) };
                }
            }
        }
    }

    /// Returns the place of a step's first sample.
    #[inline(always)]
    fn stage(step: u32) -> u32 {
        step % VOLUMES_PLANE_STAGES * ROWS as u32 * PITCH
    }
}

#[inline(always)]
fn tile() -> Shared<f64> {
    Shared::at(0)
}

impl<X: Marched<Sum = f64>, const TAPS: usize, const DENSE: bool> Plane<X, TAPS, DENSE> {
    /// Adds the four rows of a step to the sums, and stores the output rows that end in them.
    ///
    /// # Safety
    /// The stage is complete.
    #[inline(always)]
    unsafe fn step<D: Device>(
        band: &Band<'_, D, X>,
        step: u32,
        ring: &mut [f64; TAPS],
        mut store: impl FnMut(u32, f64),
    ) {
        let (d, p) = (band.d, band.p);
        let [columns, rows] = [d.anew(p.mask[0]), d.anew(p.mask[1])];
        let unused = TAPS as u32 - rows;
        let first = Band::<D, X>::stage(step) + d.thread_x();
        let mut along = [0.0; ROWS];
        if !DENSE {
            let mut i = 0;
            while i < columns {
                // SAFETY: the taps along x follow the `TAPS` along y; the stage has the samples under all of them.
                unsafe {
                    let tap = d.tap_f64(TAPS as u32 + i);
                    for r in 0..ROWS {
                        let sample = d.shared_load(tile(), first + r as u32 * PITCH + i * p.channels);
                        along[r] = d.fma(tap, sample, along[r]);
                    }
                }
                i += 1;
            }
        }
        // A loop that stays one for integers: they leave fewer registers, and the code is a quarter.
        let together = if X::AS_IT_IS { ROWS as u32 } else { d.anew(ROWS as u32) };
        for r in 0..together as usize {
            // Places of the ring without a tap stay 0.
            for s in (0..TAPS).rev() {
                if DENSE || s as u32 >= unused {
                    let before = if s == 0 { 0.0 } else { ring[s - 1] };
                    // SAFETY: `s` is one of the `TAPS` places along y.
                    ring[s] = if DENSE { before } else { d.fma(unsafe { d.tap_f64(s as u32) }, along[r], before) };
                }
            }
            if DENSE {
                for i in 0..TAPS {
                    // SAFETY: the stage has the samples under all columns of the mask.
                    let sample = unsafe { d.shared_load(tile(), first + r as u32 * PITCH + i as u32 * p.channels) };
                    for s in 0..TAPS {
                        // SAFETY: the mask has `TAPS` x `TAPS` taps.
                        ring[s] = d.fma(unsafe { d.tap_f64((s * TAPS + i) as u32) }, sample, ring[s]);
                    }
                }
            }
            let row = step * ROWS as u32 + r as u32;
            if row < band.inputs {
                if let Some(out) = (row + 1).checked_sub(rows) {
                    store(out, ring[TAPS - 1]);
                }
            }
        }
    }
}

impl<X: Marched<Sum = f64> + Pixel, const TAPS: usize, const DENSE: bool> Body for Plane<X, TAPS, DENSE> {
    type Src = X;
    type Dst = X;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<X>, p: &VolumesParams) {
        // SAFETY: the grid has at least one row of blocks.
        let (plane, band) = if DENSE { unsafe { div_rem(d.block_y(), p.rows_of_blocks) } } else { (0, d.block_y()) };
        // SAFETY: as above.
        let rows_of_band = unsafe { div_rem(p.out[1] + p.rows_of_blocks - 1, p.rows_of_blocks) }.0;
        let (left, top) = (d.block_x() * COLUMNS, band * rows_of_band);
        // A grid may have more rows of blocks than its launch needs.
        if top >= p.out[1] || (DENSE && plane >= p.out[2]) {
            return;
        }
        let rest = p.out[1] - top;
        let rows = if rest < rows_of_band { rest } else { rows_of_band };
        let border = BorderMode::from_u32(p.borders[0]);
        let mut places = [0; 2];
        for k in 0..2 {
            // SAFETY: an image has at least one channel.
            let (pixel, channel) = unsafe { div_rem(left + d.thread_x() + k * COLUMNS, p.channels) };
            places[k as usize] = match border.map(pixel as i32 + p.origin[0], p.sides[0] as i32) {
                Some(pixel) => pixel as u32 * p.channels + channel,
                None => OUTSIDE,
            };
        }
        let from = if DENSE { (plane as i32 + p.origin[2]) as u64 } else { 0 };
        let first = from * p.sides[1] as u64 * p.row_stride as u64;
        let src = Global::<X>::at(src.address + first * X::TYPE.size_bytes() as u64);
        let top_row = top as i32 + p.origin[1];
        let band = Band { d, p, src, top: top_row, inputs: rows + p.mask[1] - 1, places };
        let steps = band.inputs.div_ceil(ROWS as u32);
        let row_samples = p.out[0] * p.channels;
        // All planes together have fewer than 2^32 rows.
        let first_row = plane * p.out[1] + top;
        let are_cut = cuts(Cast::of_code(p.cast));
        let store = |row: u32, sum: f64| {
            // Anew for masks, so that it takes no register from the sums.
            let block = if DENSE { d.anew(d.block_x()) } else { d.block_x() };
            let column = block * COLUMNS + d.thread_x();
            if column < row_samples {
                let sum = if X::AS_IT_IS && p.clamp != 0 { clamped(sum) } else { sum };
                // SAFETY: row and column are in the output, and belong to this thread; the launch contract.
                unsafe {
                    let result = if !X::AS_IT_IS && are_cut { narrowed(cut(sum)) } else { X::from_sum(sum) };
                    d.store(dst, (first_row + row) as u64 * row_samples as u64 + column as u64, result);
                }
            }
        };
        let mut ring = [0.0; TAPS];
        for k in 0..steps + AHEAD {
            // SAFETY: the launch contract. A stage is overwritten only after the barrier that follows its last use.
            unsafe {
                d.wait_copies::<{ AHEAD - 1 }>();
                d.barrier();
                let mut waiting = Waiting::NONE;
                if k < steps {
                    band.start(k, &mut waiting);
                }
                // One group of copies per step, even if it is empty, so that the waits count the same groups.
                d.end_copies();
                if k >= AHEAD {
                    Self::step(&band, k - AHEAD, &mut ring, store);
                }
                if k < steps {
                    band.put(k, &waiting);
                }
            }
        }
    }
}
