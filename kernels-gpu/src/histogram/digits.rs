//! One pass of a radix select over f32 samples, for all ranks at once: counts the samples whose order starts with one
//! of the given prefixes, by their next digit of 8 bits.
//!
//! ```text
//! start loading 4 x 16 bytes; zero one counter per prefix and digit, copy the sets of prefixes to shared memory;
//!     barrier
//! each thread, striding by the grid: for each sample, with four more loads in flight
//!     if its upper half (and then its next digit) is in the set, increment its digit's counter    (atomically)
//! barrier; add each counter to its total in global memory (atomically)
//! the last thread to add to a total writes it to the output
//! ```
//!
//! A set is a bitmap in which each word of 32 bits is followed by the number of members before it: one load of 8 bytes
//! tells whether a number is a member, and which one. Per sample: 1/4 of a global load, one or two shared loads, at
//! most one shared atomic; two barriers per block, one global atomic per counter.

use super::reads::{Count, Reads};
use super::{channel_of, totals};
use crate::device::{Device, Global, Shared};
use crate::Body;
use apron_abi::{order_of, HistogramDigitsParams, DIGITS, SLICES_BLOCK, UPPER_HALVES, WORDS_AT_ONCE};

/// The kernel: writes `slots * 256` counts.
///
/// Launch contract: the input holds `samples` samples, fewer than 2^48, and is aligned to 16; the rounds distribute its
/// whole groups of four; the sets are as [`Ranks`](super::Ranks) writes them; the totals are as `totals::add` requires
/// them; the shared memory holds the sets and `slots * 256` counters; the number of blocks is a multiple of the number
/// of channels and below 2^16; and no block counts 2^32 samples or more.
pub struct Digits;

impl Body for Digits {
    type Src = f32;
    type Dst = u64;
    type Params = HistogramDigitsParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, counts: Global<u64>, p: &HistogramDigitsParams) {
        let (words, cells, thread) = (p.counters / 4, p.slots * DIGITS, d.thread_x());
        let (sets, counters, given) = (Shared::<u32>::at(0), Shared::<u32>::at(p.counters), Global::<u32>::at(p.sets));
        let (first, threads) = (d.block_x() * SLICES_BLOCK + thread, d.blocks_x() * SLICES_BLOCK);
        // SAFETY: the launch contract. One thread writes each counter and each word of the sets.
        let reads = unsafe {
            let reads = Reads::start(d, src.address, first, threads, p.rounds);
            let mut word = thread;
            while word < words {
                d.shared_store(sets, word, d.load(given, word as u64));
                word += SLICES_BLOCK;
            }
            let mut counter = thread;
            while counter < cells {
                d.shared_store(counters, counter, 0);
                counter += SLICES_BLOCK;
            }
            reads
        };
        d.barrier();

        // The same channels for all loads of the thread, since their distance is a multiple of the number of channels.
        let of = |sample: u64| channel_of(sample, p.channels) * UPPER_HALVES;
        let own = first as u64 * WORDS_AT_ONCE;
        let own = Own { firsts: [of(own), of(own + 1), of(own + 2), of(own + 3)], p };
        // SAFETY: the input holds `samples` samples.
        unsafe {
            reads.count(d, own);
            // The 0 to 3 samples after the last whole group of four. Recomputed here, to save registers in the loop.
            let tail = p.samples / WORDS_AT_ONCE * WORDS_AT_ONCE + d.anew(first) as u64;
            if tail < p.samples {
                own.add(d, of(tail), d.load(src, tail));
            }
        }
        d.barrier();

        let mut cell = thread;
        while cell < cells {
            // SAFETY: no thread changes the counters after the barrier; the totals are by the launch contract.
            unsafe { totals::add(d, Global::at(p.totals), counts, cell, cells, d.shared_load(counters, cell)) };
            cell += SLICES_BLOCK;
        }
    }
}

/// A thread's parameters of counting. `firsts` holds, for each of the four samples of a load, the number of the first
/// upper half of its channel in the set.
#[derive(Clone, Copy)]
struct Own<'a> {
    firsts: [u32; 4],
    p: &'a HistogramDigitsParams,
}

impl Count for Own<'_> {
    #[inline(always)]
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]) {
        for k in 0..4 {
            // SAFETY: the caller's promise.
            unsafe { self.add(d, self.firsts[k], f32::from_bits(words[k])) };
        }
    }
}

impl Own<'_> {
    /// Counts a sample, if it starts with one of the prefixes.
    #[inline(always)]
    unsafe fn add<D: Device>(self, d: D, first: u32, sample: f32) {
        let (p, order) = (self.p, order_of(sample));
        // SAFETY: the sets have a bit for each of these numbers, and every member has a counter per digit.
        unsafe {
            let Some(mut slot) = member(d, 0, first + (order >> 16)) else { return };
            if p.halves > 0 {
                let Some(narrower) = member(d, p.digits, slot * DIGITS + (order >> 8) % DIGITS) else { return };
                slot = narrower;
            }
            d.shared_increment(Shared::at(p.counters), slot * DIGITS + (order >> p.shift) % DIGITS);
        }
    }
}

/// Returns the rank of a number among the members of the set at word `word`; `None` if it is no member.
#[inline(always)]
unsafe fn member<D: Device>(d: D, word: u32, number: u32) -> Option<u32> {
    // SAFETY: the caller's promise.
    let [bits, before] = unsafe { d.shared_load2(Shared::<u32>::at(0), word + number / 32 * 2) };
    let bit = 1 << (number % 32);
    (bits & bit != 0).then(|| before + (bits & (bit - 1)).count_ones())
}
