//! A dense square mask over a strip of the image, in registers: see [`march`](super).
//!
//! Per output: one global load (and the halo's share), `(K + 3) / 4` shared loads of 16 bytes for
//! four outputs, K * K multiply-adds whose tap is an operand in constant memory.

use super::{march, Rows, WINDOW};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::MarchParams;

/// The kernel for masks of `K` x `K` taps over `C` channels.
///
/// Launch contract: that of [`march`](super).
pub struct Dense<const K: usize, const C: usize>;

impl<const K: usize, const C: usize> Body for Dense<K, C> {
    type Src = f32;
    type Dst = f32;
    type Params = MarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &MarchParams) {
        // SAFETY: the launch keeps the contract.
        unsafe { march::<D, Self, K, C>(d, src, dst, p) }
    }
}

impl<const K: usize, const C: usize> Rows<K, C> for Dense<K, C> {
    #[inline(always)]
    unsafe fn add<D: Device>(d: D, sums: &mut [[f32; 4]; K], window: &[f32; WINDOW]) {
        for j in (0..K).rev() {
            let mut four = if j == 0 { [0.0; 4] } else { sums[j - 1] };
            for i in 0..K {
                // SAFETY: the mask has K * K taps.
                let tap = unsafe { d.tap((j * K + i) as u32) };
                for k in 0..4 {
                    four[k] = d.fma(tap, window[k + i * C], four[k]);
                }
            }
            sums[j] = four;
        }
    }
}
