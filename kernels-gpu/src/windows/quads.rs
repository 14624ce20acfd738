//! Quads: four samples of adjacent pixels and one channel, which a thread loads together.

use super::terms::{added, centre, terms, Whole};
use crate::device::{Device, Global};
use apron_abi::{BorderMode, ElementType, Sample, SlidingParams, WINDOWS_QUAD};
use core::marker::PhantomData;

/// Samples per quad.
pub const QUAD: usize = WINDOWS_QUAD as usize;
/// Sums of each sample of a quad.
pub type Sums<W, const TERMS: usize> = [[W; TERMS]; QUAD];

/// Stands for no sample of the image: the constant.
pub(super) const NONE: u32 = u32::MAX;
/// Stands for a row of the constant.
const NO_ROW: u64 = u64::MAX;

/// The image's rows under the windows: row 0 is the one above the first window.
#[derive(Clone, Copy)]
pub(super) struct Rows<'p, I> {
    pub(super) p: &'p SlidingParams,
    src: Global<I>,
    border: BorderMode,
}

impl<'p, I: Sample> Rows<'p, I> {
    #[inline(always)]
    pub(super) fn of(src: Global<I>, p: &'p SlidingParams) -> Self {
        Rows { p, src, border: BorderMode::from_u32(p.border) }
    }

    /// Returns the image row that replaces row `row`; [`NONE`] for the constant.
    #[inline(always)]
    pub(super) fn map<D: Device>(self, d: D, row: u32) -> u32 {
        // Opaque: what the map computes of the height alone must not take registers all the time.
        let height = d.anew(self.p.height) as i32;
        self.border.map(self.p.origin_y - 1 + row as i32, height).map_or(NONE, |y| y as u32)
    }

    /// Returns row `y` of the image, or that of the constant.
    #[inline(always)]
    pub(super) fn row(self, y: u32) -> Row<I> {
        let start = if y == NONE { NO_ROW } else { y as u64 * self.p.row_stride as u64 };
        Row { src: self.src, start, constant: self.p.constant }
    }

    /// Returns the image column that replaces column `x`; [`NONE`] for the constant.
    #[inline(always)]
    pub(super) fn column(self, x: i32) -> u32 {
        self.border.map(x, self.p.width as i32).map_or(NONE, |x| x as u32)
    }
}

/// A row of the image, or of the constant.
#[derive(Clone, Copy)]
pub(super) struct Row<I> {
    src: Global<I>,
    /// Index of its first sample, or [`NO_ROW`].
    start: u64,
    constant: i32,
}

/// The samples of a quad as they were loaded: whole words that contain them, or the bits of each sample. They are unpacked when
/// they are used, for nothing to wait for a load before.
#[derive(Clone, Copy)]
pub(super) struct Quad<I> {
    bits: [u32; QUAD],
    /// Bits before the first sample, of words; else [`NO_WORDS`].
    shift: u32,
    sample: PhantomData<fn() -> I>,
}

const NO_WORDS: u32 = u32::MAX;

/// Returns whether the words that contain samples `first` to `first + 3` lie in a row of `samples` samples, whatever its
/// alignment.
#[inline(always)]
pub(super) fn words_inside(first: i32, samples: u32) -> bool {
    first >= QUAD as i32 - 1 && first + 2 * QUAD as i32 - 1 <= samples as i32
}

impl<I: Sample> Row<I> {
    /// Words per quad.
    const WORDS: usize = I::TYPE.size_bytes() as usize;

    /// Loads the words that contain quad `quad` of those that begin at sample `first`, which may be negative.
    ///
    /// # Safety
    /// The words are [in the row](words_inside).
    #[inline(always)]
    pub(super) unsafe fn words<D: Device>(self, d: D, first: i32, quad: u32) -> Quad<I> {
        let first = self.start.wrapping_add(first as i64 as u64);
        let address = self.src.address.wrapping_add(first.wrapping_mul(I::TYPE.size_bytes() as u64));
        let (words, shift) = (Global::<u32>::at(address & !3), address as u32 % 4 * 8);
        let word = |k: usize| {
            if self.start == NO_ROW {
                let constant = self.constant as u32;
                return if Self::WORDS == 1 { constant * 0x0101_0101 } else { (constant & 0xffff) * 0x0001_0001 };
            }
            // One word more has samples of the quad, unless the first has none of others.
            match k < Self::WORDS || (k == Self::WORDS && shift != 0) {
                // SAFETY: the caller's promise.
                true => unsafe { d.load(words, (quad * Self::WORDS as u32 + k as u32) as u64) },
                false => 0,
            }
        };
        Quad { bits: [word(0), word(1), word(2), word(3)], shift, sample: PhantomData }
    }

    /// Loads samples one by one.
    ///
    /// # Safety
    /// Each is in the row, or [`NONE`].
    #[inline(always)]
    pub(super) unsafe fn each<D: Device>(self, d: D, samples: [u32; QUAD]) -> Quad<I> {
        let bits = |k: usize| match self.start == NO_ROW || samples[k] == NONE {
            true => self.constant as u32,
            // SAFETY: the caller's promise.
            false => unsafe { d.load_bits(self.src, self.start + samples[k] as u64) },
        };
        Quad { bits: [bits(0), bits(1), bits(2), bits(3)], shift: NO_WORDS, sample: PhantomData }
    }
}

impl<I: Sample> Quad<I> {
    const OF_WORD: u32 = 4 / I::TYPE.size_bytes();

    /// Unpacks the samples.
    #[inline(always)]
    pub(super) fn samples(self) -> [i32; QUAD] {
        let words = self.shift != NO_WORDS;
        let word = |k: usize| ((self.bits[k] as u64 | (self.bits[k + 1] as u64) << 32) >> (self.shift % 32)) as u32;
        let sample = |k: usize| {
            let bits = match Self::OF_WORD {
                _ if !words => self.bits[k],
                4 => word(0) >> (8 * k as u32) & 0xff,
                _ => word(k / 2) >> (16 * (k as u32 % 2)) & 0xffff,
            };
            if I::TYPE == ElementType::I16 {
                bits as i16 as i32
            } else {
                bits as i32
            }
        };
        [sample(0), sample(1), sample(2), sample(3)]
    }

    /// Returns the terms of each sample.
    #[inline(always)]
    pub(super) fn terms<W: Whole, const TERMS: usize>(self) -> Sums<W, TERMS> {
        let samples = self.samples();
        let mut sums = [terms(0); QUAD];
        for k in 0..QUAD {
            sums[k] = terms(samples[k] - centre::<I, W, TERMS>());
        }
        sums
    }
}

/// Adds two sums of each sample of a quad.
#[inline(always)]
pub(super) fn both<W: Whole, const TERMS: usize>(mut sums: Sums<W, TERMS>, more: Sums<W, TERMS>) -> Sums<W, TERMS> {
    for k in 0..QUAD {
        sums[k] = added(sums[k], more[k]);
    }
    sums
}

/// Adds the sums of items `first` to `end - 1`; those of two are loaded before any is added.
#[inline(always)]
pub(super) fn add_up<W: Whole, const TERMS: usize>(
    mut sums: Sums<W, TERMS>,
    mut first: u32,
    end: u32,
    of: impl Fn(u32) -> Sums<W, TERMS>,
) -> Sums<W, TERMS> {
    while first + 2 <= end {
        let (a, b) = (of(first), of(first + 1));
        sums = both(both(sums, a), b);
        first += 2;
    }
    if first < end {
        sums = both(sums, of(first));
    }
    sums
}
