//! What a thread reads of an input over which the whole grid strides: 16 bytes at a time, four such reads on their
//! way while it waits.
//!
//! A read is replaced where it was taken from. Were they passed on from one register to the next, the thread would wait
//! for all of them to pass one on, and so have one on its way.

use crate::device::{Device, Global};
use apron_abi::{Element, Rounds, WORDS_AT_ONCE};

/// A type of samples that are counted as f32 numbers.
pub trait Numbered: Element {
    /// Samples of a word.
    const OF_WORD: usize;
    /// The number of sample `k` of a word.
    fn of_word(word: u32, k: usize) -> f32;
    /// The sample's own.
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

/// Counts what was read.
pub(super) trait Count: Copy {
    /// Counts 16 bytes.
    ///
    /// # Safety
    /// That of the counters.
    unsafe fn words<D: Device>(self, d: D, words: [u32; 4]);
}

/// The reads of a thread.
pub(super) struct Reads {
    ring: [[u32; 4]; AHEAD as usize],
    rest: Rest,
}

/// Those not yet counted.
struct Rest {
    src: Global<u32>,
    /// Word at which the next one that is not on its way starts.
    at: u64,
    /// Words from a read to the next.
    step: u64,
    /// How many are not yet counted.
    left: u32,
}

/// Reads that are on their way.
const AHEAD: u32 = 4;

impl Reads {
    /// Starts the first reads of thread `first` among all `threads`.
    ///
    /// # Safety
    /// `src` is aligned to 16 bytes and holds what the rounds of so many threads read.
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

    /// Counts all of them.
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
    /// Starts the next read, if more than so many are left.
    #[inline(always)]
    unsafe fn read<D: Device>(&mut self, d: D, words: &mut [u32; 4], many: u32) {
        if self.left > many {
            // SAFETY: inside the input.
            *words = unsafe { d.load_words(self.src, self.at) };
        }
        self.at += self.step;
    }

    /// Counts a read, and puts another in its place.
    #[inline(always)]
    unsafe fn swap<D: Device, C: Count>(&mut self, d: D, words: &mut [u32; 4], counter: C) {
        // SAFETY: inside the input; the caller's promise.
        unsafe {
            counter.words(d, *words);
            *words = d.load_words(self.src, self.at);
        }
        self.at += self.step;
    }

    /// Counts a read and puts another in its place; tells whether there was one.
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
