//! Statistics of float samples that come in strips of rows: two passes over all strips.

use crate::percentiles::{Orders, UPPER, cumulated};
use crate::statistics::{NONE, by_rows};
use apron_core::{
    AnyImage, Error, FloatStatistics, Image, Kind, Percentile, Pixel, Result, Statistics, each_computed, join_extremes,
    not_computed, sample_of_order,
};

/// The first pass over the strips of an image, from the top: extremes, sums, and what percentiles need.
///
/// ```
/// use apron_core::Image;
///
/// let strips = [Image::new(2, 1, 1, vec![1.0f32, 5.0])?, Image::new(2, 1, 1, vec![3.0f32, 3.0])?];
/// let mut first = apron_cpu::FirstPass::new(1, vec![50.0]);
/// strips.iter().for_each(|strip| first.add(strip));
/// let mut second = first.second();
/// strips.iter().for_each(|strip| second.add(strip));
/// let of = &second.statistics_of::<f32>()[0];
/// assert_eq!((of.mean, of.std, of.percentiles[0]), (3.0, 2f64.sqrt(), 3.0));
/// # Ok::<(), apron_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FirstPass {
    percents: Vec<f64>,
    /// Samples per channel.
    count: u64,
    channels: Vec<First>,
}

/// State of one channel, or of all together.
#[derive(Clone, Debug)]
struct First {
    extremes: (f64, f64),
    sum: f64,
    /// Number of samples by the upper half of their sorting key; empty without percentiles.
    uppers: Vec<u64>,
}

impl FirstPass {
    /// Starts a pass. `channels` is the number of channels treated separately (1 for all together); `percents` are
    /// percentiles, 0 to 100.
    pub fn new(channels: usize, percents: Vec<f64>) -> FirstPass {
        let uppers = if percents.is_empty() { Vec::new() } else { vec![0; UPPER] };
        let channels = vec![First { extremes: NONE, sum: 0.0, uppers }; channels];
        FirstPass { percents, count: 0, channels }
    }

    /// Adds the next strip from the top.
    pub fn add<T: Pixel>(&mut self, strip: &Image<T>) {
        let channels = self.channels.len();
        self.count += strip.shape().samples() / channels as u64;
        let rows = by_rows(strip, channels, (NONE, 0.0), |(extremes, sum), sample| {
            (join_extremes(extremes, (sample, sample)), sum + sample)
        });
        for (number, channel) in self.channels.iter_mut().enumerate() {
            for row in &rows {
                let (extremes, sum) = row[number];
                channel.extremes = join_extremes(channel.extremes, extremes);
                channel.sum += sum;
            }
            if !channel.uppers.is_empty() {
                let orders = Orders { samples: &strip.packed(), channels, channel: number };
                channel.uppers.iter_mut().zip(orders.uppers()).for_each(|(all, more)| *all += more);
            }
        }
    }

    /// As [`add`](Self::add), of a strip whose type is known at run time only.
    ///
    /// # Errors
    /// [`Error::PixelType`] for types in which devices do not compute.
    pub fn add_any(&mut self, strip: &AnyImage<'_>) -> Result<()> {
        each_computed!(strip, strip => self.add(strip), else return Err(refused(strip)));
        Ok(())
    }

    /// Returns the smallest and the largest sample of all channels; NaN if a sample is.
    pub fn extremes(&self) -> (f64, f64) {
        self.channels.iter().fold(NONE, |all, channel| join_extremes(all, channel.extremes))
    }

    /// Ends the pass: all strips were added.
    pub fn second(self) -> SecondPass {
        let FirstPass { percents, count, channels } = self;
        let second = |First { extremes, sum, uppers }: First| {
            // Keys whose upper half is the largest are NaN.
            let number = uppers.last().is_none_or(|nan| *nan == 0);
            let upto = cumulated(uppers);
            let ranks = percents.iter().filter(|_| number).flat_map(|&percent| Percentile::of(percent, count).ranks);
            let mut wanted: Vec<usize> = ranks.map(|rank| upto.partition_point(|&upto| upto <= rank)).collect();
            wanted.sort_unstable();
            wanted.dedup();
            let lowers = vec![0; wanted.len() * UPPER];
            Second { extremes, mean: sum / count as f64, squares: 0.0, number, upto, wanted, lowers }
        };
        SecondPass { channels: channels.into_iter().map(second).collect(), percents, count }
    }
}

/// The second pass over the same strips, from the top: squared deviations, and the samples of the percentiles' ranks.
#[derive(Clone, Debug)]
pub struct SecondPass {
    percents: Vec<f64>,
    count: u64,
    channels: Vec<Second>,
}

#[derive(Clone, Debug)]
struct Second {
    extremes: (f64, f64),
    mean: f64,
    squares: f64,
    /// Whether no sample is NaN.
    number: bool,
    upto: Vec<u64>,
    /// Upper halves of keys that contain the rank of a percentile, and the counts of their lower halves.
    wanted: Vec<usize>,
    lowers: Vec<u64>,
}

impl Second {
    /// Returns the sample of a rank.
    fn nth(&self, rank: u64) -> f64 {
        let upper = self.upto.partition_point(|&upto| upto <= rank);
        let mut rest = rank - if upper > 0 { self.upto[upper - 1] } else { 0 };
        let number = self.wanted.binary_search(&upper).expect("one of the wanted");
        let counts = &self.lowers[number * UPPER..][..UPPER];
        let lower = counts.iter().position(|&count| {
            let found = rest < count;
            rest -= if found { 0 } else { count };
            found
        });
        f64::from(sample_of_order(
            (upper as u32) << 16 | lower.expect("the second pass saw the strips of the first") as u32,
        ))
    }
}

impl SecondPass {
    /// Adds the next strip from the top.
    pub fn add<T: Pixel>(&mut self, strip: &Image<T>) {
        let channels = self.channels.len();
        for (number, channel) in self.channels.iter_mut().enumerate() {
            let mean = channel.mean;
            let squares = by_rows(strip, channels, 0.0, |sum, sample| sum + (sample - mean) * (sample - mean));
            squares.iter().for_each(|row| channel.squares += row[number]);
            if !channel.wanted.is_empty() {
                let orders = Orders { samples: &strip.packed(), channels, channel: number };
                let counts = orders.lowers(&channel.wanted);
                channel.lowers.iter_mut().zip(counts).for_each(|(all, more)| *all += more);
            }
        }
    }

    /// As [`add`](Self::add), of a strip whose type is known at run time only.
    ///
    /// # Errors
    /// As [`FirstPass::add_any`].
    pub fn add_any(&mut self, strip: &AnyImage<'_>) -> Result<()> {
        each_computed!(strip, strip => self.add(strip), else return Err(refused(strip)));
        Ok(())
    }

    /// Ends the pass: the statistics of each channel, or of all, with the bits of [`statistics`](crate::statistics) and
    /// [`percentiles`](crate::percentiles) of the whole image, whose samples have type `T`.
    ///
    /// # Panics
    /// If the strips were not those of the first pass.
    pub fn statistics_of<T: Pixel>(&self) -> Vec<Statistics> {
        let of = |channel: &Second| {
            let percentile = |&percent: &f64| {
                let place = Percentile::of(percent, self.count);
                if channel.number {
                    place.between(T::PIXEL, place.ranks.map(|rank| channel.nth(rank)))
                } else {
                    f64::NAN
                }
            };
            let percentiles = self.percents.iter().map(percentile).collect();
            let of = Statistics::from_sums(self.count, channel.extremes, channel.mean, channel.squares);
            Statistics { percentiles, ..of }
        };
        self.channels.iter().map(of).collect()
    }
}

/// Returns the error for a strip of a type in which devices do not compute.
fn refused(strip: &AnyImage<'_>) -> Error {
    not_computed(FloatStatistics::OPERATION, strip.pixel_type())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{percentiles, statistics};

    fn check<T: Pixel>(image: &Image<T>, channels: usize) {
        let percents = vec![0.0, 12.5, 50.0, 99.9, 100.0];
        let mut whole = statistics(image, channels > 1);
        let found = percentiles(image, channels > 1, &percents);
        whole.iter_mut().zip(found).for_each(|(of, percentiles)| of.percentiles = percentiles);
        for rows in [1, 5, image.height()] {
            let strips = || {
                let tops = (0..image.height()).step_by(rows as usize);
                tops.map(move |top| image.region(0, top, image.width(), rows.min(image.height() - top)).unwrap())
            };
            let mut first = FirstPass::new(channels, percents.clone());
            strips().for_each(|strip| first.add(&strip));
            let mut second = first.second();
            strips().for_each(|strip| second.add(&strip));
            // Compared as text, since NaN does not equal itself.
            assert_eq!(format!("{:?}", second.statistics_of::<T>()), format!("{whole:?}"), "{rows}");
        }
    }

    #[test]
    fn strips_have_the_bits_of_the_whole() {
        let sample = |x: u32, y: u32, c: u32| {
            let bits = (x * 31 + y * 1009 + c * 77).wrapping_mul(0x9e37_79b9);
            (bits as f32 - 2e9) * if bits.is_multiple_of(7) { 1e-20 } else { 1e-3 }
        };
        let image = Image::from_fn(23, 17, 3, sample).unwrap();
        check(&image, 1);
        check(&image, 3);
        let halves = Image::from_fn(23, 17, 1, |x, y, _| apron_core::f16::from_f32(sample(x, y, 0) * 1e-3)).unwrap();
        check(&halves, 1);
        let nan = Image::from_fn(5, 7, 2, |x, y, c| if (x, y, c) == (3, 6, 1) { f32::NAN } else { sample(x, y, c) });
        check(&nan.unwrap(), 2);
    }
}
