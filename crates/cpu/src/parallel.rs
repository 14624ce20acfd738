//! Parallel loops on rayon's threads.
//!
//! Loop bodies are trait objects, and each call has thousands of samples to work on: rayon's own code is compiled once
//! per element type instead of once per operation and pair of types.

use rayon::prelude::*;

/// Collects the results of `work` for every index below `count`, in order.
pub(crate) fn map<R: Send>(count: usize, work: &(dyn Fn(usize) -> R + Sync)) -> Vec<R> {
    (0..count).into_par_iter().map(work).collect()
}

/// Calls `work` with every chunk of `size` elements, the last of which may be shorter, and its index.
pub(crate) fn chunks<T: Send>(elements: &mut [T], size: usize, work: &(dyn Fn(usize, &mut [T]) + Sync)) {
    elements.par_chunks_mut(size).enumerate().for_each(|(index, chunk)| work(index, chunk));
}

/// Calls `work` with every item, and scratch memory that the calls of one task share.
pub(crate) fn items<T: Send, W: Default>(items: Vec<T>, work: &(dyn Fn(&mut W, T) + Sync)) {
    items.into_par_iter().for_each_init(W::default, |scratch, item| work(scratch, item));
}

/// Splits `count` rows, or other units of work, into at most `parts` ranges of equal length; the last may be shorter.
pub(crate) fn split(count: u32, parts: u64) -> Vec<std::ops::Range<u32>> {
    let each = count.div_ceil(parts.clamp(1, count.max(1) as u64) as u32).max(1);
    (0..count.div_ceil(each)).map(|part| part * each..((part + 1) * each).min(count)).collect()
}

/// Number of threads.
pub(crate) fn threads() -> u64 {
    rayon::current_num_threads() as u64
}

/// Adds counts, element by element, to those of the first part; empty without parts.
pub(crate) fn add_counts(parts: Vec<Vec<u64>>) -> Vec<u64> {
    let mut parts = parts.into_iter();
    let mut counts = parts.next().unwrap_or_default();
    parts.for_each(|more| counts.iter_mut().zip(more).for_each(|(count, more)| *count += more));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_units_once() {
        let ends = |count, parts| split(count, parts).iter().map(|range| (range.start, range.end)).collect::<Vec<_>>();
        assert_eq!(ends(10, 3), [(0, 4), (4, 8), (8, 10)]);
        assert_eq!(ends(2, 9), [(0, 1), (1, 2)]);
        assert_eq!(ends(5, 0), [(0, 5)]);
        assert_eq!(ends(0, 4), []);
    }

    #[test]
    fn counts_are_added_by_element() {
        assert_eq!(add_counts(vec![vec![1, 2], vec![10, 20], vec![100, 200]]), [111, 222]);
        assert_eq!(add_counts(vec![]), []);
    }
}
