//! The least and the largest f32 sample of each block's share, of all samples or of those that a mask selects. The host
//! joins the few pairs to the range of a histogram.
//!
//! ```text
//! each thread, striding by the whole grid: read 4 x 16 bytes, keep the least and the largest sample
//!     (with a mask: 4 x one sample and its pixel's byte, keep the extremes of samples whose byte is not 0)
//! tree reduction in shared memory: the extremes of the block
//! thread 0 writes the pair
//! ```
//!
//! If a sample is NaN, the least is NaN and the largest is meaningless. Per sample: 1/4 of a global load, five
//! instructions; nine barriers per block. With a mask: two loads per sample.

use super::pixel_of;
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{HistogramExtremesParams, EXTREMES_BLOCK, WORDS_AT_ONCE};

/// The kernel, with a mask or without: block `b` writes the least and the largest sample of its share to elements `2 *
/// b` and `2 * b + 1`; if its share is empty, infinity and negative infinity.
///
/// Launch contract: the input holds `samples` samples and is aligned to 16, a mask one byte per `channels` samples,
/// the output one pair per block, and the shared memory is as in the kernel table.
pub struct Extremes<const MASKED: bool>;

/// Loads of samples that a thread has in flight.
const AT_ONCE: u64 = 4;

/// The least and the largest sample.
#[derive(Clone, Copy)]
struct Pair(f32, f32);

impl Pair {
    /// Returns the extremes of the samples of both pairs; a least that is NaN stays NaN.
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

/// The extremes of no samples.
const NONE: Pair = Pair(f32::INFINITY, f32::NEG_INFINITY);

/// Returns the extremes of all samples of the thread.
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
    // The 0 to 3 samples after the last whole group of four.
    let tail = fours * WORDS_AT_ONCE + first;
    if tail < p.samples {
        // SAFETY: tail < samples.
        let sample = unsafe { d.load(src, tail) };
        pair = pair.join(Pair(sample, sample));
    }
    pair
}

/// Returns the extremes of the thread's samples that the mask selects.
///
/// # Safety
/// The kernel's launch contract.
#[inline(always)]
unsafe fn of_selected<D: Device>(d: D, src: Global<f32>, p: &HistogramExtremesParams, first: u64, stride: u64) -> Pair {
    let mask = Global::<u8>::at(p.beside);
    // SAFETY: called for `at` below `samples`; the mask has a byte for each pixel.
    let of = |at: u64| unsafe {
        // Both are loaded, so that neither load waits for the other.
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
        // SAFETY: called for threads of the block; each thread writes its own places.
        let put = |pair: Pair| unsafe {
            d.shared_store(least, thread, pair.0);
            d.shared_store(largest, thread, pair.1);
        };
        // SAFETY: called for threads of the block, whose pairs are complete since a barrier.
        let of = |thread: u32| unsafe { Pair(d.shared_load(least, thread), d.shared_load(largest, thread)) };
        put(pair);
        d.barrier();
        let mut active = EXTREMES_BLOCK / 2;
        while active > 0 {
            if thread < active {
                // Threads below `active` write the lower half and read the upper.
                put(of(thread).join(of(thread + active)));
            }
            d.barrier();
            active /= 2;
        }
        if thread == 0 {
            let Pair(low, high) = of(0);
            let block = d.block_x() as u64;
            // SAFETY: the output has one pair per block, which only thread 0 writes.
            unsafe {
                d.store(pairs, 2 * block, low);
                d.store(pairs, 2 * block + 1, high);
            }
        }
    }
}
