//! Marching: blocks that go down a strip of the image row by row, each input row read once.
//!
//! A block of [`MARCH_BLOCK`] threads owns a strip of a few adjacent samples a thread and a number of
//! output rows. Input rows wait in a ring of [`march_stages`](apron_abi::march_stages) rows of shared
//! memory, as they are in the image, which bulk asynchronous copies fill several rows ahead, so that no thread
//! waits for memory. A thread keeps the sums of all output rows that the present input row is under, and
//! adds its share to each:
//!
//! ```text
//! for each input row under the strip:
//!     wait until it has come; barrier            (and nobody reads the rows above the mask any more)
//!     start the row that takes the place of one of those
//!     sums[k] = sums[k - 1] + what mask row k makes of this row      (from the last k down)
//!     store sums[last]
//! ```
//!
//! A sum moves to the next register in the addition itself, so nothing is shifted. In the few blocks
//! that see what lies beside the image, threads bring those samples: of f32, one each, by copies as far
//! ahead; of fewer bits, a word each, from the row itself when it has come. Rows that are no multiple of 16 bytes are
//! not for bulk copies: threads copy their words, and samples that start inside a word are moved when a thread
//! reads them.
//!
//! Launch contract: the device has bulk asynchronous copies, the buffers are as large as the parameters say and
//! start at multiples of 16 bytes, rows have 16 bytes or more, the shared memory is [`apron_abi::march_bytes`], and
//! the parameters are those that the plan gives.

mod dense;
mod results;
mod ring;
mod separable;

pub use dense::Dense;
pub use separable::Separable;

use crate::device::{Device, Global};
use crate::samples::{Place, Samples};
use apron_abi::{march_across, Accumulator, Element, MarchParams, MARCH_BLOCK};
use results::Results;
use ring::Ring;

/// Samples that a thread may need from a row: its outputs, and the mask over four channels.
pub(crate) const WINDOW: usize = 72;

/// What a filter of `K` x `K` taps makes of a row.
pub trait Rows<const P: usize, const K: usize, const C: usize> {
    /// Whether it is a dense mask.
    const DENSE: bool;
    /// Adds a row to the sums of `P` adjacent outputs, for each row of the mask, each moved on by one mask
    /// row; new ones start at `start`. Sample `i * C + p` of the window is under mask column `i` of output `p`.
    ///
    /// # Safety
    /// The launch's taps are those of the filter.
    unsafe fn add<D: Device, S: Samples>(d: D, sums: &mut [[S::Sum; P]; K], window: &[S::Sum; WINDOW], start: S::Sum);
    /// The sum of one output of f32 taps in f64, by a warp together; `sample(j, i)` is under row `j` and column `i` of the mask,
    /// whose last are `last`.
    ///
    /// # Safety
    /// As [`add`](Rows::add); all threads of the warp are here, for the same output.
    unsafe fn exact<D: Device>(d: D, last: u32, sample: impl Fn(u32, u32) -> f64) -> f64;
}

/// Runs a filter of `K` mask rows over images of `C` channels, `P` adjacent outputs a thread; rows are whole `PIECES`
/// of 16 bytes, or not.
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
    // A grid may have more rows of blocks than were asked for.
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
            F::add::<D, S>(d, &mut sums, &ring.window(row), S::start(p));
            if row >= p.halo_rows {
                S::store::<D, F, PIECES>(&ring, place, row, &sums[K - 1]);
                place.row += row_bytes;
            }
            row += 1;
            ring.complete(row);
        }
    }
}
