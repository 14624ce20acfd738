//! Windows of 16 samples of two rows, for masks of up to nine rows of up to nine samples.
//!
//! Each row of one matrix has 16 bytes of each of two image rows, for 16 windows 8 samples apart; the other matrix has
//! one digit of two rows of the mask. Two rows of u16 are two such matrices. The windows of even output rows start at
//! the first of two image rows, those of odd ones at the second, with a copy of the digits that is shifted down by one
//! row. So a lane reads each row of the tile once, while its warp marches down the tile.
//!
//! ```text
//! start to copy the tile; copy the digits of the taps; barrier
//! arrange the digits as fragments of the products; wait for the tile; barrier
//! for bytes: read the lane's fragments into registers; for u16 they are read from shared memory for each product
//! for each two output rows of the block:
//!     2 * PAIRS products per plane and digit, without the lower of two planes by the lowest digit
//!     round the sums
//!     sum again, in f64, those whose rounding is doubtful
//!     store them, two samples per window
//! ```

use super::{first_sums, rounded, Planes, Sums, Tile};
use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, WARP};
use crate::Body;
use apron_abi::{
    tensor_digit_words, tensor_pairs_pitch, tensor_pairs_words, Element, TensorParams, TENSOR_PAIRS_BLOCK,
    TENSOR_PAIRS_COLUMNS, TENSOR_PAIRS_TAP_WORDS, TENSOR_WARP_COLUMNS,
};

/// The kernel for masks of up to `2 * PAIRS - 1` rows, where a window of 16 samples, which starts at a multiple of
/// four, covers the samples under a row of the mask for 8 outputs.
///
/// Launch contract: as for [`Rows`](super::Rows), with the shared memory [`apron_abi::SharedMemory::TensorPairs`],
/// [`TENSOR_PAIRS_TAP_WORDS`] words of each digit per row, and an even number of rows per block.
pub struct Pairs<S, const PAIRS: usize, const DIGITS: usize>(S);

impl<S: Planes, const PAIRS: usize, const DIGITS: usize> Body for Pairs<S, PAIRS, DIGITS> {
    type Src = S::Element;
    type Dst = S::Element;
    type Params = TensorParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &TensorParams) {
        let (strip, top) = (d.block_x() * TENSOR_PAIRS_COLUMNS, d.block_y() * p.rows);
        let whole = &p.whole;
        // A grid may have more rows of blocks than its launch needs.
        if top >= whole.out_height {
            return;
        }
        let left = whole.out_height - top;
        let rows = if left < p.rows { left } else { p.rows };
        let samples = whole.out_width * whole.channels;
        let outputs = if samples - strip < TENSOR_PAIRS_COLUMNS { samples - strip } else { TENSOR_PAIRS_COLUMNS };
        let pitch = const { tensor_pairs_pitch(S::Element::TYPE) };
        let tile = Tile::<D, S>::new(d, p, TENSOR_PAIRS_BLOCK, pitch, strip);
        let fragments = Shared::at(pitch * (p.rows + 2 * PAIRS as u32 - 2) * 4);
        let digits = Shared::at(fragments.offset + tensor_pairs_words(PAIRS as u32, DIGITS as u32) * 4);
        // SAFETY: the launch keeps the contract; barriers separate writing shared memory from reading it.
        unsafe {
            let needed = rows.next_multiple_of(2) + 2 * PAIRS as u32 - 2;
            // The words that the lanes of warps with outputs read.
            let fours = (tile.first + outputs.next_multiple_of(TENSOR_WARP_COLUMNS)) / 4 + 2;
            let (words, origin) = ([outputs, fours * S::PLANES as u32], top as i32 + whole.origin_y);
            if S::PLANES > 1 {
                tile.bring::<3>(src.address, words, origin, needed);
            } else {
                tile.bring::<2>(src.address, words, origin, needed);
            }
            let count = whole.mask_height * DIGITS as u32;
            tile.bring_digits(
                digits,
                whole.mask_width * whole.mask_height,
                count,
                [TENSOR_PAIRS_TAP_WORDS, tensor_digit_words(1)],
            );
            d.barrier();
            arrange::<D, PAIRS, DIGITS>(d, digits, whole.mask_height, fragments);
            d.wait_copies::<0>();
            d.barrier();
            let of_warp = d.thread_x() / WARP * TENSOR_WARP_COLUMNS;
            if of_warp >= outputs {
                return;
            }
            // The lane has two outputs of two windows.
            let x = of_warp + d.thread_x() % WARP / 4 * 8 + d.thread_x() % 4 * 2;
            let to = dst.address + (top as u64 * samples as u64 + (strip + x) as u64) * S::PLANES as u64;
            let is_whole = samples.is_multiple_of(2) && of_warp + TENSOR_WARP_COLUMNS <= outputs;
            let digits =
                if S::PLANES == 1 { read::<D, PAIRS, DIGITS>(d, fragments) } else { [[[[0; 2]; DIGITS]; PAIRS]; 2] };
            let under = [[[0; 4]; 2]; PAIRS];
            let mut stored = 0;
            for bit in 0..8 {
                stored |= u32::from(x + TENSOR_WARP_COLUMNS / 2 * (bit / 4) + bit % 2 < outputs) << bit;
            }
            let mut steps =
                Steps { tile, fragments, of_warp, samples, row: 0, rows, digits, under, to, is_whole, stored };
            for k in 0..PAIRS {
                steps.under[k] = steps.samples(2 * k as u32);
            }
            // Two rows of the tile replace the two that no output needs any more: one copy of the step per place, so
            // that the register indices are constant.
            while steps.add::<0>()
                && (PAIRS < 2 || steps.add::<1>())
                && (PAIRS < 3 || steps.add::<2>())
                && (PAIRS < 4 || steps.add::<3>())
                && (PAIRS < 5 || steps.add::<4>())
            {}
        }
    }
}

/// A lane's fragments of the digits: for even and odd output rows, by pair of rows and digit.
type Digits<const PAIRS: usize, const DIGITS: usize> = [[[[u32; 2]; DIGITS]; PAIRS]; 2];

/// Words of the fragments of one digit of two rows of the mask: two per lane.
const FRAGMENT: u32 = 2 * WARP;

/// Arranges the digits of a mask of `height` rows as fragments: row `k` of column `n` of the matrix has the digit of
/// the tap over sample `k` of the window, for output `n`. A lane's words are adjacent. The fragments of odd output rows
/// are separate, shifted down by one row, since a product takes two adjacent registers.
#[inline(always)]
unsafe fn arrange<D: Device, const PAIRS: usize, const DIGITS: usize>(
    d: D,
    digits: Shared<u32>,
    height: u32,
    fragments: Shared<u32>,
) {
    let lane = d.thread_x() % WARP;
    let (column, quarter) = (lane / 4, lane % 4);
    // The digits begin 16 bytes before the first tap.
    let byte = 16 + 4 * quarter - column;
    let mut at = d.thread_x() / WARP;
    while at < 2 * PAIRS as u32 * DIGITS as u32 {
        let (pair, digit) = (at / DIGITS as u32, at % DIGITS as u32);
        // The row of zeros before the first one is row -1, which wraps.
        let first = (2 * (pair % PAIRS as u32)).wrapping_sub(pair / PAIRS as u32);
        for k in 0..2 {
            let row = first.wrapping_add(k);
            // SAFETY: in the row of digits, and in the fragments; one thread writes each word.
            unsafe {
                let mut word = 0;
                if row < height {
                    let at = (row * DIGITS as u32 + digit) * tensor_digit_words(1) + byte / 4;
                    let [before, behind] = [at, at + 1].map(|at| d.shared_load(digits, at));
                    word = from_bit(before, behind, byte % 4 * 8);
                }
                d.shared_store(fragments, at * FRAGMENT + 2 * lane + k, word);
            }
        }
        at += TENSOR_PAIRS_BLOCK / WARP;
    }
}

/// Reads a lane's digits.
#[inline(always)]
unsafe fn read<D: Device, const PAIRS: usize, const DIGITS: usize>(d: D, from: Shared<u32>) -> Digits<PAIRS, DIGITS> {
    let mut digits = [[[[0; 2]; DIGITS]; PAIRS]; 2];
    for odd in 0..2 {
        for pair in 0..PAIRS {
            for digit in 0..DIGITS {
                // SAFETY: the fragments of all digits are in shared memory since the barrier.
                digits[odd][pair][digit] = unsafe { read_one(d, from, (odd * PAIRS + pair) * DIGITS + digit) };
            }
        }
    }
    digits
}

/// Reads a lane's digits for product `at`.
#[inline(always)]
unsafe fn read_one<D: Device>(d: D, from: Shared<u32>, at: usize) -> [u32; 2] {
    // SAFETY: the caller's promise.
    unsafe { d.shared_load2(from, at as u32 * FRAGMENT + 2 * (d.thread_x() % WARP)) }
}

/// A warp that goes down its columns of the tile.
struct Steps<'p, D, S, const PAIRS: usize, const DIGITS: usize> {
    tile: Tile<'p, D, S>,
    /// The fragments of the digits, in shared memory.
    fragments: Shared<u32>,
    /// First output of the warp in the block; outputs per row of the image.
    of_warp: u32,
    samples: u32,
    /// Output row in the block, and the block's number of output rows.
    row: u32,
    rows: u32,
    digits: Digits<PAIRS, DIGITS>,
    /// The samples under the output rows, two rows per place, by plane; the place of the first rows moves on by one
    /// with each step.
    under: [[[u32; 4]; 2]; PAIRS],
    /// Address of the lane's first output of the row.
    to: u64,
    /// Whether all outputs of the warp are inside the row, and at even addresses.
    is_whole: bool,
    /// The lane's outputs inside the row: output i of window w in the upper row is bit 4 * w + i, in the
    /// lower one 4 * w + 2 + i.
    stored: u32,
}

impl<D: Device, S: Planes, const PAIRS: usize, const DIGITS: usize> Steps<'_, D, S, PAIRS, DIGITS> {
    /// Returns the samples that the lane has of two rows of the tile, by plane.
    #[inline(always)]
    unsafe fn samples(&self, row: u32) -> [[u32; 4]; 2] {
        let lane = self.tile.d.thread_x() % WARP;
        let at = (self.tile.first + self.of_warp) / 4 + 2 * (lane / 4) + lane % 4;
        // The second of a lane's windows is 8 windows further.
        let [half, next] = [TENSOR_WARP_COLUMNS / 8, 1];
        // SAFETY: the tile has the words under all outputs and taps.
        let [a, b, c, e] = [(0, 0), (0, half), (next, 0), (next, half)]
            .map(|(below, right)| unsafe { self.tile.bytes(row + below, at + right) });
        [[a[0], b[0], c[0], e[0]], [a[1], b[1], c[1], e[1]]]
    }

    /// Returns a lane's digits for odd or even output rows.
    #[inline(always)]
    unsafe fn digits(&self, odd: usize, pair: usize, digit: usize) -> [u32; 2] {
        if S::PLANES == 1 {
            return self.digits[odd][pair][digit];
        }
        // SAFETY: the fragments of all digits are in shared memory since the barrier.
        unsafe { read_one(self.tile.d, self.fragments, (odd * PAIRS + pair) * DIGITS + digit) }
    }

    /// Computes two output rows; the samples of the first two rows under them are in place `OLDEST`. Returns whether
    /// others follow.
    #[inline(always)]
    unsafe fn add<const OLDEST: usize>(&mut self) -> bool {
        let (d, p) = (self.tile.d, self.tile.p);
        let follows = self.row + 2 < self.rows;
        let mut sums = [first_sums::<DIGITS>(p); 2];
        for pair in 0..PAIRS {
            let samples = self.under[(OLDEST + pair) % PAIRS];
            for odd in 0..2 {
                for digit in 0..DIGITS {
                    // SAFETY: the fragments of all digits are in shared memory since the barrier.
                    let words = unsafe { self.digits(odd, pair, digit) };
                    for plane in 0..S::PLANES {
                        // As in `Rows`.
                        if digit + plane + 1 >= S::PLANES {
                            let of = &mut sums[odd][digit + plane + 1 - S::PLANES];
                            *of = d.multiply_bytes(samples[plane], words, *of);
                        }
                    }
                }
            }
            if pair == 0 && follows {
                // SAFETY: the tile has the words under all outputs and taps.
                self.under[OLDEST] = unsafe { self.samples(self.row + 2 * PAIRS as u32) };
            }
        }
        // SAFETY: all threads of the warp are here: the branch is uniform.
        unsafe { self.finish(&sums) };
        self.row += 2;
        follows
    }

    /// Rounds the sums of two output rows, and stores them.
    #[inline(always)]
    unsafe fn finish(&mut self, sums: &[Sums; 2]) {
        let (d, p) = (self.tile.d, self.tile.p);
        let (mut words, mut lowest) = ([0; 4], u32::MAX);
        for window in 0..2 {
            let mut outputs = [0; 4];
            for i in 0..4 {
                let (output, fraction) = rounded::<D, DIGITS>(d, p, &sums[i / 2], 2 * window + i % 2);
                outputs[i] = output;
                lowest = if fraction < lowest { fraction } else { lowest };
            }
            let packed = S::words(d, outputs);
            for plane in 0..S::PLANES {
                words[window * S::PLANES + plane] = packed[plane];
            }
        }
        if DIGITS >= 3 && d.ballot(lowest <= p.doubt) != 0 {
            // One bit per output, as in `stored`.
            let mut doubtful = 0;
            for bit in 0..8 {
                let (window, y, i) = (bit / 4, bit / 2 % 2, bit % 2);
                let (_, fraction) = rounded::<D, DIGITS>(d, p, &sums[y], 2 * window + i);
                doubtful |= u32::from(fraction <= p.doubt) << bit;
            }
            doubtful &= if self.row + 1 < self.rows { self.stored } else { self.stored & 0b0011_0011 };
            let place = |lane, bit| {
                let x = self.of_warp + 8 * (lane / 4) + 2 * (lane % 4) + TENSOR_WARP_COLUMNS / 2 * (bit / 4);
                (x + bit % 2, self.row + bit / 2 % 2)
            };
            // SAFETY: all threads of the warp are here: the branch is uniform.
            unsafe { self.tile.settle(&mut words, doubtful, place, |x, y| self.tile.sum_exactly(x, y)) };
        }
        // Two samples per window, in the lower bits of a word.
        let (size, bits) = (S::PLANES as u64, 32 / S::OF_WORD);
        let right = TENSOR_WARP_COLUMNS as u64 / 2;
        for y in 0..2 {
            if self.row + y < self.rows {
                let outputs = if S::PLANES > 1 {
                    [words[y as usize], words[2 + y as usize]]
                } else {
                    [words[0], words[1]].map(|word| word >> (16 * y))
                };
                // SAFETY: in the output row.
                unsafe {
                    if self.is_whole && S::PLANES > 1 {
                        d.store(Global::<u32>::at(self.to), 0, outputs[0]);
                        d.store(Global::<u32>::at(self.to), right / 2, outputs[1]);
                    } else if self.is_whole {
                        d.store(Global::<u16>::at(self.to), 0, outputs[0] as u16);
                        d.store(Global::<u16>::at(self.to), right / 2, outputs[1] as u16);
                    } else {
                        let mut i = 0;
                        // Not unrolled, since the code is long.
                        while i < 4 {
                            let sample = outputs[0] >> (bits * (i % 2));
                            let sample = if i < 2 { sample } else { outputs[1] >> (bits * (i % 2)) };
                            let x = i / 2 * right as u32 + i % 2;
                            if self.stored >> (i / 2 * 4 + i % 2) & 1 == 1 {
                                S::store_bits(d, self.to + x as u64 * size, sample);
                            }
                            i += 1;
                        }
                    }
                }
            }
            self.to += self.samples as u64 * size;
        }
    }
}
