//! f32 samples of given ranks by a radix select: three passes count the image by the upper halves of the samples'
//! [orders](order_of), then by the next digit of the samples under the upper halves that hold a rank, then by the last.

use super::Backend;
use crate::{Error, Result, Source};
use apron_core::{cell_of_rank, order_of, sample_of_order};
use apron_plan::{Machine, Prefixes, Recipe, digits, upper_halves};
use std::time::Duration;

/// Values of an upper half, and of a digit.
const HALVES: usize = 1 << 16;
const DIGITS: usize = 1 << 8;

/// A rank among the samples of its channel that start with the same prefix: the known digits of the sought sample.
#[derive(Clone, Copy)]
struct Sought {
    /// Place among the ranks that were asked for.
    place: usize,
    channel: usize,
    rank: u64,
    prefix: u32,
}

impl Sought {
    /// Appends a digit to the prefix: the one whose samples contain the rank, by the counts of all digits.
    fn narrow(&mut self, counts: &[u64]) {
        let digit;
        (digit, self.rank) = cell_of_rank(counts, self.rank);
        self.prefix = self.prefix * counts.len() as u32 + digit as u32;
    }

    /// Returns the number of the prefix's upper half, counted over all channels.
    fn half(&self, shift: u32) -> u32 {
        (self.channel * HALVES) as u32 + (self.prefix >> shift)
    }
}

/// What the passes found.
pub(super) struct Selected {
    /// The samples, in the order of the ranks; NaN for the ranks of a channel that has NaN.
    pub(super) samples: Vec<f64>,
    /// The time of the kernels.
    pub(super) kernels: Duration,
    /// The first pass.
    pub(super) recipe: Recipe,
}

impl Backend {
    /// Finds the f32 samples of ranks, each of a channel and counted from 0; `None` if the device has too little shared
    /// memory.
    pub(super) fn select(
        &self,
        source: &Source<'_>,
        channels: u32,
        ranks: &[(usize, u64)],
    ) -> Result<Option<Selected>> {
        let (shape, machine) = (source.shape(), self.machine().expect("a device that runs kernels"));
        let most = Prefixes::most(channels, &machine);
        if most == 0 {
            return Ok(None);
        }
        let first = match upper_halves(shape, channels, &machine) {
            Err(Error::Unsupported { .. }) => return Ok(None),
            first => first?,
        };
        let (counts, mut kernels) = self.counted(&first, source)?;
        let of_channel = |channel: usize| &counts[channel * HALVES..][..HALVES];
        let mut samples = vec![f64::NAN; ranks.len()];
        let ranks = ranks.iter().enumerate().map(|(place, &(channel, rank))| (place, channel, rank));
        // No other number has the upper half of a NaN.
        let known = ranks.filter(|&(_, channel, _)| of_channel(channel)[order_of(f32::NAN) as usize >> 16] == 0);
        let mut sought: Vec<Sought> =
            known.map(|(place, channel, rank)| Sought { place, channel, rank, prefix: 0 }).collect();
        sought.iter_mut().for_each(|of| of.narrow(of_channel(of.channel)));
        // Neighbours share prefixes.
        sought.sort_unstable_by_key(|of| (of.half(0), of.rank));
        for some in sought.chunks_mut(most) {
            kernels += self.passes(source, channels, some, &machine)?;
            some.iter().for_each(|of| samples[of.place] = f64::from(sample_of_order(of.prefix)));
        }
        Ok(Some(Selected { samples, kernels, recipe: first }))
    }

    /// Finds the lower halves of the ranks' samples; returns the time of the kernels.
    fn passes(&self, source: &Source<'_>, channels: u32, sought: &mut [Sought], machine: &Machine) -> Result<Duration> {
        let mut prefixes = Prefixes { halves: distinct(sought.iter().map(|of| of.half(0))), digits: Vec::new() };
        let pass = |prefixes: &Prefixes| self.counted(&digits(source.shape(), channels, prefixes, machine)?, source);
        let slot_of = |all: &[u32], one: u32| all.binary_search(&one).expect("the prefix of a rank");
        let (counts, first) = pass(&prefixes)?;
        for of in sought.iter_mut() {
            of.narrow(&counts[slot_of(&prefixes.halves, of.half(0)) * DIGITS..][..DIGITS]);
        }
        let halves = prefixes.halves.clone();
        let digit = |of: &Sought| (slot_of(&halves, of.half(8)) * DIGITS) as u32 + of.prefix % DIGITS as u32;
        prefixes.digits = distinct(sought.iter().map(digit));
        let (counts, second) = pass(&prefixes)?;
        for of in sought.iter_mut() {
            let slot = slot_of(&prefixes.digits, digit(of));
            of.narrow(&counts[slot * DIGITS..][..DIGITS]);
        }
        Ok(first + second)
    }

    /// Runs a recipe; returns its counts and the time of its kernels.
    pub(super) fn counted(&self, recipe: &Recipe, source: &Source<'_>) -> Result<(Vec<u64>, Duration)> {
        let (written, made) = self.run_kernels(recipe, source, None, None)?;
        Ok((written.expect("no room was given").read::<u64>()?, made.report()?.kernels))
    }
}

/// Returns the different numbers, ascending.
fn distinct(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = numbers.collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digit_of_a_rank_has_the_samples_below_it_before() {
        let narrowed = |rank| {
            let mut of = Sought { place: 0, channel: 1, rank, prefix: 3 };
            of.narrow(&[0, 2, 0, 5]);
            (of.prefix, of.rank)
        };
        assert_eq!([0, 1, 2, 6].map(narrowed), [(13, 0), (13, 1), (15, 0), (15, 4)]);
    }
}
