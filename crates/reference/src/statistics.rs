//! The serial statistics of floats.

use apron_core::{Image, Pixel, Statistics, join_extremes};

/// Statistics of floats, of all channels together or of each apart.
///
/// Sums are taken in f64: of each row from the left, and of the rows' sums from the top; first of the samples, then of
/// their squared distances to the mean.
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
        Statistics::of_sums(count, extremes, mean, squares)
    };
    (0..channels).map(of_channel).collect()
}
