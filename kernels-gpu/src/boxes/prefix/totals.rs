//! The launch before the means of tall windows, which sums columns over chunks of rows.

use super::{add_rows, signs};
use crate::device::{Device, Global};
use crate::windows::{Image, Loaded, BYTES, TOGETHER};
use crate::Body;
use apron_abi::{PrefixParams, Sample, PREFIX_TOTALS, WINDOWS_CHUNK};
use core::marker::PhantomData;

/// The kernel that sums each column of samples over chunks of [`WINDOWS_CHUNK`] rows. Row 0 of the first chunk is the
/// row above the first window. A thread sums the columns of one vector over one chunk. Rows of sums are whole vectors
/// long.
///
/// Launch contract: as for [`Prefix`](crate::windows::Prefix).
pub struct PrefixTotals<I>(PhantomData<I>);

impl<I: Sample> Body for PrefixTotals<I> {
    type Src = I;
    type Dst = u32;
    type Params = PrefixParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<I>, dst: Global<u32>, p: &PrefixParams) {
        let (vector, chunk) = (d.block_x() * PREFIX_TOTALS + d.thread_x(), d.block_y());
        let image = Image::<D, I> { d, p, src, pixel: I::TYPE.size_bytes(), signs: signs::<I>() };
        let samples = BYTES as u32 / I::TYPE.size_bytes();
        let first = vector * samples;
        if first >= p.totals_pitch || chunk >= p.chunks {
            return;
        }
        // The last vector of a row may end behind it.
        let whole = first + samples <= p.row_samples;
        let plain = whole && image.has_vectors();
        let top = p.origin_y - 1 + (chunk * WINDOWS_CHUNK) as i32;
        let mut sums = [0; BYTES];
        let mut next = 0;
        // SAFETY: samples are checked against the row's length; rows are inside the image, or mapped into it. The sums
        // belong to this thread.
        unsafe {
            // Opaque, so that the loop is not unrolled.
            while next < d.anew(WINDOWS_CHUNK) {
                let mut loaded = [Loaded::ZEROS; TOGETHER];
                for n in 0..TOGETHER {
                    let y = image.mapped(top + (next + n as u32) as i32);
                    // The end of a row that is no whole vector.
                    let from = if whole { first } else { p.row_samples - samples };
                    loaded[n] = image.load(y, from, plain);
                }
                let rows = loaded.map(|loaded| image.words(loaded, plain));
                add_rows::<D, I>(d, &mut sums, rows);
                next += TOGETHER as u32;
            }
            let to = chunk as u64 * p.totals_pitch as u64 + first as u64;
            if whole {
                for k in 0..samples as usize / 4 {
                    d.store4(dst, to + 4 * k as u64, [sums[4 * k], sums[4 * k + 1], sums[4 * k + 2], sums[4 * k + 3]]);
                }
            } else {
                let before = first + samples - p.row_samples;
                for k in 0..samples {
                    if k >= before {
                        d.store(dst, to + (k - before) as u64, sums[k as usize]);
                    }
                }
            }
        }
    }
}
