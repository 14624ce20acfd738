//! Exact sums of integers of 32 and 64 bits, and of their squares.
//!
//! ```text
//! block b of a channel, thread t: totals of pixels b * 256 + t + k * 256 * blocks, for all k -> shared[t]; barrier
//! active = 128, 64, .. 1: threads below active add shared[t + active] to shared[t]; barrier
//! thread 0 writes the block's totals, which the host adds up
//! ```
//!
//! 20 KiB of shared memory. Per sample: one global load, three products of 32 bits and four additions of 128.

use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{Element, IntegerTotals, Ordered, TotalsParams, TOTALS_BLOCK, TOTALS_WORDS};
use core::marker::PhantomData;

/// The kernel: block `b` of channel `c` writes ten words to element `10 * (c * blocks + b)`.
///
/// Launch contract: the input holds `pixels` pixels of `apart` samples, the output ten words per block, the grid has
/// `blocks` blocks per channel, and the shared memory is as in the kernel table.
pub struct Totals<T>(PhantomData<T>);

impl<T: Element + Ordered> Body for Totals<T> {
    type Src = T;
    type Dst = u64;
    type Params = TotalsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, dst: Global<u64>, p: &TotalsParams) {
        let (thread, channel) = (d.thread_x(), d.block_y());
        // Grids may have more rows of blocks than channels.
        let pixels = if channel < p.apart { p.pixels } else { 0 };
        let mut totals = IntegerTotals::NONE;
        let mut pixel = d.block_x() as u64 * TOTALS_BLOCK as u64 + thread as u64;
        while pixel < pixels {
            // SAFETY: pixel and channel are below `pixels` and `apart`.
            totals = totals.with(unsafe { d.load(src, pixel * p.apart as u64 + channel as u64) }.order());
            pixel += p.blocks as u64 * TOTALS_BLOCK as u64;
        }
        // Word `k` of all threads is contiguous, so that there are no bank conflicts.
        let shared = Shared::<u64>::at(0);
        let put = |totals: IntegerTotals| {
            let words = totals.words();
            for k in 0..TOTALS_WORDS {
                // SAFETY: shared memory has `TOTALS_WORDS` words per thread.
                unsafe { d.shared_store(shared, k * TOTALS_BLOCK + thread, words[k as usize]) };
            }
        };
        let get = |thread: u32| {
            let mut words = [0; TOTALS_WORDS as usize];
            for k in 0..TOTALS_WORDS {
                // SAFETY: the words of other threads are complete since the barrier, and are not written before the
                // next.
                words[k as usize] = unsafe { d.shared_load(shared, k * TOTALS_BLOCK + thread) };
            }
            IntegerTotals::of_words(words)
        };
        put(totals);
        d.barrier();
        let mut active = TOTALS_BLOCK / 2;
        while active > 0 {
            if thread < active {
                totals = totals.and(get(thread + active));
                put(totals);
            }
            d.barrier();
            active /= 2;
        }
        if thread == 0 && channel < p.apart {
            let words = totals.words();
            let first = (channel * p.blocks + d.block_x()) * TOTALS_WORDS;
            for k in 0..TOTALS_WORDS {
                // SAFETY: the output has ten words per block and channel, which only thread 0 writes.
                unsafe { d.store(dst, (first + k) as u64, words[k as usize]) };
            }
        }
    }
}
