//! The step behind each pass of a radix select: finds the digit of each rank's sample from the counts of the digits.
//!
//! ```text
//! after the first pass, channel by channel: each warp sums the counts of 2048 upper halves; barrier
//! each warp takes a rank, which a scan over the lanes narrows to a lane's counts: from all 65,536 upper halves to 2048,
//!     to 64, and to one; or from 256 digits to one. It keeps the digit, and the rank among the samples with that digit
//! barrier
//! each thread writes words of the set of all prefixes that were found, for the next pass; after the last pass, an order
//! ```
//!
//! One block, since the set is small; per channel and first pass it reads 512 KiB.

use crate::device::{Device, Global, Shared};
use crate::samples::WARP;
use crate::Body;
use apron_abi::{
    HistogramRanksParams, DIGITS, RANKS_BLOCK, RANKS_FOUND, RANKS_PREFIXES, RANKS_SUMS, RANKS_WITHIN, UPPER_HALVES,
};

/// The kernel.
///
/// Launch contract: the input holds the counts of the pass, whose sum is below 2^48; the ranks ascend, and each is below
/// the number of samples per channel; there are at most [`RANKS_BLOCK`] ranks in all channels. For the first pass the taps
/// are the ranks of a channel, two words each. The state has two numbers per rank for each of the first two passes, and
/// the output the words of the set, or a number per rank. The shared memory is [`apron_abi::RANKS_BYTES`].
pub struct Ranks;

/// Per rank: the member of the next pass's set, a number, that its sample belongs to.
const FOUND: Shared<u32> = Shared::at(RANKS_FOUND);
/// Per rank: the digits of its sample that are known.
const PREFIXES: Shared<u32> = Shared::at(RANKS_PREFIXES);
/// Per rank: the rank among the samples with that prefix.
const WITHIN: Shared<u64> = Shared::at(RANKS_WITHIN);
/// Per warp: the sum of the counts of its upper halves.
const SUMS: Shared<u64> = Shared::at(RANKS_SUMS);
/// Warps per block.
const WARPS: u32 = RANKS_BLOCK / WARP;
/// Upper halves per warp.
const OF_WARP: u32 = UPPER_HALVES / WARPS;
/// Upper halves per lane.
const OF_LANE: u32 = OF_WARP / WARP;
/// Loads in flight per lane.
const TOGETHER: u32 = 8;
/// The upper half of NaN, which no number has.
const NAN: u32 = UPPER_HALVES - 1;

impl Body for Ranks {
    type Src = u64;
    type Dst = u32;
    type Params = HistogramRanksParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u64>, dst: Global<u32>, p: &HistogramRanksParams) {
        let own = Own { d, p, counts: src, state: Global::at(p.state) };
        let (thread, all) = (d.thread_x(), p.ranks * p.channels);
        // SAFETY: the launch contract; barriers separate what threads exchange.
        unsafe {
            if p.pass == 0 {
                let mut channel = 0;
                while channel < p.channels {
                    own.sum_halves(channel);
                    d.barrier();
                    own.find_halves(channel);
                    d.barrier();
                    channel += 1;
                }
            } else {
                own.find_digits(all);
                d.barrier();
            }
            if p.pass == 2 {
                if thread < all {
                    d.store(dst, thread as u64, d.shared_load(PREFIXES, thread));
                }
                return;
            }
            if thread < all {
                let (slot, prefix) = (own.slot(thread), d.shared_load(PREFIXES, thread));
                let to = (p.pass * all + thread) as u64 * 2;
                d.store(own.state, to, d.shared_load(WITHIN, thread));
                d.store(own.state, to + 1, prefix as u64 | (slot as u64) << 32);
            }
            let numbers = if p.pass == 0 { p.channels * UPPER_HALVES } else { all * DIGITS };
            let mut word = thread;
            while word < numbers / 32 {
                let pair = own.members(word * 32, all);
                d.store2(dst, (p.set + word * 2) as u64, pair);
                word += RANKS_BLOCK;
            }
        }
    }
}

struct Own<'p, D> {
    d: D,
    p: &'p HistogramRanksParams,
    counts: Global<u64>,
    /// Per pass and rank: the rank among the samples with its prefix; the prefix, and its number among those of the pass.
    state: Global<u64>,
}

impl<D: Device> Own<'_, D> {
    /// Sums the counts of the upper halves of a channel by warp.
    #[inline(always)]
    unsafe fn sum_halves(&self, channel: u32) {
        let (d, thread) = (self.d, self.d.thread_x());
        let first = (channel * UPPER_HALVES + thread / WARP * OF_WARP + thread % WARP) as u64;
        let (mut sum, mut k) = (0u64, 0);
        // SAFETY: the counts of the channel; a warp's sum is its own.
        unsafe {
            while k < OF_LANE {
                let mut counts = [0; TOGETHER as usize];
                for n in 0..TOGETHER {
                    counts[n as usize] = d.load(self.counts, first + ((k + n) * WARP) as u64);
                }
                for n in 0..TOGETHER {
                    sum += counts[n as usize];
                }
                k += TOGETHER;
            }
            let all = self.all(sum);
            if thread.is_multiple_of(WARP) {
                d.shared_store(SUMS, thread / WARP, all);
            }
        }
    }

    /// Finds the upper halves of the samples of a channel's ranks.
    #[inline(always)]
    unsafe fn find_halves(&self, channel: u32) {
        let (d, p, lane) = (self.d, self.p, self.d.thread_x() % WARP);
        let base = channel * UPPER_HALVES;
        let mut k = d.thread_x() / WARP;
        while k < p.ranks {
            // SAFETY: the ranks and the sums are there; a rank's number is its warp's.
            unsafe {
                let bits = |tap: u32| d.tap(tap).to_bits() as u64;
                let rank = bits(2 * k) | bits(2 * k + 1) << 32;
                // The whole channel has no percentiles, but NaN, if one of its samples is NaN.
                let (cell, rank) = if d.load(self.counts, (base + NAN) as u64) > 0 {
                    (NAN, 0)
                } else {
                    let (warp, rank) = self.narrow(d.shared_load(SUMS, lane), rank);
                    let (group, rank) = self.narrow(self.of_groups(base + warp * OF_WARP), rank);
                    let cell = warp * OF_WARP + group * OF_LANE;
                    let at = |n: u32| d.load(self.counts, (base + cell + 2 * lane + n) as u64);
                    let (low, high) = (at(0), at(1));
                    let (pair, rank) = self.narrow(low + high, rank);
                    let low = self.shuffle(low, pair);
                    match rank < low {
                        true => (cell + 2 * pair, rank),
                        false => (cell + 2 * pair + 1, rank - low),
                    }
                };
                self.keep(channel * p.ranks + k, base + cell, cell, rank);
            }
            k += WARPS;
        }
    }

    /// Returns the counts of 64 upper halves: lane 0 those from `first` on, and each lane those behind the lane before.
    #[inline(always)]
    unsafe fn of_groups(&self, first: u32) -> u64 {
        let (d, lane) = (self.d, self.d.thread_x() % WARP);
        let (mut own, mut group) = (0, 0);
        while group < WARP {
            let mut counts = [0; TOGETHER as usize / 2];
            for n in 0..TOGETHER / 2 {
                let at = first + (group + n) * OF_LANE + lane;
                // SAFETY: the caller's promise: there are as many upper halves as a warp has.
                let [low, high] = [at, at + WARP].map(|at| unsafe { d.load(self.counts, at as u64) });
                counts[n as usize] = low + high;
            }
            for n in 0..TOGETHER / 2 {
                let all = self.all(counts[n as usize]);
                own = if lane == group + n { all } else { own };
            }
            group += TOGETHER / 2;
        }
        own
    }

    /// Finds the next digits of the samples of all ranks.
    #[inline(always)]
    unsafe fn find_digits(&self, all: u32) {
        let (d, lane) = (self.d, self.d.thread_x() % WARP);
        let mut k = d.thread_x() / WARP;
        while k < all {
            // SAFETY: the state of the rank and the counts of its prefix are there; a rank's number is its warp's.
            unsafe {
                let from = ((self.p.pass - 1) * all + k) as u64 * 2;
                let (rank, state) = (d.load(self.state, from), d.load(self.state, from + 1));
                let first = (state >> 32) as u32 * DIGITS;
                let mut counts = [0; (DIGITS / WARP) as usize];
                for n in 0..counts.len() {
                    counts[n] = d.load(self.counts, (first + lane * (DIGITS / WARP) + n as u32) as u64);
                }
                let mut sum = 0;
                for n in 0..counts.len() {
                    sum += counts[n];
                }
                let (owner, mut rank) = self.narrow(sum, rank);
                let mut digit = owner * (DIGITS / WARP);
                let mut is_found = false;
                for n in 0..counts.len() {
                    let count = self.shuffle(counts[n], owner);
                    is_found |= rank < count;
                    if !is_found {
                        (digit, rank) = (digit + 1, rank - count);
                    }
                }
                self.keep(k, first + digit, (state as u32) << 8 | digit, rank);
            }
            k += WARPS;
        }
    }

    /// Keeps what was found for rank `k`.
    #[inline(always)]
    unsafe fn keep(&self, k: u32, number: u32, prefix: u32, rank: u64) {
        let d = self.d;
        if d.thread_x().is_multiple_of(WARP) {
            // SAFETY: the caller's promise: a rank's numbers are its warp's.
            unsafe {
                d.shared_store(FOUND, k, number);
                d.shared_store(PREFIXES, k, prefix);
                d.shared_store(WITHIN, k, rank);
            }
        }
    }

    /// Returns the number of different prefixes before that of rank `k`: ranks ascend, and so do their prefixes.
    #[inline(always)]
    unsafe fn slot(&self, k: u32) -> u32 {
        let (d, mut slot, mut at) = (self.d, 0, 1);
        while at <= k {
            // SAFETY: there are that many ranks.
            slot += unsafe { d.shared_load(FOUND, at) != d.shared_load(FOUND, at - 1) } as u32;
            at += 1;
        }
        slot
    }

    /// Returns the members among 32 numbers from `first` on, a bit each, and the number of members before them.
    #[inline(always)]
    unsafe fn members(&self, first: u32, all: u32) -> [u32; 2] {
        let (d, mut bits, mut before, mut last, mut k) = (self.d, 0u32, 0, u32::MAX, 0);
        while k < all {
            // SAFETY: there are that many ranks.
            let number = unsafe { d.shared_load(FOUND, k) };
            if number >= first + 32 {
                break;
            }
            if number >= first {
                bits |= 1 << (number - first);
            } else if number != last {
                before += 1;
            }
            (last, k) = (number, k + 1);
        }
        [bits, before]
    }

    /// Returns the lane whose samples, in the order of the lanes, contain the rank, and the rank among these.
    #[inline(always)]
    fn narrow(&self, count: u64, rank: u64) -> (u32, u64) {
        let upto = self.scan(count);
        let lane = self.d.ballot(rank < upto).trailing_zeros() % WARP;
        (lane, rank - self.shuffle(upto - count, lane))
    }

    /// Returns the sum of the numbers of all lanes.
    #[inline(always)]
    fn all(&self, number: u64) -> u64 {
        let (lane, mut sum, mut lanes) = (self.d.thread_x() % WARP, number, 1);
        while lanes < WARP {
            sum += self.shuffle(sum, lane ^ lanes);
            lanes *= 2;
        }
        sum
    }

    /// Returns the sum of the numbers of this lane and of those below.
    #[inline(always)]
    fn scan(&self, number: u64) -> u64 {
        let (d, lane, mut sum, mut lanes) = (self.d, self.d.thread_x() % WARP, number, 1);
        while lanes < WARP {
            let [low, high] = [sum as u32, (sum >> 32) as u32].map(|half| d.shuffle_up(half, lanes) as u64);
            sum += if lane >= lanes { low | high << 32 } else { 0 };
            lanes *= 2;
        }
        sum
    }

    /// Returns the number of lane `lane`.
    #[inline(always)]
    fn shuffle(&self, number: u64, lane: u32) -> u64 {
        let [low, high] = [number as u32, (number >> 32) as u32].map(|half| self.d.shuffle(half, lane) as u64);
        low | high << 32
    }
}

const _: () = assert!(WARPS == WARP && OF_LANE == 2 * WARP);
