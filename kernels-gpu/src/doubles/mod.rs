//! A dense mask over f64, with eight rows of two outputs per thread in registers; a mask of one row or column is a pass of
//! a separable filter.
//!
//! ```text
//! each thread: two samples of a row, a block's width apart, and the same columns of the seven rows below
//! for each input row under its outputs: map the row
//!     for each column of the mask: map the column; load the two samples
//!         for each of the eight output rows whose mask covers the input row: load the tap; add both products
//! ```
//!
//! Per 16 multiply-adds: two loads of samples, adjacent along a warp, and eight of taps, the same for the whole warp; all
//! from the first-level cache. No shared memory and no barrier: on GPUs with fast f64 the multiply-adds take nearly as long
//! as the loads, on others much longer.

use crate::conv2d::clamped;
use crate::device::{Device, Global};
use crate::{div_rem, Body};
use apron_abi::{BorderMode, DoublesParams, DOUBLES_ACROSS, DOUBLES_BLOCK, DOUBLES_DOWN, DOUBLES_TILE};

/// The kernel.
///
/// Launch contract: the buffers are as large as the parameters say, and the taps are f64, in rows without gaps.
pub struct Dense;

const ACROSS: usize = DOUBLES_ACROSS as usize;
const DOWN: usize = DOUBLES_DOWN as usize;

impl Body for Dense {
    type Src = f64;
    type Dst = f64;
    type Params = DoublesParams;

    #[inline(always)]
    unsafe fn run<D: Device>(d: D, src: Global<f64>, dst: Global<f64>, p: &DoublesParams) {
        let row_samples = p.out_width * p.channels;
        let sample = d.block_x() * DOUBLES_TILE[0] + d.thread_x();
        let first = d.block_y() * DOUBLES_TILE[1] + d.thread_y() * DOUBLES_DOWN;
        if sample >= row_samples || first >= p.out_height {
            return;
        }
        let border = BorderMode::from_u32(p.border);
        // Samples after the row's last repeat it: their sums are not stored.
        let mut places = [(0, 0); ACROSS];
        for k in 0..ACROSS {
            let sample = sample + k as u32 * DOUBLES_BLOCK[0];
            let sample = if sample < row_samples { sample } else { row_samples - 1 };
            // SAFETY: an image has at least one channel.
            let (x, channel) = unsafe { div_rem(sample, p.channels) };
            places[k] = (x as i32 + p.origin_x, channel);
        }
        let [(left, _), .., (right, _)] = places;
        let inside = left >= 0 && right + p.mask_width as i32 <= p.width as i32;
        let mut sums = [[0.0; ACROSS]; DOWN];
        for j in 0..p.mask_height + DOUBLES_DOWN - 1 {
            let row = border.map((first + j) as i32 + p.origin_y, p.height as i32);
            let start = row.map_or(0, |row| row as u32 as u64 * p.row_stride as u64);
            for i in 0..p.mask_width {
                let mut samples = [p.constant; ACROSS];
                for k in 0..ACROSS {
                    let (x, channel) = places[k];
                    let x = x + i as i32;
                    let column = if inside { Some(x) } else { border.map(x, p.width as i32) };
                    if let (Some(_), Some(column)) = (row, column) {
                        let at = column as u32 as u64 * p.channels as u64 + channel as u64;
                        // SAFETY: row and column are in the image.
                        samples[k] = unsafe { d.load(src, start + at) };
                    }
                }
                for y in 0..DOWN {
                    // Below 0 it is a large number.
                    let mask_row = j.wrapping_sub(y as u32);
                    if mask_row < p.mask_height {
                        // SAFETY: the tap is in the mask.
                        let tap = unsafe { d.tap_f64(mask_row * p.mask_width + i) };
                        for k in 0..ACROSS {
                            sums[y][k] = d.fma(tap, samples[k], sums[y][k]);
                        }
                    }
                }
            }
        }
        for y in 0..DOWN {
            let row = first + y as u32;
            for k in 0..ACROSS {
                let sample = sample + k as u32 * DOUBLES_BLOCK[0];
                if row < p.out_height && sample < row_samples {
                    let sum = if p.clamp != 0 { clamped(sums[y][k]) } else { sums[y][k] };
                    // SAFETY: in the output, and no other thread's.
                    unsafe { d.store(dst, row as u64 * row_samples as u64 + sample as u64, sum) };
                }
            }
        }
    }
}
