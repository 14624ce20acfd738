//! f32 samples of given ranks, found by counting instead of sorting. Each round counts the image in bins that divide
//! the interval in which a sample is known to lie; the next round divides the bin that its rank falls into. The only
//! memory is for the counts.

use apron_core::{order_of, sample_of_order};

/// Bins per round for one interval.
const PARTS: u64 = 2048;
/// Bins per round for all intervals; exceeded only if 16 bins per interval are more.
const MOST_BINS: u64 = 1 << 17;

/// A rank, and the interval of the ordered bit patterns in which its sample lies.
struct Sought {
    channel: usize,
    rank: u64,
    low: u32,
    high: u32,
}

/// The search for the samples of given ranks.
pub(super) struct Search {
    sought: Vec<Sought>,
    /// Lower end of each of the round's bins.
    bins: Vec<u32>,
}

impl Search {
    /// Starts the search for these ranks, counted from 0 per channel; a channel's extremes are known, and none of its
    /// samples is NaN.
    pub(super) fn new(ranks: impl IntoIterator<Item = (usize, u64)>, extremes: &[(f64, f64)]) -> Search {
        let sought = |(channel, rank): (usize, u64)| {
            let [low, high] = [extremes[channel].0, extremes[channel].1].map(|end| order_of(end as f32));
            Sought { channel, rank, low, high }
        };
        Search { sought: ranks.into_iter().map(sought).collect(), bins: Vec::new() }
    }

    /// Returns the edges of the bins by which each channel is to be counted next; `None` when all samples are found.
    pub(super) fn edges(&mut self) -> Option<Vec<f64>> {
        let mut open: Vec<(u32, u32)> =
            self.sought.iter().filter(|of| of.low < of.high).map(|of| (of.low, of.high)).collect();
        open.sort_unstable();
        open.dedup();
        let parts = (MOST_BINS / (open.len() as u64).max(1)).clamp(16, PARTS);
        let (first, last) = (order_of(f32::NEG_INFINITY), order_of(f32::INFINITY));
        self.bins = vec![first, last];
        for &(low, high) in &open {
            let width = (u64::from(high - low) + 1).div_ceil(parts);
            self.bins.extend((low..=high).step_by(width as usize));
            self.bins.push((high + 1).min(last));
        }
        self.bins.sort_unstable();
        self.bins.dedup();
        // The last bin holds positive infinity.
        let edges = self.bins.iter().chain([&last]).map(|&order| f64::from(sample_of_order(order))).collect();
        (!open.is_empty()).then_some(edges)
    }

    /// Narrows the intervals of a channel by its counts in the bins.
    pub(super) fn narrow(&mut self, channel: usize, counts: &[u64]) {
        let mut upto = 0;
        let below: Vec<u64> = counts
            .iter()
            .map(|count| {
                upto += count;
                upto
            })
            .collect();
        for of in self.sought.iter_mut().filter(|of| of.channel == channel) {
            let bin = below.partition_point(|&below| below <= of.rank);
            let end = self.bins.get(bin + 1).map_or(self.bins[bin], |next| next - 1);
            (of.low, of.high) = (of.low.max(self.bins[bin]), of.high.min(end));
        }
    }

    /// Returns the samples, in the order of the ranks.
    pub(super) fn found(&self) -> impl Iterator<Item = f64> {
        self.sought.iter().map(|of| f64::from(sample_of_order(of.low)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::Edges;

    /// Finds the samples of all ranks, and the number of rounds that it took.
    fn sorted(samples: &[f32]) -> (Vec<f64>, u32) {
        let extremes = samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &sample| {
            (low.min(f64::from(sample)), high.max(f64::from(sample)))
        });
        let mut search = Search::new((0..samples.len() as u64).map(|rank| (0, rank)), &[extremes]);
        let mut rounds = 0;
        while let Some(edges) = search.edges() {
            let edges = Edges::new(edges).unwrap();
            let mut counts = vec![0; edges.bins()];
            samples.iter().for_each(|&sample| counts[edges.bin(sample.into()).unwrap()] += 1);
            search.narrow(0, &counts);
            rounds += 1;
        }
        (search.found().collect(), rounds)
    }

    #[test]
    fn ranks_are_found_as_sorting_finds_them() {
        for samples in [
            vec![3.5],
            vec![0.0, -0.0],
            vec![f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e-45, -1e-45, 0.0, 1.0, 1.0],
            vec![f32::INFINITY; 3],
            (0..999u32).map(|n| f32::from_bits(n.wrapping_mul(0x9e37_79b9) & 0xbfff_ffff)).collect(),
            (0..999).map(|n| 1.0 + (n * n % 101) as f32 * f32::EPSILON).collect(),
        ] {
            let mut expected: Vec<f64> = samples.iter().map(|&sample| f64::from(sample + 0.0)).collect();
            expected.sort_by(f64::total_cmp);
            let (found, rounds) = sorted(&samples);
            assert_eq!(found, expected);
            assert!(rounds <= 8, "{rounds}");
        }
    }

    #[test]
    fn few_ranks_take_three_rounds_at_most() {
        let samples = [f32::NEG_INFINITY, -1.0, f32::INFINITY];
        assert_eq!(sorted(&samples).1, 3);
        assert_eq!(sorted(&[1.0, 1.0, 1.25]).1, 2);
        assert_eq!(sorted(&[2.0, 2.0]).1, 0);
    }
}
