//! Samples of 8 and 16 bits summed in f64: no sum is checked or computed again.
//!
//! The bits of a sample are the upper half of an f64 whose lower half is 0: a subnormal number, in units of 2^-1042.
//! Signed samples are first raised by 32768, which one exact subtraction undoes. Taps are scaled by
//! [`DOUBLE_SCALE`](apron_abi::DOUBLE_SCALE), and the remaining factor is applied in the multiply-add that rounds a
//! sum: it adds 1.5 * 2^52, where the spacing of f64 is 1, so that the lowest bits are the integer. So unpacking costs
//! one instruction per sample, rounding one per result, besides the packing.

use super::{bits, Packed, Samples};
use crate::device::Device;
use apron_abi::{MarchSums, DOUBLE_REST};
use core::marker::PhantomData;

/// Samples of type `T`, summed in f64.
pub struct Doubles<T>(PhantomData<T>);

/// 1.5 * 2^52: near it the spacing of f64 is 1, for sums of either sign.
const ONES: f64 = 6755399441055744.0;

/// Returns the sample with these bits, in units of 2^-1042.
#[inline(always)]
fn double(bits: u32) -> f64 {
    f64::from_bits((bits as u64) << 32)
}

impl Samples for Doubles<u8> {
    type Element = u8;
    type Sum = f64;
    const SUMS: MarchSums = MarchSums::Doubles;

    #[inline(always)]
    fn constant(constant: f32) -> u32 {
        constant as u32 * 0x0101_0101
    }

    #[inline(always)]
    fn unpack<D: Device>(d: D, word: u32) -> [f64; 4] {
        [
            double(d.pick::<0x4440>(word, 0)),
            double(d.pick::<0x4441>(word, 0)),
            double(d.pick::<0x4442>(word, 0)),
            double(d.pick::<0x4443>(word, 0)),
        ]
    }

    bits!(u8);
}

impl Samples for Doubles<u16> {
    type Element = u16;
    type Sum = f64;
    const SUMS: MarchSums = MarchSums::Doubles;

    #[inline(always)]
    fn constant(constant: f32) -> u32 {
        constant as u32 * 0x0001_0001
    }

    #[inline(always)]
    fn unpack<D: Device>(_: D, word: u32) -> [f64; 4] {
        let (low, high) = (double(word & 0xffff), double(word >> 16));
        [low, high, low, high]
    }

    bits!(u16);
}

/// The sign bits of both i16 of a word: flipping them adds 32768, and the numbers become unsigned.
const SIGNS: u32 = 0x8000_8000;

impl Samples for Doubles<i16> {
    type Element = i16;
    type Sum = f64;
    const SUMS: MarchSums = MarchSums::Doubles;

    #[inline(always)]
    fn constant(constant: f32) -> u32 {
        constant as i16 as u16 as u32 * 0x0001_0001
    }

    #[inline(always)]
    fn unpack<D: Device>(_: D, word: u32) -> [f64; 4] {
        let (higher, offset) = (word ^ SIGNS, double(0x8000));
        let (low, high) = (double(higher & 0xffff) - offset, double(higher >> 16) - offset);
        [low, high, low, high]
    }

    bits!(u16);
}

/// Rounds a sum to an integer, half to even. The plan excludes taps with which the integer could exceed 2^31.
#[inline(always)]
fn rounded<D: Device>(d: D, sum: f64) -> i32 {
    d.fma(sum, DOUBLE_REST, ONES).to_bits() as i32
}

impl<const P: usize> Packed<P> for Doubles<u8> {
    #[inline(always)]
    fn pack<D: Device>(d: D, sums: &[f64; P]) -> [u32; 4] {
        let mut words = [0; 4];
        for w in 0..P / 4 {
            let at = |k: usize| rounded(d, sums[4 * w + k]);
            words[w] = d.word_of_bytes([at(0), at(1), at(2), at(3)]);
        }
        words
    }
}

impl<const P: usize> Packed<P> for Doubles<u16> {
    #[inline(always)]
    fn pack<D: Device>(d: D, sums: &[f64; P]) -> [u32; 4] {
        let mut words = [0; 4];
        for w in 0..P / 2 {
            words[w] = d.word_of_halves([rounded(d, sums[2 * w]), rounded(d, sums[2 * w + 1])]);
        }
        words
    }
}

impl<const P: usize> Packed<P> for Doubles<i16> {
    #[inline(always)]
    fn pack<D: Device>(d: D, sums: &[f64; P]) -> [u32; 4] {
        let mut words = [0; 4];
        for w in 0..P / 2 {
            let higher = |k: usize| rounded(d, sums[k]) + 0x8000;
            words[w] = d.word_of_halves([higher(2 * w), higher(2 * w + 1)]) ^ SIGNS;
        }
        words
    }
}
