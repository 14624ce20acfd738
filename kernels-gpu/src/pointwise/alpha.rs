//! Keeps alpha: copies the samples of one image unchanged, but those of the last channel from another image.
//!
//! One load and one store per sample, as wide as the sample.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Element, PointwiseParams, POINTWISE_AT_ONCE, POINTWISE_BLOCK};
use core::marker::PhantomData;

/// The kernel, for samples of the size of `T`.
///
/// Launch contract: both images and the output hold `samples` samples, of 2 or 4 channels.
pub struct Alpha<T>(PhantomData<T>);

impl<T: Element> Body for Alpha<T> {
    type Src = T;
    type Dst = T;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, dst: Global<T>, p: &PointwiseParams) {
        const BLOCK: u64 = POINTWISE_BLOCK as u64;
        const AT_ONCE: usize = POINTWISE_AT_ONCE as usize;
        let (second, last) = (Global::<T>::at(p.second).of_image(d.image(), p.second_step), p.channels as u64 - 1);
        let mut first = d.block_x() as u64 * BLOCK * AT_ONCE as u64 + d.thread_x() as u64;
        while first < p.samples {
            let mut values = [T::default(); AT_ONCE];
            for k in 0..AT_ONCE {
                let index = first + k as u64 * BLOCK;
                if index < p.samples {
                    // The number of channels is 2 or 4: `index & last` is the channel.
                    let from = if index & last == last { second } else { src };
                    // SAFETY: both images have `samples` samples.
                    values[k] = unsafe { d.load(from, index) };
                }
            }
            for k in 0..AT_ONCE {
                let index = first + k as u64 * BLOCK;
                if index < p.samples {
                    // SAFETY: `index` is below `samples`, and this thread's.
                    unsafe { d.store(dst, index, values[k]) };
                }
            }
            first += d.blocks_x() as u64 * BLOCK * AT_ONCE as u64;
        }
    }
}
