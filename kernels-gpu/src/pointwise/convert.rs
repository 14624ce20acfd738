//! Conversion between samples of 16 bits and f32: `a * x + c`.
//!
//! ```text
//! each thread, striding by the whole grid: two groups of four adjacent samples, a block's width apart
//! load each group in one access of 8 or 16 bytes; convert it; store it in one access
//! up to three threads of block 0: one of the samples after the last group each
//! ```
//!
//! The accesses of a warp are adjacent, so that each access uses all bytes of its sectors.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{Accumulator, Element, FromSum, PointwiseParams, Sample, CONVERT_GROUPS, POINTWISE_BLOCK};
use core::marker::PhantomData;
use core::mem::transmute_copy;

/// The kernel, from samples of type `X` to samples of type `O`: one has 2 bytes, the other 4.
///
/// Launch contract: the images hold `samples` samples, and start at multiples of 16 bytes.
pub struct Convert<X, O>(PhantomData<(X, O)>);

impl<X: Sample, O: FromSum<f32>> Body for Convert<X, O> {
    type Src = X;
    type Dst = O;
    type Params = PointwiseParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<X>, dst: Global<O>, p: &PointwiseParams) {
        const BLOCK: u64 = POINTWISE_BLOCK as u64;
        const GROUPS: usize = CONVERT_GROUPS as usize;
        // The identity needs no f64: `x + -0.0` keeps the sign of zeros.
        let as_it_is = p.a == 1.0 && p.c.to_bits() == (-0.0f64).to_bits();
        let of = |x: X| {
            let value = if as_it_is { x.to_f32() } else { f32::from_f64(d.fma(p.a, x.to_f64(), p.c)) };
            O::from_sum(value)
        };
        let groups = p.samples / 4;
        let mut first = d.block_x() as u64 * BLOCK * GROUPS as u64 + d.thread_x() as u64;
        // SAFETY: groups and samples are checked against `samples`; each belongs to one iteration of one thread.
        unsafe {
            let rest = 4 * groups + first;
            if d.block_x() == 0 && rest < p.samples {
                d.store(dst, rest, of(d.load(src, rest)));
            }
            while first < groups {
                // All loads before the first use.
                let mut values = [[X::default(); 4]; GROUPS];
                for k in 0..GROUPS {
                    let group = first + k as u64 * BLOCK;
                    if group < groups {
                        values[k] = load_group(d, src, group);
                    }
                }
                for k in 0..GROUPS {
                    let group = first + k as u64 * BLOCK;
                    if group < groups {
                        store_group(d, dst, group, values[k].map(of));
                    }
                }
                first += d.blocks_x() as u64 * BLOCK * GROUPS as u64;
            }
        }
    }
}

/// Loads samples `4 * group` to `4 * group + 3`.
///
/// # Safety
/// They are in the image, which starts at a multiple of 16 bytes.
#[inline(always)]
unsafe fn load_group<D: Device, T: Element>(d: D, from: Global<T>, group: u64) -> [T; 4] {
    // SAFETY: the caller's promise; four samples have the size of the loaded words, of which every bit pattern is
    // valid.
    unsafe {
        if size_of::<T>() == 2 {
            transmute_copy(&d.load(Global::<u64>::at(from.address), group))
        } else {
            transmute_copy(&d.load_words(Global::at(from.address), 4 * group))
        }
    }
}

/// Stores samples `4 * group` to `4 * group + 3`.
///
/// # Safety
/// As [`load_group`], and no other thread accesses them.
#[inline(always)]
unsafe fn store_group<D: Device, T: Element>(d: D, to: Global<T>, group: u64, values: [T; 4]) {
    // SAFETY: as in [`load_group`].
    unsafe {
        if size_of::<T>() == 2 {
            d.store(Global::<u64>::at(to.address), group, transmute_copy(&values));
        } else {
            d.store4(to, 4 * group, values);
        }
    }
}
