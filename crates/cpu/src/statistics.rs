//! Parallel statistics: rows in parallel, sums of floats each in the reference's order.

use crate::parallel;
use apron_core::{Image, IntegerTotals, Ordered, Pixel, Statistics, join_extremes};

pub(crate) const NONE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// Computes statistics of float samples, of all channels together or of each channel. Sums are taken in f64: each row
/// from the left, then the row sums from the top.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(2, 1, 2, vec![1.0f32, 5.0, 3.0, 5.0])?;
/// let statistics = apron_cpu::statistics(&image, true);
/// assert_eq!((statistics[0].mean, statistics[0].std), (2.0, 1.0));
/// assert_eq!((statistics[1].mean, statistics[1].std), (5.0, 0.0));
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn statistics<T: Pixel>(image: &Image<T>, per_channel: bool) -> Vec<Statistics> {
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let count = image.shape().samples() / channels as u64;
    let extremes = by_rows(image, channels, NONE, |all, sample| join_extremes(all, (sample, sample)));
    let joined = |rows: &[(f64, f64)]| rows.iter().copied().fold(NONE, join_extremes);
    let sums = by_rows(image, channels, 0.0, |sum, sample| sum + sample);
    let of_channel = |channel: usize| {
        let of = |rows: &[Vec<f64>]| rows.iter().fold(0.0, |sum, row| sum + row[channel]);
        let mean = of(&sums) / count as f64;
        let squares = by_rows(image, channels, 0.0, |sum, sample| sum + (sample - mean) * (sample - mean));
        let extremes: Vec<(f64, f64)> = extremes.iter().map(|row| row[channel]).collect();
        Statistics::from_sums(count, joined(&extremes), mean, of(&squares))
    };
    (0..channels).map(of_channel).collect()
}

/// Sums integers of 32 or 64 bits exactly, of all channels together or of each channel.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(3, 1, 1, vec![i64::MIN, i64::MIN + 2, i64::MIN + 4])?;
/// assert_eq!(apron_cpu::totals(&image, false)[0].sum, 6);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn totals<T: Pixel + Ordered>(image: &Image<T>, per_channel: bool) -> Vec<IntegerTotals> {
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let of_row = |y: usize| {
        let samples = |channel| image.row(y as u32).iter().skip(channel).step_by(channels);
        let of = |channel| samples(channel).fold(IntegerTotals::NONE, |all, sample| all.with(sample.order()));
        (0..channels).map(of).collect::<Vec<_>>()
    };
    let rows = parallel::map(image.height() as usize, &of_row);
    (0..channels).map(|channel| rows.iter().fold(IntegerTotals::NONE, |all, row| all.and(row[channel]))).collect()
}

/// Folds each row's samples per channel, from the left.
pub(crate) fn by_rows<T: Pixel, S: Copy + Send + Sync>(
    image: &Image<T>,
    channels: usize,
    start: S,
    add: impl Fn(S, f64) -> S + Sync,
) -> Vec<Vec<S>> {
    let of_row = |y: usize| {
        let y = y as u32;
        if channels == 1 {
            return vec![image.row(y).iter().fold(start, |all, &sample| add(all, sample.to_f64()))];
        }
        let mut all = vec![start; channels];
        for pixel in image.row(y).chunks_exact(channels) {
            all.iter_mut().zip(pixel).for_each(|(all, &sample)| *all = add(*all, sample.to_f64()));
        }
        all
    };
    parallel::map(image.height() as usize, &of_row)
}
