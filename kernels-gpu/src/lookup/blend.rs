//! Replaces every sample by the bilinear interpolation of its entries in the tables of the four tiles around it.
//!
//! Per sample: five global loads, four of them from tables; the tables of bytes are small and stay in the caches.

use crate::device::{Device, Global};
use crate::Body;
use apron_abi::{between_tiles, bilinear, FromSum, Sample, TilesParams, BYTE_BINS, SIMPLE_BLOCK, WIDE_VALUES};
use core::marker::PhantomData;

/// A sample that has an entry in a table.
pub trait Valued: Sample + FromSum<f32> {
    /// Entries per table.
    const VALUES: u32;
    /// Returns the index of the sample's entry.
    fn value(self) -> u32;
}

macro_rules! valued {
    ($($type:ty: $values:expr),*) => {$(
        impl Valued for $type {
            const VALUES: u32 = $values;
            #[inline(always)]
            fn value(self) -> u32 {
                self as u32
            }
        }
    )*};
}
valued!(u8: BYTE_BINS, u16: WIDE_VALUES);

/// The kernel: one thread per pixel.
///
/// Launch contract: input and output hold the image, the tables one entry per value, channel and tile, fewer than
/// 2^32; the grid has one thread per pixel.
pub struct Blend<T>(PhantomData<T>);

impl<T: Valued> Body for Blend<T> {
    type Src = T;
    type Dst = T;
    type Params = TilesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, dst: Global<T>, p: &TilesParams) {
        let x = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
        let y = d.block_y() * SIMPLE_BLOCK[1] + d.thread_y();
        if x >= p.width || y >= p.height {
            return;
        }
        let (rows, down) = between_tiles(y, p.inverse_y, p.down);
        let (columns, across) = between_tiles(x, p.inverse_x, p.across);
        let tables = Global::<T>::at(p.tables);
        let first = (y as u64 * p.width as u64 + x as u64) * p.channels as u64;
        let mut channel = 0;
        while channel < p.channels {
            // SAFETY: the pixel is inside the image; the tables of every tile have an entry for each value.
            unsafe {
                let value = d.load(src, first + channel as u64).value();
                let entry = |row: u32, column: u32| {
                    let tile = (row * p.across + column) * p.channels + channel;
                    d.load(tables, (tile * T::VALUES + value) as u64).to_f32()
                };
                let four = [
                    [entry(rows[0], columns[0]), entry(rows[0], columns[1])],
                    [entry(rows[1], columns[0]), entry(rows[1], columns[1])],
                ];
                d.store(dst, first + channel as u64, T::from_sum(bilinear(four, across, down)));
            }
            channel += 1;
        }
    }
}
