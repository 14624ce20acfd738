//! A dense mask over bytes by products of integer matrices, on tensor cores: all sums are exact.
//!
//! A tap is `DIGITS` signed digits to the base 256 of `tap * 2^q`. One matrix has 32 bytes of a row of the image in each of its rows,
//! for 16 windows 16 samples apart; the other one digit of a row of the mask in each of its columns, a sample further in each. Their
//! product adds what this row of the mask contributes to 8 outputs of each window. Interleaved channels are taps with zeros between
//! them.
//!
//! ```text
//! copy the tile; copy the digits of the taps; barrier
//! arrange the digits as the matrix products want them; barrier
//! for each group of ROWS output rows of the warp:
//!     for each row of the mask: ROWS * PAIRS * DIGITS * 2 products
//!     round the sums
//!     sum again, in f64, those that may be on either side of a half
//!     store them as words
//! ```
//!
//! Three digits leave a rest of the tap, so a sum is known within the bounds that the plan computes, and the few outputs that these
//! do not decide are summed again by their warp. Taps of up to 16 bits need one or two digits, and have no rest.

use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Doubles, Place, Samples, WARP};
use crate::Body;
use apron_abi::{
    tensor_block, tensor_digit_words, tensor_pitch, BorderMode, TensorParams, TENSOR_COLUMNS, TENSOR_ROWS,
};

/// Output rows that a warp sums at a time, with one read of the digits.
const ROWS: usize = TENSOR_ROWS as usize;
/// The number whose addition to a smaller one leaves the latter, rounded half to even, in the lowest bits.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// The kernel for masks whose rows, with the samples beside them, fit `PAIRS` times 32 bytes.
///
/// Launch contract: the buffers are as large as the parameters say and start at multiples of 16 bytes, the shared memory is
/// [`apron_abi::SharedMemory::Tensor`], and the taps are followed by their digits as the plan arranges them, rows
/// [`tensor_digit_words`] words apart.
pub struct Tensor<const PAIRS: usize, const DIGITS: usize>;

/// A lane's sums: by output row, half of a window's four outputs, and digit, those of two outputs of two windows.
type Sums<const DIGITS: usize> = [[[[i32; 4]; DIGITS]; 2]; ROWS];

impl<const PAIRS: usize, const DIGITS: usize> Body for Tensor<PAIRS, DIGITS> {
    type Src = u8;
    type Dst = u8;
    type Params = TensorParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &TensorParams) {
        let (strip, top) = (d.block_x() * TENSOR_COLUMNS, d.block_y() * p.rows);
        let whole = &p.whole;
        // A grid may have more rows of blocks than its launch needs.
        if top >= whole.out_height {
            return;
        }
        let (pitch, threads) = (tensor_pitch(PAIRS as u32), tensor_block(PAIRS as u32));
        // The tile starts at a piece of the image's rows.
        let under = strip as i32 + whole.origin_x * whole.channels as i32;
        let first = under as u32 % PIECE;
        let rows = p.rows + whole.mask_height - 1;
        let fragments = Shared::at(pitch * rows * 4);
        let count = whole.mask_height * DIGITS as u32;
        let digits = Shared::at(pitch * rows * 4 + count * PAIRS as u32 * FRAGMENT * 4);
        let block = Block { d, p, threads, pitch, left: under - first as i32, first, fragments, digits };
        // SAFETY: the launch keeps the contract; barriers separate writing shared memory from reading it.
        unsafe {
            let left = whole.out_height - top;
            let needed = if left < p.rows { rows - (p.rows - left) / TENSOR_ROWS * TENSOR_ROWS } else { rows };
            block.bring(src.address, strip, top as i32 + whole.origin_y, needed);
            block.bring_digits::<PAIRS>(count);
            d.barrier();
            block.arrange::<PAIRS>(count);
            d.barrier();
            let mut row = d.thread_x() / WARP * TENSOR_ROWS;
            while row < p.rows && top + row < whole.out_height {
                let sums = block.sum::<PAIRS, DIGITS>(row);
                block.finish(dst.address, (strip, top), row, &sums);
                row += threads / WARP * TENSOR_ROWS;
            }
        }
    }
}

/// Returns the quotient rounded down, without the check that `div_euclid` makes of divisors that are not constant.
#[inline(always)]
fn quotient(number: i32, divisor: i32) -> i32 {
    let down = number.checked_div(divisor).unwrap_or(0);
    if down * divisor > number {
        down - 1
    } else {
        down
    }
}

/// Returns a lane's sum of output `i` of one of its two windows: of all digits, without the lowest 8 bits where there are three.
#[inline(always)]
fn joined<const DIGITS: usize>(sums: &[[[i32; 4]; DIGITS]; 2], window: usize, i: usize) -> i32 {
    let digit = |digit: usize| sums[i / 2][digit][2 * window + i % 2];
    match DIGITS {
        1 => digit(0),
        2 => digit(0).wrapping_add(digit(1) << 8),
        _ => (digit(0) >> 8).wrapping_add(digit(1)).wrapping_add(digit(2) << 8),
    }
}

/// Bytes of a row that a thread copies at a time.
const PIECE: u32 = 16;

/// Words of one digit of a row of the mask, for 32 bytes of the image: four per lane.
const FRAGMENT: u32 = 4 * WARP;

/// What the threads of a block share.
struct Block<'p, D> {
    d: D,
    p: &'p TensorParams,
    threads: u32,
    /// Pitch of the tile, in words.
    pitch: u32,
    /// Input column, in samples, of the first byte of the tile's rows.
    left: i32,
    /// Byte of the tile's rows at which the first window starts.
    first: u32,
    /// The digits as the products want them.
    fragments: Shared<u32>,
    /// The digits as they come, a row after the other.
    digits: Shared<u32>,
}

/// A warp's sums while it goes down the rows of the mask.
struct Steps<'b, 'p, D, const PAIRS: usize, const DIGITS: usize> {
    block: &'b Block<'p, D>,
    /// First output row, in the block.
    first: u32,
    /// Row of the mask.
    of_mask: u32,
    /// The samples under this row, by output row; the place of the first output row moves on by one with each row of the mask.
    under: [[[u32; 4]; PAIRS]; ROWS],
    sums: Sums<DIGITS>,
}

impl<D: Device, const PAIRS: usize, const DIGITS: usize> Steps<'_, '_, D, PAIRS, DIGITS> {
    /// Adds a row of the mask; the samples of the first output row are in place `OLDEST`. Returns whether another row follows.
    #[inline(always)]
    unsafe fn add<const OLDEST: usize>(&mut self) -> bool {
        let (block, d, lane) = (self.block, self.block.d, self.block.d.thread_x() % WARP);
        let follows = self.of_mask + 1 < block.p.whole.mask_height;
        let mut next = self.under[OLDEST];
        if follows {
            // SAFETY: in the tile.
            next = unsafe { block.samples(self.first + self.of_mask + ROWS as u32) };
        }
        for pair in 0..PAIRS {
            for digit in 0..DIGITS {
                let at = (self.of_mask * DIGITS as u32 + digit as u32) * PAIRS as u32 + pair as u32;
                // SAFETY: in the fragments.
                let words = unsafe { d.shared_load4(block.fragments, at * FRAGMENT + 4 * lane) };
                for k in 0..ROWS {
                    let samples = self.under[(OLDEST + k) % ROWS][pair];
                    let of = &mut self.sums[k];
                    of[0][digit] = d.multiply_bytes(samples, [words[0], words[1]], of[0][digit]);
                    of[1][digit] = d.multiply_bytes(samples, [words[2], words[3]], of[1][digit]);
                }
            }
        }
        self.under[OLDEST] = next;
        self.of_mask += 1;
        follows
    }
}

impl<D: Device> Block<'_, D> {
    /// The tile's words.
    const TILE: Shared<u32> = Shared::at(0);

    /// Fills `rows` rows of the tile, the first from the input's row `top`, for the outputs from sample `strip` on; a warp per row.
    #[inline(always)]
    unsafe fn bring(&self, src: u64, strip: u32, top: i32, rows: u32) {
        let (d, p, lane) = (self.d, &self.p.whole, self.d.thread_x() % WARP);
        let (border, constant) = (BorderMode::from_u32(p.border), Doubles::<u8>::constant(p.constant));
        let samples = (p.width * p.channels) as i32;
        let bytes = (p.height - 1) as u64 * p.row_stride as u64 + samples as u64;
        let words = Global::<u32>::at(src);
        let aligned = p.row_stride.is_multiple_of(PIECE);
        // Columns of the tile that an output needs.
        let outputs = p.out_width * p.channels - strip;
        let outputs = if outputs < TENSOR_COLUMNS { outputs } else { TENSOR_COLUMNS };
        let needed = self.first + outputs + (p.mask_width - 1) * p.channels;
        // The lane's piece, and whether it is in the image's rows.
        let column = self.left + (lane * PIECE) as i32;
        let copies = 4 * lane < self.pitch && column >= 0 && column + PIECE as i32 <= samples;
        // Words of a row before and from the last whole piece on.
        let before = if self.left < 0 { (-self.left as u32).div_ceil(PIECE) * 4 } else { 0 };
        let behind = if samples > self.left { (samples - self.left) as u32 / PIECE * 4 } else { 0 };
        let mut row = d.thread_x() / WARP;
        while row < rows {
            let to = row * self.pitch;
            // SAFETY: in the image, and in the tile; one thread writes each word.
            unsafe {
                if let Some(from) = border.map(top + row as i32, p.height as i32) {
                    let start = from as u32 as u64 * p.row_stride as u64;
                    if copies {
                        let at = (start as i64 + column as i64) as u64;
                        if aligned {
                            d.start_copy4(Self::TILE, to + 4 * lane, words, at / 4);
                        } else if at + PIECE as u64 + 4 <= bytes {
                            // The words that hold the piece, shifted.
                            let mut held = [0; 5];
                            for k in 0..5 {
                                held[k as usize] = d.load(words, at / 4 + k);
                            }
                            let bit = at as u32 % 4 * 8;
                            let shifted = |k: usize| from_bit(held[k], held[k + 1], bit);
                            d.shared_store4(
                                Self::TILE,
                                to + 4 * lane,
                                [shifted(0), shifted(1), shifted(2), shifted(3)],
                            );
                        }
                    }
                    // Words beside the image, and the last piece of a buffer, behind which no word may be read.
                    let last = !aligned && start + (self.left as i64 + 4 * behind as i64 + 4) as u64 > bytes;
                    let behind = if last && behind >= before + 4 { behind - 4 } else { behind };
                    let (before, behind) = (
                        if before < self.pitch { before } else { self.pitch },
                        if behind < self.pitch { behind } else { self.pitch },
                    );
                    let mut n = lane;
                    while n < before + self.pitch - behind {
                        let word = if n < before { n } else { n - before + behind };
                        let mut bits = constant;
                        if 4 * word < needed {
                            bits = self.map(src, start, self.left + 4 * word as i32, border, constant);
                        }
                        d.shared_store(Self::TILE, to + word, bits);
                        n += WARP;
                    }
                } else if 4 * lane < self.pitch {
                    d.shared_store4(Self::TILE, to + 4 * lane, [constant; 4]);
                }
            }
            row += self.threads / WARP;
        }
        d.end_copies();
        d.wait_copies::<0>();
    }

    /// Returns the word of the samples from `column` on of the row that begins at sample `start`; they may be outside the image.
    #[inline(always)]
    unsafe fn map(&self, src: u64, start: u64, column: i32, border: BorderMode, constant: u32) -> u32 {
        let p = &self.p.whole;
        let (channels, mut word, mut k) = (p.channels as i32, 0, 0);
        // A loop, so that its code is there once.
        while k < 4 {
            let at = column + k;
            let mut inside = Some(at);
            if at < 0 || at >= p.width as i32 * channels {
                let pixel = quotient(at, channels);
                inside = border.map(pixel, p.width as i32).map(|mapped| mapped * channels + at - pixel * channels);
            }
            let sample = match inside {
                // SAFETY: in the image.
                Some(at) => unsafe { Doubles::<u8>::load_bits(self.d, src, start + at as u32 as u64) },
                None => constant & 0xff,
            };
            word |= sample << (8 * k);
            k += 1;
        }
        word
    }

    /// Copies the words of `count` rows of digits.
    #[inline(always)]
    unsafe fn bring_digits<const PAIRS: usize>(&self, count: u32) {
        let mut word = self.d.thread_x();
        let first = self.p.whole.mask_width * self.p.whole.mask_height;
        while word < count * tensor_digit_words(PAIRS as u32) {
            // SAFETY: the launch has these words; one thread writes each.
            unsafe { self.d.shared_store(self.digits, word, self.d.tap(first + word).to_bits()) };
            word += self.threads;
        }
    }

    /// Arranges `count` rows of digits: each lane of a product reads its words at once.
    ///
    /// Column n of the matrix is for output 4 * (n / 2) + n % 2 of each window, and two more in the second product, so that a lane's
    /// four sums of a window are adjacent. In row k of this column is the digit of the tap that is k samples right of the output's
    /// first.
    #[inline(always)]
    unsafe fn arrange<const PAIRS: usize>(&self, count: u32) {
        let (d, lane) = (self.d, self.d.thread_x() % WARP);
        let (column, quarter) = (lane / 4, lane % 4);
        let mut at = d.thread_x() / WARP;
        while at < count * PAIRS as u32 {
            let (row, pair) = (at / PAIRS as u32, at % PAIRS as u32);
            // The digits begin 16 bytes before the first tap.
            let first = row * tensor_digit_words(PAIRS as u32) + 4 + 8 * pair + quarter - column / 2;
            let mut words = [0; 4];
            for half in 0..2 {
                // SAFETY: in the row of digits.
                let [before, word] =
                    [first + 4 * half - 1, first + 4 * half].map(|at| unsafe { d.shared_load(self.digits, at) });
                for second in 0..2 {
                    let samples = column % 2 + 2 * second;
                    words[(2 * second + half) as usize] = from_bit(before, word, 32 - 8 * samples);
                }
            }
            // SAFETY: in the fragments; one thread writes each.
            unsafe { d.shared_store4(self.fragments, at * FRAGMENT + 4 * lane, words) };
            at += self.threads / WARP;
        }
    }

    /// Returns the words of a row of the tile that a lane of a product has.
    #[inline(always)]
    unsafe fn samples<const PAIRS: usize>(&self, row: u32) -> [[u32; 4]; PAIRS] {
        let at = row * self.pitch + self.first / 4 + self.d.thread_x() % WARP;
        let mut words = [[0; 4]; PAIRS];
        for pair in 0..PAIRS {
            for k in 0..4 {
                // Windows 8 further, then the second 16 bytes of both.
                let at = at + 8 * pair as u32 + 32 * (k as u32 % 2) + 4 * (k as u32 / 2);
                // SAFETY: in the tile.
                words[pair][k] = unsafe { self.d.shared_load(Self::TILE, at) };
            }
        }
        words
    }

    /// Returns the sums of the output rows from `row` on.
    #[inline(always)]
    unsafe fn sum<const PAIRS: usize, const DIGITS: usize>(&self, row: u32) -> Sums<DIGITS> {
        let mut sums = [[[[0; 4]; DIGITS]; 2]; ROWS];
        // In units of the middle one of three digits.
        let of_start = if DIGITS == 3 { 1 } else { 0 };
        for row in &mut sums {
            for half in row {
                half[of_start] = [self.p.start; 4];
            }
        }
        // Of each output row the samples under the current row of the mask.
        let mut under = [[[0; 4]; PAIRS]; ROWS];
        for k in 0..ROWS {
            // SAFETY: in the tile, as below.
            under[k] = unsafe { self.samples(row + k as u32) };
        }
        let mut steps = Steps { block: self, first: row, of_mask: 0, under, sums };
        // SAFETY: the tile has all rows under the outputs.
        unsafe {
            // Each row of the tile takes the place of the one that no output needs any more: four copies of a step, whose
            // registers have constant numbers.
            while steps.add::<0>() && steps.add::<1>() && steps.add::<2>() && steps.add::<3>() {}
        }
        steps.sums
    }

    /// Rounds the sums of the output rows from `row` of the block on, and stores them.
    #[inline(always)]
    unsafe fn finish<const DIGITS: usize>(&self, dst: u64, (strip, top): (u32, u32), row: u32, sums: &Sums<DIGITS>) {
        let (d, p, lane) = (self.d, self.p, self.d.thread_x() % WARP);
        let samples = p.whole.out_width * p.whole.channels;
        let x = strip + 4 * lane;
        let of_words = samples.is_multiple_of(4);
        let (mut words, mut lowest) = ([[0; 2]; ROWS], u32::MAX);
        for k in 0..ROWS {
            for window in 0..2 {
                let mut outputs = [0; 4];
                for i in 0..4 {
                    let sum = joined(&sums[k], window, i);
                    // A sum that is exact gets just under a half, and one unit where its integer part is odd.
                    let odd = if DIGITS < 3 { (sum.wrapping_sub(p.start) >> p.fraction) & p.odd as i32 } else { 0 };
                    outputs[i] = sum.wrapping_add(odd) >> p.fraction;
                    if DIGITS == 3 {
                        let fraction = (sum as u32) << (32 - p.fraction);
                        lowest = if fraction < lowest { fraction } else { lowest };
                    }
                }
                words[k][window] = d.word_of_bytes(outputs);
            }
        }
        if DIGITS == 3 && d.ballot(lowest <= p.doubt) != 0 {
            // One bit per output that is summed again: of row k and window w from bit 8 * k + 4 * w on.
            let mut doubtful = 0;
            for bit in 0..8 * ROWS {
                let (k, window, i) = (bit / 8, bit / 4 % 2, bit % 4);
                let fraction = (joined(&sums[k], window, i) as u32) << (32 - p.fraction);
                let inside = x + TENSOR_COLUMNS / 2 * window as u32 + (i as u32) < samples;
                let inside = inside && top + row + (k as u32) < p.whole.out_height;
                doubtful |= u32::from(fraction <= p.doubt && inside) << bit;
            }
            let mut lanes = d.ballot(doubtful != 0);
            while lanes != 0 {
                let from = lanes.trailing_zeros();
                let bit = d.shuffle(doubtful, from).trailing_zeros();
                let x = 4 * from + bit % 4 + TENSOR_COLUMNS / 2 * (bit / 4 % 2);
                // SAFETY: in the tile, and the whole warp is here.
                let sum = unsafe { self.sum_exactly(x, row + bit / 8) };
                if lane == from {
                    let place = bit % 4 * 8;
                    for k in 0..ROWS {
                        for window in 0..2 {
                            if bit / 4 == 2 * k as u32 + window as u32 {
                                words[k][window] = words[k][window] & !(0xff << place) | sum << place;
                            }
                        }
                    }
                    doubtful &= doubtful - 1;
                }
                lanes = d.ballot(doubtful != 0);
            }
        }
        let (mut to, mut y) = (dst + (top + row) as u64 * samples as u64, top + row);
        let end = if p.whole.out_height - y < TENSOR_ROWS { p.whole.out_height } else { y + TENSOR_ROWS };
        // A loop, since the code for rows that start inside words is long.
        while y < end {
            for window in 0..2 {
                let x = x + TENSOR_COLUMNS / 2 * window as u32;
                // SAFETY: the place is correct, and the whole warp is here.
                unsafe {
                    if !of_words {
                        let place = Place { row: to, first: x as i32, samples: samples as i32, whole: false };
                        place.store_aligned::<D, Doubles<u8>>(d, 1, 1, [words[0][window], 0, 0, 0]);
                    } else if x < samples {
                        d.store(Global::<u32>::at(to + x as u64), 0, words[0][window]);
                    }
                }
            }
            for k in 1..ROWS {
                words[k - 1] = words[k];
            }
            (to, y) = (to + samples as u64, y + 1);
        }
    }

    /// Returns an output of the block, summed by the whole warp in f64, which the plan has found to be exact.
    #[inline(always)]
    unsafe fn sum_exactly(&self, x: u32, y: u32) -> u32 {
        let (d, p, lane) = (self.d, &self.p.whole, self.d.thread_x() % WARP);
        let mut sum = 0.0;
        let mut tap = lane;
        while tap < p.mask_width * p.mask_height {
            let row = tap.checked_div(p.mask_width).unwrap_or(0);
            let column = tap - row * p.mask_width;
            let byte = self.first + x + column * p.channels;
            // SAFETY: in the tile, and in the mask.
            unsafe {
                let word: u32 = d.shared_load(Self::TILE, (y + row) * self.pitch + byte / 4);
                let sample = word >> (byte % 4 * 8) & 0xff;
                sum = d.fma(d.tap(tap) as f64, sample as f64, sum);
            }
            tap += WARP;
        }
        let mut apart = WARP / 2;
        while apart > 0 {
            sum += d.shuffle_f64(sum, lane ^ apart);
            apart /= 2;
        }
        (sum.clamp(0.0, 255.0) + ROUNDER).to_bits() as u32
    }
}
