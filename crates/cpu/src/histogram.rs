//! Parallel histograms.

use crate::parallel;
use apron_core::{AnyImage, Binning, Bins, Histogram, Image, Pixel, Result, check_roi, join_extremes, not_computed};
use std::ops::Range;

/// Least number of samples per task.
const PART_SAMPLES: usize = 1 << 18;
/// Most tasks per thread: several, so that threads finish together.
const PARTS: u64 = 4;
/// Bytes read at a time: whole words, for either number of tables.
const GROUP: usize = 24;

/// Byte counts of one task. Successive bytes are distributed over `N` tables, a multiple of the number of channels, so
/// that each table counts one channel, and that runs of equal bytes wait less for the counter that was just stored.
struct ByteTables<const N: usize> {
    tables: Box<[[u32; 256]; N]>,
    /// Bytes counted in the tables, which are emptied before a counter could overflow.
    pending: usize,
    /// Counts per table, accumulated from emptied tables.
    totals: Box<[[u64; 256]; N]>,
}

impl<const N: usize> ByteTables<N> {
    fn new() -> Self {
        ByteTables { tables: Box::new([[0; 256]; N]), pending: 0, totals: Box::new([[0; 256]; N]) }
    }

    /// Counts bytes; the first one belongs to channel 0.
    fn count(&mut self, bytes: &[u8]) {
        const MOST: usize = (u32::MAX as usize / 2) / GROUP * GROUP;
        for bytes in bytes.chunks(MOST) {
            if self.pending + bytes.len() > u32::MAX as usize {
                self.empty();
            }
            self.pending += bytes.len();
            let (groups, rest) = bytes.as_chunks::<GROUP>();
            for group in groups {
                for (n, word) in group.as_chunks::<8>().0.iter().enumerate() {
                    let word = u64::from_le_bytes(*word);
                    for byte in 0..8 {
                        self.tables[(8 * n + byte) % N][(word >> (8 * byte)) as u8 as usize] += 1;
                    }
                }
            }
            for (n, &byte) in rest.iter().enumerate() {
                self.tables[n % N][byte as usize] += 1;
            }
        }
    }

    #[cfg(test)]
    fn nearly_full(table: usize, byte: u8) -> Self {
        let mut tables = ByteTables::new();
        tables.tables[table][byte as usize] = u32::MAX - 1;
        tables.pending = u32::MAX as usize - 1;
        tables
    }

    fn empty(&mut self) {
        for (totals, table) in self.totals.iter_mut().zip(self.tables.iter_mut()) {
            totals.iter_mut().zip(table.iter()).for_each(|(total, &count)| *total += count as u64);
            table.fill(0);
        }
        self.pending = 0;
    }

    /// Returns the counts of each channel.
    fn finish(mut self, channels: usize) -> Vec<u64> {
        self.empty();
        let mut counts = vec![0; 256 * channels];
        for (i, totals) in self.totals.iter().enumerate() {
            let of_channel = &mut counts[i % channels * 256..][..256];
            of_channel.iter_mut().zip(totals).for_each(|(count, total)| *count += total);
        }
        counts
    }
}

/// Counts the bytes of runs of whole pixels, in parallel.
fn count_bytes<'a>(parts: &(dyn Fn(usize) -> Vec<&'a [u8]> + Sync), count: usize, channels: usize) -> Vec<u64> {
    fn of_part<const N: usize>(runs: &[&[u8]], channels: usize) -> Vec<u64> {
        let mut tables = ByteTables::<N>::new();
        runs.iter().for_each(|run| tables.count(run));
        tables.finish(channels)
    }
    parallel::add_counts(parallel::map(count, &|part| match channels {
        3 => of_part::<3>(&parts(part), channels),
        _ => of_part::<4>(&parts(part), channels),
    }))
}

/// Returns ranges of whole rows, of [`PART_SAMPLES`] samples or more each, and at most [`PARTS`] per thread.
fn bands<T: Pixel>(image: &Image<T>) -> Vec<Range<u32>> {
    let most = image.shape().samples() / PART_SAMPLES as u64;
    parallel::split(image.height(), most.clamp(1, PARTS * parallel::threads()))
}

/// Counts the byte values of an image, 256 per channel, of all channels together or of each channel.
///
/// ```
/// use apron_core::Image;
///
/// let image = Image::new(2, 1, 2, vec![7u8, 9, 7, 7])?;
/// assert_eq!(apron_cpu::byte_histogram(&image, false)[7], 3);
/// assert_eq!(apron_cpu::byte_histogram(&image, true)[256 + 9], 1);
/// # Ok::<(), apron_core::Error>(())
/// ```
pub fn byte_histogram(image: &Image<u8>, per_channel: bool) -> Vec<u64> {
    let channels = if per_channel { image.channels() as usize } else { 1 };
    if image.row_stride() == image.shape().row_samples() {
        let packed = image.packed();
        let samples = packed.len().div_ceil((PARTS * parallel::threads()) as usize).max(PART_SAMPLES);
        let parts: Vec<&[u8]> = packed.chunks(samples.next_multiple_of(GROUP)).collect();
        count_bytes(&|part| vec![parts[part]], parts.len(), channels)
    } else {
        let rows = bands(image);
        count_bytes(&|part| rows[part].clone().map(|y| image.row(y)).collect(), rows.len(), channels)
    }
}

/// Computes the histogram of an image over `bins`, with the semantics of `numpy.histogram`: bins are half-open, except
/// the last; samples outside the range and NaN are not counted.
///
/// # Errors
/// [`Error::Parameter`](apron_core::Error::Parameter) for invalid bins, [`Error::Samples`](apron_core::Error::Samples)
/// if the range depends on samples with NaN or infinity.
pub fn histogram<T: Pixel>(image: &Image<T>, bins: &Bins, per_channel: bool) -> Result<Histogram> {
    count(image, &Binning::Even(*bins), per_channel, None)
}

/// Computes a histogram in any bins, of all pixels or of those where `roi`, of one channel, is not 0.
///
/// # Errors
/// As [`histogram`], and [`Error::Shape`](apron_core::Error::Shape) for a mask of another width or height, or of more
/// than one channel.
pub fn count<T: Pixel>(
    image: &Image<T>,
    binning: &Binning,
    per_channel: bool,
    roi: Option<&Image<u8>>,
) -> Result<Histogram> {
    check_roi(image.shape(), roi.map(Image::shape))?;
    let channels = if per_channel { image.channels() as usize } else { 1 };
    if let Some((low, values)) = T::PIXEL.values() {
        // Counting every value is faster than a search per sample, and also gives the extremes.
        let counts = match T::into_any(image.view()) {
            AnyImage::U8(image) if roi.is_none() => byte_histogram(&image, per_channel),
            AnyImage::U8(image) => cells(&image, roi, channels, values, |sample| Some(sample as usize)),
            AnyImage::U16(image) => cells(&image, roi, channels, values, |sample| Some(sample as usize)),
            AnyImage::I16(image) => cells(&image, roi, channels, values, |sample| Some((sample as i32 - low) as usize)),
            other => return Err(not_computed("histogram", other.pixel_type())),
        };
        let edges = binning.edges(T::PIXEL, || {
            let found = (0..values).filter(|&value| counts.chunks_exact(values).any(|counts| counts[value] > 0));
            found.map(|value| (low + value as i32) as f64).fold(NONE, |all, value| join_extremes(all, (value, value)))
        })?;
        return Ok(match binning.is_of_values(T::PIXEL) {
            true => Histogram::new(edges, channels as u32, counts),
            false => Histogram::from_value_counts(edges, T::PIXEL, channels as u32, &counts),
        });
    }
    let edges = binning.edges(T::PIXEL, || extremes(image, roi))?;
    let counts = cells(image, roi, channels, edges.bins(), |sample| edges.bin(sample.to_f64()));
    Ok(Histogram::new(edges, channels as u32, counts))
}

/// Counts the samples of each channel by the index that `cell` returns, which is below `cells`.
fn cells<T: Pixel>(
    image: &Image<T>,
    roi: Option<&Image<u8>>,
    channels: usize,
    cells: usize,
    cell: impl Fn(T) -> Option<usize> + Sync,
) -> Vec<u64> {
    // At most one part per thread, and none so small that merging its counts outweighs the counting.
    let most = image.shape().samples() / (cells * channels) as u64;
    let rows = parallel::split(image.height(), most.clamp(1, parallel::threads()));
    parallel::add_counts(parallel::map(rows.len(), &|part| {
        let mut totals = Vec::new();
        // Half the cache lines of wide counters. They are emptied before one could overflow.
        let mut counts = vec![0u32; cells * channels];
        let mut room = u32::MAX as usize;
        let mut add = |samples: &[T]| {
            if room < samples.len() {
                empty(&mut counts, &mut totals);
                room = u32::MAX as usize;
            }
            room -= samples.len();
            if channels == 1 {
                for &sample in samples {
                    if let Some(cell) = cell(sample) {
                        counts[cell] += 1;
                    }
                }
                return;
            }
            for pixel in samples.chunks_exact(channels) {
                for (of_channel, &sample) in counts.chunks_exact_mut(cells).zip(pixel) {
                    if let Some(cell) = cell(sample) {
                        of_channel[cell] += 1;
                    }
                }
            }
        };
        for y in rows[part].clone() {
            parallel::end_if_stopped();
            match roi {
                None => add(image.row(y)),
                Some(roi) => selected(image, roi, y).for_each(&mut add),
            }
        }
        empty(&mut counts, &mut totals);
        totals
    }))
}

/// Adds counts to their totals, which start empty, and clears them.
fn empty(counts: &mut [u32], totals: &mut Vec<u64>) {
    if totals.is_empty() {
        totals.extend(counts.iter().map(|&count| count as u64));
    } else {
        totals.iter_mut().zip(&*counts).for_each(|(total, &count)| *total += count as u64);
    }
    counts.fill(0);
}

/// Returns the pixels of a row that a mask selects.
fn selected<'a, T: Pixel>(image: &'a Image<T>, roi: &'a Image<u8>, y: u32) -> impl Iterator<Item = &'a [T]> {
    let pixels = image.row(y).chunks_exact(image.channels() as usize).zip(roi.row(y));
    pixels.filter(|(_, roi)| **roi != 0).map(|(pixel, _)| pixel)
}

/// The extremes of no samples.
const NONE: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// Returns the minimum and maximum sample, of all pixels or of those that a mask selects; both NaN if a sample is NaN.
pub(crate) fn extremes<T: Pixel>(image: &Image<T>, roi: Option<&Image<u8>>) -> (f64, f64) {
    let join = |all, sample: &T| join_extremes(all, (sample.to_f64(), sample.to_f64()));
    let of_row = |y: u32| match roi {
        None => image.row(y).iter().fold(NONE, join),
        Some(roi) => selected(image, roi, y).flatten().fold(NONE, join),
    };
    let rows = bands(image);
    let of_bands = parallel::map(rows.len(), &|part| rows[part].clone().map(of_row).fold(NONE, join_extremes));
    of_bands.into_iter().fold(NONE, join_extremes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_32_bits_are_emptied_before_they_overflow() {
        let mut tables = ByteTables::<4>::nearly_full(0, 7);
        tables.count(&[7; GROUP]);
        tables.count(&[7; GROUP]);
        assert_eq!(tables.finish(1)[7], u64::from(u32::MAX) - 1 + 2 * GROUP as u64);
    }
}
