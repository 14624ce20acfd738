//! Correlation over shared tiles of packed samples (32-bit words, as in the image), for any mask; integers are summed
//! in f64.
//!
//! A block of 256 threads computes [`BLOCKED_COLUMNS`](apron_abi::BLOCKED_COLUMNS) adjacent samples of several rows.
//! Its tile holds the words under these outputs and their halo, with interleaved channels. A word is 1, 2 or 4 samples,
//! which a thread unpacks when it reads the word. So tiles are small, all copies are in flight at once, and outputs are
//! stored as words. Windows that start inside a word are shifted as they are read, by one instruction per word.
//!
//! Masks of one row or column need no tile (`line.rs`). Bytes and u16 are also summed by integer matrix products on
//! tensor cores (folder `tensor`).

mod dense;
mod line;
mod separable;
mod tensor;

pub use dense::Dense;
pub use line::{LineColumns, LineRows};
pub use separable::Separable;
pub use tensor::{Axes as TensorAxes, Pairs as TensorPairs, Rows as TensorRows};

use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Packed, Place, Samples, Summed};
use apron_abi::{words_pitch, Accumulator, BorderMode, Conv2dParams, Element, BLOCKED_BLOCK};
use core::marker::PhantomData;

/// Most samples, or words of samples, that a thread holds at a time: those under its outputs and the next four taps,
/// for four channels.
const WINDOW: usize = 24;
/// Threads that fill in the words of one row outside the image.
const BESIDE: u32 = 8;

/// A block's shared tile.
struct Tile<'p, D, S, const C: usize> {
    d: D,
    p: &'p Conv2dParams,
    /// Number of taps, padding included.
    taps: u32,
    /// The tile's words.
    words: Shared<u32>,
    /// Pitch of the tile, in words.
    pitch: u32,
    /// Input column, in samples, of the first sample of the tile's rows: the start of a word.
    left: i32,
    /// Bit of a word at which the windows of outputs start.
    bit: u32,
    samples: PhantomData<S>,
}

impl<'p, D: Device, S: Samples, const C: usize> Tile<'p, D, S, C> {
    /// The taps, in shared memory before the tile: reads of f64 taps from constant memory, whose cache all threads of a
    /// multiprocessor share, would be a bottleneck.
    const TAPS: Shared<S::Sum> = Shared::at(0);

    /// Returns the tile of the block that begins at output sample `strip` of its rows, with `taps` taps.
    #[inline(always)]
    fn new(d: D, p: &'p Conv2dParams, strip: u32, taps: u32) -> Self {
        let left = strip as i32 + p.origin_x * C as i32;
        let inside = left & (S::OF_WORD as i32 - 1);
        let pitch = words_pitch(S::Element::TYPE, p.mask_width, C as u32);
        let words = Shared::at(taps * <S::Sum as Element>::TYPE.size_bytes());
        let (left, bit) = (left - inside, inside as u32 * (32 / S::OF_WORD));
        Tile { d, p, taps, words, pitch, left, bit, samples: PhantomData }
    }

    /// Copies the taps, and fills `rows` rows of the tile, the first from input row `top`. The words of other threads
    /// are visible after the next barrier.
    #[inline(always)]
    unsafe fn bring(&self, src: u64, top: i32, rows: u32) {
        let (p, d, pitch) = (self.p, self.d, self.pitch);
        let border = BorderMode::from_u32(p.border);
        let constant = S::constant(p.constant);
        let of_word = S::OF_WORD as i32;
        let samples = p.width as i32 * C as i32;
        // The first word that lies entirely in the image's rows, and the first one after the last such word; no words
        // if rows start inside words.
        let limited = |words: i32| {
            if words < 0 {
                0
            } else if words > pitch as i32 {
                pitch
            } else {
                words as u32
            }
        };
        let (first, behind) = if p.row_stride.is_multiple_of(S::OF_WORD) {
            let first = limited(-self.left / of_word);
            let behind = limited((samples - self.left) / of_word);
            (first, if behind < first { first } else { behind })
        } else {
            (pitch, pitch)
        };
        // SAFETY: words and samples are inside the image, or mapped into it; one thread writes each word of the tile.
        unsafe {
            let mut tap = d.thread_x();
            while tap < self.taps {
                d.shared_store(Self::TAPS, tap, S::Sum::tap(d, tap));
                tap += BLOCKED_BLOCK;
            }
            let (mut row, mut word) = (0, d.thread_x());
            loop {
                while word >= pitch {
                    (row, word) = (row + 1, word - pitch);
                }
                if row >= rows {
                    break;
                }
                if word >= first && word < behind {
                    match border.map(top + row as i32, p.height as i32) {
                        Some(from) => {
                            let column = (self.left + word as i32 * of_word) as u32 as u64;
                            let at = (from as u32 as u64 * p.row_stride as u64 + column) / S::OF_WORD as u64;
                            d.start_copy(self.words, row * pitch + word, Global::<u32>::at(src), at);
                        }
                        None => d.shared_store(self.words, row * pitch + word, constant),
                    }
                }
                word += BLOCKED_BLOCK;
            }
            let beside = first + (pitch - behind);
            let mut row = d.thread_x() / BESIDE;
            while row < rows {
                let from = border.map(top + row as i32, p.height as i32);
                let mut n = d.thread_x() % BESIDE;
                while n < beside {
                    let word = if n < first { n } else { n - first + behind };
                    let bits = match from {
                        Some(from) => {
                            self.mapped(src, from as u32, self.left + word as i32 * of_word, border, constant)
                        }
                        None => constant,
                    };
                    d.shared_store(self.words, row * pitch + word, bits);
                    n += BESIDE;
                }
                row += BLOCKED_BLOCK / BESIDE;
            }
        }
        d.end_copies();
        d.wait_copies::<0>();
    }

    /// Returns a word with the samples of a row from `column` on, which may be outside (border by index map).
    #[inline(always)]
    unsafe fn mapped(&self, src: u64, row: u32, column: i32, border: BorderMode, constant: u32) -> u32 {
        let bits = 32 / S::OF_WORD;
        let start = row as u64 * self.p.row_stride as u64;
        let mut word = 0;
        for k in 0..S::OF_WORD {
            let at = column + k as i32;
            let pixel = at.div_euclid(C as i32);
            let sample = match border.map(pixel, self.p.width as i32) {
                Some(mapped) => {
                    let at = (mapped * C as i32 + at - pixel * C as i32) as u32;
                    // SAFETY: the border mapped the column into the row.
                    unsafe { S::load_bits(self.d, src, start + at as u64) }
                }
                None => constant << (32 - bits) >> (32 - bits),
            };
            word |= sample << (k * bits);
        }
        word
    }

    /// Returns the window of `ACROSS` adjacent outputs, whose first sample is in word `at` of the tile.
    #[inline(always)]
    unsafe fn window<const ACROSS: usize>(&self, mut at: u32) -> Window<S, ACROSS, C> {
        let mut last = 0;
        if S::OF_WORD > 1 {
            // SAFETY: the tile has all words under the outputs.
            last = unsafe { self.d.shared_load(self.words, at) };
            at += 1;
        }
        let mut window = Window { at, last, words: [0; WINDOW], samples: PhantomData };
        for four in 0..ACROSS / 4 {
            // SAFETY: as above.
            unsafe { window.read(self, 4 * four) };
        }
        window
    }
}

/// A thread's window in a row of the tile, as words: to unpack words again for the next taps costs less than to move
/// unpacked samples between registers.
struct Window<S, const ACROSS: usize, const C: usize> {
    /// Index of the next word of the tile, and the previous word, whose upper bits begin the next shifted word.
    at: u32,
    last: u32,
    words: [u32; WINDOW],
    samples: PhantomData<S>,
}

impl<S: Samples, const ACROSS: usize, const C: usize> Window<S, ACROSS, C> {
    const OF_WORD: usize = S::OF_WORD as usize;

    /// Returns the samples under the next four taps: sample `i * C + x` is under tap `i` for output `x`.
    #[inline(always)]
    unsafe fn next<D: Device>(&mut self, tile: &Tile<'_, D, S, C>) -> [S::Sum; WINDOW] {
        for four in 0..C {
            // SAFETY: rows of the tile have the words under all windows, up to a multiple of four taps.
            unsafe { self.read(tile, ACROSS + 4 * four) };
        }
        let mut window = [S::Sum::ZERO; WINDOW];
        for w in 0..(ACROSS + 3 * C).div_ceil(Self::OF_WORD) {
            let samples = S::unpack(tile.d, self.words[w]);
            for k in 0..Self::OF_WORD {
                window[w * Self::OF_WORD + k] = samples[k];
            }
        }
        for w in 0..ACROSS / Self::OF_WORD {
            self.words[w] = self.words[w + 4 * C / Self::OF_WORD];
        }
        window
    }

    /// Reads four samples of the window, from `sample` on.
    #[inline(always)]
    unsafe fn read<D: Device>(&mut self, tile: &Tile<'_, D, S, C>, sample: usize) {
        // SAFETY: the caller's promise; if a word is one sample, `at` is a multiple of 4.
        unsafe {
            if Self::OF_WORD == 1 {
                let (words, at) = (&mut self.words, sample);
                [words[at], words[at + 1], words[at + 2], words[at + 3]] = tile.d.shared_load4(tile.words, self.at);
                self.at += 4;
            } else {
                for w in 0..4 / Self::OF_WORD {
                    let next = tile.d.shared_load(tile.words, self.at);
                    self.words[sample / Self::OF_WORD + w] = from_bit(self.last, next, tile.bit);
                    self.last = next;
                    self.at += 1;
                }
            }
        }
    }
}

/// Adds the products of the first `count` of four taps; of all four if `count` is larger.
#[inline(always)]
fn add<D: Device, T: Summed, const ACROSS: usize, const C: usize>(
    d: D,
    sums: &mut [T; ACROSS],
    taps: [T; 4],
    count: u32,
    samples: &[T; WINDOW],
) {
    for i in 0..4 {
        if i < count as usize {
            for x in 0..ACROSS {
                sums[x] = d.fma(taps[i], samples[x + i * C], sums[x]);
            }
        }
    }
}

/// Stores a thread's outputs; the first is sample `x` of row `y`.
#[inline(always)]
unsafe fn store<D: Device, S: Packed<ACROSS>, const ACROSS: usize, const DOWN: usize, const C: usize>(
    d: D,
    dst: u64,
    p: &Conv2dParams,
    (x, y): (u32, u32),
    sums: &[[S::Sum; ACROSS]; DOWN],
) {
    let size = S::Element::TYPE.size_bytes();
    let samples = p.out_width * C as u32;
    let whole = x + ACROSS as u32 <= samples && samples.is_multiple_of(ACROSS as u32);
    for k in 0..DOWN {
        if y + (k as u32) < p.out_height {
            let row = dst + (y + k as u32) as u64 * samples as u64 * size as u64;
            let words = S::pack(d, &sums[k]);
            // SAFETY: the row is in the output; words or samples outside it are not stored; each is one thread's.
            unsafe {
                if samples.is_multiple_of(S::OF_WORD) {
                    let place = Place { row, first: x as i32, samples: samples as i32, whole };
                    place.store::<D, S>(d, ACROSS as u32 / S::OF_WORD, words);
                } else {
                    for i in 0..ACROSS as u32 {
                        if x + i < samples {
                            let bits = words[(i / S::OF_WORD) as usize] >> (i % S::OF_WORD * (32 / S::OF_WORD));
                            S::store_bits(d, row + (x + i) as u64 * size as u64, bits);
                        }
                    }
                }
            }
        }
    }
}
