//! Serial weighted histograms, and joint histograms of two channels.

use apron_core::{
    Binning, Histogram2d, Image, Pixel, Result, WEIGHTED_BLOCK, WeightedHistogram, channel_of, check_memory,
    check_weights,
};

/// Sums weights, one per pixel, by the bins of the samples: `numpy.histogram` with weights.
///
/// The order of summation is NumPy's for even bins and f64 weights: samples in memory order (of each channel, where
/// channels are separate), in blocks of [`WEIGHTED_BLOCK`], each summed from 0 and then added to the total.
///
/// ```
/// use apron_core::{Binning, Bins, Image};
///
/// let image = Image::new(3, 1, 1, vec![0u8, 200, 10])?;
/// let bins = Binning::Even(Bins { count: 2, range: None });
/// assert_eq!(apron_reference::weighted(&image, &bins, false, &[0.5, 2.0, 0.25])?.sums, [0.75, 2.0]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Binning::edges`], and [`Error::Shape`](apron_core::Error::Shape) if the numbers of weights and pixels differ.
pub fn weighted<T: Pixel>(
    image: &Image<T>,
    binning: &Binning,
    per_channel: bool,
    weights: &[f64],
) -> Result<WeightedHistogram> {
    check_weights(image.shape(), weights)?;
    let edges = crate::count(image, binning, false, None)?.into_edges();
    let channels = if per_channel { image.channels() } else { 1 };
    let (samples, bins) = (image.packed(), edges.bins());
    let mut sums = vec![0.0; bins * channels as usize];
    for (channel, sums) in sums.chunks_mut(bins).enumerate() {
        let of_channel = || (channel..samples.len()).step_by(channels as usize);
        for start in (0..of_channel().len()).step_by(WEIGHTED_BLOCK) {
            let mut block = vec![0.0; bins];
            for sample in of_channel().skip(start).take(WEIGHTED_BLOCK) {
                if let Some(bin) = edges.bin(samples[sample].to_f64()) {
                    block[bin] += weights[sample / image.channels() as usize];
                }
            }
            sums.iter_mut().zip(block).for_each(|(sum, more)| *sum += more);
        }
    }
    Ok(WeightedHistogram { edges, channels, sums })
}

/// Counts pixels by the bins of two channels: `numpy.histogram2d`.
///
/// ```
/// use apron_core::{Binning, Bins, Image};
///
/// let image = Image::new(3, 1, 2, vec![0u8, 200, 10, 10, 200, 200])?;
/// let bins = Binning::Even(Bins { count: 2, range: None });
/// let histogram = apron_reference::histogram2d(&image, [0, 1], [&bins, &bins])?;
/// assert_eq!(histogram.counts, [1, 1, 0, 1]);
/// # Ok::<(), apron_core::Error>(())
/// ```
///
/// # Errors
/// As [`Binning::edges`], and [`Error::Parameter`](apron_core::Error::Parameter) for a channel that does not exist.
pub fn histogram2d<T: Pixel>(image: &Image<T>, channels: [u32; 2], binning: [&Binning; 2]) -> Result<Histogram2d> {
    let [first, second] = [channel_of(image, channels[0])?, channel_of(image, channels[1])?];
    let edges = [crate::count(&first, binning[0], false, None)?, crate::count(&second, binning[1], false, None)?];
    let [first_edges, second_edges] = edges.map(|histogram| histogram.into_edges());
    check_memory::<u64>(first_edges.bins() as u64 * second_edges.bins() as u64, "pairs of bins")?;
    let mut counts = vec![0; first_edges.bins() * second_edges.bins()];
    for (a, b) in first.rows().flatten().zip(second.rows().flatten()) {
        if let (Some(a), Some(b)) = (first_edges.bin(a.to_f64()), second_edges.bin(b.to_f64())) {
            counts[a * second_edges.bins() + b] += 1;
        }
    }
    Ok(Histogram2d { first: first_edges, second: second_edges, counts })
}
