//! Samples of f32: a word each, whose sums are the results.

use super::{bits, Place, Results, Ring, Rows, Samples};
use crate::device::Device;
use apron_abi::{MarchParams, MarchSums};

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

    #[inline(always)]
    fn start(_: &MarchParams) -> f32 {
        0.0
    }

    #[inline(always)]
    unsafe fn tap<D: Device>(d: D, index: u32) -> f32 {
        // SAFETY: the caller's promise.
        unsafe { d.tap(index) }
    }

    bits!(u32);
}

impl<const K: usize, const C: usize> Results<4, K, C> for f32 {
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<4, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, f32, 4, K, C, PIECES>,
        place: Place,
        _: u32,
        &[a, b, c, d]: &[f32; 4],
    ) {
        // SAFETY: the caller's promise.
        unsafe { place.store::<D, f32>(ring.d, 4, [a.to_bits(), b.to_bits(), c.to_bits(), d.to_bits()]) };
    }
}

impl<const K: usize, const C: usize> Results<2, K, C> for f32 {
    #[inline(always)]
    unsafe fn store<D: Device, F: Rows<2, K, C>, const PIECES: bool>(
        ring: &Ring<'_, D, f32, 2, K, C, PIECES>,
        place: Place,
        _: u32,
        &[a, b]: &[f32; 2],
    ) {
        // SAFETY: the caller's promise.
        unsafe { place.store::<D, f32>(ring.d, 2, [a.to_bits(), b.to_bits(), 0, 0]) };
    }
}
