//! Samples of f32: one per word; their sums are the results.

use super::{bits, Packed, Samples};
use crate::device::Device;
use apron_abi::MarchSums;

impl Samples for f32 {
    type Element = f32;
    type Sum = f32;
    const SUMS: MarchSums = MarchSums::Floats;

    #[inline(always)]
    fn constant(constant: f32) -> u32 {
        constant.to_bits()
    }

    #[inline(always)]
    fn unpack<D: Device>(_: D, word: u32) -> [f32; 4] {
        [f32::from_bits(word); 4]
    }

    bits!(u32);
}

impl Packed<4> for f32 {
    #[inline(always)]
    fn pack<D: Device>(_: D, sums: &[f32; 4]) -> [u32; 4] {
        sums.map(f32::to_bits)
    }
}

impl Packed<2> for f32 {
    #[inline(always)]
    fn pack<D: Device>(_: D, [a, b]: &[f32; 2]) -> [u32; 4] {
        [a.to_bits(), b.to_bits(), 0, 0]
    }
}
