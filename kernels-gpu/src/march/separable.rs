//! Both passes of a separable filter over a strip of the image, in registers: see
//! [`march`](super). The sums between the passes are never in memory.
//!
//! Per output: one global load (and the halo's share), `(K + 3) / 4` shared loads of 16 bytes for
//! four outputs, 2 K multiply-adds whose tap is an operand in constant memory.

use super::{march, Rows, WINDOW};
use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{tap_stride, MarchParams};

/// The kernel for `K` taps along the rows and as many along the columns, over `C` channels.
///
/// Launch contract: that of [`march`](super); the columns' taps start [`tap_stride`] behind the rows'.
pub struct Separable<const K: usize, const C: usize>;

impl<const K: usize, const C: usize> Body for Separable<K, C> {
    type Src = f32;
    type Dst = f32;
    type Params = MarchParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &MarchParams) {
        // SAFETY: the launch keeps the contract.
        unsafe { march::<D, Self, K, C>(d, src, dst, p) }
    }
}

impl<const K: usize, const C: usize> Rows<K, C> for Separable<K, C> {
    #[inline(always)]
    unsafe fn add<D: Device>(d: D, sums: &mut [[f32; 4]; K], window: &[f32; WINDOW]) {
        let mut row = [0.0; 4];
        for i in 0..K {
            // SAFETY: there are K taps an axis.
            let tap = unsafe { d.tap(i as u32) };
            for k in 0..4 {
                row[k] = d.fma(tap, window[k + i * C], row[k]);
            }
        }
        for j in (0..K).rev() {
            // SAFETY: as above.
            let tap = unsafe { d.tap(tap_stride(K as u32) + j as u32) };
            let before = if j == 0 { [0.0; 4] } else { sums[j - 1] };
            for k in 0..4 {
                sums[j][k] = d.fma(tap, row[k], before[k]);
            }
        }
    }
}
