//! Stores of outputs, which start at any address, by way of shared memory.

use super::{Strip, Vector, WindowSums, BYTES, WORDS};
use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use apron_abi::Sample;

impl<D: Device, I: Sample, S: WindowSums<I, C, W>, const C: usize, const W: u32> Strip<'_, D, I, S, C, W> {
    /// Threads per block.
    const THREADS: u32 = W * WARP;

    /// Clears the word before the outputs, which is read where an output row begins in the middle of a word.
    #[inline(always)]
    pub(super) unsafe fn clear_before_outputs(&self) {
        if self.d.thread_x() == 0 {
            // SAFETY: the word is inside the shared memory, and read only behind a barrier.
            unsafe { self.d.shared_store(Shared::at(S::OUTPUTS - 4), 0, 0u32) };
        }
    }

    /// Puts this lane's outputs into shared memory.
    #[inline(always)]
    pub(super) unsafe fn put_outputs(&self, outputs: Vector) {
        let to = Shared::at(S::OUTPUTS + self.thread() * BYTES as u32);
        // SAFETY: only this lane writes its 16 bytes.
        unsafe { self.d.shared_store4(to, 0, outputs) };
    }

    /// Stores the outputs of row `row` of the output, by aligned words.
    #[inline(always)]
    pub(super) unsafe fn store(&self, row: u32) {
        let (d, p) = (self.d, self.p);
        let thread = self.thread();
        let (outputs, pitch) = (self.outputs * Self::PIXEL, p.out_width * Self::PIXEL);
        let (start, first) = (self.dst + row as u64 * pitch as u64, S::OUTPUTS + self.lead * Self::PIXEL);
        // SAFETY: the words read are outputs of this row, or in the room for a vector before them; each output word is
        // stored by one lane.
        unsafe {
            if (self.dst as u32 | pitch | outputs).is_multiple_of(4) {
                let (from, shift) = (Shared::at((first & !3) + thread * 4), first % 4 * 8);
                let to = Global::<u32>::at(start + thread as u64 * 4);
                for n in 0..WORDS as u32 {
                    let before = n * Self::THREADS * 4;
                    if outputs > before && thread * 4 < outputs - before {
                        d.store(to, (n * Self::THREADS) as u64, self.four(from, n * Self::THREADS, shift));
                    }
                }
            } else {
                self.store_unaligned(start, first, outputs);
            }
        }
    }

    /// Stores `outputs` bytes of outputs at any address: as words, and the samples at both ends one by one.
    #[inline(always)]
    unsafe fn store_unaligned(&self, address: u64, first: u32, outputs: u32) {
        let d = self.d;
        // Bytes of the first word before the first output.
        let before = address as u32 % 4;
        let to = Global::<u32>::at(address - before as u64);
        let from = first - before;
        let (from, shift) = (Shared::at(from & !3), from % 4 * 8);
        let mut word = d.thread_x();
        while word * 4 < before + outputs {
            // SAFETY: as in [`store`](Self::store).
            unsafe {
                let bytes = self.four(from, word, shift);
                if word * 4 >= before && word * 4 + 4 <= before + outputs {
                    d.store(to, word as u64, bytes);
                } else {
                    for k in 0..4 / Self::SIZE {
                        let byte = word * 4 + k * Self::SIZE;
                        if byte >= before && byte < before + outputs {
                            let bits = bytes >> (8 * k * Self::SIZE);
                            let at = (byte / Self::SIZE) as u64;
                            match Self::SIZE == 1 {
                                true => d.store(Global::<u8>::at(to.address), at, bits as u8),
                                false => d.store(Global::<u16>::at(to.address), at, bits as u16),
                            }
                        }
                    }
                }
            }
            word += Self::THREADS;
        }
    }

    /// Returns the four bytes of shared memory that start `shift` bits into word `word`.
    #[inline(always)]
    unsafe fn four(&self, from: Shared<u32>, word: u32, shift: u32) -> u32 {
        // SAFETY: the caller's promise.
        let [low, high] = [0, 1].map(|next| unsafe { self.d.shared_load(from, word + next) } as u64);
        ((low | high << 32) >> shift) as u32
    }
}
