//! Quads: four adjacent samples of a row, which a thread loads together.

use super::terms::{added, centre, terms, Whole};
use crate::device::{Device, Global};
use apron_abi::{BorderMode, ElementType, Sample, SlidingParams, WINDOWS_QUAD};
use core::marker::PhantomData;

/// Samples per quad.
pub const QUAD: usize = WINDOWS_QUAD as usize;
/// `TERMS` sums for each sample of a quad.
pub type Sums<W, const TERMS: usize> = [[W; TERMS]; QUAD];

/// Stands for a sample or row that the border maps to the constant.
pub(super) const NONE: u32 = u32::MAX;
/// As [`NONE`], for the start of a row.
const NO_ROW: u64 = u64::MAX;

/// The rows of the extended image under the windows: row 0 is the row above the first window.
#[derive(Clone, Copy)]
pub(super) struct Rows<'p, I> {
    p: &'p SlidingParams,
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
        // Opaque, so that values that the map derives from the height are not kept in registers.
        let height = d.anew(self.p.height) as i32;
        self.border.map(self.p.origin_y - 1 + row as i32, height).map_or(NONE, |y| y as u32)
    }

    /// Returns the image row of row `row`, if rows `row` to `row + count - 1` are all inside the image.
    #[inline(always)]
    pub(super) fn inside(self, row: u32, count: u32) -> Option<u32> {
        let top = self.p.origin_y - 1 + row as i32;
        if top >= 0 && top as u32 + count <= self.p.height {
            Some(top as u32)
        } else {
            None
        }
    }

    /// Returns whether every row of the image, and so every quad of a row, begins at a word.
    #[inline(always)]
    pub(super) fn are_aligned(self) -> bool {
        (self.src.address | self.pitch() as u64).is_multiple_of(4)
    }

    /// Pitch of the image's rows, in bytes.
    #[inline(always)]
    pub(super) fn pitch(self) -> u32 {
        self.p.row_stride * I::TYPE.size_bytes()
    }

    /// Returns the address of sample `sample` of row `y` of the image.
    #[inline(always)]
    pub(super) fn address(self, y: u32, sample: u32) -> u64 {
        let sample = y as u64 * self.p.row_stride as u64 + sample as u64;
        self.src.address + sample * I::TYPE.size_bytes() as u64
    }

    /// Returns row `y` of the image; for [`NONE`] a row of the constant.
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

/// The samples of a quad, packed in words, and unpacked only where they are used, to save registers.
#[derive(Clone, Copy)]
pub(super) struct Quad<I> {
    words: [u32; 2],
    sample: PhantomData<fn() -> I>,
}

/// Returns whether the words that contain samples `first` to `first + 3` lie in a row of `samples` samples,
/// whatever its alignment.
#[inline(always)]
pub(super) fn words_inside(first: i32, samples: u32) -> bool {
    first >= QUAD as i32 - 1 && first + 2 * QUAD as i32 - 1 <= samples as i32
}

impl<I: Sample> Row<I> {
    /// Loads the words that contain quad `quad`, counted from the quad that begins at sample `first`, which may be
    /// negative.
    ///
    /// # Safety
    /// The words are [in the row](words_inside).
    #[inline(always)]
    pub(super) unsafe fn words<D: Device>(self, d: D, first: i32, quad: u32) -> Quad<I> {
        if self.start == NO_ROW {
            return Quad::of([self.constant; QUAD]);
        }
        let first = self.start.wrapping_add(first as i64 as u64);
        let address = self.src.address.wrapping_add(first.wrapping_mul(I::TYPE.size_bytes() as u64));
        let (from, shift) = (Global::<u32>::at(address & !3), address as u32 % 4 * 8);
        let word = |k: usize| {
            // A quad that starts inside a word extends into one word more.
            match k < Quad::<I>::WORDS || (k == Quad::<I>::WORDS && shift != 0) {
                // SAFETY: the caller's promise.
                true => unsafe { d.load(from, (quad * Quad::<I>::WORDS as u32 + k as u32) as u64) },
                false => 0,
            }
        };
        let words = [word(0), word(1), word(2)];
        let shifted = |k: usize| ((words[k] as u64 | (words[k + 1] as u64) << 32) >> shift) as u32;
        Quad { words: [shifted(0), if Quad::<I>::WORDS > 1 { shifted(1) } else { 0 }], sample: PhantomData }
    }

    /// Loads samples one by one.
    ///
    /// # Safety
    /// Each is in the row, or [`NONE`].
    #[inline(always)]
    pub(super) unsafe fn each<D: Device>(self, d: D, samples: [u32; QUAD]) -> Quad<I> {
        let mut bits = [self.constant; QUAD];
        for k in 0..QUAD {
            if self.start != NO_ROW && samples[k] != NONE {
                // SAFETY: the caller's promise.
                bits[k] = unsafe { d.load_bits(self.src, self.start + samples[k] as u64) } as i32;
            }
        }
        Quad::of(bits)
    }
}

impl<I: Sample> Quad<I> {
    /// Words per quad.
    pub(super) const WORDS: usize = I::TYPE.size_bytes() as usize;
    pub(super) const ZEROS: Self = Quad { words: [0; 2], sample: PhantomData };

    /// Packs the lowest bits of `bits` as samples.
    #[inline(always)]
    pub(super) fn of(bits: [i32; QUAD]) -> Self {
        let of = |k: usize| bits[k] as u32;
        let words = match Self::WORDS {
            1 => {
                let byte = |k: usize| (of(k) & 0xff) << (8 * k as u32);
                [byte(0) | byte(1) | byte(2) | byte(3), 0]
            }
            _ => [of(0) & 0xffff | of(1) << 16, of(2) & 0xffff | of(3) << 16],
        };
        Quad { words, sample: PhantomData }
    }

    /// Loads a quad that starts at a word.
    ///
    /// # Safety
    /// As [`Device::load`].
    #[inline(always)]
    pub(super) unsafe fn aligned<D: Device>(d: D, address: u64) -> Self {
        // SAFETY: the caller's promise.
        let word = |k: u64| unsafe { d.load(Global::<u32>::at(address), k) };
        Quad { words: [word(0), if Self::WORDS > 1 { word(1) } else { 0 }], sample: PhantomData }
    }

    /// Unpacks the samples.
    #[inline(always)]
    pub(super) fn samples(self) -> [i32; QUAD] {
        let sample = |k: usize| match Self::WORDS {
            1 => (self.words[0] >> (8 * k as u32) & 0xff) as i32,
            _ => {
                let bits = self.words[k / 2] >> (16 * (k as u32 % 2));
                if I::TYPE == ElementType::I16 {
                    bits as i16 as i32
                } else {
                    (bits & 0xffff) as i32
                }
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

/// Adds the sums of two quads, sample by sample.
#[inline(always)]
pub(super) fn both<W: Whole, const TERMS: usize>(mut sums: Sums<W, TERMS>, more: Sums<W, TERMS>) -> Sums<W, TERMS> {
    for k in 0..QUAD {
        sums[k] = added(sums[k], more[k]);
    }
    sums
}

/// Adds the terms of quads `first` to `end - 1`; `N` quads are loaded before the first is unpacked.
#[inline(always)]
pub(super) fn add_up<const N: usize, I: Sample, W: Whole, const TERMS: usize>(
    mut sums: Sums<W, TERMS>,
    mut first: u32,
    end: u32,
    load: impl Fn(u32) -> Quad<I>,
) -> Sums<W, TERMS> {
    while first + N as u32 <= end {
        let mut quads = [Quad::ZEROS; N];
        for n in 0..N {
            quads[n] = load(first + n as u32);
        }
        for n in 0..N {
            sums = both(sums, quads[n].terms());
        }
        first += N as u32;
    }
    while first < end {
        sums = both(sums, load(first).terms());
        first += 1;
    }
    sums
}
