//! Marching: blocks that compute a strip of the image row by row, and read each input row once.
//!
//! A block of [`MARCH_BLOCK`] threads computes a strip of `p.rows` output rows, `P` adjacent samples per thread. Input
//! rows pass through a ring of [`march_stages`](apron_abi::march_stages) stages in shared memory, packed as in the
//! image. Bulk asynchronous copies fill the stages several rows ahead, so that no thread waits for global memory. A
//! thread keeps the sums of all output rows whose mask covers the current input row, and adds the row's contribution to
//! each:
//!
//! ```text
//! for each input row under the strip:
//!     wait until the row is complete; barrier    (no thread reads the rows above the mask any more)
//!     start copying a later row into the stage of a row above the mask
//!     sums[k] = sums[k - 1] + contribution of this row under mask row k      (from the last k down)
//!     store sums[last]
//! ```
//!
//! A sum moves to the next register in the addition itself, so no instruction is spent on moves. In the few blocks with
//! samples outside the image, threads fill these samples in: f32 samples one per thread, by asynchronous copies equally
//! far ahead; packed samples one word per thread, from the row's stage once the row is complete. Rows whose length is
//! no multiple of 16 bytes cannot be copied in bulk: threads copy their words, and windows that start inside a word are
//! shifted as they are read.
//!
//! Launch contract: the device has bulk asynchronous copies, the buffers are as large as the parameters say and start
//! at multiples of 16 bytes, rows have 16 bytes or more, the shared memory is [`apron_abi::march_bytes`], and the
//! parameters are as the plan computes them.

mod dense;
mod results;
mod ring;
mod separable;

pub use dense::Dense;
pub use separable::Separable;

use crate::device::{Device, Global};
use crate::samples::{Place, Samples, WARP};
use apron_abi::{march_across, Accumulator, Element, MarchParams, MARCH_BLOCK};
use results::Results;
pub(crate) use ring::Ring;

/// Most samples of a row that a thread needs: those under its outputs, and the halo of the widest mask over four
/// channels.
pub(crate) const WINDOW: usize = 72;

/// A filter of `K` x `K` taps: how it adds an input row to the sums, and how it sums a doubtful output again.
pub trait Rows<const P: usize, const K: usize, const C: usize> {
    /// Whether the mask is dense.
    const DENSE: bool;
    /// Adds an input row to the sums of `P` adjacent outputs, under each row of the mask, and moves each sum on by one
    /// mask row; new sums start at `start`. Sample `i * C + p` of the window is under mask column `i` of output `p`.
    ///
    /// # Safety
    /// The launch's taps are the filter's.
    unsafe fn add<D: Device, S: Samples>(d: D, sums: &mut [[S::Sum; P]; K], window: &[S::Sum; WINDOW], start: S::Sum);
    /// Returns the sum of one output in f64, from f32 taps, computed by all threads of a warp; `sample(j, i)` is under
    /// row `j` and column `i` of the mask, and `last` is the index of the last row and column.
    ///
    /// # Safety
    /// As [`add`](Rows::add); all threads of the warp call this, for the same output.
    unsafe fn exact<D: Device>(d: D, last: u32, sample: impl Fn(u32, u32) -> f64) -> f64;
}

/// Runs a filter of `K` mask rows over images of `C` channels, `P` adjacent outputs per thread; `PIECES` if the
/// length of rows is a multiple of 16 bytes.
///
/// # Safety
/// The launch contract holds.
#[inline(always)]
unsafe fn march<
    D: Device,
    F: Rows<P, K, C>,
    S: Results<P, K, C>,
    const P: usize,
    const K: usize,
    const C: usize,
    const PIECES: bool,
>(
    d: D,
    src: Global<S::Element>,
    dst: Global<S::Element>,
    p: &MarchParams,
) {
    const { assert!(P as u32 == march_across(S::Element::TYPE, S::SUMS, F::DENSE, K as u32)) };
    let strip = d.block_x() as i32 * MARCH_BLOCK as i32 * P as i32;
    // A grid may have more rows of blocks than its launch needs.
    let first_row = d.block_y() * p.rows;
    if first_row >= p.out_height {
        return;
    }
    let last_row = if p.out_height - first_row < p.rows { p.out_height } else { first_row + p.rows };
    let input_rows = last_row - first_row + p.halo_rows;
    let first = p.first + strip + d.thread_x() as i32 * P as i32;
    let samples = p.out_samples as i32;
    let whole = p.aligned >= P as u32 / S::OF_WORD * 4 && first >= 0 && first + P as i32 <= samples;
    let row_bytes = p.out_samples as u64 * S::Element::TYPE.size_bytes() as u64;
    let mut place = Place { row: dst.address + first_row as u64 * row_bytes, first, samples, whole };
    let mut sums = [[S::Sum::ZERO; P]; K];
    // SAFETY: the caller's promise.
    unsafe {
        let top = first_row as i32 + p.origin_y;
        let ring = Ring::<D, S, P, K, C, PIECES>::start(d, src, p, p.left + strip, top, input_rows);
        let mut row = 0;
        while row < p.ahead {
            ring.bring(row);
            row += 1;
        }
        ring.wait_for_first();
        ring.complete(0);
        let mut row = 0;
        while row < input_rows {
            ring.wait(row);
            d.barrier();
            ring.bring(row + p.ahead);
            // Warps past the row's end only copy: strips of bytes are the widest, and the last one of a row often has
            // few samples. Recomputed for each row, so that the compiler does not duplicate the loop.
            let before = || (d.anew(d.thread_x()) % WARP * P as u32) as i32;
            if const { PIECES || S::OF_WORD < 4 } || first - before() < samples {
                F::add::<D, S>(d, &mut sums, &ring.window(row), S::start(p));
                if row >= p.halo_rows {
                    S::store::<D, F, PIECES>(&ring, place, row, &sums[K - 1]);
                    place.row += row_bytes;
                }
            }
            row += 1;
            ring.complete(row);
        }
    }
}
