//! Otsu's thresholds, from the count of each value.

use crate::{Error, Result};

const OPERATION: &str = "otsu";

/// Returns Otsu's threshold, as OpenCV's `threshold` with `THRESH_OTSU`: the first value that maximizes the variance
/// between the samples up to it and those above it; 0 if there is none.
///
/// N. Otsu, *A threshold selection method from gray-level histograms*, 1979. All in f64, in OpenCV's order.
///
/// ```
/// let mut counts = [0; 256];
/// (counts[10], counts[11], counts[200]) = (5, 5, 10);
/// assert_eq!(apron_core::otsu(&counts), 11);
/// ```
pub fn otsu(counts: &[u64]) -> usize {
    const LEAST: f64 = f32::EPSILON as f64;
    let scale = 1.0 / counts.iter().sum::<u64>() as f64;
    let mut mean = 0.0;
    for (value, &count) in counts.iter().enumerate() {
        mean += value as f64 * count as f64;
    }
    mean *= scale;
    let (mut mean_below, mut share_below) = (0.0, 0.0);
    let (mut threshold, mut largest) = (0, 0.0);
    for (value, &count) in counts.iter().enumerate() {
        let share = count as f64 * scale;
        mean_below *= share_below;
        share_below += share;
        let share_above = 1.0 - share_below;
        if share_below.min(share_above) < LEAST || share_below.max(share_above) > 1.0 - LEAST {
            continue;
        }
        mean_below = (mean_below + value as f64 * share) / share_below;
        let mean_above = (mean - share_below * mean_below) / share_above;
        let variance = share_below * share_above * (mean_below - mean_above) * (mean_below - mean_above);
        if variance > largest {
            (threshold, largest) = (value, variance);
        }
    }
    threshold
}

/// Returns the thresholds between 2 to 5 classes that maximize the variance between classes, each the largest value of
/// its class, as scikit-image's `threshold_multiotsu` for integers.
///
/// P.-S. Liao, T.-S. Chen, P.-C. Chung, *A fast algorithm for multilevel thresholding*, 2001: maximizes, over all
/// thresholds, the sum over the classes of the squared first moment divided by the share. Among equal sums the first
/// wins. All in f32, with scikit-image's first moments (values count from the least that occurs, which weighs 1 instead
/// of 0) and its order of summation (the first class, the last, those between).
///
/// ```
/// let mut counts = [0; 256];
/// (counts[0], counts[1], counts[2], counts[3]) = (4, 4, 1, 7);
/// // (4 + 4)^2 / 8 + 2^2 / 1 + 21^2 / 7 is 75; for 0 and 1 it is 0 + 4^2 / 4 + 23^2 / 8, which is less.
/// assert_eq!(apron_core::multi_otsu(&counts, 3)?, [1, 2]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for another number of classes, [`Error::Samples`] if fewer values occur than classes.
pub fn multi_otsu(counts: &[u64], classes: usize) -> Result<Vec<usize>> {
    if !(2..=5).contains(&classes) {
        return Err(Error::parameter(OPERATION, "number of classes", classes, "2 to 5"));
    }
    let values: Vec<usize> = (0..counts.len()).filter(|&value| counts[value] > 0).collect();
    if values.len() < classes {
        let what = format!("{} values occur, which are no {classes} classes", values.len());
        return Err(Error::Samples { operation: OPERATION, what });
    }
    if values.len() == classes {
        return Ok(values[..classes - 1].to_vec());
    }
    let least = values[0];
    let counts = &counts[least..=values[values.len() - 1]];
    let sums = Classes::of(counts);
    let search = Search::new(&sums, classes - 1);
    Ok(search.best.into_iter().map(|index| least + index).collect())
}

/// The term that each possible class contributes to the sum.
struct Classes {
    count: usize,
    /// The term of the class from value `a` to value `b`, at `a * count + b`.
    sums: Vec<f32>,
}

impl Classes {
    fn of(counts: &[u64]) -> Classes {
        let (count, all) = (counts.len(), counts.iter().sum::<u64>() as f64);
        // Cumulative share and first moment up to each value.
        let mut moments: Vec<(f32, f32)> = Vec::with_capacity(count);
        for (value, &samples) in counts.iter().enumerate() {
            let share = (samples as f64 / all) as f32;
            moments.push(match moments.last() {
                None => (share, share),
                Some((zeroth, first)) => (zeroth + share, first + value as f32 * share),
            });
        }
        let mut sums = vec![0.0; count * count];
        for a in 0..count {
            for b in a.max(1)..count {
                let before = if a > 0 { moments[a - 1] } else { (0.0, 0.0) };
                let (share, first) = (moments[b].0 - before.0, moments[b].1 - before.1);
                if share > 0.0 {
                    sums[a * count + b] = first * first / share;
                }
            }
        }
        Classes { count, sums }
    }

    fn sum(&self, first: usize, last: usize) -> f32 {
        self.sums[first * self.count + last]
    }
}

/// The exhaustive search through all thresholds.
struct Search<'a> {
    classes: &'a Classes,
    thresholds: usize,
    largest: f32,
    best: Vec<usize>,
}

impl Search<'_> {
    fn new(classes: &Classes, thresholds: usize) -> Search<'_> {
        let mut search = Search { classes, thresholds, largest: 0.0, best: Vec::new() };
        search.go(&mut Vec::with_capacity(thresholds));
        search
    }

    fn go(&mut self, chosen: &mut Vec<usize>) {
        let first = chosen.last().map_or(0, |last| last + 1);
        if chosen.len() < self.thresholds {
            for threshold in first..self.classes.count - self.thresholds + chosen.len() {
                chosen.push(threshold);
                self.go(chosen);
                chosen.pop();
            }
            return;
        }
        let mut sum = self.classes.sum(0, chosen[0]) + self.classes.sum(first, self.classes.count - 1);
        for pair in chosen.windows(2) {
            sum += self.classes.sum(pair[0] + 1, pair[1]);
        }
        if sum > self.largest {
            (self.largest, self.best) = (sum, chosen.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(usize, u64)]) -> Vec<u64> {
        let mut counts = vec![0; 256];
        pairs.iter().for_each(|&(value, count)| counts[value] = count);
        counts
    }

    #[test]
    fn one_value_has_no_threshold() {
        assert_eq!(otsu(&counts(&[(77, 9)])), 0);
        assert!(multi_otsu(&counts(&[(77, 9)]), 2).unwrap_err().to_string().contains("1 values occur"));
    }

    #[test]
    fn as_many_values_as_classes_are_a_class_each() {
        assert_eq!(multi_otsu(&counts(&[(3, 1), (9, 100), (20, 1)]), 3).unwrap(), [3, 9]);
    }

    #[test]
    fn two_classes_part_where_the_means_are_farthest_apart() {
        // Shares of 1/2 each and means of 0.5 and 20.5: better than any other threshold.
        let of = counts(&[(0, 2), (1, 2), (20, 2), (21, 2)]);
        assert_eq!((otsu(&of), multi_otsu(&of, 2).unwrap()), (1, vec![1]));
        assert_eq!(multi_otsu(&of, 4).unwrap(), [0, 1, 20]);
    }

    #[test]
    fn impossible_classes_are_refused() {
        for classes in [0, 1, 6] {
            let error = multi_otsu(&counts(&[(0, 1), (9, 1)]), classes).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Usage, "{classes}");
        }
    }
}
