//! Reads of four taps at a time from their memory space, and weighted sums over shared tiles.

use crate::device::{Device, Shared};
use apron_abi::{Accumulator, Sample, TAPS_AT_ONCE};

/// A memory space from which taps are read four at a time.
pub(crate) trait TapSource<A>: Copy {
    /// Returns taps `index` to `index + 3` as accumulators.
    ///
    /// # Safety
    /// `index` is a multiple of 4, and all four taps exist.
    unsafe fn four<D: Device>(self, d: D, index: u32) -> [A; 4];
}

/// The launch's taps, in constant memory.
#[derive(Clone, Copy)]
pub(crate) struct LaunchTaps;

impl<A: Accumulator> TapSource<A> for LaunchTaps {
    #[inline(always)]
    unsafe fn four<D: Device>(self, d: D, index: u32) -> [A; 4] {
        // SAFETY: the caller's promise.
        let [a, b, c, e] = unsafe { d.taps4(index) };
        [A::of(a), A::of(b), A::of(c), A::of(e)]
    }
}

/// Taps in shared memory, already converted to accumulators. The array starts at a multiple of 16 bytes.
pub(crate) struct SharedTaps<A>(pub(crate) Shared<A>);

impl<A> Clone for SharedTaps<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for SharedTaps<A> {}

impl<A: Accumulator> TapSource<A> for SharedTaps<A> {
    #[inline(always)]
    unsafe fn four<D: Device>(self, d: D, index: u32) -> [A; 4] {
        // SAFETY: the caller's promise.
        unsafe {
            if A::TYPE.size_bytes() == 4 {
                d.shared_load4(self.0, index)
            } else {
                [0, 1, 2, 3].map(|k| d.shared_load(self.0, index + k))
            }
        }
    }
}

/// Adds the products of `count` taps, from `tap` on, and the tile's elements at `element`, `element + step`, ...
///
/// # Safety
/// `tap` is a multiple of 4, the taps exist up to the next multiple of 4, and the elements are in the tile, which no
/// thread writes any more.
#[inline(always)]
pub(crate) unsafe fn add_row<D: Device, S: Sample, A: Accumulator>(
    d: D,
    mut tap: u32,
    mut count: u32,
    tile: Shared<S>,
    mut element: u32,
    step: u32,
    mut sum: A,
) -> A {
    // SAFETY: the caller's promise.
    unsafe {
        while count >= TAPS_AT_ONCE {
            sum = add::<D, S, A, 4>(d, tap, tile, element, step, sum);
            (tap, element, count) = (tap + TAPS_AT_ONCE, element + TAPS_AT_ONCE * step, count - TAPS_AT_ONCE);
        }
        match count {
            0 => sum,
            1 => add::<D, S, A, 1>(d, tap, tile, element, step, sum),
            2 => add::<D, S, A, 2>(d, tap, tile, element, step, sum),
            _ => add::<D, S, A, 3>(d, tap, tile, element, step, sum),
        }
    }
}

/// Adds the first `COUNT` of four taps. Padding is skipped: 0 times infinity is not 0.
#[inline(always)]
unsafe fn add<D: Device, S: Sample, A: Accumulator, const COUNT: u32>(
    d: D,
    tap: u32,
    tile: Shared<S>,
    element: u32,
    step: u32,
    mut sum: A,
) -> A {
    // SAFETY: the caller's promise.
    let [a, b, c, e] = unsafe { d.taps4(tap) };
    // Not a loop: an array indexed at run time would be in local memory.
    let mut add = |k: u32, tap: f32| {
        if k < COUNT {
            // SAFETY: the caller's promise.
            let sample = unsafe { d.shared_load(tile, element + k * step) };
            sum = d.fma(A::of(tap), A::of(sample), sum);
        }
    };
    add(0, a);
    add(1, b);
    add(2, c);
    add(3, e);
    sum
}
