//! Parallel weighted histograms.

use crate::histogram::extremes;
use crate::parallel;
use apron_core::{Binning, Image, Pixel, Result, WEIGHTED_BLOCK, WeightedHistogram, check_weights};

/// Sums weights, one per pixel, by the bins of the samples: `numpy.histogram` with weights. Blocks are computed in
/// parallel and added in NumPy's order.
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
    let edges = binning.edges(T::PIXEL, || extremes(image, None))?;
    let (all, apart) = (image.channels() as usize, if per_channel { image.channels() as usize } else { 1 });
    let (samples, bins) = (image.packed(), edges.bins());
    let block = |channel: usize, block: usize| {
        let mut sums = vec![0.0; bins];
        let first = channel + block * WEIGHTED_BLOCK * apart;
        for sample in (first..samples.len()).step_by(apart).take(WEIGHTED_BLOCK) {
            if let Some(bin) = edges.bin(samples[sample].to_f64()) {
                sums[bin] += weights[sample / all];
            }
        }
        sums
    };
    let blocks: Vec<usize> = (0..(samples.len() / apart).div_ceil(WEIGHTED_BLOCK)).collect();
    let mut sums = vec![0.0; bins * apart];
    for (channel, sums) in sums.chunks_mut(bins).enumerate() {
        // One block per thread at a time, to bound the memory for the bins.
        for few in blocks.chunks(parallel::threads() as usize) {
            let found: Vec<Vec<f64>> = parallel::map(few.len(), &|index| block(channel, few[index]));
            for more in found {
                sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            }
        }
    }
    Ok(WeightedHistogram { edges, channels: apart as u32, sums })
}
