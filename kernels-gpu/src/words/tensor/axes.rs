//! Separable taps: sums along the rows, then down the columns, both by matrix products whose operands stay in registers.
//!
//! Along the rows, one matrix has a digit of the taps in each of its rows, a sample further in each, for 16 outputs of a row; the other
//! one the image: 32 bytes of each of 8 rows in its columns. A sum of digits becomes a number of 24 bits, of which 16 or fewer are
//! fraction. A lane ends with four rows of a column of these, which is what the next product wants of a lane: so one matrix has a digit
//! of the taps down a column in its rows, a row further in each, and the other one a byte of the sums of 32 rows.
//!
//! ```text
//! start to copy the tile; copy the digits of the taps; barrier
//! arrange the digits as the matrix products want them; wait for the tile; barrier
//! for each 16 columns of the warp:
//!     sum the first 16 rows along
//!     for each 16 output rows:
//!         sum the next 16 rows along: WINDOWS * 6 products
//!         sum both down: 16 products, without that of the lowest digit by the lowest byte
//!         round the sums; sum again, in f64, those that may be on either side of a half
//!         store them, four bytes a row
//! ```

use super::{Tile, ROUNDER};
use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, WARP};
use crate::Body;
use apron_abi::{
    tensor_axes_pitch, tensor_axes_words, tensor_digit_words, tensor_tap_words, TensorParams, TENSOR_AXES_BLOCK,
    TENSOR_AXES_COLUMNS, TENSOR_AXES_SIDE,
};

/// The kernel for taps along the rows that fit `WINDOWS` times 32 bytes, with the 16 samples beside them, and up to 17 down the columns.
///
/// Launch contract: as of [`Rows`](super::Rows), with the shared memory [`apron_abi::SharedMemory::TensorAxes`]; the taps along the rows,
/// those down the columns, then three digits of each: [`tensor_tap_words`] words a digit along the rows, and of one window down the
/// columns. The number of rows per block is a multiple of 16.
pub struct Axes<const WINDOWS: usize>;

/// Digits per tap, and bytes of a sum along a row.
const DIGITS: usize = 3;

/// Words of one digit as a product wants them: four per lane.
const FRAGMENT: u32 = 4 * WARP;

/// The sums along 32 rows, by halves of a lane's columns: a word of the lowest bytes of four rows, one of the next and one of the highest, of
/// 16 rows and of 16 others.
type Ring = [[[u32; 2]; DIGITS]; 2];

impl<const WINDOWS: usize> Body for Axes<WINDOWS> {
    type Src = u8;
    type Dst = u8;
    type Params = TensorParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<u8>, dst: Global<u8>, p: &TensorParams) {
        let (strip, top) = (d.block_x() * TENSOR_AXES_COLUMNS, d.block_y() * p.rows);
        let whole = &p.whole;
        // A grid may have more rows of blocks than its launch needs.
        if top >= whole.out_height {
            return;
        }
        let left = whole.out_height - top;
        let rows = if left < p.rows { left } else { p.rows };
        let samples = whole.out_width * whole.channels;
        let outputs = if samples - strip < TENSOR_AXES_COLUMNS { samples - strip } else { TENSOR_AXES_COLUMNS };
        let pitch = tensor_axes_pitch(WINDOWS as u32);
        let tile = Tile::new(d, p, TENSOR_AXES_BLOCK, pitch, strip);
        let fragments = Shared::at(pitch * (p.rows + whole.mask_height - 1) * 4);
        let digits = Shared::at(fragments.offset + tensor_axes_words(WINDOWS as u32) * 4);
        // SAFETY: the launch keeps the contract; barriers separate writing shared memory from reading it.
        unsafe {
            let seen = rows + whole.mask_height - 1;
            // The words that lanes of warps with outputs read.
            let words = (tile.first + outputs.next_multiple_of(TENSOR_AXES_SIDE) - TENSOR_AXES_SIDE) / 4;
            tile.bring::<1>(src.address, [outputs, words + 8 * WINDOWS as u32], top as i32 + whole.origin_y, seen);
            let taps = whole.mask_width + whole.mask_height;
            let [across, down] = [tensor_tap_words(WINDOWS as u32), tensor_tap_words(1)];
            let pitches = [tensor_digit_words(WINDOWS as u32), tensor_digit_words(1)];
            let of_columns = Shared::at(digits.offset + DIGITS as u32 * pitches[0] * 4);
            tile.bring_digits(digits, taps, DIGITS as u32, [across, pitches[0]]);
            tile.bring_digits(of_columns, taps + DIGITS as u32 * across, DIGITS as u32, [down, pitches[1]]);
            if d.thread_x() == 0 {
                d.shared_store(of_columns, DIGITS as u32 * pitches[1], 0);
            }
            d.barrier();
            arrange_along::<D, WINDOWS>(d, digits, fragments);
            let below = Shared::at(fragments.offset + (DIGITS * WINDOWS) as u32 * FRAGMENT * 4);
            arrange_down(d, of_columns, below);
            d.wait_copies::<0>();
            d.barrier();
            let lane = d.thread_x() % WARP;
            let mut warp: Warp<'_, D, WINDOWS> = Warp {
                tile,
                last: seen - 1,
                fragments: Shared::at(fragments.offset + 16 * lane),
                ring: [[[0; 2]; DIGITS]; 2],
                x: d.thread_x() / WARP * TENSOR_AXES_SIDE,
                outputs,
                samples,
                rows,
                row: 0,
                to: 0,
                is_whole: false,
            };
            while warp.x < outputs {
                let x = strip + warp.x + 4 * (lane % 4);
                warp.to = dst.address + (top + lane / 4) as u64 * samples as u64 + x as u64;
                warp.is_whole = samples.is_multiple_of(4) && warp.x + TENSOR_AXES_SIDE <= outputs;
                warp.row = 0;
                warp.sum_along::<0>(0);
                while warp.step::<0>() && warp.step::<1>() {}
                warp.x += TENSOR_AXES_BLOCK / WARP * TENSOR_AXES_SIDE;
            }
        }
    }
}

/// Arranges the digits of the taps along the rows: in row m of the matrix is the digit of the tap that is k samples right of the first one of
/// output `4 * (m % 8 / 2) + m % 2 + 2 * (m / 8)`, so that a lane's four outputs are adjacent after the second product.
#[inline(always)]
unsafe fn arrange_along<D: Device, const WINDOWS: usize>(d: D, digits: Shared<u32>, fragments: Shared<u32>) {
    let lane = d.thread_x() % WARP;
    let (row, quarter) = (lane / 4, lane % 4);
    let mut at = d.thread_x() / WARP;
    while at < (DIGITS * WINDOWS) as u32 {
        let (digit, window) = (at / WINDOWS as u32, at % WINDOWS as u32);
        // The digits begin 16 bytes before the first tap.
        let first = digit * tensor_digit_words(WINDOWS as u32) + 4 + 8 * window + quarter - row / 2;
        let mut words = [0; 4];
        for half in 0..2 {
            // SAFETY: in the digits.
            let [before, word] =
                [first + 4 * half - 1, first + 4 * half].map(|at| unsafe { d.shared_load(digits, at) });
            for below in 0..2 {
                let samples = row % 2 + 2 * below;
                words[(2 * half + below) as usize] = from_bit(before, word, 32 - 8 * samples);
            }
        }
        // SAFETY: in the fragments; one thread writes each.
        unsafe { d.shared_store4(fragments, at * FRAGMENT + 4 * lane, words) };
        at += TENSOR_AXES_BLOCK / WARP;
    }
}

/// Arranges the digits of the taps down the columns: in row m of the matrix is the digit of the tap that is k rows below the first one of
/// output row m. A lane's four rows of 16 are two adjacent ones and those eight further down. The second time the last 16 rows come first.
#[inline(always)]
unsafe fn arrange_down<D: Device>(d: D, digits: Shared<u32>, fragments: Shared<u32>) {
    let lane = d.thread_x() % WARP;
    let (row, quarter) = (lane / 4, lane % 4);
    let mut digit = d.thread_x() / WARP;
    while digit < DIGITS as u32 {
        let mut words = [0; 4];
        for k in 0..4 {
            let (half, below) = (k / 2, k % 2);
            // Two adjacent digits, and two eight further on; the digits begin 16 bytes before the first tap.
            let first = 16 + 2 * quarter + 16 * half - row - 8 * below;
            let pair = |byte: u32| {
                let at = digit * tensor_digit_words(1) + byte / 4;
                // SAFETY: in the digits, or in the word behind them.
                let [word, behind] = [at, at + 1].map(|at| unsafe { d.shared_load(digits, at) });
                from_bit(word, behind, byte % 4 * 8)
            };
            words[k as usize] = d.pick::<0x5410>(pair(first), pair(first + 8));
        }
        let [a, b, c, e] = words;
        // SAFETY: as in `arrange_along`.
        unsafe {
            d.shared_store4(fragments, digit * FRAGMENT + 4 * lane, words);
            d.shared_store4(fragments, (DIGITS as u32 + digit) * FRAGMENT + 4 * lane, [c, e, a, b]);
        }
        digit += TENSOR_AXES_BLOCK / WARP;
    }
}

/// A warp that goes down 16 columns of the tile at a time.
struct Warp<'p, D, const WINDOWS: usize> {
    tile: Tile<'p, D>,
    /// Last row of the tile.
    last: u32,
    /// The lane's digits in shared memory: of the taps along the rows, by digit and window; of those down the columns, for the rows of the ring
    /// as they follow each other, and the other way round.
    fragments: Shared<u32>,
    ring: Ring,
    /// First output of the columns in the block, and the block's outputs per row.
    x: u32,
    outputs: u32,
    /// Outputs per row of the image.
    samples: u32,
    /// Output row in the block, and the block's number of output rows.
    row: u32,
    rows: u32,
    /// Address of the lane's first output in its first row.
    to: u64,
    /// Whether all 16 columns are inside the row, and at words.
    is_whole: bool,
}

impl<D: Device, const WINDOWS: usize> Warp<'_, D, WINDOWS> {
    /// Returns the lane's digits as the compiler cannot keep them: in registers they would halve the number of warps.
    #[inline(always)]
    fn fragments(&self) -> Shared<u32> {
        Shared::at(self.tile.d.anew(self.fragments.offset))
    }

    /// Sums 16 rows of the tile along, from row `first` on, into half `HALF` of the ring; rows behind the last one, for which there are no
    /// taps, are the last one.
    #[inline(always)]
    unsafe fn sum_along<const HALF: usize>(&mut self, first: u32) {
        let (d, lane, start) = (self.tile.d, self.tile.d.thread_x() % WARP, self.tile.p.along);
        let at = (self.tile.first + self.x) / 4 + lane % 4;
        let (fragments, mut words) = (self.fragments(), [[[0; 2]; WINDOWS]; 2]);
        for below in 0..2 {
            let row = first + 8 * below + lane / 4;
            let row = if row < self.last { row } else { self.last };
            for window in 0..WINDOWS {
                let at = row * self.tile.pitch + at + 8 * window as u32;
                // SAFETY: in the tile.
                words[below as usize][window] =
                    [0, 4].map(|half| unsafe { d.shared_load(Tile::<D>::WORDS, at + half) });
            }
        }
        let mut sums = [[0; 4]; 2];
        // From the highest digit on; the lowest one's sum is rounded down to a multiple of 256.
        for digit in [2, 1, 0] {
            let higher = sums;
            if digit == 1 {
                sums = sums.map(|sums| sums.map(|sum: i32| sum.wrapping_mul(256).wrapping_add(start)));
            } else {
                sums = [[0; 4]; 2];
            }
            for window in 0..WINDOWS {
                // SAFETY: in the fragments.
                let digits = unsafe { d.shared_load4(fragments, (digit * WINDOWS + window) as u32 * FRAGMENT) };
                for below in 0..2 {
                    sums[below] = d.multiply_signed_bytes(digits, words[below][window], sums[below]);
                }
            }
            if digit == 0 {
                for below in 0..2 {
                    for i in 0..4 {
                        sums[below][i] = (sums[below][i] >> 8).wrapping_add(higher[below][i]);
                    }
                }
            }
        }
        for half in 0..2 {
            let [a, b, c, e] = [0, 1, 2, 3].map(|i| sums[i / 2][2 * half + i % 2] as u32);
            let [low, low2] = [d.pick::<0x5140>(a, b), d.pick::<0x5140>(c, e)];
            let [high, high2] = [d.pick::<0x6262>(a, b), d.pick::<0x6262>(c, e)];
            self.ring[half][0][HALF] = d.pick::<0x5410>(low, low2);
            self.ring[half][1][HALF] = d.pick::<0x7632>(low, low2);
            self.ring[half][2][HALF] = d.pick::<0x5410>(high, high2);
        }
    }

    /// Sums the ring's 32 rows down, the first of which are in half `FIRST` of it. Returns for each half of the columns the sums of two
    /// columns in a row, and in the row eight further down.
    #[inline(always)]
    unsafe fn sum_down<const FIRST: usize>(&self) -> [[i32; 4]; 2] {
        let fragments = self.fragments();
        // By the place of their lowest byte, from that of the second byte on.
        let mut sums = [[[0; 4]; 4]; 2];
        for digit in 0..DIGITS {
            let number = DIGITS * WINDOWS + FIRST * DIGITS + digit;
            // SAFETY: in the fragments.
            let digits = unsafe { self.tile.d.shared_load4(fragments, number as u32 * FRAGMENT) };
            for half in 0..2 {
                for byte in 0..DIGITS {
                    if digit + byte > 0 {
                        let of = &mut sums[half][digit + byte - 1];
                        *of = self.tile.d.multiply_signed_bytes(digits, self.ring[half][byte], *of);
                    }
                }
            }
        }
        sums.map(|sums| {
            [0, 1, 2, 3].map(|i| {
                let high = sums[2][i].wrapping_add(sums[3][i] << 8) << 8;
                (sums[0][i] >> 8).wrapping_add(sums[1][i]).wrapping_add(high)
            })
        })
    }

    /// Computes 16 output rows from the sums along 32 rows, of which the first 16 are in half `FIRST` of the ring, and goes on to the next.
    /// Returns whether there are others.
    #[inline(always)]
    unsafe fn step<const FIRST: usize>(&mut self) -> bool {
        let next = self.row + TENSOR_AXES_SIDE;
        // SAFETY: the caller's promise.
        unsafe {
            if FIRST == 0 {
                self.sum_along::<1>(next);
            } else {
                self.sum_along::<0>(next);
            }
            self.finish(&self.sum_down::<FIRST>());
        }
        self.row = next;
        self.to += TENSOR_AXES_SIDE as u64 * self.samples as u64;
        next < self.rows
    }

    /// Rounds the sums of 16 output rows, and stores them.
    #[inline(always)]
    unsafe fn finish(&self, sums: &[[i32; 4]; 2]) {
        let (outputs, samples, row, rows, to) = (self.outputs, self.samples, self.row, self.rows, self.to);
        let (d, p, lane) = (self.tile.d, self.tile.p, self.tile.d.thread_x() % WARP);
        let (mut words, mut lowest) = ([0; 2], u32::MAX);
        let parts = |below: usize, i: usize| d.multiply_wide(sums[i / 2][2 * below + i % 2], p.up);
        for below in 0..2 {
            let mut rounded = [0; 4];
            for i in 0..4 {
                let parts = parts(below, i);
                rounded[i] = (parts >> 32) as i32;
                lowest = if (parts as u32) < lowest { parts as u32 } else { lowest };
            }
            words[below] = d.word_of_bytes(rounded);
        }
        let x = self.x + 4 * (lane % 4);
        if d.ballot(lowest <= p.doubt) != 0 {
            let mut doubtful = 0;
            for bit in 0..8 {
                let inside = x + bit % 4 < outputs && row + lane / 4 + 8 * (bit / 4) < rows;
                let fraction = parts(bit as usize / 4, bit as usize % 4) as u32;
                doubtful |= u32::from(fraction <= p.doubt && inside) << bit;
            }
            let place = |lane, bit| (self.x + 4 * (lane % 4) + bit % 4, row + lane / 4 + 8 * (bit / 4));
            // SAFETY: the whole warp is here.
            unsafe { self.tile.settle(&mut words, doubtful, place, |x, y| self.sum_exactly(x, y)) };
        }
        let down = 8 * samples as u64;
        if self.is_whole && row + TENSOR_AXES_SIDE <= rows {
            // SAFETY: in the output rows, at words.
            unsafe {
                d.store(Global::<u32>::at(to), 0, words[0]);
                d.store(Global::<u32>::at(to + down), 0, words[1]);
            }
            return;
        }
        let mut byte = 0;
        // A loop, so that its code is there once.
        while byte < 8 {
            let (below, i) = (byte / 4, byte % 4);
            if x + i < outputs && row + lane / 4 + 8 * below < rows {
                let word = if below == 0 { words[0] } else { words[1] };
                // SAFETY: in the output row.
                unsafe { d.store(Global::<u8>::at(to + below as u64 * down), i as u64, (word >> (8 * i)) as u8) };
            }
            byte += 1;
        }
    }

    /// Returns an output of the block, summed by the whole warp in f64 and in the order of the taps: a row of the tile per lane, then down.
    #[inline(always)]
    unsafe fn sum_exactly(&self, x: u32, y: u32) -> u32 {
        let (d, p, lane) = (self.tile.d, &self.tile.p.whole, self.tile.d.thread_x() % WARP);
        let row = y + if lane < p.mask_height { lane } else { 0 };
        let (mut along, mut i) = (0.0, 0);
        while i < p.mask_width {
            let byte = self.tile.first + x + i * p.channels;
            // SAFETY: in the tile, and in the taps.
            unsafe {
                let sample = self.tile.word(row, byte / 4) >> (byte % 4 * 8) & 0xff;
                along = d.fma(d.tap(i) as f64, sample as f64, along);
            }
            i += 1;
        }
        let (mut sum, mut j) = (0.0, 0);
        while j < p.mask_height {
            // SAFETY: in the taps.
            let tap = unsafe { d.tap(p.mask_width + j) };
            sum = d.fma(tap as f64, d.shuffle_f64(along, j), sum);
            j += 1;
        }
        (sum.clamp(0.0, 255.0) + ROUNDER).to_bits() as u32
    }
}
