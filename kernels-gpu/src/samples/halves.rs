//! Samples of f16: two per word, summed in f32. Unpacking costs one instruction per sample, packing three and a half
//! per two results.

use super::{bits, Packed, Samples};
use crate::device::Device;
use apron_abi::{Half, MarchSums};

impl Samples for Half {
    type Element = Half;
    type Sum = f32;
    const SUMS: MarchSums = MarchSums::Floats;

    #[inline(always)]
    fn constant(constant: f32) -> u32 {
        Half::from_f32(constant).0 as u32 * 0x0001_0001
    }

    #[inline(always)]
    fn unpack<D: Device>(d: D, word: u32) -> [f32; 4] {
        let [low, high] = d.floats_of(word);
        [low, high, low, high]
    }

    bits!(u16);
}

impl<const P: usize> Packed<P> for Half {
    #[inline(always)]
    fn pack<D: Device>(d: D, sums: &[f32; P]) -> [u32; 4] {
        let mut words = [0; 4];
        for w in 0..P / 2 {
            words[w] = d.word_of_floats([sums[2 * w], sums[2 * w + 1]]);
        }
        words
    }
}
