//! Windows of 32 samples of one row, for masks of any height.
//!
//! Each row of one matrix has 32 bytes of an image row, for 16 windows 16 samples apart; the other matrix has one digit
//! of a row of the mask. A row of u16 is two such matrices.
//!
//! ```text
//! start to copy the tile; copy the digits of the taps; barrier
//! arrange the digits as fragments of the products; wait for the tile; barrier
//! for each group of ROWS output rows of the warp:
//!     for each row of the mask: ROWS * PAIRS * 2 products per plane and digit, without the lower of two planes by the
//!         lowest digit
//!     round the sums
//!     sum again, in f64, those whose rounding is doubtful
//!     store them as words
//! ```

use super::{first_sums, rounded, Planes, Sums, Tile};
use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Place, WARP};
use crate::Body;
use apron_abi::{
    tensor_block, tensor_digit_words, tensor_pitch, tensor_tap_words, Element, TensorParams, TENSOR_COLUMNS,
};

/// The kernel for masks where a window of `PAIRS` times 32 samples, which starts at a multiple of four, covers the
/// samples under a row of the mask for 16 outputs. A warp computes `ROWS` output rows at a time, with one read of the
/// digits.
///
/// Launch contract: the buffers are as large as the parameters say and start at multiples of 16 bytes, the shared
/// memory is [`apron_abi::SharedMemory::Tensor`], and the taps are followed by their digits as the plan arranges them,
/// [`tensor_tap_words`] words per row of a digit.
pub struct Rows<S, const PAIRS: usize, const DIGITS: usize, const ROWS: usize>(S);

/// A lane's sums, by output row and by half of its four adjacent outputs: sums of two outputs of two windows.
type RowsSums<const ROWS: usize> = [[Sums; 2]; ROWS];

/// A lane's fragments of the image, by 32 samples of the window and plane.
type Fragments<const PAIRS: usize> = [[[u32; 4]; 2]; PAIRS];

impl<S: Planes, const PAIRS: usize, const DIGITS: usize, const ROWS: usize> Body for Rows<S, PAIRS, DIGITS, ROWS> {
    type Src = S::Element;
    type Dst = S::Element;
    type Params = TensorParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<S::Element>, dst: Global<S::Element>, p: &TensorParams) {
        let (strip, top) = (d.block_x() * TENSOR_COLUMNS, d.block_y() * p.rows);
        let whole = &p.whole;
        // A grid may have more rows of blocks than its launch needs.
        if top >= whole.out_height {
            return;
        }
        let (pitch, threads) = (const { tensor_pitch(S::Element::TYPE, PAIRS as u32) }, tensor_block(PAIRS as u32));
        let rows = p.rows + whole.mask_height - 1;
        let fragments = Shared::at(pitch * rows * 4);
        let count = whole.mask_height * DIGITS as u32;
        let digits = Shared::at(pitch * rows * 4 + count * PAIRS as u32 * FRAGMENT * 4);
        let block = Block::<D, S> { tile: Tile::new(d, p, threads, pitch, strip), fragments, digits };
        // SAFETY: the launch keeps the contract; barriers separate writing shared memory from reading it.
        unsafe {
            let left = whole.out_height - top;
            let needed = if left < p.rows { rows - (p.rows - left) / ROWS as u32 * ROWS as u32 } else { rows };
            let outputs = whole.out_width * whole.channels - strip;
            let outputs = if outputs < TENSOR_COLUMNS { outputs } else { TENSOR_COLUMNS };
            let (words, origin) = ([outputs, pitch], top as i32 + whole.origin_y);
            if S::PLANES > 1 {
                block.tile.bring::<2>(src.address, words, origin, needed);
            } else {
                block.tile.bring::<1>(src.address, words, origin, needed);
            }
            let words = [tensor_tap_words(PAIRS as u32), tensor_digit_words(PAIRS as u32)];
            block.tile.bring_digits(digits, whole.mask_width * whole.mask_height, count, words);
            d.barrier();
            block.arrange::<PAIRS>(count);
            d.wait_copies::<0>();
            d.barrier();
            let mut row = d.thread_x() / WARP * ROWS as u32;
            while row < p.rows && top + row < whole.out_height {
                let sums = block.sum::<PAIRS, DIGITS, ROWS>(row);
                block.finish::<DIGITS, ROWS>(dst.address, (strip, top), row, &sums);
                row += threads / WARP * ROWS as u32;
            }
        }
    }
}

/// Words of the fragments of one digit of a row of the mask, for 32 bytes of the image: four per lane.
const FRAGMENT: u32 = 4 * WARP;

/// Words of outputs per lane, for the rows that a warp sums at a time: 4 rows of bytes, or 2 of u16.
const WORDS: usize = 8;

/// A block's shared memory.
struct Block<'p, D, S> {
    tile: Tile<'p, D, S>,
    /// The digits as fragments of the products.
    fragments: Shared<u32>,
    /// The digits as they come from the launch's taps, row by row.
    digits: Shared<u32>,
}

/// The state of a warp while it goes through the rows of the mask.
struct Steps<'b, 'p, D, S, const PAIRS: usize, const DIGITS: usize, const ROWS: usize> {
    block: &'b Block<'p, D, S>,
    /// First output row, in the block.
    first: u32,
    /// Current row of the mask.
    of_mask: u32,
    /// The samples under this row, by output row; the place of the first output row moves on by one with each row of
    /// the mask.
    under: [Fragments<PAIRS>; ROWS],
    sums: RowsSums<ROWS>,
}

impl<D: Device, S: Planes, const PAIRS: usize, const DIGITS: usize, const ROWS: usize>
    Steps<'_, '_, D, S, PAIRS, DIGITS, ROWS>
{
    /// Adds the products of a row of the mask; the samples of the first output row are in place `OLDEST`. Returns
    /// whether another row of the mask follows.
    #[inline(always)]
    unsafe fn add<const OLDEST: usize>(&mut self) -> bool {
        let (block, d, lane) = (self.block, self.block.tile.d, self.block.tile.d.thread_x() % WARP);
        let follows = self.of_mask + 1 < block.tile.p.whole.mask_height;
        let mut next = self.under[OLDEST];
        if follows {
            // SAFETY: the tile has the words under all outputs and taps.
            next = unsafe { block.samples(self.first + self.of_mask + ROWS as u32) };
        }
        for pair in 0..PAIRS {
            for digit in 0..DIGITS {
                let at = (self.of_mask * DIGITS as u32 + digit as u32) * PAIRS as u32 + pair as u32;
                // SAFETY: the fragments of all digits are in shared memory since the barrier.
                let words = unsafe { d.shared_load4(block.fragments, at * FRAGMENT + 4 * lane) };
                for k in 0..ROWS {
                    for plane in 0..S::PLANES {
                        // With two planes, the product of the lowest bytes and the lowest digit is omitted.
                        if digit + plane + 1 >= S::PLANES {
                            let power = digit + plane + 1 - S::PLANES;
                            let samples = self.under[(OLDEST + k) % ROWS][pair][plane];
                            let of = &mut self.sums[k];
                            of[0][power] = d.multiply_bytes(samples, [words[0], words[1]], of[0][power]);
                            of[1][power] = d.multiply_bytes(samples, [words[2], words[3]], of[1][power]);
                        }
                    }
                }
            }
        }
        self.under[OLDEST] = next;
        self.of_mask += 1;
        follows
    }
}

impl<D: Device, S: Planes> Block<'_, D, S> {
    /// Arranges `count` rows of digits as fragments, whose four words per lane are adjacent.
    ///
    /// Column `n` of the matrix is for output `4 * (n / 2) + n % 2` of each window in the first product, and for the
    /// output two further in the second, so that a lane's four sums of a window are adjacent. Row `k` of the column has
    /// the digit of the tap over sample `k` of the window.
    #[inline(always)]
    unsafe fn arrange<const PAIRS: usize>(&self, count: u32) {
        let (d, lane) = (self.tile.d, self.tile.d.thread_x() % WARP);
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
            // SAFETY: shared memory has room for these fragments; one thread writes each word.
            unsafe { d.shared_store4(self.fragments, at * FRAGMENT + 4 * lane, words) };
            at += self.tile.threads / WARP;
        }
    }

    /// Returns a lane's fragments of a row of the tile.
    #[inline(always)]
    unsafe fn samples<const PAIRS: usize>(&self, row: u32) -> Fragments<PAIRS> {
        let at = self.tile.first / 4 + self.tile.d.thread_x() % WARP;
        let mut fragments = [[[0; 4]; 2]; PAIRS];
        for pair in 0..PAIRS {
            for k in 0..4 {
                // Windows 8 further, then the second 16 samples of both.
                let at = at + 8 * pair as u32 + 32 * (k as u32 % 2) + 4 * (k as u32 / 2);
                // SAFETY: the tile has the words under all outputs and taps.
                let bytes = unsafe { self.tile.bytes(row, at) };
                for plane in 0..S::PLANES {
                    fragments[pair][plane][k] = bytes[plane];
                }
            }
        }
        fragments
    }

    /// Returns the sums of the output rows from `row` on.
    #[inline(always)]
    unsafe fn sum<const PAIRS: usize, const DIGITS: usize, const ROWS: usize>(&self, row: u32) -> RowsSums<ROWS> {
        let sums = [[first_sums::<DIGITS>(self.tile.p); 2]; ROWS];
        // For each output row, the samples under the current row of the mask.
        let mut under = [[[[0; 4]; 2]; PAIRS]; ROWS];
        for k in 0..ROWS {
            // SAFETY: in the tile, as below.
            under[k] = unsafe { self.samples(row + k as u32) };
        }
        let mut steps = Steps::<D, S, PAIRS, DIGITS, ROWS> { block: self, first: row, of_mask: 0, under, sums };
        // SAFETY: the tile has all rows under the outputs.
        unsafe {
            // Each row of the tile replaces the one that no output needs any more: one copy of the step per place, so
            // that the register indices are constant.
            while steps.add::<0>()
                && steps.add::<1>()
                && (ROWS < 3 || steps.add::<2>())
                && (ROWS < 4 || steps.add::<3>())
            {}
        }
        steps.sums
    }

    /// Rounds the sums of the output rows from `row` of the block on, and stores them.
    #[inline(always)]
    unsafe fn finish<const DIGITS: usize, const ROWS: usize>(
        &self,
        dst: u64,
        (strip, top): (u32, u32),
        row: u32,
        sums: &RowsSums<ROWS>,
    ) {
        let (d, p, lane) = (self.tile.d, self.tile.p, self.tile.d.thread_x() % WARP);
        let samples = p.whole.out_width * p.whole.channels;
        let x = strip + 4 * lane;
        let of_words = samples.is_multiple_of(4);
        let (mut words, mut lowest) = ([0; WORDS], u32::MAX);
        for k in 0..ROWS {
            for window in 0..2 {
                let mut outputs = [0; 4];
                for i in 0..4 {
                    let (output, fraction) = rounded::<D, DIGITS>(d, p, &sums[k][i / 2], 2 * window + i % 2);
                    outputs[i] = output;
                    lowest = if fraction < lowest { fraction } else { lowest };
                }
                let packed = S::words(d, outputs);
                for plane in 0..S::PLANES {
                    words[(2 * k + window) * S::PLANES + plane] = packed[plane];
                }
            }
        }
        if DIGITS >= 3 && d.ballot(lowest <= p.doubt) != 0 {
            // One bit per output: the four outputs of row k and window w start at bit 8 * k + 4 * w.
            let mut doubtful = 0;
            for bit in 0..8 * ROWS {
                let (k, window, i) = (bit / 8, bit / 4 % 2, bit % 4);
                let (_, fraction) = rounded::<D, DIGITS>(d, p, &sums[k][i / 2], 2 * window + i % 2);
                let inside = x + TENSOR_COLUMNS / 2 * window as u32 + (i as u32) < samples;
                let inside = inside && top + row + (k as u32) < p.whole.out_height;
                doubtful |= u32::from(fraction <= p.doubt && inside) << bit;
            }
            let place = |lane, bit| (4 * lane + bit % 4 + TENSOR_COLUMNS / 2 * (bit / 4 % 2), row + bit / 8);
            // SAFETY: all threads of the warp are here: the branch is uniform.
            unsafe { self.tile.settle(&mut words, doubtful, place, |x, y| self.tile.sum_exactly(x, y)) };
        }
        let size = S::PLANES as u64;
        let (mut to, mut y) = (dst + (top + row) as u64 * samples as u64 * size, top + row);
        let end = if p.whole.out_height - y < ROWS as u32 { p.whole.out_height } else { y + ROWS as u32 };
        // Not unrolled, since the code for rows that start inside words is long.
        while y < end {
            for window in 0..2 {
                let x = x + TENSOR_COLUMNS / 2 * window as u32;
                let stored = [words[S::PLANES * window], if S::PLANES > 1 { words[S::PLANES * window + 1] } else { 0 }];
                // SAFETY: the row is in the output, `x` is checked, and the whole warp is here.
                unsafe {
                    if !of_words {
                        let place = Place { row: to, first: x as i32, samples: samples as i32, whole: false };
                        place.store_aligned::<D, S>(d, 1, S::PLANES, [stored[0], stored[1], 0, 0]);
                    } else if x < samples {
                        let at = Global::<u32>::at(to + x as u64 * size);
                        if S::PLANES > 1 {
                            d.store2(at, 0, stored);
                        } else {
                            d.store(at, 0, stored[0]);
                        }
                    }
                }
            }
            for k in 2 * S::PLANES..2 * S::PLANES * ROWS {
                words[k - 2 * S::PLANES] = words[k];
            }
            (to, y) = (to + samples as u64 * size, y + 1);
        }
    }
}
