//! Equalisation of a byte by a histogram: one formula for host and kernel.

use crate::FromSum;

/// Returns the entry of `value` in the table. `least` is the least value that occurs; `rest` samples have other values,
/// and `below` of these are at most `value`.
///
/// The arithmetic is that of OpenCV's `equalizeHist`: the count as f32, times 255 / `rest` in f32.
#[inline(always)]
pub fn equalized(value: u32, least: u32, below: u64, rest: u64) -> u8 {
    if rest == 0 {
        return least as u8;
    }
    if value <= least {
        return 0;
    }
    let scale = 255.0 / rest as f32;
    u8::from_sum(below as f32 * scale)
}
