//! Dense masks over bytes and u16 by products of integer matrices, on tensor cores: all sums are exact.
//!
//! A tap is `DIGITS` signed digits to the base 256 of `tap * 2^q`. One matrix has windows of the image in its rows. The
//! other has one digit of rows of the mask in each of its columns, shifted by one sample from column to column. Their
//! product is the contribution of these rows of the mask to 8 outputs of each window. For interleaved channels there
//! are zeros between the taps.
//!
//! Three digits leave a remainder of the tap, so a sum is known only within bounds that the plan computes. The few
//! outputs whose rounding the bounds do not decide are summed again by their warp, in f64. Taps of up to 16 bits need
//! one or two digits, and have no remainder.
//!
//! Samples of u16 are two planes of bytes ([`Planes`]), each multiplied by four digits; products of the same
//! power of 256 share an accumulator. The product of the lower plane and the lowest digit is not computed: the
//! plan's bounds include it.
//!
//! Windows of 32 bytes of one row suit masks of any height ([`Rows`]); windows of 16 bytes of two rows suit masks of up
//! to 9 samples per row, with half of the products ([`Pairs`]). Separable taps take two products ([`Axes`]).

mod axes;
mod pairs;
mod rows;

pub use axes::Axes;
pub use pairs::Pairs;
pub use rows::Rows;

use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Doubles, Samples, WARP};
use apron_abi::{BorderMode, Element, TensorParams, TENSOR_ZEROS};
use core::marker::PhantomData;

/// 1.5 * 2^52: adding it to a number rounds the number half to even, to an integer in the lowest bits.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// Bytes of a row that a thread copies at a time.
const PIECE: u32 = 16;

/// Samples as planes of bytes, the lowest first: the operands of matrix products.
pub trait Planes: Samples {
    /// Number of planes: bytes per sample.
    const PLANES: usize = Self::Element::TYPE.size_bytes() as usize;
    /// The largest sample.
    const MOST: f64;
    /// Samples per piece.
    const OF_PIECE: u32 = PIECE / Self::Element::TYPE.size_bytes();
    /// Returns the bytes of the four samples that begin at word `index` of shared memory, one word per plane; u8 has
    /// one plane, and the second word is 0.
    ///
    /// # Safety
    /// As [`Device::shared_load`] of these words; for two planes, `index` is even.
    unsafe fn bytes<D: Device>(d: D, from: Shared<u32>, index: u32) -> [u32; 2];
    /// Packs four outputs into words, clamped to the type's range; for u8 the second word is 0.
    fn words<D: Device>(d: D, outputs: [i32; 4]) -> [u32; 2];
}

impl Planes for Doubles<u8> {
    const MOST: f64 = u8::MAX as f64;

    #[inline(always)]
    unsafe fn bytes<D: Device>(d: D, from: Shared<u32>, index: u32) -> [u32; 2] {
        // SAFETY: the caller's promise.
        [unsafe { d.shared_load(from, index) }, 0]
    }

    #[inline(always)]
    fn words<D: Device>(d: D, outputs: [i32; 4]) -> [u32; 2] {
        [d.word_of_bytes(outputs), 0]
    }
}

impl Planes for Doubles<u16> {
    const MOST: f64 = u16::MAX as f64;

    #[inline(always)]
    unsafe fn bytes<D: Device>(d: D, from: Shared<u32>, index: u32) -> [u32; 2] {
        // SAFETY: the caller's promise.
        let [first, second] = unsafe { d.shared_load2(from, index) };
        [d.pick::<0x6420>(first, second), d.pick::<0x7531>(first, second)]
    }

    #[inline(always)]
    fn words<D: Device>(d: D, [a, b, c, e]: [i32; 4]) -> [u32; 2] {
        [d.word_of_halves([a, b]), d.word_of_halves([c, e])]
    }
}

/// A lane's accumulators: four sums per power of 256. The power is that of the digit, or with two planes the sum of
/// those of digit and plane. One plane has at most three powers.
type Sums = [[i32; 4]; 4];

/// Returns the initial sums: the plan's `start`, in the accumulator of the second power if the digits leave a
/// remainder, otherwise in that of the first.
#[inline(always)]
fn first_sums<const DIGITS: usize>(p: &TensorParams) -> Sums {
    let mut sums = [[0; 4]; 4];
    sums[if DIGITS >= 3 { 1 } else { 0 }] = [p.start; 4];
    sums
}

/// Returns sum `i` over all digits, rounded half to even, and its fraction in units of 2^-32. If the fraction is at
/// most the parameters' `doubt`, the rounding is doubtful. Sums of fewer than three digits are exact.
#[inline(always)]
fn rounded<D: Device, const DIGITS: usize>(d: D, p: &TensorParams, sums: &Sums, i: usize) -> (i32, u32) {
    if DIGITS == 4 {
        let low = (sums[0][i] >> 8).wrapping_add(sums[1][i]);
        let high = sums[2][i].wrapping_add(sums[3][i] << 8);
        let parts = d.multiply_wide(low, p.up).wrapping_add(d.multiply_wide(high, p.up << 8));
        return ((parts >> 32) as i32, parts as u32);
    }
    if DIGITS == 3 {
        let sum = (sums[0][i] >> 8).wrapping_add(sums[1][i]).wrapping_add(sums[2][i] << 8);
        // One instruction for two shifts.
        let parts = d.multiply_wide(sum, p.up);
        return ((parts >> 32) as i32, parts as u32);
    }
    let sum = if DIGITS == 1 { sums[0][i] } else { sums[0][i].wrapping_add(sums[1][i] << 8) };
    // `start` adds just under a half to an exact sum; one unit more for an odd integer part rounds half to even.
    let odd = (sum.wrapping_sub(p.start) >> p.fraction) & p.odd as i32;
    (sum.wrapping_add(odd) >> p.fraction, u32::MAX)
}

/// Returns the quotient rounded down, without the panics of `div_euclid` for a divisor that is not constant.
#[inline(always)]
fn quotient(number: i32, divisor: i32) -> i32 {
    let down = number.checked_div(divisor).unwrap_or(0);
    if down * divisor > number {
        down - 1
    } else {
        down
    }
}

/// Stores one word per lane, at any address `to`, if `is_inside`. The words of four lanes are contiguous, and
/// `is_inside` is the same for the four: they store the aligned words between both ends, and at the ends one byte per
/// lane. All threads of the warp call this together.
#[inline(always)]
unsafe fn store_at_any<D: Device>(d: D, to: u64, word: u32, is_inside: bool) {
    let lane = d.thread_x() % WARP;
    let quarter = lane % 4;
    let before = to.wrapping_neg() as u32 % 4;
    let next = d.shuffle(word, (lane + 1) % WARP);
    // The first lane's bytes before the aligned words; the last lane's bytes after them.
    let is_before = quarter < before;
    let end = d.shuffle(word, lane - quarter + if is_before { 0 } else { 3 });
    if is_inside {
        // SAFETY: the four lanes' 16 bytes are in the output row; words are aligned, and each byte is stored once.
        unsafe {
            if before == 0 || quarter < 3 {
                d.store(Global::<u32>::at(to + before as u64), 0, from_bit(word, next, 8 * before));
            }
            if before != 0 {
                let byte = if is_before { quarter } else { 12 + quarter };
                let first = Global::<u8>::at(to - 4 * quarter as u64);
                d.store(first, byte as u64, (end >> (8 * quarter)) as u8);
            }
        }
    }
}

/// A block's tile of the image, at the start of shared memory.
struct Tile<'p, D, S> {
    d: D,
    p: &'p TensorParams,
    threads: u32,
    /// Pitch of the tile, in words.
    pitch: u32,
    /// Input column, in samples, of the first sample of the tile's rows.
    left: i32,
    /// Sample of the tile's rows under the first output's first tap.
    first: u32,
    samples: PhantomData<S>,
}

impl<'p, D: Device, S: Planes> Tile<'p, D, S> {
    /// The tile's words.
    const WORDS: Shared<u32> = Shared::at(0);
    /// Bits of a sample, and all of them set.
    const BITS: u32 = 32 / S::OF_WORD;
    const MASK: u32 = u32::MAX >> (32 - Self::BITS);

    /// Returns the tile, `pitch` words wide, of a block of `threads` threads whose outputs start at sample `strip` of
    /// their rows.
    #[inline(always)]
    fn new(d: D, p: &'p TensorParams, threads: u32, pitch: u32, strip: u32) -> Self {
        // The tile starts at a piece of the image's rows.
        let under = strip as i32 + p.whole.origin_x * p.whole.channels as i32;
        let first = under as u32 % S::OF_PIECE;
        Tile { d, p, threads, pitch, left: under - first as i32, first, samples: PhantomData }
    }

    /// Starts to fill `words` words of each of `rows` rows of the tile, the first from input row `top`, for `outputs`
    /// outputs per row; each lane copies `TIMES` pieces of a row. The rows are complete after a
    /// [`wait_copies`](Device::wait_copies) for all copies and a barrier.
    #[inline(always)]
    unsafe fn bring<const TIMES: usize>(&self, src: u64, [outputs, words]: [u32; 2], top: i32, rows: u32) {
        let (d, p) = (self.d, &self.p.whole);
        let (border, constant) = (BorderMode::from_u32(p.border), S::constant(p.constant));
        let samples = (p.width * p.channels) as i32;
        // In bytes: a division by a literal has no check.
        let size = S::PLANES as u32;
        let aligned = (p.row_stride * size).is_multiple_of(PIECE);
        // A piece that starts inside a word is read with one word more.
        let end = if aligned { samples } else { samples - S::OF_WORD as i32 };
        let map = |row: u32| border.map(top + row as i32, p.height as i32);
        // SAFETY: the caller's promise. Three loops, since a common one would execute the instructions of all three.
        unsafe {
            if aligned && top >= 0 && top as u32 + rows <= p.height {
                self.bring_pieces::<TIMES, true>(src, end, rows, |row| Some(top + row as i32));
            } else if aligned {
                self.bring_pieces::<TIMES, true>(src, end, rows, map);
            } else {
                self.bring_pieces::<TIMES, false>(src, end, rows, map);
            }
        }
        d.end_copies();
        // The words before and after these pieces, one per thread; words that no output needs are constants.
        let needed = self.first + outputs + (p.mask_width - 1) * p.channels;
        let before = if self.left < 0 { (-self.left as u32 * size).div_ceil(PIECE) * 4 } else { 0 };
        let before = if before < words { before } else { words };
        let behind = if end > self.left { (end - self.left) as u32 * size / PIECE * 4 } else { 0 };
        let behind = if behind > before { behind } else { before };
        let count = before + words.saturating_sub(behind);
        let mut n = d.thread_x();
        while n < rows * count {
            let row = n.checked_div(count).unwrap_or(0);
            let word = n - row * count;
            let word = if word < before { word } else { word - before + behind };
            if let Some(from) = map(row) {
                let start = from as u32 as u64 * p.row_stride as u64;
                let mut bits = constant;
                // SAFETY: row and word are in the tile, and written by one thread; samples are mapped into the image.
                unsafe {
                    let sample = S::OF_WORD * word;
                    if sample < needed {
                        bits = self.map(src, start, self.left + sample as i32, border, constant);
                    }
                    d.shared_store(Self::WORDS, row * self.pitch + word, bits);
                }
            }
            n += self.threads;
        }
    }

    /// Starts to copy the pieces of `rows` rows that are inside the image's rows, up to column `end`; one warp per row.
    #[inline(always)]
    unsafe fn bring_pieces<const TIMES: usize, const ALIGNED: bool>(
        &self,
        src: u64,
        end: i32,
        rows: u32,
        map: impl Fn(u32) -> Option<i32>,
    ) {
        let (d, lane) = (self.d, self.d.thread_x() % WARP);
        let constant = S::constant(self.p.whole.constant);
        let mut inside = [false; TIMES];
        for k in 0..TIMES {
            let word = 4 * (lane + k as u32 * WARP);
            let column = self.left + (S::OF_WORD * word) as i32;
            inside[k] = word < self.pitch && column >= 0 && column + S::OF_PIECE as i32 <= end;
        }
        let first = src.wrapping_add_signed(self.left as i64 * S::PLANES as i64 + (PIECE * lane) as i64);
        let mut row = d.thread_x() / WARP;
        while row < rows {
            let (to, mapped) = (row * self.pitch + 4 * lane, map(row));
            let stride = self.p.whole.row_stride as u64 * S::PLANES as u64;
            let at = first + mapped.map_or(0, |from| from as u32 as u64 * stride);
            for k in 0..TIMES {
                let (to, at) = (to + 4 * WARP * k as u32, at + (PIECE * WARP) as u64 * k as u64);
                // SAFETY: pieces are inside an image row and a row of the tile; one thread writes each word.
                unsafe {
                    if mapped.is_none() {
                        if 4 * (lane + k as u32 * WARP) < self.pitch {
                            d.shared_store4(Self::WORDS, to, [constant; 4]);
                        }
                    } else if !inside[k] {
                        // `bring` fills these words by the border map.
                    } else if ALIGNED {
                        d.start_copy4(Self::WORDS, to, Global::<u32>::at(at), 0);
                    } else {
                        // The five words that hold the piece, shifted to four.
                        let mut held = [0; 5];
                        for k in 0..5 {
                            held[k] = d.load(Global::<u32>::at(at & !3), k as u64);
                        }
                        let bit = at as u32 % 4 * 8;
                        let shifted = |k: usize| from_bit(held[k], held[k + 1], bit);
                        d.shared_store4(Self::WORDS, to, [shifted(0), shifted(1), shifted(2), shifted(3)]);
                    }
                }
            }
            row += self.threads / WARP;
        }
    }

    /// Returns a word with the samples from `column` on, which may be outside, of the image row that begins at sample
    /// `start`.
    #[inline(always)]
    unsafe fn map(&self, src: u64, start: u64, column: i32, border: BorderMode, constant: u32) -> u32 {
        let p = &self.p.whole;
        let (channels, mut word, mut k) = (p.channels as i32, 0, 0);
        // Not unrolled, since the code is long.
        while k < S::OF_WORD as i32 {
            let at = column + k;
            let mut inside = Some(at);
            if at < 0 || at >= p.width as i32 * channels {
                let pixel = quotient(at, channels);
                inside = border.map(pixel, p.width as i32).map(|mapped| mapped * channels + at - pixel * channels);
            }
            let sample = match inside {
                // SAFETY: the column is inside the row, or mapped into it.
                Some(at) => unsafe { S::load_bits(self.d, src, start + at as u32 as u64) },
                None => constant & Self::MASK,
            };
            word |= sample << (Self::BITS as i32 * k);
            k += 1;
        }
        word
    }

    /// Copies `rows` rows of digits to `to`, `words` words each, from tap `first` of the launch on; a row of `pitch`
    /// words has zeros before and after its digits.
    #[inline(always)]
    unsafe fn bring_digits(&self, to: Shared<u32>, first: u32, rows: u32, [words, pitch]: [u32; 2]) {
        let mut n = self.d.thread_x();
        while n < rows * pitch {
            let (row, word) = (n / pitch, (n % pitch).wrapping_sub(TENSOR_ZEROS));
            // SAFETY: the launch's taps include the digits; shared memory has `rows * pitch` words, each of one thread.
            unsafe {
                let digits = if word < words { self.d.tap(first + row * words + word).to_bits() } else { 0 };
                self.d.shared_store(to, n, digits);
            }
            n += self.threads;
        }
    }

    /// Returns a word of the tile.
    #[inline(always)]
    unsafe fn word(&self, row: u32, word: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.d.shared_load(Self::WORDS, row * self.pitch + word) }
    }

    /// Returns the bytes of samples `4 * four` to `4 * four + 3` of a row, one word per plane.
    #[inline(always)]
    unsafe fn bytes(&self, row: u32, four: u32) -> [u32; 2] {
        // SAFETY: the caller's promise; for two planes the index is even.
        unsafe { S::bytes(self.d, Self::WORDS, row * self.pitch + four * S::PLANES as u32) }
    }

    /// Replaces a lane's doubtful outputs. Bit `n` of `doubtful` is output `n` in the lane's `words`; `place` returns
    /// the output's column and row in the block, for a lane and a bit, and `sum` computes the output there. All threads
    /// of the warp call this together.
    #[inline(always)]
    unsafe fn settle<const N: usize>(
        &self,
        words: &mut [u32; N],
        mut doubtful: u32,
        place: impl Fn(u32, u32) -> (u32, u32),
        sum: impl Fn(u32, u32) -> u32,
    ) {
        let (d, lane) = (self.d, self.d.thread_x() % WARP);
        let mut lanes = d.ballot(doubtful != 0);
        while lanes != 0 {
            let from = lanes.trailing_zeros();
            let bit = d.shuffle(doubtful, from).trailing_zeros();
            let (x, y) = place(from, bit);
            let sum = sum(x, y);
            if lane == from {
                let at = bit % S::OF_WORD * Self::BITS;
                // Constant indices, so that the words stay in registers.
                for k in 0..N {
                    if bit / S::OF_WORD == k as u32 {
                        words[k] = words[k] & !(Self::MASK << at) | sum << at;
                    }
                }
                doubtful &= doubtful - 1;
            }
            lanes = d.ballot(doubtful != 0);
        }
    }

    /// Returns an output of the block, summed by the whole warp in f64. Products are exact; if additions may round,
    /// they are in the order of the taps.
    #[inline(always)]
    unsafe fn sum_exactly(&self, x: u32, y: u32) -> u32 {
        let (d, p, lane) = (self.d, &self.p.whole, self.d.thread_x() % WARP);
        let (mut sum, mut first, taps) = (0.0, 0, p.mask_width * p.mask_height);
        while first < taps {
            // A product per lane.
            let tap = if first + lane < taps { first + lane } else { taps - 1 };
            let row = tap.checked_div(p.mask_width).unwrap_or(0);
            let column = tap - row * p.mask_width;
            let at = self.first + x + column * p.channels;
            // SAFETY: the tap is in the mask, and the sample under it in the tile.
            let product = unsafe {
                let sample = self.word(y + row, at / S::OF_WORD) >> (at % S::OF_WORD * Self::BITS) & Self::MASK;
                d.tap(tap) as f64 * sample as f64
            };
            let count = if taps - first < WARP { taps - first } else { WARP };
            if self.p.ordered == 0 {
                sum += if lane < count { product } else { 0.0 };
            } else {
                for k in 0..count {
                    sum += d.shuffle_f64(product, k);
                }
            }
            first += WARP;
        }
        let mut apart = if self.p.ordered == 0 { WARP / 2 } else { 0 };
        while apart > 0 {
            sum += d.shuffle_f64(sum, lane ^ apart);
            apart /= 2;
        }
        (sum.clamp(0.0, S::MOST) + ROUNDER).to_bits() as u32
    }
}
