//! Samples as kernels hold them: in words of 32 bits on the way, unpacked into accumulators, and packed into words of
//! results.

mod bytes;
mod doubles;
mod floats;

pub use doubles::Doubles;

use crate::device::{Device, Global, Shared};
use apron_abi::{Accumulator, Element, MarchParams, MarchSums};

/// Threads of a warp.
pub(crate) const WARP: u32 = 32;

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

/// The 32 bits from `bit` of the first word on, which the second follows.
#[inline(always)]
pub(crate) fn from_bit(word: u32, next: u32, bit: u32) -> u32 {
    ((word as u64 | (next as u64) << 32) >> bit) as u32
}
