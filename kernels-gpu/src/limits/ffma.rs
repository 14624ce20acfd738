//! Throughput of f32 multiply-adds: each thread has several independent sums.
//!
//! ```text
//! sum[k] = k + number of the thread
//! each round, 64 times: sum[k] = factor * sum[k] + addend      for each of the 8 sums
//! write the total of the sums
//! ```
//!
//! Only registers are used. The total is written so that the compiler does not eliminate the work.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{LimitsFfmaParams, FFMA_A_ROUND, FFMA_CHAINS, LIMITS_BLOCK};

/// The kernel: element `i` of the output is the total of thread `i` of the grid.
///
/// Launch contract: the input holds the factor and the addend; the output has one element per thread.
pub struct Ffma;

impl Body for Ffma {
    type Src = f32;
    type Dst = f32;
    type Params = LimitsFfmaParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f32>, dst: Global<f32>, p: &LimitsFfmaParams) {
        // SAFETY: the input holds two elements.
        let (factor, addend) = unsafe { (d.load(src, 0), d.load(src, 1)) };
        let number = d.block_x() * LIMITS_BLOCK + d.thread_x();
        let mut sums = [0.0f32; FFMA_CHAINS];
        for (k, sum) in sums.iter_mut().enumerate() {
            *sum = (k as u32 + number) as f32;
        }
        for _ in 0..p.rounds {
            for _ in 0..FFMA_A_ROUND / FFMA_CHAINS {
                for sum in &mut sums {
                    *sum = d.fma(factor, *sum, addend);
                }
            }
        }
        let total = sums.into_iter().fold(0.0, |total, sum| total + sum);
        // SAFETY: the output has one element per thread, at the thread's number.
        unsafe { d.store(dst, number as u64, total) };
    }
}
