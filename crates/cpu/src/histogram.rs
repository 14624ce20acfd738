//! Parallel histograms.

use crate::parallel;
use apron_core::{Binning, Bins, Histogram, Image, Pixel, PixelType, Result, check_roi, join_extremes};
use std::ops::Range;

/// Least number of samples per task.
const PART_SAMPLES: usize = 1 << 18;
/// Most tasks per thread: several, so that threads finish together.
const PARTS: u64 = 4;
/// Number of tables over which successive bytes are distributed: a multiple of every number of channels, so that each
/// table counts one channel, and enough that runs of equal bytes do not stall on store-to-load dependencies.
const TABLES: usize = 12;

/// Byte counts of one task.
struct ByteTables {
    tables: Box<[[u32; 256]; TABLES]>,
    /// Bytes counted in the tables, which are emptied before a counter could overflow.
    pending: usize,
    /// Counts per table, accumulated from emptied tables.
    totals: Vec<[u64; 256]>,
}

impl ByteTables {
    fn new() -> ByteTables {
        ByteTables { tables: Box::new([[0; 256]; TABLES]), pending: 0, totals: vec![[0; 256]; TABLES] }
    }

    /// Counts bytes; the first one belongs to channel 0.
    fn count(&mut self, bytes: &[u8]) {
        const MOST: usize = (u32::MAX as usize / 2) / TABLES * TABLES;
        for bytes in bytes.chunks(MOST) {
            if self.pending + bytes.len() > u32::MAX as usize {
                self.empty();
            }
            self.pending += bytes.len();
            let (groups, rest) = bytes.as_chunks::<TABLES>();
            for group in groups {
                for (table, &byte) in self.tables.iter_mut().zip(group) {
                    table[byte as usize] += 1;
                }
            }
            for (table, &byte) in self.tables.iter_mut().zip(rest) {
                table[byte as usize] += 1;
            }
        }
    }

    #[cfg(test)]
    fn nearly_full(table: usize, byte: u8) -> ByteTables {
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

/// Counts the bytes of all `parts` in parallel by `count`; each part starts with channel 0.
fn count_bytes(parts: usize, channels: usize, count: &(dyn Fn(&mut ByteTables, usize) + Sync)) -> Vec<u64> {
    parallel::add_counts(parallel::map(parts, &|part| {
        let mut tables = ByteTables::new();
        count(&mut tables, part);
        tables.finish(channels)
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
        let parts: Vec<&[u8]> = packed.chunks(samples.next_multiple_of(TABLES)).collect();
        count_bytes(parts.len(), channels, &|tables, part| tables.count(parts[part]))
    } else {
        let rows = bands(image);
        count_bytes(rows.len(), channels, &|tables, part| rows[part].clone().for_each(|y| tables.count(image.row(y))))
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
        let counts = if T::PIXEL == PixelType::U8 && roi.is_none() {
            let rows = bands(image);
            count_bytes(rows.len(), channels, &|tables, part| {
                rows[part].clone().for_each(|y| count_row(tables, image.row(y)));
            })
        } else {
            // f32 holds every value.
            cells(image, roi, channels, values, |sample| Some((sample.to_f32() as i32 - low) as usize))
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
        let mut counts = vec![0u64; cells * channels];
        let mut add = |samples: &[T]| {
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
        counts
    }))
}

/// Returns the pixels of a row that a mask selects.
fn selected<'a, T: Pixel>(image: &'a Image<T>, roi: &'a Image<u8>, y: u32) -> impl Iterator<Item = &'a [T]> {
    let pixels = image.row(y).chunks_exact(image.channels() as usize).zip(roi.row(y));
    pixels.filter(|(_, roi)| **roi != 0).map(|(pixel, _)| pixel)
}

/// Counts a row of bytes whose type is generic.
fn count_row<T: Pixel>(tables: &mut ByteTables, row: &[T]) {
    let mut bytes = [0; 256 * TABLES];
    for row in row.chunks(bytes.len()) {
        for (byte, sample) in bytes.iter_mut().zip(row) {
            sample.write(std::slice::from_mut(byte));
        }
        tables.count(&bytes[..row.len()]);
    }
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
        let mut tables = ByteTables::nearly_full(0, 7);
        tables.count(&[7; TABLES]);
        tables.count(&[7; TABLES]);
        assert_eq!(tables.finish(1)[7], u64::from(u32::MAX) - 1 + 2 * TABLES as u64);
    }
}
