//! Parallel percentiles of float samples.
//!
//! Samples become 32-bit keys in sorting order. The keys are counted by their upper 16 bits, which determine the group
//! that holds a rank; only the lower 16 bits of those groups are then sorted.

use crate::parallel;
use apron_core::{Image, Percentile, Pixel, PixelType, f64_of_order, order_of, order_of_f64, sample_of_order};
use rayon::slice::ParallelSliceMut;

/// Samples per channel and task: enough work to justify the task's own counts.
const PART: usize = 1 << 20;
/// Number of values of the upper 16 bits.
pub(crate) const UPPER: usize = 1 << 16;

/// Computes percentiles, 0 to 100 each, of float samples, of all channels together or of each channel: the result of
/// `numpy.percentile` with its linear method; NaN if a sample is NaN. A zero is positive.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(2, 1, 2, vec![1.0f32, 5.0, 3.0, 5.0])?;
/// assert_eq!(apron_cpu::percentiles(&image, true, &[50.0]), [[2.0], [5.0]]);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn percentiles<T: Pixel>(image: &Image<T>, per_channel: bool, percentiles: &[f64]) -> Vec<Vec<f64>> {
    if percentiles.is_empty() {
        return Vec::new();
    }
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let samples = image.packed();
    if T::PIXEL == PixelType::F64 {
        let samples = bytemuck::cast_slice(&samples);
        return (0..channels).map(|channel| of_doubles(samples, channels, channel, percentiles)).collect();
    }
    let of_channel = |channel: usize| {
        let orders = Orders { samples: &samples, channels, channel };
        let (upto, count) = (orders.upto(), (samples.len() / channels) as u64);
        // Keys whose upper half is the last are NaN.
        if upto[UPPER - 2] < count {
            return vec![f64::NAN; percentiles.len()];
        }
        let upper = |rank: u64| upto.partition_point(|&upto| upto <= rank);
        let places: Vec<Percentile> = percentiles.iter().map(|&percent| Percentile::of(percent, count)).collect();
        let mut wanted: Vec<usize> = places.iter().flat_map(|place| place.ranks.map(upper)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let lower = orders.lower_of(&wanted);
        let nth = |rank: u64| {
            let upper = upper(rank);
            let below = if upper > 0 { upto[upper - 1] } else { 0 };
            let of = wanted.binary_search(&upper).expect("one of the wanted");
            f64::from(sample_of_order((upper as u32) << 16 | u32::from(lower[of][(rank - below) as usize])))
        };
        places.into_iter().map(|place| place.between(T::PIXEL, place.ranks.map(nth))).collect()
    };
    (0..channels).map(of_channel).collect()
}

/// Computes percentiles of a channel's f64 samples, by keys of 64 bits.
fn of_doubles(samples: &[f64], channels: usize, channel: usize, percentiles: &[f64]) -> Vec<f64> {
    let (orders, upper_of) =
        (Orders { samples, channels, channel }, |sample: f64| (order_of_f64(sample) >> 48) as usize);
    let uppers = orders.each(|| vec![0u64; UPPER], |counts, sample| counts[upper_of(sample)] += 1);
    let (upto, count) = (cumulated(parallel::add_counts(uppers)), (samples.len() / channels) as u64);
    // Keys whose upper 16 bits are the last are NaN.
    if upto[UPPER - 2] < count {
        return vec![f64::NAN; percentiles.len()];
    }
    let upper = |rank: u64| upto.partition_point(|&upto| upto <= rank);
    let ranks: Vec<Percentile> = percentiles.iter().map(|&percent| Percentile::of(percent, count)).collect();
    let mut wanted: Vec<usize> = ranks.iter().flat_map(|place| place.ranks.map(upper)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let place = places(&wanted);
    let parts = orders.each(
        || vec![Vec::new(); wanted.len()],
        |keys, sample| {
            if let Some(number) = place[upper_of(sample)] {
                keys[number].push(order_of_f64(sample));
            }
        },
    );
    let mut keys = vec![Vec::new(); wanted.len()];
    parts.into_iter().for_each(|part| keys.iter_mut().zip(part).for_each(|(keys, more)| keys.extend(more)));
    keys.iter_mut().for_each(|keys| keys.par_sort_unstable());
    let nth = |rank: u64| {
        let upper = upper(rank);
        let below = if upper > 0 { upto[upper - 1] } else { 0 };
        let of = wanted.binary_search(&upper).expect("one of the wanted");
        f64_of_order(keys[of][(rank - below) as usize])
    };
    ranks.into_iter().map(|place| place.between(PixelType::F64, place.ranks.map(nth))).collect()
}

/// The sorting keys of a channel's samples, or of all samples.
pub(crate) struct Orders<'a, T> {
    pub(crate) samples: &'a [T],
    pub(crate) channels: usize,
    pub(crate) channel: usize,
}

impl<T: Pixel> Orders<'_, T> {
    /// Folds parts of the samples in parallel, each from its own start.
    pub(crate) fn each<S: Send>(&self, start: impl Fn() -> S + Sync, take: impl Fn(&mut S, T) + Sync) -> Vec<S> {
        let pixels = self.samples.len() / self.channels;
        let pixels = pixels.div_ceil(parallel::threads() as usize).max(PART);
        let parts: Vec<&[T]> = self.samples.chunks(pixels * self.channels).collect();
        parallel::map(parts.len(), &|part| {
            let mut all = start();
            // A separate loop for a stride of one, which the compiler can vectorize.
            match self.channels {
                1 => parts[part].iter().for_each(|&sample| take(&mut all, sample)),
                _ => {
                    let pixels = parts[part].chunks_exact(self.channels);
                    pixels.for_each(|of| take(&mut all, of[self.channel]));
                }
            }
            all
        })
    }

    /// Counts the keys by their upper halves.
    pub(crate) fn uppers(&self) -> Vec<u64> {
        let count = |counts: &mut Vec<u64>, sample: T| counts[(order_of(sample.to_f32()) >> 16) as usize] += 1;
        parallel::add_counts(self.each(|| vec![0u64; UPPER], count))
    }

    /// Returns the cumulative counts by upper half: keys whose upper half is at most the index.
    fn upto(&self) -> Vec<u64> {
        cumulated(self.uppers())
    }

    /// Counts the keys of each of the wanted upper halves by their lower halves.
    pub(crate) fn lowers(&self, wanted: &[usize]) -> Vec<u64> {
        let place = places(wanted);
        let count = |counts: &mut Vec<u64>, sample: T| {
            let order = order_of(sample.to_f32());
            if let Some(number) = place[(order >> 16) as usize] {
                counts[number * UPPER + (order & 0xffff) as usize] += 1;
            }
        };
        parallel::add_counts(self.each(|| vec![0u64; wanted.len() * UPPER], count))
    }

    /// Returns the sorted lower halves of the keys with each of the wanted upper halves.
    fn lower_of(&self, wanted: &[usize]) -> Vec<Vec<u16>> {
        let place = places(wanted);
        let parts = self.each(
            || vec![Vec::new(); wanted.len()],
            |lower, sample| {
                let order = order_of(sample.to_f32());
                if let Some(number) = place[(order >> 16) as usize] {
                    lower[number].push(order as u16);
                }
            },
        );
        let mut lower = vec![Vec::new(); wanted.len()];
        for part in parts {
            lower.iter_mut().zip(part).for_each(|(lower, more)| lower.extend(more));
        }
        lower.iter_mut().for_each(|lower| lower.par_sort_unstable());
        lower
    }
}

/// Returns the index in `wanted` of each upper half.
fn places(wanted: &[usize]) -> Vec<Option<usize>> {
    let mut place = vec![None; UPPER];
    wanted.iter().enumerate().for_each(|(number, &upper)| place[upper] = Some(number));
    place
}

/// Replaces counts by the sums of those up to each.
pub(crate) fn cumulated(mut counts: Vec<u64>) -> Vec<u64> {
    let mut upto = 0;
    counts.iter_mut().for_each(|count| {
        upto += *count;
        *count = upto;
    });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nan_is_behind_the_upper_half_of_infinity() {
        assert!(order_of(f32::INFINITY) >> 16 < UPPER as u32 - 1 && order_of(f32::NAN) >> 16 == UPPER as u32 - 1);
    }

    #[test]
    fn parts_are_those_of_the_whole() {
        // Several parts and several upper halves; one upper half holds most samples.
        let samples: Vec<f32> =
            (0..3 * PART as u32 / 2).map(|n| f32::from_bits(n.wrapping_mul(2654435761) >> 2)).collect();
        let samples: Vec<f32> =
            samples.into_iter().enumerate().map(|(n, of)| if n % 3 > 0 { 1.5 } else { of }).collect();
        let image = Image::new(3, PART as u32 / 2, 1, samples).unwrap();
        let percents = [0.0, 10.0, 20.0, 50.0, 99.0, 100.0];
        let expected = apron_reference::percentiles(&image, false, &percents);
        assert_eq!(percentiles(&image, false, &percents), expected);
        // Of f64, with samples that f32 does not tell apart.
        let doubles: Vec<f64> = image
            .packed()
            .iter()
            .zip(0..)
            .map(|(&of, n)| of as f64 * (1.0 + f64::from(n % 997) * f64::EPSILON))
            .collect();
        let image = Image::new(3, PART as u32 / 2, 1, doubles).unwrap();
        let expected = apron_reference::percentiles(&image, false, &percents);
        assert_eq!(percentiles(&image, false, &percents), expected);
    }
}
