//! f32 samples of given ranks, by a radix select that runs on the device from the first pass to the last.

use super::Backend;
use crate::{Error, Result, Source};
use apron_core::{order_of, sample_of_order};
use apron_plan::{Recipe, most_ranks, ranks};
use std::time::Duration;

/// What the select found.
pub(super) struct Selected {
    /// The samples, in the order of the ranks, channel by channel; NaN for the ranks of a channel that has NaN.
    pub(super) samples: Vec<f64>,
    /// The time of the kernels.
    pub(super) kernels: Duration,
    /// What ran first.
    pub(super) recipe: Recipe,
}

impl Backend {
    /// Finds the f32 samples of ranks, counted from 0 in each channel; `None` if the device has too little shared memory.
    pub(super) fn select(&self, source: &Source<'_>, channels: u32, asked: &[u64]) -> Result<Option<Selected>> {
        let machine = self.machine().expect("a device that runs kernels");
        let most = most_ranks(channels, &machine) / channels as usize;
        if most == 0 {
            return Ok(None);
        }
        let mut sorted: Vec<u64> = asked.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut orders = vec![Vec::with_capacity(sorted.len()); channels as usize];
        let (mut kernels, mut first) = (Duration::ZERO, None);
        for some in sorted.chunks(most) {
            let recipe = match ranks(source.shape(), channels, some, &machine) {
                Err(Error::Unsupported { .. }) => return Ok(None),
                recipe => recipe?,
            };
            let (written, made) = self.run_kernels(&recipe, source, None, None)?;
            let found = written.expect("no room was given").read::<u32>()?;
            orders.iter_mut().zip(found.chunks_exact(some.len())).for_each(|(all, found)| all.extend_from_slice(found));
            kernels += made.report()?.kernels;
            first.get_or_insert(recipe);
        }
        let sample = |order| match order == order_of(f32::NAN) {
            true => f64::NAN,
            false => f64::from(sample_of_order(order)),
        };
        let place = |rank: &u64| sorted.binary_search(rank).expect("one of the ranks");
        let samples = orders.iter().flat_map(|all| asked.iter().map(|rank| sample(all[place(rank)]))).collect();
        Ok(first.map(|recipe| Selected { samples, kernels, recipe }))
    }
}
