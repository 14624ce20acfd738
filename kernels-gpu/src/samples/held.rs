//! The types in which a tile in shared memory holds samples: f64 for f64, otherwise f32.

use crate::device::{Device, Global, Shared};
use apron_abi::{Accumulator, Half, Sample};

/// A type in which a tile holds samples.
pub trait Held: Accumulator {
    /// Returns the same number, opaque to the compiler, as [`Device::anew`].
    fn anew<D: Device>(self, d: D) -> Self;

    /// Reads four adjacent samples of a tile.
    ///
    /// # Safety
    /// As [`Device::shared_load4`].
    unsafe fn four<D: Device>(d: D, tile: Shared<Self>, index: u32) -> [Self; 4];
}

impl Held for f32 {
    #[inline(always)]
    fn anew<D: Device>(self, d: D) -> f32 {
        f32::from_bits(d.anew(self.to_bits()))
    }

    #[inline(always)]
    unsafe fn four<D: Device>(d: D, tile: Shared<f32>, index: u32) -> [f32; 4] {
        // SAFETY: the caller's promise.
        unsafe { d.shared_load4(tile, index) }
    }
}

impl Held for f64 {
    #[inline(always)]
    fn anew<D: Device>(self, d: D) -> f64 {
        let bits = self.to_bits();
        f64::from_bits(d.anew(bits as u32) as u64 | (d.anew((bits >> 32) as u32) as u64) << 32)
    }

    #[inline(always)]
    unsafe fn four<D: Device>(d: D, tile: Shared<f64>, index: u32) -> [f64; 4] {
        // SAFETY: the caller's promise.
        [0, 1, 2, 3].map(|k| unsafe { d.shared_load(tile, index + k) })
    }
}

/// A sample type, and how it is copied into a tile.
pub trait Input: Sample {
    /// The type in which a tile holds the samples.
    type Held: Held;

    /// Starts copying a sample into a tile.
    ///
    /// # Safety
    /// As [`Device::start_copy_as_f32`].
    unsafe fn start_copy<D: Device>(d: D, to: Shared<Self::Held>, index: u32, from: Global<Self>, at: u64);
}

macro_rules! held_as_f32 {
    ($($type:ty),*) => {$(
        impl Input for $type {
            type Held = f32;

            #[inline(always)]
            unsafe fn start_copy<D: Device>(d: D, to: Shared<f32>, index: u32, from: Global<Self>, at: u64) {
                // SAFETY: the caller's promise.
                unsafe { d.start_copy_as_f32(to, index, from, at) };
            }
        }
    )*};
}
held_as_f32!(u8, u16, i16, Half, f32);

impl Input for f64 {
    type Held = f64;

    #[inline(always)]
    unsafe fn start_copy<D: Device>(d: D, to: Shared<f64>, index: u32, from: Global<f64>, at: u64) {
        // SAFETY: the caller's promise.
        unsafe { d.shared_store(to, index, d.load(from, at)) };
    }
}
