//! Rounding and storing the sums of a march. f32 sums of bytes are checked:
//!
//! The error of a sum is at most the parameters' `slack`, which the plan computes. Sums start at `-slack`, so that the
//! exact sum lies between the computed sum `s` and `s + 2 * slack`. If both round to one byte, that is the result.
//! Otherwise, for one sum in several thousand, the threads of the warp compute the sum again in f64, from the rows
//! under the mask, which are still in the ring. If the taps make every f32 sum exact, the slack is 0, and nothing is
//! checked.
//!
//! Cost: three quarters of an instruction to unpack each byte of the window; per output, half an instruction to round
//! and pack, and one and three quarters to check.

use super::{Ring, Rows};
use crate::device::Device;
use crate::samples::{Doubles, Packed, Place, Samples, WARP};
use apron_abi::{FromSum, Half, BYTE_UNIT};

/// A sample type for which a thread rounds, packs and stores its `P` sums.
pub(super) trait Results<const P: usize, const K: usize, const C: usize>: Samples + Sized {
    /// Stores a thread's outputs whose windows end at input row `row`.
    ///
    /// # Safety
    /// The row and the other rows under the mask are in the ring, and the outputs' place is correct.
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, Self, P, K, C, PIECES>,
        place: Place,
        row: u32,
        sums: &[Self::Sum; P],
    );
}

impl<const P: usize, const K: usize, const C: usize> Results<P, K, C> for f32
where
    f32: Packed<P, Sum = f32>,
{
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, f32, P, K, C, PIECES>,
        place: Place,
        _: u32,
        sums: &[f32; P],
    ) {
        // SAFETY: the caller's promise.
        unsafe { place.store::<D, f32>(ring.d, P as u32, f32::pack(ring.d, sums)) };
    }
}

impl<T, const P: usize, const K: usize, const C: usize> Results<P, K, C> for Doubles<T>
where
    Self: Packed<P, Sum = f64>,
{
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, Self, P, K, C, PIECES>,
        place: Place,
        _: u32,
        sums: &[f64; P],
    ) {
        let words = Self::pack(ring.d, sums);
        // SAFETY: the caller's promise.
        unsafe { place.store_aligned::<D, Self>(ring.d, ring.p.aligned, P / Self::OF_WORD as usize, words) };
    }
}

impl<const P: usize, const K: usize, const C: usize> Results<P, K, C> for Half {
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, Half, P, K, C, PIECES>,
        place: Place,
        _: u32,
        sums: &[f32; P],
    ) {
        let words = Half::pack(ring.d, sums);
        // SAFETY: the caller's promise.
        unsafe { place.store_aligned::<D, Half>(ring.d, ring.p.aligned, P / Half::OF_WORD as usize, words) };
    }
}

impl<const P: usize, const K: usize, const C: usize> Results<P, K, C> for u8 {
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<P, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, u8, P, K, C, PIECES>,
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
            let (mut doubtful, most) = (0, p.slack + p.slack);
            for w in 0..P / 4 {
                let at = |k: usize| sums[4 * w + k] + most;
                let differ = words[w] ^ d.word_of([at(0), at(1), at(2), at(3)]);
                doubtful |= (differ & 0x0101_0101) << w;
            }
            if d.ballot(doubtful != 0) != 0 {
                // Threads past the row's end repeat the window of the last thread in the row; their sums, doubtful if
                // its sums are, are not stored.
                for sample in 0..P as i32 {
                    let outside = place.first + sample < 0 || place.first + sample >= place.samples;
                    doubtful &= !((outside as u32) << (sample % 4 * 8 + sample / 4));
                }
                let asking = d.ballot(doubtful != 0);
                // SAFETY: the ring still holds all rows under the mask, and the ballot makes the branch uniform.
                unsafe { settle::<D, F, P, K, C, PIECES>(ring, row, &mut words, doubtful, asking) };
            }
        }
        // SAFETY: the caller's promise.
        unsafe { place.store_aligned::<D, u8>(d, p.aligned, P / 4, words) };
    }
}

/// Replaces doubtful bytes, one per bit of `doubtful`, by their rounded f64 sums. All threads of the warp compute each
/// sum, for one lane of `asking` after the other: a single thread would delay its block for long.
///
/// # Safety
/// The rows under the mask are in the ring, `row` is the current input row, and all threads of the warp are here.
#[inline(always)]
unsafe fn settle<D: Device, F: Rows<P, K, C>, const P: usize, const K: usize, const C: usize, const PIECES: bool>(
    ring: &Ring<'_, D, u8, P, K, C, PIECES>,
    row: u32,
    words: &mut [u32; 4],
    mut doubtful: u32,
    mut asking: u32,
) {
    let (d, own) = (ring.d, ring.d.thread_x() % WARP);
    // A parameter of the launch, so that loops up to this bound are not unrolled.
    let last = ring.p.halo_rows;
    while asking != 0 {
        let lane = asking.trailing_zeros();
        let bit = d.shuffle(doubtful, lane).trailing_zeros();
        let (word, byte) = (bit % 8, bit / 8);
        let start = d.shuffle(ring.window_start(), lane) + word * 4 + byte;
        let sample = |j: u32, i: u32| {
            // SAFETY: the row is one of those under the mask, and the sample is in its stage.
            unsafe { ring.sample(row - last + j, start + i * C as u32) as f64 }
        };
        // SAFETY: the launch's taps are the filter's, and all threads of the warp are here. The unit is a power of two,
        // and may be applied last.
        let sum = unsafe { F::exact(d, last, sample) } * BYTE_UNIT as f64;
        if own == lane {
            let result = u8::from_sum(sum) as u32;
            for w in 0..P / 4 {
                if w as u32 == word {
                    words[w] = words[w] & !(0xff << (byte * 8)) | result << (byte * 8);
                }
            }
            doubtful &= doubtful - 1;
        }
        asking = d.ballot(doubtful != 0);
    }
}
