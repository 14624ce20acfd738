//! Samples of f32: a word each, whose sums are the results.

use super::{bits, Packed, Place, Results, Ring, Rows, Samples};
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
