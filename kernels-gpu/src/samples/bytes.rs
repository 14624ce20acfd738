//! Samples of 8 bits: four per word, summed in f32.

use super::{bits, Samples};
use crate::device::Device;
use apron_abi::{MarchParams, MarchSums};

impl Samples for u8 {
    type Element = u8;
    type Sum = f32;
    const SUMS: MarchSums = MarchSums::Floats;

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

    bits!(u8);
}
