//! Weights of the workloads' filters.

use super::images::mix;

/// Returns positive weights for masks that are not separable.
pub(super) fn weights(count: u32) -> Vec<f32> {
    (1..=count).map(|i| (mix(i) >> 8) as f32 / (1 << 24) as f32 + 0.1).collect()
}

/// Returns the binomial coefficients of `n`.
pub(super) fn binomial(n: u32) -> Vec<f32> {
    let mut row = vec![1.0];
    for k in 0..n {
        row.push(row[k as usize] * (n - k) as f32 / (k + 1) as f32);
    }
    row
}
