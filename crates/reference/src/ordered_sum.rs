//! The order in which windows of floats are summed.

use apron_core::BOX_CHUNK;
use std::ops::{Add, Range};

/// Returns the sum of a range of samples of an axis, which are accessed by index, in the order of [`BOX_CHUNK`].
pub(crate) fn ordered_sum<S: Copy + Default + Add<Output = S>>(run: Range<i32>, at: &dyn Fn(i32) -> S) -> S {
    let chunk = BOX_CHUNK as i32;
    if run.len() <= chunk as usize {
        return run.fold(S::default(), |sum, i| sum + at(i));
    }
    let upwards = |run: Range<i32>| run.map(at).reduce(|sum, sample| sum + sample).expect("a sample or more");
    let (first, last) = (run.start.div_euclid(chunk), (run.end - 1).div_euclid(chunk));
    let head = (run.start..(first + 1) * chunk).rev().map(at).reduce(|sum, sample| sum + sample);
    let middle = (first + 1..last).fold(S::default(), |sum, c| sum + upwards(c * chunk..(c + 1) * chunk));
    (head.expect("a sample or more") + middle) + upwards(last * chunk..run.end)
}
