//! Separable taps: sums along the rows, then down the columns, both by matrix products whose
//! operands stay in registers.
//!
//! Along the rows, operand A (16x32) holds one digit of the horizontal taps, one row per output, shifted by one sample
//! from row to row; operand B (32x8) holds 32 bytes of 8 image rows. The sum over the digits is a number of 24 bits,
//! with up to 16 bits of fraction. A lane's fragment of the sums, four rows of one column, is also its fragment of B in
//! the next product: there A holds one digit of the vertical taps, shifted by one row per output, and B one byte of
//! the sums of 32 rows. A warp keeps these bytes in registers, in groups of 16 rows: two groups per product,
//! `2 * PAIRS` groups in all.
//!
//! ```text
//! start to copy the tile; copy the digits of the taps; barrier
//! arrange the digits as fragments of operand A; wait for the tile; barrier
//! for each 16 columns of the warp:
//!     sum along the rows of all first groups but one
//!     for each 16 output rows:
//!         sum along the rows of the next group, in place of the oldest: six products per window of 32 bytes
//!         sum all groups down: PAIRS * 16 products, without those of the lowest digit and the lowest byte
//!         round the sums; sum again, in f64, those whose rounding is doubtful
//!         store them, four bytes per row and lane
//! ```

use super::{store_at_any, Tile, ROUNDER};
use crate::device::{Device, Global, Shared};
use crate::samples::{from_bit, Doubles, WARP};
use crate::Body;
use apron_abi::{
    tensor_axes_pitch, tensor_axes_words, tensor_digit_words, tensor_tap_words, TensorParams, TENSOR_AXES_BLOCK,
    TENSOR_AXES_COLUMNS, TENSOR_AXES_SIDE,
};

/// The kernel for up to [`tensor_axes_taps(PAIRS)`](apron_abi::tensor_axes_taps) taps down the columns. The taps along
/// the rows cover, with 16 outputs, at most `WINDOWS` windows of 32 bytes; if `WINDOWS` is 0, the kernel counts the
/// windows, up to [`apron_abi::TENSOR_AXES_WINDOWS`].
///
/// Launch contract: as for [`Rows`](super::Rows), with the shared memory [`apron_abi::SharedMemory::TensorAxes`]. The
/// launch's taps are those along the rows, those down the columns, then three digits of each, [`tensor_tap_words`]
/// words per digit: for the number of windows along the rows, and for `PAIRS` down the columns. The number of rows per
/// block is a multiple of 16.
pub struct Axes<const WINDOWS: usize, const PAIRS: usize>;

/// Digits per tap, and bytes of a sum along a row.
const DIGITS: usize = 3;

/// Words of one digit's fragments of A: four per lane.
const FRAGMENT: u32 = 4 * WARP;

/// Words of the fragments of the taps down the columns, which are followed by those of the taps along the rows.
const ALONG: u32 = 2 * DIGITS as u32 * FRAGMENT;

/// A lane's sums along 32 rows, by half of the 16 columns, byte (lowest first) and group of 16 rows: a word holds this
/// byte of the sums of four rows.
type Pair = [[[u32; 2]; DIGITS]; 2];

impl<const WINDOWS: usize, const PAIRS: usize> Body for Axes<WINDOWS, PAIRS> {
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
        // Bytes of a word before the first tap; bytes under 16 outputs and all taps.
        let inside = (whole.origin_x * whole.channels as i32) as u32 % 4;
        let reach = inside + TENSOR_AXES_SIDE + (whole.mask_width - 1) * whole.channels;
        let windows = if WINDOWS > 0 { WINDOWS as u32 } else { reach.div_ceil(32) };
        let pitch = tensor_axes_pitch(windows);
        let tile = Tile::new(d, p, TENSOR_AXES_BLOCK, pitch, strip);
        let fragments = Shared::at(pitch * (p.rows + whole.mask_height - 1) * 4);
        let digits = Shared::at(fragments.offset + tensor_axes_words(windows) * 4);
        // SAFETY: the launch keeps the contract; barriers separate writing shared memory from reading it.
        unsafe {
            let seen = rows + whole.mask_height - 1;
            // The words that lanes of warps with outputs read.
            let words = (tile.first + outputs.next_multiple_of(TENSOR_AXES_SIDE) - TENSOR_AXES_SIDE) / 4;
            tile.bring::<1>(src.address, [outputs, words + 8 * windows], top as i32 + whole.origin_y, seen);
            let taps = whole.mask_width + whole.mask_height;
            let [across, down] = [windows, PAIRS as u32].map(tensor_tap_words);
            let pitches = [windows, PAIRS as u32].map(tensor_digit_words);
            let of_columns = Shared::at(digits.offset + DIGITS as u32 * pitches[0] * 4);
            tile.bring_digits(digits, taps, DIGITS as u32, [across, pitches[0]]);
            tile.bring_digits(of_columns, taps + DIGITS as u32 * across, DIGITS as u32, [down, pitches[1]]);
            if d.thread_x() == 0 {
                d.shared_store(of_columns, DIGITS as u32 * pitches[1], 0);
            }
            d.barrier();
            arrange_down::<D, PAIRS>(d, of_columns, fragments);
            arrange_along(d, windows, digits, Shared::at(fragments.offset + 4 * ALONG));
            d.wait_copies::<0>();
            d.barrier();
            let lane = d.thread_x() % WARP;
            let mut warp: Warp<'_, D, WINDOWS, PAIRS> = Warp {
                tile,
                windows,
                last: seen - 1,
                fragments: Shared::at(fragments.offset + 16 * lane),
                ring: [[[[0; 2]; DIGITS]; 2]; PAIRS],
                x: d.thread_x() / WARP * TENSOR_AXES_SIDE,
                outputs,
                samples,
                rows,
                below: 0,
                to: 0,
            };
            while warp.x < outputs {
                let x = strip + warp.x + 4 * (lane % 4);
                warp.to = dst.address + (top + lane / 4) as u64 * samples as u64 + x as u64;
                warp.below = 0;
                while warp.below < Warp::<'_, D, WINDOWS, PAIRS>::BEFORE {
                    warp.sum_along::<0>();
                }
                // A single pair alternates its groups; several pairs move the groups on.
                while warp.step::<0>() && (PAIRS > 1 || warp.step::<1>()) {}
                warp.x += TENSOR_AXES_BLOCK / WARP * TENSOR_AXES_SIDE;
            }
        }
    }
}

/// Arranges the digits of the taps along the rows as fragments of A. Row `m` of A is for output
/// `4 * (m % 8 / 2) + m % 2 + 2 * (m / 8)`, so that a lane's four outputs are adjacent after the second product; its
/// column `k` has the digit of the tap over sample `k` of the window.
#[inline(always)]
unsafe fn arrange_along<D: Device>(d: D, windows: u32, digits: Shared<u32>, fragments: Shared<u32>) {
    let lane = d.thread_x() % WARP;
    let (row, quarter) = (lane / 4, lane % 4);
    let mut at = d.thread_x() / WARP;
    while at < DIGITS as u32 * windows {
        let (window, digit) = (at / DIGITS as u32, at % DIGITS as u32);
        // The digits begin 16 bytes before the first tap.
        let first = digit * tensor_digit_words(windows) + 4 + 8 * window + quarter - row / 2;
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
        // SAFETY: shared memory has room for these fragments; one thread writes each word.
        unsafe { d.shared_store4(fragments, at * FRAGMENT + 4 * lane, words) };
        at += TENSOR_AXES_BLOCK / WARP;
    }
}

/// Arranges the digits of the taps down the columns as fragments of A, by pair of groups and digit. Row `m` of A is for
/// output row `m`; its column `k` has the digit of the tap over row `k`. A lane's four rows of a group of 16 are two
/// adjacent ones and the two that are eight further down. A single pair is stored twice, the second time with its
/// groups exchanged.
#[inline(always)]
unsafe fn arrange_down<D: Device, const PAIRS: usize>(d: D, digits: Shared<u32>, fragments: Shared<u32>) {
    let lane = d.thread_x() % WARP;
    let (row, quarter) = (lane / 4, lane % 4);
    let mut at = d.thread_x() / WARP;
    while at < 2 * DIGITS as u32 {
        let (pair, digit) = (at / DIGITS as u32, at % DIGITS as u32);
        let mut words = [0; 4];
        for k in 0..4 {
            let (half, below) = (k / 2, k % 2);
            let group = if PAIRS == 1 { (pair + half) % 2 } else { 2 * pair + half };
            // Two adjacent digits, and two eight further on; the digits begin 16 bytes before the first tap.
            let first = 16 + 2 * quarter + 16 * group - row - 8 * below;
            let two = |byte: u32| {
                let at = digit * tensor_digit_words(PAIRS as u32) + byte / 4;
                // SAFETY: in the digits, or in the word behind them.
                let [word, behind] = [at, at + 1].map(|at| unsafe { d.shared_load(digits, at) });
                from_bit(word, behind, byte % 4 * 8)
            };
            words[k as usize] = d.pick::<0x5410>(two(first), two(first + 8));
        }
        // SAFETY: as in `arrange_along`.
        unsafe { d.shared_store4(fragments, at * FRAGMENT + 4 * lane, words) };
        at += TENSOR_AXES_BLOCK / WARP;
    }
}

/// A warp that goes down 16 columns of the tile at a time.
struct Warp<'p, D, const WINDOWS: usize, const PAIRS: usize> {
    tile: Tile<'p, D, Doubles<u8>>,
    /// Windows of 32 bytes along a row.
    windows: u32,
    /// Last row of the tile.
    last: u32,
    /// The lane's fragments in shared memory: of the taps down the columns, by pair of groups and digit; then of the
    /// taps along the rows, by window and digit.
    fragments: Shared<u32>,
    /// The groups of 16 rows, the oldest first; of a single pair, the groups alternate.
    ring: [Pair; PAIRS],
    /// First output of the columns in the block, and the block's outputs per row.
    x: u32,
    outputs: u32,
    /// Outputs per row of the image.
    samples: u32,
    /// The tile's first row that is not in the ring.
    below: u32,
    /// The block's number of output rows.
    rows: u32,
    /// Address of the lane's first output in its first row.
    to: u64,
}

impl<D: Device, const WINDOWS: usize, const PAIRS: usize> Warp<'_, D, WINDOWS, PAIRS> {
    /// Rows of the tile that are in the ring before the last group under the first output rows.
    const BEFORE: u32 = (2 * PAIRS as u32 - 1) * TENSOR_AXES_SIDE;

    /// Returns the lane's fragments, opaque, so that the compiler does not keep them in registers, which would halve
    /// the number of resident warps.
    #[inline(always)]
    fn fragments(&self) -> Shared<u32> {
        Shared::at(self.tile.d.anew(self.fragments.offset))
    }

    /// Sums along the next 16 rows of the tile, in place of the ring's oldest group (for a single pair, group `LATER`).
    /// Rows after the last, which are under no tap, repeat the last.
    #[inline(always)]
    unsafe fn sum_along<const LATER: usize>(&mut self) {
        let (d, lane) = (self.tile.d, self.tile.d.thread_x() % WARP);
        let at = [0, 8].map(|further| {
            let row = self.below + further + lane / 4;
            let row = if row < self.last { row } else { self.last };
            row * self.tile.pitch + (self.tile.first + self.x) / 4 + lane % 4
        });
        self.below += TENSOR_AXES_SIDE;
        // SAFETY: the caller's promise.
        let sums = unsafe {
            if WINDOWS > 0 {
                self.sum_digits(at)
            } else {
                self.sum_windows(at)
            }
        };
        for half in 0..2 {
            let [a, b, c, e] = [0, 1, 2, 3].map(|i| sums[i / 2][2 * half + i % 2] as u32);
            let [low, low2] = [d.pick::<0x5140>(a, b), d.pick::<0x5140>(c, e)];
            let [high, high2] = [d.pick::<0x6262>(a, b), d.pick::<0x6262>(c, e)];
            let newest = [d.pick::<0x5410>(low, low2), d.pick::<0x7632>(low, low2), d.pick::<0x5410>(high, high2)];
            for byte in 0..DIGITS {
                if PAIRS == 1 {
                    self.ring[0][half][byte][LATER] = newest[byte];
                    continue;
                }
                for pair in 1..PAIRS {
                    self.ring[pair - 1][half][byte] =
                        [self.ring[pair - 1][half][byte][1], self.ring[pair][half][byte][0]];
                }
                let last = &mut self.ring[PAIRS - 1][half][byte];
                *last = [last[1], newest[byte]];
            }
        }
    }

    /// Loads the lane's fragments of B for two rows, which start at these words of the tile.
    #[inline(always)]
    unsafe fn samples(&self, at: [u32; 2], window: u32) -> [[u32; 2]; 2] {
        let (d, words) = (self.tile.d, Tile::<D, Doubles<u8>>::WORDS);
        // SAFETY: the tile has the words under all outputs and taps.
        at.map(|at| [0, 4].map(|half| unsafe { d.shared_load(words, at + 8 * window + half) }))
    }

    /// Returns the sums along the lane's two rows, one digit after the other, so that the accumulators of a digit take
    /// registers only for a short time.
    #[inline(always)]
    unsafe fn sum_digits(&self, at: [u32; 2]) -> [[i32; 4]; 2] {
        let (d, fragments, mut words) = (self.tile.d, self.fragments(), [[[0; 2]; 2]; WINDOWS]);
        for window in 0..WINDOWS {
            // SAFETY: the tile has the words under all outputs and taps.
            words[window] = unsafe { self.samples(at, window as u32) };
        }
        let mut sums = [[0; 4]; 2];
        // From the highest digit down; the sum of the lowest digit is rounded down to a multiple of 256.
        for digit in [2, 1, 0] {
            let higher = sums;
            if digit == 1 {
                let start = self.tile.p.along;
                sums = sums.map(|sums| sums.map(|sum: i32| sum.wrapping_mul(256).wrapping_add(start)));
            } else {
                sums = [[0; 4]; 2];
            }
            for window in 0..WINDOWS {
                // SAFETY: the fragments of all digits are in shared memory since the barrier.
                let digits = unsafe { d.shared_load4(fragments, ALONG + (window * DIGITS + digit) as u32 * FRAGMENT) };
                for below in 0..2 {
                    sums[below] = d.multiply_signed_bytes(digits, words[window][below], sums[below]);
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
        sums
    }

    /// As [`sum_digits`](Self::sum_digits), for any number of windows, one window after the other.
    #[inline(always)]
    unsafe fn sum_windows(&self, at: [u32; 2]) -> [[i32; 4]; 2] {
        let (d, fragments) = (self.tile.d, self.fragments());
        let mut sums = [[[0; 4]; 2]; DIGITS];
        sums[1] = [[self.tile.p.along; 4]; 2];
        let (mut window, mut at_digits) = (0, ALONG);
        while window < self.windows {
            // SAFETY: the tile has the words under all outputs and taps.
            let words = unsafe { self.samples(at, window) };
            for digit in 0..DIGITS {
                // SAFETY: the fragments of all digits are in shared memory since the barrier.
                let digits = unsafe { d.shared_load4(fragments, at_digits + digit as u32 * FRAGMENT) };
                for below in 0..2 {
                    sums[digit][below] = d.multiply_signed_bytes(digits, words[below], sums[digit][below]);
                }
            }
            window += 1;
            at_digits += DIGITS as u32 * FRAGMENT;
        }
        let [lowest, sums, highest] = sums;
        [0, 1].map(|below| {
            [0, 1, 2, 3].map(|i| {
                let higher = sums[below][i].wrapping_add(highest[below][i] << 8);
                (lowest[below][i] >> 8).wrapping_add(higher)
            })
        })
    }

    /// Sums all groups of the ring down the columns; of a single pair, group `ODD` is the first. Returns, for each half
    /// of the columns, the sums of two columns in one output row, then in the row eight further down.
    #[inline(always)]
    unsafe fn sum_down<const ODD: usize>(&self) -> [[i32; 4]; 2] {
        let (d, fragments) = (self.tile.d, self.fragments());
        // SAFETY: the fragments of all digits are in shared memory since the barrier.
        let digits = |pair: usize, digit: usize| unsafe {
            d.shared_load4(fragments, ((ODD + pair) * DIGITS + digit) as u32 * FRAGMENT)
        };
        // Accumulators by power of 256 of the products, from the second power on. The products of the highest power are
        // computed first, in the accumulator of the next lower one.
        let (mut sums, mut highest) = ([[[0; 4]; 3]; 2], [[0; 4]; PAIRS]);
        for pair in 0..PAIRS {
            highest[pair] = digits(pair, 2);
            for half in 0..2 {
                sums[half][2] = d.multiply_signed_bytes(highest[pair], self.ring[pair][half][2], sums[half][2]);
            }
        }
        for half in 0..2 {
            sums[half][2] = sums[half][2].map(|sum| sum << 8);
        }
        for pair in 0..PAIRS {
            for digit in [2, 1, 0] {
                let digits = if digit == 2 { highest[pair] } else { digits(pair, digit) };
                for half in 0..2 {
                    for byte in 0..DIGITS {
                        if digit + byte > 0 && digit + byte < 4 {
                            let of = &mut sums[half][digit + byte - 1];
                            *of = d.multiply_signed_bytes(digits, self.ring[pair][half][byte], *of);
                        }
                    }
                }
            }
        }
        sums.map(|[low, sums, high]| {
            [0, 1, 2, 3].map(|i| (low[i] >> 8).wrapping_add(sums[i]).wrapping_add(high[i] << 8))
        })
    }

    /// Sums along the next 16 rows, and computes 16 output rows. Returns whether others follow. With a single pair,
    /// steps with `ODD` 0 and 1 alternate.
    #[inline(always)]
    unsafe fn step<const ODD: usize>(&mut self) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            if ODD == 0 {
                self.sum_along::<1>();
            } else {
                self.sum_along::<0>();
            }
            self.finish(&self.sum_down::<ODD>(), self.below - TENSOR_AXES_SIDE - Self::BEFORE);
        }
        self.to += TENSOR_AXES_SIDE as u64 * self.samples as u64;
        self.below < self.rows + Self::BEFORE
    }

    /// Rounds the sums of 16 output rows, from row `row` of the block on, and stores them.
    #[inline(always)]
    unsafe fn finish(&self, sums: &[[i32; 4]; 2], row: u32) {
        let (outputs, samples, rows, to, p) = (self.outputs, self.samples, self.rows, self.to, self.tile.p);
        let (d, lane) = (self.tile.d, self.tile.d.thread_x() % WARP);
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
            // SAFETY: all threads of the warp are here: the branch is uniform.
            unsafe { self.tile.settle(&mut words, doubtful, place, |x, y| self.sum_exactly(x, y)) };
        }
        let (down, has_columns) = (8 * samples as u64, self.x + TENSOR_AXES_SIDE <= outputs);
        if has_columns && samples.is_multiple_of(4) && row + TENSOR_AXES_SIDE <= rows {
            // SAFETY: all 16 rows and columns are in the output, and rows start at words.
            unsafe {
                d.store(Global::<u32>::at(to), 0, words[0]);
                d.store(Global::<u32>::at(to + down), 0, words[1]);
            }
            return;
        }
        let is_inside = |below: u32| row + lane / 4 + 8 * below < rows;
        if has_columns {
            for below in 0..2 {
                // SAFETY: all threads of the warp are here: the branch is uniform.
                unsafe { store_at_any(d, to + below as u64 * down, words[below as usize], is_inside(below)) };
            }
            return;
        }
        let mut byte = 0;
        // Not unrolled, since the code is long.
        while byte < 8 {
            let (below, i) = (byte / 4, byte % 4);
            if x + i < outputs && is_inside(below) {
                let word = if below == 0 { words[0] } else { words[1] };
                // SAFETY: row and column are in the output.
                unsafe { d.store(Global::<u8>::at(to + below as u64 * down), i as u64, (word >> (8 * i)) as u8) };
            }
            byte += 1;
        }
    }

    /// Returns an output of the block, summed by the whole warp in f64 and in the order of the taps: a row of the
    /// tile per lane, then down.
    #[inline(always)]
    unsafe fn sum_exactly(&self, x: u32, y: u32) -> u32 {
        let (d, p, lane) = (self.tile.d, &self.tile.p.whole, self.tile.d.thread_x() % WARP);
        let (mut along, mut i, taps) = ([0.0; PAIRS], 0, 4 / PAIRS as u32);
        while i < p.mask_width {
            // Up to four samples at a time, so that loads do not wait for additions; taps after the last are zeros.
            let mut samples = [[0.0; 4]; PAIRS];
            for pair in 0..PAIRS {
                let row = y + lane + WARP * pair as u32;
                let row = if row < self.last { row } else { self.last };
                for k in 0..taps {
                    let tap = if i + k < p.mask_width { i + k } else { i };
                    let byte = self.tile.first + x + tap * p.channels;
                    // SAFETY: the tile has the words under all outputs and taps.
                    let word = unsafe { self.tile.word(row, byte / 4) };
                    samples[pair][k as usize] = (word >> (byte % 4 * 8) & 0xff) as f64;
                }
            }
            for k in 0..taps {
                // SAFETY: the index is below the number of taps.
                let tap = if i + k < p.mask_width { unsafe { d.tap(i + k) } } else { 0.0 } as f64;
                for pair in 0..PAIRS {
                    along[pair] = d.fma(tap, samples[pair][k as usize], along[pair]);
                }
            }
            i += taps;
        }
        let mut sum = 0.0;
        for pair in 0..PAIRS {
            let mut j = WARP * pair as u32;
            let end = if p.mask_height < j + WARP { p.mask_height } else { j + WARP };
            while j < end {
                let rows = [0, 1, 2, 3].map(|k| d.shuffle_f64(along[pair], (j + k) % WARP));
                for k in 0..4 {
                    // SAFETY: the index is below the number of taps.
                    let tap = if j + k < end { unsafe { d.tap(p.mask_width + j + k) } } else { 0.0 } as f64;
                    sum = d.fma(tap, rows[k as usize], sum);
                }
                j += 4;
            }
        }
        (sum.clamp(0.0, 255.0) + ROUNDER).to_bits() as u32
    }
}
