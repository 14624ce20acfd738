//! f64 samples of given ranks, from samples that come in strips of rows: each pass over all strips finds 16 more bits
//! of every sought sample's [order](order_of_f64).

use crate::parallel;
use crate::percentiles::{Orders, UPPER};
use apron_core::{Image, f64_of_order, order_of_f64};

/// Bits that a pass finds.
const DIGIT: u32 = 16;

/// The search for the samples of given ranks, per channel. Each pass over all strips finds more bits of the samples:
/// four passes find all.
///
/// ```
/// use apron_core::Image;
///
/// let strips = [Image::new(2, 1, 1, vec![1.0, 5.0])?, Image::new(2, 1, 1, vec![-3.0, 4.0])?];
/// let mut narrowing = apron_cpu::Narrowing::new(vec![vec![0, 2]]);
/// while narrowing.passes_left() > 0 {
///     strips.iter().for_each(|strip| narrowing.add(strip));
///     narrowing.narrow();
/// }
/// assert_eq!(narrowing.found(), [[-3.0, 4.0]]);
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Narrowing {
    channels: Vec<Channel>,
    /// Bits that are not known yet.
    left: u32,
}

#[derive(Clone, Debug)]
struct Channel {
    sought: Vec<Sought>,
    /// The distinct prefixes of the sought samples, ascending, and the number of samples by next digit under each.
    prefixes: Vec<u64>,
    counts: Vec<u64>,
}

/// A sample of a rank.
#[derive(Clone, Copy, Debug)]
struct Sought {
    /// The upper bits of its order.
    prefix: u64,
    /// Its rank among the samples with this prefix.
    rank: u64,
}

impl Channel {
    fn new(sought: Vec<Sought>) -> Channel {
        let mut prefixes: Vec<u64> = sought.iter().map(|of| of.prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let counts = vec![0; prefixes.len() * UPPER];
        Channel { sought, prefixes, counts }
    }
}

impl Narrowing {
    /// Begins with the ranks of each channel, or of all channels together, counted from 0.
    pub fn new(ranks: Vec<Vec<u64>>) -> Narrowing {
        let channel =
            |ranks: Vec<u64>| Channel::new(ranks.into_iter().map(|rank| Sought { prefix: 0, rank }).collect());
        Narrowing { channels: ranks.into_iter().map(channel).collect(), left: u64::BITS }
    }

    /// Returns the number of passes until the samples are found.
    pub fn passes_left(&self) -> u32 {
        self.left / DIGIT
    }

    /// Adds a strip of the pass, without NaN.
    pub fn add(&mut self, strip: &Image<f64>) {
        let (channels, left, samples) = (self.channels.len(), self.left, strip.packed());
        for (number, channel) in self.channels.iter_mut().enumerate() {
            let Channel { prefixes, counts, .. } = channel;
            let orders = Orders { samples: &samples, channels, channel: number };
            let found = orders.each(
                || vec![0u64; prefixes.len() * UPPER],
                |counts, sample| {
                    let order = order_of_f64(sample);
                    // No bit is known in the first pass.
                    let prefix = order.checked_shr(left).unwrap_or(0);
                    if let Ok(place) = prefixes.binary_search(&prefix) {
                        counts[place * UPPER + (order >> (left - DIGIT)) as usize % UPPER] += 1;
                    }
                },
            );
            counts.iter_mut().zip(parallel::add_counts(found)).for_each(|(all, more)| *all += more);
        }
    }

    /// Ends a pass.
    ///
    /// # Panics
    /// If the strips of the pass hold fewer samples than a rank needs.
    pub fn narrow(&mut self) {
        self.left -= DIGIT;
        for channel in &mut self.channels {
            let Channel { sought, prefixes, counts } = channel;
            for of in sought.iter_mut() {
                let place = prefixes.binary_search(&of.prefix).expect("one of the prefixes");
                let mut digits = counts[place * UPPER..][..UPPER].iter();
                let digit = digits.position(|&count| {
                    let found = of.rank < count;
                    of.rank -= if found { 0 } else { count };
                    found
                });
                of.prefix = of.prefix << DIGIT | digit.expect("a sample of each rank") as u64;
            }
            *channel = Channel::new(std::mem::take(sought));
        }
    }

    /// Returns the samples of each channel, in the order of its ranks; all passes have ended.
    pub fn found(&self) -> Vec<Vec<f64>> {
        let of = |channel: &Channel| channel.sought.iter().map(|of| f64_of_order(of.prefix)).collect();
        self.channels.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_found_as_sorting_finds_them() {
        let sample = |x: u32, y: u32, c: u32| match (x + 7 * y + 3 * c) % 5 {
            0 => 1.0 + f64::from(x * y % 13) * f64::EPSILON,
            1 => -f64::from(y) * 1e300,
            2 => [f64::INFINITY, f64::NEG_INFINITY, 5e-324, -0.0][(x % 4) as usize],
            _ => f64::from(x) * 0.1 - f64::from(y * c),
        };
        let image = Image::from_fn(23, 17, 2, sample).unwrap();
        let strips = [0..1, 1..9, 9..17].map(|rows| image.region(0, rows.start, 23, rows.end - rows.start).unwrap());
        for channels in [1, 2] {
            let count = image.shape().samples() / channels;
            let ranks: Vec<u64> = (0..count).collect();
            let mut narrowing = Narrowing::new(vec![ranks; channels as usize]);
            assert_eq!(narrowing.passes_left(), 4);
            while narrowing.passes_left() > 0 {
                strips.iter().for_each(|strip| narrowing.add(strip));
                narrowing.narrow();
            }
            for (channel, found) in narrowing.found().into_iter().enumerate() {
                let samples = image.packed();
                let mut sorted: Vec<f64> =
                    samples.iter().skip(channel).step_by(channels as usize).map(|sample| sample + 0.0).collect();
                sorted.sort_by(f64::total_cmp);
                assert_eq!(found, sorted, "channel {channel} of {channels}");
            }
        }
    }
}
