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
//! ahead; of fewer bits, a word each, from the row itself when it has come. Rows that are no multiple of 16 bytes are
//! not for the copy engine: threads copy their words, and samples that start inside a word are moved when a thread
//! reads them.
//!
//! Launch contract: the device has a copy engine, the buffers are as large as the parameters say and
//! start at multiples of 16 bytes, rows have 16 bytes or more, the shared memory is [`apron_abi::march_bytes`], and
//! the parameters are those that the plan gives.

mod bytes;
mod dense;
mod doubles;
mod floats;
mod ring;
mod separable;

pub use dense::Dense;
pub use doubles::Doubles;
pub use separable::Separable;

use crate::device::{Device, Global, Shared};
use apron_abi::{march_across, Accumulator, Element, MarchParams, MarchSums, MARCH_BLOCK};
pub(crate) use ring::from_bit;
use ring::Ring;

/// Samples that a thread may need from a row: its outputs, and the mask over four channels.
pub(crate) const WINDOW: usize = 72;

/// Threads of a warp.
const WARP: u32 = 32;

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

/// A type of samples, in words of 32 bits on the way, and what they are summed in.
pub trait Samples {
    /// The type in memory.
    type Element: Element;
    /// The type of sums.
    type Sum: Summed;
    /// Which that is.
    const SUMS: MarchSums;
    /// Samples of a word.
    const OF_WORD: u32 = 4 / Self::Element::TYPE.size_bytes();
    /// The word of samples that are all `constant`.
    fn constant(constant: f32) -> u32;
    /// The samples of a word; as many as it has.
    fn unpack<D: Device>(d: D, word: u32) -> [Self::Sum; 4];
    /// Where sums start.
    #[inline(always)]
    fn start(_: &MarchParams) -> Self::Sum {
        Self::Sum::ZERO
    }
    /// Reads a sample as the bits that it is.
    ///
    /// # Safety
    /// As [`Device::load`].
    unsafe fn load_bits<D: Device>(d: D, from: u64, index: u64) -> u32;
    /// Writes a sample, the lowest bits of some.
    ///
    /// # Safety
    /// As [`Device::store`].
    unsafe fn store_bits<D: Device>(d: D, to: u64, bits: u32);
}

/// A type of sums, and of the taps in them.
pub trait Summed: Accumulator {
    /// A tap of the launch's mask.
    ///
    /// # Safety
    /// There are more.
    unsafe fn tap<D: Device>(d: D, index: u32) -> Self;
    /// Numbers `index` to `index + 3` of shared memory.
    ///
    /// # Safety
    /// As [`Device::shared_load4`]; `index` is a multiple of 4, and the array's offset one of 16.
    unsafe fn four<D: Device>(d: D, from: Shared<Self>, index: u32) -> [Self; 4];
}

impl Summed for f32 {
    #[inline(always)]
    unsafe fn tap<D: Device>(d: D, index: u32) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { d.tap(index) }
    }

    #[inline(always)]
    unsafe fn four<D: Device>(d: D, from: Shared<f32>, index: u32) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { d.shared_load4(from, index) }
    }
}

impl Summed for f64 {
    #[inline(always)]
    unsafe fn tap<D: Device>(d: D, index: u32) -> f64 {
        // SAFETY: the caller's promise.
        unsafe { d.tap_f64(index) }
    }

    #[inline(always)]
    unsafe fn four<D: Device>(d: D, from: Shared<f64>, index: u32) -> [f64; 4] {
        let halves = Shared::<u32>::at(from.offset);
        // SAFETY: the caller's promise.
        let (ab, ce) = unsafe { (d.shared_load4(halves, 2 * index), d.shared_load4(halves, 2 * index + 4)) };
        let number = |low: u32, high: u32| f64::from_bits(low as u64 | (high as u64) << 32);
        [number(ab[0], ab[1]), number(ab[2], ab[3]), number(ce[0], ce[1]), number(ce[2], ce[3])]
    }
}

/// What [`Samples`] are as an integer of their size: how they are read and written.
macro_rules! bits {
    ($integer:ty) => {
        #[inline(always)]
        unsafe fn load_bits<D: Device>(d: D, from: u64, index: u64) -> u32 {
            // SAFETY: the caller's promise.
            unsafe { d.load(crate::device::Global::<$integer>::at(from), index) as u32 }
        }

        #[inline(always)]
        unsafe fn store_bits<D: Device>(d: D, to: u64, bits: u32) {
            // SAFETY: the caller's promise.
            unsafe { d.store(crate::device::Global::<$integer>::at(to), 0, bits as $integer) }
        }
    };
}
use bits;

/// A type of samples, `P` sums of which are results in words.
pub trait Packed<const P: usize>: Samples {
    /// The words of the results.
    fn pack<D: Device>(d: D, sums: &[Self::Sum; P]) -> [u32; 4];
}

/// A type of samples, stored as results of `P` outputs of a thread.
trait Results<const P: usize, const K: usize, const C: usize>: Samples + Sized {
    /// Stores a thread's outputs that end at input row `row`.
    ///
    /// # Safety
    /// The row and those under the mask are in the ring, and the output's place is right.
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, Self, P, K, C, PIECES>,
        place: Place,
        row: u32,
        sums: &[Self::Sum; P],
    );
}

/// Where a thread's outputs go.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The address of their row.
    pub(crate) row: u64,
    /// The first of them in its row.
    pub(crate) first: i32,
    /// Samples of the row.
    pub(crate) samples: i32,
    /// Whether all are in the row, and start at a multiple of their size.
    pub(crate) whole: bool,
}

impl Place {
    /// Stores outputs that are `words` words.
    ///
    /// # Safety
    /// The place is right, and each word is in the row or not, and starts at a multiple of 4 bytes.
    #[inline(always)]
    pub(crate) unsafe fn store<D: Device, S: Samples>(self, d: D, words: u32, outputs: [u32; 4]) {
        let from = |sample: i32| Global::<u32>::at(self.row + sample as u64 * S::Element::TYPE.size_bytes() as u64);
        // SAFETY: in the row.
        unsafe {
            if self.whole {
                match words {
                    4 => d.store4(from(self.first), 0, outputs),
                    2 => d.store2(from(self.first), 0, [outputs[0], outputs[1]]),
                    _ => d.store(from(self.first), 0, outputs[0]),
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

    /// Stores outputs that are so many words, and start at multiples of `aligned` bytes.
    ///
    /// # Safety
    /// The place is right, and all threads of the warp are here.
    #[inline(always)]
    unsafe fn store_aligned<D: Device, S: Samples>(self, d: D, aligned: u32, count: usize, words: [u32; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            if aligned >= 4 {
                self.store::<D, S>(d, count as u32, words);
            } else {
                self.store_anywhere::<D, S>(d, count, words);
            }
        }
    }

    /// Stores outputs that start anywhere in a word: the words of the buffer that are all in the row and in the warp's
    /// outputs, of which the last has its neighbour's first samples, and the rest sample by sample.
    ///
    /// # Safety
    /// The place is right, and all threads of the warp are here.
    #[inline(always)]
    unsafe fn store_anywhere<D: Device, S: Samples>(self, d: D, count: usize, words: [u32; 4]) {
        let (size, bits) = (S::Element::TYPE.size_bytes(), 32 / S::OF_WORD);
        let lane = d.thread_x() % WARP;
        let next = d.shuffle(words[0], (lane + 1) % WARP);
        let start = self.row as i64 + self.first as i64 * size as i64;
        // Samples in front of the first whole word, which are the neighbour's before, or nobody's.
        let skipped = (4 - (start & 3)) as u32 % 4 / size;
        // SAFETY: in the row.
        unsafe {
            let some = |first: i32, mut rest: u32, count: u32| {
                // A loop, lest the places of all are kept in registers from row to row.
                let mut n = 0;
                while n < count as i32 {
                    if first + n >= 0 && first + n < self.samples {
                        S::store_bits(d, self.row + (first + n) as u64 * size as u64, rest);
                    }
                    rest >>= bits;
                    n += 1;
                }
            };
            if lane == 0 {
                some(self.first, words[0], skipped);
            }
            for w in 0..count {
                let last = w + 1 == count;
                let word = ring::from_bit(words[w], if last { next } else { words[w + 1] }, skipped * bits);
                let first = self.first + (w as u32 * S::OF_WORD + skipped) as i32;
                let known = if last && lane + 1 == WARP { S::OF_WORD - skipped } else { S::OF_WORD };
                if known == S::OF_WORD && first >= 0 && first + known as i32 <= self.samples {
                    d.store(Global::<u32>::at(self.row + first as u64 * size as u64), 0, word);
                } else {
                    some(first, word, known);
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
