//! The least and the largest of f32 samples, of all or of those that a mask selects, of each block's share: what a range
//! is found from.
//!
//! ```text
//! each thread, striding by the whole grid: read 4 x 16 bytes, keep the least and the largest sample
//!     (with a mask: 4 x a sample and its pixel's byte, keep those of samples whose byte is not 0)
//! by a tree in shared memory: those of the block
//! thread 0 writes the pair
//! ```
//!
//! The least is NaN where a sample is, and the largest then means nothing. Per sample: 1/4 of a global load,
//! five instructions; nine barriers a block. With a mask two loads of a sample each. The pairs are few, and the host joins them.

use super::pixel_of;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{HistogramExtremesParams, EXTREMES_BLOCK, WORDS_AT_ONCE};

/// The kernel, with a mask or without: writes the least and the largest sample of its block's share to elements `2 * block` and
/// `2 * block + 1`; of none, infinity and negative infinity.
///
/// Launch contract: the input holds `samples` samples and is aligned to 16, a mask a byte for each `channels` of them,
/// the output a pair a block, and the shared memory is what the kernel table says.
pub struct Extremes<const MASKED: bool>;

/// Loads of samples that a thread has in flight.
const AT_ONCE: u64 = 4;

/// The least and the largest sample.
#[derive(Clone, Copy)]
struct Pair(f32, f32);

impl Pair {
    /// Of all samples of both: a least one that is NaN, once found, stays.
    #[inline(always)]
    fn join(self, Pair(least, largest): Pair) -> Pair {
        let Pair(low, high) = self;
        Pair(if low < least || low.is_nan() { low } else { least }, if high > largest { high } else { largest })
    }

    #[inline(always)]
    fn join_four(self, words: [u32; 4]) -> Pair {
        let [a, b, c, e] = words.map(|word| Pair(f32::from_bits(word), f32::from_bits(word)));
        self.join(a).join(b).join(c).join(e)
    }
}

/// Of no samples.
const NONE: Pair = Pair(f32::INFINITY, f32::NEG_INFINITY);

/// Of all samples that are the thread's.
///
/// # Safety
/// The kernel's launch contract.
#[inline(always)]
unsafe fn of_all<D: Device>(d: D, src: Global<f32>, p: &HistogramExtremesParams, first: u64, stride: u64) -> Pair {
    let packed = Global::<u32>::at(src.address);
    let fours = p.samples / WORDS_AT_ONCE;
    let (mut pair, mut at) = (NONE, first);
    // SAFETY: at + 3 * stride is below the number of fours.
    unsafe {
        while at + (AT_ONCE - 1) * stride < fours {
            let a = d.load_words(packed, at * WORDS_AT_ONCE);
            let b = d.load_words(packed, (at + stride) * WORDS_AT_ONCE);
            let c = d.load_words(packed, (at + 2 * stride) * WORDS_AT_ONCE);
            let e = d.load_words(packed, (at + 3 * stride) * WORDS_AT_ONCE);
            pair = pair.join_four(a).join_four(b).join_four(c).join_four(e);
            at += AT_ONCE * stride;
        }
        while at < fours {
            pair = pair.join_four(d.load_words(packed, at * WORDS_AT_ONCE));
            at += stride;
        }
    }
    // The 0 to 3 samples behind the last whole four.
    let tail = fours * WORDS_AT_ONCE + first;
    if tail < p.samples {
        // SAFETY: tail < samples.
        let sample = unsafe { d.load(src, tail) };
        pair = pair.join(Pair(sample, sample));
    }
    pair
}

/// Of those that the mask selects.
///
/// # Safety
/// The kernel's launch contract.
#[inline(always)]
unsafe fn of_selected<D: Device>(d: D, src: Global<f32>, p: &HistogramExtremesParams, first: u64, stride: u64) -> Pair {
    let mask = Global::<u8>::at(p.beside);
    // SAFETY: called for samples of the image.
    let of = |at: u64| unsafe {
        // Both are read, that neither load waits for the other.
        let (sample, selected) = (d.load(src, at), d.load(mask, pixel_of(at, p.channels)));
        if selected != 0 {
            Pair(sample, sample)
        } else {
            NONE
        }
    };
    let (mut pair, mut at) = (NONE, first);
    while at + (AT_ONCE - 1) * stride < p.samples {
        let (a, b, c, e) = (of(at), of(at + stride), of(at + 2 * stride), of(at + 3 * stride));
        pair = pair.join(a).join(b).join(c).join(e);
        at += AT_ONCE * stride;
    }
    while at < p.samples {
        pair = pair.join(of(at));
        at += stride;
    }
    pair
}

impl<const MASKED: bool> Body for Extremes<MASKED> {
    type Src = f32;
    type Dst = f32;
    type Params = HistogramExtremesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, pairs: Global<f32>, p: &HistogramExtremesParams) {
        let thread = d.thread_x();
        let stride = d.blocks_x() as u64 * EXTREMES_BLOCK as u64;
        let first = d.block_x() as u64 * EXTREMES_BLOCK as u64 + thread as u64;
        // SAFETY: the launch contract.
        let pair = unsafe {
            match MASKED {
                false => of_all(d, src, p, first, stride),
                true => of_selected(d, src, p, first, stride),
            }
        };

        let (least, largest) = (Shared::<f32>::at(0), Shared::<f32>::at(EXTREMES_BLOCK * 4));
        // SAFETY: called for threads of the block, where nobody else writes.
        let put = |pair: Pair| unsafe {
            d.shared_store(least, thread, pair.0);
            d.shared_store(largest, thread, pair.1);
        };
        // SAFETY: called for threads of the block, whose pairs are behind a barrier.
        let of = |thread: u32| unsafe { Pair(d.shared_load(least, thread), d.shared_load(largest, thread)) };
        put(pair);
        d.barrier();
        let mut active = EXTREMES_BLOCK / 2;
        while active > 0 {
            if thread < active {
                // The threads below active write the lower half and read the upper.
                put(of(thread).join(of(thread + active)));
            }
            d.barrier();
            active /= 2;
        }
        if thread == 0 {
            let Pair(low, high) = of(0);
            let block = d.block_x() as u64;
            // SAFETY: a pair a block.
            unsafe {
                d.store(pairs, 2 * block, low);
                d.store(pairs, 2 * block + 1, high);
            }
        }
    }
}
