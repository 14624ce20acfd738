//! Filters of images of f64, in one launch that marches down the rows: taps along x and y, or a dense mask.
//!
//! ```text
//! each block: 256 adjacent output samples in a band of rows; from the top, four input rows per step and barrier:
//!     start copying later rows into shared memory
//!     one column per thread: for each of the four rows, the sum along x, or the products with each row of the mask
//!     add it to the sums of all output rows whose taps cover this row: a ring in registers
//!     store the oldest sum, which is complete
//! ```
//!
//! Each sample is read from global memory once, except for halos, and each result written once. Each multiply-add along
//! x takes a load of 8 bytes from shared memory, which limits filters with many taps.

use crate::conv2d::clamped;
use crate::device::{Device, Global, Shared};
use crate::{div_rem, Body};
use apron_abi::{
    BorderMode, VolumesParams, VOLUMES_PLANE_COLUMNS, VOLUMES_PLANE_HALO, VOLUMES_PLANE_ROWS, VOLUMES_PLANE_STAGES,
};

/// The kernel for up to `TAPS` taps along y and any along x; if `DENSE`, for a mask of `TAPS` x `TAPS`.
///
/// Launch contract: the buffers are as large as the parameters say; the depth is 1; a row of the mask covers at most
/// [`VOLUMES_PLANE_HALO`] samples after the first. Taps along y are the last of `TAPS` places, and are followed by the
/// taps along x.
pub struct Plane<const TAPS: usize, const DENSE: bool>;

const COLUMNS: u32 = VOLUMES_PLANE_COLUMNS;
const PITCH: u32 = COLUMNS + VOLUMES_PLANE_HALO;
const ROWS: usize = VOLUMES_PLANE_ROWS as usize;
const AHEAD: u32 = VOLUMES_PLANE_STAGES - 1;
/// Stands for a column outside the image with a constant border.
const OUTSIDE: u32 = u32::MAX;

/// A block's band.
struct Band<'p, D> {
    d: D,
    p: &'p VolumesParams,
    src: Global<f64>,
    /// First input row.
    top: i32,
    /// Number of input rows.
    inputs: u32,
    /// The samples of an image row for the thread's two columns of the tile, or [`OUTSIDE`].
    places: [u32; 2],
}

impl<D: Device> Band<'_, D> {
    /// Starts copying the rows of a step into a stage.
    ///
    /// # Safety
    /// The launch contract holds, and no thread reads the stage before the barrier after the wait for it.
    #[inline(always)]
    unsafe fn start(&self, step: u32) {
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
                    // SAFETY: row and column are mapped into the image; one thread writes each place of the stage.
                    unsafe {
                        match (start, self.places[k as usize]) {
                            (None, _) => d.shared_store(tile(), place, p.constants[1]),
                            (_, OUTSIDE) => d.shared_store(tile(), place, p.constants[0]),
                            (Some(start), x) => d.start_copy(tile(), place, self.src, start + x as u64),
                        }
                    }
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

impl<const TAPS: usize, const DENSE: bool> Plane<TAPS, DENSE> {
    /// Adds the four rows of a step to the sums, and stores the output rows that end in them.
    ///
    /// # Safety
    /// The stage is complete.
    #[inline(always)]
    unsafe fn step<D: Device>(band: &Band<'_, D>, step: u32, ring: &mut [f64; TAPS], mut store: impl FnMut(u32, f64)) {
        let (d, p) = (band.d, band.p);
        let [columns, rows] = [d.anew(p.mask[0]), d.anew(p.mask[1])];
        let unused = TAPS as u32 - rows;
        let first = Band::<D>::stage(step) + d.thread_x();
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
        for r in 0..ROWS {
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

impl<const TAPS: usize, const DENSE: bool> Body for Plane<TAPS, DENSE> {
    type Src = f64;
    type Dst = f64;
    type Params = VolumesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f64>, p: &VolumesParams) {
        // SAFETY: the grid has at least one row of blocks.
        let rows_of_band = unsafe { div_rem(p.out[1] + p.rows_of_blocks - 1, p.rows_of_blocks) }.0;
        let (left, top) = (d.block_x() * COLUMNS, d.block_y() * rows_of_band);
        if top >= p.out[1] {
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
        let top_row = top as i32 + p.origin[1];
        let band = Band { d, p, src, top: top_row, inputs: rows + p.mask[1] - 1, places };
        let steps = band.inputs.div_ceil(ROWS as u32);
        let (row_samples, column) = (p.out[0] * p.channels, left + d.thread_x());
        let store = |row: u32, sum: f64| {
            if column < row_samples {
                let sum = if p.clamp != 0 { clamped(sum) } else { sum };
                // SAFETY: row and column are in the output, and belong to this thread.
                unsafe { d.store(dst, (top + row) as u64 * row_samples as u64 + column as u64, sum) };
            }
        };
        let mut ring = [0.0; TAPS];
        for k in 0..steps + AHEAD {
            // SAFETY: the launch contract. A stage is overwritten only after the barrier that follows its last use.
            unsafe {
                d.wait_copies::<{ AHEAD - 1 }>();
                d.barrier();
                if k < steps {
                    band.start(k);
                }
                // One group of copies per step, even if it is empty, so that the waits count the same groups.
                d.end_copies();
                if k >= AHEAD {
                    Self::step(&band, k - AHEAD, &mut ring, store);
                }
            }
        }
    }
}
