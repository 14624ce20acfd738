//! Padding: copies, unchanged, the samples of a region of the plane that an image and its borders cover.
//!
//! ```text
//! each thread: one sample of an output row and of each of three rows below, a block's height apart
//! map the column (border by index map), once for all four rows
//! for each row: map the row; load the sample, or take the constant of its channel
//! ```
//!
//! Along x the border extends the image's rows; along y it extends the padded rows: a pixel outside along both axes
//! follows the border along y. One load and one store per sample, as wide as the sample.

use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{BorderMode, Element, PadParams, PAD_ROWS, SIMPLE_BLOCK};
use core::marker::PhantomData;

/// The kernel, for samples of the size of `T`.
///
/// Launch contract: the images are as large as the parameters say.
pub struct Pad<T>(PhantomData<T>);

/// An unsigned integer of a sample's size, as which the bits of samples and constants are copied.
pub trait Bits: Element {
    /// Returns the lowest bits of `bits`.
    fn of(bits: u64) -> Self;
}

macro_rules! bits {
    ($($type:ty),*) => {$(
        impl Bits for $type {
            #[inline(always)]
            fn of(bits: u64) -> $type {
                bits as $type
            }
        }
    )*};
}
bits!(u8, u16, u32, u64);

/// Returns the constant of a channel, selected by comparisons: an index would put the parameters into local memory.
#[inline(always)]
fn constant<T: Bits>([a, b, c, d]: [u64; 4], channel: u32) -> T {
    T::of(match channel {
        0 => a,
        1 => b,
        2 => c,
        _ => d,
    })
}

impl<T: Bits> Body for Pad<T> {
    type Src = T;
    type Dst = T;
    type Params = PadParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<T>, dst: Global<T>, p: &PadParams) {
        const ROWS: usize = PAD_ROWS as usize;
        let row = p.out_width * p.channels;
        let sample = d.block_x() * SIMPLE_BLOCK[0] + d.thread_x();
        let first = d.block_y() * SIMPLE_BLOCK[1] * PAD_ROWS + d.thread_y();
        if sample >= row || first >= p.out_height {
            return;
        }
        // SAFETY: an image has at least one channel.
        let (x, channel) = unsafe { div_rem(sample, p.channels) };
        let column = BorderMode::from_u32(p.border_x).map(x as i32 + p.origin_x, p.width as i32);
        let border = BorderMode::from_u32(p.border_y);
        let (beside, above): (T, T) = (constant(p.constants_x, channel), constant(p.constants_y, channel));
        // All loads before the first use.
        let mut values = [T::default(); ROWS];
        for k in 0..ROWS {
            let y = first + k as u32 * SIMPLE_BLOCK[1];
            if y < p.out_height {
                values[k] = match (border.map(y as i32 + p.origin_y, p.height as i32), column) {
                    (None, _) => above,
                    (_, None) => beside,
                    (Some(y), Some(x)) => {
                        let index = y as u32 as u64 * p.row_stride as u64 + (x as u32 * p.channels + channel) as u64;
                        // SAFETY: row and column are mapped into the image.
                        unsafe { d.load(src, index) }
                    }
                };
            }
        }
        for k in 0..ROWS {
            let y = first + k as u32 * SIMPLE_BLOCK[1];
            if y < p.out_height {
                // SAFETY: (sample, y) is in the output, and no other thread's.
                unsafe { d.store(dst, y as u64 * row as u64 + sample as u64, values[k]) };
            }
        }
    }
}
