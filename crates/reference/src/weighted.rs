//! Serial weighted histograms.

use apron_core::{Binning, Image, Pixel, Result, WEIGHTED_BLOCK, WeightedHistogram, check_weights};

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
