//! Vectors of 16 bytes of the image's rows: where the border finds them, how they are loaded, and in which order.

use crate::device::{Device, Global};
use apron_abi::{BorderMode, PrefixParams, Sample, PREFIX_VECTOR};

/// Bytes per vector.
pub(crate) const BYTES: usize = PREFIX_VECTOR as usize;
/// Words per vector.
pub(crate) const WORDS: usize = BYTES / 4;
/// Stands for a row of the constant.
const NONE: u32 = u32::MAX;

/// The samples of a vector, packed.
pub(crate) type Vector = [u32; WORDS];

/// Where the border map finds the pixels of a vector in a row of the image.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The first pixel of the vector of the image that is loaded.
    pub(crate) pixel: u32,
    /// Whether the pixels come in the opposite order.
    pub(crate) backward: bool,
    /// Whether all pixels are copies of the first one, in this order.
    pub(crate) alike: bool,
    /// Whether the pixels are the constant.
    pub(crate) constant: bool,
}

impl Place {
    pub(crate) const CONSTANT: Place = Place { pixel: 0, backward: false, alike: false, constant: true };

    /// Returns the place of the `vector` pixels from `column` on, in rows of `width` pixels. The vector lies entirely
    /// inside or entirely outside the row.
    #[inline(always)]
    pub(crate) fn of(column: i32, width: i32, vector: i32, border: BorderMode) -> Place {
        let is_left = column < 0;
        let of = |pixel: i32| Place { pixel: pixel as u32, backward: false, alike: false, constant: false };
        if !is_left && column < width {
            return of(column);
        }
        let mirrored = |pixel: i32| Place { backward: true, ..of(pixel - vector) };
        match border {
            BorderMode::Constant => Place::CONSTANT,
            BorderMode::Replicate if is_left => Place { alike: true, ..of(0) },
            BorderMode::Replicate => Place { backward: true, alike: true, ..of(width - vector) },
            BorderMode::Reflect if is_left => mirrored(-column),
            BorderMode::Reflect => mirrored(2 * width - column),
            BorderMode::Reflect101 if is_left => mirrored(1 - column),
            BorderMode::Reflect101 => mirrored(2 * width - 1 - column),
            BorderMode::Wrap if is_left => of(column + width),
            BorderMode::Wrap => of(column - width),
        }
    }
}

/// A vector as it was loaded: the aligned words that contain its samples, and the number of bytes before the first
/// sample in the first word.
#[derive(Clone, Copy)]
pub(crate) struct Loaded {
    words: [u32; WORDS + 1],
    before: u32,
}

impl Loaded {
    pub(crate) const ZEROS: Loaded = Loaded { words: [0; WORDS + 1], before: 0 };
}

/// The image, and its border.
#[derive(Clone, Copy)]
pub(crate) struct Image<'p, D, I> {
    pub(crate) d: D,
    pub(crate) p: &'p PrefixParams,
    pub(crate) src: Global<I>,
    /// Bytes per pixel, a constant.
    pub(crate) pixel: u32,
    /// The sign bits of samples in a word, a constant: 0, or those of i16 that are taken as the u16 that are 32768 larger.
    pub(crate) signs: u32,
}

impl<D: Device, I: Sample> Image<'_, D, I> {
    /// Bytes per sample.
    const SIZE: u32 = I::TYPE.size_bytes();

    #[inline(always)]
    pub(crate) fn border(self) -> BorderMode {
        BorderMode::from_u32(self.p.border)
    }

    /// Returns whether every row begins at a multiple of a vector.
    #[inline(always)]
    pub(crate) fn has_vectors(self) -> bool {
        let pitch = self.p.row_stride * Self::SIZE;
        (self.src.address as u32 | pitch).is_multiple_of(BYTES as u32)
    }

    /// Returns the image row that replaces row `y`; [`NONE`] for the constant.
    #[inline(always)]
    pub(crate) fn mapped(self, y: i32) -> u32 {
        if (y as u32) < self.p.height {
            return y as u32;
        }
        // Opaque, so that values that the map derives from the height are not kept in registers from row to row.
        let height = self.d.anew(self.p.height) as i32;
        self.border().map(y, height).map_or(NONE, |y| y as u32)
    }

    /// Loads the vector that begins at sample `first` of row `y`, or of a row of the constant; `plain` if all vectors
    /// of the warp lie at multiples of their length.
    ///
    /// # Safety
    /// The row has these samples.
    #[inline(always)]
    pub(crate) unsafe fn load(self, y: u32, first: u32, plain: bool) -> Loaded {
        if y == NONE {
            // The signs are those of loaded samples.
            return Loaded { words: [self.p.constant ^ self.signs; WORDS + 1], before: 0 };
        }
        // SAFETY: the caller's promise.
        unsafe { self.load_inside(y, first, plain) }
    }

    /// As [`load`](Self::load), for a row of the image.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(crate) unsafe fn load_inside(self, y: u32, first: u32, plain: bool) -> Loaded {
        let start = self.src.address + (first * Self::SIZE) as u64;
        let address = start + y as u64 * (self.p.row_stride * Self::SIZE) as u64;
        // SAFETY: the caller's promise.
        unsafe {
            if plain {
                let [a, b, c, e] = self.d.load_words(Global::at(address), 0);
                Loaded { words: [a, b, c, e, 0], before: 0 }
            } else {
                self.load_any(address, y)
            }
        }
    }

    /// Loads the words that contain the vector at an address of row `y`.
    #[inline(always)]
    unsafe fn load_any(self, address: u64, y: u32) -> Loaded {
        let (d, from, before) = (self.d, Global::<u32>::at(address & !3), address as u32 % 4);
        let mut words = [0; WORDS + 1];
        // SAFETY: the words are in the row, except for the start of the first, which is in the memory before the row,
        // and for the end of the last, which is in the next row unless this is the last one.
        unsafe {
            for k in 0..WORDS {
                words[k] = d.load(from, k as u64);
            }
            if self.pixel.is_multiple_of(4) || before == 0 {
                return Loaded { words, before };
            }
            if y + 1 < self.p.height {
                words[WORDS] = d.load(from, WORDS as u64);
                return Loaded { words, before };
            }
            for k in 0..4 / Self::SIZE - 1 {
                if k < before / Self::SIZE {
                    let bits = d.load_bits(Global::<I>::at(from.address), (BYTES as u32 / Self::SIZE + k) as u64);
                    words[WORDS] |= bits << (8 * Self::SIZE * k);
                }
            }
        }
        Loaded { words, before }
    }

    /// Returns the words of a vector that lies in the image, in the image's order.
    #[inline(always)]
    pub(crate) fn words(self, Loaded { words, before }: Loaded, plain: bool) -> Vector {
        let mut vector = [words[0], words[1], words[2], words[3]];
        // Vectors of pixels of whole words begin at words.
        if !plain && !self.pixel.is_multiple_of(4) {
            // Opaque, so that words are not shifted before the branch, by all warps.
            let shift = self.d.anew(before) * 8;
            for k in 0..WORDS {
                vector[k] = ((words[k] as u64 | (words[k + 1] as u64) << 32) >> shift) as u32;
            }
        }
        vector.map(|word| word ^ self.signs)
    }

    /// Returns the words of a vector of pixels of `channels` samples, in the order of its place.
    #[inline(always)]
    pub(crate) fn ordered(self, vector: Vector, channels: usize, place: Place) -> Vector {
        // Selectors of `pick_at`, for a word given twice: pixels in order; in the opposite order; the first, or the
        // last pixel as often as the word has room.
        let [forward, backward, first, last] = match channels as u32 * Self::SIZE {
            1 => [0x3210, 0x0123, 0x4444, 0x3333],
            2 => [0x3210, 0x1032, 0x5454, 0x3232],
            _ => [0x3210; 4],
        };
        let selector = match (place.alike, place.backward) {
            (false, false) => forward,
            (false, true) => backward,
            (true, false) => first,
            (true, true) => last,
        };
        let from = |k: usize| if place.backward { vector[WORDS - 1 - k] } else { vector[k] };
        let mut picked = [0; WORDS];
        for k in 0..WORDS {
            let word = if place.alike { from(0) } else { from(k) };
            picked[k] = if place.constant { self.p.constant } else { self.d.pick_at(word, word, selector) };
        }
        picked
    }
}
