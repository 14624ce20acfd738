//! f32 and f64 samples of given ranks, found by counting instead of sorting. Each round counts the image in bins that
//! divide the interval in which a sample is known to lie; the next round divides the bin that its rank falls into. The
//! only memory is for the counts.

use apron_core::{PixelType, f64_of_order, order_of, order_of_f64, sample_of_order};

/// Bins per round for one interval.
const PARTS: u64 = 2048;
/// Bins per round for all intervals; exceeded only if 16 bins per interval are more.
const MOST_BINS: u64 = 1 << 17;

/// A rank, and the interval of the ordered bit patterns in which its sample lies.
struct Sought {
    channel: usize,
    rank: u64,
    low: u64,
    high: u64,
}

/// The search for the samples of given ranks.
pub(super) struct Search {
    sought: Vec<Sought>,
    /// Lower end of each of the round's bins.
    bins: Vec<u64>,
    /// Whether samples are f64.
    doubles: bool,
}

impl Search {
    /// Starts the search for these ranks, counted from 0 per channel; a channel's extremes are known, and none of its
    /// samples is NaN.
    pub(super) fn new(
        ranks: impl IntoIterator<Item = (usize, u64)>,
        extremes: &[(f64, f64)],
        pixel: PixelType,
    ) -> Search {
        let mut search = Search { sought: Vec::new(), bins: Vec::new(), doubles: pixel == PixelType::F64 };
        let sought = |(channel, rank): (usize, u64)| {
            let [low, high] = [extremes[channel].0, extremes[channel].1].map(|end| search.order(end));
            Sought { channel, rank, low, high }
        };
        let sought = ranks.into_iter().map(sought).collect();
        search.sought = sought;
        search
    }

    /// Returns the ordered bit pattern of a sample.
    fn order(&self, sample: f64) -> u64 {
        if self.doubles { order_of_f64(sample) } else { order_of(sample as f32).into() }
    }

    /// Returns the sample of an ordered bit pattern.
    fn sample(&self, order: u64) -> f64 {
        if self.doubles { f64_of_order(order) } else { sample_of_order(order as u32).into() }
    }

    /// Returns the edges of the bins by which each channel is to be counted next; `None` when all samples are found.
    pub(super) fn edges(&mut self) -> Option<Vec<f64>> {
        let mut open: Vec<(u64, u64)> =
            self.sought.iter().filter(|of| of.low < of.high).map(|of| (of.low, of.high)).collect();
        open.sort_unstable();
        open.dedup();
        let parts = (MOST_BINS / (open.len() as u64).max(1)).clamp(16, PARTS);
        let (first, last) = (self.order(f64::NEG_INFINITY), self.order(f64::INFINITY));
        self.bins = vec![first, last];
        for &(low, high) in &open {
            let width = (high - low + 1).div_ceil(parts);
            self.bins.extend((low..=high).step_by(width as usize));
            self.bins.push((high + 1).min(last));
        }
        self.bins.sort_unstable();
        self.bins.dedup();
        // The last bin holds positive infinity.
        let edges = self.bins.iter().chain([&last]).map(|&order| self.sample(order)).collect();
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
        self.sought.iter().map(|of| self.sample(of.low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use apron_core::Edges;

    /// Finds the samples of all ranks, and the number of rounds that it took.
    fn sorted<T: Copy + Into<f64>>(samples: &[T], pixel: PixelType) -> (Vec<f64>, u32) {
        let extremes = samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &sample| {
            (low.min(sample.into()), high.max(sample.into()))
        });
        let mut search = Search::new((0..samples.len() as u64).map(|rank| (0, rank)), &[extremes], pixel);
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
            let (found, rounds) = sorted(&samples, PixelType::F32);
            assert_eq!(found, expected);
            assert!(rounds <= 8, "{rounds}");
        }
    }

    #[test]
    fn few_ranks_take_three_rounds_at_most() {
        let samples = [f32::NEG_INFINITY, -1.0, f32::INFINITY];
        assert_eq!(sorted(&samples, PixelType::F32).1, 3);
        assert_eq!(sorted(&[1.0f32, 1.0, 1.25], PixelType::F32).1, 2);
        assert_eq!(sorted(&[2.0f32, 2.0], PixelType::F32).1, 0);
    }

    #[test]
    fn doubles_take_six_rounds_at_most() {
        let near = |n: u64| f64::from_bits(1.0f64.to_bits() + n * n % 1013);
        for samples in [
            vec![f64::NEG_INFINITY, f64::MIN, -5e-324, 0.0, 5e-324, 0.1, f64::MAX, f64::INFINITY],
            (0..999).map(near).collect(),
            (0..999u64)
                .map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15) & 0xbfff_ffff_ffff_ffff))
                .collect(),
        ] {
            let mut expected = samples.clone();
            expected.sort_by(f64::total_cmp);
            let (found, rounds) = sorted(&samples, PixelType::F64);
            assert_eq!(found, expected);
            assert!(rounds <= 16, "{rounds}");
        }
        assert_eq!(sorted(&[1.0, 1.0f64.next_up()], PixelType::F64).1, 1);
        assert!(sorted(&[-1e300, 1e300], PixelType::F64).1 <= 6);
    }
}
