//! Samples of 8 bits: four a word, summed in f32, with results as of sums in f64.
//!
//! A sum in f32 is off by at most the parameters' `slack`, which the plan gives. Sums start at
//! `-slack`, so that the true sum lies between the sum found and that plus twice the slack. Where both
//! round to one byte, that is the result. Where not, and that is one sum in several thousand, the thread
//! sums again in f64, from the rows under the mask, which are still in the ring. Where taps are such
//! that sums in f32 are exact, the slack is 0, and nothing is checked.
//!
//! Per output: three quarters of an instruction to unpack each byte of the window, half of one to round
//! and pack, one and three quarters to check.

use super::{Place, Results, Ring, Rows, Samples};
use crate::device::{Device, Global};
use apron_abi::{FromSum, MarchParams, BYTE_UNIT};

impl Samples for u8 {
    const OF_WORD: u32 = 4;

    #[inline(always)]
    fn constant(constant: f32) -> u32 {
        constant as u32 * 0x0101_0101
    }

    #[inline(always)]
    fn unpack<D: Device>(d: D, word: u32) -> [f32; 4] {
        d.bytes_of(word)
    }

    #[inline(always)]
    fn start(p: &MarchParams) -> f32 {
        -p.slack
    }
}

impl<const P: usize, const K: usize, const C: usize> Results<P, K, C> for u8 {
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<P, K, C>>(
        ring: &Ring<'_, D, u8, P, K, C>,
        dst: Global<u8>,
        place: Place,
        row: u32,
        sums: &[f32; P],
    ) {
        let (d, p) = (ring.d, ring.p);
        let mut words = [0; 4];
        for w in 0..P / 4 {
            words[w] = d.word_of([sums[4 * w], sums[4 * w + 1], sums[4 * w + 2], sums[4 * w + 3]]);
        }
        if p.slack > 0.0 {
            let (mut doubtful, most) = ([0; 4], p.slack + p.slack);
            for w in 0..P / 4 {
                let at = |k: usize| sums[4 * w + k] + most;
                doubtful[w] = words[w] ^ d.word_of([at(0), at(1), at(2), at(3)]);
            }
            if doubtful[0] | doubtful[1] | doubtful[2] | doubtful[3] != 0 {
                // SAFETY: the rows are in the ring.
                unsafe { settle::<D, F, P, K, C>(ring, row, &mut words, doubtful) };
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            if p.aligned >= 4 {
                place.store(d, dst, P as u32 / 4, words);
            } else {
                store_bytes(d, dst, place, P as i32, words);
            }
        }
    }
}

/// Stores outputs one by one, at any place, as far as they are in the row.
///
/// # Safety
/// The place is right.
#[inline(always)]
unsafe fn store_bytes<D: Device>(d: D, dst: Global<u8>, place: Place, outputs: i32, words: [u32; 4]) {
    let [a, b, c, d4] = words.map(u128::from);
    let mut rest = a | b << 32 | c << 64 | d4 << 96;
    let end = if place.samples - place.first < outputs { place.samples } else { place.first + outputs };
    // A loop, lest the places of all are kept in registers from row to row.
    let mut sample = place.first;
    while sample < end {
        if sample >= 0 {
            // SAFETY: in the row.
            unsafe { d.store(dst, place.row + sample as u64, rest as u8) };
        }
        rest >>= 8;
        sample += 1;
    }
}

/// Puts in place of the bytes that are in doubt, which differ by one, what sums in f64 round to.
///
/// # Safety
/// The rows under the mask are in the ring, and the row of input is `row`.
#[inline(always)]
unsafe fn settle<D: Device, F: Rows<P, K, C>, const P: usize, const K: usize, const C: usize>(
    ring: &Ring<'_, D, u8, P, K, C>,
    row: u32,
    words: &mut [u32; 4],
    doubtful: [u32; 4],
) {
    let mut left = 0;
    for w in 0..P / 4 {
        left |= (doubtful[w] & 0x0101_0101) << w;
    }
    // So that a loop over them is not unrolled: see the parameters.
    let last = ring.p.halo_rows;
    while left != 0 {
        let bit = left.trailing_zeros();
        left &= left - 1;
        let (word, byte) = (bit % 8, bit / 8);
        let output = word * 4 + byte;
        let sample = |j: u32, i: u32| {
            // SAFETY: under the mask.
            unsafe { ring.sample(row - last + j, output + i * C as u32) as f64 }
        };
        // SAFETY: the launch's taps are the filter's; the unit is a power of two, and may come last.
        let sum = unsafe { F::exact(ring.d, last, sample) } * BYTE_UNIT as f64;
        let result = u8::from_sum(sum) as u32;
        for w in 0..P / 4 {
            if w as u32 == word {
                words[w] = words[w] & !(0xff << (byte * 8)) | result << (byte * 8);
            }
        }
    }
}
