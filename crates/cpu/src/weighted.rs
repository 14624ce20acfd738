//! Parallel weighted histograms, and joint histograms of two channels.

use crate::histogram::extremes;
use crate::parallel;
use apron_core::{
    Binning, Histogram2d, Image, Pixel, Result, WEIGHTED_BLOCK, WeightedHistogram, channel_of, check_memory,
    check_weights,
};

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

/// Counts pixels by the bins of two channels: `numpy.histogram2d`.
///
/// # Errors
/// As [`Binning::edges`], and [`Error::Parameter`](apron_core::Error::Parameter) for a channel that does not exist.
pub fn histogram2d<T: Pixel>(image: &Image<T>, channels: [u32; 2], binning: [&Binning; 2]) -> Result<Histogram2d> {
    let [first, second] = [channel_of(image, channels[0])?, channel_of(image, channels[1])?];
    let first_edges = binning[0].edges(T::PIXEL, || extremes(&first, None))?;
    let second_edges = binning[1].edges(T::PIXEL, || extremes(&second, None))?;
    let cells = first_edges.bins() * second_edges.bins();
    let threads = parallel::threads();
    check_memory::<u64>(cells as u64 * (threads + 1), "pairs of bins, for each thread")?;
    let parts = parallel::split(image.height(), threads);
    let counts = parallel::map(parts.len(), &|part| {
        let mut counts = vec![0u64; cells];
        for y in parts[part].clone() {
            for (a, b) in first.row(y).iter().zip(second.row(y)) {
                if let (Some(a), Some(b)) = (first_edges.bin(a.to_f64()), second_edges.bin(b.to_f64())) {
                    counts[a * second_edges.bins() + b] += 1;
                }
            }
        }
        counts
    });
    Ok(Histogram2d { first: first_edges, second: second_edges, counts: parallel::add_counts(counts) })
}
