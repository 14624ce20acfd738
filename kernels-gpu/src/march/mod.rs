//! Marching: blocks that go down a strip of the image row by row, each input row read once.
//!
//! A block of [`MARCH_BLOCK`] threads owns a strip of a few adjacent samples a thread and a number of
//! output rows. Input rows wait in a ring of [`march_stages`](apron_abi::march_stages) rows of shared
//! memory, as they are in the image, which the copy engine fills several rows ahead, so that no thread
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
//! ahead; of bytes, four each, from the row itself when it has come. Rows that are no multiple of 16 bytes are
//! not for the copy engine: threads copy their words, and bytes that start inside a word are moved when a thread
//! reads them.
//!
//! Launch contract: the device has a copy engine, the buffers are as large as the parameters say and
//! start at multiples of 16 bytes, rows have 16 bytes or more, the shared memory is [`apron_abi::march_bytes`], and
//! the parameters are those that the plan gives.

mod bytes;
mod dense;
mod floats;
mod ring;
mod separable;

pub use dense::Dense;
pub use separable::Separable;

use crate::device::{Device, Global};
use apron_abi::{march_across, Element, MarchParams, MARCH_BLOCK};
use ring::Ring;

/// Samples that a thread may need from a row: its outputs, and the mask over four channels.
const WINDOW: usize = 72;

/// Threads of a warp.
const WARP: u32 = 32;

/// What a filter of `K` x `K` taps makes of a row.
trait Rows<const P: usize, const K: usize, const C: usize> {
    /// Whether it is a dense mask.
    const DENSE: bool;
    /// Adds a row to the sums of `P` adjacent outputs, for each row of the mask, each moved on by one mask
    /// row; new ones start at `start`. Sample `i * C + p` of the window is under mask column `i` of output `p`.
    ///
    /// # Safety
    /// The launch's taps are those of the filter.
    unsafe fn add<D: Device>(d: D, sums: &mut [[f32; P]; K], window: &[f32; WINDOW], start: f32);
    /// The sum of one output in f64, by a warp together; `sample(j, i)` is under row `j` and column `i` of the mask,
    /// whose last are `last`.
    ///
    /// # Safety
    /// As [`add`](Rows::add); all threads of the warp are here, for the same output.
    unsafe fn exact<D: Device>(d: D, last: u32, sample: impl Fn(u32, u32) -> f64) -> f64;
}

/// A type of samples, in words of 32 bits on the way.
pub trait Samples: Element {
    /// Samples of a word.
    const OF_WORD: u32;
    /// The word of samples that are all `constant`.
    fn constant(constant: f32) -> u32;
    /// The samples of a word; as many as it has.
    fn unpack<D: Device>(d: D, word: u32) -> [f32; 4];
    /// Where sums start.
    fn start(p: &MarchParams) -> f32;
}

/// A type of samples, stored as results of `P` outputs of a thread.
trait Results<const P: usize, const K: usize, const C: usize>: Samples {
    /// Stores a thread's outputs that end at input row `row`.
    ///
    /// # Safety
    /// The row and those under the mask are in the ring, and the output's place is right.
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, Self, P, K, C, PIECES>,
        place: Place,
        row: u32,
        sums: &[f32; P],
    );
}

/// Where a thread's outputs go.
#[derive(Clone, Copy)]
struct Place {
    /// The address of their row.
    row: u64,
    /// The first of them in its row.
    first: i32,
    /// Samples of the row.
    samples: i32,
    /// Whether all are in the row, and start at a multiple of their size.
    whole: bool,
}

impl Place {
    /// Stores outputs that are `words` words.
    ///
    /// # Safety
    /// The place is right, and each word is in the row or not, and starts at a multiple of 4 bytes.
    #[inline(always)]
    unsafe fn store<D: Device, S: Samples>(self, d: D, words: u32, outputs: [u32; 4]) {
        let from = |sample: i32| Global::<u32>::at(self.row + sample as u64 * S::TYPE.size_bytes() as u64);
        // SAFETY: in the row.
        unsafe {
            if self.whole {
                if words == 4 {
                    d.store4(from(self.first), 0, outputs);
                } else {
                    d.store2(from(self.first), 0, [outputs[0], outputs[1]]);
                }
            } else {
                for w in 0..words {
                    let sample = self.first + (w * S::OF_WORD) as i32;
                    if sample >= 0 && sample < self.samples {
                        d.store(from(sample), 0, outputs[w as usize]);
                    }
                }
            }
        }
    }
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
    src: Global<S>,
    dst: Global<S>,
    p: &MarchParams,
) {
    const { assert!(P as u32 == march_across(S::TYPE, F::DENSE, K as u32)) };
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
    let row_bytes = p.out_samples as u64 * S::TYPE.size_bytes() as u64;
    let mut place = Place { row: dst.address + first_row as u64 * row_bytes, first, samples, whole };
    let mut sums = [[0.0; P]; K];
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
            F::add(d, &mut sums, &ring.window(row), S::start(p));
            if row >= p.halo_rows {
                S::store::<D, F, PIECES>(&ring, place, row, &sums[K - 1]);
                place.row += row_bytes;
            }
            row += 1;
            ring.complete(row);
        }
    }
}
