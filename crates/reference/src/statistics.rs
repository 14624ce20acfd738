//! Serial statistics of float samples.

use apron_core::{Image, IntegerTotals, Ordered, Percentile, Pixel, Statistics, join_extremes};

/// Sums integers of 32 or 64 bits exactly, of all channels together or of each channel.
pub fn totals<T: Pixel + Ordered>(image: &Image<T>, per_channel: bool) -> Vec<IntegerTotals> {
    let channels = if per_channel { image.channels() } else { 1 } as usize;
    let mut all = vec![IntegerTotals::NONE; channels];
    for (at, sample) in image.rows().flatten().enumerate() {
        all[at % channels] = all[at % channels].with(sample.order());
    }
    all
}

/// Computes statistics of float samples, of all channels together or of each channel.
///
/// Sums are taken in f64: each row from the left, then the row sums from the top; first of the samples, then of their
/// squared deviations from the mean.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(2, 2, 1, vec![1.0f32, 2.0, 3.0, 6.0])?;
/// let statistics = &apron_reference::statistics(&image, false)[0];
/// assert_eq!((statistics.min, statistics.max, statistics.mean), (1.0, 6.0, 3.0));
/// assert_eq!(statistics.std, 3.5f64.sqrt());
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn statistics<T: Pixel>(image: &Image<T>, per_channel: bool) -> Vec<Statistics> {
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let of_channel = |channel: usize| {
        let (mut count, mut extremes) = (0, (f64::INFINITY, f64::NEG_INFINITY));
        let mut sum = 0.0;
        for row in image.rows() {
            let mut of_row = 0.0;
            for &sample in row.iter().skip(channel).step_by(channels) {
                count += 1;
                extremes = join_extremes(extremes, (sample.to_f64(), sample.to_f64()));
                of_row += sample.to_f64();
            }
            sum += of_row;
        }
        let mean = sum / count as f64;
        let mut squares = 0.0;
        for row in image.rows() {
            let mut of_row = 0.0;
            for &sample in row.iter().skip(channel).step_by(channels) {
                let distance = sample.to_f64() - mean;
                of_row += distance * distance;
            }
            squares += of_row;
        }
        Statistics::from_sums(count, extremes, mean, squares)
    };
    (0..channels).map(of_channel).collect()
}

/// Computes percentiles, 0 to 100 each, of float samples, of all channels together or of each channel: the result of
/// `numpy.percentile` with its linear method; NaN if a sample is NaN. A zero is positive.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(3, 1, 1, vec![8.0f32, 1.0, 2.0])?;
/// assert_eq!(apron_reference::percentiles(&image, false, &[50.0, 75.0]), [[2.0, 5.0]]);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn percentiles<T: Pixel>(image: &Image<T>, per_channel: bool, percentiles: &[f64]) -> Vec<Vec<f64>> {
    let channels = if per_channel { image.channels() as usize } else { 1 };
    let of_channel = |channel: usize| {
        let samples = image.rows().flat_map(|row| row.iter().skip(channel).step_by(channels));
        let mut samples: Vec<f64> = samples.map(|sample| sample.to_f64() + 0.0).collect();
        if samples.iter().any(|sample| sample.is_nan()) {
            return vec![f64::NAN; percentiles.len()];
        }
        samples.sort_by(f64::total_cmp);
        let value =
            |percentile: Percentile| percentile.between(T::PIXEL, percentile.ranks.map(|rank| samples[rank as usize]));
        percentiles.iter().map(|&percent| value(Percentile::of(percent, samples.len() as u64))).collect()
    };
    (0..channels).map(of_channel).collect()
}
