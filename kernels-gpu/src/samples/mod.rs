//! Samples in kernels: packed in 32-bit words while they are copied, unpacked into accumulators, and packed into words
//! again as results.

mod bytes;
mod doubles;
mod floats;
mod halves;
mod held;

pub use doubles::Doubles;
pub use held::{Held, Input};

use crate::device::{Device, Global, Shared};
use apron_abi::{Accumulator, Element, MarchParams, MarchSums};

/// Threads of a warp.
pub(crate) const WARP: u32 = 32;

/// A sample type, packed in 32-bit words while it is copied, and its accumulator.
pub trait Samples {
    /// Element type in memory.
    type Element: Element;
    /// Accumulator type.
    type Sum: Summed;
    /// Accumulator type, as a value of the plan.
    const SUMS: MarchSums;
    /// Samples per word.
    const OF_WORD: u32 = 4 / Self::Element::TYPE.size_bytes();
    /// Returns a word whose samples are all `constant`.
    fn constant(constant: f32) -> u32;
    /// Unpacks a word; only the first [`OF_WORD`](Samples::OF_WORD) numbers are its samples.
    fn unpack<D: Device>(d: D, word: u32) -> [Self::Sum; 4];
    /// Returns the initial value of a sum.
    #[inline(always)]
    fn start(_: &MarchParams) -> Self::Sum {
        Self::Sum::ZERO
    }
    /// Reads the bits of a sample.
    ///
    /// # Safety
    /// As [`Device::load`].
    unsafe fn load_bits<D: Device>(d: D, from: u64, index: u64) -> u32;
    /// Writes a sample, the lowest bits of `bits`.
    ///
    /// # Safety
    /// As [`Device::store`].
    unsafe fn store_bits<D: Device>(d: D, to: u64, bits: u32);
}

/// An accumulator type, and how kernels read taps and sums of this type.
pub trait Summed: Accumulator {
    /// Returns a tap of the launch's mask.
    ///
    /// # Safety
    /// `index` is below the number of taps.
    unsafe fn tap<D: Device>(d: D, index: u32) -> Self;
    /// Returns numbers `index` to `index + 3` of shared memory.
    ///
    /// # Safety
    /// As [`Device::shared_load4`]; `index` is a multiple of 4, and the array's offset of 16 bytes.
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

/// Implements the reads and writes of [`Samples`] by an integer of the sample's size.
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

/// A sample type for which `P` sums are packed into words of results.
pub trait Packed<const P: usize>: Samples {
    /// Packs sums into words of results.
    fn pack<D: Device>(d: D, sums: &[Self::Sum; P]) -> [u32; 4];
}

/// Destination of a thread's outputs.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Address of the outputs' row.
    pub(crate) row: u64,
    /// Index of the first output in its row; negative before the row.
    pub(crate) first: i32,
    /// Samples per row.
    pub(crate) samples: i32,
    /// Whether all outputs are in the row, and start at a multiple of their size.
    pub(crate) whole: bool,
}

impl Place {
    /// Stores outputs of `words` words.
    ///
    /// # Safety
    /// The place is correct; each word is entirely in the row or outside, and starts at a multiple of 4 bytes.
    #[inline(always)]
    pub(crate) unsafe fn store<D: Device, S: Samples>(self, d: D, words: u32, outputs: [u32; 4]) {
        let from = |sample: i32| Global::<u32>::at(self.row + sample as u64 * S::Element::TYPE.size_bytes() as u64);
        // SAFETY: `whole`, or a check per word, keeps the words in the row.
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

    /// Stores outputs of `count` words, which start at multiples of `aligned` bytes.
    ///
    /// # Safety
    /// The place is correct, and all threads of the warp are here.
    #[inline(always)]
    pub(crate) unsafe fn store_aligned<D: Device, S: Samples>(self, d: D, aligned: u32, count: usize, words: [u32; 4]) {
        // SAFETY: the caller's promise.
        unsafe {
            if aligned >= 4 {
                self.store::<D, S>(d, count as u32, words);
            } else {
                self.store_anywhere::<D, S>(d, count, words);
            }
        }
    }

    /// Stores outputs that may start inside a word. Words of the buffer that are entirely in the row and in the warp's
    /// outputs are stored as words, the last one of each thread with the first samples of the next lane; other samples
    /// are stored one by one.
    ///
    /// # Safety
    /// The place is correct, and all threads of the warp are here.
    #[inline(always)]
    unsafe fn store_anywhere<D: Device, S: Samples>(self, d: D, count: usize, words: [u32; 4]) {
        let (size, bits) = (S::Element::TYPE.size_bytes(), 32 / S::OF_WORD);
        let lane = d.thread_x() % WARP;
        let next = d.shuffle(words[0], (lane + 1) % WARP);
        let start = self.row as i64 + self.first as i64 * size as i64;
        // Samples before the first whole word: the previous lane stores them with its last word, lane 0 one by one.
        let skipped = (4 - (start & 3)) as u32 % 4 / size;
        // SAFETY: a check per word or sample keeps the stores in the row.
        unsafe {
            let some = |first: i32, mut rest: u32, count: u32| {
                // A loop, so that not all addresses are kept in registers from row to row.
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
                let word = from_bit(words[w], if last { next } else { words[w + 1] }, skipped * bits);
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

/// Returns the 32 bits from bit `bit` of `word` on; `next` follows `word`.
#[inline(always)]
pub(crate) fn from_bit(word: u32, next: u32, bit: u32) -> u32 {
    ((word as u64 | (next as u64) << 32) >> bit) as u32
}
