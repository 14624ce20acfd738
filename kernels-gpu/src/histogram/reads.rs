//! Loads of a thread from an input over which the whole grid strides: 16 bytes per load, with four loads in flight.
//!
//! A new load goes to the registers of the load that was just counted. If loads moved on from register to register, the
//! thread would have to wait for each one before moving it, with one load in flight.

use crate::device::{Device, Global};
use apron_abi::{Element, Rounds, WORDS_AT_ONCE};

/// A sample type that is counted as f32 numbers.
pub trait Numbered: Element {
    /// Samples per word.
    const OF_WORD: usize;
    /// Returns sample `k` of a word as f32.
    fn of_word(word: u32, k: usize) -> f32;
    /// Returns the sample as f32.
    fn number(self) -> f32;
}

macro_rules! numbered_halves {
    ($($type:ty),*) => {$(
        impl Numbered for $type {
            const OF_WORD: usize = 2;

            #[inline(always)]
            fn of_word(word: u32, k: usize) -> f32 {
                ((word >> (16 * k)) as $type).number()
            }

            #[inline(always)]
            fn number(self) -> f32 {
                self as f32
            }
        }
    )*};
}
numbered_halves!(u16, i16);

impl Numbered for f32 {
    const OF_WORD: usize = 1;

    #[inline(always)]
    fn of_word(word: u32, _: usize) -> f32 {
        f32::from_bits(word)
    }

    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
}

/// Counts loaded words.
pub(super) trait Count: Copy {
    /// Counts the samples of 16 bytes.
    ///
    /// # Safety
    /// Every sample has a counter in shared memory.
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]);
}

/// A thread's loads: those in flight, and the state of the rest.
pub(super) struct Reads {
    ring: [[u32; 4]; AHEAD as usize],
    rest: Rest,
}

/// The loads not yet counted.
struct Rest {
    src: Global<u32>,
    /// Word at which the next load to start begins.
    at: u64,
    /// Words between the loads of a thread.
    step: u64,
    /// Number of loads not yet counted.
    left: u32,
}

/// Loads in flight per thread.
const AHEAD: u32 = 4;

impl Reads {
    /// Starts the first loads of thread `first` of `threads` threads.
    ///
    /// # Safety
    /// `src` is aligned to 16 bytes and holds all loads that `rounds` distributes over `threads` threads.
    #[inline(always)]
    pub(super) unsafe fn start<D: Device>(d: D, src: u64, first: u32, threads: u32, rounds: Rounds) -> Reads {
        let left = rounds.whole + (first < rounds.rest) as u32;
        let (at, step) = (first as u64 * WORDS_AT_ONCE, threads as u64 * WORDS_AT_ONCE);
        let mut rest = Rest { src: Global::at(src), at, step, left };
        let mut ring = [[0; 4]; AHEAD as usize];
        // SAFETY: the caller's promise.
        unsafe {
            rest.read(d, &mut ring[0], 0);
            rest.read(d, &mut ring[1], 1);
            rest.read(d, &mut ring[2], 2);
            rest.read(d, &mut ring[3], 3);
        }
        Reads { ring, rest }
    }

    /// Counts all loads.
    ///
    /// # Safety
    /// As [`start`](Reads::start) and [`Count::words`].
    #[inline(always)]
    pub(super) unsafe fn count<D: Device, C: Count>(self, d: D, counter: C) {
        let Reads { ring: [mut a, mut b, mut c, mut e], mut rest } = self;
        // SAFETY: the caller's promise.
        unsafe {
            while rest.left >= 2 * AHEAD {
                rest.swap(d, &mut a, counter);
                rest.swap(d, &mut b, counter);
                rest.swap(d, &mut c, counter);
                rest.swap(d, &mut e, counter);
                rest.left -= AHEAD;
            }
            while rest.count(d, &mut a, counter)
                && rest.count(d, &mut b, counter)
                && rest.count(d, &mut c, counter)
                && rest.count(d, &mut e, counter)
            {}
        }
    }
}

impl Rest {
    /// Starts the next load, if more than `many` are left.
    #[inline(always)]
    unsafe fn read<D: Device>(&mut self, d: D, words: &mut [u32; 4], many: u32) {
        if self.left > many {
            // SAFETY: one of the thread's loads, which the rounds keep inside the input.
            *words = unsafe { d.load_words(self.src, self.at) };
        }
        self.at += self.step;
    }

    /// Counts a load, and starts another in its registers.
    #[inline(always)]
    unsafe fn swap<D: Device, C: Count>(&mut self, d: D, words: &mut [u32; 4], counter: C) {
        // SAFETY: the caller has checked that the thread has another load; the caller's promise.
        unsafe {
            counter.words(d, *words);
            *words = d.load_words(self.src, self.at);
        }
        self.at += self.step;
    }

    /// Counts a load, and starts another in its registers if there is one; returns whether there was a load to count.
    #[inline(always)]
    unsafe fn count<D: Device, C: Count>(&mut self, d: D, words: &mut [u32; 4], counter: C) -> bool {
        if self.left == 0 {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe {
            counter.words(d, *words);
            self.read(d, words, AHEAD);
        }
        self.left -= 1;
        true
    }
}
